/**
 * MCP connectors under test: made, waited for, called, and closed with the test.
 * @module
 */
import { onTestFinished } from 'vitest'
import type { Answer, Connector, RegisteredTool, Running, UpstreamCall } from '../../src/connector/connector.ts'
import type { HttpEntry, McpEntry } from '../../src/connector/mcp/entry.ts'
import { createMcpConnector, type McpParts } from '../../src/connector/mcp/upstream.ts'
import type { Session } from '../../src/policy/words.ts'
import { startUpstream, type Upstream, type UpstreamOptions } from './upstream.ts'

/** What a connector logged and how often it said that it changed. */
export interface Heard {
  readonly lines: string[]
  changes: number
}

/** An upstream that is closed when the test is over. */
export async function upstream(options: UpstreamOptions = {}): Promise<Upstream> {
  const started = await startUpstream(options)
  onTestFinished(() => started.close())
  return started
}

/** A connector that is closed when the test is over, and what it said meanwhile. */
export function connector(entry: McpEntry, parts: Partial<McpParts> = {}): { connector: Connector; heard: Heard } {
  const heard: Heard = { lines: [], changes: 0 }
  const write = (fields: object, message: string) => void heard.lines.push(`${message} ${JSON.stringify(fields)}`)
  const made = createMcpConnector(entry, {
    log: { info: write, warn: write },
    // No test here starts a process.
    warden: undefined as unknown as McpParts['warden'],
    clientInfo: { name: 'tollgate', version: '0.0.0' },
    changed: () => {
      heard.changes++
    },
    ...parts,
  })
  onTestFinished(() => made.close())
  return { connector: made, heard }
}

/** The entry of a scripted upstream. */
export function entryOf(url: string, more: Partial<HttpEntry> = {}): HttpEntry {
  return { type: 'http', name: 'up', url, brands: '*', allowPrivate: true, ...more }
}

/** A connector of a scripted upstream, ready. */
export async function ready(
  started: Upstream,
  more: Partial<HttpEntry> = {},
): Promise<{ connector: Connector; heard: Heard }> {
  const made = connector(entryOf(started.url, more))
  await until(() => made.connector.state().state === 'ready')
  return made
}

/** Waits for something to become true. */
export async function until(test: () => boolean, ms = 5_000): Promise<void> {
  const end = Date.now() + ms
  while (!test()) {
    if (Date.now() > end) throw new Error(`It did not become true within ${ms} ms: ${test}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Starts a call of a tool by the name its upstream knows. */
export function start(
  made: Connector,
  name: string,
  args: object | string | undefined = {},
  more: Partial<UpstreamCall> & { caller?: string } = {},
): Running {
  const found =
    made.tools().find((candidate) => candidate.upstreamName === name) ?? ({ upstreamName: name } as RegisteredTool)
  const { caller = 's_1', ...rest } = more
  return made.call({
    tool: found,
    session: { id: caller } as Session,
    argumentsText: typeof args === 'object' ? JSON.stringify(args) : args,
    extraText: '',
    metaText: '',
    elicitation: { form: false, url: false },
    onProgress: undefined,
    ask: () => Promise.reject(new Error('Nobody is asked in this test.')),
    ...rest,
  })
}

/** Calls a tool and waits for its answer. */
export function call(...args: Parameters<typeof start>): Promise<Answer> {
  return start(...args).answer
}

/** The first text block of a result. */
export function textOf(answer: Answer): string {
  if (answer.kind !== 'result') throw new Error(`No result: ${JSON.stringify(answer)}`)
  return (JSON.parse(`{${answer.members}}`) as { content: Array<{ text: string }> }).content[0]?.text ?? ''
}
