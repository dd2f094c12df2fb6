/** Bug bank, groups 1, 2 and 8 as a client meets them: handshakes, session ids, ids, Accept, slashes, odd arguments. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ERAS,
  type Era,
  type Gateway,
  HELLO,
  postBytes,
  readAnswer,
  speaker,
  startGateway,
} from '../support/gateway.ts'
import { rawExchange, rawRequest } from '../support/raw.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

const SERVED = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
const MODERN = '2026-07-28'

let upstream: Upstream
let slashed: Upstream
let gateway: Gateway
/** May call `u__echo` and the two other servers; `u__delete` is outside its ceiling. */
let token: string

beforeAll(async () => {
  upstream = await startUpstream({
    tools: [tool('echo'), tool('delete')],
    behaviours: { delete: (call) => call.text('deleted') },
  })
  slashed = await startUpstream({ path: '/mcp/', tools: [tool('echo')] })
  slashed.setIntercept((seen, response) => {
    if (seen.path !== '/mcp') return false
    response.writeHead(307, { location: '/mcp/' })
    response.end()
    return true
  })
  gateway = await startGateway({
    u: {
      type: 'http',
      url: upstream.url,
      tools: { '*': 'read' },
      headers: { 'mcp-method': 'tools/evil', 'MCP-NAME': 'evil' },
    },
    slashed: { type: 'http', url: slashed.url.slice(0, -1), tools: { '*': 'read' } },
  })
  await gateway.running.settled(5_000)
  token = await gateway.token({ role: 'person-chat', tools: ['mcp__u__echo', 'mcp__slashed__*'] })
})

afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
  await slashed?.close()
})

/** Runs the work, and sees that no call reached the upstream and that the next ordinary call works. */
async function unreached(work: () => Promise<void>): Promise<void> {
  const before = upstream.of('tools/call').length
  await work()
  expect(upstream.of('tools/call')).toHaveLength(before)
  await ordinaryCall()
}

async function ordinaryCall(): Promise<void> {
  for (const era of ERAS) {
    const speak = await speaker(gateway, era, token)
    const { status, answer } = await speak('tools/call', { name: 'u__echo', arguments: { ok: true } })
    expect({ status, text: answer.result?.content[0].text }).toEqual({ status: 200, text: '{"ok":true}' })
  }
}

/** A message with the envelope of an era, as text, and the headers that go with it. */
function messageOf(era: Era, method: string, paramsText: string, name?: string, idText = '1') {
  const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"${MODERN}","io.modelcontextprotocol/clientCapabilities":{}}`
  const members = [paramsText, ...(era === 'modern' ? [meta] : [])].filter((text) => text !== '').join(',')
  const headers: Record<string, string> =
    era === 'legacy'
      ? {}
      : { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...(name === undefined ? {} : { 'mcp-name': name }) }
  return { body: `{"jsonrpc":"2.0","id":${idText},"method":"${method}","params":{${members}}}`, headers }
}

describe('initialization', () => {
  test.each([['2099-01-01'], ['1.0'], [''], [undefined], [20251125], [null]])(
    'pgEdge/pgedge-postgres-mcp#212: initialize with protocolVersion %s gets a version that is served, or an error',
    async (protocolVersion) => {
      await unreached(async () => {
        const { status, answer } = await gateway.rpc(token, 'initialize', { ...HELLO, protocolVersion })
        expect(status).toBe(200)
        if (answer.error === undefined) expect(SERVED).toContain(answer.result.protocolVersion)
        else expect(answer.error).toEqual({ code: -32602, message: expect.stringContaining('protocolVersion') })
      })
    },
  )

  test('pgEdge/pgedge-postgres-mcp#212: each version that is served is agreed on', async () => {
    for (const protocolVersion of SERVED) {
      const { answer } = await gateway.rpc(token, 'initialize', { ...HELLO, protocolVersion })
      expect(answer.result.protocolVersion).toBe(protocolVersion)
    }
  })

  test.each([['2099-01-01'], ['1.0'], ['2025-11-25']])(
    'pgEdge/pgedge-postgres-mcp#212: a modern request of version %s is refused and told what is served',
    async (version) => {
      await unreached(async () => {
        const { status, answer } = await gateway.modern(
          token,
          'tools/list',
          {},
          {
            meta: { 'io.modelcontextprotocol/protocolVersion': version },
            headers: { 'mcp-protocol-version': version },
          },
        )
        expect(status).toBe(400)
        expect(answer.error).toMatchObject({ code: -32022, data: { requested: version } })
        expect(answer.error.data.supported).toContain(MODERN)
      })
    },
  )

  test.each([['1900-01-01'], ['not-a-version'], ['2025-11-25, 2025-06-18'], ['']])(
    'modelcontextprotocol/java-sdk#957: the version header "%s" is refused, and the session stays good',
    async (version) => {
      await unreached(async () => {
        const speak = await speaker(gateway, 'legacy', token)
        const wrong = await speak('tools/list', {}, { headers: { 'mcp-protocol-version': version } })
        expect(wrong.status).toBe(400)
        expect(wrong.answer.error).toMatchObject({ code: -32600, message: expect.stringContaining('2025-11-25') })
        const right = await speak('tools/list')
        expect(right.answer.result.tools.length).toBeGreaterThan(0)
      })
    },
  )

  test('modelcontextprotocol/java-sdk#957: a modern body under a nonsense header is a mismatch', async () => {
    await unreached(async () => {
      const params = { name: 'u__echo', arguments: {} }
      const { status, answer } = await gateway.modern(token, 'tools/call', params, {
        headers: { 'mcp-protocol-version': '1900-01-01' },
      })
      expect({ status, code: answer.error.code }).toEqual({ status: 400, code: -32020 })
    })
  })

  test.each(ERAS)(
    'IBM/mcp-context-forge#6146: fixed upstream headers never replace nor double the computed ones, %s',
    async (era) => {
      const speak = await speaker(gateway, era, token)
      await speak('tools/call', { name: 'u__echo', arguments: {} })
      const { rawHeaders } = upstream.of('tools/call').at(-1)!
      const sent = (name: string) =>
        rawHeaders.filter((_, i) => rawHeaders[i - 1]?.toLowerCase() === name && i % 2 === 1)
      expect(sent('mcp-method')).toEqual(['tools/call'])
      expect(sent('mcp-name')).toEqual(['echo'])
    },
  )

  test.each([
    ['300 Mcp-Param headers', Array.from({ length: 300 }, (_, i) => `Mcp-Param-${i}: x`)],
    ['one Mcp-Param header of 60 KB', [`Mcp-Param-A: ${'x'.repeat(60_000)}`]],
  ])('IBM/mcp-context-forge#6146: %s are refused before any body came', async (_, headers) => {
    await unreached(async () => {
      const common = [`Host: 127.0.0.1`, `Authorization: Bearer ${token}`, 'Content-Type: application/json']
      const head = rawRequest('POST /mcp HTTP/1.1', [...common, ...headers, 'Content-Length: 100'])
      const { answers } = await rawExchange(port(), [head])
      expect([400, 431]).toContain(answers[0]?.status)
    })
  })
})

describe('sessions', () => {
  test('diegosouzapw/OmniRoute#5957: initialize under a dead session id opens a fresh session', async () => {
    await unreached(async () => {
      const opened = await gateway.rpc(token, 'initialize', HELLO)
      const dead = opened.headers.get('mcp-session-id')!
      const headers = { 'mcp-session-id': dead }
      const deleted = await fetch(gateway.mcpUrl, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}`, ...headers },
      })
      expect(deleted.status).toBe(200)
      for (const id of [dead, 'made-up', 'made.up', `${dead}x`, '../../etc', 'x'.repeat(4_000)]) {
        const again = await gateway.rpc(token, 'initialize', HELLO, { headers: { 'mcp-session-id': id } })
        expect(again.answer.result.protocolVersion).toBe('2025-11-25')
        expect(again.headers.get('mcp-session-id')).not.toBe(id)
        const list = await gateway.rpc(token, 'tools/list', {}, { headers: { 'mcp-session-id': id } })
        expect({ status: list.status, error: list.answer.error }).toMatchObject({
          status: 404,
          error: { code: -32001 },
        })
        const modern = await gateway.modern(token, 'tools/list', {}, { headers: { 'mcp-session-id': id } })
        expect(modern.answer.result.tools.length).toBeGreaterThan(0)
      }
    })
  })

  test('agentgateway/agentgateway#1582: GET on the endpoint is a stream or 405, never 404', async () => {
    await unreached(async () => {
      const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
      const bare = await fetch(gateway.mcpUrl, { headers })
      expect({ status: bare.status, allow: bare.headers.get('allow') }).toEqual({ status: 405, allow: 'POST' })
      await bare.body?.cancel()
      const opened = await gateway.rpc(token, 'initialize', HELLO)
      const leave = new AbortController()
      const stream = await fetch(gateway.mcpUrl, {
        headers: { ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id')! },
        signal: leave.signal,
      })
      expect(stream.status).toBe(200)
      expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/)
      leave.abort()
    })
  })

  test.each(ERAS)(
    'agentgateway/agentgateway#1582: resources/read with two upstreams says that only tools are proxied, %s',
    async (era) => {
      await unreached(async () => {
        const speak = await speaker(gateway, era, token)
        const uri = 'test://static'
        const { answer } = await speak(
          'resources/read',
          { uri },
          era === 'modern' ? { headers: { 'mcp-name': uri } } : {},
        )
        expect(answer.error).toMatchObject({ code: -32601, message: expect.stringContaining('tools only') })
      })
    },
  )
})

describe('JSON-RPC', () => {
  const forbidden = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"u__delete","arguments":{}}}'
  const allowed = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"u__echo","arguments":{}}}'

  test.each([
    ['one forbidden call', `[${forbidden}]`],
    ['allowed and forbidden', `[${allowed},${forbidden}]`],
    ['an array in an array', `[[${forbidden}]]`],
    ['leading blanks', ` \n\t [${forbidden}]`],
    ['nothing', '[]'],
    ['a notification', '[{"jsonrpc":"2.0","method":"notifications/initialized"}]'],
  ])('permission-protocol/deploy-gate#59: a batch of %s is refused whole', async (_, body) => {
    for (const version of [...SERVED, MODERN]) {
      await unreached(async () => {
        const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'u__delete' }
        const { status, answer } = await postBytes(gateway, token, body, headers)
        expect({ status, id: answer.id, code: answer.error.code }).toEqual({ status: 400, id: null, code: -32600 })
      })
    }
  })

  test('permission-protocol/deploy-gate#59: a batch that hides a call leaves a record', async () => {
    const { body: session } = await gateway.api('POST', '/v1/sessions', {
      role: 'person-chat',
      tools: ['mcp__u__echo'],
    })
    await expect
      .poll(
        async () => {
          await postBytes(gateway, session.token, `[${forbidden}]`)
          return (await gateway.api('GET', `/v1/audit?sessionId=${session.id}`)).body.items
        },
        { interval: 250, timeout: 3_000 },
      )
      .toContainEqual(expect.objectContaining({ kind: expect.stringMatching(/refused|call\.ended/) }))
  })

  test("permission-protocol/deploy-gate#59: one caller's flood of refused messages does not hide another's", async () => {
    const flood = Array.from({ length: 100 }, () => postBytes(gateway, token, '[]'))
    const { body: session } = await gateway.api('POST', '/v1/sessions', {
      role: 'person-chat',
      tools: ['mcp__u__echo'],
    })
    await Promise.all([...flood.slice(0, 50), postBytes(gateway, session.token, `[${forbidden}]`)])
    await Promise.all(flood)
    await expect
      .poll(async () => (await gateway.api('GET', `/v1/audit?sessionId=${session.id}`)).body.items.length)
      .toBeGreaterThan(1)
    const { body } = await gateway.api('GET', '/v1/audit?kind=auth.refused&limit=200')
    expect(body.items.length).toBeLessThan(100)
  })

  const ids = [
    '"1"',
    '1',
    '0',
    '-5',
    '""',
    '"0"',
    '9007199254740993',
    JSON.stringify('x'.repeat(1000)),
    '"\\u0000\\"é"',
  ]
  test.each(ERAS)('modelcontextprotocol/python-sdk#961: ids keep type and value, %s', async (era) => {
    for (const idText of ids) {
      const listing = messageOf(era, 'tools/list', '', undefined, idText)
      const calling = messageOf(era, 'tools/call', '"name":"u__echo","arguments":{}', 'u__echo', idText)
      const failing = messageOf(era, 'tools/call', '"name":"u__delete","arguments":{}', 'u__delete', idText)
      for (const { body, headers } of [listing, calling, failing]) {
        const { text } = await postBytes(gateway, token, body, headers)
        expect(text.slice(0, 2_000)).toContain(`"id":${idText},`)
      }
    }
  })

  test.each(ERAS)('modelcontextprotocol/python-sdk#961: what is no id is refused, %s', async (era) => {
    await unreached(async () => {
      for (const idText of ['null', '1.5', 'true', '[1]', '{}', JSON.stringify('x'.repeat(1025))]) {
        const { body, headers } = messageOf(era, 'tools/call', '"name":"u__echo"', 'u__echo', idText)
        const { status, answer } = await postBytes(gateway, token, body, headers)
        expect({ status, id: answer.id, code: answer.error.code }).toEqual({ status: 400, id: null, code: -32600 })
      }
    })
  })

  test.each(ERAS)(
    'smart-mcp-proxy/mcpproxy-go#427: absent, empty and null arguments go as an object, %s',
    async (era) => {
      for (const written of ['', '"arguments":{}', '"arguments":null']) {
        const members = ['"name":"u__echo"', written].filter((text) => text !== '').join(',')
        const { body, headers } = messageOf(era, 'tools/call', members, 'u__echo')
        const { answer } = await postBytes(gateway, token, body, headers)
        expect(answer.result.isError).not.toBe(true)
        expect(upstream.ledger.at(-1)?.argumentsText).toBe('{}')
      }
    },
  )

  test.each(ERAS)('smart-mcp-proxy/mcpproxy-go#427: arguments that are no object get -32602, %s', async (era) => {
    await unreached(async () => {
      for (const written of ['[]', '[1]', '"{}"', '""', '1', '0', 'true', 'false']) {
        const { body, headers } = messageOf(era, 'tools/call', `"name":"u__echo","arguments":${written}`, 'u__echo')
        const { answer } = await postBytes(gateway, token, body, headers)
        expect(answer).toMatchObject({ id: 1, error: { code: -32602, message: expect.stringContaining('arguments') } })
      }
    })
  })

  test.each(ERAS)('smart-mcp-proxy/mcpproxy-go#427: a null inside the arguments passes as it is, %s', async (era) => {
    const written = '{"optional":null,"deep":{"n":null},"list":[null]}'
    const { body, headers } = messageOf(era, 'tools/call', `"name":"u__echo","arguments":${written}`, 'u__echo')
    await postBytes(gateway, token, body, headers)
    expect(upstream.ledger.at(-1)?.argumentsText).toBe(written)
  })
})

describe('HTTP', () => {
  test.each([
    ['*/*', 200],
    ['application/*, text/*', 200],
    ['application/json;q=0.5, text/event-stream;q=1.0', 200],
    ['text/event-stream', 200],
    ['application/json', 200],
    [undefined, 200],
    ['text/html', 406],
    ['image/*', 406],
  ])('modelcontextprotocol/python-sdk#1641: Accept %s gets %i', async (accept, status) => {
    for (const era of ERAS) {
      const { body, headers } = messageOf(era, 'tools/call', '"name":"u__echo","arguments":{}', 'u__echo')
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
      const common = ['Host: localhost', `Authorization: Bearer ${token}`, 'Content-Type: application/json', ...lines]
      const named = accept === undefined ? common : [...common, `Accept: ${accept}`]
      const { answers } = await rawExchange(port(), [rawRequest('POST /mcp HTTP/1.1', named, body)])
      expect(answers[0]?.status).toBe(status)
      if (status === 200) expect(answers[0]?.body).toContain('"content"')
      else expect(JSON.parse(answers[0]!.body).error.message).toContain('application/json')
    }
  })

  test('sigbit/mcp-auth-proxy#115: both spellings of the path are served alike, without a redirect', async () => {
    for (const path of ['/mcp', '/mcp/', '/mcp/u', '/mcp/u/']) {
      const name = path.startsWith('/mcp/u') ? 'echo' : 'u__echo'
      for (const era of ERAS) {
        const speak = await speaker(gateway, era, token, path)
        const { answer } = await speak('tools/call', { name, arguments: { path } })
        expect(answer.result.content[0].text).toBe(JSON.stringify({ path }))
      }
      const refused = await fetch(`${gateway.url}${path}`, { method: 'POST', redirect: 'manual', body: '{}' })
      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer /)
    }
  })

  test.each(ERAS)(
    "sigbit/mcp-auth-proxy#115: an upstream's redirect to its slash form is followed once, not relayed, %s",
    async (era) => {
      const speak = await speaker(gateway, era, token)
      const { status, answer } = await speak('tools/call', { name: 'slashed__echo', arguments: { era } })
      expect({ status, text: answer.result.content[0].text }).toEqual({ status: 200, text: JSON.stringify({ era }) })
      expect(slashed.ledger.filter((execution) => execution.argumentsText === JSON.stringify({ era }))).toHaveLength(1)
    },
  )

  test('sigbit/mcp-auth-proxy#115: other spellings of the path are no MCP door', async () => {
    await unreached(async () => {
      for (const path of ['/MCP', '//mcp', '/mcp//', '/mcp/u/echo', '/mcp/%75', '/mcp/u__', '/mcp/../mcp', '/%6dcp']) {
        const request = rawRequest(
          `POST ${path} HTTP/1.1`,
          ['Host: localhost', `Authorization: Bearer ${token}`, 'Content-Type: application/json'],
          '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"u__echo"}}',
        )
        const { answers } = await rawExchange(port(), [request])
        expect([path, answers[0]?.status]).toEqual([path, 404])
      }
    })
  })

  test('czlonkowski/n8n-mcp#604: without an authorization server the challenge names no metadata, and there is none', async () => {
    const refused = await fetch(gateway.mcpUrl, { method: 'POST', body: '{}' })
    expect(refused.headers.get('www-authenticate')).toBe(
      'Bearer realm="tollgate", error_description="Send the session token in the header Authorization: Bearer TOKEN."',
    )
    for (const path of ['', '/mcp']) {
      const response = await fetch(`${gateway.url}/.well-known/oauth-protected-resource${path}`)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ status: 404, code: 'not_found' })
    }
  })

  test('a stranger is told JSON-RPC errors as JSON, and every answer says not to sniff or store it', async () => {
    const response = await fetch(gateway.mcpUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: 'nonsense',
    })
    const { answer } = await readAnswer(response.clone())
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } })
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })
})

const port = (): number => Number(new URL(gateway.url).port)
