/**
 * What is counted before a session starts, inside the transaction that starts it.
 * @module
 */
import { rows, type Tx } from '../db/connect.ts'
import { sql } from '../db/drizzle.ts'
import type { Session } from '../policy/words.ts'
import type { SessionClaims } from './claims.ts'
import { findDayCap, smallerCap } from './day-caps.ts'
import { dayUse, sameRuns } from './figures.ts'
import { type Caps, dayFigures, type Earlier, type Tally } from './limits.ts'

interface Counted {
  readonly session: Session
  readonly coworker?: string | undefined
}

/** The letters 'toll' as bits; with a hash of the brand it names the lock. */
const LOCK = 0x746f6c6c

/** Makes everybody who counts or starts sessions of this brand wait until the transaction ends. */
export async function lockBrand(tx: Tx, brand: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${sql.raw(String(LOCK))}, hashtext(${brand}))`)
}

/** Counts what a run of this session must know before it starts. */
export async function tallyOf(tx: Tx, { session, coworker }: Counted, caps: Caps): Promise<Tally> {
  const { brand } = session
  const role = session.role.name
  const found = rows<{ runs: number; started: number }>(
    await tx.execute(sql`select
      (select count(*)::int from sessions where ${liveOf(brand)} and parent is null and ${sameRuns({ role, coworker })})
        as runs,
      (select count(*)::int from sessions where brand = ${brand} and role = ${role} and parent is null
        and created_at > now() - interval '1 hour') as started`),
  )
  const usd = smallerCap(caps.dayUsd?.[role], await findDayCap(tx, brand, role))
  const day: Tally['day'][number][] = []
  for (const figure of dayFigures(session, usd)) {
    const asked = { figure: figure.figure, more: figure.perRun, most: figure.perDay }
    day.push({ ...figure, ...(await dayUse(tx, { brand, role, coworker }, asked)) })
  }
  return {
    liveInBrand: await liveInBrand(tx, brand),
    liveRuns: found[0]?.runs ?? Number.NaN,
    startedThisHour: found[0]?.started ?? Number.NaN,
    day,
  }
}

/** How many sessions of a brand live, children too; NaN, which refuses, if there is no answer. */
export async function liveInBrand(tx: Tx, brand: string): Promise<number> {
  const found = rows<{ live: number }>(
    await tx.execute(sql`select count(*)::int as live from sessions where ${liveOf(brand)}`),
  )
  return found[0]?.live ?? Number.NaN
}

const liveOf = (brand: string) =>
  sql`brand = ${brand} and revoked_at is null and ended_at is null and expires_at > now()`

/** An attempt as a retry must know it. */
export async function readEarlier(orm: Tx, id: string): Promise<Earlier | undefined> {
  type Row = Omit<Earlier, 'ran'> & { readonly registered: string | null; readonly claims: string }
  const [row] = rows<Row>(
    await orm.execute(sql`select id, brand, role, coworker, parent, attempt, registered, claims,
      revoked_at is null and ended_at is null and expires_at > now() as live,
      exists (select 1 from sessions later where later.retry_of = sessions.id) as retried
      from sessions where id = ${id}`),
  )
  if (row === undefined) return undefined
  const { registered, claims, ...earlier } = row
  const ran = registered === null ? (JSON.parse(claims) as SessionClaims).ceiling : (JSON.parse(registered) as string[])
  return { ...earlier, ran }
}
