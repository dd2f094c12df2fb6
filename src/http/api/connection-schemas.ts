/**
 * Connections as REST takes and shows them. What is secret comes in and never goes out.
 * @module
 */
import { z } from '@hono/zod-openapi'
import { strict } from '../../policy/data-file.ts'
import { OWN_HEADER } from '../../connector/mcp/http.ts'
import { toolPolicies } from '../../connector/mcp/tool-policy.ts'
import { SLUG } from '../../policy/names.ts'

const brandName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'a brand is letters, digits, ".", "_" and "-", at most 64')

/** The slug out of a path. */
export const slug = z.object({
  slug: z.string().max(64).regex(SLUG, 'a slug is letters, digits, "-" and single "_"'),
})

export const brandQuery = z.strictObject({ brand: brandName.optional() })

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/
const headers = z
  .record(
    z.string(),
    z
      .string()
      .max(8_192)
      .regex(/^[\x20-\x7e\x80-\xff]*$/, 'no header can carry this value.'),
  )
  .superRefine((all, context) => {
    for (const name of Object.keys(all)) {
      const isName = NAME.test(name)
      if (isName && !OWN_HEADER.test(name.toLowerCase())) continue
      const message = isName
        ? `${name} is written by the gateway itself; leave it out.`
        : 'one name is not the name of a header; names are letters, digits and dashes.'
      context.addIssue({ code: 'custom', message })
    }
  })

const oauth = z.union([
  z.literal(true),
  strict({
    clientId: z.string().min(1).max(2_048).optional().openapi({ description: 'Registered there beforehand.' }),
    clientSecret: z.string().min(1).max(2_048).optional(),
    issuer: z
      .string()
      .max(2_048)
      .optional()
      .openapi({ description: 'Where it is registered; no other is told of it.' }),
    scopes: z.string().max(2_048).optional().openapi({ description: 'Instead of what the server names.' }),
  }).refine(({ clientId, clientSecret }) => clientSecret === undefined || clientId !== undefined, {
    message: 'a clientSecret is of a clientId; state both.',
  }),
])

/** Fields of an upstream of the operator's that no brand can state. */
const COMMANDS = ['command', 'args', 'env', 'cwd']
const REMOTE_FIELDS = {
  type: z.enum(['http', 'streamable-http'], { error: 'a server of a brand is reached over http.' }).optional(),
  url: z.string().max(4_096),
  headers: headers.default({}).openapi({ description: 'Sent with each request. Sealed and never shown again.' }),
  oauth: oauth.optional().openapi({ description: 'A person consents, by POST …/connect.' }),
  tools: toolPolicies.default({}).openapi({
    type: 'object',
    description: 'What its tools may do, by name or pattern, as in mcpServers; what is not named counts as a write.',
  }),
}
const known = Object.keys(REMOTE_FIELDS).join(', ')
const whole = z
  .strictObject(REMOTE_FIELDS, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return undefined
      const keys = issue.keys as string[]
      const command = keys.find((key) => COMMANDS.includes(key))
      return command === undefined
        ? `"${keys.join('", "')}" is not a field here; known: ${known}.`
        : `"${command}" is not for a brand: a command to run comes from the operator's file and from nowhere else; known: ${known}.`
    },
  })
  .refine(({ headers, oauth }) => oauth === undefined || !Object.keys(headers).some(isAuthorization), {
    path: ['headers'],
    message: 'with oauth the gateway writes Authorization itself; take the header out.',
  })

/** Of a command one field is enough to say that there can be none. */
function oneOfCommand(written: unknown): unknown {
  if (typeof written !== 'object' || written === null || Array.isArray(written)) return written
  const [first] = COMMANDS.filter((name) => Object.hasOwn(written, name))
  return Object.fromEntries(Object.entries(written).filter(([name]) => name === first || !COMMANDS.includes(name)))
}

const remote = z.preprocess(oneOfCommand, whole)

const isAuthorization = (name: string): boolean => name.toLowerCase() === 'authorization'

export const putBody = strict({
  connector: z.string().max(64).optional().openapi({ description: 'The connector; the slug itself unless said.' }),
  fields: z
    .record(z.string().max(64), z.string().max(8_192))
    .optional()
    .openapi({ description: 'What the connector asks for. Secret fields are sealed and never shown again.' }),
  mcp: remote.optional().openapi({ description: "In place of fields: a remote MCP server of the brand's own." }),
  version: z.int().positive().optional().openapi({ description: 'Change only what stands in this version.' }),
}).refine(({ connector, fields, mcp }) => (mcp === undefined ? fields !== undefined : !fields && !connector), {
  message: "state either the connector's fields, or mcp for a server of the brand's own.",
})

export const shareBody = strict({
  brands: z
    .array(brandName)
    .max(1_000)
    .openapi({ description: 'All brands that use it from now on; an empty list ends the sharing.' }),
})

export const connection = z
  .object({
    brand: z.string(),
    slug: z.string(),
    connector: z.string(),
    title: z.string(),
    fields: z.array(z.object({ name: z.string(), title: z.string(), secret: z.boolean(), set: z.boolean() })),
    settings: z.record(z.string(), z.string()),
    mcp: z
      .object({
        url: z.string(),
        headers: z.array(z.string()),
        oauth: z
          .object({ clientId: z.string().optional(), issuer: z.string().optional(), scopes: z.string().optional() })
          .nullable(),
        tools: z.record(z.string(), z.unknown()),
      })
      .optional()
      .openapi({ description: "Of a server of the brand's own; never what is secret of it." }),
    consent: z
      .object({ state: z.enum(['given', 'needed']), because: z.string().nullable() })
      .nullable()
      .openapi({ description: 'Null where nobody has to consent.' }),
    sharedWith: z.array(z.string()),
    status: z.enum(['unchecked', 'ok', 'failing']),
    check: z.object({ at: z.string(), ok: z.boolean(), said: z.string() }).nullable(),
    version: z.number(),
    createdAt: z.string(),
    changedAt: z.string(),
    changedBy: z.string(),
  })
  .openapi('Connection')

export const checked = z.object({ ok: z.boolean(), said: z.string() }).openapi('ConnectionCheck')

export const connect = z
  .object({ authorizationUrl: z.string(), expiresAt: z.string() })
  .openapi('ConnectionConsent', { description: 'Where a person consents, in a browser, once, until then.' })
