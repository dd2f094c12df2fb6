/**
 * How a connector reaches its vendor: what a brand states, where the API is, how a credential is put on a request, and a
 * harmless call that shows whether it is taken.
 * @module
 */
import type { Problem } from './failure.ts'
import type { Http, Reply } from './http.ts'
import type { Field, Headers, Values } from './values.ts'

/**
 * A token that is asked for with the credentials and kept in memory until shortly before it expires, one request at a time
 * for each connection. `ask` gets a way to the vendor without any credential on it.
 */
export type Mint = (
  ask: (http: Http) => Promise<{ readonly token: string; readonly expiresInS: number }>,
) => Promise<string>

/**
 * How a person consents at the vendor (OAuth 2, code with PKCE). The connection is of use once somebody did; `authorize`
 * then finds a token that is good now as `given.accessToken`.
 */
export interface OauthKind {
  /** As the vendor says it in its answers (RFC 9207); the origin of `authorizationUrl` where it is not said. */
  readonly issuer?: string
  readonly authorizationUrl: string | ((settings: Values) => string)
  readonly tokenUrl: string | ((settings: Values) => string)
  readonly scopes: readonly string[]
  /** Names of the fields that hold them; the id is no secret. */
  readonly clientId: string
  readonly clientSecret?: string
  /** How the secret is sent: in the body (usual), or as HTTP Basic. */
  readonly clientAuth?: 'post' | 'basic'
  /** Further parameters of the address at which a person consents, such as `access_type`. */
  readonly parameters?: Values
}

/** How a connector reaches its vendor. */
export interface ConnectionKind {
  /** What a brand states. A field is a secret unless it says `secret: false`. */
  readonly fields: Readonly<Record<string, Field>>
  /** https origin and path prefix, or what the settings make of them (a shop's domain; nothing secret is in `settings`). */
  readonly baseUrl: string | ((settings: Values) => string)
  /** The headers that carry the credential. The only function that ever sees one. */
  authorize(given: Values, mint: Mint): Headers | Promise<Headers>
  /** Where a person has to consent besides. */
  readonly oauth?: OauthKind
  /** Headers of every request besides. */
  readonly headers?: Headers
  /** What the vendor's body means when it says no; without it the usual places are looked at (`message`, `error`, `code`). */
  problem?(status: number, body: unknown, headers: Reply<unknown>['headers']): Problem
  /** A call that reads, bills nothing and needs the least scope. Answers a sentence for people: whose account, what is left. */
  check(http: Http, settings: Values): Promise<string>
  /** The account's own prices, for `estimate`; read before the first billed call of a connection and every six hours. */
  prices?(http: Http): Promise<unknown>
}
