/** Starts, delegations and ends at once, over two replicas on one PostgreSQL. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, rows } from '../../src/db/connect.ts'
import { sql } from '../../src/db/drizzle.ts'
import { endSession, revokeSession } from '../../src/session/sessions.ts'
import { rulesOf, runsOn } from '../session/run-world.ts'
import { freshPostgres, quiet, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
let closeOther: () => Promise<void>
let replicas: ReturnType<typeof runsOn>[]
beforeAll(async () => {
  const fresh = await freshPostgres()
  database = fresh
  const other = await connect({ url: fresh.url, folder: '', log: quiet })
  replicas = [runsOn(database.db), runsOn(other)]
  closeOther = () => other.close()
})
afterAll(async () => {
  for (const { audit } of replicas) await audit.close()
  await closeOther()
  await database.close()
})

const replica = (n: number) => replicas[n % 2]!
const many = <T>(n: number, start: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => start(i)))
const counted = (found: readonly string[][]) => {
  const all = found.map((rules) => rules.join('+') || 'begun')
  return Object.fromEntries([...new Set(all)].sort().map((word) => [word, all.filter((one) => one === word).length]))
}

test('of a hundred starts at once no more pass than runs at once, the brand and the day allow', async () => {
  const atOnce = await many(100, (n) =>
    replica(n).start({ coworker: 'c1', claims: { brand: 'crowd', limits: { concurrentRuns: 3 } } }),
  )
  expect(counted(atOnce.map(rulesOf))).toEqual({ begun: 3, concurrent_runs: 97 })
  const inBrand = await many(100, (n) =>
    replica(n).start({ coworker: `p${n}`, claims: { brand: 'crowd' }, caps: { liveSessionsPerBrand: 10 } }),
  )
  expect(counted(inBrand.map(rulesOf))).toEqual({ begun: 7, live_sessions_per_brand: 93 })
  const reviews = await many(100, (n) =>
    replica(n).start({ claims: { brand: 'reviews', limits: { runUsd: 0.1 } }, caps: { dayUsd: { coworker: 0.25 } } }),
  )
  expect(counted(reviews.map(rulesOf))).toEqual({ begun: 2, day_figure: 98 })
})

test('of twenty retries of one attempt at once one starts', async () => {
  const first = await replica(0).start({ claims: { brand: 'retries', limits: { attempts: 5 } } })
  await endSession(replica(0).audit, first.session.id, { by: 'operator' })
  const retries = await many(20, (n) =>
    replica(n).start({ retryOf: first.session.id, claims: { brand: 'retries', limits: { attempts: 5 } } }),
  )
  expect(counted(retries.map(rulesOf))).toEqual({ begun: 1, retried: 19 })
})

test('forty children at once never take more than their parent has', async () => {
  const { session } = await replica(0).start({ claims: { brand: 'family', limits: { runUsd: 1, delegationDepth: 1 } } })
  const children = await many(40, (n) =>
    replica(n)
      .delegate(session, { limits: { runUsd: 0.1 } })
      .catch(() => undefined),
  )
  const begun = children.filter((child) => child !== undefined && rulesOf(child).length === 0)
  expect(begun).toHaveLength(10)
  expect(await replica(0).figures(session.id)).toEqual(['runUsd 1 1.0 -'])
})

test('no child outlives a tree that is revoked or ended while it grows', async () => {
  for (let round = 0; round < 10; round++) {
    const brand = `tree${round}`
    const { session } = await replica(0).start({ claims: { brand, limits: { delegationDepth: 3 } } })
    const first = await replica(0).delegate(session, { limits: { runUsd: 0.5 } })
    const growing = many(20, async (n) => {
      const parent = n % 2 === 0 ? session : first.session
      const child = await replica(n).delegate(parent, { limits: { runUsd: 0.01 } })
      return child.begun.ok ? replica(n + 1).delegate(child.session) : child
    })
    const felling = new Promise((resolve) => setTimeout(resolve, round * 3)).then(() =>
      round % 2 === 0
        ? revokeSession(replica(1).audit, session.id, { by: 'operator' })
        : endSession(replica(1).audit, session.id, { by: 'operator' }),
    )
    await Promise.all([growing, felling])
    const left = await database.db.orm.execute(
      sql`select id from sessions where brand = ${brand} and revoked_at is null and ended_at is null`,
    )
    expect(rows(left)).toEqual([])
  }
})
