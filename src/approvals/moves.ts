/**
 * What every move of a card is made of: a conditional update that returns the row, its notice, and what its audit row says.
 * @module
 */
import { and, eq, inArray, type SQL, sql, type PgUpdateSetSource } from '../db/drizzle.ts'
import type { AuditEntry } from '../audit/audit.ts'
import type { Tx } from '../db/connect.ts'
import { tell } from '../db/events.ts'
import { cards } from '../db/schema.ts'
import { costFrom } from './binding.ts'
import { type CardRow, type CardStatus, SHOWN } from './show.ts'

/** The database's clock at the very moment a move takes effect, not at the start of its transaction. */
export const clock = sql<Date>`clock_timestamp()`

/** So many milliseconds from that moment. */
export const inMs = (ms: number): SQL<Date> => sql<Date>`clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`

/** What a move sets: the new status, and whatever goes with it. */
export type CardChange = Omit<PgUpdateSetSource<typeof cards>, 'status'> & { readonly status: CardStatus }

/**
 * Moves one card out of one of `from`, where `also` holds too, and tells all replicas. Undefined: someone was first.
 * An update that waited for another's looks at the row again, so of any number at once one gets the row.
 */
export async function move(
  tx: Tx,
  id: string,
  from: readonly CardStatus[],
  change: CardChange,
  also?: SQL,
): Promise<CardRow | undefined> {
  const [row] = await tx
    .update(cards)
    .set(change)
    .where(and(eq(cards.id, id), inArray(cards.status, [...from]), also))
    .returning(SHOWN)
  if (row !== undefined) await tell(tx, { kind: 'card', id: row.id, status: row.status })
  return row
}

/** What any audit row about a card says of it. */
export function about(row: CardRow): Omit<AuditEntry, 'kind'> {
  return {
    card: row.id,
    brand: row.brand,
    sessionId: row.sessionId,
    role: row.role,
    tool: row.tool,
    connector: row.connector,
    fingerprint: row.fingerprint,
    cost: costFrom(row.cost),
  }
}

/** What the audit row of an expiry says: nobody decided in time, which is a denial. */
export const EXPIRED = { kind: 'card.ended', code: 'approval_expired', outcome: 'refused', cost: undefined } as const

/** What the audit row of an outrun lease says: the call may have run, and is never run again by itself. */
export const LAPSED = { kind: 'card.ended', code: 'outcome_unknown', outcome: 'unknown' } as const
