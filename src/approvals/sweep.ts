/**
 * The clock of the cards: what nobody decided in time expires, and what outran its lease has an unknown outcome.
 * By the database's time, so that replicas whose clocks differ agree.
 * @module
 */
import { and, asc, eq, inArray, lte, sql } from '../db/drizzle.ts'
import type { Audit } from '../audit/audit.ts'
import { type Database, rows, type Tx } from '../db/connect.ts'
import { CHANNEL, type DbEvent } from '../db/events.ts'
import type { Log } from '../db/log.ts'
import { cards } from '../db/schema.ts'
import type { OnMove } from './decider.ts'
import { about, clock, EXPIRED, LAPSED } from './moves.ts'
import { SHOWN, toCard } from './show.ts'

export interface SweepParts {
  readonly db: Database
  readonly audit: Audit
  readonly log: Log
  readonly onMove?: OnMove | undefined
  readonly everyMs?: number
}

export interface Sweeping {
  /** How many cards moved. */
  sweep(): Promise<number>
  /** Stops the timer and waits for a sweep under way. */
  close(): Promise<void>
}

const AT_ONCE = 250
/** A busy process lets the sweep wait for its turn, and not come too late each time it tries. */
const TURN_MS = 30_000

/** Starts sweeping. While the database is away it only tries again. */
export function createSweep({ db, audit, log, onMove, everyMs = 1_000 }: SweepParts): Sweeping {
  let underWay: Promise<void> | undefined
  let silent = false
  const timer = setInterval(() => {
    underWay ??= sweepOnce().finally(() => {
      underWay = undefined
    })
  }, everyMs)

  async function sweepOnce(): Promise<void> {
    try {
      await sweep()
      silent = false
    } catch (error) {
      if (!silent)
        log.warn({ err: error }, 'Cards cannot be swept: the database does not answer. Trying again every second.')
      silent = true
    }
  }

  /** A look costs one small query; a transaction only starts when there is something to move. */
  async function sweep(): Promise<number> {
    let moved = 0
    while (await isDue()) {
      const now = (await lapse('pending')) + (await lapse('running'))
      // What is left is held by another, who moves it.
      if (now === 0) break
      moved += now
    }
    return moved
  }

  async function isDue(): Promise<boolean> {
    const [found] = rows<{ due: boolean }>(
      await db.orm.execute(sql`
        select exists (select from ${cards} where status = 'pending' and expires_at <= now())
            or exists (select from ${cards} where status = 'running' and lease_until <= now()) as due`),
    )
    return found?.due === true
  }

  /** Moves up to 250 cards whose time is over. Rows that another holds are left to it, or to the next round. */
  function lapse(from: 'pending' | 'running'): Promise<number> {
    const [ends, to, says] =
      from === 'pending'
        ? ([cards.expiresAt, 'expired', EXPIRED] as const)
        : ([cards.leaseUntil, 'unknown', LAPSED] as const)
    return audit.transaction(async (tx, record) => {
      // In a WITH of its own, which runs once: as a subquery it could be planned to run for each row.
      const over = tx.$with('over').as(
        tx
          .select({ id: cards.id })
          .from(cards)
          .where(and(eq(cards.status, from), lte(ends, sql`now()`)))
          .orderBy(asc(ends))
          .limit(AT_ONCE)
          .for('update', { skipLocked: true }),
      )
      const outcome = from === 'pending' ? {} : { outcome: JSON.stringify({ code: says.code }) }
      const moved = await tx
        .with(over)
        .update(cards)
        .set({ status: to, endedAt: clock, ...outcome })
        .where(and(inArray(cards.id, tx.select({ id: over.id }).from(over)), eq(cards.status, from)))
        .returning(SHOWN)
      for (const row of moved) record({ ...about(row), ...says })
      // In the order of their sessions, so that two sweeps that move several never wait for each other's allowances.
      const inTurn = moved.toSorted((a, b) => (a.sessionId + a.connector < b.sessionId + b.connector ? -1 : 1))
      if (onMove !== undefined) for (const row of inTurn) await onMove(tx, toCard(row), 'finished')
      await tellAll(
        tx,
        moved.map(({ id }) => ({ kind: 'card', id, status: to })),
      )
      return moved.length
    }, TURN_MS)
  }

  return {
    sweep,
    async close() {
      clearInterval(timer)
      await underWay
    },
  }
}

/** As `tell`, for many events in one statement. (Through text, since a driver may encode what it sees is JSON once more.) */
async function tellAll(tx: Tx, events: readonly DbEvent[]): Promise<void> {
  const payloads = JSON.stringify(events.map((event) => JSON.stringify(event)))
  await tx.execute(
    sql`select pg_notify(${CHANNEL}, payload) from json_array_elements_text(${payloads}::text::json) payload`,
  )
}
