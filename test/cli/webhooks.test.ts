/** `tollgate webhooks` against a running gateway. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { createWorld, type World } from './world.ts'

let world: World
let receiver: Receiver
beforeAll(async () => {
  world = await createWorld()
  receiver = await startReceiver()
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

test('a webhook is added, listed, tested, followed, paused, given a new secret and deleted', async () => {
  expect((await world.cli('webhooks', 'list')).out).toContain('No webhooks.')
  const added = await world.cli('webhooks', 'add', receiver.url, '--events', 'card.created,card.unknown', '--json')
  expect(added.code).toBe(0)
  const { id, secret, events } = JSON.parse(added.out)
  expect(events).toEqual(['card.created', 'card.unknown'])
  expect((await world.cli('webhooks', 'list')).out).toMatch(new RegExp(`${id} +active +default +json +${receiver.url}`))

  const tested = await world.cli('webhooks', 'test', id)
  expect([tested.code, tested.out]).toEqual([0, 'Delivered: it answered 204.\n'])
  receiver.verify(receiver.got.at(-1)!, secret)
  receiver.answers(500)
  const failed = await world.cli('webhooks', 'test', id)
  expect([failed.code, failed.err]).toEqual([1, 'tollgate: The test was not delivered. It answered 500.\n'])
  const { out } = await world.cli('webhooks', 'deliveries', id, '--status', 'given_up')
  expect(out).toMatch(/given_up +webhook\.test .* 1 .*It answered 500\./)
  const listed = JSON.parse((await world.cli('webhooks', 'deliveries', id, '--json')).out)
  expect(listed.items.map(({ status }: { status: string }) => status)).toEqual(['given_up', 'delivered'])
  receiver.answers(204)
  expect((await world.cli('webhooks', 'redeliver', id, listed.items[0].id)).out).toContain('Waiting to be sent')

  expect((await world.cli('webhooks', 'pause', id)).out).toContain('Paused')
  expect((await world.cli('webhooks', 'list')).out).toContain('paused')
  expect((await world.cli('webhooks', 'resume', id)).out).toContain('Resumed')
  expect((await world.cli('webhooks', 'rotate-secret', id, '--keep-old', '60')).out).toContain('whsec_')
  expect((await world.cli('webhooks', 'delete', id)).out).toContain('Removed')
  expect((await world.cli('webhooks', 'test', id)).code).toBe(1)
})

test('what is wrong is said in one sentence', async () => {
  const { code, err } = await world.cli('webhooks', 'add', 'https://10.0.0.1/hook')
  expect(code).toBe(1)
  expect(err).toMatch(/^tollgate: "10\.0\.0\.1" is an address inside .*webhooks\.hosts.*\n$/)
  expect((await world.cli('webhooks', 'add', 'https://10.0.0.1/hook', '--json')).err).toContain('"rule":"address"')
})
