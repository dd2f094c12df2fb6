/**
 * Tables of the approvals room: cards, standing approvals, webhooks.
 * @module
 */
import { boolean, integer, pgTable, sql, text, uuid } from '../drizzle.ts'
import { moment } from './moment.ts'

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

/** How far a yes goes: this call once, this call in this session, this call in every session of the brand. */
export const SCOPES = ['once', 'session', 'always'] as const
/** Through which of the gateway's own doors a person decided. */
export const DECIDED_VIA = ['rest', 'inbox', 'cli'] as const
/** What a person found out about a call whose outcome was unknown. */
export const SETTLED = ['happened', 'did_not'] as const

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
  /** Identity of the far side: a digest of where it is, never a secret. */
  upstream: text('upstream').notNull().default(''),
  /** JSON: unit and amount. */
  cost: text('cost'),
  /** Hash of all that an approval is bound to, besides the session. */
  binding: text('binding').notNull().default(''),
  /** Digest of what a person is shown. */
  shown: text('shown').notNull().default(''),
  alwaysOffered: boolean('always_offered').notNull().default(false),
  decidedVia: text('decided_via', { enum: DECIDED_VIA }),
  decidedAddress: text('decided_address'),
  scope: text('scope', { enum: SCOPES }),
  /** The standing approval that decided it. */
  standing: uuid('standing'),
  settled: text('settled', { enum: SETTLED }),
  settledAt: moment('settled_at'),
  settledBy: text('settled_by'),
})

/** Owner: approvals. Each holds a fingerprint (exactly one call), or a pattern, a rest, a count and an end. */
export const standingApprovals = pgTable('standing_approvals', {
  id: uuid('id').primaryKey(),
  /** The card whose approval it is. */
  card: uuid('card').notNull(),
  brand: text('brand').notNull(),
  /** Null: for every session of the brand. */
  sessionId: text('session_id'),
  role: text('role').notNull(),
  tool: text('tool').notNull(),
  connector: text('connector').notNull(),
  title: text('title').notNull(),
  summary: text('summary').notNull(),
  digest: text('digest').notNull(),
  upstream: text('upstream').notNull(),
  /** JSON, as a card's. */
  cost: text('cost'),
  fingerprint: text('fingerprint'),
  /** JSON: which arguments may vary, and how far. */
  pattern: text('pattern'),
  /** Hash of all other arguments. */
  rest: text('rest'),
  leftOver: integer('left_over'),
  used: integer('used').notNull().default(0),
  createdAt: moment('created_at').notNull().defaultNow(),
  createdBy: text('created_by').notNull(),
  createdVia: text('created_via', { enum: DECIDED_VIA }),
  note: text('note'),
  expiresAt: moment('expires_at'),
  lastUsedAt: moment('last_used_at'),
  revokedAt: moment('revoked_at'),
  revokedBy: text('revoked_by'),
})

/** Owner: approvals. How many cards each session ever made. */
export const sessionCards = pgTable('session_cards', {
  sessionId: text('session_id').primaryKey(),
  made: integer('made').notNull(),
})

/** Owner: approvals. What people may read of each definition that a card was made with. */
export const toolDefinitions = pgTable('tool_definitions', {
  digest: text('digest').primaryKey(),
  /** JSON, for people. */
  definition: text('definition').notNull(),
  firstSeen: moment('first_seen').notNull().defaultNow(),
})

/** Owner: approvals/webhooks. Who is told of events over HTTP. */
export const webhooks = pgTable('webhooks', {
  id: uuid('id').primaryKey(),
  /** `*`: every brand. */
  brand: text('brand').notNull(),
  sealedUrl: text('sealed_url').notNull(),
  shownUrl: text('shown_url').notNull(),
  /** A JSON array. */
  events: text('events').notNull(),
  format: text('format', { enum: ['json', 'slack'] }).notNull(),
  sealedSecret: text('sealed_secret').notNull(),
  sealedOldSecret: text('sealed_old_secret'),
  oldSecretUntil: moment('old_secret_until'),
  /** Attempts that failed since the last that did not. */
  failures: integer('failures').notNull().default(0),
  createdAt: moment('created_at').notNull().defaultNow(),
  pausedAt: moment('paused_at'),
  pausedBecause: text('paused_because'),
})

/** The steps of a delivery: `waiting → delivered or given_up`. */
export const DELIVERY_STATUSES = ['waiting', 'delivered', 'given_up'] as const

/** Owner: approvals/webhooks. The outbox. */
export const webhookDeliveries = pgTable('webhook_deliveries', {
  id: uuid('id').primaryKey(),
  webhook: uuid('webhook').notNull(),
  event: text('event').notNull(),
  brand: text('brand').notNull(),
  card: uuid('card'),
  /** JSON; either this or the sealed one. */
  data: text('data'),
  sealedData: text('sealed_data'),
  status: text('status', { enum: DELIVERY_STATUSES }).notNull().default('waiting'),
  createdAt: moment('created_at').notNull().default(sql`clock_timestamp()`),
  /** When the next attempt is due; while one is under way, when it is given up for lost. */
  dueAt: moment('due_at').notNull().default(sql`clock_timestamp()`),
  attempts: integer('attempts').notNull().default(0),
  triedAt: moment('tried_at'),
  endedAt: moment('ended_at'),
  /** HTTP status and problem of the last attempt. */
  answer: integer('answer'),
  problem: text('problem'),
})
