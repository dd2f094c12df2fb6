/**
 * Load, and what it took: operations driven for a time, with rate, latency and CPU.
 * @module
 */
import { cpuSeconds, machineSeconds, tree } from './proc.ts'

/** What one slice of load came to. */
export interface Slice {
  readonly count: number
  readonly errors: readonly string[]
  readonly perSecond: number
  /** Milliseconds until the last byte of the answer. */
  readonly p50: number
  readonly p99: number
  /** CPU of the target's process tree, microseconds per operation. */
  readonly cpuMicros: number
  /** CPU of the target's database server, likewise; 0 where there is none. */
  readonly databaseMicros: number
  /** Cores that other programs of this machine used meanwhile. */
  readonly foreignCores: number
}

/** Whose CPU is counted. */
export interface Accounts {
  readonly target: number
  readonly database: number | undefined
}

/** An operation that throws when it failed. */
export type Operation = () => Promise<unknown>

/** A target that gives no answer for this long (ms) has failed. */
const PATIENCE_MS = 15_000
const MOST_ERRORS = 20

/** Repeats every operation for `ms` milliseconds, each one after its own answer, all side by side. */
export async function drive(operations: readonly Operation[], ms: number, accounts: Accounts): Promise<Slice> {
  const targetTree = tree(accounts.target)
  const databaseTree = accounts.database === undefined ? [] : tree(accounts.database)
  const ownTree = tree(process.pid)
  const read = () => ({
    target: cpuSeconds(targetTree),
    database: cpuSeconds(databaseTree),
    own: cpuSeconds(ownTree),
    machine: machineSeconds(),
  })
  const took: number[] = []
  const errors: string[] = []
  const before = read()
  const started = performance.now()
  const until = started + ms

  async function work(operation: Operation): Promise<void> {
    for (let now = performance.now(); now < until && errors.length < MOST_ERRORS; ) {
      try {
        await operation()
        const end = performance.now()
        took.push(end - now)
        now = end
      } catch (problem) {
        errors.push(problem instanceof Error ? problem.message : String(problem))
        now = performance.now()
      }
    }
  }

  await withPatience(Promise.all(operations.map(work)), ms + PATIENCE_MS, errors)
  const seconds = (performance.now() - started) / 1000
  const after = read()
  const sorted = Float64Array.from(took).sort()
  const each = (from: number, to: number): number => ((to - from) * 1e6) / took.length
  return {
    count: took.length,
    errors,
    perSecond: took.length / seconds,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    cpuMicros: each(before.target, after.target),
    databaseMicros: each(before.database, after.database),
    foreignCores: Math.max(0, after.machine - before.machine - (after.own - before.own)) / seconds,
  }
}

async function withPatience(work: Promise<unknown>, ms: number, errors: string[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const tired = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      errors.push(`no answer within ${PATIENCE_MS / 1000} s`)
      resolve()
    }, ms)
  })
  await Promise.race([work, tired])
  clearTimeout(timer)
}

/** The value below which this share of ascending values lies. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}
