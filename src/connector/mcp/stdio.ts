/**
 * MCP upstreams that are child processes: one wire is one child, and all its messages share the child's two pipes.
 * @module
 */
import { basename } from 'node:path'
import { startChild } from './child.ts'
import { childEnvironment, withoutValues } from './environment.ts'
import { createLineReader } from './lines.ts'
import { answers, type Message, progressOf, readMessages } from './message.ts'
import { createNoise, type Log } from './noise.ts'
import { createOutbox, type Letter } from './outbox.ts'
import type { Warden } from './warden.ts'
import { type Exchange, MESSAGE_LIMIT, type Transport, type Wire, type WireEvents, type WireProblem } from './wire.ts'

/** Bytes that may wait for a child that does not read. */
const QUEUE_LIMIT = MESSAGE_LIMIT
/** A line of stderr longer than this is cut. */
const ERROR_LINE_LIMIT = 64 * 1024

export interface StdioParts {
  /** The upstream's name, for the log. */
  readonly name: string
  readonly command: string
  readonly args?: readonly string[]
  /** All the child gets of the environment, besides the base names. Long values appear in no log. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly warden: Warden
  readonly log: Log
  /** Takes secrets out of a text bound for the log. */
  readonly redact: (text: string) => string
  /** Where the base names are read; the gateway's own environment unless given. */
  readonly hostEnvironment?: Readonly<Record<string, string | undefined>>
}

/** The way to a stdio upstream: every `open` starts a child. Closing it ends the children that are left. */
export function createStdioTransport(parts: StdioParts): Transport {
  const wires = new Set<Wire>()
  return {
    kind: 'stdio',
    label: basename(parts.command),
    open(events) {
      const wire = openWire(parts, events, () => wires.delete(wire))
      wires.add(wire)
      return wire
    },
    async close() {
      await Promise.all([...wires].map((wire) => wire.close()))
    },
  }
}

/** One request under way; without a letter when the wire took none. */
interface Open {
  readonly exchange: Exchange
  readonly letter: Letter | undefined
}

function openWire(parts: StdioParts, events: WireEvents, forget: () => void): Wire {
  const { name, log, env = {}, hostEnvironment = process.env } = parts
  const unnamed = withoutValues(env)
  const redact = (text: string) => parts.redact(unnamed(text))
  const opened = new Map<number, Open>()
  const outbox = createOutbox({ limit: QUEUE_LIMIT, write: (text) => child.write(text) })
  let over: WireProblem | undefined

  const stray = createNoise({
    redact,
    write: (fields) => log.warn({ upstream: name, ...fields }, 'An upstream wrote a line that is no message; skipped.'),
  })
  const spoken = createNoise({
    redact,
    write: (fields) => log.info({ upstream: name, ...fields }, 'An upstream wrote to its log.'),
  })
  const output = createLineReader({ limit: MESSAGE_LIMIT, onLine: read, onTooLong: skip })
  const errors = createLineReader({ limit: ERROR_LINE_LIMIT, onLine: spoken, onTooLong: spoken })

  const child = startChild(
    {
      command: parts.command,
      args: parts.args ?? [],
      environment: childEnvironment(hostEnvironment, env, process.platform),
      cwd: parts.cwd,
    },
    {
      onOutput: output.push,
      onErrorOutput: errors.push,
      onDrain: outbox.drain,
      onGone(reason, started) {
        output.end()
        errors.end()
        if (over !== undefined) return
        const kind = started ? 'broken' : 'unreachable'
        log.warn({ upstream: name, reason: redact(reason) }, 'An upstream process is gone.')
        finish({ kind, reason: redact(reason), ran: 'no' })
        forget()
        events.onClose({ kind, reason: redact(reason), ran: 'no' })
      },
    },
    parts.warden,
  )

  function finish(problem: WireProblem): void {
    over = problem
    outbox.clear()
    const left = [...opened.values()]
    opened.clear()
    for (const { exchange, letter } of left) exchange.onEnd({ ...problem, ran: letter?.sent ? 'maybe' : 'no' })
  }

  function read(line: Buffer): void {
    const text = line.toString('utf8').trim()
    if (text === '' || over !== undefined) return
    const messages = readMessages(text)
    if (messages === undefined) stray(line)
    else for (const message of messages) hear(message)
  }

  /** An answer too large to hold is the end of its request, where either end of the line shows whose it is. */
  function skip(beginning: Buffer, ending: Buffer): void {
    stray(beginning)
    const id = idOfCut(beginning.toString('utf8'), ending.toString('utf8'))
    if (id !== undefined) {
      end(id, { kind: 'too-large', reason: 'The answer is larger than 16 MiB.', ran: 'maybe' })
    }
  }

  function hear(message: Message): void {
    const { id, method } = message.value
    // An answer nobody waits for any more is no news.
    if (method === undefined) {
      if (typeof id === 'number') answer(id, message)
      return
    }
    const owner = progressOf(message) ?? (id === undefined ? ownerOf(message) : undefined)
    const open = owner === undefined ? undefined : opened.get(owner)
    if (open !== undefined) open.exchange.onMessage(message)
    else if (method !== 'notifications/progress') events.onMessage(message)
  }

  function answer(id: number, message: Message): void {
    const valid = answers(message, id)
    if (valid) opened.get(id)?.exchange.onMessage(message)
    const reason = 'The answer holds neither a result nor an error.'
    end(id, valid ? undefined : { kind: 'garbled', reason, ran: 'maybe' })
  }

  function end(id: number, problem: WireProblem | undefined): void {
    const open = opened.get(id)
    opened.delete(id)
    open?.exchange.onEnd(problem)
  }

  const full = (): WireProblem => ({
    kind: 'unreachable',
    reason: 'The process does not read what it is sent, and 16 MiB wait for it already.',
    ran: 'no',
  })

  return {
    hasSession: true,
    request({ id, text }, exchange) {
      const letter = over === undefined ? outbox.send(`${oneLine(text)}\n`) : undefined
      const open: Open = { exchange, letter }
      opened.set(id, open)
      if (letter === undefined) {
        const problem = over ?? full()
        queueMicrotask(() => opened.get(id) === open && end(id, { ...problem, ran: 'no' }))
      }
      return () => {
        if (opened.get(id) === open) opened.delete(id)
        if (letter !== undefined) outbox.withdraw(letter)
      }
    },
    async post(text) {
      if (over !== undefined) return { ...over, ran: 'no' }
      return outbox.send(`${oneLine(text)}\n`) === undefined ? full() : undefined
    },
    agree() {},
    listen: () => () => {},
    async close() {
      if (over === undefined) finish({ kind: 'closed', reason: 'The gateway closed the connection.', ran: 'no' })
      await child.end()
      forget()
    },
  }
}

/**
 * One line for every reader. Line breaks in JSON are blanks between tokens; U+2028 and U+2029, which stand in strings
 * only, end a line for some readers and say the same when escaped.
 */
function oneLine(text: string): string {
  if (!/[\n\r\u2028\u2029]/.test(text)) return text
  return text
    .replace(/[\n\r]/g, ' ')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
}

/** The request a notice names: the subscription it serves, or the one the upstream ends. */
function ownerOf(message: Message): number | undefined {
  const params = message.value.params as { requestId?: unknown; _meta?: unknown } | null | undefined
  const meta = params?._meta as Record<string, unknown> | null | undefined
  const owner =
    message.value.method === 'notifications/cancelled'
      ? params?.requestId
      : meta?.['io.modelcontextprotocol/subscriptionId']
  return typeof owner === 'number' ? owner : undefined
}

/** The id of an answer of which only the ends are known: it stands before the result, or last. */
function idOfCut(beginning: string, ending: string): number | undefined {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"/.exec(
      beginning,
    ) ?? /,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(ending)
  return found?.[1] === undefined ? undefined : Number(found[1])
}
