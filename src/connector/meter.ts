/**
 * The meter of a tool whose cost the operator wrote down: an estimate from its words or an argument, the actual from a
 * place in the result.
 * @module
 */
import { elements, members, type Span } from '../json.ts'
import { amountOf } from '../session/amount.ts'
import type { Amount, Cost, Meter } from './connector.ts'

/** Builds it. Numbers are read from the text they stand in, so that none goes through a float. */
export function statedMeter({ unit, amount, argument, actual }: Cost): Meter {
  const priced = (value: string | undefined): Amount | undefined => {
    const plain = amountOf(value)
    return plain === undefined ? undefined : { unit, amount: plain }
  }
  return {
    unit,
    estimate(argumentsText) {
      if (amount !== undefined) return priced(amount)
      return argument === undefined ? undefined : priced(numberAt(argumentsText ?? '{}', [argument]))
    },
    actual: (membersText) => (actual === undefined ? undefined : priced(numberAt(`{${membersText}}`, pathOf(actual)))),
  }
}

/** `structuredContent.usage.credits`, `structuredContent.tasks.0.cost`. */
const pathOf = (path: string): string[] => path.split('.')

/** The number at a path, or the text in its place, as it is written; undefined where there is none. */
function numberAt(text: string, path: readonly string[]): string | undefined {
  try {
    let span: Span = { start: 0, end: text.length }
    for (const step of path) {
      const index = /^\d{1,6}$/.test(step) ? Number(step) : -1
      const found = members(text, span.start)?.get(step) ?? elements(text, span.start)?.[index]
      if (found === undefined) return undefined
      span = found
    }
    const written = text.slice(span.start, span.end)
    return written.startsWith('"') ? (JSON.parse(written) as string) : written
  } catch {
    return undefined
  }
}
