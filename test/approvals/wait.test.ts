import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Card, CardEvent } from '../../src/approvals/cards.ts'
import { createWaiting } from '../../src/approvals/wait.ts'
import { call } from './calls.ts'
import { freshRoom, type Room, until } from './world.ts'

// No poll comes by within a test, so what wakes a waiter here is the notice.
let room: Room
beforeAll(async () => {
  room = await freshRoom({ pollMs: 600_000 })
})
afterAll(() => room.close())

async function parked(): Promise<string> {
  const parked = await room.cards.park(call())
  return parked.ok ? parked.card.id : ''
}

test('a waiter wakes at once when a person decides, in any number', async () => {
  const id = await parked()
  const waits = Array.from({ length: 50 }, () => room.cards.wait(id, { from: 'pending', untilMs: 10_000 }))
  await until(() => room.cards.waiting(id))
  await room.cards.approve(id, { by: 'ann' })
  const decided = performance.now()
  const cards = await Promise.all(waits)
  expect(performance.now() - decided).toBeLessThan(1_000)
  expect(new Set(cards.map((card) => card?.status))).toEqual(new Set(['approved']))
  expect(room.cards.waiting(id)).toBe(false)
})

test('a waiter wakes by polling when the notice was lost', async () => {
  const id = await parked()
  const cards = room.also({ pollMs: 1_000 })
  const wait = cards.wait(id, { untilMs: 10_000 })
  await until(() => cards.waiting(id))
  const started = performance.now()
  await room.db.orm.execute(sql`update cards set status = 'denied', ended_at = now() where id = ${id}`)
  expect((await wait)?.status).toBe('denied')
  expect(performance.now() - started).toBeLessThan(2_000)
})

test('a wait ends at its time, and the card stays', async () => {
  const id = await parked()
  const started = performance.now()
  expect((await room.cards.wait(id, { untilMs: 200 }))?.status).toBe('pending')
  expect(performance.now() - started).toBeGreaterThanOrEqual(190)
  for (const untilMs of [0, -5, Number.NaN]) expect((await room.cards.wait(id, { untilMs }))?.status).toBe('pending')
  expect((await room.cards.approve(id, { by: 'ann' })).ok).toBe(true)
})

test('a waiter that goes away ends its own wait and no other, and not the card', async () => {
  const id = await parked()
  let leave = () => {}
  const gone = room.cards.wait(id, {
    untilMs: 10_000,
    onGone: (end) => {
      leave = end
    },
  })
  const stays = room.cards.wait(id, { untilMs: 10_000 })
  leave()
  expect((await gone)?.status).toBe('pending')
  expect(room.cards.waiting(id)).toBe(true)
  await room.cards.deny(id, { by: 'ann' })
  expect((await stays)?.status).toBe('denied')
})

test('a waiter who has an older status in hand gets the new one at once', async () => {
  const id = await parked()
  await room.cards.approve(id, { by: 'ann' })
  expect((await room.cards.wait(id, { from: 'pending', untilMs: 10_000 }))?.status).toBe('approved')
})

test('a waiter who has the running card in hand waits for its end', async () => {
  const id = await parked()
  await room.cards.approve(id, { by: 'ann' })
  await room.cards.claim(id, 'a')
  const wait = room.cards.wait(id, { from: 'running', untilMs: 10_000 })
  await until(() => room.cards.waiting(id))
  await room.cards.finish(id, { status: 'done', code: 'ok' })
  expect((await wait)?.status).toBe('done')
})

test('every move is heard, in order, until one stops listening', async () => {
  const heard: CardEvent[] = []
  const stop = room.cards.onEvent((event) => heard.push(event))
  const id = await parked()
  await room.cards.approve(id, { by: 'ann' })
  await room.cards.claim(id, 'a')
  await room.cards.finish(id, { status: 'done', code: 'ok' })
  const ofCard = () => heard.filter((event) => event.kind === 'card' && event.id === id)
  await until(() => ofCard().length === 4)
  expect(ofCard().map((event) => event.kind === 'card' && event.status)).toEqual([
    'pending',
    'approved',
    'running',
    'done',
  ])
  stop()
  await parked()
  expect(ofCard().length).toBe(4)
})

test('closing the room ends its waits', async () => {
  const cards = room.also({})
  const id = await parked()
  const wait = cards.wait(id, { untilMs: 60_000 })
  await until(() => cards.waiting(id))
  await cards.close()
  expect((await wait)?.status).toBe('pending')
})

test('however many wait, the database is asked with few different numbers of ids', async () => {
  const asked = new Map<number, number>()
  const statuses = async (ids: readonly string[]) => {
    asked.set(ids.length, new Set(ids).size)
    return []
  }
  const open = { status: 'pending' } as Card
  const waiting = createWaiting({ read: async () => [open], statuses, pollMs: 600_000 })
  const waits: Promise<unknown>[] = []
  for (let n = 1; n <= 100; n++) {
    waits.push(waiting.wait(`card-${n}`, { untilMs: 10_000 }))
    waiting.heard({ kind: 'listening' })
    await new Promise(setImmediate)
  }
  waiting.close()
  await Promise.all(waits)
  expect(Object.fromEntries(asked)).toEqual({ 1: 1, 2: 2, 4: 4, 8: 8, 16: 16, 32: 32, 64: 64, 128: 100 })
})
