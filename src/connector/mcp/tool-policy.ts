/**
 * How a person writes what an upstream's tools may do: the operator in the configuration, or a brand's connection.
 * @module
 */
import { z } from 'zod'
import { strict } from '../../policy/data-file.ts'

/** A decimal as text: numbers in the file are as people write them, and never become a float that is reckoned with. */
export const decimal = z
  .union([z.number(), z.string()], { error: 'an amount is a number such as 2 or 0.05.' })
  .transform(String)
  .refine((text) => /^\d{1,15}(\.\d{1,9})?$/.test(text), 'an amount is a plain number such as 2 or 0.05, not negative.')

const cost = strict({
  unit: z.string().min(1).toLowerCase().describe('What is counted: credits, usd. No allowance covers another unit.'),
  amount: decimal.optional().describe('The same for every call.'),
  argument: z.string().min(1).optional().describe('The argument that says how much a call takes.'),
  actual: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Path in the result to what it came to: structuredContent.usage.credits. Without it, what was estimated.',
    ),
}).refine(({ amount, argument }) => (amount === undefined) !== (argument === undefined), {
  message: 'state either "amount" or "argument".',
})

export const toolPolicy = strict({
  access: z.enum(['read', 'write', 'spend'], { error: 'an access is read, write or spend.' }),
  ask: z.boolean().optional(),
  grantable: z.boolean().optional(),
  standing: z
    .boolean()
    .optional()
    .describe('Whether a person may approve its calls for always, until they take it back.'),
  cost: cost.optional(),
})
  .refine(({ access, grantable }) => !(access === 'write' && grantable === true), {
    path: ['grantable'],
    message: 'a write is never grantable; take "grantable" out, or the tool is not a write.',
  })
  .refine(({ access, cost }) => cost === undefined || access === 'spend', {
    path: ['cost'],
    message: 'only a tool with access "spend" has a cost.',
  })

/** By exact name or pattern; an access word, or an object. */
export const toolPolicies = z.record(
  z.string().min(1),
  z.preprocess((written) => (typeof written === 'string' ? { access: written } : written), toolPolicy),
)

export type ToolPolicy = z.output<typeof toolPolicy>
