/**
 * The two requests that bring tokens: a code for the first ones, a refresh token for the next. And the address at which a
 * person consents.
 * @module
 */
import * as oauth from 'oauth4webapi'
import { AddressRefused } from '../mcp/address.ts'
import { type Reach, Unreachable } from './reach.ts'
import type { Client, Plan, Server, Tokens } from './words.ts'

/**
 * What came of asking. `refused`: the grant is good for nothing any more (`invalid_grant`). `passing`: it may go well
 * later. `wrong`: it cannot go well until a person changes something. `said` is for people and holds nothing secret.
 */
export type Granted =
  | { readonly ok: true; readonly tokens: Tokens }
  | { readonly ok: false; readonly kind: 'refused' | 'passing' | 'wrong'; readonly said: string }

/** What a browser is sent with: made anew each time. */
export interface Trip {
  readonly state: string
  readonly verifier: string
  readonly redirectUri: string
}

/** The address where a person consents (RFC 6749 4.1.1, with PKCE S256 and RFC 8707's resource). */
export async function authorizationUrl(plan: Plan, { state, verifier, redirectUri }: Trip): Promise<string> {
  const url = new URL(plan.server.authorizationEndpoint)
  const wanted: Record<string, string | undefined> = {
    ...plan.parameters,
    response_type: 'code',
    client_id: plan.client.id,
    redirect_uri: redirectUri,
    scope: plan.scope,
    resource: plan.resource,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(wanted)) if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

/**
 * Changes the code of an answer into tokens, after the answer was judged: its state, who gave it (RFC 9207), and whether
 * it is a yes at all.
 */
export async function exchange(reach: Reach, plan: Plan, trip: Trip, answer: URLSearchParams): Promise<Granted> {
  const as = serverFor(plan.server)
  const client = { client_id: plan.client.id }
  let judged: URLSearchParams
  try {
    judged = oauth.validateAuthResponse(as, client, answer, trip.state)
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      const denied = error.error === 'access_denied'
      const said = denied ? 'The consent was denied.' : `The authorization server said no (${word(error.error)}).`
      return { ok: false, kind: 'refused', said }
    }
    return { ok: false, kind: 'wrong', said: 'The answer is not from the authorization server that was asked.' }
  }
  const asked = oauth.authorizationCodeGrantRequest(
    as,
    client,
    proofOf(plan.client),
    judged,
    trip.redirectUri,
    trip.verifier,
    optionsFor(reach, plan),
  )
  return granted(asked, (response) => oauth.processAuthorizationCodeResponse(as, client, response))
}

/** Asks for the next tokens (RFC 6749 6). */
export async function refresh(reach: Reach, plan: Plan, refreshToken: string): Promise<Granted> {
  const as = serverFor(plan.server)
  const client = { client_id: plan.client.id }
  const asked = oauth.refreshTokenGrantRequest(as, client, proofOf(plan.client), refreshToken, optionsFor(reach, plan))
  return granted(asked, (response) => oauth.processRefreshTokenResponse(as, client, response))
}

const serverFor = (server: Server): oauth.AuthorizationServer => ({
  issuer: server.issuer,
  token_endpoint: server.tokenEndpoint,
  authorization_response_iss_parameter_supported: server.namesItself,
})

function proofOf({ auth, secret }: Client): oauth.ClientAuth {
  if (auth === 'none' || secret === undefined) return oauth.None()
  return auth === 'post' ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret)
}

/** Which addresses may be reached is judged by the reach itself, for plain http too. */
const optionsFor = (reach: Reach, { resource }: Plan): oauth.TokenEndpointRequestOptions => ({
  [oauth.customFetch]: (url, request) => reach.fetch(url, request),
  [oauth.allowInsecureRequests]: true,
  ...(resource !== undefined && { additionalParameters: { resource } }),
})

async function granted(
  asked: Promise<Response>,
  read: (response: Response) => Promise<oauth.TokenEndpointResponse>,
): Promise<Granted> {
  try {
    const { access_token, refresh_token, expires_in, scope } = await read(await withoutIdentity(await asked))
    const tokens = { accessToken: access_token, refreshToken: refresh_token, expiresInS: expires_in, scope }
    return { ok: true, tokens }
  } catch (error) {
    return { ok: false, ...judge(error) }
  }
}

/** Who the person is at the server is nobody's business here, so an ID token beside the others is not even judged. */
async function withoutIdentity(response: Response): Promise<Response> {
  if (response.status !== 200) return response
  const text = await response.text()
  const { status, headers } = response
  try {
    const { id_token: _, ...rest } = JSON.parse(text) as Record<string, unknown>
    return new Response(JSON.stringify(rest), { status, headers })
  } catch {
    return new Response(text, { status, headers })
  }
}

function judge(error: unknown): { kind: 'refused' | 'passing' | 'wrong'; said: string } {
  if (error instanceof Unreachable) return { kind: 'passing', said: error.message }
  if (error instanceof AddressRefused) return { kind: 'wrong', said: error.message }
  const status = statusOf(error)
  if (error instanceof oauth.ResponseBodyError) {
    if (error.error === 'invalid_grant')
      return { kind: 'refused', said: 'It says invalid_grant: the consent has ended.' }
    const passes =
      status >= 500 || status === 429 || /^(temporarily_unavailable|server_error|slow_down)$/.test(error.error)
    return { kind: passes ? 'passing' : 'wrong', said: `It said no: ${word(error.error)}.` }
  }
  if (status >= 500 || status === 429) return { kind: 'passing', said: `It answered HTTP ${status}.` }
  const said =
    status === 0 || status === 200 ? 'Its answer holds no token that can be used.' : `It answered HTTP ${status}.`
  return { kind: 'wrong', said }
}

function statusOf(error: unknown): number {
  const { status, cause } = error as { status?: unknown; cause?: unknown }
  if (typeof status === 'number') return status
  return cause instanceof Response ? cause.status : 0
}

/** An error's word; anything else that stands in its place could be a secret. */
const word = (text: string): string => (/^[a-z_]{1,60}$/.test(text) ? text : 'no reason that can be shown')
