/**
 * A whole gateway for a test: real HTTP on a free port, a real database, and the front doors to knock at.
 * @module
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:net'
import { type Running, serve } from '../../src/main.ts'
import { prepareDatabase } from './database.ts'

export const ADMIN_KEY = 'test-admin-key-that-is-long-enough'

export interface Gateway {
  readonly url: string
  readonly mcpUrl: string
  readonly running: Running
  /** REST as the operator. */
  api(method: string, path: string, body?: unknown): Promise<{ status: number; body: any; headers: Headers }>
  /** Issues a session and returns its token. */
  token(request: Record<string, unknown>): Promise<string>
  /** One raw JSON-RPC request in the legacy era, without an MCP session. */
  rpc(token: string, method: string, params?: unknown, options?: RpcOptions): Promise<RpcAnswer>
  /** One JSON-RPC request in the modern era. */
  modern(token: string, method: string, params?: Record<string, unknown>, options?: RpcOptions): Promise<RpcAnswer>
  close(): Promise<void>
}

export interface RpcOptions {
  readonly path?: string
  readonly id?: unknown
  readonly headers?: Record<string, string>
  readonly capabilities?: Record<string, unknown>
  readonly meta?: Record<string, unknown>
  readonly signal?: AbortSignal
}

export interface RpcAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Every JSON-RPC message that came, in order. */
  readonly messages: any[]
  /** The last one, which is the answer. */
  readonly answer: any
}

/** Starts a gateway over these `mcpServers`; `env` adds to or overrides the environment. */
export async function startGateway(
  mcpServers: Record<string, unknown> = {},
  env: Record<string, string> = {},
  more: Record<string, unknown> = {},
): Promise<Gateway> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  const configFile = join(folder, 'config.json')
  await writeFile(configFile, JSON.stringify({ mcpServers, ...more }))
  const port = await freePort()
  const data = join(folder, 'data')
  const database = await prepareDatabase(env.TOLLGATE_DATA ?? data, env.TOLLGATE_DATA !== undefined)
  const running = await serve({
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PORT: String(port),
    TOLLGATE_DATA: data,
    TOLLGATE_CONFIG: configFile,
    TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    TOLLGATE_SECRET: 'test-secret-that-is-long-enough-for-anyone',
    TOLLGATE_LOG: process.env.TOLLGATE_TEST_LOG ?? 'silent',
    ...database.env,
    ...env,
  }).catch(async (problem: unknown) => {
    await rm(folder, { recursive: true, force: true })
    throw problem
  })
  // Its own door, whatever it is called outside.
  const url = env.TOLLGATE_PUBLIC_URL === undefined ? running.url : `http://127.0.0.1:${env.PORT ?? port}`
  const mcpUrl = `${url}/mcp`

  async function post(
    path: string,
    token: string,
    body: unknown,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ) {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    })
    return readAnswer(response)
  }

  const api: Gateway['api'] = async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${ADMIN_KEY}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }

  return {
    url,
    mcpUrl,
    running,
    api,
    async token(request) {
      const { status, body } = await api('POST', '/v1/sessions', request)
      if (status !== 201) throw new Error(`issuing failed: ${status} ${JSON.stringify(body)}`)
      return body.token
    },
    rpc(token, method, params, { path = '/mcp', id = 1, headers = {}, signal } = {}) {
      const message = { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) }
      return post(path, token, message, headers, signal)
    },
    modern(
      token,
      method,
      params = {},
      { path = '/mcp', id = 1, headers = {}, capabilities = {}, meta = {}, signal } = {},
    ) {
      const message = {
        jsonrpc: '2.0',
        id,
        method,
        params: {
          ...params,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': capabilities,
            ...meta,
          },
        },
      }
      const mirrored: Record<string, string> = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }
      if (typeof params.name === 'string') mirrored['mcp-name'] = params.name
      return post(path, token, message, { ...mirrored, ...headers }, signal)
    },
    async close() {
      await running.close()
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Reads a JSON or event-stream answer whole. */
export async function readAnswer(response: Response): Promise<RpcAnswer> {
  const text = await response.text()
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  const texts = isStream
    ? text
        .split('\n\n')
        .map((block) =>
          block
            .split('\n')
            .find((line) => line.startsWith('data: '))
            ?.slice(6),
        )
        .filter((data) => data !== undefined)
    : text.trim() === ''
      ? []
      : [text]
  const messages = texts.map((data) => JSON.parse(data))
  return { status: response.status, headers: response.headers, text, messages, answer: messages.at(-1) }
}

/** A port nobody listens on right now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

/** The two eras of MCP; most cases hold in both. */
export const ERAS = ['legacy', 'modern'] as const
export type Era = (typeof ERAS)[number]

/** One request of a client that has done its handshake. */
export type Speak = (method: string, params?: Record<string, unknown>, options?: RpcOptions) => Promise<RpcAnswer>

/** A client of an era: in the legacy one with a handshake and a session of its own, in the modern one with nothing. */
export async function speaker(gateway: Gateway, era: Era, token: string, path = '/mcp'): Promise<Speak> {
  if (era === 'modern') {
    return (method, params = {}, options = {}) => {
      const name = typeof params.name === 'string' ? { 'mcp-name': headerText(params.name) } : {}
      return gateway.modern(token, method, params, { path, ...options, headers: { ...name, ...options.headers } })
    }
  }
  const opened = await gateway.rpc(token, 'initialize', HELLO, { path })
  const session = opened.headers.get('mcp-session-id')
  if (session === null) throw new Error(`no session: ${opened.status} ${opened.text}`)
  const carried = { 'mcp-session-id': session, 'mcp-protocol-version': HELLO.protocolVersion }
  return (method, params = {}, options = {}) =>
    gateway.rpc(token, method, params, { path, ...options, headers: { ...carried, ...options.headers } })
}

/** What a legacy client says first. */
export const HELLO = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}

/** A value as a modern client puts it into a header. */
export function headerText(value: string): string {
  return /^[!-~](?:[ -~]*[!-~])?$/.test(value) ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}

/** POSTs a body as it is. */
export async function postBytes(
  gateway: Gateway,
  token: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
  path = '/mcp',
): Promise<RpcAnswer> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? Buffer.from(body) : new Uint8Array(body),
  })
  return readAnswer(response)
}
