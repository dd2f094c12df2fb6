/**
 * The listening server: limits at the socket, the edge rules, then the MCP door or the REST app.
 * MCP requests are handled on Node's own objects; the web Request and Response of the REST side would cost more than
 * all the rest of a forwarded call.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { type EdgeRules, isLong, strangeRequest } from './edge.ts'
import { type Scope, scopeOf } from './mcp/scope.ts'

export interface ServerParts {
  readonly edge: EdgeRules
  readonly door: (req: IncomingMessage, res: ServerResponse, scope: Scope) => Promise<void>
  /** Handlers of exact paths that work on Node's own objects. */
  readonly exact?: Readonly<Record<string, (req: IncomingMessage, res: ServerResponse) => Promise<void>>>
  readonly api: (request: Request, bindings: HttpBindings) => Response | Promise<Response>
  readonly log: { error(fields: object, message: string): void }
}

/** Probes come from inside, under whatever name the orchestrator uses. */
const PROBES = new Set(['/healthz', '/readyz'])
const MOST_HEADERS = 100

/** Builds the server; it does not listen yet. */
export function createHttpServer({ edge, door, exact = {}, api, log }: ServerParts): Server {
  const rest = getRequestListener((request, bindings) => api(request, bindings as HttpBindings))

  const server = createServer(
    // A slow or endless sender is cut: whole headers in 10 s, whole body in 12.5 s, looked at every 2 s (reliability G1).
    {
      maxHeaderSize: 16_384,
      headersTimeout: 10_000,
      requestTimeout: 12_500,
      connectionsCheckingInterval: 2_000,
      noDelay: true,
    },
    function front(req, res) {
      const path = pathOf(req.url)
      if (req.rawHeaders.length > 2 * MOST_HEADERS) return refuse(res, 431, 'Too many headers.')
      if (!PROBES.has(path)) {
        const strange = strangeRequest(req, edge)
        if (strange !== undefined) return refuse(res, 403, strange)
      }
      const at = scopeOf(path)
      if (req.headers.origin !== undefined) allowOrigin(req, res)
      if (req.method === 'OPTIONS' && at !== undefined) return preflight(req, res)
      const own = Object.hasOwn(exact, path) ? exact[path] : undefined
      if (at === undefined && own === undefined) {
        if (isLong(req)) res.setHeader('connection', 'close')
        void rest(req, res)
        return
      }
      const handled = at === undefined ? own?.(req, res) : door(req, res, at.scope)
      handled?.catch((problem: unknown) => {
        log.error({ problem: problem instanceof Error ? problem.stack : String(problem) }, 'a door failed')
        if (res.headersSent) res.destroy()
        else refuse(res, 500, 'The gateway failed inside.')
      })
    },
  )
  server.keepAliveTimeout = 120_000
  server.on('clientError', (problem: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || problem.code === 'ECONNRESET') return socket.destroy()
    const status =
      problem.code === 'HPE_HEADER_OVERFLOW'
        ? '431 Request Header Fields Too Large'
        : problem.code === 'ERR_HTTP_REQUEST_TIMEOUT'
          ? '408 Request Timeout'
          : '400 Bad Request'
    socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  })
  return server
}

/** Listens, and answers the address in use. */
export function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: 4096 }, () => {
      server.removeListener('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
}

function pathOf(url: string | undefined): string {
  const target = url ?? '/'
  const query = target.indexOf('?')
  return query < 0 ? target : target.slice(0, query)
}

/** The origin passed the edge rules, so it is one the operator allows. Credentials are never part of it. */
function allowOrigin(req: IncomingMessage, res: ServerResponse): void {
  res.setHeader('access-control-allow-origin', req.headers.origin as string)
  res.setHeader('vary', 'Origin')
  res.setHeader('access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate')
}

/** Which headers a page of an allowed origin may send: those of the protocol, `Mcp-Param-…` with any name (SEP-2243). */
function preflight(req: IncomingMessage, res: ServerResponse): void {
  const asked = req.headers['access-control-request-headers']?.toLowerCase().split(',') ?? []
  const params = asked.map((name) => name.trim()).filter((name) => /^mcp-param-[a-z0-9-]+$/.test(name))
  res.writeHead(204, {
    'access-control-allow-methods': 'POST, GET, DELETE',
    'access-control-allow-headers': [
      'Authorization, Content-Type, Accept, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID',
      ...params,
    ].join(', '),
    'access-control-max-age': '600',
  })
  res.end()
}

function refuse(res: ServerResponse, status: number, detail: string): void {
  const body = Buffer.from(JSON.stringify({ type: 'about:blank', status, title: 'Refused', detail }))
  res.writeHead(status, {
    'content-type': 'application/problem+json',
    'content-length': body.length,
    connection: 'close',
  })
  res.end(body)
}
