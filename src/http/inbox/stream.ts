/**
 * What changes while a page of the inbox is open, as server-sent events for its script: ids and states only, what they
 * look like is fetched. For nobody but who is signed in, and for an approver only of his brand.
 * @module
 */
import type { Context } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import type { Card, Cards, CardStatus } from '../../approvals/cards.ts'

export interface Following {
  readonly cards: Pick<Cards, 'get' | 'onEvent'>
  /** Whether a card is on the page. */
  readonly wanted: (card: Card) => boolean
  /** Ids of what waits there now, so that nothing is missed between the page and this stream. */
  readonly waiting: () => Promise<readonly string[]>
  /** Whether the person is still signed in; asked before anything is said. */
  readonly alive: () => Promise<boolean>
  /** Aborted when the gateway stops. */
  readonly closing: AbortSignal
  /** Called once, when the stream is over. */
  readonly onEnd: () => void
}

const KEEP_ALIVE_MS = 15_000
const MOST_BEHIND = 1_000
const SAID = new Set<CardStatus>(['pending', 'approved', 'denied', 'done', 'failed', 'unknown', 'expired', 'withdrawn'])

/** The stream of one page. It ends with the sign-in, and when moves may have been missed: the page comes back and asks anew. */
export function follow(c: Context, following: Following): Response {
  c.header('X-Accel-Buffering', 'no')
  return streamSSE(c, (stream) => run(stream, following))
}

async function run(stream: SSEStreamingApi, following: Following): Promise<void> {
  const { cards, wanted, waiting, alive, closing, onEnd } = following
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  let behind = 0
  let last: Promise<unknown> = Promise.resolve()

  /** One after the other, in the order of the moves, and nothing to somebody who is out. */
  const then = (work: () => Promise<unknown>) => {
    if (++behind > MOST_BEHIND) return end()
    last = last
      .then(async () => {
        if (await alive()) return work()
        await stream.writeSSE({ event: 'out', data: '' })
        end()
      })
      .catch(() => end())
      .finally(() => behind--)
  }
  const stop = cards.onEvent((event) => {
    if (event.kind === 'listening') return end()
    if (!SAID.has(event.status as CardStatus)) return
    then(async () => {
      const card = await cards.get(event.id)
      if (card === undefined || !wanted(card)) return
      const data = { id: card.id, status: event.status, title: card.title, brand: card.brand }
      await stream.writeSSE({ event: 'card', data: JSON.stringify(data) })
    })
  })
  then(async () => stream.writeSSE({ event: 'waiting', data: JSON.stringify(await waiting()) }))
  const beat = setInterval(() => then(() => stream.write(': still here\n\n')), KEEP_ALIVE_MS)
  stream.onAbort(end)
  const onClosing = () => end()
  closing.addEventListener('abort', onClosing)
  try {
    await ended
  } finally {
    clearInterval(beat)
    closing.removeEventListener('abort', onClosing)
    stop()
    onEnd()
  }
}
