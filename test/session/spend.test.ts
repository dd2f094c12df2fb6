/** The ledger's rows: their day, their sums, what children give back, and what a day's runs count at. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../src/db/drizzle.ts'
import { endSession, revokeSession } from '../../src/session/sessions.ts'
import { release, reserve, settle } from '../../src/session/spend.ts'
import { allLeft, leftOf } from '../../src/session/spend-left.ts'
import { listSpend, sumSpend } from '../../src/session/spend-read.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { rulesOf, runsOn } from './run-world.ts'

let database: TestDatabase
let world: ReturnType<typeof runsOn>
beforeAll(async () => {
  database = await freshDatabase()
  world = runsOn(database.db)
})
afterAll(async () => {
  await world.audit.close()
  await database.close()
})

const grant = (perRunCredits: number, perDayCredits = perRunCredits) => ({
  connectors: ['shop'],
  skills: [],
  allowance: { shop: { perRunCredits, perDayCredits } },
})

/** Reserves, and settles where an actual is given. */
async function spend(sessionId: string, amount: string, actual?: string, more: { brand?: string; unit?: string } = {}) {
  const id = randomUUID()
  const whose = { brand: more.brand ?? 'acme', sessionId, role: 'coworker', tool: 'mcp__shop__pay', connector: 'shop' }
  const wanted = { id, card: false, attempt: id, ...whose, unit: more.unit ?? 'credits', amount, leaseMs: 60_000 }
  const taken = await database.db.transaction((tx) => reserve(tx, wanted, more.unit === undefined))
  if (taken && actual !== undefined) await settle(database.db.orm, id, actual)
  return { id, taken }
}
const left = async (sessionId: string) => (await leftOf(database.db, sessionId, 'shop', 'credits'))?.left

describe('a reservation', () => {
  test('is booked once or released once, whatever comes after', async () => {
    const { session } = await world.start({ claims: { grant: grant(10) } })
    const { id } = await spend(session.id, '4')
    expect(await settle(database.db.orm, id, '3')).toMatchObject({ settled: '3', left: '7' })
    expect(await settle(database.db.orm, id, '3')).toBeUndefined()
    expect(await release(database.db.orm, id)).toBeUndefined()
    expect(await left(session.id)).toBe('7')
  })

  test('can be left out of what is left, for whoever weighs it', async () => {
    const { session } = await world.start({ claims: { brand: 'weighing', grant: grant(10) } })
    const { id } = await spend(session.id, '4')
    await spend(session.id, '1', '1')
    const beside = async (one?: string) => (await leftOf(database.db, session.id, 'shop', 'credits', one))?.left
    expect([await beside(), await beside(id)]).toEqual(['5', '9'])
  })

  test('in a unit that no allowance states is refused where an allowance limits the session', async () => {
    const { session } = await world.start({ claims: { brand: 'units', grant: grant(10) } })
    const id = randomUUID()
    const whose = { brand: 'acme', sessionId: session.id, role: 'coworker', tool: 'mcp__shop__pay', connector: 'shop' }
    for (const unit of ['usd', 'tokens', 'constructor']) {
      const wanted = { id, card: false, ...whose, unit, amount: '0' }
      expect(await database.db.transaction((tx) => reserve(tx, wanted, true))).toBe(false)
    }
  })
})

describe('delegation', () => {
  test('carves out of what the calls left, and what a child leaves goes back when it is over', async () => {
    const { session } = await world.start({
      claims: { brand: 'family', grant: grant(10), limits: { delegationDepth: 1 } },
    })
    await spend(session.id, '3', '2')
    await spend(session.id, '1')
    const child = await world.delegate(session, { grant: { connectors: ['shop'] } })
    expect(child.session.grant.allowance.shop?.perRunCredits).toBe(7)
    expect(await left(session.id)).toBe('0')
    expect((await spend(session.id, '0.01')).taken).toBe(false)
    await spend(child.session.id, '2', '1.5')
    const { id: late } = await spend(child.session.id, '2.5')
    await endSession(world.audit, child.session.id, { by: 'operator' })
    expect(await left(session.id)).toBe('3')
    expect((await spend(child.session.id, '0.01')).taken).toBe(false)
    await settle(database.db.orm, late, '2.5')
    expect(await allLeft(database.db, session.id)).toEqual([
      { connector: 'shop', unit: 'credits', most: '10', handedOn: '4', reserved: '1', spent: '2', left: '3' },
    ])
  })

  test('gives back on revocation too, and only once', async () => {
    const { session } = await world.start({
      claims: { brand: 'others', grant: grant(10), limits: { delegationDepth: 1 } },
    })
    const child = await world.delegate(session, {
      grant: { connectors: ['shop'], allowance: { shop: { perRunCredits: 6 } } },
    })
    await revokeSession(world.audit, child.session.id, { by: 'operator' })
    await endSession(world.audit, child.session.id, { by: 'operator' })
    expect(await left(session.id)).toBe('10')
  })
})

describe('a day', () => {
  test('counts an ended run at what it booked and still holds, and one of which nothing is known whole', async () => {
    const run = () => world.start({ coworker: 'spender', claims: { brand: 'days', grant: grant(10, 25) } })
    const first = await run()
    await spend(first.session.id, '4', '3', { brand: 'days' })
    await spend(first.session.id, '2', undefined, { brand: 'days' })
    await endSession(world.audit, first.session.id, { by: 'operator' })
    // 5 so far: two more runs of 10 fit a day of 25, and a third does not while they live.
    const [second, third] = [await run(), await run()]
    expect([second, third].map(rulesOf)).toEqual([[], []])
    expect(rulesOf(await run())).toEqual(['day_figure'])
    await endSession(world.audit, second.session.id, { by: 'operator' })
    expect(rulesOf(await run())).toEqual(['day_figure'])
    await spend(third.session.id, '1', '1', { brand: 'days' })
    await endSession(world.audit, third.session.id, { by: 'operator' })
    // 5 and 1 and, for the run that booked nothing, 10.
    expect(rulesOf(await world.start({ coworker: 'spender', claims: { brand: 'days', grant: grant(9, 25) } }))).toEqual(
      [],
    )
  })

  test('counts an ended run of which nothing is booked yet at what it holds', async () => {
    const run = () => world.start({ coworker: 'holder', claims: { brand: 'holders', grant: grant(10, 15) } })
    const { session } = await run()
    await spend(session.id, '4', undefined, { brand: 'holders' })
    await endSession(world.audit, session.id, { by: 'operator' })
    expect(rulesOf(await run())).toEqual([])
  })

  const MOMENTS = [
    ['2026-03-01T23:59:59.999999Z', '2026-03-01'],
    ['2026-03-02T00:00:00Z', '2026-03-02'],
    // A night in which Europe turns its clocks, and one in which America does.
    ['2026-03-29T00:59:59Z', '2026-03-29'],
    ['2026-03-29T01:00:00Z', '2026-03-29'],
    ['2026-03-28T23:59:59Z', '2026-03-28'],
    ['2026-11-01T05:30:00Z', '2026-11-01'],
    // A leap day.
    ['2028-02-28T23:59:59.5Z', '2028-02-28'],
    ['2028-02-29T00:00:00Z', '2028-02-29'],
    ['2028-02-29T23:59:59.999999Z', '2028-02-29'],
    ['2028-03-01T00:00:00Z', '2028-03-01'],
  ] as const

  test('has each call exactly once, in UTC, whatever zone the database speaks in', async () => {
    const { session } = await world.start({ claims: { brand: 'clocks' } })
    for (const [at] of MOMENTS) {
      const { id } = await spend(session.id, '1', '1', { brand: 'clocks', unit: 'usd' })
      await database.db.orm.execute(sql`update spend set created_at = ${at}::timestamptz where id = ${id}::uuid`)
    }
    const days = [...new Set(MOMENTS.map(([, day]) => day))]
    for (const zone of ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles', 'Europe/Berlin']) {
      await database.db.orm.execute(sql`select set_config('timezone', ${zone}, false)`)
      const totals = await sumSpend(database.db, 'day', { brand: 'clocks', limit: 100 })
      const found = Object.fromEntries(totals.map(({ key, calls }) => [key, calls]))
      const wanted = Object.fromEntries(days.map((day) => [day, MOMENTS.filter(([, of]) => of === day).length]))
      expect(found).toEqual(wanted)
      for (const day of days) {
        const { items } = await listSpend(database.db, { brand: 'clocks', day, limit: 100 })
        expect(items.map((row) => row.day)).toEqual(items.map(() => day))
        expect(items).toHaveLength(wanted[day]!)
      }
    }
    await database.db.orm.execute(sql`select set_config('timezone', 'UTC', false)`)
  })
})

describe('reading', () => {
  test('pages through the rows, newest first, each once', async () => {
    const { session } = await world.start({ claims: { brand: 'pages', grant: grant(100) } })
    for (let i = 0; i < 7; i++) await spend(session.id, '1', '1', { brand: 'pages' })
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await listSpend(database.db, { session: session.id, limit: 3, cursor })
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(new Set(seen).size).toBe(7)
    expect((await listSpend(database.db, { limit: 3, cursor: 'never given out' })).items).toEqual([])
  })

  test('sums what is booked, open and unknown, per brand and unit', async () => {
    const { session } = await world.start({ claims: { brand: 'sums', grant: grant(100) } })
    await spend(session.id, '4', '3.25', { brand: 'sums' })
    await spend(session.id, '2', undefined, { brand: 'sums' })
    await spend(session.id, '0.1', '0.2', { brand: 'sums', unit: 'usd' })
    const sums = (by: 'connector' | 'session') => sumSpend(database.db, by, { brand: 'sums', limit: 10 })
    const credits = { brand: 'sums', unit: 'credits', calls: 2, settled: '3.25', open: '2', unknown: '0' }
    const usd = { brand: 'sums', unit: 'usd', calls: 1, settled: '0.2', open: '0', unknown: '0' }
    expect(await sums('connector')).toEqual([
      { key: 'shop', ...usd },
      { key: 'shop', ...credits },
    ])
    expect((await sums('session')).map(({ key }) => key)).toEqual([session.id, session.id])
  })
})
