/**
 * From the address of a remote MCP server to the authorization server that guards it: the challenge, the resource's
 * metadata (RFC 9728), the server's metadata (RFC 8414, or OpenID Connect's). Every address on the way is judged.
 * @module
 */
import * as oauth from 'oauth4webapi'
import { MODERN, requestText } from '../mcp/envelope.ts'
import type { Reach } from './reach.ts'
import { OauthRefused, type Server } from './words.ts'

export interface Discovered {
  readonly server: Server
  /** What tokens are to be good for. */
  readonly resource: string
  /** What the challenge or the metadata asks for. */
  readonly scope?: string
}

interface ResourceMetadata {
  readonly resource?: unknown
  readonly authorization_servers?: unknown
  readonly scopes_supported?: unknown
}

/** Finds it. Sends no credential anywhere. Rejects with OauthRefused, AddressRefused or Unreachable. */
export async function discover(reach: Reach, mcpUrl: string): Promise<Discovered> {
  const url = reach.allowed(mcpUrl)
  const challenge = await challengeOf(reach, url)
  const metadata = await resourceMetadata(reach, url, challenge.metadata)
  const issuers = texts(metadata?.authorization_servers)
  // Servers older than RFC 9728 are their own authorization servers.
  const server = await serverAt(reach, issuers[0] ?? url.origin, metadata === undefined)
  const wanted = challenge.scope?.split(' ') ?? texts(metadata?.scopes_supported)
  // Without it some servers give no refresh token, and resources do not ask for it.
  const offline = server.scopes?.includes('offline_access') === true ? ['offline_access'] : []
  const scope = wanted.length === 0 ? undefined : [...new Set([...wanted, ...offline])].join(' ')
  const resource = typeof metadata?.resource === 'string' ? metadata.resource : url.href
  return { server, resource, ...(scope !== undefined && { scope }) }
}

/** What an answer to nobody says about who may come in (RFC 6750, RFC 9728 5.1). */
async function challengeOf(reach: Reach, url: URL): Promise<{ metadata?: string; scope?: string }> {
  const answer = await reach.fetch(url.href, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-method': 'server/discover',
      'mcp-protocol-version': MODERN,
    },
    body: requestText(1, 'server/discover', ''),
  })
  const said = answer.headers.get('www-authenticate') ?? ''
  if (!/(?:^|,\s*)bearer\b/i.test(said)) return {}
  const metadata = parameter(said, 'resource_metadata')
  const scope = parameter(said, 'scope')
  return { ...(metadata !== undefined && { metadata }), ...(scope !== undefined && { scope }) }
}

const parameter = (challenge: string, name: string): string | undefined =>
  new RegExp(`(?:^|[\\s,])${name}="([^"\\\\]{1,2000})"`, 'i').exec(challenge)?.[1]

async function resourceMetadata(
  reach: Reach,
  url: URL,
  named: string | undefined,
): Promise<ResourceMetadata | undefined> {
  const path = url.pathname === '/' ? '' : url.pathname
  const known = '/.well-known/oauth-protected-resource'
  const places = named === undefined ? [...new Set([`${url.origin}${known}${path}`, url.origin + known])] : [named]
  for (const place of places) {
    const found = (await json(reach, place)) as ResourceMetadata | undefined
    if (found === undefined) continue
    if (!isOf(found.resource, url)) {
      throw new OauthRefused('Its resource metadata speaks of another resource, so nothing is asked in its name.')
    }
    return found
  }
  if (named !== undefined) throw new OauthRefused('Its challenge names resource metadata that are not there.')
  return undefined
}

/** Whether metadata speak of this very server: the same origin, and the same path or one above it. */
function isOf(resource: unknown, url: URL): boolean {
  const named = typeof resource === 'string' ? URL.parse(resource) : null
  if (named === null || named.origin !== url.origin) return false
  const above = named.pathname.replace(/\/$/, '')
  return url.pathname === named.pathname || url.pathname === above || url.pathname.startsWith(`${above}/`)
}

/** The authorization server under an issuer's name. `isGuess`: nobody named it. */
export async function serverAt(reach: Reach, issuer: string, isGuess = false): Promise<Server> {
  const url = reach.allowed(issuer)
  const path = url.pathname.replace(/\/$/, '')
  const places = [
    `${url.origin}/.well-known/oauth-authorization-server${path}`,
    `${url.origin}/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${url.origin}${path}/.well-known/openid-configuration`]),
  ]
  for (const place of places) {
    const answer = await reach.fetch(place, { headers: { accept: 'application/json' } })
    if (answer.status === 200) return serverOf(reach, await read(url, answer), issuer)
  }
  throw new OauthRefused(
    isGuess
      ? 'It asks for no sign-in by OAuth; state the headers it wants instead.'
      : 'Its authorization server has no metadata (RFC 8414), so it cannot be used.',
  )
}

async function read(issuer: URL, answer: Response): Promise<oauth.AuthorizationServer> {
  try {
    return await oauth.processDiscoveryResponse(issuer, answer)
  } catch {
    throw new OauthRefused('The metadata of its authorization server are unreadable, or name another issuer.')
  }
}

function serverOf(reach: Reach, found: oauth.AuthorizationServer, issuer: string): Server {
  const { authorization_endpoint, token_endpoint, registration_endpoint } = found
  if (found.issuer.replace(/\/$/, '') !== issuer.replace(/\/$/, ''))
    throw new OauthRefused('The metadata of its authorization server name another issuer.')
  if (typeof authorization_endpoint !== 'string' || typeof token_endpoint !== 'string')
    throw new OauthRefused('Its authorization server names no endpoints for a person’s consent.')
  if (found.code_challenge_methods_supported?.includes('S256') !== true)
    throw new OauthRefused('Its authorization server does not say that it takes PKCE with S256, so it is not used.')
  for (const one of [authorization_endpoint, token_endpoint, registration_endpoint ?? token_endpoint])
    reach.allowed(one)
  return {
    issuer: found.issuer,
    authorizationEndpoint: authorization_endpoint,
    tokenEndpoint: token_endpoint,
    registrationEndpoint: registration_endpoint,
    namesItself: found.authorization_response_iss_parameter_supported === true,
    readsDocuments: (found as Record<string, unknown>).client_id_metadata_document_supported === true,
    scopes: found.scopes_supported,
    methods: found.token_endpoint_auth_methods_supported,
  }
}

async function json(reach: Reach, url: string): Promise<object | undefined> {
  const answer = await reach.fetch(url, { headers: { accept: 'application/json' } })
  if (answer.status !== 200) return undefined
  const value: unknown = await answer.json().catch(() => undefined)
  return typeof value === 'object' && value !== null ? value : undefined
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
