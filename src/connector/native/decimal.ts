/**
 * Amounts as plain decimals in text.
 * @module
 */
import Big from 'big.js'

/** A number or a decimal text as a plain decimal, not negative; undefined for anything else. */
export function decimal(value: unknown): string | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  try {
    const big = new Big(value)
    return big.lt(0) ? undefined : big.toFixed()
  } catch {
    return undefined
  }
}
