/**
 * Tools of a connection as REST shows them.
 * @module
 */
import { z } from '@hono/zod-openapi'
import { TOOL_STATES } from '../../grants/pins/view.ts'
import { strict } from '../../policy/data-file.ts'

export const toolParam = z.string().min(1).max(128)
export const stateQuery = z.enum(TOOL_STATES)

export const acceptBody = strict({
  digest: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'a digest is 64 hexadecimal digits, as seen.digest of the tool')
    .openapi({ description: 'Of the definition that was read: seen.digest. Any other is not accepted.' }),
})

const definition = z.unknown().openapi({ description: 'For people: hidden characters visible, long texts cut.' })
const change = z.object({
  path: z.string(),
  change: z.enum(['added', 'removed', 'changed']),
  before: z.string().optional(),
  now: z.string().optional(),
  hidden: z.literal(true).optional().openapi({ description: 'It holds characters that a reader does not see.' }),
  serverSays: z.literal(true).optional().openapi({ description: 'A hint of the server, which decides nothing here.' }),
  unseen: z.literal(true).optional().openapi({ description: 'What differs is redacted or cut.' }),
})

export const toolState = z
  .object({
    tool: z.string(),
    name: z.string(),
    state: z.enum(TOOL_STATES),
    access: z.enum(['read', 'write', 'spend']).nullable(),
    digest: z.string().nullable(),
    pinned: z.object({ digest: z.string(), acceptedBy: z.string(), acceptedAt: z.string(), definition }).nullable(),
    seen: z.object({ digest: z.string(), seenAt: z.string().nullable(), definition }).nullable(),
    diff: z.object({ changes: z.array(change).readonly(), more: z.number() }),
    renamedFrom: z.string().optional(),
    serverSays: z
      .unknown()
      .openapi({ description: 'Annotations as the server states them. They decide nothing here.' }),
  })
  .openapi('ConnectionTool')

export const tools = z
  .object({
    connection: z.string(),
    scope: z.string().nullable().openapi({
      description: 'Whose pins: a brand, or * for an upstream of the operator; null where nothing is pinned.',
    }),
    pinned: z
      .boolean()
      .openapi({ description: 'False for a native connector, whose definitions are the product’s own code.' }),
    newTools: z.enum(['open', 'closed']).nullable(),
    upstream: z.object({ state: z.string(), detail: z.string() }),
    items: z.array(toolState),
    nextCursor: z.string().nullable(),
  })
  .openapi('ConnectionTools')
