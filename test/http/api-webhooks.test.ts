/** Webhooks over REST, from registering one to sending again. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FORMS, LOOPBACK, METADATA, NAMES, RANGES } from '../support/forbidden-urls.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { until } from '../approvals/world.ts'
import { createWorld, type World } from './api-world.ts'

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

const add = (more: object = {}) => world.ask('POST', '/v1/webhooks', { url: `${receiver.url}/hook`, ...more })
const deliveries = async (id: string) => (await world.ask('GET', `/v1/webhooks/${id}/deliveries`)).body.items

describe('a webhook', () => {
  it('is registered for the events of cards of the owner’s brand, and its secret is shown once', async () => {
    const { status, body } = await add()
    expect([status, body.brand, body.format, body.failures]).toEqual([201, 'default', 'json', 0])
    expect(body.events).toEqual(['card.created', 'card.decided', 'card.finished', 'card.unknown', 'card.settled'])
    expect(body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const { secret, ...rest } = body
    expect((await world.ask('GET', `/v1/webhooks/${body.id}`)).body).toEqual(rest)
    const { body: list } = await world.ask('GET', '/v1/webhooks')
    expect(list.items[0]).toEqual(rest)
    expect((await world.ask('DELETE', `/v1/webhooks/${body.id}`)).body).toEqual(rest)
    expect((await world.ask('GET', `/v1/webhooks/${body.id}`)).status).toBe(404)
  })

  it('is told of a call that waits, and of its decision', async () => {
    const { body: hook } = await add()
    const { id: session } = await world.issue({ role: 'person-chat' })
    const { id } = await world.park(session, 'mcp__files__write_file', { path: 'told' })
    await world.ask('POST', `/v1/approvals/${id}/deny`)
    await until(
      async () => (await deliveries(hook.id)).filter(({ status }: any) => status === 'delivered').length === 2,
    )
    const told = receiver.got.slice(-2).map((one) => receiver.verify(one, hook.secret))
    expect(told.map(({ type }) => type).sort()).toEqual(['card.created', 'card.decided'])
    expect(told.map(({ data }) => data.id)).toEqual([id, id])
    expect((await deliveries(hook.id))[0]).toMatchObject({
      webhookId: hook.id,
      card: id,
      brand: 'default',
      attempts: 1,
    })
    expect(JSON.stringify(await deliveries(hook.id))).not.toContain('"told"')
    const { id: delivery } = (await deliveries(hook.id))[0]
    const again = await world.ask('POST', `/v1/webhooks/${hook.id}/deliveries/${delivery}/redeliver`)
    expect([again.status, again.body.status]).toEqual([200, 'waiting'])
    await until(() => receiver.got.filter(({ headers }) => headers['webhook-id'] === delivery).length === 2)
    await world.ask('DELETE', `/v1/webhooks/${hook.id}`)
  })

  it('is tested on the spot, with what went wrong', async () => {
    const { body: hook } = await add()
    receiver.answers(500, 204)
    const failed = await world.ask('POST', `/v1/webhooks/${hook.id}/test`)
    expect(failed.body).toMatchObject({ status: 'given_up', attempts: 1, answer: 500, problem: 'It answered 500.' })
    const { body } = await world.ask('POST', `/v1/webhooks/${hook.id}/test`)
    expect(body).toMatchObject({ event: 'webhook.test', status: 'delivered', answer: 204 })
    expect(receiver.verify(receiver.got.at(-1)!, hook.secret)).toMatchObject({ type: 'webhook.test' })
    await world.ask('DELETE', `/v1/webhooks/${hook.id}`)
  })

  it('is paused and resumed, and gets a new secret', async () => {
    const { body: hook } = await add()
    const paused = await world.ask('POST', `/v1/webhooks/${hook.id}/pause`)
    expect(paused.body).toMatchObject({ pausedBecause: 'The operator paused it.' })
    expect((await world.ask('POST', `/v1/webhooks/${hook.id}/resume`)).body).not.toHaveProperty('pausedAt')
    const rotated = await world.ask('POST', `/v1/webhooks/${hook.id}/rotate-secret`)
    expect(rotated.body.secret).not.toBe(hook.secret)
    const hours = (Date.parse(rotated.body.oldSecretUntil) - Date.now()) / 3_600_000
    expect(hours).toBeCloseTo(24, 0)
    await world.ask('DELETE', `/v1/webhooks/${hook.id}`)
    const { body: audit } = await world.ask('GET', '/v1/audit?limit=200')
    const reasons = audit.items.filter(({ subject }: any) => subject === hook.id).map(({ reason }: any) => reason)
    for (const word of ['added', 'paused', 'resumed', 'new secret', 'removed']) {
      expect(reasons).toContainEqual(expect.stringContaining(word))
    }
  })

  it('is listed page by page', async () => {
    const ids = await Promise.all([1, 2, 3].map(async () => (await add({ brand: 'paged' })).body.id))
    const seen: string[] = []
    let cursor = ''
    for (let page = 0; page < 3; page++) {
      const { body } = await world.ask('GET', `/v1/webhooks?brand=paged&limit=1${cursor && `&cursor=${cursor}`}`)
      seen.push(...body.items.map(({ id }: any) => id))
      cursor = body.nextCursor
    }
    expect([seen.sort(), cursor]).toEqual([ids.sort(), null])
    for (const id of ids) await world.ask('DELETE', `/v1/webhooks/${id}`)
  })
})

describe('what is refused', () => {
  const strict = [...LOOPBACK, ...RANGES, ...METADATA, ...NAMES].map((host) => `https://${host}/`)

  // The one host that this world's operator listed is the only one of them that is let in.
  it('is every address that nothing may be sent to, with the rule and a way out', async () => {
    for (const url of [...strict.filter((url) => new URL(url).hostname !== '127.0.0.1'), ...FORMS]) {
      const { status, body } = await add({ url })
      expect([url, status, body.errors?.[0]?.path]).toEqual([url, 422, 'url'])
    }
    expect((await world.ask('GET', '/v1/webhooks')).body.items).toEqual([])
  }, 30_000)

  it.each([
    [{ events: ['card.invented'] }, 'events[0]'],
    [{ events: [] }, 'events'],
    [{ brand: 'a b' }, 'brand'],
    [{ format: 'xml' }, 'format'],
    [{ format: 'slack', events: ['session.ready'] }, 'events'],
    [{ secret: 'mine' }, 'secret'],
  ])('is %j', async (more, path) => {
    const { status, body } = await add(more)
    expect([status, body.errors[0].path]).toEqual([422, path])
  })

  it('is what is not there: 404; a cursor of one’s own: 422; a delivery that waits: 409', async () => {
    for (const id of [randomUUID(), 'no-id', '%00']) {
      for (const [method, more] of [
        ['GET', ''],
        ['DELETE', ''],
        ['POST', '/test'],
        ['POST', '/rotate-secret'],
        ['POST', '/pause'],
        ['POST', '/resume'],
        ['GET', '/deliveries'],
        ['POST', `/deliveries/${randomUUID()}/redeliver`],
      ] as const) {
        expect([method, more, (await world.ask(method, `/v1/webhooks/${id}${more}`)).status]).toEqual([
          method,
          more,
          404,
        ])
      }
    }
    expect((await world.ask('GET', '/v1/webhooks?cursor=abc')).body.errors[0].path).toBe('cursor')
    receiver.answers(500)
    const { body: hook } = await add()
    const { id: session } = await world.issue({ role: 'person-chat' })
    await world.park(session, 'mcp__files__write_file', { path: 'waits' })
    await until(async () => (await deliveries(hook.id))[0]?.answer === 500)
    const { id } = (await deliveries(hook.id))[0]
    const again = await world.ask('POST', `/v1/webhooks/${hook.id}/deliveries/${id}/redeliver`)
    expect([again.status, again.body.code]).toEqual([409, 'already_waiting'])
    await world.ask('DELETE', `/v1/webhooks/${hook.id}`)
  })
})
