/**
 * Who this gateway is at an authorization server: as it was registered there beforehand, by the document it publishes,
 * or registered now (RFC 7591); in this order.
 * @module
 */
import * as oauth from 'oauth4webapi'
import type { Reach } from './reach.ts'
import { type Client, OauthRefused, type Server } from './words.ts'

export interface Identity {
  readonly redirectUri: string
  /** Where this gateway publishes its client document; undefined where it has no https address. */
  readonly documentUrl: string | undefined
  /** Registered beforehand by a person. */
  readonly stated?: { readonly id: string; readonly secret?: string | undefined } | undefined
  /** Registered by this gateway at this very server before. */
  readonly kept?: Client | undefined
}

/** What is said of this gateway as a client, wherever it is said. */
export function describeClient(redirectUri: string) {
  return {
    client_name: 'Tollgate',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: 'web',
  }
}

/** The client. Rejects with OauthRefused, AddressRefused or Unreachable. */
export async function clientAt(reach: Reach, server: Server, identity: Identity): Promise<Client> {
  const { stated, kept, documentUrl, redirectUri } = identity
  if (stated !== undefined) return { ...stated, auth: stated.secret === undefined ? 'none' : secretMethod(server) }
  if (kept?.registered !== undefined && isGood(kept.registered, redirectUri)) return kept
  if (server.readsDocuments === true && documentUrl !== undefined) return { id: documentUrl, auth: 'none' }
  if (server.registrationEndpoint !== undefined) return register(reach, server, redirectUri)
  throw new OauthRefused(
    `Its authorization server registers nobody by itself: register a client there with the redirect URI ${redirectUri} and state its clientId under oauth.`,
  )
}

/** Not in its last ten minutes, in which a person may still be consenting. */
const isGood = ({ redirectUri, until }: NonNullable<Client['registered']>, wanted: string): boolean =>
  redirectUri === wanted && (until === 0 || until * 1000 > Date.now() + 600_000)

/**
 * How a secret is sent: in the body where the server says that it takes it there, since servers differ on how HTTP Basic is
 * to be encoded; else as Basic, which RFC 8414 presumes of a server that says nothing.
 */
const secretMethod = ({ methods }: Server): 'post' | 'basic' =>
  methods?.includes('client_secret_post') === true ? 'post' : 'basic'

async function register(reach: Reach, server: Server, redirectUri: string): Promise<Client> {
  const isPublic = server.methods?.includes('none') === true
  const method = isPublic ? 'none' : `client_secret_${secretMethod(server)}`
  const wanted = { ...describeClient(redirectUri), token_endpoint_auth_method: method }
  const as = { issuer: server.issuer, registration_endpoint: server.registrationEndpoint as string }
  const made = await oauth
    .dynamicClientRegistrationRequest(as, wanted, {
      [oauth.customFetch]: (url, request) => reach.fetch(url, request),
      [oauth.allowInsecureRequests]: true,
    })
    .then(oauth.processDynamicClientRegistrationResponse)
    .catch((error: unknown) => {
      if (!(error instanceof oauth.OperationProcessingError || error instanceof oauth.ResponseBodyError)) throw error
      throw new OauthRefused('Its authorization server refused to register this gateway as a client.')
    })
  const { client_id: id, client_secret: secret, client_secret_expires_at: until = 0 } = made
  const registered = { redirectUri, until: Number(until) || 0 }
  if (typeof secret !== 'string') return { id, auth: 'none', registered }
  const said = made.token_endpoint_auth_method
  return { id, secret, auth: said === 'client_secret_post' ? 'post' : said === 'none' ? 'none' : 'basic', registered }
}
