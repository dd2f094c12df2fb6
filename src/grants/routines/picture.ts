/**
 * What every routine lets its sessions do, known in memory on every replica. A notice makes a change known at once, polling
 * makes it certain, and a session of a version that was not read yet holds nothing.
 * @module
 */
import type { Database } from '../../db/connect.ts'
import type { Log } from '../../db/log.ts'
import type { RoutinePolicy } from '../../policy/routines.ts'
import { readIds, readPolicies } from './rows.ts'

/** How far back a poll looks, in seconds: more than any transaction or slow poll takes. */
const LOOK_BACK_S = 60
/** How often everything is read again, in milliseconds. */
const WHOLE_MS = 30_000

export interface RoutinePicture {
  /** A routine: the same object until it changed. */
  of(id: string): RoutinePolicy | undefined
  /** Changes with every change of any routine. */
  generation(): number
  /** Reads what changed, now. */
  refresh(): Promise<void>
  close(): Promise<void>
}

export interface PictureParts {
  readonly db: Database
  readonly log: Log
  /** Told after something changed. */
  readonly changed: () => void
  readonly pollMs?: number
}

/** Reads everything once, then keeps up. Throws what the database says at the first reading. */
export async function createRoutinePicture({ db, log, changed, pollMs = 500 }: PictureParts): Promise<RoutinePicture> {
  const known = new Map<string, RoutinePolicy>()
  let generation = 0
  let wholeAt = Number.NEGATIVE_INFINITY
  let failing = false
  let started = false
  let closed = false
  let reading: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let unlisten: (() => Promise<void>) | undefined

  await look(true)
  started = true
  await listen()
  keepPolling()

  function keepPolling(): void {
    timer = setTimeout(() => void refresh().finally(() => closed || keepPolling()), pollMs)
    timer.unref()
  }

  /** Reads after whatever is being read, so that whoever asks sees what was committed before. */
  function refresh(whole = false): Promise<void> {
    reading = reading.then(() => read(whole))
    return reading
  }

  async function read(whole: boolean): Promise<void> {
    if (closed) return
    try {
      if (unlisten === undefined) await listen()
      await look(whole || performance.now() - wholeAt > WHOLE_MS)
      if (failing) log.info({}, 'routines can be read again')
      failing = false
    } catch (error) {
      // Said once for each outage. What is known stays: calls need the database, and are refused without it.
      if (!failing) log.error({ reason: String(error) }, 'routines cannot be read')
      failing = true
    }
  }

  async function look(whole: boolean): Promise<void> {
    const now = performance.now()
    const found = await readPolicies(db, whole ? undefined : LOOK_BACK_S)
    let touched = false
    for (const routine of found) {
      const before = known.get(routine.id)
      if (before !== undefined && before.version >= routine.version) continue
      known.set(routine.id, routine)
      touched = true
    }
    // A routine that is gone leaves no row to be seen by; there are few of them.
    const there = known.size === 0 ? undefined : await readIds(db)
    for (const id of [...known.keys()]) if (there?.has(id) === false) touched = known.delete(id) || touched
    if (whole) wholeAt = now
    if (!touched) return
    generation++
    if (started) changed()
  }

  async function listen(): Promise<void> {
    try {
      unlisten = await db.listen((event) => {
        if (event.kind === 'routines') void refresh()
        else if (event.kind === 'listening') void refresh(true)
      })
    } catch (error) {
      log.warn({ reason: String(error) }, 'routines are polled only, since notices cannot be listened to')
    }
  }

  return {
    of: (id) => known.get(id),
    generation: () => generation,
    refresh: () => refresh(),
    async close() {
      closed = true
      clearTimeout(timer)
      await reading
      await unlisten?.().catch(() => {})
    },
  }
}
