/**
 * A standing approval as its row, as people see it, and as the record tells of it.
 * @module
 */
import type { AuditEntry } from '../audit/audit.ts'
import { sql } from '../db/drizzle.ts'
import { standingApprovals } from '../db/schema.ts'
import type { Via } from './decider.ts'
import type { Similar } from './standing-match.ts'

export type StandingRow = typeof standingApprovals.$inferSelect

/** A person's yes for more than one call. Times are ISO 8601 in UTC. */
export interface StandingApproval {
  readonly id: string
  /** The card it was given on. */
  readonly card: string
  readonly brand: string
  /** Of one session; without it, every session of the brand whose role may call the tool. */
  readonly sessionId?: string
  readonly scope: 'session' | 'always'
  /** The role that asked. */
  readonly role: string
  readonly tool: string
  readonly connector: string
  readonly title: string
  readonly summary: string
  readonly digest: string
  readonly upstream: string
  /** Which arguments may vary, and how far. Without it: exactly the call of the card. */
  readonly similar?: Similar['arguments']
  /** Calls that are left; without it, as many as come. */
  readonly left?: number
  readonly used: number
  readonly createdAt: string
  readonly createdBy: string
  readonly createdVia?: Via
  readonly note?: string
  readonly expiresAt?: string
  readonly lastUsedAt?: string
  readonly revokedAt?: string
  readonly revokedBy?: string
  /** By the database's clock. Only a `live` one lets a call run, and only while definition and upstream are the same. */
  readonly state: StandingState
}

export const STANDING_STATES = ['live', 'revoked', 'ended', 'expired', 'used_up'] as const
export type StandingState = (typeof STANDING_STATES)[number]

/** Whether its session is over, as the sessions' own table says. */
export const OVER = sql`exists (select from sessions s where s.id = ${standingApprovals.sessionId}
  and (s.revoked_at is not null or s.ended_at is not null or s.expires_at <= now()))`

/** How it stands, by the database's clock. */
export const STATE = sql<StandingState>`case
  when ${standingApprovals.revokedAt} is not null then 'revoked'
  when ${OVER} then 'ended'
  when ${standingApprovals.expiresAt} <= now() then 'expired'
  when ${standingApprovals.leftOver} = 0 then 'used_up'
  else 'live' end`

/** What an audit row says of a standing approval. */
export function ofStanding(row: StandingRow): Omit<AuditEntry, 'kind'> {
  const { brand, role, tool, connector, card, id } = row
  const scope = row.sessionId === null ? 'always' : 'session'
  const sessionId = row.sessionId ?? undefined
  return {
    brand,
    sessionId,
    role,
    tool,
    connector,
    card,
    fingerprint: row.fingerprint ?? undefined,
    scope,
    standing: id,
  }
}

/** A row as people see it. */
export function toStanding(row: StandingRow, state: StandingState): StandingApproval {
  const { id, card, brand, role, tool, connector, title, summary, digest, upstream, used, createdBy } = row
  return {
    ...{ id, card, brand, role, tool, connector, title, summary, digest, upstream, used, createdBy, state },
    scope: row.sessionId === null ? 'always' : 'session',
    createdAt: row.createdAt.toISOString(),
    ...(row.sessionId === null ? {} : { sessionId: row.sessionId }),
    ...(row.pattern === null ? {} : { similar: JSON.parse(row.pattern) as Similar['arguments'] }),
    ...(row.leftOver === null ? {} : { left: row.leftOver }),
    ...(row.createdVia === null ? {} : { createdVia: row.createdVia }),
    ...(row.note === null ? {} : { note: row.note }),
    ...(row.expiresAt === null ? {} : { expiresAt: row.expiresAt.toISOString() }),
    ...(row.lastUsedAt === null ? {} : { lastUsedAt: row.lastUsedAt.toISOString() }),
    ...(row.revokedAt === null ? {} : { revokedAt: row.revokedAt.toISOString() }),
    ...(row.revokedBy === null ? {} : { revokedBy: row.revokedBy }),
  }
}
