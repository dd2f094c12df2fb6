/**
 * Tables of records: the audit, traces, and the migrations that ran.
 * @module
 */
import { bigint, boolean, pgTable, primaryKey, sql, text, uuid } from '../drizzle.ts'
import { moment } from './moment.ts'

/** Owner: audit. Append-only. */
export const audit = pgTable(
  'audit',
  {
    writer: uuid('writer').notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    at: moment('at').notNull(),
    kind: text('kind').notNull(),
    attempt: text('attempt'),
    brand: text('brand'),
    sessionId: text('session_id'),
    tool: text('tool'),
    code: text('code'),
    card: text('card'),
    /** Canonical JSON: what the hash covers. */
    entry: text('entry').notNull(),
    prev: text('prev').notNull(),
    hash: text('hash').notNull(),
  },
  (table) => [primaryKey({ columns: [table.writer, table.seq] })],
)

/** Owner: db/migrate. */
export const migrations = pgTable('migrations', {
  name: text('name').primaryKey(),
  sha256: text('sha256').notNull(),
  appliedAt: moment('applied_at').notNull().defaultNow(),
})

/** Owner: gate/traces. Every call of every session of a routine. */
export const traces = pgTable('traces', {
  id: text('id').primaryKey(),
  routine: text('routine').notNull(),
  brand: text('brand').notNull(),
  sessionId: text('session_id').notNull(),
  supervised: boolean('supervised').notNull(),
  tool: text('tool').notNull(),
  digest: text('digest'),
  fingerprint: text('fingerprint'),
  /** JSON, redacted. */
  arguments: text('arguments').notNull(),
  decision: text('decision', { enum: ['open', 'automatic', 'asked', 'denied'] }).notNull(),
  outcome: text('outcome', { enum: ['running', 'waiting', 'done', 'failed', 'unknown', 'refused'] }).notNull(),
  code: text('code'),
  rules: text('rules').notNull().default('[]'),
  card: text('card'),
  cost: text('cost'),
  startedAt: moment('started_at').notNull().default(sql`clock_timestamp()`),
  endedAt: moment('ended_at'),
})
