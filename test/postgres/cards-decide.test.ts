/** C3 and C7: whoever decides at once, and whatever the clock says, one decision stands and nothing runs against it. */
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Card, Decided } from '../../src/approvals/cards.ts'
import { connect, rows } from '../../src/db/connect.ts'
import { call, tool } from '../approvals/calls.ts'
import { type Room, roomOn, until } from '../approvals/world.ts'
import { freshPostgres, quiet } from '../support/database.ts'

/** Two replicas: two pools, two audits, two rooms over one PostgreSQL. */
let one: Room
let two: Room
/** Every move on either, as it was told inside its transaction. */
const told: string[] = []
beforeAll(async () => {
  const database = await freshPostgres()
  const other = await connect({ url: database.url, folder: '', log: quiet })
  const onMove = async (_tx: unknown, card: Card, moved: string) => {
    told.push(`${moved} ${card.id}`)
  }
  one = roomOn(database.db, { onMove }, database.close)
  two = roomOn(other, { onMove }, () => other.close())
})
afterAll(async () => {
  await two.close()
  await one.close()
})

const replica = (n: number): Room => (n % 2 === 0 ? one : two)

/** So many cards in one statement, with everything a parked card has but a call that could be opened. */
async function crowd(cards: number, expires: string): Promise<string[]> {
  const made = await one.db.orm.execute(sql`
    insert into cards (id, brand, session_id, role, tool, connector, title, summary, arguments, sealed_arguments,
      fingerprint, binding, digest, access, rules, expires_at)
    select gen_random_uuid(), 'acme', gen_random_uuid()::text, 'person-chat', 't', 'c', 't', 's', '{}', 'x', 'f', 'b', 'd',
      'write', '[]', now() + ${expires}::interval from generate_series(1, ${cards}) returning id`)
  return rows<{ id: string }>(made).map(({ id }) => id)
}

const count = async (what: ReturnType<typeof sql>): Promise<number> =>
  rows<{ n: number }>(await one.db.orm.execute(sql`select count(*)::int as n from ${what}`))[0]?.n ?? -1

/** Whether each of these cards has exactly one row of a kind. */
async function once(ids: readonly string[], kind: string): Promise<number> {
  const found = await one.db.orm.execute(sql`
    select card from audit where kind = ${kind} and card = any(${sql.param(ids)}::text[]) group by card having count(*) = 1`)
  return rows(found).length
}

/** More cards at a time would only wait for the two replicas to write them down. */
const AT_ONCE = 5

/** Starts them for all cards, some cards at a time. */
async function inWaves<T>(ids: readonly string[], each: (id: string, i: number) => Promise<T>): Promise<T[]> {
  const answers: T[] = []
  for (let i = 0; i < ids.length; i += AT_ONCE) {
    answers.push(...(await Promise.all(ids.slice(i, i + AT_ONCE).map((id, k) => each(id, i + k)))))
  }
  return answers
}

test('of a thousand cards, each decided by two to eight people at once over two replicas, each has one decision', {
  timeout: 180_000,
}, async () => {
  const ids = await crowd(1_000, '1 hour')
  const people = (i: number): number[] => Array.from({ length: 2 + (i % 7) }, (_, n) => n)
  const decided = await inWaves(ids, (id, i) =>
    Promise.all(
      people(i).map((n) => {
        const { cards } = replica(i + n)
        const by = { by: `person ${n}`, via: 'rest', brand: 'acme' } as const
        return (i + n) % 3 === 0 ? cards.deny(id, by) : cards.approve(id, by)
      }),
    ),
  )
  const stands = new Map<string, string>()
  for (const answers of decided as Decided[][]) {
    const [winner, ...more] = answers.filter(({ ok }) => ok)
    expect(more).toEqual([])
    for (const loser of answers.filter(({ ok }) => !ok)) {
      expect(loser).toMatchObject({ problem: 'already_decided', card: { decidedBy: winner?.card?.decidedBy } })
    }
    stands.set(winner?.card?.id as string, winner?.card?.status as string)
  }
  expect(stands.size).toBe(1_000)
  expect(await once(ids, 'card.decided')).toBe(1_000)
  const kept = await one.db.orm.execute(sql`select id, status from cards where id = any(${sql.param(ids)}::uuid[])`)
  for (const { id, status } of rows<{ id: string; status: string }>(kept)) expect(stands.get(id)).toBe(status)
})

test('what two to eight people decided at once runs at most once, and only where the yes is the one that stands', async () => {
  const calls = Array.from({ length: 100 }, () => randomUUID())
  const cards = await inWaves(calls, async (fingerprint, i) => {
    const parked = await replica(i).cards.park(call({ fingerprint }))
    return parked.ok ? parked.card.id : ''
  })
  await inWaves(cards, (id, i) =>
    Promise.all([
      ...Array.from({ length: 2 + (i % 7) }, (_, n) =>
        n % 2 === i % 2 ? replica(n).cards.approve(id, { by: `p${n}` }) : replica(n).cards.deny(id, { by: `p${n}` }),
      ),
      replica(i).cards.claim(id, `${id} early`),
    ]),
  )
  const claims = await inWaves(cards, (id) =>
    Promise.all([0, 1, 2, 3].map((n) => replica(n).cards.claim(id, `${id} ${n}`))),
  )
  const ran = claims.map((of) => of.filter((claim) => claim !== undefined).length)
  expect(Math.max(...ran)).toBeLessThanOrEqual(1)
  const started = await once(cards, 'call.started')
  const approved = await count(sql`cards where decided_by like 'p%' and status = 'running'`)
  expect(started).toBe(approved)
  expect(
    await count(sql`cards c join audit a on a.card = c.id::text and a.kind = 'call.started' where c.status = 'denied'`),
  ).toBe(0)
})

test('a standing approval for five more is used five times, however many ask at once on two replicas', async () => {
  const asked = call({ argumentsText: '{"path":"docs/0"}' })
  const parked = await one.cards.park(asked)
  const similar = { arguments: { path: 'docs/*' }, count: 5, ttlSeconds: 600 }
  const decided = await one.cards.approve(parked.ok ? parked.card.id : '', { by: 'ann' }, { scope: 'session', similar })
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      replica(n).cards.park({ ...asked, fingerprint: randomUUID(), argumentsText: `{"path":"docs/${n}"}` }),
    ),
  )
  const statuses = answers.map((answer) => (answer.ok ? answer.card.status : answer.problem))
  expect(statuses.filter((status) => status === 'approved')).toHaveLength(5)
  expect(statuses.filter((status) => status === 'pending')).toHaveLength(25)
  const id = decided.ok ? (decided.standing?.id ?? '') : ''
  expect(await two.cards.standing.get(id)).toMatchObject({ left: 0, used: 5, state: 'used_up' })
})

test('a yes that stands is taken back for good at one instant: nothing it let through runs afterwards', async () => {
  for (let round = 0; round < 10; round++) {
    const asked = call({ tool: { ...tool, standing: true } })
    const parked = await one.cards.park(asked)
    const first = parked.ok ? parked.card.id : ''
    const decided = await one.cards.approve(first, { by: 'ann' }, { scope: 'always' })
    const id = decided.ok ? (decided.standing?.id ?? '') : ''
    const others = Array.from({ length: 8 }, () => ({ ...asked, session: { ...asked.session, id: randomUUID() } }))
    const parking = others.map((other, n) => replica(n).cards.park(other))
    expect((await two.cards.standing.revoke(id, { by: 'bob' })).ok).toBe(true)
    for (const other of await Promise.all(parking)) {
      const card = other.ok ? await one.cards.get(other.card.id) : undefined
      expect(['pending', 'withdrawn']).toContain(card?.status)
      expect(await one.cards.claim(card?.id ?? '', 'late')).toBeUndefined()
    }
  }
})

test('the caps of a session hold when it parks on two replicas at once', async () => {
  const sessionId = randomUUID()
  const cards = [one.also({ mostOpen: 10 }), two.also({ mostOpen: 10 })]
  const park = (n: number) => cards[n % 2]?.park(call({ sessionId }))
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => park(n)))
  expect(answers.filter((answer) => answer?.ok)).toHaveLength(10)
  const ever = [one.also({ mostEver: 15 }), two.also({ mostEver: 15 })]
  const more = await Promise.all(Array.from({ length: 40 }, (_, n) => ever[n % 2]?.park(call({ sessionId }))))
  expect(more.filter((answer) => answer?.ok)).toHaveLength(5)
  expect(more.filter((answer) => answer?.ok === false && answer.problem === 'too_many_ever')).toHaveLength(35)
})

describe('time', () => {
  test('is the database’s: a card expires within two seconds on either replica, whatever their clocks say', async () => {
    const at = Date.now
    try {
      // One replica believes that it is five seconds later, the other that it is five seconds earlier.
      let n = 0
      Date.now = () => at() + (n++ % 2 === 0 ? 5_000 : -5_000)
      const short = one.also({ timeoutMs: 1_000 })
      const parked = await short.park(call())
      const id = parked.ok ? parked.card.id : ''
      expect((await two.cards.get(id))?.status).toBe('pending')
      await until(async () => (await two.cards.get(id))?.status === 'expired')
      const [ended] = rows<{ late: number }>(
        await one.db.orm.execute(
          sql`select extract(epoch from ended_at - expires_at)::float8 as late from cards where id = ${id}`,
        ),
      )
      expect(ended?.late).toBeGreaterThanOrEqual(0)
      expect(ended?.late).toBeLessThan(2)
      for (const room of [one, two]) {
        expect(await room.cards.approve(id, { by: 'ann' }, { scope: 'session' })).toMatchObject({ problem: 'expired' })
        expect(await room.cards.claim(id, 'a')).toBeUndefined()
      }
    } finally {
      Date.now = at
    }
  })

  test('ends ten thousand cards, each once and told of once inside its move, and none runs afterwards', async () => {
    const ids = await crowd(10_000, '-1 second')
    await Promise.all([one.cards.sweep(), two.cards.sweep()])
    await until(async () => (await count(sql`cards where status = 'pending' and expires_at <= now()`)) === 0, 20_000)
    expect(await once(ids, 'card.ended')).toBe(10_000)
    const mine = new Set(ids.map((id) => `finished ${id}`))
    const finished = told.filter((line) => mine.has(line))
    expect([finished.length, new Set(finished).size]).toEqual([10_000, 10_000])
    await inWaves(ids.slice(0, 50), async (id, i) => {
      const { cards } = replica(i)
      expect(await cards.approve(id, { by: 'ann' })).toMatchObject({ ok: false, problem: 'expired' })
      expect(await cards.claim(id, 'late')).toBeUndefined()
    })
  })
})
