/**
 * An authorization server on loopback: RFC 8414 metadata, registration, consent that is always given, codes bound to
 * their PKCE challenge, and refresh tokens that rotate and are good once. It writes down what it is asked and can misbehave.
 * @module
 */
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface AskedServer {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly form: Readonly<Record<string, string>>
  readonly body: string
}

/** Takes over a request; true when it did. */
export type Takeover = (asked: AskedServer, response: ServerResponse) => boolean

export interface AuthorizationServer {
  readonly issuer: string
  readonly asked: AskedServer[]
  /** How long access tokens live (s). */
  lifeS: number
  /** Whether a refresh brings another refresh token. */
  rotates: boolean
  /** Members of the metadata in place of the usual ones; undefined takes one out. */
  metadata: Record<string, unknown>
  takeover: Takeover | undefined
  /** Requests of the token endpoint by grant. */
  granted(grant: 'refresh_token' | 'authorization_code'): AskedServer[]
  /** How often a refresh token was used again after another had come in its place. */
  reused(): number
  /** Whether an access token is good now. */
  isGood(authorization: string | undefined): boolean
  /** Every token and secret that it gave out. */
  readonly secrets: string[]
  /** Ends every access token. */
  endAccess(): void
  /** Ends every refresh token. */
  endConsents(): void
  /** What a browser does at an address: the address it is sent back to. */
  consent(authorizationUrl: string): Promise<string>
  close(): Promise<void>
}

/** Starts one. `path` makes it one of several issuers of its host. */
export async function startAuthorizationServer({ path = '', namesItself = true } = {}): Promise<AuthorizationServer> {
  const asked: AskedServer[] = []
  const secrets: string[] = []
  const codes = new Map<string, Record<string, string>>()
  const access = new Map<string, number>()
  const refreshes = new Map<string, 'live' | 'used'>()
  let reused = 0
  const make = (kind: string): string => {
    const made = `canary-${kind}-${randomBytes(12).toString('hex')}`
    secrets.push(made)
    return made
  }

  function json(response: ServerResponse, status: number, value: object): void {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(JSON.stringify(value))
  }

  function tokens(response: ServerResponse, refresh: string | undefined): void {
    const token = make('access')
    access.set(token, Date.now() + server.lifeS * 1000)
    json(response, 200, {
      access_token: token,
      token_type: 'Bearer',
      expires_in: server.lifeS,
      ...(refresh !== undefined && { refresh_token: refresh }),
      // Of an algorithm and an issuer that nobody here looks at.
      id_token: `${Buffer.from('{"alg":"ES256"}').toString('base64url')}.${Buffer.from('{"iss":"x"}').toString('base64url')}.x`,
    })
  }

  function newRefresh(): string {
    const refresh = make('refresh')
    refreshes.set(refresh, 'live')
    return refresh
  }

  function token(one: AskedServer, response: ServerResponse): void {
    const { grant_type, code = '', code_verifier = '', redirect_uri, client_id, refresh_token = '' } = one.form
    if (grant_type === 'authorization_code') {
      const known = codes.get(code)
      codes.delete(code)
      const challenge = createHash('sha256').update(code_verifier).digest('base64url')
      const isRight =
        known !== undefined &&
        known.code_challenge === challenge &&
        known.redirect_uri === redirect_uri &&
        (client_id === undefined || known.client_id === client_id)
      if (!isRight) return json(response, 400, { error: 'invalid_grant' })
      return tokens(response, newRefresh())
    }
    const state = refreshes.get(refresh_token)
    if (state === 'used') reused++
    if (grant_type !== 'refresh_token' || state !== 'live') return json(response, 400, { error: 'invalid_grant' })
    if (!server.rotates) return tokens(response, undefined)
    refreshes.set(refresh_token, 'used')
    tokens(response, newRefresh())
  }

  function authorize(url: URL, response: ServerResponse): void {
    const wanted = Object.fromEntries(url.searchParams)
    const code = make('code')
    codes.set(code, wanted)
    const back = new URL(wanted.redirect_uri ?? 'http://nowhere.invalid')
    back.searchParams.set('code', code)
    back.searchParams.set('state', wanted.state ?? '')
    if (namesItself) back.searchParams.set('iss', issuer)
    response.writeHead(302, { location: back.href }).end()
  }

  const listener = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      const url = new URL(request.url ?? '/', origin)
      const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')
      const form = isForm ? Object.fromEntries(new URLSearchParams(body)) : {}
      const one = { method: request.method ?? '', path: url.pathname, headers: request.headers, form, body }
      asked.push(one)
      if (server.takeover?.(one, response) === true) return
      if (url.pathname === `/.well-known/oauth-authorization-server${path}`) return json(response, 200, metadata())
      if (url.pathname === `${path}/authorize`) return authorize(url, response)
      if (url.pathname === `${path}/token`) return token(one, response)
      if (url.pathname === `${path}/register`) {
        return json(response, 201, { ...JSON.parse(body), client_id: `client-${randomBytes(4).toString('hex')}` })
      }
      json(response, 404, { error: 'not_found' })
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  const issuer = origin + path
  const metadata = (): object => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
    ...(namesItself && { authorization_response_iss_parameter_supported: true }),
    ...server.metadata,
  })

  const server: AuthorizationServer = {
    issuer,
    asked,
    lifeS: 3_600,
    rotates: true,
    metadata: {},
    takeover: undefined,
    granted: (grant) => asked.filter(({ form }) => form.grant_type === grant),
    reused: () => reused,
    isGood: (authorization) => (access.get(authorization?.replace(/^Bearer /, '') ?? '') ?? 0) > Date.now(),
    secrets,
    endAccess: () => access.clear(),
    endConsents: () => refreshes.clear(),
    async consent(authorizationUrl) {
      const answer = await fetch(authorizationUrl, { redirect: 'manual' })
      const location = answer.headers.get('location')
      if (location === null) throw new Error(`No way back: ${answer.status} ${await answer.text()}`)
      return location
    },
    async close() {
      listener.closeAllConnections()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
  return server
}
