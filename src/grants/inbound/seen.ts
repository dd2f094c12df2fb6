/**
 * What has come in and started a session. Owner of the table inbound_seen.
 * @module
 */
import { createHash } from 'node:crypto'
import { rows, type Tx } from '../../db/connect.ts'
import { sql } from '../../db/drizzle.ts'
import { inboundSeen } from '../../db/schema.ts'
import type { Where } from '../connections/rows.ts'

/** A vendor's retries end long before. */
const KEEP = sql.raw("interval '30 days'")

/** The delivery by its id, and the message it tells of: a second webhook at the vendor tells of the same message. */
export interface Arrival {
  readonly delivery: string
  readonly message: readonly string[]
}

/**
 * Takes a delivery for a session, in the transaction that starts it and under the lock of its brand. False where the
 * delivery or its message has started one already. What a transaction that fails took is free again.
 */
export async function takeArrival(
  tx: Tx,
  { brand, slug }: Where,
  { delivery, message }: Arrival,
  sessionId: string,
): Promise<boolean> {
  const [one, other] = [markOf('delivery', [delivery]), markOf('message', message)]
  await tx.execute(sql`delete from ${inboundSeen} where brand = ${brand} and at < now() - ${KEEP}`)
  const taken = rows(
    await tx.execute(sql`insert into ${inboundSeen} (brand, slug, mark, session_id)
      values (${brand}, ${slug}, ${one}, ${sessionId}), (${brand}, ${slug}, ${other}, ${sessionId})
      on conflict do nothing returning mark`),
  )
  return taken.length === 2
}

const markOf = (kind: string, parts: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, ...parts]))
    .digest('hex')
