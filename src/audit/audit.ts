/**
 * The append-only record of one process: entries wait a moment and are written together, or at once for who must know
 * they are durable, or with the change they tell of in its transaction.
 * @module
 */
import { randomUUID } from 'node:crypto'
import type { Database, Tx } from '../db/connect.ts'
import { DatabaseRefused, DatabaseUnavailable, isDuplicate } from '../db/errors.ts'
import type { Log } from '../db/log.ts'
import { createTurns } from '../db/turns.ts'
import { type AuditEntry, chain, GENESIS, type Head, type Stamped } from './entry.ts'
import { insertRows, readHead } from './rows.ts'

export type { AuditEntry, AuditKind } from './entry.ts'

/** The record cannot be kept, so nothing that needs one may happen. */
export class AuditUnavailable extends Error {
  override name = 'AuditUnavailable'
}

export interface Audit {
  /** The chain this process writes. */
  readonly writer: string
  /** Written within moments of the database being there. Throws AuditUnavailable when the queue is full. */
  record(entry: AuditEntry): void
  /** Resolves when the entry is durable. Rejects with AuditUnavailable after two seconds; it may be written still. */
  commit(entry: AuditEntry): Promise<void>
  /**
   * A change and the rows that tell of it, in one transaction. Throws what `work` threw or the database said; after
   * DatabaseUnavailable it is unknown whether both were kept. Inside, never wait for `commit` or another `transaction`.
   * `turnMs`: how long it waits for its turn, for work that nobody waits for; two seconds otherwise.
   */
  transaction<T>(work: (tx: Tx, record: (entry: AuditEntry) => void) => Promise<T>, turnMs?: number): Promise<T>
  /** Whether rows are being written. */
  healthy(): boolean
  /** Writes what waits; what cannot be written is counted in the log. */
  close(): Promise<void>
}

export interface AuditParts {
  readonly db: Database
  readonly log: Log
  /** How long `record` lets an entry wait for others. */
  readonly batchMs?: number
  /** Most entries that may wait. */
  readonly queueLimit?: number
}

interface Waiting extends Stamped {
  readonly done?: () => void
}

/** A chain end that an unanswered write may have left in the database. */
interface Maybe extends Head {
  readonly batch?: readonly Waiting[]
}

const BATCH_ROWS = 1000
const COMMIT_MS = 2000
/** Longest pause before another attempt: well under COMMIT_MS, so that commits succeed once the database is back. */
const MAX_PAUSE_MS = 500
/** Failing for so long is not a hiccup. */
const UNHEALTHY_MS = 3000

const same = (a: Head, b: Head): boolean => a.seq === b.seq && a.hash === b.hash

const stamp = (entry: AuditEntry): Stamped => ({ at: new Date().toISOString(), entry })

/** Starts a chain of its own. Nothing is read or written before the first entry. */
export function createAudit({ db, log, batchMs = 50, queueLimit = 10_000 }: AuditParts): Audit {
  const inTurn = createTurns()
  let writer: string = randomUUID()
  let head: Head = GENESIS
  /** Not empty while it is unknown whether a write took place; the next write finds out first. */
  let maybes: Maybe[] = []
  let queue: Waiting[] = []
  /** A batch that failed: tried again as it is, so that one that was stored after all is recognised. */
  let kept: readonly Waiting[] = []
  let failingSince: number | undefined
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let flushing = false
  let closed = false

  function flushIn(ms: number): void {
    if (flushing || closed) return
    if (timer !== undefined) {
      // While writing fails, its own pace holds.
      if (failures > 0 || ms >= batchMs) return
      clearTimeout(timer)
    }
    if (ms === 0) void flush()
    else timer = setTimeout(flush, ms)
  }

  async function flush(): Promise<void> {
    timer = undefined
    flushing = true
    await inTurn(writeBatch)
    flushing = false
    if (failures > 0) flushIn(Math.min(50 * 2 ** failures, MAX_PAUSE_MS))
    else if (queue.some(({ done }) => done !== undefined) || queue.length >= BATCH_ROWS) flushIn(0)
    else if (queue.length > 0) flushIn(batchMs)
  }

  /** Writes one batch; one that fails is kept. */
  async function writeBatch(): Promise<void> {
    const start = Date.now()
    if (kept.length === 0) kept = queue.splice(0, BATCH_ROWS)
    if (kept.length === 0) return
    try {
      await findOut()
      if (kept.length > 0) {
        await append(db.orm, kept, kept)
        settled()
      }
      failures = 0
      failingSince = undefined
    } catch (error) {
      failures++
      failingSince ??= start
      log.error({ reason: String(error), rows: kept.length }, 'The audit record could not be written; trying again.')
    }
  }

  function settled(): void {
    for (const { done } of kept) done?.()
    kept = []
  }

  /** Adds rows to the chain. `head` moves at once for a single statement, by the caller after its commit otherwise. */
  async function append(orm: Tx, stamped: readonly Stamped[], batch?: readonly Waiting[]): Promise<Head> {
    const rows = chain(writer, head, stamped)
    const { seq, hash } = rows.at(-1)!
    const end: Maybe = { seq, hash, ...(batch && { batch }) }
    try {
      await insertRows(orm, writer, rows)
    } catch (error) {
      if (!(error instanceof DatabaseRefused) || isDuplicate(error)) maybes.push(end)
      throw error
    }
    if (batch !== undefined) advance(end)
    return end
  }

  function advance(end: Head): void {
    head = end
    maybes = []
  }

  /** After an unanswered write: looks which of the possible ends the chain has. */
  async function findOut(): Promise<void> {
    if (maybes.length === 0) return
    const stored = (await readHead(db.orm, writer)) ?? GENESIS
    if (same(stored, head)) return
    const end = maybes.find((maybe) => same(stored, maybe))
    if (end === undefined) {
      log.error({ writer }, 'Rows of this audit chain were changed by somebody else: going on in a new chain.')
      writer = randomUUID()
      advance(GENESIS)
      return
    }
    const mine = end.batch !== undefined && end.batch === kept
    advance(end)
    if (mine) settled()
  }

  function push(waiting: Waiting): void {
    if (closed) throw new AuditUnavailable('The audit record is closed: this process is stopping.')
    if (queue.length + kept.length >= queueLimit) {
      throw new AuditUnavailable(`The audit record is full: ${queueLimit} entries wait to be written.`)
    }
    queue.push(waiting)
  }

  /** In turn, or not at all: behind others whose database does not answer, nobody waits longer than for a commit. */
  function soon<T>(work: () => Promise<T>, turnMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      let late = false
      const timer = setTimeout(() => {
        late = true
        reject(new AuditUnavailable(`The audit record was busy for ${turnMs} ms. Check the database.`))
      }, turnMs)
      void inTurn(async () => {
        if (late) return
        clearTimeout(timer)
        await work().then(resolve, reject)
      })
    })
  }

  const healthy = () => !closed && (failingSince === undefined || Date.now() - failingSince < UNHEALTHY_MS)

  return {
    get writer() {
      return writer
    },
    record(entry) {
      push(stamp(entry))
      flushIn(queue.length >= BATCH_ROWS ? 0 : batchMs)
    },
    async commit(entry) {
      await new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => {
          queue = queue.filter((other) => other !== waiting)
          reject(new AuditUnavailable(`The audit record was not written within ${COMMIT_MS} ms. Check the database.`))
        }, COMMIT_MS)
        const done = () => {
          clearTimeout(late)
          resolve()
        }
        const waiting: Waiting = { ...stamp(entry), done }
        try {
          push(waiting)
        } catch (error) {
          clearTimeout(late)
          reject(error)
          return
        }
        flushIn(0)
      })
    },
    transaction: (work, turnMs = COMMIT_MS) =>
      soon(async () => {
        if (closed) throw new AuditUnavailable('The audit record is closed: this process is stopping.')
        await findOut()
        let end: Head | undefined
        try {
          const result = await db.transaction(async (tx) => {
            const stamped: Stamped[] = []
            const result = await work(tx, (entry) => stamped.push(stamp(entry)))
            if (stamped.length > 0) end = await append(tx, stamped)
            return result
          })
          if (end !== undefined) advance(end)
          return result
        } catch (error) {
          if (end !== undefined && error instanceof DatabaseUnavailable) maybes.push(end)
          throw error
        }
      }, turnMs),
    healthy,
    async close() {
      if (closed) return
      closed = true
      if (timer !== undefined) clearTimeout(timer)
      await inTurn(async () => {
        do await writeBatch()
        while (failures === 0 && queue.length > 0)
      })
      const lost = kept.length + queue.length
      if (lost > 0)
        log.error({ rows: lost }, 'Audit entries were lost: the database was not there when this process stopped.')
    },
  }
}
