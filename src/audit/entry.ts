/**
 * What the record says of one event, and how rows hang together: each writer's rows are numbered from 1, and each
 * hash covers the hash before it, so that an edit, a gap, an insertion or another order shows.
 * @module
 */
import { hash } from 'node:crypto'
import type { Code } from '../policy/words.ts'

export type AuditKind =
  | 'call.started'
  | 'call.ended'
  | 'card.created'
  | 'card.decided'
  | 'card.ended'
  | 'card.settled'
  | 'standing.created'
  | 'standing.revoked'
  | 'session.issued'
  | 'session.revoked'
  | 'session.ended'
  | 'keys.rotated'
  | 'approver.issued'
  | 'approver.revoked'
  | 'auth.refused'
  | 'message.refused'
  | 'spend.unknown'
  | 'grant.changed'
  | 'connection.changed'
  | 'connection.checked'
  | 'inbound.refused'
  | 'webhook.changed'
  | 'tool.pinned'
  | 'tool.changed'
  | 'tool.accepted'
  | 'routine.changed'
  | 'tool_denied'

/** Never holds a secret: no arguments, no results, no tokens. */
export interface AuditEntry {
  readonly kind: AuditKind
  /** One attempt at one call: its `call.started`, if any, and its one `call.ended` name the same. */
  readonly attempt?: string | undefined
  readonly brand?: string | undefined
  readonly sessionId?: string | undefined
  readonly subject?: string | undefined
  readonly role?: string | undefined
  readonly tool?: string | undefined
  readonly connector?: string | undefined
  readonly code?: Code | 'ok' | undefined
  readonly outcome?: 'done' | 'failed' | 'refused' | 'parked' | 'unknown' | undefined
  /** Ids of the rules that caused the answer. */
  readonly rules?: readonly string[] | undefined
  /** Hash of the view the call was judged in. */
  readonly view?: string | undefined
  readonly fingerprint?: string | undefined
  readonly card?: string | undefined
  /** The person who decided. */
  readonly by?: string | undefined
  /** The door a person decided through, and the address they came from. */
  readonly via?: string | undefined
  readonly address?: string | undefined
  /** Digest of what the person was shown. */
  readonly shown?: string | undefined
  /** How far the yes goes, and the standing approval it made or came from. */
  readonly scope?: string | undefined
  readonly standing?: string | undefined
  readonly reason?: string | undefined
  /** The routine whose session it was, or that was changed. */
  readonly routine?: string | undefined
  readonly durationMs?: number | undefined
  readonly bytes?: number | undefined
  readonly cost?: { readonly unit: string; readonly amount: string | number } | undefined
}

/** An entry with the moment it was recorded, in ISO 8601 with milliseconds. */
export interface Stamped {
  readonly at: string
  readonly entry: AuditEntry
}

/** Where a chain stands: the last row's number and hash. */
export interface Head {
  readonly seq: number
  readonly hash: string
}

/** Before a writer's first row. */
export const GENESIS: Head = { seq: 0, hash: '0'.repeat(64) }

/** A row of the table `audit`. */
export interface Row {
  readonly seq: number
  readonly at: string
  readonly columns: Columns
  readonly entry: string
  readonly prev: string
  readonly hash: string
}

/** Copies of fields, to search by. */
export const COLUMNS = ['kind', 'attempt', 'brand', 'sessionId', 'tool', 'code', 'card'] as const
export type Columns = Readonly<Record<(typeof COLUMNS)[number], string | null>>

/** The order of fields in the text of an entry. A field not named here is not recorded. */
const FIELDS: ReadonlyArray<keyof AuditEntry> = [
  'kind',
  'attempt',
  'brand',
  'sessionId',
  'subject',
  'role',
  'tool',
  'connector',
  'code',
  'outcome',
  'rules',
  'view',
  'fingerprint',
  'card',
  'by',
  'via',
  'address',
  'shown',
  'scope',
  'standing',
  'reason',
  'routine',
  'durationMs',
  'bytes',
  'cost',
]

/** Longest text of a field, in UTF-16 units: what callers name must not fill the record. */
const MAX_TEXT = 2000
/** Longest copy in a column; PostgreSQL cannot index texts over 2,704 bytes. */
const MAX_COLUMN = 500

/** The rows that follow `head`. */
export function chain(writer: string, head: Head, stamped: readonly Stamped[]): Row[] {
  let { seq, hash: prev } = head
  return stamped.map(({ at, entry }) => {
    seq++
    const text = entryText(writer, seq, at, entry)
    const hash = hashOf(prev, text)
    const row: Row = { seq, at, columns: columnsOf(entry), entry: text, prev, hash }
    prev = hash
    return row
  })
}

/** SHA-256 in hex over the hash before (always 64 digits) and the text of the entry. */
export function hashOf(prev: string, text: string): string {
  return hash('sha256', prev + text, 'hex')
}

function entryText(writer: string, seq: number, at: string, entry: AuditEntry): string {
  const fields: Record<string, unknown> = { writer, seq, at }
  for (const field of FIELDS) {
    const value = entry[field]
    if (value !== undefined) fields[field] = typeof value === 'string' ? short(value, MAX_TEXT) : value
  }
  return JSON.stringify(fields)
}

/** The columns of an entry, or of the text of one read back. */
export function columnsOf(entry: Readonly<Record<string, unknown>> | AuditEntry): Columns {
  const copies = COLUMNS.map((column) => {
    const value = (entry as Record<string, unknown>)[column]
    return [column, typeof value === 'string' ? storable(short(value, MAX_COLUMN)) : null]
  })
  return Object.fromEntries(copies) as Columns
}

const short = (text: string, max: number) => (text.length <= max ? text : `${text.slice(0, max - 1)}…`)

/** PostgreSQL text holds no NUL, and UTF-8 no half of a surrogate pair. In the entry JSON escapes both. */
const storable = (text: string) => text.replaceAll('\0', '\ufffd').toWellFormed()
