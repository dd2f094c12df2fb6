/**
 * The MCP server behind every gateway of the bench: written by hand on node:http so that it costs next to nothing.
 * `/mcp` has 10 tools and `/wide` 500, both with sessions (2025-11-25); `/modern` has 10 and none (2026-07-28).
 * @module
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { serveHttp } from './child.ts'

const SERVER_INFO = '{"name":"bench-upstream","version":"1.0.0"}'
const META = `"_meta":{"io.modelcontextprotocol/serverInfo":${SERVER_INFO}}`
/** 256 bytes with quotes and a character beyond ASCII in them, as real text has. */
const LINE = 'A tool answers in words; "quotes", digits 0123456789 and é are among them. '
const TEXT = Buffer.from(LINE.repeat(4)).toString('utf8', 0, 256)
const RESULT = `"content":[{"type":"text","text":${JSON.stringify(TEXT)}}]`

const doors = new Map([
  ['/mcp', { modern: false, ...toolset(10) }],
  ['/wide', { modern: false, ...toolset(500) }],
  ['/modern', { modern: true, ...toolset(10) }],
])
type UpstreamDoor = typeof doors extends Map<string, infer D> ? D : never

function toolset(count: number): { names: ReadonlySet<string>; text: string } {
  const tools = Array.from({ length: count }, (_, i) => ({
    name: `tool_${i}`,
    title: `Tool ${i}`,
    description: `Tool number ${i} of the bench. It takes a query, a limit and filters, as a search does, and answers with a text of 256 bytes.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to look for' },
        limit: { type: 'integer', minimum: 1, maximum: 100 },
        filters: {
          type: 'array',
          items: { type: 'object', properties: { field: { type: 'string' }, value: { type: 'string' } } },
        },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  }))
  return { names: new Set(tools.map(({ name }) => name)), text: `"tools":${JSON.stringify(tools)}` }
}

const sessions = new Set<string>()

interface Request {
  readonly id?: number | string
  readonly method: string
  readonly params?: { readonly name?: string; readonly protocolVersion?: string }
}

function answer(door: UpstreamDoor, { method, params }: Request): string | undefined {
  const complete = (members: string, more = ''): string =>
    door.modern ? `{"resultType":"complete",${members}${more},${META}}` : `{${members}}`
  const kept = ',"ttlMs":0,"cacheScope":"private"'
  switch (method) {
    case 'tools/call':
      return door.names.has(params?.name ?? '') ? complete(RESULT) : undefined
    case 'tools/list':
      return complete(door.text, kept)
    case 'server/discover':
      return door.modern ? complete('"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}', kept) : undefined
    case 'initialize': {
      const version = JSON.stringify(params?.protocolVersion ?? '2025-11-25')
      return door.modern
        ? undefined
        : `{"protocolVersion":${version},"capabilities":{"tools":{}},"serverInfo":${SERVER_INFO}}`
    }
    case 'ping':
      return '{}'
    default:
      return undefined
  }
}

function post(req: IncomingMessage, res: ServerResponse, door: UpstreamDoor, body: string): void {
  const request = JSON.parse(body) as Request
  const session = req.headers['mcp-session-id']
  if (!door.modern && request.method !== 'initialize' && request.method !== 'server/discover') {
    if (session === undefined || !sessions.has(session as string)) {
      return void res.writeHead(session === undefined ? 400 : 404).end()
    }
  }
  if (request.id === undefined) return void res.writeHead(202, { 'content-length': 0 }).end()
  const result = answer(door, request)
  const id = JSON.stringify(request.id)
  const text =
    result === undefined
      ? `{"jsonrpc":"2.0","id":${id},"error":{"code":${request.method === 'tools/call' ? -32602 : -32601},"message":"Not here."}}`
      : `{"jsonrpc":"2.0","id":${id},"result":${result}}`
  const headers: Record<string, string | number> = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  }
  if (request.method === 'initialize' && result !== undefined) {
    const opened = randomUUID()
    sessions.add(opened)
    headers['mcp-session-id'] = opened
  }
  res.writeHead(result === undefined && door.modern ? 404 : 200, headers).end(text)
}

serveHttp(
  createServer((req, res) => {
    const door = doors.get(req.url ?? '')
    if (door === undefined) return void res.writeHead(404).end()
    if (req.method === 'DELETE') {
      sessions.delete(req.headers['mcp-session-id'] as string)
      return void res.writeHead(200, { 'content-length': 0 }).end()
    }
    if (req.method !== 'POST') return void res.writeHead(405, { 'content-length': 0 }).end()
    const parts: Buffer[] = []
    req.on('data', (part: Buffer) => parts.push(part))
    req.on('end', () => post(req, res, door, (parts.length === 1 ? parts[0]! : Buffer.concat(parts)).toString()))
  }),
)
