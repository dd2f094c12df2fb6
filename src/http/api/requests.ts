/**
 * What REST takes: bodies, queries and ids. They validate what comes in and are part of the OpenAPI document.
 * @module
 */
import { z } from '@hono/zod-openapi'
import { strict } from '../../policy/data-file.ts'
import { sessionClaims } from '../../session/claims.ts'
import { agentDefinition } from '../../session/definition.ts'
import { APPROVER_TTL } from '../../session/approvers.ts'
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
  role: line(100).optional().openapi({ description: 'Needed, but for a coworker or a routine.' }),
  coworker: line(64).optional().openapi({ description: 'A saved coworker to start; its profile says what it gets.' }),
  routine: line(64).optional().openapi({ description: 'A routine to run; it says what the session gets.' }),
  supervised: z.boolean().optional().openapi({
    description: 'A person is present: every call of an enabled tool asks them, also in a draft. With routine.',
  }),
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
/** A person's name: what shows, and nothing that hides or turns letters around. */
const personName = line(100)
  .transform((text) => text.normalize('NFC').trim().replace(/\s+/g, ' '))
  .refine((text) => text !== '' && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text), 'expected a name of letters that show')

/** Who may decide the cards of a brand. */
export const approverBody = strict({
  brand: line(64).optional().openapi({ description: "The owner's brand when left away." }),
  name: personName.openapi({
    description: 'Names the decisions; one live approver of a brand has it.',
    example: 'Ann',
  }),
  ttlSeconds: z.int().min(APPROVER_TTL.least).max(APPROVER_TTL.most).default(APPROVER_TTL.usual),
}).openapi('ApproverRequest')

/** What the person saw, so that nothing else is decided. */
const shown = line(100)
  .optional()
  .openapi({ description: 'The `shown` of the card as it was read; with another one the decision is refused.' })

const similar = strict({
  arguments: z
    .record(z.string().max(200), z.union([z.string().max(2000), strict({ max: z.number() })]))
    .openapi({ description: 'Arguments that may vary: text with one "*" at its end, or {"max": number}.' }),
  count: z.int().openapi({ description: 'How many further calls, 1 to 100.' }),
  ttlSeconds: z.int().openapi({ description: 'How long: at most a day for a session, 30 days for always.' }),
}).openapi('Similar')

/** A yes. */
export const approveBody = strict({
  scope: z.string().max(100).default('once').openapi({
    description:
      'How far the yes goes: "once"; "session", this very call as often as the session asks; "always", for every session of the brand, where the tool offers it (`scopes` of the card).',
    example: 'once',
  }),
  note: words.optional(),
  similar: similar.optional(),
  shown,
}).openapi('Approve')
/** A no. */
export const denyBody = strict({ note: words.optional(), shown })
/** What a person found out about a call whose outcome is unknown. */
export const settleBody = strict({
  outcome: z.enum(['happened', 'did_not']),
  note: words.optional(),
  shown,
}).openapi('Settle')
/** Whether earlier keys go. */
export const rotateBody = strict({ retireOthers: z.boolean().default(false) })

/** The members that were given. */
export function given<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
}
