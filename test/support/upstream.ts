/**
 * A scripted MCP upstream over HTTP, in both eras: what a tool does goes by its name, every request and every execution
 * is written down, and nothing of it comes from an SDK, so that it can also misbehave.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { members } from '../../src/json.ts'

export interface UpstreamOptions {
  /** Default `both`. */
  readonly era?: 'legacy' | 'modern' | 'both'
  /** The revision that `initialize` is answered with (default: the one asked for). */
  readonly version?: string
  /** Hand out `Mcp-Session-Id` in the legacy era and insist on it (default false). */
  readonly sessions?: boolean
  /** How answers are sent unless a tool needs a stream (default `json`). */
  readonly answers?: 'json' | 'sse'
  /** Definitions: objects, or JSON text that must stay as it is (default: one per behaviour). */
  readonly tools?: ReadonlyArray<object | string>
  /** Tools per page (default: all). */
  readonly pageSize?: number
  /** Offer streams of change notices (default true). */
  readonly tellsChanges?: boolean
  /** What tools do, besides `BEHAVIOURS`. */
  readonly behaviours?: Readonly<Record<string, Behaviour>>
  /** Takes over a request before anything else looks at it; true when it did. */
  readonly intercept?: Intercept
  readonly port?: number
  readonly path?: string
}

/** A request as it came in. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly rawHeaders: readonly string[]
  readonly body: string
  /** JSON-RPC method of the body, where there is one. */
  readonly rpc: string | undefined
}

/** One execution of a tool. */
export interface Execution {
  readonly tool: string
  /** As it stood in the body; undefined when absent. */
  readonly argumentsText: string | undefined
  readonly session: string | undefined
  readonly era: 'legacy' | 'modern'
  readonly id: unknown
  readonly body: string
  readonly at: number
}

export type Intercept = (seen: Seen, response: ServerResponse) => boolean | Promise<boolean>
export type Behaviour = (call: ToolCall) => void | Promise<void>

/** A tool call being answered. */
export interface ToolCall {
  readonly seen: Seen
  readonly response: ServerResponse
  readonly args: Record<string, unknown>
  readonly argumentsText: string | undefined
  readonly meta: Record<string, unknown>
  readonly params: Record<string, unknown>
  readonly idText: string
  readonly era: 'legacy' | 'modern'
  readonly session: string | undefined
  /** State of the session (or of the upstream where it keeps none). */
  readonly state: { count: number }
  /** Answers with a result, JSON text of the object. */
  answer(resultText: string): void
  /** Answers with one text block. */
  text(text: string): void
  error(code: number, message: string): void
  /** Sends a message before the answer, as an event. */
  send(messageText: string): void
  progress(progress: number, more?: object): void
  /** Asks the client (legacy) and waits for its response message. */
  ask(method: string, params: object): Promise<Record<string, unknown>>
  /** The same on the session's stream of notices, as servers built on the 1.x SDK do. */
  askAside(method: string, params: object): Promise<Record<string, unknown>>
  /** Sends raw bytes as the whole response. */
  raw(status: number, type: string | undefined, body: string | Buffer): void
}

export interface Upstream {
  readonly url: string
  readonly port: number
  readonly ledger: Execution[]
  readonly requests: Seen[]
  /** Requests of one JSON-RPC method. */
  of(rpc: string): Seen[]
  /** `notifications/cancelled` that came in, parsed params. */
  cancelled(): Array<Record<string, unknown>>
  /** POSTs the client closed before they were answered. */
  readonly aborted: Seen[]
  setTools(tools: ReadonlyArray<object | string>): void
  setIntercept(intercept: Intercept | undefined): void
  /** Tells every open stream that the tools changed. */
  notifyChanged(times?: number): void
  /** Open streams of notices. */
  listeners(): number
  sessions(): string[]
  forgetSessions(): void
  /** Stops listening and cuts every connection. */
  stop(): Promise<void>
  /** Listens again on the same port. */
  start(): Promise<void>
  close(): Promise<void>
}

const MODERN = '2026-07-28'
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** What tools with these names do. Arguments steer them where it says so. */
export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  /** Gives back the arguments as they came, as text. */
  echo: (call) => call.text(call.argumentsText ?? 'no arguments'),
  increment: (call) => call.text(String(++call.state.count)),
  get: (call) => call.text(String(call.state.count)),
  /** `ms` */
  slow: async (call) => {
    await sleep(Number(call.args.ms ?? 1_000))
    call.text('slow')
  },
  /** `count`, `ms`; a count below 0 never ends. */
  progress: async (call) => {
    for (let i = 1; i !== Number(call.args.count ?? 3) + 1; i++) {
      if (call.response.destroyed) return
      call.progress(i, { total: 3, message: `step ${i}` })
      await sleep(Number(call.args.ms ?? 5))
    }
    call.text('progressed')
  },
  failing: (call) => call.answer('{"content":[{"type":"text","text":"it failed"}],"isError":true}'),
  error: (call) => call.error(-32602, 'bad arguments'),
  hang: () => {},
  /** Runs, then cuts the connection. */
  reset: (call) => {
    call.response.socket?.destroy()
  },
  /** Opens a stream, then cuts the connection. */
  torn: (call) => {
    call.progress(1)
    setTimeout(() => call.response.socket?.destroy(), 10)
  },
  /** `status`, `type`, `body` */
  raw: (call) =>
    call.raw(Number(call.args.status ?? 200), call.args.type as string | undefined, String(call.args.body ?? '')),
  /** `events`: text of an event stream; `ID` in it stands for the id. `step`: bytes per write. */
  stream: async (call) => {
    const bytes = Buffer.from(String(call.args.events).replaceAll('ID', call.idText))
    call.response.writeHead(200, { 'content-type': String(call.args.type ?? 'text/event-stream') })
    const step = Number(call.args.step ?? bytes.length)
    for (let i = 0; i < bytes.length; i += step) {
      call.response.write(bytes.subarray(i, i + step))
      if (step < bytes.length) await new Promise(setImmediate)
    }
    call.response.end()
  },
  /** A log notice, progress and two requests before the answer. */
  noisy: async (call) => {
    call.send('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}')
    call.progress(1)
    const [sampling, ping] = await Promise.all([
      call.ask('sampling/createMessage', { messages: [] }),
      call.ask('ping', {}),
    ])
    call.text(JSON.stringify({ sampling, ping }))
  },
  /** Asks a person in the way of the era: `params` of the elicitation. */
  elicit: async (call) => {
    const params = (call.args.params ?? {
      message: 'Your name?',
      requestedSchema: { type: 'object', properties: {} },
    }) as object
    if (call.era === 'legacy') return call.text(JSON.stringify(await call.ask('elicitation/create', params)))
    const responses = call.params.inputResponses
    if (responses !== undefined) return call.text(JSON.stringify({ responses, state: call.params.requestState }))
    const inputRequests = { k1: { method: 'elicitation/create', params } }
    call.answer(JSON.stringify({ resultType: 'input_required', inputRequests, requestState: 'opaque "state"' }))
  },
  /** Asks a person outside the call's own stream (legacy). */
  elicit_aside: async (call) => {
    const params = { message: 'Your name?', requestedSchema: { type: 'object', properties: {} } }
    call.text(JSON.stringify(await call.askAside('elicitation/create', params)))
  },
  /** Asks for input for ever (modern). `method` of the input request. */
  insatiable: (call) => {
    const request = {
      method: String(call.args.method ?? 'elicitation/create'),
      params: { message: 'More?', requestedSchema: {} },
    }
    call.answer(JSON.stringify({ resultType: 'input_required', inputRequests: { again: request }, requestState: 's' }))
  },
}

/** A definition like real ones. */
export function tool(name: string, more: object = {}): object {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object', properties: {} }, ...more }
}

/** Starts an upstream on 127.0.0.1. Close it when the test is over. */
export async function startUpstream(options: UpstreamOptions = {}): Promise<Upstream> {
  const { era = 'both', path = '/mcp', tellsChanges = true } = options
  const behaviours = { ...BEHAVIOURS, ...options.behaviours }
  const ledger: Execution[] = []
  const requests: Seen[] = []
  const aborted: Seen[] = []
  const sessions = new Map<string, { count: number }>()
  const shared = { count: 0 }
  const streams = new Map<ServerResponse, unknown>()
  const waiting = new Map<unknown, (message: Record<string, unknown>) => void>()
  const sockets = new Set<Socket>()
  let tools = options.tools ?? Object.keys(behaviours).map((name) => tool(name))
  let intercept = options.intercept
  let asked = 0
  let server: Server
  let port = options.port ?? 0

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await read(request)
    const message = parse(body)
    const seen: Seen = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body,
      rpc: typeof message?.method === 'string' ? message.method : undefined,
    }
    requests.push(seen)
    response.on('close', () => {
      streams.delete(response)
      if (!response.writableFinished) aborted.push(seen)
    })
    if (intercept !== undefined && (await intercept(seen, response))) return
    if (seen.path !== path) return plain(response, 404, 'Not here.')
    if (message === undefined && seen.method === 'POST') return refuse(response, 400, 'null', -32700, 'Parse error')
    const modern = seen.headers['mcp-protocol-version'] === MODERN
    if (modern && era !== 'legacy') return serveModern(seen, response, message)
    if (era === 'modern')
      return refuse(response, 400, idTextOf(body), -32022, 'Unsupported version', { supported: [MODERN] })
    return serveLegacy(seen, response, message)
  }

  function serveModern(seen: Seen, response: ServerResponse, message: Message | undefined): void {
    if (seen.method !== 'POST' || message === undefined) return plain(response, 405, '')
    if (message.method === undefined) {
      waiting.get(message.id)?.(message)
      return plain(response, 202, '')
    }
    const id = idTextOf(seen.body)
    const params = (message.params ?? {}) as Record<string, unknown>
    const meta = (params._meta ?? {}) as Record<string, unknown>
    if (
      meta['io.modelcontextprotocol/protocolVersion'] !== MODERN ||
      meta['io.modelcontextprotocol/clientCapabilities'] === undefined
    ) {
      return refuse(response, 400, id, -32602, 'Missing _meta')
    }
    if (seen.headers['mcp-method'] !== message.method) return refuse(response, 400, id, -32020, 'Mcp-Method differs')
    const named = decodeHeader(String(seen.headers['mcp-name'] ?? ''))
    if (message.method === 'tools/call' && named !== params.name)
      return refuse(response, 400, id, -32020, 'Mcp-Name differs')
    switch (message.method) {
      case 'server/discover':
        return reply(
          response,
          id,
          `{"resultType":"complete","supportedVersions":["${MODERN}"],"capabilities":{"tools":{"listChanged":${tellsChanges}}},"ttlMs":0,"cacheScope":"private"}`,
        )
      case 'tools/list':
        return reply(response, id, page(params.cursor, '"resultType":"complete","ttlMs":0,"cacheScope":"private",'))
      case 'tools/call':
        return run(seen, response, message, 'modern', undefined, shared)
      case 'subscriptions/listen': {
        openEvents(response)
        streams.set(response, message.id)
        event(
          response,
          note('notifications/subscriptions/acknowledged', message.id, { notifications: { toolsListChanged: true } }),
        )
        return
      }
      default:
        return refuse(response, 404, id, -32601, 'Method not found')
    }
  }

  function serveLegacy(seen: Seen, response: ServerResponse, message: Message | undefined): void {
    const id = idTextOf(seen.body)
    if (message?.method === 'initialize') {
      const params = message.params as { protocolVersion: string }
      const version = options.version ?? params.protocolVersion
      const session = options.sessions === true ? randomUUID() : undefined
      if (session !== undefined) sessions.set(session, { count: 0 })
      const result = `{"protocolVersion":${JSON.stringify(version)},"capabilities":{"tools":{"listChanged":${tellsChanges}}},"serverInfo":{"name":"scripted","version":"1"}}`
      return reply(response, id, result, session === undefined ? {} : { 'mcp-session-id': session })
    }
    const session = seen.headers['mcp-session-id'] as string | undefined
    const state = options.sessions === true ? sessions.get(session ?? '') : shared
    if (message?.method === 'server/discover')
      return refuse(response, 400, id, -32600, 'Bad Request: Server not initialized')
    if (state === undefined) return refuse(response, session === undefined ? 400 : 404, id, -32001, 'Session not found')
    if (seen.method === 'DELETE') {
      sessions.delete(session ?? '')
      return plain(response, 200, '')
    }
    if (seen.method === 'GET') {
      if (!tellsChanges) return plain(response, 405, '')
      openEvents(response)
      streams.set(response, session)
      return
    }
    if (message === undefined) return plain(response, 405, '')
    if (message.method === undefined) {
      waiting.get(message.id)?.(message)
      return plain(response, 202, '')
    }
    if (message.id === undefined) return plain(response, 202, '')
    const params = (message.params ?? {}) as Record<string, unknown>
    if (message.method === 'tools/list') return reply(response, id, page(params.cursor, ''))
    if (message.method === 'tools/call') return run(seen, response, message, 'legacy', session, state)
    if (message.method === 'ping') return reply(response, id, '{}')
    return refuse(response, 200, id, -32601, 'Method not found')
  }

  function page(cursor: unknown, head: string): string {
    const from = cursor === undefined ? 0 : Number(String(cursor).replace('page-', ''))
    const to = options.pageSize === undefined ? tools.length : from + options.pageSize
    const next = to < tools.length ? `,"nextCursor":"page-${to}"` : ''
    const shown = tools
      .slice(from, to)
      .map((definition) => (typeof definition === 'string' ? definition : JSON.stringify(definition)))
    return `{${head}"tools":[${shown.join(',')}]${next}}`
  }

  function run(
    seen: Seen,
    response: ServerResponse,
    message: Message,
    spoken: 'legacy' | 'modern',
    session: string | undefined,
    state: { count: number },
  ): void {
    const params = message.params as {
      name: string
      arguments?: Record<string, unknown>
      _meta?: Record<string, unknown>
    }
    const idText = idTextOf(seen.body)
    const behaviour = behaviours[params.name]
    if (behaviour === undefined) return refuse(response, 200, idText, -32602, `Unknown tool: ${params.name}`)
    const argumentsText = argumentsOf(seen.body)
    ledger.push({
      tool: params.name,
      argumentsText,
      session,
      era: spoken,
      id: message.id,
      body: seen.body,
      at: Date.now(),
    })
    const complete = spoken === 'modern' ? '"resultType":"complete",' : ''
    const stream = (): void => {
      if (!response.headersSent) openEvents(response)
    }
    const call: ToolCall = {
      seen,
      response,
      args: params.arguments ?? {},
      argumentsText,
      meta: params._meta ?? {},
      params: params as unknown as Record<string, unknown>,
      idText,
      era: spoken,
      session,
      state,
      answer(result) {
        if (response.destroyed) return
        if (options.answers === 'sse') stream()
        reply(response, idText, result.includes('"resultType"') ? result : `{${complete}${result.slice(1)}`)
      },
      text: (text) => call.answer(JSON.stringify({ content: [{ type: 'text', text }] })),
      error: (code, text) =>
        finish(response, `{"jsonrpc":"2.0","id":${idText},"error":{"code":${code},"message":${JSON.stringify(text)}}}`),
      send(text) {
        stream()
        event(response, text)
      },
      progress(progress, more = {}) {
        const progressToken = params._meta?.progressToken
        call.send(
          JSON.stringify({
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken, progress, ...more },
          }),
        )
      },
      ask: (method, askParams) => question(method, askParams, call.send),
      askAside: (method, askParams) =>
        question(method, askParams, (text) => {
          for (const [stream, owner] of streams) if (owner === session) event(stream, text)
        }),
      raw(status, type, body) {
        response.writeHead(status, type === undefined ? {} : { 'content-type': type })
        response.end(typeof body === 'string' ? body.replaceAll('ID', idText) : body)
      },
    }
    void behaviour(call)
  }

  function question(method: string, params: object, send: (text: string) => void): Promise<Message> {
    const id = `ask-${++asked}`
    return new Promise((resolve) => {
      waiting.set(id, (answer) => {
        waiting.delete(id)
        resolve(answer)
      })
      send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
  }

  async function start(): Promise<void> {
    server = createServer((request, response) => {
      handle(request, response).catch(() => response.destroy())
    })
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }

  async function stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }

  await start()
  return {
    url: `http://127.0.0.1:${port}${path}`,
    port,
    ledger,
    requests,
    aborted,
    of: (rpc) => requests.filter((seen) => seen.rpc === rpc),
    cancelled: () =>
      requests
        .filter((seen) => seen.rpc === 'notifications/cancelled')
        .map((seen) => parse(seen.body)?.params as Record<string, unknown>),
    setTools: (next) => {
      tools = next
    },
    setIntercept: (next) => {
      intercept = next
    },
    notifyChanged(times = 1) {
      for (let i = 0; i < times; i++) {
        for (const [response, id] of streams) {
          event(response, note('notifications/tools/list_changed', typeof id === 'string' ? undefined : id, {}))
        }
      }
    },
    listeners: () => streams.size,
    sessions: () => [...sessions.keys()],
    forgetSessions: () => sessions.clear(),
    stop,
    start,
    close: stop,
  }
}

type Message = Record<string, unknown>

function note(method: string, subscription: unknown, params: object): string {
  const meta = subscription === undefined ? {} : { _meta: { 'io.modelcontextprotocol/subscriptionId': subscription } }
  return JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, ...meta } })
}

function parse(body: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? (value as Message) : undefined
  } catch {
    return undefined
  }
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

function idTextOf(body: string): string {
  const span = parse(body) && members(body)?.get('id')
  return span === undefined ? 'null' : body.slice(span.start, span.end)
}

function argumentsOf(body: string): string | undefined {
  const params = members(body)?.get('params')
  const span = params && members(body, params.start)?.get('arguments')
  return span && body.slice(span.start, span.end)
}

function decodeHeader(value: string): string {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8')
}

function openEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
}

function event(response: ServerResponse, data: string): void {
  response.write(`event: message\ndata: ${data}\n\n`)
}

function reply(response: ServerResponse, id: string, result: string, headers: Record<string, string> = {}): void {
  finish(response, `{"jsonrpc":"2.0","id":${id},"result":${result}}`, headers)
}

function finish(response: ServerResponse, text: string, headers: Record<string, string> = {}): void {
  if (response.headersSent) {
    event(response, text)
    response.end()
    return
  }
  response.writeHead(200, { 'content-type': 'application/json', ...headers })
  response.end(text)
}

function refuse(
  response: ServerResponse,
  status: number,
  id: string,
  code: number,
  message: string,
  data?: object,
): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, ...(data && { data }) })}}`)
}

function plain(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' })
  response.end(body)
}
