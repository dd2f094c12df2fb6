/**
 * A gateway over one upstream whose tools ask a person, for tests of how callers wait.
 * @module
 */
import { expect } from 'vitest'
import { type Gateway, type RpcAnswer, startGateway } from '../support/gateway.ts'
import { startUpstream, type ToolCall, tool, type Upstream } from '../support/upstream.ts'

export const TASKS = 'io.modelcontextprotocol/tasks'
/** What a client with tasks declares on each request. */
export const DECLARED = { extensions: { [TASKS]: {} } }

export interface WaitsWorld {
  readonly gateway: Gateway
  readonly upstream: Upstream
  /** Issues a session in which a person decides. */
  person(more?: Record<string, unknown>): Promise<string>
  /** Arguments that no other test uses. */
  fresh(): { n: number }
  /** A modern call; it declares the tasks extension unless told otherwise. */
  call(
    token: string,
    name: string,
    args: object,
    options?: { capabilities?: object; meta?: object; params?: object },
  ): Promise<RpcAnswer>
  /** A modern request about a task, with its headers. */
  task(
    token: string,
    method: string,
    taskId: unknown,
    options?: { capabilities?: object; headers?: Record<string, string> },
  ): Promise<RpcAnswer>
  /** Calls with a handle; its task id. */
  handle(token: string, name: string, args: object): Promise<string>
  decide(id: string, how: 'approve' | 'deny', body?: object): Promise<{ status: number; body: any }>
  cardOf(id: string): Promise<any>
  /** The one card that waits with these arguments, once it does. */
  waiting(args: object): Promise<any>
  /** How often a tool ran with these arguments. */
  ran(args: object): number
  /** Lets the calls of `slow` that hang end. */
  release(): void
  close(): Promise<void>
}

/** Starts it. `waitMs`: how long a call is held. */
export async function waitsWorld(waitMs: number, env: Record<string, string> = {}): Promise<WaitsWorld> {
  const hanging = new Set<ToolCall>()
  const upstream = await startUpstream({
    tools: ['look', 'pay', 'slow', 'fails', 'errs'].map((name) => tool(name)),
    behaviours: {
      look: (call) => call.text('looked'),
      pay: (call) =>
        call.answer(
          `{"content":[{"type":"text","text":"paid ${call.args.n}"}],"structuredContent":{"big":1.50e2},"_meta":{"shop/id":7}}`,
        ),
      slow: (call) => void hanging.add(call),
      fails: (call) => call.answer('{"content":[{"type":"text","text":"no funds"}],"isError":true}'),
      errs: (call) => call.error(4001, 'shop shut'),
    },
  })
  const gateway = await startGateway(
    { shop: { type: 'http', url: upstream.url, tools: { '*': 'write', look: 'read' } } },
    { TOLLGATE_APPROVAL_WAIT_MS: String(waitMs), ...env },
  )
  await gateway.running.settled(10_000)
  let count = 0

  const world: WaitsWorld = {
    gateway,
    upstream,
    person: (more = {}) => gateway.token({ role: 'person-chat', approval: { channel: 'inbox' }, ...more }),
    fresh: () => ({ n: ++count }),
    call: (token, name, args, { capabilities = DECLARED, meta = {}, params = {} } = {}) =>
      gateway.modern(
        token,
        'tools/call',
        { name: `shop__${name}`, arguments: args, ...params },
        {
          capabilities: capabilities as Record<string, unknown>,
          meta: meta as Record<string, unknown>,
        },
      ),
    task: (token, method, taskId, { capabilities = DECLARED, headers } = {}) =>
      gateway.modern(
        token,
        method,
        { taskId },
        {
          capabilities: capabilities as Record<string, unknown>,
          headers: headers ?? { 'mcp-name': String(taskId) },
        },
      ),
    async handle(token, name, args) {
      const { answer } = await world.call(token, name, args)
      expect(answer.result.resultType).toBe('task')
      return answer.result.taskId
    },
    decide: (id, how, body = {}) => gateway.api('POST', `/v1/approvals/${id}/${how}`, body),
    cardOf: async (id) => (await gateway.api('GET', `/v1/approvals/${id}`)).body,
    async waiting(args) {
      const pending = async () =>
        (await gateway.api('GET', '/v1/approvals?status=pending&limit=100')).body.items.filter(
          (card: any) => JSON.stringify(card.arguments) === JSON.stringify(args),
        )
      await expect.poll(async () => (await pending()).length, { timeout: 5_000 }).toBe(1)
      return (await pending())[0]
    },
    ran: (args) => upstream.ledger.filter(({ argumentsText }) => argumentsText === JSON.stringify(args)).length,
    release() {
      for (const call of hanging) call.text('slow')
      hanging.clear()
    },
    async close() {
      world.release()
      await gateway.close()
      await upstream.close()
    },
  }
  return world
}

/** What the gateway says of a call in its own `_meta`. */
export const decisionOf = (result: any) => result?._meta?.['dev.tollgate/decision']
