/**
 * Real MCP servers to stand behind the gateway: the same tools once on the 1.x SDK with sessions, once on the 2.x SDK
 * for 2026-07-28 alone.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { McpServer as V1Server } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { createMcpHandler, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { freePort } from '../support/gateway.ts'

/** A server that can be stopped, which cuts every connection, and started again on its port with nothing remembered. */
export interface RealServer {
  readonly url: string
  /** Names of the tools that ran. */
  readonly ran: string[]
  start(): Promise<void>
  stop(): Promise<void>
}

export const WEATHER = { celsius: 21.5, sky: 'clear' }
export const LINK = { type: 'resource_link' as const, uri: 'file:///notes.txt', name: 'notes', mimeType: 'text/plain' }
export const IMAGE = {
  type: 'image' as const,
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  mimeType: 'image/png',
}
const STEPS = [1, 2, 3]
const QUESTION = 'Which colour?'
const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const WEATHER_SCHEMA = { celsius: z.number(), sky: z.string() }
const COLOUR = { type: 'object' as const, properties: { colour: { type: 'string' as const } }, required: ['colour'] }
const weather = () => ({ ...text(JSON.stringify(WEATHER)), structuredContent: WEATHER })
const coloured = (action: string, content: unknown) => text(JSON.stringify({ action, content: content ?? null }))

/** `McpServer` and `StreamableHTTPServerTransport` of the 1.x SDK, one server per session. */
export async function v1Server(): Promise<RealServer> {
  const port = await freePort()
  const ran: string[] = []
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  let listener: Server

  function build(): V1Server {
    const server = new V1Server({ name: 'real-v1', version: '1' })
    server.registerTool('greet', { inputSchema: { name: z.string() }, annotations: { readOnlyHint: true } }, (args) => {
      ran.push('greet')
      return text(`Hello, ${args.name}!`)
    })
    server.registerTool('weather', { outputSchema: WEATHER_SCHEMA }, weather)
    server.registerTool('media', {}, () => ({ content: [IMAGE, LINK] }))
    server.registerTool('steps', {}, async (extra) => {
      const progressToken = extra._meta?.progressToken
      for (const progress of progressToken === undefined ? [] : STEPS) {
        await extra.sendNotification({
          method: 'notifications/progress',
          params: { progressToken: progressToken!, progress },
        })
        await pause(20)
      }
      return text('stepped')
    })
    server.registerTool('ask', {}, async () => {
      const { action, content } = await server.server.elicitInput({ message: QUESTION, requestedSchema: COLOUR })
      return coloured(action, content)
    })
    return server
  }

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const id = req.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (known !== undefined) return known.handleRequest(req, res)
    if (id !== undefined) return void res.writeHead(404).end()
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (opened) => void sessions.set(opened, transport),
    })
    await build().connect(transport as Transport)
    await transport.handleRequest(req, res)
  }

  async function start(): Promise<void> {
    listener = createServer((req, res) => void handle(req, res).catch(() => res.destroy()))
    await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve))
  }
  async function stop(): Promise<void> {
    for (const transport of sessions.values()) await transport.close()
    sessions.clear()
    listener.closeAllConnections()
    await new Promise((resolve) => listener.close(resolve))
  }
  await start()
  return { url: `http://127.0.0.1:${port}/mcp`, ran, start, stop }
}

/** `createMcpHandler` of the 2.x SDK, which refuses every earlier revision. */
export async function v2Server(): Promise<RealServer> {
  const port = await freePort()
  const ran: string[] = []
  let handler: ReturnType<typeof createMcpHandler>
  let listener: Server

  function build(): McpServer {
    const server = new McpServer({ name: 'real-v2', version: '1' })
    const inputSchema = z.object({ name: z.string() })
    server.registerTool('greet', { inputSchema, annotations: { readOnlyHint: true } }, (args) => {
      ran.push('greet')
      return text(`Hello, ${args.name}!`)
    })
    server.registerTool('weather', { outputSchema: z.object(WEATHER_SCHEMA) }, weather)
    server.registerTool('media', {}, () => ({ content: [IMAGE, LINK] }))
    server.registerTool('steps', {}, async (ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken
      for (const progress of progressToken === undefined ? [] : STEPS) {
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken: progressToken!, progress },
        })
        await pause(20)
      }
      return text('stepped')
    })
    server.registerTool('ask', {}, (ctx) => {
      const answer = inputResponse(ctx.mcpReq.inputResponses, 'colour')
      if (answer.kind === 'elicit') return coloured(answer.action, answer.content)
      const colour = inputRequired.elicit({ mode: 'form', message: QUESTION, requestedSchema: COLOUR })
      return inputRequired({ inputRequests: { colour } })
    })
    return server
  }

  async function start(): Promise<void> {
    handler = createMcpHandler(() => build(), { legacy: 'reject' })
    listener = createAdaptorServer({ fetch: (request) => handler.fetch(request), hostname: '127.0.0.1' }) as Server
    await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve))
  }
  async function stop(): Promise<void> {
    await handler.close()
    listener.closeAllConnections()
    await new Promise((resolve) => listener.close(resolve))
  }
  await start()
  return { url: `http://127.0.0.1:${port}/mcp`, ran, start, stop }
}
