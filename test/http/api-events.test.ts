/** The live stream of cards, and how a reader that was away catches up. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN_KEY, createWorld, type World } from './api-world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())

/** A reader of the stream: what it saw, as event and card. */
async function reader() {
  const response = await world.request('/v1/approvals/events', { headers: { authorization: `Bearer ${ADMIN_KEY}` } })
  const stream = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const seen = () =>
    [...text.matchAll(/event: (\w+)\ndata: (.*)\nid: (.*)\n/g)].map(([, event, data, id]) => ({
      event,
      card: JSON.parse(data!),
      id,
    }))
  return {
    async until(done: (events: ReturnType<typeof seen>, text: string) => boolean) {
      while (!done(seen(), text)) text += (await stream.read()).value
      return seen()
    },
    leave: () => stream.cancel(),
  }
}

const park = async (path: string) => {
  const { id: session } = await world.issue({ role: 'person-chat' })
  return (await world.park(session, 'mcp__files__write_file', { path })).id
}

test('a card that a person settles is told of as settled', async () => {
  const live = await reader()
  await live.until((_, text) => text.includes(': listening'))
  const id = await park('settled')
  await world.cards.approve(id, { by: 'ann' })
  await world.cards.claim(id, 'one')
  await world.cards.finish(id, { status: 'unknown', code: 'outcome_unknown' })
  await live.until((events) => events.some(({ event }) => event === 'finished'))
  await world.cards.settle(id, { by: 'ann' }, 'did_not')
  const events = await live.until((events) => events.some(({ event }) => event === 'settled'))
  expect(events.map(({ event, id }) => [event, id])).toEqual([
    ['created', `${id} pending`],
    ['decided', `${id} approved`],
    ['finished', `${id} unknown`],
    ['settled', `${id} failed`],
  ])
  expect(events.at(-1)!.card).toMatchObject({ id, settled: 'did_not', settledBy: 'ann' })
  await live.leave()
})

test('a reader that was away misses nothing when it listens first and lists then', async () => {
  const before = await reader()
  await before.until((_, text) => text.includes('retry: 2000'))
  const known = await park('known')
  await before.until((events) => events.length === 1)
  await before.leave()
  const missed = await park('missed')
  await world.cards.deny(known, { by: 'ann' })

  const after = await reader()
  await after.until((_, text) => text.includes(': listening'))
  const late = await park('late')
  const { body } = await world.ask('GET', '/v1/approvals?status=pending')
  const ids = body.items.map(({ id }: { id: string }) => id)
  expect(ids).toEqual(expect.arrayContaining([missed, late]))
  expect(ids).not.toContain(known)
  expect((await world.ask('GET', `/v1/approvals/${known}`)).body.status).toBe('denied')
  // What moved just before may still come, and is told apart by its id.
  const isLate = ({ id }: { id: string | undefined }) => id === `${late} pending`
  const events = await after.until((events) => events.some(isLate))
  expect(events.filter(isLate)).toMatchObject([{ event: 'created' }])
  await after.leave()
})
