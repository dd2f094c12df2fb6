/**
 * `tollgate cards --watch`: what waits now, then every move as it comes, through restarts of the gateway.
 * @module
 */
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { normalise } from '../policy/names.ts'
import type { Card } from './card.ts'
import { CliError, type Io, plain, print, when } from './output.ts'
import type { Rest } from './rest.ts'

export interface WatchOptions {
  readonly brand: string | undefined
  readonly role: string | undefined
  readonly tool: string | undefined
  readonly sessionId: string | undefined
  /** Only cards that come to one of these. */
  readonly statuses: readonly string[] | undefined
  /** One JSON document a line. */
  readonly json: boolean
}

/** The gateway gives a sign of life every 15 s; after so long without one the line is taken for dead. */
const SILENCE_MS = 45_000
const PAUSE_MS = { first: 500, most: 10_000 }
/** Statuses after which a card moves no more by itself. */
const ENDED = ['done', 'failed', 'unknown', 'denied', 'expired', 'withdrawn']

/**
 * Prints until the command is to end; then it returns, which is exit code 0. A gateway that goes away is looked for
 * again, and what moved meanwhile is printed. Throws CliError where the first try fails, or the key is refused.
 */
export async function watchCards(rest: Rest, io: Io, options: WatchOptions): Promise<void> {
  const { signal, done } = untilInterrupted(io)
  /** The last status printed of each card that may still move. */
  const seen = new Map<string, string>()
  let everConnected = false
  let pause = PAUSE_MS.first

  const tell = (event: string, card: Card): void => {
    if (seen.get(card.id) === card.status) return
    if (ENDED.includes(card.status)) seen.delete(card.id)
    else seen.set(card.id, card.status)
    if (!matches(card, options)) return
    print(io, options.json ? JSON.stringify({ event, card }) : line(event, card))
  }

  try {
    while (!signal.aborted) {
      try {
        await follow(rest, options, signal, { tell, seen, connected })
      } catch (error) {
        if (signal.aborted) break
        if (
          !everConnected ||
          (error instanceof CliError && error.facts.status !== undefined && Number(error.facts.status) < 500)
        )
          throw error
        if (pause === PAUSE_MS.first) io.stderr.write('tollgate: The gateway is away; trying again until it is back.\n')
      }
      await sleep(pause, signal)
      pause = Math.min(pause * 2, PAUSE_MS.most)
    }
  } finally {
    done()
  }

  function connected(): void {
    everConnected = true
    pause = PAUSE_MS.first
  }
}

interface Watching {
  readonly tell: (event: string, card: Card) => void
  readonly seen: ReadonlyMap<string, string>
  readonly connected: () => void
}

/** One stream, to its end. It is open before the cards are listed, so nothing falls between the two. */
async function follow(rest: Rest, { brand, role, tool, sessionId }: WatchOptions, signal: AbortSignal, to: Watching) {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const body = await rest.open('/v1/approvals/events', { brand }, AbortSignal.any([signal, silence.signal]))
    to.connected()
    await catchUp(rest, { brand, role, tool, sessionId }, to)
    const alive = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        timer.refresh()
        controller.enqueue(chunk)
      },
    })
    const decode = new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>
    for await (const { event, data } of body
      .pipeThrough(alive)
      .pipeThrough(decode)
      .pipeThrough(new EventSourceParserStream())) {
      if (event !== undefined) to.tell(event, JSON.parse(data) as Card)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** What waits, oldest first, and what became of the cards known to be open. */
async function catchUp(rest: Rest, query: Record<string, string | undefined>, { tell, seen }: Watching): Promise<void> {
  for (const id of [...seen.keys()]) {
    const card = await rest.get<Card>(`/v1/approvals/${id}`)
    tell(ENDED.includes(card.status) ? 'finished' : 'decided', card)
  }
  let cursor: string | undefined
  do {
    const page = await rest.get<{ items: Card[]; nextCursor: string | null }>('/v1/approvals', {
      ...query,
      status: 'pending',
      order: 'oldest',
      limit: '200',
      cursor,
    })
    for (const card of page.items) tell('created', card)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}

function matches(card: Card, { brand, role, tool, sessionId, statuses }: WatchOptions): boolean {
  return (
    (brand === undefined || card.brand === brand) &&
    (role === undefined || card.role === role) &&
    (tool === undefined || card.tool === (normalise(tool) ?? tool)) &&
    (sessionId === undefined || card.sessionId === sessionId) &&
    (statuses === undefined || statuses.includes(card.status))
  )
}

function line(event: string, card: Card): string {
  const at = event === 'created' ? card.createdAt : event === 'decided' ? card.decidedAt : card.endedAt
  const by = event === 'decided' && card.decidedBy !== undefined ? ` by ${card.decidedBy}` : ''
  return plain(`${when(at ?? card.createdAt)}  ${card.id}  ${card.status}${by}  ${card.brand}  ${card.summary}`)
}

/** Ends with the command's own signal, or at Ctrl-C. */
function untilInterrupted({ signal }: Io): { readonly signal: AbortSignal; readonly done: () => void } {
  if (signal !== undefined) return { signal, done: () => {} }
  const interrupted = new AbortController()
  const stop = () => interrupted.abort()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop)
  return {
    signal: interrupted.signal,
    done: () => {
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.removeListener(name, stop)
    },
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end, { once: true })
    function end() {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
  })
}
