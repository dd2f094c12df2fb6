/**
 * The tables of migrations/ as drizzle sees them. Each is written by one room only, named above it.
 * JSON is kept as text: what a caller sent must come back letter for letter, and jsonb refuses \u0000.
 * @module
 */
import { bigint, integer, numeric, pgTable, primaryKey, text, timestamp, uuid } from './drizzle.ts'

const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })

/** Owner: session/keys. */
export const signingKeys = pgTable('signing_keys', {
  kid: text('kid').primaryKey(),
  publicJwk: text('public_jwk').notNull(),
  sealedPrivate: text('sealed_private').notNull(),
  state: text('state', { enum: ['active', 'verifying', 'retired'] }).notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  retiredAt: moment('retired_at'),
})

/** Owner: session/sessions. */
export const sessions = pgTable('sessions', {
  id: text('id').primaryKey(),
  issuer: text('issuer').notNull(),
  subject: text('subject').notNull(),
  brand: text('brand').notNull(),
  role: text('role').notNull(),
  route: text('route').notNull(),
  claims: text('claims').notNull(),
  issuedAt: moment('issued_at').notNull(),
  expiresAt: moment('expires_at').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  revokedAt: moment('revoked_at'),
  endedAt: moment('ended_at'),
  reportedUsd: numeric('reported_usd'),
  /** The session it was delegated by. */
  parent: text('parent'),
  /** The profile it is a run of. */
  coworker: text('coworker'),
  retryOf: text('retry_of'),
  attempt: integer('attempt').notNull().default(1),
  /** JSON: names of the tools and built-ins it held when it was issued. */
  registered: text('registered'),
  /** How many blocks of its calls the replicas took. */
  callBlocks: integer('call_blocks').notNull().default(0),
})

/** Owner: session/figures. The per-run figures of a session; `spent` is null until it is known. */
export const sessionFigures = pgTable(
  'session_figures',
  {
    sessionId: text('session_id').notNull(),
    figure: text('figure').notNull(),
    most: numeric('most').notNull(),
    carved: numeric('carved').notNull().default('0'),
    spent: numeric('spent'),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.figure] })],
)

/** The steps of a card, in the order of `pending → approved → running → done, failed or unknown`, then the refusals. */
export const CARD_STATUSES = [
  'pending',
  'approved',
  'running',
  'done',
  'failed',
  'unknown',
  'denied',
  'expired',
  'withdrawn',
] as const
export type CardStatus = (typeof CARD_STATUSES)[number]

/** Owner: approvals. */
export const cards = pgTable('cards', {
  id: uuid('id').primaryKey(),
  brand: text('brand').notNull(),
  sessionId: text('session_id').notNull(),
  role: text('role').notNull(),
  tool: text('tool').notNull(),
  connector: text('connector').notNull(),
  title: text('title').notNull(),
  summary: text('summary').notNull(),
  /** Redacted JSON, for people. */
  arguments: text('arguments').notNull(),
  sealedArguments: text('sealed_arguments').notNull(),
  fingerprint: text('fingerprint').notNull(),
  /** Of the tool's definition when the card was made. */
  digest: text('digest').notNull(),
  access: text('access', { enum: ['read', 'write', 'spend'] }).notNull(),
  /** JSON. */
  rules: text('rules').notNull(),
  status: text('status', { enum: CARD_STATUSES }).notNull().default('pending'),
  createdAt: moment('created_at').notNull().defaultNow(),
  expiresAt: moment('expires_at').notNull(),
  decidedAt: moment('decided_at'),
  decidedBy: text('decided_by'),
  note: text('note'),
  startedAt: moment('started_at'),
  leaseUntil: moment('lease_until'),
  endedAt: moment('ended_at'),
  /** JSON, for people. */
  outcome: text('outcome'),
  sealedResult: text('sealed_result'),
  deliveredAt: moment('delivered_at'),
})

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

/** Owner: grants. Profiles of coworkers. */
export const coworkers = pgTable(
  'coworkers',
  {
    brand: text('brand').notNull(),
    id: text('id').notNull(),
    name: text('name').notNull(),
    role: text('role', { enum: ['coworker', 'specialist'] }).notNull(),
    /** JSON: tools as written, grant, limits. */
    profile: text('profile').notNull(),
    version: bigint('version', { mode: 'number' }).notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.brand, table.id] })],
)

/** Owner: grants. What a brand's goal agent is granted. */
export const goalGrants = pgTable('goal_grants', {
  brand: text('brand').primaryKey(),
  /** JSON. */
  granted: text('granted').notNull(),
  version: bigint('version', { mode: 'number' }).notNull(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
})
