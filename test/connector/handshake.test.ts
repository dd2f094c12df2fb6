import { describe, expect, test } from 'vitest'
import { call, connector, entryOf, ready, textOf, until, upstream } from '../support/connectors.ts'
import type { Seen } from '../support/upstream.ts'

const count = (seen: Seen, header: string): number =>
  seen.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === header).length

test('a modern upstream gets its headers and _meta with every request, and never a session', async () => {
  const up = await upstream({ era: 'modern' })
  const { connector: made } = await ready(up)
  await call(made, 'echo')
  expect(up.of('initialize')).toEqual([])
  for (const seen of up.requests) {
    expect(seen.headers).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': seen.rpc })
    expect(seen.headers['mcp-session-id']).toBeUndefined()
    expect(JSON.parse(seen.body).params._meta).toMatchObject({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'tollgate', version: '0.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    })
  }
  expect(up.of('tools/call')[0]?.headers['mcp-name']).toBe('echo')
})

test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
  'an upstream that agrees on %s hears that version ever after, and no other',
  async (version) => {
    const up = await upstream({ era: 'legacy', version, sessions: true })
    const { connector: made } = await ready(up)
    expect(textOf(await call(made, 'echo', { a: 1 }))).toBe('{"a":1}')
    const initialize = up.requests.findIndex((seen) => seen.rpc === 'initialize')
    const later = up.requests.slice(initialize + 1).filter((seen) => seen.rpc !== 'initialize')
    expect(later.length).toBeGreaterThan(3)
    for (const seen of later) expect(seen.headers['mcp-protocol-version']).toBe(version)
    expect(up.of('notifications/initialized')).toHaveLength(2)
    expect(JSON.parse(up.of('initialize')[0]?.body ?? '').params).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: { form: {}, url: {} } },
      clientInfo: { name: 'tollgate', version: '0.0.0' },
    })
  },
)

test.each([
  ['an invented revision', '{"protocolVersion":"2099-01-01","capabilities":{}}', '2099-01-01'],
  ['the modern revision in the legacy handshake', '{"protocolVersion":"2026-07-28","capabilities":{}}', '2026-07-28'],
  ['an empty result', '{}', 'protocolVersion'],
  ['a list', '[]', 'protocolVersion'],
])('an upstream that answers initialize with %s is faulty, and named', async (_name, result, said) => {
  const up = await upstream({ era: 'legacy' })
  up.setIntercept((seen, response) => {
    if (seen.rpc !== 'initialize') return false
    response.setHeader('content-type', 'application/json')
    response.end(`{"jsonrpc":"2.0","id":${JSON.parse(seen.body).id},"result":${result}}`)
    return true
  })
  const { connector: made, heard } = connector(entryOf(up.url, { name: 'odd-one' }))
  await until(() => made.state().state === 'failed')
  expect(made.state().detail).toContain(said)
  expect(made.tools()).toEqual([])
  expect(made.withheld()).toMatchObject([{ tool: 'mcp__odd-one__*', reason: expect.stringContaining('odd-one') }])
  expect(heard.lines.join()).toContain('odd-one')
})

test.each([401, 403, 429, 500, 503])('HTTP %i to the first request is no evidence of an era', async (status) => {
  const up = await upstream()
  up.setIntercept((_seen, response) => {
    response.writeHead(status)
    response.end('no')
    return true
  })
  const { connector: made } = connector(entryOf(up.url))
  await until(() => made.state().state === 'failed')
  expect(up.of('initialize')).toEqual([])
  expect(made.state().detail).toContain(String(status))
})

test.each([
  [404, 'text/plain', 'nothing here'],
  [405, 'text/plain', ''],
  [400, 'application/json', '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Bad Request: no session"}}'],
  [200, 'application/json', '{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"Method not found"}}'],
  [200, 'text/html', '<html></html>'],
  [
    400,
    'application/json',
    '{"jsonrpc":"2.0","id":ID,"error":{"code":-32022,"message":"version","data":{"supported":["2025-11-25"]}}}',
  ],
])('HTTP %i %s to server/discover leads to initialize', async (status, type, body) => {
  const up = await upstream({ era: 'legacy' })
  up.setIntercept((seen, response) => {
    if (seen.rpc !== 'server/discover') return false
    response.writeHead(status, { 'content-type': type })
    response.end(body.replace('ID', String(JSON.parse(seen.body).id)))
    return true
  })
  const { connector: made } = await ready(up)
  expect(made.state().detail).toContain('2025-11-25')
})

test('an upstream that speaks only revisions unknown here says so', async () => {
  const up = await upstream({ era: 'modern' })
  up.setIntercept((seen, response) => {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(
      `{"jsonrpc":"2.0","id":${JSON.parse(seen.body).id},"error":{"code":-32022,"message":"v","data":{"supported":["2031-01-01"]}}}`,
    )
    return true
  })
  const { connector: made } = connector(entryOf(up.url))
  await until(() => made.state().state === 'failed')
  expect(made.state().detail).toContain('none of the MCP revisions')
})

describe.each(['legacy', 'modern'] as const)('configured headers towards a %s upstream', (era) => {
  test('go with every request, but never replace or double what this gateway computes', async () => {
    const up = await upstream({ era, sessions: era === 'legacy' })
    const { connector: made } = await ready(up, {
      headers: {
        Authorization: 'Bearer upstream-key',
        'X-Team': 'a',
        'mcp-method': 'evil',
        'MCP-NAME': 'evil',
        'Mcp-Protocol-Version': '1900-01-01',
        'MCP-Session-Id': 'evil',
        Host: 'evil.example',
        'Content-Length': '1',
        'content-type': 'text/plain',
        Accept: 'text/plain',
        Connection: 'close',
      },
    })
    expect(textOf(await call(made, 'echo', {}))).toBe('{}')
    for (const seen of up.requests) {
      expect(seen.headers).toMatchObject({
        authorization: 'Bearer upstream-key',
        'x-team': 'a',
        host: `127.0.0.1:${up.port}`,
      })
      expect(JSON.stringify(seen.headers)).not.toContain('evil')
      expect(seen.headers.accept).toBe(
        seen.method === 'POST' ? 'application/json, text/event-stream' : 'text/event-stream',
      )
      for (const header of [
        'mcp-method',
        'mcp-name',
        'mcp-protocol-version',
        'mcp-session-id',
        'accept',
        'content-type',
        'host',
      ]) {
        expect(count(seen, header)).toBeLessThanOrEqual(1)
      }
    }
  })

  test('are all that goes: nothing of the caller does', async () => {
    const up = await upstream({ era })
    const { connector: made } = await ready(up)
    await call(
      made,
      'echo',
      { a: 1 },
      { caller: 'c4n4ry', metaText: '"a.example/x":"kept"', extraText: '"extra":[1.0]' },
    )
    const sent = up.of('tools/call')[0]
    expect(JSON.stringify(sent)).not.toContain('c4n4ry')
    expect(sent?.body).toContain('"extra":[1.0]')
    expect(JSON.parse(sent?.body ?? '').params._meta).toMatchObject({ 'a.example/x': 'kept' })
    expect(JSON.parse(sent?.body ?? '').params._meta).not.toHaveProperty('progressToken')
  })
})

test('arguments that are absent go as an empty object, never as null, and others as they are', async () => {
  const up = await upstream()
  const { connector: made } = await ready(up)
  await call(made, 'echo', undefined)
  await call(made, 'echo', { inner: null })
  expect(up.ledger.map((run) => run.argumentsText)).toEqual(['{}', '{"inner":null}'])
})

test('an upstream that agrees on one version and refuses every other is used, and its 400 text reaches the caller', async () => {
  const up = await upstream({ era: 'legacy', version: '2025-06-18' })
  up.setIntercept((seen, response) => {
    const version = seen.headers['mcp-protocol-version']
    if (
      seen.rpc === 'initialize' ||
      seen.rpc === 'server/discover' ||
      (version === '2025-06-18' && seen.rpc !== 'tools/call')
    )
      return false
    response.writeHead(400)
    response.end('Unsupported protocol version, sorry')
    return true
  })
  const { connector: made } = await ready(up)
  expect(await call(made, 'echo')).toMatchObject({
    kind: 'failed',
    ran: 'no',
    reason: expect.stringContaining('Unsupported protocol version, sorry'),
  })
})

test('an upstream that refuses the modern revision and offers it at once is asked once more', async () => {
  const up = await upstream({ era: 'modern' })
  let refused = 0
  up.setIntercept((seen, response) => {
    if (refused++ > 0) return false
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(
      `{"jsonrpc":"2.0","id":${JSON.parse(seen.body).id},"error":{"code":-32022,"message":"v","data":{"supported":["2026-07-28"]}}}`,
    )
    return true
  })
  await ready(up)
  expect(up.of('server/discover')).toHaveLength(2)
})

test('an upstream that never takes notifications/initialized is given up after the limit', async () => {
  const up = await upstream({ era: 'legacy' })
  up.setIntercept((seen) => seen.rpc === 'notifications/initialized')
  const { connector: made } = connector(entryOf(up.url, { connectTimeoutMs: 200 }))
  await until(() => made.state().state === 'failed')
  expect(made.state().detail).toContain('notifications/initialized')
})

test('a configured header that no header can be is named, its value is not', async () => {
  const up = await upstream()
  const { connector: made } = connector(entryOf(up.url, { headers: { 'X-Key': 'c4n4ry\r\nX-Evil: 1' } }))
  await until(() => made.state().state === 'failed')
  expect(made.state().detail).toContain('X-Key')
  expect(JSON.stringify(made.withheld())).not.toContain('c4n4ry')
  expect(up.requests).toEqual([])
})
