/**
 * Reading the record, newest first.
 * @module
 */
import { and, desc, eq, type SQL, sql } from '../db/drizzle.ts'
import type { Database } from '../db/connect.ts'
import { audit } from '../db/schema.ts'
import type { AuditEntry } from './entry.ts'

export interface AuditQuery {
  readonly brand?: string | undefined
  readonly sessionId?: string | undefined
  readonly tool?: string | undefined
  readonly kind?: string | undefined
  readonly attempt?: string | undefined
  /** Taken as 1 to 500. */
  readonly limit: number
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** An entry as it was recorded, with its place. `at` is ISO 8601. */
export interface AuditItem extends AuditEntry {
  readonly writer: string
  readonly seq: number
  readonly at: string
}

export interface AuditPage {
  readonly items: readonly AuditItem[]
  readonly nextCursor: string | undefined
}

/** The cursor is not one this gateway gave out. */
export class UnknownCursor extends Error {
  override name = 'UnknownCursor'
}

const FILTERS = ['brand', 'sessionId', 'tool', 'kind', 'attempt'] as const

/** One page. Throws UnknownCursor. */
export async function readAudit(db: Database, query: AuditQuery): Promise<AuditPage> {
  const limit = Math.min(Math.max(Math.trunc(query.limit) || 1, 1), 500)
  const where: SQL[] = []
  for (const filter of FILTERS) {
    const wanted = query[filter]
    if (wanted !== undefined) where.push(eq(audit[filter], wanted))
  }
  if (query.cursor !== undefined) where.push(after(query.cursor))
  const found = await db.orm
    .select({ writer: audit.writer, seq: audit.seq, at: audit.at, kind: audit.kind, entry: audit.entry })
    .from(audit)
    .where(and(...where))
    .orderBy(desc(audit.at), desc(audit.writer), desc(audit.seq))
    .limit(limit + 1)
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  return {
    items: page.map(({ writer, seq, at, kind, entry }) => ({
      ...read(entry, kind),
      writer,
      seq,
      at: at.toISOString(),
    })),
    nextCursor: last && cursorOf(last),
  }
}

/** An entry somebody damaged is still listed; verifyAudit says what is wrong with it. */
function read(text: string, kind: string): AuditEntry {
  try {
    const entry: unknown = JSON.parse(text)
    if (entry !== null && typeof entry === 'object') return entry as AuditEntry
  } catch {}
  return { kind: kind as AuditEntry['kind'] }
}

function cursorOf({ at, writer, seq }: { at: Date; writer: string; seq: number }): string {
  return Buffer.from(`${at.toISOString()} ${writer} ${seq}`).toString('base64url')
}

function after(cursor: string): SQL {
  const place = Buffer.from(cursor, 'base64url').toString()
  const [, at, writer, seq] = /^(\d{4}-[\d:.T-]+Z) ([\da-f-]{36}) (\d{1,15})$/.exec(place) ?? []
  if (at === undefined || Number.isNaN(Date.parse(at))) {
    throw new UnknownCursor('The cursor is not one of this list: use the nextCursor of the page before.')
  }
  return sql`(${audit.at}, ${audit.writer}, ${audit.seq}) < (${at}::timestamptz, ${writer}::uuid, ${seq}::bigint)`
}
