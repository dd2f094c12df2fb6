/** A brand's own MCP server behind an authorization server: the way of a person's consent, and everything that must not be one. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { type GuardedUpstream, startGuarded } from '../support/guarded-upstream.ts'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { FORMS, LOOPBACK, METADATA, NAMES, RANGES } from '../support/forbidden-urls.ts'

let gateway: Gateway
let server: AuthorizationServer
let upstream: GuardedUpstream

beforeAll(async () => {
  // By host, so that every other address stays as forbidden as it is elsewhere.
  gateway = await startGateway({}, { TOLLGATE_OWNER_BRAND: 'owner' }, { connections: { hosts: ['127.0.0.1'] } })
})
afterAll(() => gateway.close())
beforeEach(async () => {
  server = await startAuthorizationServer()
  upstream = await startGuarded(server)
})
afterEach(async () => {
  for (const { brand, slug } of (await gateway.api('GET', '/v1/connections')).body.items)
    await gateway.api('DELETE', `/v1/connections/${slug}?brand=${brand}`)
  await upstream.close()
  await server.close()
})

const put = (mcp: object = {}, brand = 'acme', slug = 'notes') =>
  gateway.api('PUT', `/v1/connections/${slug}?brand=${brand}`, {
    mcp: { url: upstream.url, oauth: true, tools: { echo: 'read' }, ...mcp },
  })
const begin = (brand = 'acme', slug = 'notes') => gateway.api('POST', `/v1/connections/${slug}/connect?brand=${brand}`)
const show = async (brand = 'acme', slug = 'notes') =>
  (await gateway.api('GET', `/v1/connections/${slug}?brand=${brand}`)).body
/** What a browser gets at an address of the gateway's. */
const browse = async (address: string) => {
  const answer = await fetch(address, { redirect: 'manual' })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}
async function consent(brand = 'acme', slug = 'notes') {
  const { body } = await begin(brand, slug)
  return browse(await server.consent(body.authorizationUrl))
}
const tokenOf = (brand = 'acme') => gateway.token({ brand, role: 'person-chat', approval: { channel: 'inbox' } })
const toolsOf = async (token: string): Promise<string[]> =>
  (await gateway.modern(token, 'tools/list')).answer.result.tools.map(({ name }: { name: string }) => name)
const echo = (token: string, args: object = { hello: 1 }, name = 'notes__echo') =>
  gateway.modern(token, 'tools/call', { name, arguments: args })

describe('a consent', () => {
  it('is begun here, given there, and makes the tools of the server the brand’s', async () => {
    expect((await put()).body).toMatchObject({ consent: { state: 'needed', because: null }, mcp: { oauth: {} } })
    const token = await tokenOf()
    expect(await toolsOf(token)).not.toContain('notes__echo')
    const begun = await begin()
    expect(begun.status).toBe(200)
    const asked = new URL(begun.body.authorizationUrl)
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      resource: upstream.url,
      scope: 'tools:use',
      redirect_uri: `${gateway.running.url}/oauth/callback`,
    })
    const until = Date.parse(begun.body.expiresAt) - Date.now()
    expect(until).toBeGreaterThan(500_000)
    expect(until).toBeLessThan(660_000)
    const page = await browse(await server.consent(begun.body.authorizationUrl))
    expect(page.status).toBe(200)
    expect(page.text).toContain('notes is connected for acme.')
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/)
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect((await show()).consent).toEqual({ state: 'given', because: null })
    expect(await toolsOf(token)).toContain('notes__echo')
    expect((await echo(token)).answer.result.content[0].text).toBe('{"hello":1}')
    expect(server.granted('authorization_code')).toMatchObject([{ form: { resource: upstream.url } }])
  })

  it('registers this gateway once, and uses the registration again', async () => {
    await put()
    await consent()
    await consent()
    const registered = server.asked.filter(({ path }) => path === '/register')
    expect(registered).toHaveLength(1)
    expect(JSON.parse(registered[0]!.body)).toMatchObject({
      redirect_uris: [`${gateway.running.url}/oauth/callback`],
      token_endpoint_auth_method: 'none',
      application_type: 'web',
    })
  })

  it('asks for what the challenge names, and to be let in again later where the server knows that', async () => {
    await put()
    server.metadata = { scopes_supported: ['tools:use', 'tools:admin', 'offline_access'] }
    const { body } = await begin()
    expect(new URL(body.authorizationUrl).searchParams.get('scope')).toBe('tools:use offline_access')
  })

  it('goes by a client that a person registered beforehand, and its secret is never shown', async () => {
    await put({ oauth: { clientId: 'known-client', clientSecret: 'canary-client-secret', scopes: 'a b' } })
    const { body } = await begin()
    expect(Object.fromEntries(new URL(body.authorizationUrl).searchParams)).toMatchObject({
      client_id: 'known-client',
      scope: 'a b',
    })
    expect((await browse(await server.consent(body.authorizationUrl))).status).toBe(200)
    const [asked] = server.granted('authorization_code')
    const basic = Buffer.from(asked?.headers.authorization?.slice(6) ?? '', 'base64').toString()
    // RFC 6749 2.3.1: form-encoded, then Basic.
    expect(decodeURIComponent(basic)).toBe('known-client:canary-client-secret')
    expect(server.asked.some(({ path }) => path === '/register')).toBe(false)
    expect(JSON.stringify(await show())).not.toContain('canary')
  })

  it('leads nowhere for a connection that needs none, or that is not there', async () => {
    await put({ oauth: undefined })
    expect((await begin()).body.errors).toMatchObject([{ rule: 'not_oauth' }])
    expect((await begin('other')).status).toBe(404)
  })

  it('stands while the same is stated again, and ends with another address', async () => {
    await put()
    await consent()
    expect((await put({ tools: { 'e*': 'read' } })).body.consent.state).toBe('given')
    expect((await put({ url: `${upstream.url}?other` })).body.consent.state).toBe('needed')
  })
})

describe('a real client', () => {
  it.each([
    ['of the SDK’s 1.x line', () => new OldClient({ name: 'old', version: '1' }), OldTransport],
    ['of its stable line', () => new Client({ name: 'new', version: '1' }), StreamableHTTPClientTransport],
  ] as const)('%s lists and calls the tools through the server’s own door', async (_name, make, Transport) => {
    await put()
    await consent()
    const headers = { authorization: `Bearer ${await tokenOf()}` }
    const client = make() as Client
    await client.connect(new Transport(new URL(`${gateway.url}/mcp/notes`), { requestInit: { headers } }) as never)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo')
    const { content } = await client.callTool({ name: 'echo', arguments: { by: 'a real client' } })
    expect(content).toMatchObject([{ text: '{"by":"a real client"}' }])
    await client.close()
  })
})

describe('what comes back by a browser', () => {
  const CALLBACK = '/oauth/callback'
  const changed = (location: string, change: (parameters: URLSearchParams) => void): string => {
    const url = new URL(location)
    change(url.searchParams)
    return url.href
  }

  it('is good once', async () => {
    await put()
    const back = await server.consent((await begin()).body.authorizationUrl)
    expect((await browse(back)).status).toBe(200)
    const again = await browse(back)
    expect(again.status).toBe(400)
    expect(again.text).toContain('used already')
    expect(server.granted('authorization_code')).toHaveLength(1)
  })

  it('of two that come at once, one is taken', async () => {
    await put()
    const back = await server.consent((await begin()).body.authorizationUrl)
    const both = await Promise.all([browse(back), browse(back)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
    expect(server.granted('authorization_code')).toHaveLength(1)
  })

  it.each<[string, (parameters: URLSearchParams) => void]>([
    ['without a state', (all) => all.delete('state')],
    ['with a state nobody gave out', (all) => all.set('state', 'x'.repeat(43))],
    ['with two states', (all) => all.append('state', 'y')],
    ['that says it is from another server', (all) => all.set('iss', 'https://evil.example')],
    ['that does not say who it is from, though its server always does', (all) => all.delete('iss')],
    ['without a code', (all) => all.delete('code')],
  ])('%s is refused, and no code goes anywhere', async (_name, change) => {
    await put()
    const back = await server.consent((await begin()).body.authorizationUrl)
    const { status, text } = await browse(changed(back, change))
    expect(status).toBe(400)
    expect(text).toContain('Nothing was connected')
    expect(server.granted('authorization_code')).toEqual([])
    expect((await show()).consent.state).toBe('needed')
  })

  it('with a code of another way does not fit its verifier', async () => {
    await put()
    const [one, two] = [await begin(), await begin()]
    const first = await server.consent(one.body.authorizationUrl)
    const second = await server.consent(two.body.authorizationUrl)
    const stolen = new URL(first).searchParams.get('code') as string
    expect((await browse(changed(second, (all) => all.set('code', stolen)))).status).toBe(400)
    expect((await show()).consent.state).toBe('needed')
  })

  it('is of no use once the connection was stated anew, shared under another brand, or removed', async () => {
    await put()
    const early = await server.consent((await begin()).body.authorizationUrl)
    await put({ url: `${upstream.url}?other` })
    expect((await browse(early)).status).toBe(400)
    const late = await server.consent((await begin()).body.authorizationUrl)
    await gateway.api('DELETE', '/v1/connections/notes?brand=acme')
    await put({}, 'other')
    expect((await browse(late)).status).toBe(400)
    expect((await show('other')).consent.state).toBe('needed')
    expect(server.granted('authorization_code')).toEqual([])
  })

  it('that is a no is told as one, and whatever it says is shown as text', async () => {
    await put()
    const back = await server.consent((await begin()).body.authorizationUrl)
    const no = changed(back, (all) => {
      all.delete('code')
      all.set('error', 'access_denied')
      all.set('error_description', '<script>alert(1)</script>')
    })
    const { status, text } = await browse(no)
    expect(status).toBe(400)
    expect(text).toContain('The consent was denied.')
    expect(text).not.toContain('alert')
    const told = async () =>
      (await gateway.api('GET', '/v1/audit?brand=acme&kind=connection.changed&limit=1')).body.items[0]
    await expect.poll(told).toMatchObject({ reason: 'no consent: The consent was denied.', outcome: 'failed' })
  })

  it('at any other address or by POST is no way back', async () => {
    const post = await fetch(`${gateway.url}${CALLBACK}`, { method: 'POST' })
    expect([404, 405]).toContain(post.status)
    expect((await browse(`${gateway.url}${CALLBACK}/x`)).status).toBe(404)
  })
})

describe('tokens', () => {
  it('that the server refuses are refreshed once, and the call goes on', async () => {
    await put()
    await consent()
    const token = await tokenOf()
    await echo(token)
    server.lifeS = 1
    // A consent anew, whose token ends by itself.
    await consent()
    await echo(token)
    server.lifeS = 3_600
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => echo(token, { i })))
    expect(answers.map(({ answer }) => answer.result.content[0].text)).toEqual(answers.map((_, i) => `{"i":${i}}`))
    expect(server.granted('refresh_token')).toHaveLength(1)
    expect(server.reused()).toBe(0)
  })

  it('that are taken no more make the connection need consent, said once, and its tools go with a reason', async () => {
    await put()
    server.lifeS = 1
    await consent()
    const token = await tokenOf()
    server.endConsents()
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const calls = await Promise.all(Array.from({ length: 10 }, () => echo(token)))
    for (const { answer } of calls) expect(JSON.stringify(answer)).toMatch(/upstream_unavailable|consent/)
    const { consent: now } = await show()
    expect(now).toEqual({ state: 'needed', because: expect.stringContaining('invalid_grant') })
    expect(server.granted('refresh_token')).toHaveLength(1)
    expect(await toolsOf(token)).not.toContain('notes__echo')
    const late = await echo(token)
    expect(late.answer.result.content[0].text).toContain('A person has to consent')
    const { body: audit } = await gateway.api('GET', '/v1/audit?brand=acme&kind=connection.changed&limit=50')
    expect(audit.items.filter(({ reason }: any) => reason?.startsWith('consent needed'))).toHaveLength(1)
    server.lifeS = 3_600
    await consent()
    expect(await toolsOf(token)).toContain('notes__echo')
  })

  it('go to the server they are for and to nobody else, whoever it redirects to', async () => {
    const other = await startGuarded({ issuer: server.issuer, isGood: () => true })
    await put()
    await consent()
    const token = await tokenOf()
    await echo(token)
    upstream.setIntercept((_seen, response) => {
      response.writeHead(307, { location: other.url }).end()
      return true
    })
    expect((await echo(token)).answer.result.isError).toBe(true)
    expect(other.requests).toEqual([])
    await other.close()
  })

  it('that a server says back in its errors are taken out of them', async () => {
    await put()
    await consent()
    const token = await tokenOf()
    await echo(token)
    upstream.setIntercept(({ headers }, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(`who is ${headers.authorization}?`)
      return true
    })
    const { text } = await echo(token)
    expect(text).toContain('who is')
    expect(text).not.toContain('canary')
    const { body } = await gateway.api('GET', '/v1/connectors?brand=acme')
    expect(JSON.stringify(body)).not.toContain('canary')
  })

  it('are in no row, record, answer, card, list or metric', async () => {
    await put({ headers: { 'x-tenant-key': 'canary-header' }, tools: {} })
    await consent()
    const token = await tokenOf()
    const calling = echo(token)
    const cards = async () => (await gateway.api('GET', '/v1/approvals?brand=acme&status=pending')).body.items
    for (let tries = 0; tries < 100 && (await cards()).length === 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const [card] = await cards()
    await gateway.api('POST', `/v1/approvals/${card.id}/approve`, {})
    const told = [
      (await calling).text,
      JSON.stringify(await show()),
      JSON.stringify((await gateway.api('GET', '/v1/connections')).body),
      JSON.stringify((await gateway.api('GET', '/v1/audit?brand=acme&limit=100')).body),
      JSON.stringify((await gateway.api('GET', '/v1/connectors?brand=acme')).body),
      JSON.stringify((await gateway.api('GET', `/v1/approvals/${card.id}`)).body),
      await (await fetch(`${gateway.url}/metrics`)).text(),
      await (await fetch(`${gateway.url}/v1/openapi.json`)).text(),
    ]
    expect(server.secrets.length).toBeGreaterThan(2)
    for (const text of told) expect(text).not.toContain('canary')
    expect(told[1]).toContain('"url":"http://127.0.0.1')
  })
})

describe('discovery', () => {
  /** All that the gateway asked of servers on the way, credentials counted. */
  const carried = () => [...server.asked, ...upstream.requests].filter(({ headers }) => headers.authorization).length

  it.each<[string, () => void, RegExp]>([
    ['another issuer', () => (server.metadata = { issuer: 'https://evil.example' }), /another issuer/],
    ['no PKCE', () => (server.metadata = { code_challenge_methods_supported: undefined }), /PKCE/],
    ['PKCE without S256', () => (server.metadata = { code_challenge_methods_supported: ['plain'] }), /PKCE/],
    ['another resource', () => (upstream.metadata = { resource: 'https://other.example/mcp' }), /another resource/],
    ['a resource beside it', () => (upstream.metadata = { resource: `${upstream.url}-other` }), /another resource/],
  ])('refuses metadata with %s', async (_name, twist, says) => {
    await put()
    twist()
    const { status, body } = await begin()
    expect(status).toBe(422)
    expect(body.detail).toMatch(says)
    expect(carried()).toBe(0)
  })

  it.each(['authorization_endpoint', 'token_endpoint', 'registration_endpoint'])(
    'goes to no forbidden address as %s',
    async (endpoint) => {
      await put()
      server.metadata = { [endpoint]: 'https://169.254.169.254/latest' }
      expect(await begin()).toMatchObject({ status: 422, body: { detail: expect.stringContaining('169.254.169.254') } })
    },
  )

  it('follows no redirect of metadata, and says nothing there', async () => {
    const decoy = await startAuthorizationServer()
    await put()
    server.takeover = (_asked, response) => {
      response.writeHead(302, { location: `${decoy.issuer}/.well-known/oauth-authorization-server` }).end()
      return true
    }
    expect((await begin()).status).toBe(422)
    expect(decoy.asked).toEqual([])
    await decoy.close()
  })

  it('sends no header of the connection’s to anybody but its server', async () => {
    await put({ headers: { 'x-tenant-key': 'canary-header' } })
    await consent()
    const token = await tokenOf()
    await echo(token)
    expect(JSON.stringify(server.asked)).not.toContain('canary-header')
    const probes = upstream.requests.filter(({ headers }) => headers.authorization === undefined)
    expect(probes.length).toBeGreaterThan(0)
    for (const { headers } of probes) expect(headers['x-tenant-key']).toBeUndefined()
    expect(upstream.admitted.every(({ headers }) => headers['x-tenant-key'] === 'canary-header')).toBe(true)
  })

  const HOSTS = [...LOOPBACK, ...RANGES, ...METADATA, ...NAMES].filter((host) => !isListed(host))
  const URLS = [...HOSTS.map((host) => `https://${host}/`), ...FORMS.filter((form) => form !== '')]
  it('reaches none of the forbidden addresses as an authorization server or as metadata', async () => {
    await put()
    for (const url of URLS) {
      upstream.metadata = { authorization_servers: [url] }
      const { status, body } = await begin()
      expect([url, status, body.errors?.[0]?.rule]).toEqual([url, 422, 'refused'])
    }
    expect(server.asked).toEqual([])
  })

  it('a client of an http address has no document to show', async () => {
    const answer = await fetch(`${gateway.url}/.well-known/oauth-client.json`)
    expect(answer.status).toBe(404)
  })
})

/** Other spellings of the one host that the operator listed. */
const isListed = (host: string): boolean => {
  const url = URL.parse(`https://${host}/`)
  return url?.hostname.replace(/\.$/, '') === '127.0.0.1'
}

describe('two servers', () => {
  it('never get each other’s tokens: a connection that changes its server begins anew there', async () => {
    const other = await startAuthorizationServer({ path: '/second' })
    const elsewhere = await startGuarded(other)
    await put()
    await consent()
    await put({ url: elsewhere.url })
    const { body } = await begin()
    expect(body.authorizationUrl.startsWith(`${other.issuer}/authorize`)).toBe(true)
    expect((await browse(await other.consent(body.authorizationUrl))).status).toBe(200)
    await echo(await tokenOf())
    const toOther = JSON.stringify([...other.asked, ...elsewhere.requests])
    for (const secret of server.secrets) expect(toOther).not.toContain(secret)
    await elsewhere.close()
    await other.close()
  })

  it.each<[string, object, boolean]>([
    ['before it has named one', { clientId: 'known', clientSecret: 'canary-client', issuer: 'SERVER' }, false],
    ['after it has named one', { clientId: 'known', clientSecret: 'canary-client' }, true],
  ])('a client of one is not told to another that the resource names %s', async (_name, oauth, consents) => {
    const other = await startAuthorizationServer()
    const stated = { ...oauth, ...('issuer' in oauth && { issuer: server.issuer }) }
    await put({ oauth: stated })
    if (consents) expect((await consent()).status).toBe(200)
    upstream.metadata = { authorization_servers: [other.issuer] }
    expect(await begin()).toMatchObject({ status: 422, body: { detail: expect.stringContaining('another auth') } })
    expect(other.asked.map(({ path }) => path)).toEqual(['/.well-known/oauth-authorization-server'])
    upstream.metadata = {}
    expect((await consent()).status).toBe(200)
    await other.close()
  })

  it('an answer of one that is brought to the way of the other is refused before its code is sent', async () => {
    const other = await startAuthorizationServer()
    const elsewhere = await startGuarded(other)
    await put()
    await put({ url: elsewhere.url }, 'acme', 'plans')
    const [mine, theirs] = [(await begin()).body, (await begin('acme', 'plans')).body]
    const honest = new URL(await server.consent(mine.authorizationUrl))
    const mixed = new URL(await other.consent(theirs.authorizationUrl))
    // The state of the other's way with the answer of the honest one.
    honest.searchParams.set('state', mixed.searchParams.get('state') as string)
    expect((await browse(honest.href)).status).toBe(400)
    expect(other.granted('authorization_code')).toEqual([])
    expect(server.granted('authorization_code')).toEqual([])
    await elsewhere.close()
    await other.close()
  })

  it('of two brands under one slug are two: their own tokens, sessions and consents', async () => {
    await put()
    await put({}, 'other')
    await consent('acme')
    expect((await show('other')).consent.state).toBe('needed')
    await consent('other')
    await echo(await tokenOf('acme'))
    const used = () => new Set(upstream.admitted.map(({ headers }) => headers.authorization))
    const first = used()
    await echo(await tokenOf('other'))
    expect(first.size).toBe(1)
    expect(used().size).toBe(2)
    await gateway.api('DELETE', '/v1/connections/notes?brand=acme')
    expect((await echo(await tokenOf('other'))).answer.result.content[0].text).toBe('{"hello":1}')
  })
})
