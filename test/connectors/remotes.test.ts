/** A brand's own MCP servers: stated over REST, joined to its view, connected when needed, and nobody else's. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { FORMS, LOOPBACK, METADATA, NAMES, RANGES } from '../support/forbidden-urls.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

const KEY = 'canary-of-the-header-0001'
let gateway: Gateway
let upstream: Upstream
let operators: Upstream
const more: Upstream[] = []

beforeAll(async () => {
  operators = await startUpstream()
  gateway = await startGateway(
    { files: { type: 'http', url: operators.url, tools: { echo: 'read' } } },
    { TOLLGATE_OWNER_BRAND: 'owner' },
    { connections: { hosts: ['127.0.0.1'] } },
  )
})
afterAll(async () => {
  await gateway.close()
  await operators.close()
})
beforeEach(async () => {
  upstream = await startUpstream()
})
afterEach(async () => {
  for (const { brand, slug } of (await gateway.api('GET', '/v1/connections')).body.items)
    await gateway.api('DELETE', `/v1/connections/${slug}?brand=${brand}`)
  for (const one of more.splice(0)) await one.close()
  await upstream.close()
})

const put = (mcp: object = {}, brand = 'acme', slug = 'notes', extra: object = {}) =>
  gateway.api('PUT', `/v1/connections/${slug}?brand=${brand}`, {
    mcp: { url: upstream.url, headers: { 'X-Api-Key': KEY }, tools: { echo: 'read', increment: 'read' }, ...mcp },
    ...extra,
  })
const tokenOf = (brand = 'acme') => gateway.token({ brand, role: 'person-chat', approval: { channel: 'inbox' } })
const toolsOf = async (token: string, path = '/mcp'): Promise<string[]> =>
  (await gateway.modern(token, 'tools/list', {}, { path })).answer.result.tools.map(({ name }: any) => name)
const call = (token: string, name = 'notes__echo', args: object = { hello: 1 }) =>
  gateway.modern(token, 'tools/call', { name, arguments: args })
const textOf = ({ answer }: Awaited<ReturnType<typeof call>>) => answer.result?.content?.[0]?.text
const until = async (isSo: () => Promise<boolean> | boolean) => {
  for (let tries = 0; tries < 200; tries++) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`It did not become so: ${isSo}`)
}

describe('a brand’s own server', () => {
  it('is the brand’s at once, under its slug, with what its tools may do as stated', async () => {
    const before = await tokenOf()
    expect((await put()).status).toBe(201)
    const token = await tokenOf()
    expect(await toolsOf(token)).toEqual(expect.arrayContaining(['notes__echo', 'notes__get']))
    expect(await toolsOf(token, '/mcp/notes')).toContain('echo')
    expect(textOf(await call(token))).toBe('{"hello":1}')
    const { body } = await gateway.api('GET', '/v1/connectors?brand=acme')
    const row = body.items.find(({ slug }: any) => slug === 'notes')
    expect(row).toMatchObject({ state: 'ready' })
    const access = Object.fromEntries(row.tools.map(({ name, access }: any) => [name, access]))
    expect(access).toMatchObject({ mcp__notes__echo: 'read', mcp__notes__get: 'write' })
    // Of a session that was issued before, the ceiling names what there was then.
    expect(await toolsOf(before)).not.toContain('notes__echo')
    expect(upstream.requests.every(({ headers }) => headers['x-api-key'] === KEY)).toBe(true)
    expect(upstream.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false)
  })

  it('is shown without its headers’ values and without what may be secret in its address', async () => {
    const { body } = await put({ url: `http://127.0.0.1:${upstream.port}/s/canary-in-the-path/mcp?key=canary` })
    expect(body.mcp).toMatchObject({
      url: `http://127.0.0.1:${upstream.port}/s/can…/mcp?…`,
      headers: ['X-Api-Key'],
      oauth: null,
      tools: { echo: { access: 'read' } },
    })
    const told = [body, (await gateway.api('GET', '/v1/connections')).body]
    for (const one of [...told, (await gateway.api('GET', '/v1/audit?brand=acme')).body])
      expect(JSON.stringify(one)).not.toMatch(/canary-|canary"/)
  })

  it('is withheld with the reason while it is away, and back when it is back', async () => {
    await put()
    const token = await tokenOf()
    expect(await toolsOf(token)).toContain('notes__echo')
    await upstream.stop()
    const gone = await call(token)
    expect(textOf(gone)).toMatch(/upstream_unavailable|outcome_unknown/)
    await until(async () => !(await toolsOf(token)).includes('notes__echo'))
    const { answer } = await gateway.modern(token, 'tools/list')
    expect(JSON.stringify(answer)).toContain('mcp__notes__*')
    expect(JSON.stringify(answer)).not.toContain('canary')
    await upstream.start()
    await until(async () => (await toolsOf(token)).includes('notes__echo'))
  })

  it('is gone at once when it is removed, from sessions that are there too', async () => {
    await put()
    const token = await tokenOf()
    expect(await toolsOf(token)).toContain('notes__echo')
    await gateway.api('DELETE', '/v1/connections/notes?brand=acme')
    expect(await toolsOf(token)).not.toContain('notes__echo')
    const asked = upstream.ledger.length
    expect((await call(token)).answer.error).toMatchObject({ code: -32602 })
    expect(upstream.ledger).toHaveLength(asked)
  })

  it('that has another address is another: what was approved of it before does not hold', async () => {
    await put()
    const token = await tokenOf()
    const waiting = call(token, 'notes__get', {})
    let card: any
    await until(async () => {
      ;[card] = (await gateway.api('GET', '/v1/approvals?status=pending&brand=acme')).body.items
      return card !== undefined
    })
    const other = await startUpstream()
    more.push(other)
    await put({ url: other.url })
    await gateway.api('POST', `/v1/approvals/${card.id}/approve`, {})
    expect(textOf(await waiting)).toMatch(/definition_changed|not there/)
    expect([...upstream.ledger, ...other.ledger]).toEqual([])
  })

  it('is checked by connecting it, and what it said is kept', async () => {
    await put()
    const check = () => gateway.api('POST', '/v1/connections/notes/check?brand=acme')
    expect((await check()).body).toEqual({ ok: true, said: expect.stringMatching(/tools, MCP/) })
    await put({ url: upstream.url.replace('/mcp', '/nothing') })
    expect((await check()).body).toEqual({ ok: false, said: expect.stringContaining('404') })
    expect((await gateway.api('GET', '/v1/connections/notes?brand=acme')).body.status).toBe('failing')
  })

  it('can be shared by the account owner, and each brand has a session of its own there', async () => {
    const legacy = await startUpstream({ era: 'legacy', sessions: true, tellsChanges: false })
    more.push(legacy)
    await put({ url: legacy.url }, 'owner')
    await gateway.api('POST', '/v1/connections/notes/share?brand=owner', { brands: ['acme'] })
    const [mine, theirs] = [await tokenOf('owner'), await tokenOf('acme')]
    expect(textOf(await call(mine, 'notes__increment', {}))).toBe('1')
    expect(textOf(await call(theirs, 'notes__increment', {}))).toBe('1')
    expect(textOf(await call(mine, 'notes__increment', {}))).toBe('2')
    const used = legacy.ledger.map(({ session }) => session)
    expect(new Set(used).size).toBe(2)
  })
})

describe('a statement that is refused', () => {
  it.each<[string, object, RegExp]>([
    ['a command', { command: 'npx', args: ['-y', 'x'] }, /command.*operator's file and from nowhere else/],
    ['an environment', { env: { A: 'b' } }, /operator's file and from nowhere else/],
    ['the type of a command', { type: 'stdio' }, /over http/],
    ['a header of the protocol', { headers: { 'Mcp-Session-Id': 'x' } }, /written by the gateway itself/],
    ['a header of the connection', { headers: { Host: 'x' } }, /written by the gateway itself/],
    ['a header with a line break', { headers: { 'X-A': `canary\r\nX-B: 1` } }, /no header can carry/],
    ['a header beside a consent', { oauth: true, headers: { authorization: 'Bearer canary' } }, /take the header out/],
    ['a secret of no client', { oauth: { clientSecret: 'canary' } }, /state both/],
    ['a grantable write', { tools: { x: { access: 'write', grantable: true } } }, /never grantable/],
    ['no address', { url: undefined }, /url/],
  ])('for %s says why, and repeats nothing', async (_name, mcp, says) => {
    const { status, body } = await put(mcp)
    expect(status).toBe(422)
    expect(body.detail).toMatch(says)
    expect(JSON.stringify(body)).not.toContain('canary')
  })

  it.each(['files', 'github', 'project', 'a__b', 'x'.repeat(60)])('under the slug %s', async (slug) => {
    expect((await put({}, 'acme', slug)).status).toBe(422)
  })

  it('for fields beside it, for neither, or for a version that does not stand', async () => {
    expect((await put({}, 'acme', 'notes', { fields: { a: 'b' } })).status).toBe(422)
    expect((await gateway.api('PUT', '/v1/connections/notes?brand=acme', {})).status).toBe(422)
    const { body } = await put()
    expect((await put({}, 'acme', 'notes', { version: body.version })).status).toBe(200)
    expect((await put({}, 'acme', 'notes', { version: body.version })).status).toBe(409)
  })

  it('for any forbidden address, before anything is connected', async () => {
    const before = operators.requests.length
    const hosts = [...LOOPBACK, ...RANGES, ...METADATA, ...NAMES].map((host) => `https://${host}/mcp`)
    const isListed = (url: string) => URL.parse(url)?.hostname.replace(/\.$/, '') === '127.0.0.1'
    for (const url of [...hosts, ...FORMS].filter((one) => !isListed(one))) {
      const { status, body } = await put({ url })
      expect([url, status]).toEqual([url, 422])
      expect(body.errors[0].rule).toBe('address')
    }
    expect(operators.requests.length - before).toBeLessThan(2)
    expect((await gateway.api('GET', '/v1/connections')).body.items).toEqual([])
  })
})

describe('two brands', () => {
  it('use one slug for two servers, each with its own headers, tools and calls', async () => {
    const other = await startUpstream({ tools: [tool('echo'), tool('other_only')] })
    more.push(other)
    await put()
    await put({ url: other.url, headers: { 'X-Api-Key': 'another' }, tools: { '*': 'read' } }, 'other')
    const [mine, theirs] = [await tokenOf('acme'), await tokenOf('other')]
    expect(textOf(await call(mine, 'notes__echo', { of: 'acme' }))).toBe('{"of":"acme"}')
    expect(textOf(await call(theirs, 'notes__echo', { of: 'other' }))).toBe('{"of":"other"}')
    expect(upstream.ledger.map(({ argumentsText }) => argumentsText)).toEqual(['{"of":"acme"}'])
    expect(other.ledger.map(({ argumentsText }) => argumentsText)).toEqual(['{"of":"other"}'])
    expect(JSON.stringify(other.requests)).not.toContain(KEY)
    expect(await toolsOf(mine)).not.toContain('notes__other_only')
    expect(await toolsOf(theirs)).not.toContain('notes__get')
  })

  it('see nothing of each other: another brand’s tool is as unknown as one that never was', async () => {
    await put()
    const theirs = await tokenOf('other')
    const plain = ({ text }: { text: string }) => text.replaceAll('nothing', 'notes')
    for (const path of ['/mcp', '/mcp/notes'] as const) {
      const name = path === '/mcp' ? 'notes__echo' : 'echo'
      const asked = await gateway.modern(theirs, 'tools/call', { name, arguments: {} }, { path })
      const never = await gateway.modern(
        theirs,
        'tools/call',
        { name: name.replace('notes', 'nothing'), arguments: {} },
        { path: path.replace('notes', 'nothing') },
      )
      expect([asked.status, plain(asked)]).toEqual([never.status, plain(never)])
    }
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/check'],
      ['POST', '/connect'],
    ] as const) {
      const asked = await gateway.api(method, `/v1/connections/notes${path}?brand=other`)
      expect([method, path, asked.status]).toEqual([method, path, 404])
    }
    expect(upstream.ledger).toEqual([])
    expect((await gateway.api('GET', '/v1/connectors?brand=other')).body.items.map(({ slug }: any) => slug)).toEqual(
      expect.not.arrayContaining(['notes']),
    )
  })
})
