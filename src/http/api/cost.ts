/**
 * What a call would cost, as far as somebody said so.
 * @module
 */
import { z } from '@hono/zod-openapi'
import type { RegisteredTool } from '../../connector/connector.ts'

/** The answer's `cost`. */
export const cost = z.object({
  unit: z.string().nullable().openapi({ description: 'What is counted, such as credits or usd.' }),
  amount: z.string().nullable().openapi({ description: 'A decimal; null where nobody can say it before the call.' }),
  because: z.string(),
})

/** What the operator wrote of a tool that spends: the same amount for every call, or the argument that says it. */
export interface Priced {
  readonly cost?: {
    readonly unit: string
    readonly amount?: string | undefined
    readonly argument?: string | undefined
  }
}

/** The cost of one call. What nobody stated is unknown, never nothing. */
export function costOf(
  { access, cost: stated }: RegisteredTool & Priced,
  given: Readonly<Record<string, unknown>> | undefined,
): z.input<typeof cost> {
  if (access !== 'spend') return { unit: null, amount: '0', because: 'A call of this tool spends nothing.' }
  if (stated === undefined) {
    return { unit: null, amount: null, because: 'Nobody said what a call of this tool costs.' }
  }
  const { unit, amount, argument } = stated
  if (amount !== undefined) return { unit, amount, because: 'Every call costs the same.' }
  if (argument === undefined) return { unit, amount: null, because: 'What a call costs shows only in its result.' }
  const value = given !== undefined && Object.hasOwn(given, argument) ? given[argument] : undefined
  if (typeof value === 'number' && value >= 0 && Number.isFinite(value)) {
    return { unit, amount: String(value), because: `The argument ${argument} says how much.` }
  }
  return { unit, amount: null, because: `The argument ${argument} says how much, and it is no number here.` }
}
