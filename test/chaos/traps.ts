/**
 * Named points at which a gateway is killed, reached from outside: the upstream is where a call is sent to, and a row
 * lock holds a commit. No gateway code knows of them.
 * @module
 */

export const UPSTREAM_POINTS = ['after claim', 'after send', 'before commit', 'after answer'] as const
export type UpstreamPoint = (typeof UPSTREAM_POINTS)[number]
export const POINTS = ['before claim', 'in a transaction', ...UPSTREAM_POINTS] as const
export type Point = (typeof POINTS)[number]

/** A kill that waits for the next call which the replica sends. */
export interface Trap {
  readonly point: UpstreamPoint
  readonly replica: string
  /** Kills the gateway; resolves when it is gone. */
  readonly kill: () => Promise<void>
  readonly sprung: (n: number) => void
}

export interface Traps {
  /** Resolves with the call that sprang it, or undefined after `ms`, and then the trap is gone. */
  set(trap: Omit<Trap, 'sprung'>, ms: number): Promise<number | undefined>
  /** The trap for a call from this replica, which is sprung by it. */
  spring(replica: string, n: number): Trap | undefined
}

/** At most one trap is set at a time. */
export function createTraps(): Traps {
  let current: Trap | undefined
  return {
    set: (trap, ms) =>
      new Promise((resolve) => {
        const late = setTimeout(() => {
          current = undefined
          resolve(undefined)
        }, ms)
        current = {
          ...trap,
          sprung: (n) => {
            clearTimeout(late)
            resolve(n)
          },
        }
      }),
    spring(replica, n) {
      if (current?.replica !== replica) return undefined
      const trap = current
      current = undefined
      trap.sprung(n)
      return trap
    },
  }
}
