/**
 * When a delivery is tried again: the schedule that Standard Webhooks recommends, up to about a day.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 * @module
 */

/** Pauses after the first attempt, the second, and so on (s): 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h. */
const PAUSES_S = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]
/** A pause is longer or shorter by up to this part, so that what failed together does not come back together. */
const JITTER = 0.1
/** A receiver's own `Retry-After` is heeded up to here (ms). */
const MOST_ASKED_MS = 3_600_000

/**
 * How long to wait after so many failed attempts (ms); undefined: no more. `random` is from 0 to 1; `askedMs` is the
 * receiver's own wish.
 */
export function pauseAfter(attempts: number, random: number, askedMs = 0): number | undefined {
  const pause = PAUSES_S[attempts - 1]
  if (pause === undefined) return undefined
  const own = pause * 1_000 * (1 - JITTER + 2 * JITTER * random)
  return Math.round(Math.max(own, Math.min(askedMs, MOST_ASKED_MS)))
}

/** The wish of a `Retry-After` header in whole seconds (ms); 0 for none, and for a date. */
export function askedPause(header: string | string[] | undefined): number {
  return typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : 0
}
