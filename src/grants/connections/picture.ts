/**
 * Which connections there are, known in memory on every replica and without secrets. A notice makes a change known at
 * once; polling makes it certain.
 * @module
 */
import type { Database } from '../../db/connect.ts'
import type { Log } from '../../db/log.ts'
import type { Values } from '../../connector/native/values.ts'
import { readChanged, type StoredConnection } from './rows.ts'

/** How far back a poll looks, in seconds: more than any transaction or slow poll takes. */
const LOOK_BACK_S = 60
/** After a gap of this many milliseconds between good polls, everything is read again. */
const GAP_MS = 30_000

/** A connection without what is sealed. */
export interface Pictured {
  readonly brand: string
  readonly slug: string
  readonly connector: string
  readonly settings: Values
  readonly identity: string
  readonly sharedWith: readonly string[]
  readonly version: number
  /** As in StoredConnection. */
  readonly consent: string | undefined
  readonly consentBecause: string | undefined
}

export interface Picture {
  /** A brand's own, by slug. */
  of(brand: string): ReadonlyMap<string, Pictured>
  /** Reads what changed, now. Says whether that succeeded. */
  refresh(): Promise<boolean>
  close(): Promise<void>
}

export interface PictureParts {
  readonly db: Database
  readonly log: Log
  /** Told of the brands whose connections changed, shared ones' brands included, after the picture shows it. */
  readonly changed: (brands: ReadonlySet<string>) => void
  readonly pollMs?: number
}

const NOTHING: ReadonlyMap<string, Pictured> = new Map()

/** Reads everything once, then keeps up. */
export async function createPicture({ db, log, changed, pollMs = 1_000 }: PictureParts): Promise<Picture> {
  const brands = new Map<string, Map<string, Pictured>>()
  let lastGood = Number.NEGATIVE_INFINITY
  let failing = false
  let closed = false
  let reading: Promise<boolean> | undefined
  let again = false
  let timer: NodeJS.Timeout | undefined
  let unlisten: (() => Promise<void>) | undefined

  await refresh()
  await listen()
  keepPolling()

  function keepPolling(): void {
    timer = setTimeout(() => void refresh().finally(() => closed || keepPolling()), pollMs)
    timer.unref()
  }

  /** One read at a time; whoever asks while one is under way gets the one after, which sees what was committed before. */
  async function refresh(): Promise<boolean> {
    if (closed) return false
    if (reading !== undefined) {
      again = true
      await reading
      if (reading !== undefined) return reading
      if (!again) return !failing
    }
    again = false
    reading = read().finally(() => {
      reading = undefined
    })
    return reading
  }

  async function read(): Promise<boolean> {
    const started = performance.now()
    try {
      if (unlisten === undefined && lastGood > 0) await listen()
      const isFirst = lastGood === Number.NEGATIVE_INFINITY
      const whole = started - lastGood > GAP_MS
      const found = await readChanged(db, whole ? undefined : LOOK_BACK_S)
      lastGood = started
      const touched = new Set<string>()
      for (const { stored, removed } of found) take(stored, removed, touched)
      if (failing) log.info({}, 'connections can be read again')
      failing = false
      if (touched.size > 0 && !isFirst) changed(touched)
      return true
    } catch (error) {
      // Said once for each outage. What is known stays: calls need the database, and are refused without it.
      if (!failing) log.error({ reason: String(error) }, 'connections cannot be read')
      failing = true
      return false
    }
  }

  function take(stored: StoredConnection, removed: boolean, touched: Set<string>): void {
    const own = brands.get(stored.brand) ?? new Map<string, Pictured>()
    const before = own.get(stored.slug)
    if (before === undefined ? removed : before.version >= stored.version) return
    if (removed) own.delete(stored.slug)
    else own.set(stored.slug, toPictured(stored))
    brands.set(stored.brand, own)
    for (const brand of [stored.brand, ...(before?.sharedWith ?? []), ...stored.sharedWith]) touched.add(brand)
  }

  async function listen(): Promise<void> {
    try {
      unlisten = await db.listen((event) => {
        if (event.kind === 'connection' || event.kind === 'listening') void refresh()
      })
    } catch (error) {
      log.warn({ reason: String(error) }, 'connections are polled only, since notices cannot be listened to')
    }
  }

  return {
    of: (brand) => brands.get(brand) ?? NOTHING,
    refresh,
    async close() {
      closed = true
      clearTimeout(timer)
      await reading
      await unlisten?.().catch(() => {})
    },
  }
}

function toPictured(stored: StoredConnection): Pictured {
  const { brand, slug, connector, settings, identity, sharedWith, version, consent, consentBecause } = stored
  return { brand, slug, connector, settings, identity, sharedWith, version, consent, consentBecause }
}
