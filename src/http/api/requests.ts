/**
 * What REST takes: bodies, queries and ids. They validate what comes in and are part of the OpenAPI document.
 * @module
 */
import { z } from '@hono/zod-openapi'
import { strict } from '../../policy/data-file.ts'
import { sessionClaims } from '../../session/claims.ts'
import { agentDefinition } from '../../session/definition.ts'
import { TTL } from '../../session/issue.ts'

const isPlain = (text: string) => text.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f]/.test(text)
/** Text without control characters. */
const line = (most: number) => z.string().min(1).max(most).refine(isPlain, 'expected text without control characters')
/** A person's words; line breaks are welcome. */
const words = z
  .string()
  .max(2000)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'expected text without NUL characters')

/** What a list is narrowed by. */
export const filter = line(300).optional()

/** An id out of a path. One that no database could hold is nobody's. */
export const id = z.object({
  id: z
    .string()
    .max(300)
    .transform((text) => (isPlain(text) ? text : '?')),
})

/** What every list takes. */
export const page = {
  limit: z.coerce.number().int().min(1).max(200).default(50).openapi({ description: 'Most items to answer.' }),
  cursor: line(500).optional().openapi({ description: 'The nextCursor of the page before.' }),
}

const { skills: _, ...grantShape } = sessionClaims.shape.grant.shape
const grant = strict({ ...grantShape, skills: z.array(line(200)).max(200).default([]) })
const { channel } = sessionClaims.shape.approval.shape
const approval = strict({ channel })
const limits = strict(sessionClaims.shape.limits.unwrap().shape)

/** What a new session is asked to be. */
export const issueBody = strict({
  brand: line(64).optional().openapi({ description: "The owner's brand when left away." }),
  role: line(100).optional().openapi({ description: 'Needed, but for a coworker.' }),
  coworker: line(64).optional().openapi({ description: 'A saved coworker to start; its profile says what it gets.' }),
  route: line(100).optional(),
  tools: z.array(z.string().max(200)).max(1000).optional(),
  grant: grant.optional(),
  approval: approval.optional(),
  subject: line(200).optional().openapi({ description: 'Whom the session is for; goes into `sub`.' }),
  ttlSeconds: z.int().min(TTL.least).max(TTL.most).default(TTL.usual),
  limits: limits.optional(),
  definition: agentDefinition
    .optional()
    .openapi({ description: 'An agent definition; its toolNames are the tools. Instead of tools.' }),
  retryOf: line(200)
    .optional()
    .openapi({ description: 'The session this is another attempt at; it gets no tool that one did not hold.' }),
}).openapi('SessionRequest')

/** Claims as somebody might put them into a token; what tells tokens apart may be left out. */
const claimsBody = strict({
  ...sessionClaims.shape,
  iss: line(200).optional(),
  aud: line(200).optional(),
  brand: line(64).optional(),
  sub: line(200).default('operator'),
  jti: line(200).optional(),
  iat: z.int().optional(),
  exp: z.int().optional(),
  route: line(200).default('standard'),
  grant: grant.default({ connectors: [], skills: [], allowance: {} }),
  approval: approval.optional(),
})

/** Whose call, and of what. */
export const explainBody = strict({
  session: line(200).optional().openapi({ description: 'Id of a session. Give this or claims.' }),
  claims: claimsBody.optional(),
  tool: z.string().min(1).max(300),
  arguments: z.record(z.string(), z.unknown()).optional(),
}).openapi('ExplainRequest')

/** What a run cost. */
export const endBody = strict({
  usd: z
    .union([z.string(), z.number().nonnegative()])
    .optional()
    .openapi({ description: 'What the run cost in US dollars, a decimal.' }),
})
/** A yes. */
export const approveBody = strict({
  scope: z.string().optional().openapi({ description: 'How far the yes goes. Only "once" for now.', example: 'once' }),
  note: words.optional(),
})
/** A no. */
export const denyBody = strict({ note: words.optional() })
/** Whether earlier keys go. */
export const rotateBody = strict({ retireOthers: z.boolean().default(false) })

/** The members that were given. */
export function given<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
}
