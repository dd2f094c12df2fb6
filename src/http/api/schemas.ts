/**
 * What REST answers: the schemas type what goes out and are part of the OpenAPI document.
 * @module
 */
import { z } from '@hono/zod-openapi'
import { CODES } from '../../policy/words.ts'
import { sessionClaims } from '../../session/claims.ts'
import { configs } from './configs.ts'

const { channel } = sessionClaims.shape.approval.shape
export const access = z.enum(['read', 'write', 'spend'])
const code = z.enum(CODES)
export const reason = z.object({ rule: z.string(), because: z.string() })
export const time = z.iso.datetime()

const withheld = z.object({ tool: z.string(), code, reason: z.string() })

const heldTool = z.object({
  name: z.string(),
  listedAs: z.string().openapi({ description: 'Its name in tools/list at /mcp.' }),
  access,
  asks: z.boolean().openapi({ description: 'Whether a person decides each call.' }),
  refuses: code
    .optional()
    .openapi({ description: 'Every call is refused with this code, for want of somebody to ask.' }),
})

const shownLimits = z.object(sessionClaims.shape.limits.unwrap().shape)

/** What a session holds, as of now. */
const sessionView = {
  viewHash: z.string(),
  tools: z.array(heldTool),
  builtins: z.array(z.string()),
  withheld: z.array(withheld),
  limits: shownLimits,
}

const decimal = z.string()
/** What a session has left of each allowance: decimals. */
const spend = z
  .array(
    z.object({
      connector: z.string(),
      unit: z.string(),
      most: decimal.openapi({ description: 'Per run, with what a person added.' }),
      handedOn: decimal.openapi({ description: 'To sessions that this one delegated.' }),
      reserved: decimal.openapi({ description: 'Of calls whose end or outcome is not known.' }),
      spent: decimal,
      left: decimal.openapi({ description: 'Below zero where calls came to more than they were estimated at.' }),
    }),
  )
  .optional()

/** A new session with its token. */
export const issued = z
  .object({
    id: z.string(),
    token: z.string(),
    expiresAt: time,
    url: z.string(),
    inbox: z.string(),
    brand: z.string(),
    role: z.string(),
    ...sessionView,
    coworker: z.string().optional(),
    routine: sessionClaims.shape.routine,
    spend,
    configs,
  })
  .openapi('IssuedSession')

/** A session as lists show it. */
export const session = z
  .object({
    id: z.string(),
    brand: z.string(),
    role: z.string(),
    route: z.string(),
    subject: z.string(),
    issuer: z.string(),
    status: z.enum(['live', 'expired', 'revoked', 'ended']),
    createdAt: time,
    issuedAt: time,
    expiresAt: time,
    revokedAt: time.optional(),
    endedAt: time.optional(),
    reportedUsd: z.string().optional(),
    parent: z.string().optional().openapi({ description: 'The session that delegated it.' }),
    coworker: z.string().optional().openapi({ description: 'The profile it is a run of.' }),
    routine: sessionClaims.shape.routine
      .unwrap()
      .optional()
      .openapi({ description: 'The routine it works for, as it was then.' }),
    retryOf: z.string().optional(),
    attempt: z.int(),
  })
  .openapi('Session')

/** A session with what it holds as of now. */
export const sessionDetail = session
  .extend({
    ceiling: z.array(z.string()),
    grant: z.object({ connectors: z.array(z.string()), skills: z.array(z.string()), allowance: z.unknown() }),
    approval: z.object({ channel }),
    ...sessionView,
    spend,
    problem: z.string().optional().openapi({ description: 'Why today’s policies make no session of these claims.' }),
  })
  .openapi('SessionDetail')

/** A decision on a call. */
export const explained = z
  .object({
    tool: z.string(),
    effect: z.enum(['allow', 'ask', 'deny']),
    code: code.optional(),
    reasons: z.array(reason),
    access: access.optional(),
  })
  .openapi('Decision')

/** A row of the audit; what else it holds depends on its kind. */
export const auditRow = z
  .looseObject({ writer: z.string(), seq: z.number(), at: z.string(), kind: z.string() })
  .openapi('AuditRow')

/** What checking the chains found. */
export const auditReport = z
  .object({
    ok: z.boolean(),
    writers: z.number(),
    rows: z.number(),
    problems: z.array(z.object({ writer: z.string(), seq: z.number(), problem: z.string() })).readonly(),
  })
  .openapi('AuditReport')

/** A connector of a brand. */
export const connector = z
  .object({
    slug: z.string(),
    title: z.string(),
    state: z.enum(['ready', 'connecting', 'failed']),
    detail: z.string(),
    tools: z.array(
      z.object({ name: z.string(), listedAs: z.string(), access, ask: z.boolean(), grantable: z.boolean() }),
    ),
    withheld: z.array(withheld).readonly(),
  })
  .openapi('Connector')

/** A connector that is declared and registers nothing, each tool with the reason. */
export const declaredConnector = z
  .object({ slug: z.string(), title: z.string(), detail: z.string(), withheld: z.array(withheld).readonly() })
  .openapi('DeclaredConnector')

const names = z.array(z.string()).readonly()
/** A role, as its policy file says. */
export const role = z
  .object({
    name: z.string(),
    title: z.string(),
    describes: z.string(),
    asksPerson: z.boolean(),
    permissionPrompt: z.literal(true).optional(),
    given: z.enum(['all', 'asked']),
    builtins: names,
    holds: names,
    withSkills: names.optional(),
    connectors: z.enum(['every', 'granted', 'routine', 'none']),
    limits: shownLimits,
    limitsAre: z.enum(['most', 'usual']).optional(),
  })
  .openapi('Role')

/** A route, as its policy file says. */
export const route = z.object({
  name: z.string(),
  describes: z.string(),
  keeps: z.union([names, z.literal('everything')]),
  connectors: z.boolean(),
})

/** The key that signs from now on. */
export const rotated = z.object({
  kid: z.string(),
  retireOthers: z.boolean(),
  resealed: z.number().openapi({ description: 'Connections that were sealed with the secret before.' }),
})

/** RFC 9457. */
export const problemDocument = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    errors: z.array(z.object({ path: z.string().optional(), rule: z.string(), detail: z.string() })).optional(),
  })
  .openapi('Problem')

/** A page of items. */
export const listOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() })
