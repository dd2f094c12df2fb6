/**
 * Consents as rows: tokens sealed with the server they are for, and who may refresh them now. Owner of the table
 * connection_consents. Each move is one conditional update on the version, so that of two replicas one wins.
 * @module
 */
import type { Audit } from '../../../audit/audit.ts'
import type { Client, Plan, Tokens } from '../../../connector/oauth/words.ts'
import { type Database, rows, type Tx } from '../../../db/connect.ts'
import { and, eq, isNull, sql } from '../../../db/drizzle.ts'
import { tell } from '../../../db/events.ts'
import { connectionConsents, connections } from '../../../db/schema.ts'
import { type Seal, Unsealable } from '../../../db/seal.ts'
import type { Where } from '../rows.ts'

/** What is sealed: the tokens, and the plan by which they came, which names the one server they are sent to. */
export interface Held extends Omit<Tokens, 'expiresInS'> {
  readonly plan: Plan
}

/** A consent as it stands. Times are in milliseconds from now; undefined: nobody said. */
export interface Consent extends Where {
  readonly id: string
  readonly sealed: string
  readonly rotates: boolean | null
  readonly version: number
  readonly freshMs: number | undefined
  readonly livesMs: number | undefined
  readonly ageMs: number
  /** How long ago a refresh was begun that has not ended. */
  readonly claimedMs: number | undefined
}

export type NeedsConsent = (
  tx: Tx,
  lost: Where & { readonly connector: string; readonly because: string },
) => Promise<void>

/** Refreshed this long before the end, or a tenth of its life where that is less (s). */
const EARLY_S = 60

const place = ({ brand, slug }: Where) => and(eq(connectionConsents.brand, brand), eq(connectionConsents.slug, slug))
const NEXT = sql<number>`nextval('connection_versions')`
const ms = (from: unknown, to: unknown) => sql<number | null>`(extract(epoch from ${from} - ${to}) * 1000)::float8`
const NOW = sql`clock_timestamp()`

/** Of a consent's id; another consent by now is undefined. */
export async function readConsent(db: Database, where: Where, id: string): Promise<Consent | undefined> {
  const { brand, slug, sealed, rotates, version, refreshAt, expiresAt, renewedAt, claimedAt } = connectionConsents
  const [row] = await db.orm
    .select({
      ...{ brand, slug, id: connectionConsents.id, sealed, rotates, version },
      fresh: ms(refreshAt, NOW),
      lives: ms(expiresAt, NOW),
      age: ms(NOW, renewedAt),
      claimed: ms(NOW, claimedAt),
    })
    .from(connectionConsents)
    .where(and(place(where), eq(connectionConsents.id, id)))
  if (row === undefined || row.sealed === '') return undefined
  const { fresh, lives, age, claimed, ...rest } = row
  const plain = (value: number | null) => (value === null ? undefined : Number(value))
  return { ...rest, freshMs: plain(fresh), livesMs: plain(lives), ageMs: Number(age), claimedMs: plain(claimed) }
}

/** Seals for a place, so that it opens at no other. */
export const sealFor = (seal: Seal, { brand, slug }: Where, value: object): Promise<string> =>
  seal.seal(JSON.stringify({ brand, slug, value }))

/** Opens what was sealed for a place. Throws Unsealable. */
export async function openAt<T>(seal: Seal, { brand, slug }: Where, sealed: string): Promise<T> {
  const read = JSON.parse(await seal.open(sealed)) as { brand?: unknown; slug?: unknown; value?: T }
  if (read.brand === brand && read.slug === slug && read.value !== undefined) return read.value
  throw new Unsealable('These sealed tokens belong to another connection; a person has to consent anew.')
}

/** The server that a connection had to do with last, and who this gateway is there; kept when a consent ends. */
export async function keptClient(
  db: Database,
  seal: Seal,
  where: Where,
): Promise<{ readonly issuer: string; readonly client: Client | undefined } | undefined> {
  const [row] = await db.orm.select().from(connectionConsents).where(place(where))
  if (row === undefined) return undefined
  const client = await openAt<Client>(seal, where, row.sealedClient).catch(() => undefined)
  return { issuer: row.issuer, client }
}

/** Puts a consent in the place of whatever there was, and says so at its connection; false where that is another by now. */
export async function giveConsent(
  audit: Audit,
  where: Where,
  given: {
    readonly id: string
    readonly issuer: string
    readonly sealed: string
    readonly sealedClient: string
    readonly expiresInS: number | undefined
  },
  { identity, by }: { readonly identity: string; readonly by: string },
): Promise<boolean> {
  const { expiresInS, ...values } = given
  const times = lifeOf(expiresInS)
  const fresh = { ...values, ...times, rotates: null, version: NEXT, renewedAt: NOW, claimedBy: null, claimedAt: null }
  return audit.transaction(async (tx, record) => {
    const [row] = await tx
      .update(connections)
      .set({ consent: given.id, consentBecause: null, version: NEXT, changedAt: sql`now()`, changedBy: by })
      .where(and(atConnection(where), eq(connections.identity, identity)))
      .returning()
    if (row === undefined) return false
    await tx
      .insert(connectionConsents)
      .values({ ...where, ...fresh })
      .onConflictDoUpdate({ target: [connectionConsents.brand, connectionConsents.slug], set: fresh })
    record({ ...about(where), by, reason: `a person consented at ${given.issuer}` })
    await tell(tx, { kind: 'connection' })
    return true
  })
}

/** Takes the right to refresh a version; false where somebody else has it, or it is another version. */
export async function claimRefresh(db: Database, consent: Consent, by: string): Promise<boolean> {
  const found = await db.orm
    .update(connectionConsents)
    .set({ claimedBy: by, claimedAt: NOW })
    .where(and(place(consent), eq(connectionConsents.version, consent.version), isNull(connectionConsents.claimedAt)))
    .returning({ version: connectionConsents.version })
  return found.length > 0
}

/** Gives it back, or takes it from whoever never came back: `by` undefined. */
export async function releaseRefresh(db: Database, consent: Consent, by: string | undefined): Promise<void> {
  const mine = by === undefined ? undefined : eq(connectionConsents.claimedBy, by)
  await db.orm
    .update(connectionConsents)
    .set({ claimedBy: null, claimedAt: null })
    .where(and(place(consent), eq(connectionConsents.version, consent.version), mine))
}

/** Keeps what a refresh brought, where the claim still stands. True also where an earlier attempt of this did it. */
export async function keepRefreshed(
  audit: Audit,
  consent: Consent,
  by: string,
  next: { readonly sealed: string; readonly rotates: boolean; readonly expiresInS: number | undefined },
): Promise<boolean> {
  const { expiresInS, ...values } = next
  return audit.transaction(async (tx, record) => {
    const kept = await tx
      .update(connectionConsents)
      .set({ ...values, ...lifeOf(expiresInS), version: NEXT, renewedAt: NOW, claimedBy: null, claimedAt: null })
      .where(and(place(consent), eq(connectionConsents.version, consent.version), eq(connectionConsents.claimedBy, by)))
      .returning({ version: connectionConsents.version })
    if (kept.length > 0) {
      record({ ...about(consent), by: 'gateway', reason: 'tokens refreshed' })
      return true
    }
    const found = await tx.execute(sql`
      select 1 from ${connectionConsents}
      where brand = ${consent.brand} and slug = ${consent.slug} and sealed = ${next.sealed}`)
    return rows(found).length > 0
  })
}

/** Clears the tokens of a version and says that a person has to consent again: once, however many find it out. */
export async function loseConsent(
  audit: Audit,
  consent: Consent,
  because: string,
  needsConsent: NeedsConsent,
): Promise<void> {
  await audit.transaction(async (tx, record) => {
    const lost = await tx
      .update(connectionConsents)
      .set({ sealed: '', version: NEXT, claimedBy: null, claimedAt: null })
      .where(and(place(consent), eq(connectionConsents.version, consent.version)))
      .returning({ version: connectionConsents.version })
    if (lost.length === 0) return
    const [row] = await tx
      .update(connections)
      .set({ consent: 'needed', consentBecause: because, version: NEXT, changedAt: sql`now()`, changedBy: 'gateway' })
      .where(and(atConnection(consent), eq(connections.consent, consent.id)))
      .returning()
    if (row === undefined) return
    record({ ...about(consent), by: 'gateway', reason: `consent needed: ${because}` })
    await tell(tx, { kind: 'connection' })
    await needsConsent(tx, { brand: row.brand, slug: row.slug, connector: row.connector, because })
  })
}

/** Seals anew what is sealed with the secret before. */
export async function resealConsents(db: Database, seal: Seal): Promise<number> {
  let done = 0
  for (const row of await db.orm.select().from(connectionConsents)) {
    const old = [row.sealed, row.sealedClient].some((text) => text !== '' && !seal.isCurrent(text))
    if (!old) continue
    const again = async (text: string) => (text === '' ? '' : seal.seal(await seal.open(text)))
    const next = { sealed: await again(row.sealed), sealedClient: await again(row.sealedClient) }
    const same = and(place(row), eq(connectionConsents.version, row.version))
    const found = await db.orm.update(connectionConsents).set(next).where(same).returning({ id: connectionConsents.id })
    done += found.length
  }
  return done
}

const atConnection = ({ brand, slug }: Where) =>
  and(eq(connections.brand, brand), eq(connections.slug, slug), isNull(connections.removedAt))

function lifeOf(expiresInS: number | undefined) {
  if (expiresInS === undefined) return { refreshAt: null, expiresAt: null }
  const early = Math.min(EARLY_S, expiresInS / 10)
  const after = (seconds: number) => sql`clock_timestamp() + make_interval(secs => ${seconds})`
  return { refreshAt: after(Math.max(0, expiresInS - early)), expiresAt: after(expiresInS) }
}

const about = ({ brand, slug }: Where) =>
  ({ kind: 'connection.changed', brand, connector: slug, subject: slug }) as const
