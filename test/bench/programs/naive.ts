/**
 * The gateway one writes first: the 1.x SDK's server transport per session, its client to the upstream, and a token check.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { parameters, serveHttp } from './child.ts'
import { createCheck } from './token.ts'

const { upstream, secret } = parameters<{ upstream: string; secret: string }>()
const check = createCheck(secret)
const info = { name: 'naive', version: '1.0.0' }
const sessions = new Map<string, StreamableHTTPServerTransport>()
const clients = { '/mcp': await dial('/mcp'), '/wide': await dial('/wide') }

async function dial(path: string): Promise<Client> {
  const client = new Client(info)
  await client.connect(new StreamableHTTPClientTransport(new URL(path, upstream)) as Transport)
  await client.listTools()
  return client
}

async function openSession(client: Client): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  })
  transport.onclose = () => void sessions.delete(transport.sessionId ?? '')
  const server = new Server(info, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => client.listTools(params))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => client.callTool(params))
  await server.connect(transport as Transport)
  return transport
}

async function handle(req: IncomingMessage & { body?: unknown }, res: ServerResponse, client: Client): Promise<void> {
  if (!(await check(req.headers.authorization))) {
    res.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
    return
  }
  const id = req.headers['mcp-session-id'] as string | undefined
  const transport = id === undefined ? await openSession(client) : sessions.get(id)
  if (transport === undefined) res.writeHead(404).end()
  else await transport.handleRequest(req, res, req.body)
}

const app = createMcpExpressApp()
for (const [path, client] of Object.entries(clients)) {
  app.all(path, (req: IncomingMessage, res: ServerResponse) => handle(req, res, client))
}
serveHttp(createServer(app))
