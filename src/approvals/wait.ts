/**
 * Waiting for a card to move. Waiters live in memory and cost nothing but their entry: a restart loses the wait, never the card.
 * Woken by the database's notice, and by a poll where a notice was lost.
 * @module
 */
import type { DbEvent } from '../db/events.ts'
import type { Card, CardStatus } from './show.ts'

export interface WaitOptions {
  /** The status the caller has in hand; the wait ends with any other. `pending` when left away. */
  readonly from?: CardStatus
  /** The longest wait, in milliseconds. */
  readonly untilMs: number
  /** Hands out what to call when the caller goes away: it ends the wait, not the card. */
  readonly onGone?: (leave: () => void) => void
}

export interface Waiting {
  /** The card once it moved, or as it was when the wait ended. Undefined when there is none. */
  wait(id: string, options: WaitOptions): Promise<Card | undefined>
  /** Whether anyone in this process waits for the card. */
  waiting(id: string): boolean
  heard(event: DbEvent): void
  close(): void
}

export interface WaitingParts {
  readonly read: (ids: readonly string[]) => Promise<Card[]>
  readonly statuses: (ids: readonly string[]) => Promise<{ id: string; status: string }[]>
  readonly pollMs: number
}

interface Waiter {
  readonly from: CardStatus
  readonly wake: (card: Card | undefined) => void
}

const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * The ids with the last one repeated up to a power of two: a database connection keeps a statement ready for each number
 * of parameters it ever met, so they come in few numbers.
 */
export function filled(ids: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, ids.length)))
  return Array.from({ length: ids.length === 0 ? 0 : length }, (_, i) => ids[Math.min(i, ids.length - 1)]!)
}

/** Builds the waiting room. One query serves all waiters, at a poll as at a burst of decisions. */
export function createWaiting({ read, statuses, pollMs }: WaitingParts): Waiting {
  const waiters = new Map<string, Set<Waiter>>()
  const moved = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let reading = false
  let polling = false

  function add(id: string, waiter: Waiter): void {
    const beside = waiters.get(id)
    if (beside === undefined) waiters.set(id, new Set([waiter]))
    else beside.add(waiter)
    timer ??= setInterval(poll, pollMs)
  }

  function remove(id: string, waiter: Waiter): void {
    const beside = waiters.get(id)
    beside?.delete(waiter)
    if (beside?.size === 0) waiters.delete(id)
    if (waiters.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function wakeAll(id: string, card: Card | undefined): void {
    for (const waiter of waiters.get(id) ?? []) if (waiter.from !== card?.status) waiter.wake(card)
  }

  function note(id: string, status: string): void {
    for (const waiter of waiters.get(id) ?? []) {
      if (waiter.from === status) continue
      moved.add(id)
      return
    }
  }

  /** Reads all cards that moved, in as few queries as there is time for. A failure is left to the next poll. */
  async function readMoved(): Promise<void> {
    if (reading) return
    reading = true
    try {
      while (moved.size > 0) {
        const ids = [...moved]
        moved.clear()
        for (const card of await read(filled(ids))) wakeAll(card.id, card)
      }
    } catch {
      // The database is away. Whoever still waits is seen to by the next poll, or by the deadline.
    } finally {
      reading = false
    }
  }

  async function poll(): Promise<void> {
    if (polling || waiters.size === 0) return
    polling = true
    try {
      const seen = new Map((await statuses(filled([...waiters.keys()]))).map(({ id, status }) => [id, status]))
      for (const [id, status] of seen) note(id, status)
      await readMoved()
    } catch {
      // As above.
    } finally {
      polling = false
    }
  }

  return {
    async wait(id, { from = 'pending', untilMs, onGone }) {
      const { promise: changed, resolve: wake } = Promise.withResolvers<Card | undefined>()
      const waiter = { from, wake }
      // Before the first look, so that no move between the two is missed.
      add(id, waiter)
      onGone?.(() => wake(undefined))
      const deadline = setTimeout(() => wake(undefined), untilMs > 0 ? Math.min(untilMs, LONGEST_TIMER_MS) : 0)
      try {
        const [first] = await read([id])
        if (first === undefined || first.status !== from) return first
        return (await changed) ?? first
      } finally {
        clearTimeout(deadline)
        remove(id, waiter)
      }
    },

    waiting: (id) => waiters.has(id),

    heard(event) {
      if (event.kind === 'listening') void poll()
      if (event.kind !== 'card') return
      note(event.id, event.status)
      if (moved.size > 0) void readMoved()
    },

    close() {
      for (const id of [...waiters.keys()]) wakeAll(id, undefined)
      clearInterval(timer)
    },
  }
}
