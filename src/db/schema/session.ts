/**
 * Tables of the session room: keys, sessions, their figures and what they spend, approvers.
 * @module
 */
import { integer, numeric, pgTable, primaryKey, sql, text, uuid } from '../drizzle.ts'
import { moment } from './moment.ts'

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

/** Owner: session/figures and session/spend. The per-run figures of a session; `spent` is null until something is known. */
export const sessionFigures = pgTable(
  'session_figures',
  {
    sessionId: text('session_id').notNull(),
    figure: text('figure').notNull(),
    most: numeric('most').notNull(),
    carved: numeric('carved').notNull().default('0'),
    spent: numeric('spent'),
    reserved: numeric('reserved').notNull().default('0'),
    returned: numeric('returned').notNull().default('0'),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.figure] })],
)

/** The steps of an amount: `open → settled, released or unknown`; a late answer or a person ends an unknown one. */
export const SPEND_STATES = ['open', 'settled', 'released', 'unknown'] as const
export type SpendState = (typeof SPEND_STATES)[number]

/** Owner: session/spend. What calls are reserved and booked at; its id is the card's, or the attempt's where nobody was asked. */
export const spend = pgTable('spend', {
  id: uuid('id').primaryKey(),
  card: uuid('card'),
  attempt: text('attempt'),
  brand: text('brand').notNull(),
  sessionId: text('session_id').notNull(),
  role: text('role').notNull(),
  tool: text('tool').notNull(),
  connector: text('connector').notNull(),
  unit: text('unit').notNull(),
  figure: text('figure'),
  reserved: numeric('reserved').notNull(),
  toppedUp: numeric('topped_up').notNull().default('0'),
  state: text('state', { enum: SPEND_STATES }).notNull().default('open'),
  settled: numeric('settled'),
  createdAt: moment('created_at').notNull().default(sql`now()`),
  endedAt: moment('ended_at'),
  leaseUntil: moment('lease_until'),
})

/** Owner: session/approvers. People who may decide the cards of one brand. */
export const approvers = pgTable('approvers', {
  id: text('id').primaryKey(),
  brand: text('brand').notNull(),
  name: text('name').notNull(),
  createdBy: text('created_by').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  expiresAt: moment('expires_at').notNull(),
  revokedAt: moment('revoked_at'),
})

/** Owner: session/day-caps. A brand's own figure for a day's runs of a role. */
export const dayCaps = pgTable(
  'day_caps',
  {
    brand: text('brand').notNull(),
    role: text('role').notNull(),
    usd: numeric('usd').notNull(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.brand, table.role] })],
)
