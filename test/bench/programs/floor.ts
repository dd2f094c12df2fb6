/**
 * The floor: an authenticated proxy that passes bytes on without reading them. No gateway on Node can do less.
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Dispatcher, Pool } from 'undici'
import { parameters, serveHttp } from './child.ts'
import { createCheck } from './token.ts'

const { upstream, secret } = parameters<{ upstream: string; secret: string }>()
const pool = new Pool(upstream, { connections: 256, pipelining: 1 })
const check = createCheck(secret)

const PASSED = ['content-type', 'accept', 'mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name']
const RETURNED = ['content-type', 'content-length', 'mcp-session-id']

function pick(headers: Record<string, string | string[] | undefined>, names: readonly string[]) {
  const picked: Record<string, string | string[]> = {}
  for (const name of names) {
    const value = headers[name]
    if (value !== undefined) picked[name] = value
  }
  return picked
}

function forward(req: IncomingMessage, res: ServerResponse, body: Buffer | null): void {
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart() {},
    onResponseStart(_controller, status, headers) {
      res.writeHead(status, pick(headers, RETURNED))
    },
    onResponseData(_controller, bytes) {
      parts.push(bytes)
    },
    onResponseEnd() {
      res.end(parts.length === 1 ? parts[0] : Buffer.concat(parts))
    },
    onResponseError() {
      if (!res.headersSent) res.writeHead(502)
      res.end()
    },
  }
  const parts: Buffer[] = []
  const method = req.method as Dispatcher.HttpMethod
  pool.dispatch({ method, path: req.url ?? '/', headers: pick(req.headers, PASSED), body }, handler)
}

serveHttp(
  createServer((req, res) => {
    const parts: Buffer[] = []
    const checked = check(req.headers.authorization)
    const pass = (good: boolean): void => {
      if (good) forward(req, res, parts.length === 0 ? null : parts.length === 1 ? parts[0]! : Buffer.concat(parts))
      else res.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
    }
    req.on('data', (part: Buffer) => parts.push(part))
    req.on('end', () => {
      if (typeof checked === 'boolean') pass(checked)
      else void checked.then(pass)
    })
  }),
)
