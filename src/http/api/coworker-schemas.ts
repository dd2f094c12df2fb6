/**
 * What the routes of coworkers and the goal agent take and answer.
 * @module
 */
import { z } from '@hono/zod-openapi'
import { strict } from '../../policy/data-file.ts'
import { sessionClaims } from '../../session/claims.ts'

const isPlain = (text: string) => text.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f]/.test(text)
const line = (most: number) => z.string().min(1).max(most).refine(isPlain, 'expected text without control characters')
const brand = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected 1 to 64 letters, digits, ".", "_" or "-"')
const version = z.int().positive()
const names = z.array(line(200)).max(200)
const { connectors } = sessionClaims.shape.grant.shape
/** Which figures are right depends on the connector, so the rules of a grant say it. */
const allowance = z.record(line(100), z.record(line(100), z.number())).default({})

const grant = strict({ connectors: connectors.default([]), skills: names.default([]), allowance })
const role = z.enum(['coworker', 'specialist'])
const figures = {
  runBudgetUsd: z.number().openapi({ description: 'US dollars, above zero.' }),
  maxTurns: z.number(),
  maxConcurrentRuns: z.number(),
  maxDelegationDepth: z.number(),
  maxAttempts: z.number(),
}

/** A version out of a query. */
export const versionQuery = z.coerce.number().int().positive().optional()

/** A profile to save. What is left out comes from the preset, and the figures else from the usual ones. */
export const coworkerBody = strict({
  brand: brand.optional().openapi({ description: "The owner's brand when left away." }),
  preset: line(100)
    .optional()
    .openapi({ description: 'The preset to start from; what is said here replaces its own.' }),
  name: line(200).optional(),
  role: role.optional().openapi({ description: 'A coworker with a grant is a specialist; follows from the grant.' }),
  tools: z.array(z.string().max(200)).max(1000).optional(),
  grant: grant.optional(),
  limits: strict(figures).partial().optional(),
  version: version.optional().openapi({ description: 'The version this change was made from; without it, a new one.' }),
}).openapi('CoworkerRequest')

/** What to grant the goal agent. */
export const goalBody = strict({ brand: brand.optional(), grant, version: version.optional() }).openapi(
  'GoalGrantRequest',
)

/** A grant as it is shown. */
export const shownGrant = z.object({
  connectors: z.array(z.string()),
  skills: z.array(z.string()),
  allowance: z.unknown(),
})

/** A coworker, and what a run of it would hold as of now. */
export const coworker = z
  .object({
    id: z.string(),
    brand: z.string(),
    name: z.string(),
    role,
    tools: z.array(z.string()).openapi({ description: 'As saved.' }),
    grant: shownGrant,
    limits: z.object(figures),
    version,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    ceiling: z.array(z.string()).openapi({ description: 'Names and patterns a run started now would be held to.' }),
    granted: z.array(
      z.object({ name: z.string(), step: z.enum(['reads', 'joint', 'opt-in', 'skills', 'rides-on-skill']) }),
    ),
    lost: z
      .array(z.object({ tool: z.string(), reason: z.string() }))
      .openapi({ description: 'Of its tools, those a run started now would not get.' }),
  })
  .openapi('Coworker')

/** What a brand's goal agent is granted; without a version nobody ever said. */
export const goalGrant = z
  .object({ brand: z.string(), grant: shownGrant, version: version.nullable(), updatedAt: z.iso.datetime().optional() })
  .openapi('GoalGrant')

/** A starting point. */
export const preset = z
  .object({
    preset: z.string(),
    title: z.string(),
    builtins: z.array(z.string()).readonly(),
    tools: z.array(z.string()).readonly(),
    grant: z.object({
      connectors: z.array(z.string()).readonly(),
      skills: z.array(z.string()).readonly(),
      allowance: z.unknown(),
    }),
    withDataSkills: z.array(z.string()).readonly(),
    limits: z.object(figures).partial(),
    owes: z.array(z.string()).openapi({ description: 'Granted connectors that bill and have no allowance yet.' }),
  })
  .openapi('Preset')
