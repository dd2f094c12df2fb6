/**
 * The words of OAuth as this gateway keeps them: a server, a client at it, and what a person's consent brought.
 * @module
 */

/** An authorization server, as far as this gateway uses it. */
export interface Server {
  /** As the server says it: what answers name is compared with it letter for letter. */
  readonly issuer: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly registrationEndpoint?: string | undefined
  /** It says in its answers who it is (RFC 9207), so an answer without is not its own. */
  readonly namesItself: boolean
  /** It reads a client's own document at the address that is the client's id. */
  readonly readsDocuments?: boolean | undefined
  /** What it can be asked for; undefined: it does not say. */
  readonly scopes?: readonly string[] | undefined
  /** Ways in which a client may prove itself; undefined: the server does not say. */
  readonly methods?: readonly string[] | undefined
}

/** Who this gateway is at a server. */
export interface Client {
  readonly id: string
  readonly secret?: string | undefined
  readonly auth: 'none' | 'post' | 'basic'
  /** Registered by this gateway, for this way back, until then (seconds since the epoch; 0: for ever). */
  readonly registered?: { readonly redirectUri: string; readonly until: number } | undefined
}

/** What a server gave out. */
export interface Tokens {
  readonly accessToken: string
  readonly refreshToken?: string | undefined
  readonly expiresInS?: number | undefined
  readonly scope?: string | undefined
}

/** What a person is asked to consent to. */
export interface Plan {
  readonly server: Server
  readonly client: Client
  readonly scope?: string | undefined
  /** The MCP server that the token is for (RFC 8707). */
  readonly resource?: string | undefined
  /** Further parameters that a vendor wants. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
}

/** Something about a server or its answer is not as it must be. The message is for people and holds no secret. */
export class OauthRefused extends Error {
  override name = 'OauthRefused'
}
