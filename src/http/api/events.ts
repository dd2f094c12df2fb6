/**
 * Cards as they move, as server-sent events.
 * @module
 */
import type { Context } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import type { Card, Cards, CardStatus } from '../../approvals/cards.ts'
import { shown } from './card-view.ts'

const KEEP_ALIVE_MS = 15_000
/** When a reader whose stream ended should come back. */
const RETRY_MS = 2_000
/** A reader who falls this far behind is let go; it comes back and lists afresh. */
const MOST_WAITING = 1_000

/** What a move is called; a card that starts to run is not news. One that a person settled is `settled`. */
const NAMES: Partial<Record<CardStatus, 'created' | 'decided' | 'finished'>> = {
  pending: 'created',
  approved: 'decided',
  denied: 'decided',
  done: 'finished',
  failed: 'finished',
  unknown: 'finished',
  expired: 'finished',
  withdrawn: 'finished',
}

/** Who reads, and for how long. */
export interface Reader {
  readonly sees: (card: Card) => boolean
  /** Asked before every event and every sign of life: a reader whose token was revoked is let go. */
  readonly alive: () => Promise<boolean>
}

/**
 * The stream of one reader: every move on any replica. It ends when moves may have been missed (the database's
 * notices broke off), since a reader that believes it saw all must list again.
 */
export function cardEvents(c: Context, cards: Cards, reader: Reader, closing: AbortSignal): Response {
  c.header('Cache-Control', 'no-store')
  c.header('X-Accel-Buffering', 'no')
  return streamSSE(c, (stream) => follow(stream, cards, reader, closing))
}

async function follow(
  stream: SSEStreamingApi,
  cards: Cards,
  { sees, alive }: Reader,
  closing: AbortSignal,
): Promise<void> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  let waiting = 0
  let last: Promise<unknown> = stream.write(`retry: ${RETRY_MS}\n: listening\n\n`)

  /** One after the other, in the order of the moves. */
  const then = (work: () => Promise<unknown>) => {
    if (++waiting > MOST_WAITING) return end()
    last = last
      .then(work)
      .catch(() => end())
      .finally(() => waiting--)
  }
  const stop = cards.onEvent((event) => {
    if (event.kind === 'listening') return end()
    const name = NAMES[event.status as CardStatus]
    if (name === undefined) return
    then(async () => {
      const card = await cards.get(event.id)
      if (card === undefined || !sees(card)) return
      if (!(await alive())) return end()
      const moved =
        card.settled !== undefined && (event.status === 'done' || event.status === 'failed') ? 'settled' : name
      await stream.writeSSE({ event: moved, id: `${event.id} ${event.status}`, data: JSON.stringify(shown(card)) })
    })
  })
  const beat = setInterval(
    () => then(async () => ((await alive()) ? stream.write(': still here\n\n') : end())),
    KEEP_ALIVE_MS,
  )
  stream.onAbort(end)
  const onClosing = () => end()
  closing.addEventListener('abort', onClosing)
  try {
    await ended
  } finally {
    clearInterval(beat)
    closing.removeEventListener('abort', onClosing)
    stop()
  }
}
