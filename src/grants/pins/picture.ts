/**
 * What is pinned, known in memory on every replica. A notice makes a change known at once; polling makes it certain; and
 * now and then everything is read again, so that a row that was edited or removed behind the gateway's back closes its tool.
 * @module
 */
import type { Database } from '../../db/connect.ts'
import type { Log } from '../../db/log.ts'
import type { Pin, Pins } from '../../policy/pins.ts'
import { readPins, readVersions } from './read.ts'
import type { PinSet } from './rows.ts'

/** How far back a poll looks, in seconds: more than any transaction or slow poll takes. */
const LOOK_BACK_S = 60
/** How often everything is read again, in milliseconds. */
const WHOLE_MS = 30_000
const AT_ONCE = 50

export interface Picture {
  /** The pins of a set: the same object until they changed. Undefined before the first discovery. */
  of(set: PinSet): Pins
  /** Reads what changed, now; `whole` reads everything again. Says whether that succeeded. */
  refresh(whole?: boolean): Promise<boolean>
  close(): Promise<void>
}

export interface PictureParts {
  readonly db: Database
  readonly log: Log
  /** Told after something changed. */
  readonly changed: () => void
  readonly pollMs?: number
}

const keyOf = ({ scope, connector }: PinSet): string => `${scope} ${connector}`

/** Reads everything once, then keeps up. Throws what the database says at the first reading. */
export async function createPicture({ db, log, changed, pollMs = 500 }: PictureParts): Promise<Picture> {
  const sets = new Map<string, { readonly version: number; readonly pins: ReadonlyMap<string, Pin> }>()
  let wholeAt = Number.NEGATIVE_INFINITY
  let failing = false
  let closed = false
  let reading: Promise<boolean> | undefined
  let next: { whole: boolean; done: Promise<boolean> } | undefined
  let timer: NodeJS.Timeout | undefined
  let unlisten: (() => Promise<void>) | undefined

  await look(true)
  await listen()
  keepPolling()

  function keepPolling(): void {
    timer = setTimeout(() => void refresh(false).finally(() => closed || keepPolling()), pollMs)
    timer.unref()
  }

  /** One read at a time; whoever asks while one is under way gets the one after, which sees what was committed before. */
  function refresh(whole: boolean): Promise<boolean> {
    if (reading === undefined) {
      reading = read(whole).finally(() => {
        reading = undefined
      })
      return reading
    }
    if (next !== undefined) {
      next.whole ||= whole
      return next.done
    }
    const waiting = { whole, done: Promise.resolve(false) }
    waiting.done = reading.then(() => {
      next = undefined
      return refresh(waiting.whole)
    })
    next = waiting
    return waiting.done
  }

  async function read(whole: boolean): Promise<boolean> {
    if (closed) return false
    try {
      if (unlisten === undefined) await listen()
      await look(whole || performance.now() - wholeAt > WHOLE_MS)
      if (failing) log.info({}, 'pins can be read again')
      failing = false
      return true
    } catch (error) {
      // Said once for each outage. What is known stays: calls need the database, and are refused without it.
      if (!failing) log.error({ reason: String(error) }, 'the pins of tools cannot be read')
      failing = true
      return false
    }
  }

  async function look(whole: boolean): Promise<void> {
    const started = performance.now()
    const found = await readVersions(db, whole ? undefined : LOOK_BACK_S)
    const wanted = whole ? found : found.filter((set) => (sets.get(keyOf(set))?.version ?? -1) < set.version)
    let touched = false
    for (let i = 0; i < wanted.length; i += AT_ONCE) {
      const some = wanted.slice(i, i + AT_ONCE)
      const pins = await readPins(db, some)
      for (const set of some) {
        const own = pins.filter((pin) => keyOf(pin) === keyOf(set))
        touched =
          take(
            set,
            new Map(own.map(({ tool, digest, body, intact, seen }) => [tool, { digest, body, intact, seen }])),
          ) || touched
      }
    }
    if (whole) {
      const there = new Set(found.map(keyOf))
      for (const key of [...sets.keys()]) if (!there.has(key)) touched = sets.delete(key) || touched
      wholeAt = started
    }
    if (touched) changed()
  }

  /** Takes up a set; one that is as it was keeps its object. */
  function take(set: PinSet & { readonly version: number }, pins: ReadonlyMap<string, Pin>): boolean {
    const before = sets.get(keyOf(set))
    if (before !== undefined && before.version > set.version) return false
    const same = before !== undefined && JSON.stringify([...before.pins]) === JSON.stringify([...pins])
    sets.set(keyOf(set), { version: set.version, pins: same ? before.pins : pins })
    return !same
  }

  async function listen(): Promise<void> {
    try {
      unlisten = await db.listen((event) => {
        if (event.kind === 'pins') void refresh(false)
        else if (event.kind === 'listening') void refresh(true)
      })
    } catch (error) {
      log.warn({ reason: String(error) }, 'pins are polled only, since notices cannot be listened to')
    }
  }

  return {
    of: (set) => sets.get(keyOf(set))?.pins,
    refresh: (whole = false) => refresh(whole),
    async close() {
      closed = true
      clearTimeout(timer)
      await reading
      await unlisten?.().catch(() => {})
    },
  }
}
