/**
 * Tokens that are asked for with a connection's credentials: kept in memory until shortly before they expire, and asked
 * for once, however many calls want one.
 * @module
 */

/** A token is renewed this long before it expires, or at half of a short life (ms). */
const EARLY_MS = 5 * 60_000
/** Most tokens kept; a further one drops the oldest. */
const MOST = 1_000

interface Kept {
  readonly token: Promise<string>
  /** A reading of performance.now(); 0 until the token is there. */
  until: number
}

type Ask = () => Promise<{ readonly token: string; readonly expiresInS: number }>

/** Builds the store of one connector's tokens. */
export function createMints() {
  const kept = new Map<string, Kept>()

  function fetched(key: string, ask: Ask): Promise<string> {
    const one: Kept = {
      until: Number.POSITIVE_INFINITY,
      token: ask().then(
        ({ token, expiresInS }) => {
          const life = expiresInS > 0 ? expiresInS * 1000 : 0
          one.until = performance.now() + Math.max(life - EARLY_MS, life / 2)
          return token
        },
        (problem: unknown) => {
          if (kept.get(key) === one) kept.delete(key)
          throw problem
        },
      ),
    }
    kept.delete(key)
    kept.set(key, one)
    if (kept.size > MOST) kept.delete(kept.keys().next().value as string)
    return one.token
  }

  return {
    /** The token under a key. `renewed`: the one that is kept was refused. */
    of(key: string, renewed: boolean): (ask: Ask) => Promise<string> {
      let refused = renewed ? kept.get(key) : undefined
      return (ask) => {
        const one = kept.get(key)
        if (one !== undefined && one !== refused && one.until > performance.now()) return one.token
        refused = undefined
        return fetched(key, ask)
      }
    },
  }
}
