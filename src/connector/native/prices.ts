/**
 * The prices of accounts, where a connector reads them: read before a connection's first billed call, and now and then again.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'

/** How long prices hold, and how long a call waits for them (ms). */
const HOLD_MS = 6 * 3_600_000
const WAIT_MS = 5_000
/** Most accounts whose prices are kept. */
const MOST = 1_000

interface Kept {
  readonly at: number
  value: unknown
  reading: Promise<void>
}

export interface Prices {
  /** As last read; undefined before. */
  of(key: string): unknown
  /** Reads them if they are not there or old, and waits for that a while. Never throws. */
  prepare(key: string, read: () => Promise<unknown>): Promise<void>
}

/** Builds the store of one connector's prices. */
export function createPrices(): Prices {
  const kept = new Map<string, Kept>()
  return {
    of: (key) => kept.get(key)?.value,
    async prepare(key, read) {
      const known = kept.get(key)
      if (known === undefined || performance.now() - known.at > HOLD_MS) {
        const entry: Kept = { at: performance.now(), value: known?.value, reading: Promise.resolve() }
        entry.reading = read().then(
          (value) => {
            entry.value = value
          },
          () => void kept.delete(key),
        )
        if (kept.size >= MOST) kept.clear()
        kept.set(key, entry)
      }
      await Promise.race([kept.get(key)?.reading, sleep(WAIT_MS, undefined, { ref: false })])
    },
  }
}
