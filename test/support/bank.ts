/**
 * The five kinds of upstream that a case of the bug bank is tried on, all with the same tools, and calls whose bytes are
 * under the test's control.
 * @module
 */
import { mkdtempSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { elements, members } from '../../src/json.ts'
import { type Era, type Gateway, headerText, HELLO, postBytes, type RpcAnswer } from './gateway.ts'
import { type Behaviour, startUpstream, type Upstream } from './upstream.ts'

/** Legacy HTTP without and with sessions, modern HTTP, and standard input and output in either era. */
export const KINDS = ['old', 'kept', 'new', 'pipe', 'pipe_new'] as const
export type Kind = (typeof KINDS)[number]
export const HTTP_KINDS = ['old', 'kept', 'new'] as const

/** A `tools/call` as it reached an upstream. */
export interface Arrived {
  readonly tool: string
  readonly argumentsText: string | undefined
  readonly body: string
}

export interface Bank {
  readonly http: Readonly<Record<(typeof HTTP_KINDS)[number], Upstream>>
  /** For `mcpServers`, one entry per kind, under the kind's name. */
  readonly servers: Record<string, unknown>
  arrived(kind: Kind): Arrived[]
  /** The ledger of an upstream over standard input and output. */
  events(kind: 'pipe' | 'pipe_new'): Record<string, unknown>[]
  close(): Promise<void>
}

const STDIO = join(import.meta.dirname, 'stdio-upstream.mjs')

/**
 * Starts one upstream of each kind with these definitions (JSON text each). `answer` gives back its argument `result`,
 * text of a result, as it is.
 */
export async function startBank(
  definitions: readonly string[],
  more: {
    readonly behaviours?: Readonly<Record<string, Behaviour>>
    readonly entry?: object
    readonly pipes?: boolean
  } = {},
): Promise<Bank> {
  const behaviours = { answer: (call: Parameters<Behaviour>[0]) => call.answer(String(call.args.result)) }
  const options = { tools: definitions, behaviours: { ...behaviours, ...more.behaviours } }
  const http = {
    old: await startUpstream({ ...options, era: 'legacy' }),
    kept: await startUpstream({ ...options, era: 'legacy', sessions: true, answers: 'sse' }),
    new: await startUpstream({ ...options, era: 'modern' }),
  }
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bank-'))
  const file = join(folder, 'definitions.json')
  writeFileSync(file, `[${definitions.join(',')}]`)
  const entry = { tools: { '*': 'read' }, ...more.entry }
  const servers: Record<string, unknown> = {}
  for (const kind of HTTP_KINDS) servers[kind] = { type: 'http', url: http[kind].url, ...entry }
  for (const kind of more.pipes === false ? [] : (['pipe', 'pipe_new'] as const)) {
    const era = kind === 'pipe' ? 'legacy' : 'modern'
    const args = [STDIO, '--era', era, '--definitions', file, '--ledger', join(folder, kind)]
    servers[kind] = { command: process.execPath, args, ...entry }
  }
  function events(kind: 'pipe' | 'pipe_new'): Record<string, unknown>[] {
    const path = join(folder, kind)
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  return {
    http,
    servers,
    events,
    arrived(kind) {
      if (kind !== 'pipe' && kind !== 'pipe_new') return http[kind].ledger
      return events(kind)
        .filter(({ event }) => event === 'line')
        .map(({ tool, line }) => {
          const body = String(line)
          return { tool: String(tool), argumentsText: memberOf(memberOf(body, 'params') ?? '{}', 'arguments'), body }
        })
    },
    async close() {
      await Promise.all(Object.values(http).map((upstream) => upstream.close()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A tools/call with these arguments as text; `meta` is further members of its `_meta`, as text. */
export function callText(
  gateway: Gateway,
  era: Era,
  token: string,
  name: string,
  argumentsText: string,
  { meta = '', extra = '', id = '7', path = '/mcp' } = {},
): Promise<RpcAnswer> {
  const envelope =
    '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}'
  const inMeta = [...(era === 'modern' ? [envelope] : []), ...(meta === '' ? [] : [meta])].join(',')
  const params = `"name":${JSON.stringify(name)},"arguments":${argumentsText}${extra},"_meta":{${inMeta}}`
  const headers =
    era === 'modern'
      ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': headerText(name) }
      : {}
  return postBytes(
    gateway,
    token,
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{${params}}}`,
    headers as Record<string, string>,
    path,
  )
}

/** Has `answer` of an upstream answer with this text. */
export function answered(gateway: Gateway, era: Era, token: string, kind: Kind, result: string): Promise<RpcAnswer> {
  return callText(gateway, era, token, `${kind}__answer`, JSON.stringify({ result }))
}

/** The text of a member of an object's text. */
export function memberOf(text: string, key: string): string | undefined {
  const span = members(text)?.get(key)
  return span && text.slice(span.start, span.end)
}

/** The text of the last message of an answer. */
export function lastText({ text, headers }: RpcAnswer): string {
  if (headers.get('content-type')?.startsWith('text/event-stream') !== true) return text.trim()
  const data = text.split('\n').filter((line) => line.startsWith('data: '))
  return data.at(-1)?.slice(6) ?? ''
}

/** All tools that a door lists, page after page: their texts by name. */
export async function listTexts(
  gateway: Gateway,
  era: Era,
  token: string,
  path = '/mcp',
): Promise<{ tools: Map<string, string>; meta: Record<string, any>; pages: number; repeated: string[] }> {
  const tools = new Map<string, string>()
  const repeated: string[] = []
  let meta: Record<string, any> = {}
  let cursor: string | undefined
  let pages = 0
  do {
    const params = cursor === undefined ? {} : { cursor }
    const answer = await (era === 'modern' ? gateway.modern : gateway.rpc)(token, 'tools/list', params, { path })
    if (answer.answer?.result === undefined) throw new Error(`no list: ${answer.status} ${answer.text.slice(0, 500)}`)
    const array = memberOf(memberOf(lastText(answer), 'result') ?? '{}', 'tools') ?? '[]'
    for (const text of elementsOf(array)) {
      const { name } = JSON.parse(text) as { name: string }
      if (tools.has(name)) repeated.push(name)
      tools.set(name, text)
    }
    meta = { ...meta, ...answer.answer.result._meta }
    cursor = answer.answer.result.nextCursor
    pages++
  } while (cursor !== undefined && pages < 100)
  return { tools, meta, pages, repeated }
}

function elementsOf(array: string): string[] {
  return (elements(array) ?? []).map(({ start, end }) => array.slice(start, end))
}

/** An open stream of notices, with all that came. */
export interface Notices {
  readonly heard: any[]
  readonly status: number
  close(): void
}

/** Opens a client's stream of notices: a session and a GET in the legacy era, `subscriptions/listen` in the modern one. */
export async function openNotices(gateway: Gateway, era: Era, token: string, wants = true): Promise<Notices> {
  const abort = new AbortController()
  const heard: any[] = []
  const response = await (era === 'modern'
    ? subscribe(gateway, token, wants, abort.signal)
    : listen(gateway, token, abort.signal))
  void readEvents(response, (message) => heard.push(message)).catch(() => {})
  return { heard, status: response.status, close: () => abort.abort() }
}

/** Tells of each JSON-RPC message of an event stream as it comes; resolves at its end. */
export async function readEvents(response: Response, onMessage: (message: any) => void): Promise<void> {
  let held = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    held += decoder.decode(chunk, { stream: true })
    const blocks = held.split('\n\n')
    held = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = block.split('\n').find((line) => line.startsWith('data: '))
      if (data !== undefined) onMessage(JSON.parse(data.slice(6)))
    }
  }
}

async function listen(gateway: Gateway, token: string, signal: AbortSignal): Promise<Response> {
  const opened = await gateway.rpc(token, 'initialize', HELLO)
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'text/event-stream',
    'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': HELLO.protocolVersion,
  }
  return fetch(gateway.mcpUrl, { headers, signal })
}

function subscribe(gateway: Gateway, token: string, wants: boolean, signal: AbortSignal): Promise<Response> {
  const params = {
    notifications: wants ? { toolsListChanged: true } : {},
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  }
  return fetch(gateway.mcpUrl, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'sub', method: 'subscriptions/listen', params }),
    signal,
  })
}
