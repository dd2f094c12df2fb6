/**
 * The gateway's signing keys, kept in the database so that every replica signs and checks with the same ones.
 * A key is `active` (signs), then `verifying` (still believed), then `retired`. Owner of the table signing_keys.
 * @module
 */
import { eq, ne, sql } from '../db/drizzle.ts'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import type { Audit } from '../audit/audit.ts'
import type { Database, Tx } from '../db/connect.ts'
import { tell } from '../db/events.ts'
import type { Log } from '../db/log.ts'
import { signingKeys } from '../db/schema.ts'
import type { Seal } from '../db/seal.ts'
import { LONGEST_SESSION_DAYS } from './claims.ts'

/** How often the keys are read again when nobody says they changed: a retired key is refused within this. */
const REFRESH_MS = 15_000

/** How often an unknown kid may cause a reading, so that forged tokens cannot busy the database. */
const FIND_MS = 1000

/** A kid this gateway may have given: a SHA-256 thumbprint (RFC 7638). Others are not worth a reading. */
const KID = /^[A-Za-z0-9_-]{43}$/

export interface Keyring {
  /** Signs claims as a compact JWT of the given `typ` with the active key. */
  sign(claims: Readonly<Record<string, unknown>>, typ: string): Promise<string>
  /** The key of this kid while it is active or verifying. */
  verifying(kid: string): CryptoKey | undefined
  /** As `verifying`, but for an unknown kid the keys are read again first, at most once a second for all askers. */
  find(kid: string): Promise<CryptoKey | undefined>
  /** The public key set, as served under /.well-known/jwks.json. */
  jwks(): { readonly keys: readonly JWK[] }
  /**
   * Makes a new active key. The old one is still believed, unless `retireOthers` (a key was stolen): then all tokens
   * signed so far are refused. Keys whose last token has expired are retired by the way.
   */
  rotate(options?: { readonly retireOthers?: boolean; readonly by?: string }): Promise<{ readonly kid: string }>
  /** Reads the keys again. Rejects when the database cannot be asked; what was known stays known. */
  refresh(): Promise<void>
  /** Grows whenever a key was added or retired, so that what was concluded from keys can be dropped. */
  generation(): number
  close(): Promise<void>
}

export interface KeyringParts {
  readonly db: Database
  readonly seal: Seal
  readonly log: Log
  /** Where rotations are written down. */
  readonly audit?: Audit | undefined
}

interface Known {
  readonly keys: ReadonlyMap<string, CryptoKey>
  readonly jwks: { readonly keys: readonly JWK[] }
  readonly activeKid: string
  readonly signing: CryptoKey
}

/**
 * Reads the keys, and makes the first one where there is none: of several processes that start at once, one makes it.
 * Throws Unsealable when the active key was sealed with another TOLLGATE_SECRET.
 */
export async function createKeyring({ db, seal, log, audit }: KeyringParts): Promise<Keyring> {
  let known = (await readKeys(db, seal)) ?? (await makeFirst())
  let generation = 1
  let reading: Promise<void> | undefined
  let next: Promise<void> | undefined
  let lastRead = performance.now()
  /** Kids seen to be retired. They never come back, so their tokens are refused without a reading. */
  const gone = new Set<string>()

  const unlisten = await db.listen((event) => {
    if (event.kind === 'keys' || event.kind === 'listening') refreshAndLog()
  })
  const timer = setInterval(refreshAndLog, REFRESH_MS)
  timer.unref()

  return {
    async sign(claims, typ) {
      await bringUp()
      return new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', typ, kid: known.activeKid }).sign(known.signing)
    },
    verifying: (kid) => known.keys.get(kid),
    async find(kid) {
      if (!KID.test(kid) || gone.has(kid) || known.keys.has(kid)) return known.keys.get(kid)
      await nextReading()
      return known.keys.get(kid)
    },
    jwks: () => known.jwks,
    async rotate({ retireOthers = false, by = 'operator' } = {}) {
      const made = await makeKey(seal)
      const change = (tx: Tx) => replaceActive(tx, made, retireOthers)
      if (audit === undefined) await db.transaction(change)
      else {
        await audit.transaction(async (tx, record) => {
          await change(tx)
          record({
            kind: 'keys.rotated',
            by,
            reason: retireOthers ? 'all earlier keys retired' : 'earlier keys still verify',
          })
        })
      }
      await refresh()
      return { kid: made.kid }
    },
    refresh,
    generation: () => generation,
    async close() {
      clearInterval(timer)
      // A database that is gone has stopped listening already.
      await unlisten().catch(() => {})
      await reading?.catch(() => {})
    },
  }

  async function makeFirst(): Promise<Known> {
    const made = await makeKey(seal)
    await db.orm
      .insert(signingKeys)
      .values({ ...made, state: 'active' })
      .onConflictDoNothing()
    const found = await readKeys(db, seal)
    if (found === undefined) throw new Error('No signing key could be made; check that the database can be written.')
    return found
  }

  /** One reading at a time; whoever asks during one gets another after it, since the first may be too early. */
  /** A key retired on another replica signs nothing from the moment that its retirement was answered. */
  async function bringUp(): Promise<void> {
    const [active] = await db.orm
      .select({ kid: signingKeys.kid })
      .from(signingKeys)
      .where(eq(signingKeys.state, 'active'))
    if (active?.kid !== known.activeKid) await refresh()
  }

  function refresh(): Promise<void> {
    const started = (reading ?? Promise.resolve()).catch(() => {}).then(read)
    reading = started
    return started
  }

  async function read(): Promise<void> {
    lastRead = performance.now()
    const found = await readKeys(db, seal)
    if (found === undefined) throw new Error('The database has no active signing key; run tollgate rotate-keys.')
    if (sameKeys(found, known)) return
    for (const kid of known.keys.keys()) if (!found.keys.has(kid)) gone.add(kid)
    known = found
    generation += 1
  }

  function refreshAndLog(): void {
    refresh().catch(complain)
  }

  function complain(error: unknown): void {
    log.warn({ reason: String(error) }, 'the signing keys could not be read again')
  }

  /** Joins the next reading that may start: at once, or a second after the last one. */
  function nextReading(): Promise<void> {
    next ??= new Promise<void>((done) => setTimeout(done, Math.max(0, lastRead + FIND_MS - performance.now()))).then(
      () => {
        next = undefined
        return refresh().catch(complain)
      },
    )
    return next
  }
}

interface MadeKey {
  readonly kid: string
  readonly publicJwk: string
  readonly sealedPrivate: string
}

async function makeKey(seal: Seal): Promise<MadeKey> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  const { kty, crv, x } = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint({ kty: kty!, crv: crv!, x: x! })
  return {
    kid,
    publicJwk: JSON.stringify({ kty, crv, x, kid, alg: 'EdDSA', use: 'sig' }),
    sealedPrivate: await seal.seal(JSON.stringify(await exportJWK(privateKey))),
  }
}

async function replaceActive(tx: Tx, made: MadeKey, retireOthers: boolean): Promise<void> {
  // Rotations queue here, or two at once would both find the old key active and one would fail.
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('tollgate signing keys'))`)
  const aside = retireOthers ? { state: 'retired' as const, retiredAt: sql`now()` } : { state: 'verifying' as const }
  await tx
    .update(signingKeys)
    .set(aside)
    .where(retireOthers ? ne(signingKeys.state, 'retired') : eq(signingKeys.state, 'active'))
  await tx.insert(signingKeys).values({ ...made, state: 'active' })
  // A key's last token was signed before its successor came, so it has expired when the successor is older than that.
  await tx.execute(sql`
    update signing_keys old set state = 'retired', retired_at = now() where state = 'verifying' and exists (
      select from signing_keys later where later.created_at > old.created_at
      and later.created_at < now() - make_interval(days => ${LONGEST_SESSION_DAYS + 1}::int))`)
  await tell(tx, { kind: 'keys' })
}

async function readKeys(db: Database, seal: Seal): Promise<Known | undefined> {
  const found = await db.orm
    .select()
    .from(signingKeys)
    .where(ne(signingKeys.state, 'retired'))
    .orderBy(sql`${signingKeys.createdAt} desc, ${signingKeys.kid}`)
  const active = found.find((row) => row.state === 'active')
  if (active === undefined) return undefined
  const signing = await importKey(JSON.parse(await seal.open(active.sealedPrivate)) as JWK)
  const jwks = found.map((row) => JSON.parse(row.publicJwk) as JWK)
  const keys = new Map<string, CryptoKey>()
  for (const jwk of jwks) keys.set(jwk.kid!, await importKey(jwk))
  return { keys, jwks: { keys: jwks }, activeKid: active.kid, signing }
}

/** An Ed25519 key is a CryptoKey; bytes come out of `importJWK` only for symmetric ones. */
const importKey = async (jwk: JWK) => (await importJWK(jwk, 'EdDSA')) as CryptoKey

function sameKeys(a: Known, b: Known): boolean {
  return (
    a.activeKid === b.activeKid && a.keys.size === b.keys.size && [...a.keys.keys()].every((kid) => b.keys.has(kid))
  )
}
