/**
 * Connections as rows. Owner of the table connections. Each change is on the record in the same transaction, and told to
 * every replica; no secret is in a record.
 * @module
 */
import type { Audit } from '../../audit/audit.ts'
import { tell } from '../../db/events.ts'
import type { Database, Tx } from '../../db/connect.ts'
import { and, asc, eq, isNull, type SQL, sql } from '../../db/drizzle.ts'
import { connectionConsents, connections } from '../../db/schema.ts'
import type { Values } from '../../connector/native/values.ts'
import { dropStates } from './oauth/states.ts'

/** A connection as it stands, its secrets sealed. */
export interface StoredConnection {
  readonly brand: string
  readonly slug: string
  /** The declared connector it is of. */
  readonly connector: string
  readonly sealed: string
  /** Names of the fields that are sealed. */
  readonly secrets: readonly string[]
  readonly settings: Values
  readonly identity: string
  readonly sharedWith: readonly string[]
  readonly version: number
  readonly createdAt: Date
  readonly changedAt: Date
  readonly changedBy: string
  /** Undefined: it needs none. `needed`, or the id of the consent that stands. */
  readonly consent: string | undefined
  /** Why consent is needed again. */
  readonly consentBecause: string | undefined
  readonly check: { readonly at: Date; readonly ok: boolean; readonly said: string } | undefined
}

export type Where = Pick<StoredConnection, 'brand' | 'slug'>
/** What a person states of one. */
export type Draft = Pick<
  StoredConnection,
  'brand' | 'slug' | 'connector' | 'sealed' | 'secrets' | 'settings' | 'identity'
> & {
  /** A person has to consent at an authorization server before it is of use. */
  readonly asksConsent?: boolean
}

/** What came of a change; `conflict` where the version named is not the one that stands. */
export type Put =
  | { readonly ok: true; readonly now: StoredConnection; readonly made: boolean }
  | { readonly ok: false; readonly conflict: StoredConnection | undefined }

/** Makes a connection or puts another in its place. With a version it only changes that very one. */
export function putConnection(
  audit: Audit,
  draft: Draft,
  { version, by }: { readonly version: number | undefined; readonly by: string },
): Promise<Put> {
  const { brand, slug, connector, sealed, identity } = draft
  const values = {
    connector,
    sealed,
    identity,
    secrets: JSON.stringify(draft.secrets),
    settings: JSON.stringify(draft.settings),
    version: NEXT,
    changedAt: sql`now()`,
    changedBy: by,
    removedAt: null,
    checkedAt: null,
    checkOk: null,
    checkSaid: null,
  }
  return audit.transaction(async (tx, record) => {
    const before = await readOne(tx, draft, true)
    if (version !== undefined && before?.version !== version) return { ok: false, conflict: before }
    // The same fields keep the consent they have; with others nobody has consented to anything.
    const keeps = before?.identity === identity && before.consent !== undefined
    const consent = draft.asksConsent !== true ? null : keeps ? before.consent : 'needed'
    const consentBecause = consent !== null && keeps ? (before.consentBecause ?? null) : null
    if (!keeps) await forgetConsent(tx, draft)
    // Another kind of connection, or one after a removal, is shared with nobody yet.
    const sharedWith = JSON.stringify(before?.connector === connector ? before.sharedWith : [])
    const [row] = await tx
      .insert(connections)
      .values({ brand, slug, ...values, sharedWith, consent, consentBecause })
      .onConflictDoUpdate({
        target: [connections.brand, connections.slug],
        set: { ...values, sharedWith, consent, consentBecause },
      })
      .returning()
    if (row === undefined) return { ok: false, conflict: undefined }
    const now = toStored(row)
    const what = before === undefined ? 'made' : before.identity === identity ? 'put again, the same' : 'replaced'
    record({ ...about(now), by, reason: `${what}: ${[...now.secrets, ...Object.keys(now.settings)].join(', ')}` })
    await tell(tx, { kind: 'connection' })
    return { ok: true, now, made: before === undefined }
  })
}

/**
 * Seals other secrets of the same account in place of the ones of this version (a refreshed token, another key to seal
 * with). Undefined where the connection is in another version by now: whoever was first has won.
 */
export function resealConnection(
  audit: Audit,
  { brand, slug, version }: Pick<StoredConnection, 'brand' | 'slug' | 'version'>,
  sealed: string,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<StoredConnection | undefined> {
  return change(audit, { brand, slug }, { sealed }, { by, reason }, eq(connections.version, version))
}

/** Says with which brands a connection is shared. */
export function shareConnection(
  audit: Audit,
  where: Where,
  brands: readonly string[],
  by: string,
): Promise<StoredConnection | undefined> {
  const sharedWith = [...new Set(brands)].sort()
  const reason = `shared with ${sharedWith.join(', ') || 'nobody'}`
  return change(audit, where, { sharedWith: JSON.stringify(sharedWith) }, { by, reason })
}

/** Removes a connection and everything in it. */
export function removeConnection(audit: Audit, where: Where, by: string): Promise<StoredConnection | undefined> {
  const empty = { sealed: '', secrets: '[]', settings: '{}', identity: '', sharedWith: '[]', removedAt: sql`now()` }
  const none = { consent: null, consentBecause: null }
  return change(audit, where, { ...empty, ...none }, { by, reason: 'removed' }, undefined, forgetConsent)
}

/** Keeps what a check of this version found; nothing where it is in another by now. */
export async function recordCheck(
  audit: Audit,
  { brand, slug, version }: Pick<StoredConnection, 'brand' | 'slug' | 'version'>,
  { ok, said, by }: { readonly ok: boolean; readonly said: string; readonly by: string },
): Promise<StoredConnection | undefined> {
  return audit.transaction(async (tx, record) => {
    const [row] = await tx
      .update(connections)
      .set({ checkedAt: sql`now()`, checkOk: ok, checkSaid: said })
      .where(and(at({ brand, slug }), eq(connections.version, version)))
      .returning()
    if (row === undefined) return undefined
    const now = toStored(row)
    record({ ...about(now), kind: 'connection.checked', by, outcome: ok ? 'done' : 'failed' })
    return now
  })
}

/** The connection of a brand under a slug. */
export function findConnection(db: Database, where: Where): Promise<StoredConnection | undefined> {
  return readOne(db.orm, where)
}

/** By brand and slug; every brand's where none is named. */
export async function listConnections(db: Database, brand?: string): Promise<StoredConnection[]> {
  const wanted: SQL[] = [isNull(connections.removedAt)]
  if (brand !== undefined) wanted.push(eq(connections.brand, brand))
  const found = await db.orm
    .select()
    .from(connections)
    .where(and(...wanted))
    .orderBy(asc(connections.brand), asc(connections.slug))
  return found.map(toStored)
}

/** What changed in the last seconds, or everything; with removed ones. */
export async function readChanged(
  db: Database,
  seconds: number | undefined,
): Promise<{ readonly stored: StoredConnection; readonly removed: boolean }[]> {
  const since =
    seconds === undefined ? undefined : sql`${connections.changedAt} > now() - make_interval(secs => ${seconds})`
  const found = await db.orm.select().from(connections).where(since)
  return found.map((row) => ({ stored: toStored(row), removed: row.removedAt !== null }))
}

const NEXT = sql<number>`nextval('connection_versions')`

const at = ({ brand, slug }: Where) =>
  and(eq(connections.brand, brand), eq(connections.slug, slug), isNull(connections.removedAt))

function change(
  audit: Audit,
  where: Where,
  set: Partial<Record<'sealed' | 'secrets' | 'settings' | 'identity' | 'sharedWith', string>> & {
    readonly removedAt?: SQL
    readonly consent?: null
    readonly consentBecause?: null
  },
  { by, reason }: { readonly by: string; readonly reason: string },
  only?: SQL,
  also: (tx: Tx, where: Where) => Promise<void> = async () => {},
): Promise<StoredConnection | undefined> {
  return audit.transaction(async (tx, record) => {
    const [row] = await tx
      .update(connections)
      .set({ ...set, version: NEXT, changedAt: sql`now()`, changedBy: by })
      .where(and(at(where), only))
      .returning()
    if (row === undefined) return undefined
    const now = toStored(row)
    await also(tx, where)
    record({ ...about(now), by, reason })
    await tell(tx, { kind: 'connection' })
    return now
  })
}

async function readOne(tx: Tx, where: Where, lock = false): Promise<StoredConnection | undefined> {
  const query = tx.select().from(connections).where(at(where))
  const [row] = await (lock ? query.for('update') : query)
  return row && toStored(row)
}

/** Tokens and ways back of what is not the same connection any more. */
async function forgetConsent(tx: Tx, where: Where): Promise<void> {
  const mine = and(eq(connectionConsents.brand, where.brand), eq(connectionConsents.slug, where.slug))
  await tx.delete(connectionConsents).where(mine)
  await dropStates(tx, where)
}

/** The JSON columns hold what was written here, so their types are known. */
function toStored(row: typeof connections.$inferSelect): StoredConnection {
  const { secrets, settings, sharedWith, checkedAt, checkOk, checkSaid, removedAt: _, ...rest } = row
  return {
    ...rest,
    consent: row.consent ?? undefined,
    consentBecause: row.consentBecause ?? undefined,
    secrets: JSON.parse(secrets) as string[],
    settings: JSON.parse(settings) as Values,
    sharedWith: JSON.parse(sharedWith) as string[],
    check: checkedAt === null ? undefined : { at: checkedAt, ok: checkOk === true, said: checkSaid ?? '' },
  }
}

const about = ({ brand, slug, version }: StoredConnection) =>
  ({ kind: 'connection.changed', brand, connector: slug, subject: `${slug} version ${version}` }) as const
