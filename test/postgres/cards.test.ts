import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, rows } from '../../src/db/connect.ts'
import { call } from '../approvals/calls.ts'
import { type Room, roomOn, until } from '../approvals/world.ts'
import { freshPostgres, quiet } from '../support/database.ts'

/** Two replicas: two pools, two audits, two rooms over one PostgreSQL. */
let one: Room
let two: Room
beforeAll(async () => {
  const database = await freshPostgres()
  const other = await connect({ url: database.url, folder: '', log: quiet })
  one = roomOn(database.db, {}, database.close)
  two = roomOn(other, {}, () => other.close())
})
afterAll(async () => {
  await two.close()
  await one.close()
})

const replica = (n: number): Room => (n % 2 === 0 ? one : two)
const many = <T>(n: number, start: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => start(i)))

async function parked(more: Parameters<typeof call>[0] = {}): Promise<string> {
  const parked = await one.cards.park(call(more))
  if (!parked.ok) throw new Error(parked.problem)
  return parked.card.id
}

async function records(id: string, kind: string): Promise<number> {
  return rows(await one.db.orm.execute(sql`select 1 from audit where card = ${id} and kind = ${kind}`)).length
}

test('of forty people who decide one card at once, over two replicas, one wins and the others are told who', async () => {
  for (let round = 0; round < 10; round++) {
    const id = await parked()
    const answers = await many(40, (n) => {
      const { cards } = replica(n)
      return n % 4 < 2 ? cards.approve(id, { by: `person ${n}` }) : cards.deny(id, { by: `person ${n}` })
    })
    const winners = answers.filter((answer) => answer.ok)
    expect(winners.length).toBe(1)
    const first = winners[0]?.card?.decidedBy
    for (const answer of answers) {
      if (!answer.ok) expect(answer).toMatchObject({ problem: 'already_decided', card: { decidedBy: first } })
    }
    expect(await records(id, 'card.decided')).toBe(1)
    const card = await one.cards.get(id)
    expect((await two.cards.claim(id, 'a')) !== undefined).toBe(card?.status === 'approved')
  }
})

test('one call parked fifty times at once is one card', async () => {
  for (let round = 0; round < 5; round++) {
    const asked = call()
    const answers = await many(50, (n) => replica(n).cards.park({ ...asked, attempt: randomUUID() }))
    const ids = new Set(answers.map((answer) => answer.ok && answer.card.id))
    expect(ids.size).toBe(1)
    expect(answers.filter((answer) => answer.ok && !answer.joined).length).toBe(1)
    expect(await records(String([...ids][0]), 'card.created')).toBe(1)
  }
})

test('a card claimed fifty times at once runs once', async () => {
  for (let round = 0; round < 5; round++) {
    const id = await parked()
    await one.cards.approve(id, { by: 'ann' })
    const claims = await many(50, (n) => replica(n).cards.claim(id, `attempt ${n}`))
    expect(claims.filter((claim) => claim !== undefined).length).toBe(1)
    expect(await records(id, 'call.started')).toBe(1)
  }
})

test('a claim and a withdrawal at once end as one of the two', async () => {
  for (let round = 0; round < 20; round++) {
    const id = await parked()
    await one.cards.approve(id, { by: 'ann' })
    const [claimed, withdrawn] = await Promise.all([
      one.cards.claim(id, 'a'),
      two.cards.withdraw(id, { by: 'the caller' }),
    ])
    expect(claimed !== undefined).toBe(!withdrawn.ok)
  }
})

test('parking, deciding and ending one call over and over loses no card and joins no ended one', async () => {
  const asked = call()
  let decided = 0
  await many(20, async (n) => {
    for (let i = 0; i < 10; i++) {
      const parked = await replica(n).cards.park(asked)
      if (!parked.ok) throw new Error(parked.problem)
      if ((await replica(n + 1).cards.deny(parked.card.id, { by: 'ann' })).ok) decided++
    }
  })
  const made = await one.db.orm.execute(sql`select status from cards where session_id = ${asked.session.id}`)
  expect(rows<{ status: string }>(made).map(({ status }) => status)).toEqual(Array(decided).fill('denied'))
})

describe('time', () => {
  test('ends a card within two seconds, on whichever replica, and nothing runs it afterwards', async () => {
    const short = one.also({ timeoutMs: 400 })
    const asked = await short.park(call())
    const id = asked.ok ? asked.card.id : ''
    const ended = two.cards.wait(id, { untilMs: 10_000 })
    const started = performance.now()
    expect((await ended)?.status).toBe('expired')
    expect(performance.now() - started).toBeLessThan(2_400)
    for (const room of [one, two]) {
      expect(await room.cards.approve(id, { by: 'ann' })).toMatchObject({ ok: false, problem: 'expired' })
      expect(await room.cards.claim(id, 'a')).toBeUndefined()
    }
    expect(await records(id, 'card.ended')).toBe(1)
  })

  test('ends ten thousand cards in five seconds, each once, with two replicas at it', async () => {
    await one.db.orm.execute(sql`
      insert into cards (id, brand, session_id, role, tool, connector, title, summary, arguments, sealed_arguments,
        fingerprint, binding, digest, access, rules, expires_at)
      select gen_random_uuid(), 'acme', 'crowd', 'person-chat', 't', 'c', 't', 's', '{}', 'x', n::text, n::text, 'd', 'write', '[]',
        now() - interval '1 second' from generate_series(1, 10000) n`)
    const started = performance.now()
    const left = async () => {
      const found = await one.db.orm.execute(sql`
        select count(*)::int as n from cards where session_id = 'crowd' and status = 'pending'`)
      return rows<{ n: number }>(found)[0]?.n
    }
    await Promise.all([one.cards.sweep(), two.cards.sweep()])
    await until(async () => (await left()) === 0, 10_000)
    expect(performance.now() - started).toBeLessThan(5_000)
    const ended = await one.db.orm.execute(sql`
      select count(*)::int as n, count(distinct card)::int as cards from audit where session_id = 'crowd' and kind = 'card.ended'`)
    expect(rows(ended)).toEqual([{ n: 10_000, cards: 10_000 }])
  })
})

describe('a waiter', () => {
  test('on another replica wakes through the notice, in well under a second', async () => {
    const cards = two.also({ pollMs: 600_000 })
    const times: number[] = []
    for (let i = 0; i < 20; i++) {
      const id = await parked()
      const wait = cards.wait(id, { untilMs: 10_000 })
      await until(() => cards.waiting(id))
      const started = performance.now()
      await one.cards.approve(id, { by: 'ann' })
      expect((await wait)?.status).toBe('approved')
      times.push(performance.now() - started)
    }
    expect(times.sort((a, b) => a - b)[10]).toBeLessThan(500)
  })

  test('wakes without any notice, and with the listening connection killed', async () => {
    const id = await parked()
    const wait = two.cards.wait(id, { untilMs: 10_000 })
    await one.db.orm.execute(sql`
      select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%' and pid <> pg_backend_pid()`)
    await one.db.orm.execute(sql`update cards set status = 'denied', ended_at = now() where id = ${id}`)
    const started = performance.now()
    expect((await wait)?.status).toBe('denied')
    expect(performance.now() - started).toBeLessThan(3_000)
  })

  test('of two hundred wakes when its own card is decided, in a burst', async () => {
    const cards = two.also({ pollMs: 600_000 })
    const ids = await many(200, () => parked())
    const waits = ids.map((id) => cards.wait(id, { untilMs: 20_000 }))
    await until(() => ids.every((id) => cards.waiting(id)))
    await Promise.all(ids.map((id) => one.cards.approve(id, { by: 'ann' })))
    const decided = performance.now()
    const woken = await Promise.all(waits)
    expect(performance.now() - decided).toBeLessThan(2_000)
    expect(woken.map((card) => card?.id)).toEqual(ids)
    expect(new Set(woken.map((card) => card?.status))).toEqual(new Set(['approved']))
  })
})
