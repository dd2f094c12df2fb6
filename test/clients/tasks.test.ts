/** The reference client of the Tasks extension, over the MCP SDK's own, against one gateway. */
import * as v2 from '@modelcontextprotocol/client'
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  TaskCancelledError,
  TaskFailedError,
  type TaskEnabledSession,
} from '@modelcontextprotocol/ext-tasks/client'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type WaitsWorld, waitsWorld } from '../http/waits-world.ts'
import { textOf, until } from './kit.ts'

let world: WaitsWorld
beforeAll(async () => {
  world = await waitsWorld(45_000)
})
afterAll(() => world?.close())

const INFO = { name: 'tollgate-test', version: '1' }
const FRAMING = { protocolVersion: '2026-07-28', clientInfo: INFO, clientCapabilities: {} }

/** A connected client that declares tasks. What the SDK cannot yet carry goes over HTTP as the client framed it. */
async function connect(token: string): Promise<TaskEnabledSession> {
  const headers = { Authorization: `Bearer ${token}` }
  const client = new v2.Client(INFO, { versionNegotiation: { mode: 'auto' } })
  await client.connect(
    new v2.StreamableHTTPClientTransport(new URL(world.gateway.mcpUrl), { requestInit: { headers } }),
  )
  let count = 0
  const session = createTaskSessionFromClient(client, {
    endpointId: 'tollgate',
    v2RequestFraming: FRAMING,
    async rawDispatch(request) {
      const { method, params } = request as { method: string; params: { name?: string; taskId?: string } }
      const response = await fetch(world.gateway.mcpUrl, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': FRAMING.protocolVersion,
          'mcp-method': method,
          'mcp-name': params.taskId ?? params.name ?? '',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: `task-${++count}`, method, params }),
      })
      const answer = (await response.json()) as { result?: any; error?: any }
      return answer.error === undefined
        ? { kind: 'result', result: answer.result }
        : { kind: 'error', error: answer.error }
    },
  })
  onTestFinished(async () => {
    await session.close()
    await client.close()
  })
  return session
}

/** Starts a call that is parked, and waits for its card. */
async function parked(name: string) {
  const session = await connect(await world.person())
  const args = world.fresh()
  const execution = await session.callTool(`shop__${name}`, args)
  expect(execution.kind).toBe('task')
  return { execution, args, card: await world.waiting(args) }
}

test('finds the extension, and gets what asks nobody at once', async () => {
  const session = await connect(await world.person())
  const execution = await session.callTool('shop__look', {})
  expect(execution.kind).toBe('immediate')
  expect(textOf(resultFromTaskOutcome((await execution.settle()).outcome))).toBe('looked')
})

test('gets a handle, follows it, and has the result of the one run after the yes', async () => {
  const { execution, args, card } = await parked('pay')
  expect(execution.handle?.taskId).toBe(card.id)
  await world.decide(card.id, 'approve')
  const { outcome } = await execution.settle()
  expect(textOf(resultFromTaskOutcome(outcome))).toBe(`paid ${args.n}`)
  expect(world.ran(args)).toBe(1)
})

test('reads a denial as a result, and a JSON-RPC error as a failure', async () => {
  const [no, error] = [await parked('pay'), await parked('errs')]
  await world.decide(no.card.id, 'deny', { note: 'not today' })
  await world.decide(error.card.id, 'approve')
  const denied = resultFromTaskOutcome((await no.execution.settle()).outcome) as { isError?: boolean }
  expect([denied.isError, textOf(denied)]).toEqual([true, expect.stringMatching(/^approval_denied: .*not today/)])
  const { outcome } = await error.execution.settle()
  expect(() => resultFromTaskOutcome(outcome)).toThrow(TaskFailedError)
})

test('cancels, and the card is taken back', async () => {
  const { execution, args, card } = await parked('pay')
  await execution.cancel()
  const { outcome } = await execution.settle()
  expect(() => resultFromTaskOutcome(outcome)).toThrow(TaskCancelledError)
  await until('the card is withdrawn', async () => (await world.cardOf(card.id)).status === 'withdrawn')
  expect(world.ran(args)).toBe(0)
})
