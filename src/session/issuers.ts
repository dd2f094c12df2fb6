/**
 * Host apps that sign session tokens themselves: whose keys are believed, for which brands and roles.
 * Keys come from the operator's configuration only, never from anything a token says (RFC 8725, section 3.10).
 * @module
 */
import { createHash } from 'node:crypto'
import {
  type CryptoKey,
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type ExportedJWKSCache,
  type JWSHeaderParameters,
  jwksCache,
} from 'jose'
import type { SessionClaims } from './claims.ts'
import { TokenRefused } from './compact.ts'

/** One entry of `issuers` in the configuration: a key set by URL or inline, never both. */
export interface IssuerEntry {
  readonly issuer: string
  readonly jwksUrl?: string | undefined
  readonly jwks?: JSONWebKeySet | undefined
  readonly brands: readonly string[]
  readonly roles: readonly string[]
}

/** A configured issuer, ready to be asked. */
export interface Issuer {
  readonly issuer: string
  /** The key a header names. Throws TokenRefused when there is none, TokenUncheckable when the set cannot be read. */
  key(header: JWSHeaderParameters): Promise<CryptoKey>
  /** Why this issuer may not say this, or undefined when it may. */
  problem(claims: SessionClaims): string | undefined
}

/** Thrown when a token can be judged neither good nor bad just now: answer 503, not 401. */
export class TokenUncheckable extends Error {
  override name = 'TokenUncheckable'
}

/** What a foreign issuer may sign with. */
export const FOREIGN_ALGS: readonly string[] = ['EdDSA', 'ES256', 'RS256', 'PS256']

/** How long a fetched key set is believed, in milliseconds, while its address answers. */
export const KEY_SET_MS = 30_000

/** How long the last key set is believed while its address does not answer, so that a restart there ends no session. */
const KEY_SET_STALE_MS = 600_000

/** Throws for an entry that cannot work, in words for whoever wrote the configuration. */
export function createIssuer(entry: IssuerEntry): Issuer {
  const keys = keySet(entry)
  const brands = new Set(entry.brands)
  const roles = new Set(entry.roles)
  return {
    issuer: entry.issuer,
    async key(header) {
      try {
        return await keys(header)
      } catch (error) {
        if (error instanceof errors.JWKSMultipleMatchingKeys) {
          throw new TokenRefused("Several of the issuer's keys would fit; name the key in the header's kid.")
        }
        if (isAboutTheKey(error)) {
          throw new TokenRefused('The token is signed with a key that is not in the key set of its issuer.')
        }
        throw new TokenUncheckable(`The key set of the issuer ${entry.issuer} cannot be read just now.`, {
          cause: error,
        })
      }
    },
    problem(claims) {
      if (!brands.has(claims.brand))
        return 'This issuer may not name this brand; list it in brands of its issuers entry.'
      if (!roles.has(claims.role)) return 'This issuer may not name this role; list it in roles of its issuers entry.'
      return undefined
    },
  }
}

/** The id of a foreign session: two issuers may use the same `jti` and still mean two sessions. */
export function foreignId(claims: SessionClaims): string {
  const digest = createHash('sha256').update(`${claims.iss}\n${claims.jti}`).digest('base64url')
  return `h_${digest.slice(0, 22)}`
}

function keySet(entry: IssuerEntry): (header: JWSHeaderParameters) => Promise<CryptoKey> {
  const { issuer, jwks, jwksUrl } = entry
  if ((jwks === undefined) === (jwksUrl === undefined)) {
    throw new Error(`The issuer ${issuer} needs either jwks or jwksUrl: give exactly one.`)
  }
  if (jwks !== undefined) return createLocalJWKSet(jwks)
  const url = URL.parse(jwksUrl!)
  if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) {
    throw new Error(`The jwksUrl of the issuer ${issuer} must be an https address, or http on this machine.`)
  }
  return remoteKeySet(url)
}

function remoteKeySet(url: URL): (header: JWSHeaderParameters) => Promise<CryptoKey> {
  // jose fills this in; until the first good fetch it is empty.
  const last: Partial<ExportedJWKSCache> = {}
  const fetched = createRemoteJWKSet(url, {
    timeoutDuration: 3000,
    cooldownDuration: 1000,
    cacheMaxAge: KEY_SET_MS,
    [jwksCache]: last as ExportedJWKSCache,
  })
  return async function fromUrl(header) {
    try {
      return await fetched(header)
    } catch (error) {
      if (
        isAboutTheKey(error) ||
        last.jwks === undefined ||
        !(Date.now() - (last.uat ?? Number.NaN) < KEY_SET_STALE_MS)
      )
        throw error
      // A key the last set lacks may be in the one that cannot be read, so the first error stands.
      return await createLocalJWKSet(last.jwks)(header).catch(() => Promise.reject(error))
    }
  }
}

/** Whether the set could be read and the fault is the token's. */
function isAboutTheKey(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  )
}

const isLoopback = (host: string) => host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
