/** Senders of several replicas on one PostgreSQL, and what is lost between sending and recording. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTelling, type Telling } from '../../src/approvals/webhooks/telling.ts'
import { connect, type Database } from '../../src/db/connect.ts'
import { sql } from '../../src/db/drizzle.ts'
import { call } from '../approvals/calls.ts'
import { partsOn } from '../approvals/webhooks/world.ts'
import { type Room, roomOn, until } from '../approvals/world.ts'
import { freshPostgres, quiet } from '../support/database.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

let receiver: Receiver
let database: { db: Database; url?: string; close(): Promise<void> }
let other: Database
let one: Telling
let two: Telling
let room: Room

beforeAll(async () => {
  receiver = await startReceiver()
  database = await freshPostgres()
  other = await connect({ ...(database.url === undefined ? {} : { url: database.url }), folder: '', log: quiet })
  one = createTelling(partsOn(database.db))
  two = createTelling(partsOn(other))
  room = roomOn(database.db, { onMove: one.outbox.onMove }, async () => {})
})
afterAll(async () => {
  await one.close()
  await two.close()
  await room.close()
  await other.close()
  await database.close()
  await receiver.close()
})

const add = async (more: object = {}) => {
  const wanted = { url: receiver.url, brand: 'acme', events: ['card.created'], format: 'json', ...more } as const
  const added = await one.webhooks.add(wanted as Parameters<typeof one.webhooks.add>[0], 'operator')
  if (!added.ok) throw new Error(added.detail)
  return added.webhook.id
}
const ids = () => receiver.got.map(({ headers }) => headers['webhook-id'])

beforeEach(async () => {
  receiver.got.length = 0
  for (const { id } of (await one.webhooks.list({ limit: 200 })).items) await one.webhooks.remove(id, 'operator')
})

test('of a hundred events over two replicas each is sent once', async () => {
  const id = await add()
  for (let pair = 0; pair < 50; pair++) await Promise.all([room.cards.park(call()), room.cards.park(call())])
  await until(() => receiver.got.length >= 100, 20_000)
  await until(
    async () => (await two.webhooks.deliveries(id, { status: 'waiting', limit: 10 }))?.items.length === 0,
    10_000,
  )
  expect(new Set(ids()).size).toBe(100)
  expect(receiver.got).toHaveLength(100)
})

test('a webhook that is removed while cards move fails none of them', async () => {
  for (let round = 0; round < 10; round++) {
    const id = await add()
    const moves = Array.from({ length: 10 }, () => room.cards.park(call()))
    const [, ...parked] = await Promise.all([two.webhooks.remove(id, 'operator'), ...moves])
    expect(parked.every((answer) => answer !== undefined && 'ok' in answer && answer.ok)).toBe(true)
  }
})

test('what is under way when a replica stops is sent by another at once', async () => {
  const id = await add()
  await two.close()
  receiver.answers(() => {}, 204)
  await room.cards.park(call())
  await until(() => receiver.got.length === 1)
  const stopped = one.close()
  two = createTelling(partsOn(other))
  await stopped
  await until(() => receiver.got.length === 2)
  expect(new Set(ids()).size).toBe(1)
  await until(async () => (await two.webhooks.deliveries(id, { limit: 1 }))!.items[0]?.status === 'delivered')
  expect((await two.webhooks.deliveries(id, { limit: 1 }))!.items[0]).toMatchObject({ attempts: 1 })
  one = createTelling(partsOn(database.db))
})

test('what was sent and not recorded is sent again under the same id, once its lease is over', async () => {
  const id = await add()
  await one.close()
  await two.close()
  /** A replica whose database breaks off after it sent. */
  const dies: Database = { ...database.db, transaction: () => Promise.reject(new Error('the process ended here')) }
  const dying = createTelling(partsOn(dies))
  await room.cards.park(call())
  await until(() => receiver.got.length === 1)
  await dying.close()
  one = createTelling(partsOn(database.db))
  two = createTelling(partsOn(other))
  const [lost] = (await one.webhooks.deliveries(id, { limit: 1 }))!.items
  expect(lost).toMatchObject({ status: 'waiting', attempts: 1 })
  expect(receiver.got).toHaveLength(1)
  await database.db.orm.execute(sql`update webhook_deliveries set due_at = now()`)
  await until(() => receiver.got.length === 2)
  expect(new Set(ids()).size).toBe(1)
  await until(async () => (await one.webhooks.deliveries(id, { limit: 1 }))!.items[0]?.status === 'delivered')
})
