/**
 * A brand's own figure for what all runs of a role may cost in a day (seed 001, "Goal reviewer": the smaller of the
 * deployment's figure and the brand's setting).
 * @module
 */
import type { Audit } from '../audit/audit.ts'
import { rows, type Tx } from '../db/connect.ts'
import { sql } from '../db/drizzle.ts'

/** Whose figure, in US dollars; above zero or zero, which lets no run start. */
export interface DayCap {
  readonly brand: string
  readonly role: string
  readonly usd: number
}

/** The brand's own figure; undefined where it has none. */
export async function findDayCap(tx: Tx, brand: string, role: string): Promise<number | undefined> {
  const found = rows<{ usd: number }>(
    await tx.execute(sql`select usd::float8 as usd from day_caps where brand = ${brand} and role = ${role}`),
  )
  return found[0]?.usd
}

/** Sets the brand's figure. What runs already goes on; the next start is held to it. */
export function saveDayCap(audit: Audit, { brand, role, usd }: DayCap, by: string): Promise<void> {
  return audit.transaction(async (tx, record) => {
    await tx.execute(sql`
      insert into day_caps (brand, role, usd) values (${brand}, ${role}, ${String(usd)}::numeric)
      on conflict (brand, role) do update set usd = excluded.usd, updated_at = now()`)
    record({ kind: 'grant.changed', brand, subject: role, role, by, reason: `day figure: ${usd} US dollars` })
  })
}

/** Of the operator's figure and the brand's the smaller; undefined where neither is set. */
export function smallerCap(deployment: number | undefined, own: number | undefined): number | undefined {
  if (deployment === undefined || own === undefined) return deployment ?? own
  return Math.min(deployment, own)
}
