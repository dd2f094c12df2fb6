/**
 * What the routes of routines take and answer.
 * @module
 */
import { z } from '@hono/zod-openapi'
import { strict } from '../../policy/data-file.ts'
import { TOOL_STATES } from '../../policy/routines.ts'
import { sessionClaims } from '../../session/claims.ts'
import { time } from './schemas.ts'

const isPlain = (text: string) => text.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f]/.test(text)
const line = (most: number) => z.string().min(1).max(most).refine(isPlain, 'expected text without control characters')
const brand = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected 1 to 64 letters, digits, ".", "_" or "-"')
const version = z.int().positive()
const { connectors } = sessionClaims.shape.grant.shape
const allowance = sessionClaims.shape.grant.shape.allowance.unwrap()
const state = z.enum(TOOL_STATES)
const madeFrom = version.openapi({ description: 'The version this change was made from.' })

const fields = {
  name: line(200).openapi({ example: 'Triage new issues' }),
  description: z
    .string()
    .max(4000)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'expected text'),
  channel: z
    .enum(['none', 'inbox'])
    .openapi({ description: 'How its unattended sessions reach a person. Without one, what asks is refused.' }),
  connections: connectors.openapi({
    description: 'Slugs of the connections it uses; every tool of them is disabled at first.',
  }),
  allowance: allowance.openapi({ description: 'What one of its runs, and a day, may spend per connection.' }),
}

export const makeBody = strict({
  brand: brand.optional().openapi({ description: "The owner's brand when left away." }),
  name: fields.name,
  description: fields.description.default(''),
  channel: fields.channel.default('none'),
  connections: fields.connections.default([]),
  allowance: allowance.default({}),
}).openapi('RoutineRequest')

export const changeBody = strict({
  name: fields.name.optional(),
  description: fields.description.optional(),
  channel: fields.channel.optional(),
  connections: fields.connections.optional(),
  allowance: fields.allowance.optional(),
  version: madeFrom,
}).openapi('RoutineChange')

export const toolBody = strict({
  state,
  confirm: z
    .string()
    .max(1000)
    .optional()
    .openapi({ description: 'For automatic: the sentence that the refusal without it says, letter for letter.' }),
  version: madeFrom.optional(),
}).openapi('RoutineToolRequest')

export const readyBody = strict({ version: madeFrom.optional() })
export const versionQuery = z.strictObject({ version: z.coerce.number().int().positive().optional() })
export const toolParams = z.object({ id: z.string().max(300), tool: z.string().min(1).max(300) })

const decided = z.object({ tool: z.string(), state })

export const routine = z
  .object({
    id: z.string(),
    brand: z.string(),
    ...fields,
    allowance: z.unknown(),
    state: z.enum(['draft', 'ready']),
    stateBecause: z.string().optional().openapi({ description: 'What sent it back to draft.' }),
    version,
    tools: z.array(decided).openapi({ description: 'Those that are not disabled.' }),
    createdAt: time,
    changedAt: time,
  })
  .openapi('Routine')

export const routineTool = z
  .object({
    tool: z.string(),
    listedAs: z.string().openapi({ description: 'Its name in tools/list at /mcp.' }),
    connection: z.string(),
    state,
    definition: z
      .enum(['present', 'closed', 'gone'])
      .openapi({ description: 'closed: a person must accept what it says of itself first.' }),
    because: z.string().optional().openapi({ description: 'Why it is closed, or what took its grant away.' }),
    access: z.enum(['read', 'write', 'spend']).nullable(),
    title: z.string().optional(),
    description: z.string().optional(),
    digest: z.string(),
    serverSays: z
      .unknown()
      .openapi({ description: 'Annotations as the server states them. They change no state, default or gate.' }),
    proven: z.boolean().openapi({ description: 'A supervised call under this definition is on the traces.' }),
    traces: z.string().openapi({ description: 'Where its calls can be read.' }),
    setBy: z.string().optional(),
    setAt: time.optional(),
  })
  .openapi('RoutineTool')

export const routineTools = z.object({
  routine: z.string(),
  version,
  items: z.array(routineTool),
  nextCursor: z.null(),
})

export const trace = z
  .object({
    id: z.string(),
    routine: z.string(),
    session: z.string(),
    supervised: z.boolean(),
    tool: z.string(),
    arguments: z.unknown().openapi({ description: 'Redacted.' }),
    decision: z.enum(['open', 'automatic', 'asked', 'denied']),
    outcome: z.enum(['running', 'waiting', 'done', 'failed', 'unknown', 'refused']),
    code: z.string().optional(),
    rules: z.array(z.string()),
    card: z
      .object({ id: z.string(), status: z.string(), decidedBy: z.string().optional(), url: z.string() })
      .optional(),
    cost: z.object({ unit: z.string(), amount: z.string() }).optional(),
    digest: z.string().optional().openapi({ description: 'Of the definition it was called under.' }),
    startedAt: time,
    endedAt: time.optional(),
  })
  .openapi('Trace')
