/**
 * What a call comes to at most, from the account's own price list. Sums are whole billionths of a dollar until the end,
 * so that no float rounds them. Pure.
 * @module
 */
import { decimal, type Result } from '../../src/connector/native/kit.ts'

/** Makes a sum more, for what the price list does not say. */
type Factor = (billionths: number) => number

/**
 * The most that a request for `rows` rows comes to, in dollars; `at` is where the price list has it. Undefined where the
 * list could not be read, lacks it, or counts in a way that is not known.
 */
export function most(prices: unknown, at: string, rows: number, factor: Factor = (sum) => sum): string | undefined {
  const list = at
    .split('.')
    .reduce<unknown>((tree, name) => (tree as Record<string, unknown> | undefined)?.[name], prices)
  const { priority_normal: parts } = (list ?? {}) as { priority_normal?: unknown }
  if (!Array.isArray(parts) || parts.length === 0) return undefined
  let sum = 0
  for (const { cost_type, cost } of parts as { cost_type?: unknown; cost?: unknown }[]) {
    const times = { per_request: 1, per_result: rows }[String(cost_type)]
    if (times === undefined || typeof cost !== 'number' || !(cost >= 0 && cost < 1_000)) return undefined
    sum += Math.ceil(cost * 1e9 - 1e-3) * times
  }
  return decimal(Math.ceil(factor(sum)) / 1e9)
}

/** The price of a tool whose sum depends on the rows alone. */
export function price<A>(at: string, rows: (args: A) => number, factor?: (args: A) => Factor) {
  return {
    estimate: (args: A, prices: unknown) => most(prices, at, rows(args), factor?.(args)),
    actual: ({ costUsd }: Result) => decimal(costUsd),
  }
}
