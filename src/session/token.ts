/**
 * Session tokens: signing them, and deciding whether one is good. Everything a token says is checked here or in
 * claims.ts before a Session exists; a token that was verified once costs a look-up afterwards.
 * @module
 */
import { type CryptoKey, compactVerify } from 'jose'
import type { Session } from '../policy/words.ts'
import { LONGEST_SESSION_DAYS, type Policies, readClaims, type SessionClaims, toSession } from './claims.ts'
import { bearer, type Compact, LONGEST_TOKEN, readCompact, SESSION_TYP, TokenRefused } from './compact.ts'
import { createIssuer, FOREIGN_ALGS, foreignId, type Issuer, type IssuerEntry, TokenUncheckable } from './issuers.ts'
import type { Broken } from './issue.ts'
import type { Keyring } from './keys.ts'

export { SESSION_TYP, TokenRefused, TokenUncheckable }
export type { IssuerEntry }

/** How far two clocks may differ, in seconds: a token is good from `nbf` − 5 s until `exp` + 5 s. */
export const LEEWAY_S = 5

/** How many verified tokens are remembered. */
const CACHE_SIZE = 10_000

/** How long a foreign token goes unchecked, in milliseconds, since nothing tells when its issuer takes a key back. */
const FOREIGN_CACHE_MS = 30_000

const LONGEST_S = LONGEST_SESSION_DAYS * 86_400

/** What is needed to sign a token; `iss` and `aud` are the gateway's own. */
export type IssuedClaims = Omit<SessionClaims, 'iss' | 'aud'>

/** Thrown for claims that must not be signed; the message names each rule they break. */
export class UnissuableClaims extends Error {
  override name = 'UnissuableClaims'
}

export interface Tokens {
  /** Signs a session token. Throws UnissuableClaims when the token would not be accepted. */
  issue(claims: IssuedClaims): Promise<string>
  /**
   * The session of an `Authorization` header: at once where the token was verified before, else a promise.
   * The promise rejects with TokenRefused (401), or TokenUncheckable (503) when nobody can say just now.
   */
  verify(authorization: string | undefined): Session | Promise<Session>
}

export interface TokenParts extends Policies {
  readonly keyring: Keyring
  /** The URL of the MCP resource: `iss` and `aud` of the gateway's own tokens, `aud` of foreign ones. */
  readonly resource: string
  readonly issuers: readonly IssuerEntry[]
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /**
   * Told of a foreign session before its token is first believed, and again now and then. Answers `dead` for a session
   * that was revoked or has ended, and the limits that a new one would break. Must not throw for a session it knows.
   */
  readonly record: (session: Session, claims: SessionClaims) => Promise<'live' | 'dead' | readonly Broken[]>
}

interface Verified {
  readonly session: Session
  readonly until: number
}

/** Builds both halves. Throws when an issuer's entry cannot work. */
export function createTokens({ keyring, resource, issuers, roles, routes, now, record }: TokenParts): Tokens {
  const foreign = byName(issuers, resource)
  const policies = { roles, routes }
  const cache = new Map<string, Verified>()
  const kinds = new Map<string, Session>()
  let cachedAt = keyring.generation()

  return {
    async issue(claims) {
      const own = { ...claims, iss: resource, aud: resource }
      const read = readClaims(own)
      if ('problem' in read) throw new UnissuableClaims(read.problem)
      const session = toSession(read.claims, policies)
      const problem = typeof session === 'string' ? session : wrongTimes(read.claims, now())
      if (problem !== undefined) throw new UnissuableClaims(problem)
      const token = await keyring.sign(own, SESSION_TYP)
      if (token.length <= LONGEST_TOKEN) return token
      throw new UnissuableClaims('The session names too many tools for one token; use mcp__connector__* patterns.')
    },

    verify(authorization) {
      if (keyring.generation() !== cachedAt) {
        cache.clear()
        cachedAt = keyring.generation()
      }
      const known = authorization === undefined ? undefined : cache.get(authorization)
      if (known === undefined) return verifyNew(authorization)
      if (now() < known.until) return known.session
      cache.delete(authorization!)
      return verifyNew(authorization)
    },
  }

  async function verifyNew(authorization: string | undefined): Promise<Session> {
    const startedAt = keyring.generation()
    const compact = readCompact(bearer(authorization))
    const own = compact.payload.iss === resource
    const session = shared(own ? await verifyOwn(compact) : await verifyForeign(compact))
    // A key may have been retired while this token was checked with it; such an answer is not remembered.
    if (startedAt === cachedAt && startedAt === keyring.generation()) {
      const expires = session.expiresAt + LEEWAY_S * 1000
      remember(authorization!, { session, until: own ? expires : Math.min(expires, now() + FOREIGN_CACHE_MS) })
    }
    return session
  }

  async function verifyOwn(compact: Compact): Promise<Session> {
    await checkOwnSignature(compact, keyring)
    const claims = believed(compact)
    return accepted(toSession(claims, policies))
  }

  async function verifyForeign(compact: Compact): Promise<Session> {
    const { alg, kid } = compact.header
    const { iss } = compact.payload
    const issuer = typeof iss === 'string' ? foreign.get(iss) : undefined
    if (issuer === undefined) {
      throw new TokenRefused(`The token's iss must be ${resource} or an issuer that is configured under issuers.`)
    }
    if (!FOREIGN_ALGS.includes(alg))
      throw new TokenRefused(`The token's alg must be one of ${FOREIGN_ALGS.join(', ')}.`)
    await checkSignature(compact, await issuer.key(kid === undefined ? { alg } : { alg, kid }), alg)
    const claims = believed(compact)
    const problem = issuer.problem(claims)
    if (problem !== undefined) throw new TokenRefused(problem)
    const session = accepted(toSession(claims, policies, foreignId(claims)))
    const found = await recorded(session, claims)
    if (found === 'live') return session
    if (found === 'dead') throw new TokenRefused('This session was revoked or has ended; start a new one.')
    throw new TokenRefused(found.map(({ detail }) => detail).join(' '))
  }

  async function recorded(session: Session, claims: SessionClaims): ReturnType<TokenParts['record']> {
    try {
      return await record(session, claims)
    } catch (cause) {
      throw new TokenUncheckable('The session cannot be recorded just now; try again.', { cause })
    }
  }

  /** The claims of a token whose signature is good, when this gateway is meant and the time is right. */
  function believed({ payload }: Compact): SessionClaims {
    if (payload.aud !== resource) {
      throw new TokenRefused(`The token is for another audience; its aud must be the one text ${resource}.`)
    }
    const read = readClaims(payload)
    if ('problem' in read) throw new TokenRefused(read.problem)
    const problem = wrongTimes(read.claims, now())
    if (problem !== undefined) throw new TokenRefused(problem)
    return read.claims
  }

  /** Sessions of one kind share their lists, which are the most of their memory. */
  function shared(session: Session): Session {
    const kept = kinds.get(session.viewKey)
    if (kept !== undefined)
      return Object.freeze({ ...session, ceiling: kept.ceiling, grant: kept.grant, viewKey: kept.viewKey })
    if (kinds.size >= CACHE_SIZE) kinds.clear()
    kinds.set(session.viewKey, session)
    return session
  }

  function remember(authorization: string, verified: Verified): void {
    if (cache.size >= CACHE_SIZE) cache.delete(cache.keys().next().value!)
    cache.set(authorization, verified)
  }
}

/** What is wrong with the times of a token at `nowMs`, or undefined. */
export function wrongTimes(
  { iat, nbf, exp }: Pick<SessionClaims, 'iat' | 'nbf' | 'exp'>,
  nowMs: number,
): string | undefined {
  const now = nowMs / 1000
  if (!(exp > iat)) return 'The token must expire after it was issued: exp must be later than iat.'
  if (!(exp - iat <= LONGEST_S)) return `The token lives longer than ${LONGEST_SESSION_DAYS} days; issue a shorter one.`
  if (!(now < exp + LEEWAY_S)) return 'The token has expired; get a new one.'
  if (!(iat <= now + LEEWAY_S)) return 'The token was issued in the future; set the clock of its issuer right.'
  if (nbf !== undefined && !(nbf <= now + LEEWAY_S)) return 'The token is not valid yet; use it after its nbf.'
  return undefined
}

/** Whether a key of this gateway signed the token, with EdDSA and nothing else. Throws TokenRefused. */
export async function checkOwnSignature(compact: Compact, keyring: Keyring): Promise<void> {
  const { alg, kid } = compact.header
  if (alg !== 'EdDSA') throw new TokenRefused("The token's alg must be EdDSA.")
  const key = kid === undefined ? undefined : (keyring.verifying(kid) ?? (await keyring.find(kid)))
  if (key === undefined) {
    throw new TokenRefused('The token is signed with a key this gateway does not know or has retired; get a new token.')
  }
  await checkSignature(compact, key, 'EdDSA')
}

async function checkSignature({ token }: Compact, key: CryptoKey, alg: string): Promise<void> {
  try {
    await compactVerify(token, key, { algorithms: [alg] })
  } catch {
    throw new TokenRefused('The signature of the token is wrong; get a new token and send it unchanged.')
  }
}

function accepted(session: Session | string): Session {
  if (typeof session === 'string') throw new TokenRefused(session)
  return session
}

function byName(entries: readonly IssuerEntry[], resource: string): Map<string, Issuer> {
  const issuers = new Map<string, Issuer>()
  for (const entry of entries) {
    if (entry.issuer === resource || issuers.has(entry.issuer)) {
      throw new Error(`The issuer ${entry.issuer} is given twice, or is this gateway itself; remove one entry.`)
    }
    issuers.set(entry.issuer, createIssuer(entry))
  }
  return issuers
}
