/**
 * The spend ledger as a running gateway uses it: reserved with the row that says the call leaves, booked when it has
 * ended, however long the database is away meanwhile, and counted as unknown where nobody ever said how it ended.
 * @module
 */
import type { Audit, AuditEntry } from '../audit/audit.ts'
import { type Database, rows } from '../db/connect.ts'
import { sql } from '../db/drizzle.ts'
import { DatabaseUnavailable } from '../db/errors.ts'
import type { Log } from '../db/log.ts'
import { type Booked, keepUnknown, release, reserve, settle, type ToReserve } from './spend.ts'
import { type Left, leftOf } from './spend-left.ts'

/** How a call ended, as far as money goes. */
export type Ending =
  /** What it came to; the whole reservation where that is not said. */
  | { readonly is: 'done'; readonly actual?: string | undefined }
  | { readonly is: 'did-not-run' }
  | { readonly is: 'unknown' }

export interface Ledger {
  /** Reserves the amount and writes `started` down, or neither. False where the session has not so much left. */
  begin(wanted: ToReserve, limited: boolean, started: AuditEntry): Promise<boolean>
  /** Books the end of a call; undefined while the database is away, and then it is booked when it is back. Never throws. */
  end(id: string, how: Ending): Promise<Booked | undefined>
  /** What a session has left for a connector's bills in a unit; undefined where it has no such figure. */
  left(sessionId: string, connector: string, unit: string): Promise<Left | undefined>
  /** Marks as unknown what outran its lease; how many. Runs by itself. */
  sweep(): Promise<number>
  close(): Promise<void>
}

export interface LedgerParts {
  readonly db: Database
  readonly audit: Audit
  readonly log: Log
  readonly sweepMs?: number
  readonly againMs?: number
}

const AT_ONCE = 250

/** Starts the ledger; `close` stops its clock. */
export function createLedger({ db, audit, log, sweepMs = 5_000, againMs = 1_000 }: LedgerParts): Ledger {
  const later = new Set<NodeJS.Timeout>()
  let underWay: Promise<unknown> | undefined
  let closed = false
  const clock = setInterval(() => {
    underWay ??= sweep()
      .catch((error: unknown) => log.warn({ err: error }, 'The spend ledger cannot be swept; trying again.'))
      .finally(() => {
        underWay = undefined
      })
  }, sweepMs)
  clock.unref()

  async function book(id: string, how: Ending): Promise<Booked | undefined> {
    if (how.is === 'done') return settle(db.orm, id, how.actual)
    if (how.is === 'did-not-run') return release(db.orm, id)
    await keepUnknown(db.orm, id)
    return undefined
  }

  /** Tries again until it is booked: a call that has ended is known to have. */
  function bookLater(id: string, how: Ending): void {
    if (closed) return
    const timer = setTimeout(() => {
      later.delete(timer)
      book(id, how).catch(() => bookLater(id, how))
    }, againMs)
    timer.unref()
    later.add(timer)
  }

  async function sweep(): Promise<number> {
    const [due] = rows<{ due: boolean }>(
      await db.orm.execute(sql`select exists (select from spend where state = 'open' and lease_until <= now()) as due`),
    )
    if (due?.due !== true) return 0
    return audit.transaction(async (tx, record) => {
      const lapsed = rows<Lapsed>(
        await tx.execute(sql`
          with over as (
            select id from spend where state = 'open' and lease_until <= now()
            order by lease_until limit ${AT_ONCE} for update skip locked
          )
          update spend set state = 'unknown', ended_at = clock_timestamp() from over where spend.id = over.id
          returning attempt, brand, session_id, role, tool, connector, unit, trim_scale(reserved)::text as reserved`),
      )
      for (const { session_id: sessionId, unit, reserved: amount, attempt, ...row } of lapsed) {
        const says = { kind: 'spend.unknown', code: 'outcome_unknown', outcome: 'unknown' } as const
        record({ ...row, ...says, sessionId, attempt: attempt ?? undefined, cost: { unit, amount } })
      }
      return lapsed.length
    })
  }

  return {
    async begin(wanted, limited, started) {
      try {
        return await audit.transaction(async (tx, record) => {
          if (!(await reserve(tx, wanted, limited))) return false
          record(started)
          return true
        })
      } catch (error) {
        // It may have been reserved all the same, for a call that does not leave.
        if (error instanceof DatabaseUnavailable) bookLater(wanted.id, { is: 'did-not-run' })
        throw error
      }
    },
    async end(id, how) {
      try {
        return await book(id, how)
      } catch {
        bookLater(id, how)
        return undefined
      }
    },
    left: (sessionId, connector, unit) => leftOf(db, sessionId, connector, unit),
    sweep,
    async close() {
      closed = true
      clearInterval(clock)
      for (const timer of later) clearTimeout(timer)
      await underWay
    },
  }
}

interface Lapsed {
  readonly attempt: string | null
  readonly brand: string
  readonly session_id: string
  readonly role: string
  readonly tool: string
  readonly connector: string
  readonly unit: string
  readonly reserved: string
}
