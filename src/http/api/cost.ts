/**
 * What a call would cost, as far as somebody can say it before, and what is left for it.
 * @module
 */
import { z } from '@hono/zod-openapi'
import type { RegisteredTool } from '../../connector/connector.ts'
import { meterOf, type Price } from '../../gate/price.ts'

/** The answer's `cost`. */
export const cost = z.object({
  unit: z.string().nullable().openapi({ description: 'What is counted, such as credits or usd.' }),
  amount: z
    .string()
    .nullable()
    .openapi({ description: 'A decimal: the most it comes to; null where nobody can say it before the call.' }),
  because: z.string(),
  left: z
    .string()
    .optional()
    .openapi({ description: 'What the session has left for it; not there where no allowance limits it.' }),
})

/** The cost of one call. What nobody stated is unknown, never nothing. */
export function costOf(tool: RegisteredTool, price: Price | undefined): z.input<typeof cost> {
  if (tool.access !== 'spend') return { unit: null, amount: '0', because: 'A call of this tool spends nothing.' }
  const meter = meterOf(tool)
  if (meter === undefined) {
    return { unit: null, amount: null, because: 'Nobody said what a call of this tool costs.' }
  }
  if (price?.cost === undefined) {
    return {
      unit: meter.unit,
      amount: null,
      because: 'These arguments, or the prices read so far, do not say how much.',
    }
  }
  const { unit, amount } = price.cost
  const left = price.free === undefined ? {} : { left: price.free }
  return { unit, amount, because: becauseOf(tool), ...left }
}

function becauseOf({ cost: stated }: RegisteredTool): string {
  if (stated?.amount !== undefined) return 'Every call costs the same.'
  if (stated?.argument !== undefined) return `The argument ${stated.argument} says how much.`
  return 'The most that these arguments can come to.'
}
