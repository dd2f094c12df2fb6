/**
 * Tables of the grants room: profiles, connections, inbound mail, pins, consents, routines.
 * @module
 */
import { bigint, boolean, pgTable, primaryKey, sql, text } from '../drizzle.ts'
import { moment } from './moment.ts'

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
