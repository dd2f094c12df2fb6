/** What a receiver gets, and what becomes of it when the receiver will not have it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call } from '../calls.ts'
import { until } from '../world.ts'
import { startReceiver } from '../../support/receiver.ts'
import { createWorld, INBOX, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())
beforeEach(() => {
  world.receiver.got.length = 0
  world.receiver.answers(204)
})
afterEach(async () => {
  for (const { id } of (await world.webhooks.list({ limit: 100 })).items) await world.webhooks.remove(id, 'operator')
})

const got = (n: number) => until(() => world.receiver.got.length >= n)
const statuses = async (id: string) => (await world.deliveries(id)).map(({ status }) => status)

describe('a receiver', () => {
  test('is told of each move of a card, with the card as people see it and the way to its page', async () => {
    const { secret, webhook } = await world.hook()
    const id = await world.park()
    await world.cards.approve(id, { by: 'ann' })
    await world.cards.claim(id, 'one')
    await world.cards.finish(id, { status: 'done', code: 'ok' })
    await got(3)
    const told = world.receiver.got.map((one) => world.receiver.verify(one, secret))
    expect(told.map(({ type }) => type).sort()).toEqual(['card.created', 'card.decided', 'card.finished'])
    const created = told.find(({ type }) => type === 'card.created')
    expect(created.data).toMatchObject({
      id,
      status: 'pending',
      tool: 'mcp__files__write_file',
      arguments: { path: 'a.txt' },
    })
    expect(created.data.url).toBe(`${INBOX}/cards/${id}`)
    expect(Date.parse(created.timestamp)).toBeGreaterThan(Date.now() - 60_000)
    const decided = told.find(({ type }) => type === 'card.decided')
    expect(decided.data).toMatchObject({ status: 'approved', decidedBy: 'ann' })
    await until(async () => (await statuses(webhook.id)).every((status) => status === 'delivered'))
  })

  test('can tell what is not from here: another secret, a changed body, another id, an old time', async () => {
    const { secret } = await world.hook()
    const { secret: other } = await world.hook({ brand: 'other' })
    await world.park()
    await got(1)
    const [one] = world.receiver.got as [(typeof world.receiver.got)[0]]
    expect(world.receiver.verify(one, secret).type).toBe('card.created')
    expect(() => world.receiver.verify(one, other)).toThrow('No matching signature')
    expect(() => world.receiver.verify({ ...one, body: one.body.replace('pending', 'approved') }, secret)).toThrow()
    const forged = (more: object) => ({ ...one, headers: { ...one.headers, ...more } })
    expect(() => world.receiver.verify(forged({ 'webhook-id': 'x' }), secret)).toThrow()
    const old = String(Math.floor(Date.now() / 1000) - 600)
    expect(() => world.receiver.verify(forged({ 'webhook-timestamp': old }), secret)).toThrow('too old')
  })

  test('knows a retry by its id: 500, then 200', async () => {
    world.receiver.answers(500, 200)
    const { webhook, secret } = await world.hook({ events: ['card.created'] })
    await world.park()
    await got(1)
    await until(async () => (await world.deliveries(webhook.id))[0]?.answer === 500)
    const [waits] = await world.deliveries(webhook.id)
    expect(waits).toMatchObject({ status: 'waiting', attempts: 1, problem: 'It answered 500.' })
    expect(Date.parse(waits!.nextAttemptAt!) - Date.parse(waits!.triedAt!)).toBeGreaterThan(4_000)
    expect((await world.webhooks.get(webhook.id))?.failures).toBe(1)
    await world.later()
    await got(2)
    await until(async () => (await statuses(webhook.id))[0] === 'delivered')
    const [first, second] = world.receiver.got
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
    expect(second!.body).toBe(first!.body)
    expect(world.receiver.verify(second!, secret).type).toBe('card.created')
    expect((await world.webhooks.get(webhook.id))?.failures).toBe(0)
  })

  test('that never has it is given up after eight attempts, with the last reason, and can be sent it once more', async () => {
    world.receiver.answers(503)
    const { webhook } = await world.hook({ events: ['card.created'] })
    await world.park()
    for (let n = 1; n <= 8; n++) {
      await got(n)
      await until(async () => (await world.deliveries(webhook.id))[0]?.answer === 503)
      await until(async () => (await world.webhooks.get(webhook.id))?.failures === n)
      await world.later()
    }
    const [ended] = await world.deliveries(webhook.id)
    expect(ended).toMatchObject({ status: 'given_up', attempts: 8, answer: 503, problem: 'It answered 503.' })
    world.receiver.answers(200)
    expect(await world.webhooks.redeliver(webhook.id, ended!.id, 'operator')).toMatchObject({ ok: true })
    await until(async () => (await statuses(webhook.id))[0] === 'delivered')
    expect(new Set(world.receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(world.receiver.got).toHaveLength(9)
  })

  test('that answers 410 is paused, and what waited for it is given up', async () => {
    world.receiver.answers(500, 410)
    const { webhook } = await world.hook({ events: ['card.created'] })
    await world.park()
    await until(async () => (await world.webhooks.get(webhook.id))?.failures === 1)
    await world.park()
    await until(async () => (await world.webhooks.get(webhook.id))?.pausedAt !== undefined)
    expect(await statuses(webhook.id)).toEqual(['given_up', 'given_up'])
    await world.park()
    expect(await world.deliveries(webhook.id)).toHaveLength(2)
    expect(
      await world.count(`from audit where kind = 'webhook.changed' and entry like '%paused: It answered 410%'`),
    ).toBe(1)
    await world.webhooks.resume(webhook.id, 'operator')
    world.receiver.answers(200)
    await world.park()
    await until(async () => (await statuses(webhook.id))[0] === 'delivered')
  })

  test('that redirects is not followed', async () => {
    const elsewhere = await startReceiver()
    world.receiver.answers((response) => response.writeHead(307, { location: `${elsewhere.url}/there` }).end())
    const { webhook } = await world.hook({ events: ['card.created'] })
    await world.park()
    await until(async () => (await world.deliveries(webhook.id))[0]?.answer === 307)
    expect((await world.deliveries(webhook.id))[0]!.problem).toMatch(/redirect, which is not followed/)
    expect(elsewhere.connections()).toBe(0)
    await elsewhere.close()
  })

  test('that hangs holds up neither a card nor another webhook', async () => {
    const hanging = await startReceiver()
    hanging.answers(() => {})
    const stuck = await world.hook({ url: hanging.url, events: ['card.created'] })
    const { webhook } = await world.hook({ events: ['card.created'] })
    const ids = await Promise.all(Array.from({ length: 12 }, () => world.park()))
    await got(12)
    expect(hanging.got.length).toBeLessThanOrEqual(4)
    await world.cards.approve(ids[0]!, { by: 'ann' })
    await until(async () => (await statuses(webhook.id)).every((status) => status === 'delivered'))
    await hanging.close()
    await until(async () => (await world.deliveries(stuck.webhook.id)).some(({ problem }) => problem !== undefined))
    expect((await world.webhooks.get(stuck.webhook.id))?.failures).toBeGreaterThan(0)
  })

  test('may send as long an answer as it likes: what counts is its status', async () => {
    world.receiver.answers((response) => {
      response.writeHead(200)
      response.write('x'.repeat(4_000_000))
    })
    const { webhook } = await world.hook({ events: ['card.created'] })
    await world.park()
    await until(async () => (await statuses(webhook.id))[0] === 'delivered')
  })

  test('that is away is tried again', async () => {
    const gone = await startReceiver()
    await gone.close()
    const { webhook } = await world.hook({ url: gone.url, events: ['card.created'] })
    await world.park()
    await until(async () => (await world.deliveries(webhook.id))[0]?.problem !== undefined)
    expect((await world.deliveries(webhook.id))[0]).toMatchObject({
      status: 'waiting',
      problem: 'It cannot be reached (ECONNREFUSED).',
    })
  })

  test('can check under the old secret or the new one while one replaces the other, and then under the new one only', async () => {
    const { webhook, secret } = await world.hook({ events: ['card.created'] })
    const rotated = await world.webhooks.rotateSecret(webhook.id, 3_600, 'operator')
    await world.park()
    await got(1)
    for (const known of [secret, rotated!.secret]) {
      expect(world.receiver.verify(world.receiver.got[0]!, known).type).toBe('card.created')
    }
    await world.webhooks.rotateSecret(webhook.id, 0, 'operator')
    await world.park()
    await got(2)
    expect(() => world.receiver.verify(world.receiver.got[1]!, rotated!.secret)).toThrow()
    expect(world.receiver.got[1]!.headers['webhook-signature']).not.toContain(' ')
  })
})

describe('an event', () => {
  test('goes to webhooks of its brand and of every brand that ask for it, and to no other', async () => {
    const own = await world.hook({ events: ['card.created'] })
    const every = await world.hook({ brand: '*', events: ['card.created', 'card.decided'] })
    const other = await world.hook({ brand: 'other' })
    const later = await world.hook({ events: ['card.decided'] })
    const paused = await world.hook()
    await world.webhooks.pause(paused.webhook.id, 'operator')
    await world.park()
    await got(2)
    const counts = [own, every, other, later, paused].map(
      async ({ webhook }) => (await world.deliveries(webhook.id)).length,
    )
    expect(await Promise.all(counts)).toEqual([1, 1, 0, 0, 0])
  })

  test('of a card that waits for nobody is its end alone', async () => {
    const { secret } = await world.hook()
    await world.waitingFor(0).park(call())
    await got(1)
    const told = world.receiver.got.map((one) => world.receiver.verify(one, secret))
    expect(told.map(({ type, data }) => [type, data.status])).toEqual([['card.finished', 'expired']])
  })

  test('that was rolled back is told to nobody', async () => {
    const { webhook } = await world.hook({ events: ['session.ready'] })
    const told = world.db.transaction(async (tx) => {
      await world.outbox.tell(tx, { event: 'session.ready', brand: 'acme', data: { id: 's' } })
      throw new Error('something else failed')
    })
    await expect(told).rejects.toThrow('something else failed')
    expect(await world.deliveries(webhook.id)).toEqual([])
    await world.db.transaction((tx) =>
      world.outbox.tell(tx, { event: 'session.ready', brand: 'acme', data: { id: 's' } }),
    )
    await got(1)
  })

  test('whose outcome nobody knows is card.unknown, and card.settled once a person found out', async () => {
    const { secret } = await world.hook({ events: ['card.finished', 'card.unknown', 'card.settled'] })
    const id = await world.park()
    await world.cards.approve(id, { by: 'ann' })
    await world.cards.claim(id, 'one')
    await world.cards.finish(id, { status: 'unknown', code: 'outcome_unknown' })
    await world.cards.settle(id, { by: 'ann' }, 'happened')
    await got(2)
    const told = world.receiver.got.map((one) => world.receiver.verify(one, secret))
    expect(told.map(({ type }) => type).sort()).toEqual(['card.settled', 'card.unknown'])
    expect(told.find(({ type }) => type === 'card.settled').data).toMatchObject({ status: 'done', settled: 'happened' })
  })

  test('for the receiver alone is sealed in the database and goes to no webhook of every brand', async () => {
    const every = await world.hook({ brand: '*', events: ['session.ready'] })
    const { webhook, secret } = await world.hook({ events: ['session.ready'] })
    world.receiver.answers(500)
    const data = { token: 'for-the-receiver-only' }
    await world.db.transaction((tx) => world.outbox.tellSealed(tx, { event: 'session.ready', brand: 'acme', data }))
    await until(async () => (await world.webhooks.get(webhook.id))?.failures === 1)
    expect(world.receiver.verify(world.receiver.got[0]!, secret).data).toEqual(data)
    expect(await world.count(`from webhook_deliveries d where d::text like '%for-the-receiver-only%'`)).toBe(0)
    expect(await world.deliveries(every.webhook.id)).toEqual([])
    expect(JSON.stringify(await world.deliveries(webhook.id))).not.toContain('for-the-receiver-only')
  })
})

test('a card of a tool that hides its secrets hides them from webhooks, rows and the list of deliveries', async () => {
  const canary = 'cnry-0f3b7a91c2'
  await world.hook({ brand: '*' })
  await world.hook({ url: `${world.receiver.url}/T0/${canary}-in-the-path?key=${canary}`, format: 'slack' })
  const asked = call({
    argumentsText: JSON.stringify({ password: canary, text: `token=${canary}`, to: { apiKey: canary } }),
  })
  const parked = await world.cards.park(asked)
  if (!parked.ok) throw new Error(parked.problem)
  await world.cards.deny(parked.card.id, { by: 'ann', note: `secret=${canary}` })
  await got(4)
  for (const { body } of world.receiver.got) expect(body).not.toContain(canary)
  expect(await world.count(`from webhook_deliveries d where d::text like '%${canary}%'`)).toBe(0)
  expect(await world.count(`from webhooks w where w::text like '%${canary}%'`)).toBe(0)
  expect(await world.count(`from audit a where a::text like '%${canary}%'`)).toBe(0)
  expect(JSON.stringify(await world.webhooks.list({ limit: 10 }))).not.toContain(canary)
})
