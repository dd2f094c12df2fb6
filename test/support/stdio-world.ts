/** What the stdio tests share: a wire to the scripted upstream, with ears, a log, a ledger and an end. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Message } from '../../src/connector/mcp/message.ts'
import { createStdioTransport, type StdioParts } from '../../src/connector/mcp/stdio.ts'
import { createWarden } from '../../src/connector/mcp/warden.ts'
import type { Wire, WireProblem } from '../../src/connector/mcp/wire.ts'

export const UPSTREAM = join(import.meta.dirname, './stdio-upstream.mjs')

export interface Asked {
  /** The answer, or why there is none. */
  readonly ended: Promise<{ answer: Message | undefined; problem: WireProblem | undefined }>
  /** All messages of the exchange in order. */
  readonly heard: Message[]
  readonly drop: () => void
}

export interface World {
  readonly wire: Wire
  readonly heard: Message[]
  readonly closed: Promise<WireProblem>
  readonly logged: Array<Record<string, unknown>>
  ledger(): Array<Record<string, unknown>>
  request(method: string, params?: object, text?: string): Asked
  call(tool: string, args?: object): Asked
  /** The text of the tool's answer; throws when there is none. */
  say(tool: string, args?: object): Promise<string>
}

export function openWorld(args: readonly string[] = [], parts: Partial<StdioParts> = {}): World {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-stdio-'))
  const file = join(folder, 'ledger')
  const logged: Array<Record<string, unknown>> = []
  const log = {
    info: (fields: object, message: string) => void logged.push({ level: 'info', message, ...fields }),
    warn: (fields: object, message: string) => void logged.push({ level: 'warn', message, ...fields }),
  }
  const warden = createWarden({ log })
  const transport = createStdioTransport({
    name: 'scripted',
    command: process.execPath,
    args: [UPSTREAM, '--ledger', file, ...args],
    warden,
    log,
    redact: (text) => text.replaceAll('hunter2', '[redacted]'),
    ...parts,
  })
  const heard: Message[] = []
  const closed = Promise.withResolvers<WireProblem>()
  const wire = transport.open({ onMessage: (message) => void heard.push(message), onClose: closed.resolve })
  onTestFinished(async () => {
    await transport.close()
    warden.close()
    rmSync(folder, { recursive: true })
  })

  let next = 1
  function request(method: string, params: object = {}, text?: string): Asked {
    const id = next++
    const ended = Promise.withResolvers<{ answer: Message | undefined; problem: WireProblem | undefined }>()
    const messages: Message[] = []
    const drop = wire.request(
      { id, method, name: undefined, text: text ?? JSON.stringify({ jsonrpc: '2.0', id, method, params }) },
      {
        onMessage: (message) => void messages.push(message),
        onEnd: (problem) =>
          ended.resolve({ answer: messages.find((message) => message.value.method === undefined), problem }),
      },
    )
    return { ended: ended.promise, heard: messages, drop }
  }
  const call = (tool: string, args: object = {}) =>
    request('tools/call', { name: tool, arguments: args, _meta: { progressToken: next } })

  return {
    wire,
    heard,
    closed: closed.promise,
    logged,
    request,
    call,
    ledger: () =>
      (existsSync(file) ? readFileSync(file, 'utf8') : '')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    async say(tool, args) {
      const { answer, problem } = await call(tool, args).ended
      if (answer === undefined) throw new Error(problem?.reason)
      return (answer.value.result as { content: Array<{ text: string }> }).content[0]!.text
    },
  }
}

/** Whether the process runs. One that is dead and waits to be reaped by whoever inherited it does not. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    if (process.platform !== 'linux') return true
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z'
  } catch {
    return false
  }
}

export async function until(done: () => boolean, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs
  while (!done()) {
    if (Date.now() > deadline) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}
