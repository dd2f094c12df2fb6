/**
 * Amounts of money and credits: decimals as text, never floats.
 * @module
 */
import Big from 'big.js'

/** An amount is below a quadrillion, and states no more than eighteen places. */
const MOST = new Big('1e15')
const PLACES = 18
/** No longer than this is anything read as a number. */
const LONGEST = 64

/**
 * A number or a decimal text as a plain decimal: 0.1, '1e-9' → '0.1', '0.000000001'. Undefined for whatever is no amount
 * (NaN, negative, null, not there, empty) and for what is too large or too fine to be kept exactly: unknown, never zero.
 */
export function amountOf(value: unknown): string | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const text = String(value)
  if (text.length > LONGEST) return undefined
  try {
    const amount = new Big(text)
    const plain = amount.gte(0) && amount.lt(MOST) && amount.round(PLACES).eq(amount)
    return plain ? amount.abs().toFixed() : undefined
  } catch {
    return undefined
  }
}

/** Whether `a` is no more than `b`; of anything that is no amount it is not. */
export function isWithin(a: string, b: string | undefined): boolean {
  const [one, other] = [amountOf(a), amountOf(b)]
  return one !== undefined && other !== undefined && new Big(one).lte(other)
}

/** The sum of amounts, exactly. Throws for what is none. */
export function sumOf(amounts: readonly string[]): string {
  return amounts.reduce((sum, amount) => sum.plus(amount), new Big(0)).toFixed()
}
