/**
 * Which sessions are dead, known in memory on every replica within a second of the commit that killed them.
 * A notice makes it instant; polling makes it certain; and when the database cannot be asked, nobody claims to know.
 * @module
 */
import { and, gt, isNotNull, or, sql, type AnyPgColumn } from '../db/drizzle.ts'
import type { Database } from '../db/connect.ts'
import type { Log } from '../db/log.ts'
import { sessions } from '../db/schema.ts'

/** How far back a poll looks, in seconds: more than any transaction or slow poll takes. */
const LOOK_BACK_S = 60

/** After a gap of this many milliseconds between good polls, everything is read again. */
const GAP_MS = 30_000

/** How long a dead session is remembered after its tokens expired, in milliseconds: more than clocks differ. */
const KEEP_MS = 3_600_000
const SWEEP_MS = 60_000

/** Thrown when the database cannot be asked which sessions are dead: answer 503 and let nothing through. */
export class RevocationsUnknown extends Error {
  override name = 'RevocationsUnknown'
}

export interface Revocations {
  /** Whether the session was revoked or has ended, as far as is known. */
  isDead(id: string): boolean
  /** Whether what is known is recent enough to act on. */
  fresh(): boolean
  /** Resolves when what is known is recent, asking the database if need be. Throws RevocationsUnknown. */
  ensureFresh(): Promise<void>
  /** Hears each session's death once; returns how to stop. */
  onDead(listener: (id: string) => void): () => void
  close(): Promise<void>
}

export interface RevocationParts {
  readonly db: Database
  readonly log: Log
  /** From the start of one poll to the start of the next, in milliseconds. */
  readonly pollMs?: number
  /** How old the last good poll may be, counted from its start, in milliseconds. */
  readonly freshMs?: number
}

/** Starts polling at once; until the first poll has answered nothing is fresh. */
export function createRevocations({ db, log, pollMs = 300, freshMs = 800 }: RevocationParts): Revocations {
  /** Dead sessions, with the time after which they may be forgotten. */
  const dead = new Map<string, number>()
  const listeners = new Set<(id: string) => void>()
  let lastGood = Number.NEGATIVE_INFINITY
  let lastSwept = performance.now()
  let failing = false
  let closed = false
  let polling: Promise<boolean> | undefined
  let timer: NodeJS.Timeout | undefined
  let listening: Promise<(() => Promise<void>) | undefined> | undefined

  const fresh = () => performance.now() - lastGood <= freshMs
  void keepPolling()

  return {
    isDead: (id) => dead.has(id),
    fresh,
    async ensureFresh() {
      // A poll under way may have started too long ago, so there can be a second; a failed one is the answer.
      for (let tries = 0; tries < 2 && !fresh(); tries++) {
        if (!(await poll())) break
      }
      if (!fresh()) throw new RevocationsUnknown('The database cannot be asked which sessions are revoked; try again.')
    },
    onDead(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await polling
      const unlisten = await listening
      // A database that is gone has stopped listening already.
      await unlisten?.().catch(() => {})
    },
  }

  async function keepPolling(): Promise<void> {
    const started = performance.now()
    await poll()
    if (closed) return
    timer = setTimeout(keepPolling, Math.max(0, started + pollMs - performance.now()))
    timer.unref()
  }

  /** One poll at a time, shared by all who want one. Says whether it succeeded. */
  async function poll(): Promise<boolean> {
    if (closed) return false
    polling ??= ask().finally(() => {
      polling = undefined
    })
    return polling
  }

  async function ask(): Promise<boolean> {
    const started = performance.now()
    try {
      listening ??= listen()
      for (const { id, expiresAt } of await readDead(db, started - lastGood > GAP_MS)) {
        bury(id, expiresAt.getTime() + KEEP_MS)
      }
      lastGood = started
      sweep()
      if (failing) log.info({}, 'revocations can be read again')
      failing = false
      return true
    } catch (error) {
      // Said once for each outage, not with every poll.
      if (!failing) log.error({ reason: String(error) }, 'revocations cannot be read; calls are refused until they can')
      failing = true
      return false
    }
  }

  /** Listening only makes death known sooner; where it cannot start, the next poll tries again. */
  async function listen(): Promise<(() => Promise<void>) | undefined> {
    try {
      return await db.listen((event) => {
        if (event.kind === 'session') bury(event.id, Date.now() + KEEP_MS)
        if (event.kind === 'listening') void poll()
      })
    } catch (error) {
      log.warn({ reason: String(error) }, 'revocations are polled only, since notices cannot be listened to')
      listening = undefined
      return undefined
    }
  }

  function bury(id: string, until: number): void {
    const known = dead.get(id)
    dead.set(id, Math.max(until, known ?? 0))
    if (known !== undefined) return
    for (const listener of listeners) {
      try {
        listener(id)
      } catch (error) {
        log.error({ reason: String(error) }, 'a part of the gateway could not act on the death of a session')
      }
    }
  }

  /** Forgets sessions whose tokens have long expired, now and then. */
  function sweep(): void {
    if (performance.now() - lastSwept < SWEEP_MS) return
    lastSwept = performance.now()
    for (const [id, until] of dead) if (until < Date.now()) dead.delete(id)
  }
}

/** Sessions that died lately, or all dead ones whose tokens have not expired. */
function readDead(db: Database, all: boolean): Promise<{ id: string; expiresAt: Date }[]> {
  const since = (column: AnyPgColumn) => gt(column, sql`now() - make_interval(secs => ${LOOK_BACK_S})`)
  const wanted = all
    ? and(
        or(isNotNull(sessions.revokedAt), isNotNull(sessions.endedAt)),
        gt(sessions.expiresAt, sql`now() - interval '1 hour'`),
      )
    : or(since(sessions.revokedAt), since(sessions.endedAt))
  return db.orm.select({ id: sessions.id, expiresAt: sessions.expiresAt }).from(sessions).where(wanted)
}
