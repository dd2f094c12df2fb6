/**
 * The tables of migrations/ as drizzle sees them. Each is written by one room only, named above it.
 * JSON is kept as text: what a caller sent must come back letter for letter, and jsonb refuses \u0000.
 * @module
 */
import { bigint, boolean, integer, numeric, pgTable, primaryKey, sql, text, timestamp, uuid } from './drizzle.ts'

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

/** Owner: grants. What a brand connected. */
export const connections = pgTable(
  'connections',
  {
    brand: text('brand').notNull(),
    slug: text('slug').notNull(),
    connector: text('connector').notNull(),
    sealed: text('sealed').notNull(),
    /** JSON: names of the fields that are sealed. */
    secrets: text('secrets').notNull(),
    /** JSON. */
    settings: text('settings').notNull(),
    identity: text('identity').notNull(),
    /** JSON: brands. */
    sharedWith: text('shared_with').notNull().default('[]'),
    version: bigint('version', { mode: 'number' }).notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    changedAt: moment('changed_at').notNull().defaultNow(),
    changedBy: text('changed_by').notNull(),
    removedAt: moment('removed_at'),
    checkedAt: moment('checked_at'),
    checkOk: boolean('check_ok'),
    checkSaid: text('check_said'),
    /** Null: none is needed; 'needed'; or the id of the one that stands. */
    consent: text('consent'),
    consentBecause: text('consent_because'),
  },
  (table) => [primaryKey({ columns: [table.brand, table.slug] })],
)

/** Owner: grants/inbound. Where a vendor tells of mail; the address is known by a keyed mark alone. */
export const inboundRoutes = pgTable(
  'inbound_routes',
  {
    brand: text('brand').notNull(),
    slug: text('slug').notNull(),
    mark: text('mark').notNull(),
    sealedSecret: text('sealed_secret'),
    createdAt: moment('created_at').notNull().defaultNow(),
    changedAt: moment('changed_at').notNull().defaultNow(),
    changedBy: text('changed_by').notNull(),
  },
  (table) => [primaryKey({ columns: [table.brand, table.slug] })],
)

/** Owner: grants/inbound. Deliveries and messages, hashed, that started a session. */
export const inboundSeen = pgTable(
  'inbound_seen',
  {
    brand: text('brand').notNull(),
    slug: text('slug').notNull(),
    mark: text('mark').notNull(),
    sessionId: text('session_id').notNull(),
    at: moment('at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.brand, table.slug, table.mark] })],
)

/** Owner: grants/pins. Upstreams whose tools were discovered; locked by whoever changes a pin of them. */
export const pinSets = pgTable(
  'pin_sets',
  {
    /** A brand for a connection of its own; `*` for an upstream of the operator's. */
    scope: text('scope').notNull(),
    connector: text('connector').notNull(),
    version: bigint('version', { mode: 'number' }).notNull(),
    pinnedAt: moment('pinned_at').notNull().defaultNow(),
    changedAt: moment('changed_at').notNull().default(sql`clock_timestamp()`),
  },
  (table) => [primaryKey({ columns: [table.scope, table.connector] })],
)

/** Owner: grants/pins. What a tool said of itself when it was accepted, and what was seen since and is not accepted. */
export const toolPins = pgTable(
  'tool_pins',
  {
    scope: text('scope').notNull(),
    connector: text('connector').notNull(),
    tool: text('tool').notNull(),
    /** Of the canonical definition; null while none was accepted. */
    digest: text('digest'),
    definition: text('definition'),
    /** Digest of the definition without its name. */
    body: text('body'),
    acceptedBy: text('accepted_by'),
    acceptedAt: moment('accepted_at'),
    seenDigest: text('seen_digest'),
    seenDefinition: text('seen_definition'),
    seenAt: moment('seen_at'),
  },
  (table) => [primaryKey({ columns: [table.scope, table.connector, table.tool] })],
)

/** Owner: grants. The tokens that a person's consent brought to a connection. */
export const connectionConsents = pgTable(
  'connection_consents',
  {
    brand: text('brand').notNull(),
    slug: text('slug').notNull(),
    id: text('id').notNull(),
    issuer: text('issuer').notNull(),
    sealed: text('sealed').notNull(),
    sealedClient: text('sealed_client').notNull(),
    rotates: boolean('rotates'),
    version: bigint('version', { mode: 'number' }).notNull(),
    renewedAt: moment('renewed_at').notNull().default(sql`clock_timestamp()`),
    refreshAt: moment('refresh_at'),
    expiresAt: moment('expires_at'),
    claimedBy: text('claimed_by'),
    claimedAt: moment('claimed_at'),
  },
  (table) => [primaryKey({ columns: [table.brand, table.slug] })],
)

/** Owner: grants. Consents that were begun. */
export const oauthStates = pgTable('oauth_states', {
  state: text('state').primaryKey(),
  brand: text('brand').notNull(),
  slug: text('slug').notNull(),
  identity: text('identity').notNull(),
  sealed: text('sealed').notNull(),
  begunBy: text('begun_by').notNull(),
  expiresAt: moment('expires_at').notNull(),
})

/** Owner: grants/routines. */
export const routines = pgTable('routines', {
  id: text('id').primaryKey(),
  brand: text('brand').notNull(),
  name: text('name').notNull(),
  description: text('description').notNull().default(''),
  state: text('state', { enum: ['draft', 'ready'] })
    .notNull()
    .default('draft'),
  stateBecause: text('state_because'),
  channel: text('channel', { enum: ['none', 'inbox'] })
    .notNull()
    .default('none'),
  /** JSON. */
  connections: text('connections').notNull(),
  /** JSON. */
  allowance: text('allowance').notNull(),
  version: bigint('version', { mode: 'number' }).notNull(),
  createdAt: moment('created_at').notNull().default(sql`clock_timestamp()`),
  changedAt: moment('changed_at').notNull().default(sql`clock_timestamp()`),
})

/** Owner: grants/routines. A tool without a row is disabled. */
export const routineTools = pgTable(
  'routine_tools',
  {
    routine: text('routine').notNull(),
    tool: text('tool').notNull(),
    connector: text('connector').notNull(),
    state: text('state', { enum: ['disabled', 'enabled', 'automatic'] }).notNull(),
    digest: text('digest').notNull(),
    /** The version of the routine since which it stands like this. */
    since: bigint('since', { mode: 'number' }).notNull(),
    setBy: text('set_by').notNull(),
    setAt: moment('set_at').notNull().default(sql`clock_timestamp()`),
    cleared: text('cleared'),
  },
  (table) => [primaryKey({ columns: [table.routine, table.tool] })],
)

/** Owner: grants/routines. What happened to a routine, by version. */
export const routineChanges = pgTable(
  'routine_changes',
  {
    routine: text('routine').notNull(),
    version: bigint('version', { mode: 'number' }).notNull(),
    at: moment('at').notNull().default(sql`clock_timestamp()`),
    by: text('by').notNull(),
    what: text('what').notNull(),
  },
  (table) => [primaryKey({ columns: [table.routine, table.version] })],
)

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
