/** Every method this gateway knows, in each era and for each kind of session, has a written answer (reliability A7). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { METHODS } from '../../src/http/mcp/protocol.ts'
import {
  ERAS,
  type Era,
  type Gateway,
  HELLO,
  headerText,
  type RpcAnswer,
  type RpcOptions,
  speaker,
  startGateway,
} from '../support/gateway.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

/**
 * `serves`: a result. `refuses`: -32601, that only tools are proxied. `opens`: a stream. `extends`: -32021 where the request
 * does not declare the extension it belongs to, and -32602 for something that never was where it does.
 */
type Expectation = 'serves' | 'refuses' | 'opens' | 'extends'

const EXPECTED: Readonly<Record<string, Readonly<Record<Era, Expectation>>>> = {
  initialize: { legacy: 'serves', modern: 'refuses' },
  ping: { legacy: 'serves', modern: 'refuses' },
  'server/discover': { legacy: 'refuses', modern: 'serves' },
  'tools/list': { legacy: 'serves', modern: 'serves' },
  'tools/call': { legacy: 'serves', modern: 'serves' },
  'subscriptions/listen': { legacy: 'refuses', modern: 'opens' },
  'logging/setLevel': { legacy: 'refuses', modern: 'refuses' },
  'completion/complete': { legacy: 'refuses', modern: 'refuses' },
  'prompts/list': { legacy: 'refuses', modern: 'refuses' },
  'prompts/get': { legacy: 'refuses', modern: 'refuses' },
  'resources/list': { legacy: 'refuses', modern: 'refuses' },
  'resources/templates/list': { legacy: 'refuses', modern: 'refuses' },
  'resources/read': { legacy: 'refuses', modern: 'refuses' },
  'resources/subscribe': { legacy: 'refuses', modern: 'refuses' },
  'resources/unsubscribe': { legacy: 'refuses', modern: 'refuses' },
  'tasks/get': { legacy: 'refuses', modern: 'extends' },
  'tasks/result': { legacy: 'refuses', modern: 'refuses' },
  'tasks/list': { legacy: 'refuses', modern: 'refuses' },
  'tasks/cancel': { legacy: 'refuses', modern: 'extends' },
  'tasks/update': { legacy: 'refuses', modern: 'extends' },
  'sampling/createMessage': { legacy: 'refuses', modern: 'refuses' },
  'elicitation/create': { legacy: 'refuses', modern: 'refuses' },
  'roots/list': { legacy: 'refuses', modern: 'refuses' },
}

const TASKS = { 'io.modelcontextprotocol/tasks': {} }

/** Sessions of each kind, and the tools each lists. */
const ROLES: ReadonlyArray<readonly [role: string, request: Record<string, unknown>, holds: readonly string[]]> = [
  ['person-chat', {}, ['harness__permission_prompt', 'u__echo', 'u__write_file']],
  ['specialist', { grant: { connectors: ['u'] } }, ['u__echo']],
  ['coworker', { tools: ['Read'] }, []],
  ['goal-agent', {}, []],
  ['goal-reviewer', {}, []],
  ['inbound-email', {}, []],
  ['person-chat', { route: 'read-only' }, ['harness__permission_prompt']],
]

let upstream: Upstream
let gateway: Gateway
const tokens: string[] = []

beforeAll(async () => {
  upstream = await startUpstream({
    tools: [tool('echo'), tool('write_file')],
    behaviours: { write_file: (call) => call.text('written') },
  })
  const tools = { echo: { access: 'read', grantable: true }, write_file: 'write' }
  gateway = await startGateway({ u: { type: 'http', url: upstream.url, tools } })
  await gateway.running.settled(5_000)
  for (const [role, request] of ROLES) tokens.push(await gateway.token({ role, ...request }))
})

afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
})

/** Params that the method would take if it were served. */
const PARAMS: Readonly<Record<string, Record<string, unknown>>> = {
  initialize: HELLO,
  'tools/call': { name: 'u__echo', arguments: {} },
  'prompts/get': { name: 'any' },
  'resources/read': { uri: 'test://any' },
  'resources/subscribe': { uri: 'test://any' },
  'subscriptions/listen': { notifications: { toolsListChanged: true } },
  'logging/setLevel': { level: 'debug' },
  'completion/complete': { ref: { type: 'ref/prompt', name: 'any' }, argument: { name: 'a', value: 'b' } },
  'tasks/get': { taskId: 't' },
  'tasks/result': { taskId: 't' },
  'tasks/cancel': { taskId: 't' },
  'tasks/update': { taskId: 't' },
  'elicitation/create': { message: 'Password?', requestedSchema: { type: 'object', properties: {} } },
}

/** Asks, with what Mcp-Name has to mirror. */
async function ask(era: Era, token: string, method: string, options: RpcOptions = {}): Promise<RpcAnswer> {
  const params = PARAMS[method] ?? {}
  const mirrored = params.uri ?? params.taskId ?? params.name
  // A modern-only method makes a request modern, whatever else it says; without its headers it is a mismatch.
  const speak = await speaker(gateway, era, token)
  const headers: Record<string, string> = {}
  if (era === 'modern' && typeof mirrored === 'string') headers['mcp-name'] = headerText(mirrored)
  return speak(method, params, { ...options, headers })
}

describe('A7: each method', () => {
  test('has a row here, and each row a method', () => {
    expect(Object.keys(EXPECTED).sort()).toEqual(Object.keys(METHODS).sort())
  })

  const rows = Object.entries(EXPECTED).flatMap(([method, row]) => ERAS.map((era) => [method, era, row[era]] as const))
  test.each(rows)('%s in the %s era %s, for every role', async (method, era, expected) => {
    const before = upstream.requests.length
    for (const [i, token] of tokens.entries()) {
      const [role, , holds] = ROLES[i]!
      if (expected === 'opens') {
        const opened = await fetchStream(token)
        expect([role, opened]).toEqual([role, { status: 200, first: expect.stringContaining('acknowledged') }])
        continue
      }
      if (expected === 'extends') {
        const declared = await ask(era, token, method, { capabilities: { extensions: TASKS } })
        expect([role, declared.status, declared.answer.error.code]).toEqual([role, 200, -32602])
        const undeclared = await ask(era, token, method)
        expect([role, undeclared.status, undeclared.answer.error.code]).toEqual([role, 400, -32021])
        continue
      }
      const { status, answer } = await ask(era, token, method)
      const at = `${role}: ${JSON.stringify(answer)}`
      if (expected === 'refuses') {
        const isModernOnly = era === 'legacy' && (method === 'server/discover' || method === 'subscriptions/listen')
        expect([400, era === 'modern' ? 404 : 200], at).toContain(status)
        // These two belong to the modern era; without its envelope they are told what is missing.
        expect(answer.error.code, at).toBe(isModernOnly ? -32602 : -32601)
      } else if (method === 'tools/call' && !holds.includes('u__echo')) {
        expect({ status, code: answer.error?.code }, at).toEqual({ status: 200, code: -32602 })
      } else {
        expect({ status, error: answer.error }, at).toEqual({ status: 200, error: undefined })
        if (method === 'tools/list')
          expect(
            answer.result.tools.map(({ name }: { name: string }) => name),
            at,
          ).toEqual(holds)
      }
    }
    const made = upstream.requests.slice(before).map(({ rpc }) => rpc)
    expect(made.filter((rpc) => rpc !== 'tools/call')).toEqual([])
    expect(made).toHaveLength(method === 'tools/call' && expected === 'serves' ? 2 : 0)
  })

  test.each(ERAS)('nobody knows gets -32601 and is never forwarded, %s', async (era) => {
    const before = upstream.requests.length
    const strange = [
      '',
      'tools',
      'tools/',
      'tools/call/',
      '/tools/call',
      'Tools/Call',
      'TOOLS/CALL',
      'tools/calls',
      'tools.call',
      'tools\\call',
      'rpc.discover',
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'notifications/tools/call',
      'x'.repeat(5_000),
    ]
    for (const token of tokens.slice(0, 2)) {
      const speak = await speaker(gateway, era, token)
      for (const method of strange) {
        const { status, answer } = await speak(method, PARAMS['tools/call'])
        expect({ method, status, code: answer.error?.code }).toEqual({
          method,
          status: era === 'modern' ? 404 : 200,
          code: -32601,
        })
        expect(answer.error.message.length).toBeLessThan(200)
      }
    }
    expect(upstream.requests).toHaveLength(before)
    const { answer } = await ask(era, tokens[0]!, 'tools/call')
    expect(answer.result.content[0].text).toBe('{}')
  })

  test('of trailing blanks or lookalikes is another method', async () => {
    const before = upstream.requests.length
    for (const method of ['tools/call ', ' tools/call', 'tools/саll', 'tools/call\u0000', 'tools/ｃａｌｌ']) {
      const { answer } = await gateway.rpc(tokens[0]!, method, PARAMS['tools/call'])
      expect(answer.error.code).toBe(-32601)
      const modern = await gateway.modern(tokens[0]!, method, PARAMS['tools/call'], {
        headers: { 'mcp-method': headerText(method) },
      })
      expect([-32601, -32020]).toContain(modern.answer.error.code)
    }
    expect(upstream.requests).toHaveLength(before)
  })

  test.each(ERAS)('sent as a notification is taken and does nothing, %s', async (era) => {
    const before = upstream.requests.length
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    for (const method of [
      ...Object.keys(METHODS),
      'notifications/initialized',
      'notifications/roots/list_changed',
      'notifications/nonsense',
    ]) {
      const params = era === 'modern' ? { ...PARAMS[method], _meta: meta } : PARAMS[method]
      const response = await fetch(gateway.mcpUrl, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tokens[0]}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(era === 'modern' ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method } : {}),
        },
        body: JSON.stringify({ jsonrpc: '2.0', method, params }),
      })
      expect([method, response.status, await response.text()]).toEqual([method, 202, ''])
    }
    expect(upstream.requests).toHaveLength(before)
  })

  test('of an answer nobody asked for is taken and does nothing', async () => {
    const before = upstream.requests.length
    for (const id of [1, 'tollgate-1-abc', '__proto__', 0]) {
      for (const rest of [{ result: { action: 'accept', content: {} } }, { error: { code: 1, message: 'no' } }]) {
        const response = await fetch(gateway.mcpUrl, {
          method: 'POST',
          headers: { authorization: `Bearer ${tokens[0]}`, 'content-type': 'application/json', accept: '*/*' },
          body: JSON.stringify({ jsonrpc: '2.0', id, ...rest }),
        })
        expect([id, response.status, await response.text()]).toEqual([id, 202, ''])
      }
    }
    expect(upstream.requests).toHaveLength(before)
  })

  test.each(ERAS)('that is not served is not advertised either, %s', async (era) => {
    const method = era === 'legacy' ? 'initialize' : 'server/discover'
    for (const token of tokens) {
      const { capabilities } = (await ask(era, token, method)).answer.result
      expect(capabilities).toEqual({
        tools: { listChanged: true },
        ...(era === 'modern' && { extensions: TASKS }),
      })
    }
  })

  test.each(['PUT', 'PATCH', 'HEAD', 'DELETE', 'GET'])('by HTTP %s without a session runs nothing', async (verb) => {
    const before = upstream.requests.length
    const response = await fetch(gateway.mcpUrl, { method: verb, headers: { authorization: `Bearer ${tokens[0]}` } })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toContain('POST')
    await response.arrayBuffer()
    expect(upstream.requests).toHaveLength(before)
  })
})

/** Opens a modern stream of notices, reads its first event, and leaves. */
async function fetchStream(token: string): Promise<{ status: number; first: string }> {
  const leave = new AbortController()
  const response = await fetch(gateway.mcpUrl, {
    method: 'POST',
    signal: leave.signal,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 's',
      method: 'subscriptions/listen',
      params: {
        ...PARAMS['subscriptions/listen'],
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  })
  let first = ''
  for await (const bytes of response.body!) {
    first += Buffer.from(bytes).toString()
    if (first.includes('data: ')) break
  }
  leave.abort()
  return { status: response.status, first }
}
