/**
 * The configuration file's shape (design, section 5). Its own fields are strict; an entry of `mcpServers` is not,
 * since other programs keep their own keys there.
 * @module
 */
import { z } from 'zod'
import { decimal, type ToolPolicy, toolPolicies } from '../connector/mcp/tool-policy.ts'
import { strict } from '../policy/data-file.ts'
import { SLUG } from '../policy/names.ts'

const MIB = 1024 * 1024
const brand = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'a brand is 1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit.',
  )
const slug = z
  .string()
  .regex(SLUG, 'a name here is letters, digits, "-" and single "_", as in "my-server": it becomes part of tool names.')
const nobody = 'lists nobody; leave "brands" out to serve the owner\'s brand alone.'
const brands = z.union([z.literal('*'), z.array(z.union([brand, z.literal('*')])).min(1, nobody)], {
  error: 'a list of brands, or "*" for every brand.',
})

const texts = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean()], { error: 'a text is expected.' }).transform(String),
)

const server = z.looseObject({
  type: z.string().optional(),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).optional(),
  env: texts.optional(),
  cwd: z.string().min(1).optional(),
  url: z.string().min(1).optional(),
  headers: texts.optional(),
  timeout: z.number().int().min(1).max(86_400_000).optional(),
  disabled: z.boolean().optional(),
  enabled: z.boolean().optional(),
  tools: toolPolicies.optional(),
  brands: brands.optional(),
  newTools: z
    .enum(['open', 'closed'], { error: 'new tools are "closed" until somebody accepts them, or "open".' })
    .optional(),
  allowPrivate: z.boolean().optional(),
  elicitationHosts: z
    .array(z.string().regex(/^(\*\.)?[a-z0-9.-]+$/, 'a host name in small letters, or *.domain.'))
    .optional(),
})

/** Fields of an entry that mean something here; others belong to other programs. */
export const SERVER_FIELDS: readonly string[] = Object.keys(server.shape)

const issuer = strict({
  issuer: z.string().min(1).describe('Exactly as in the "iss" claim.'),
  jwksUrl: z.string().optional(),
  jwks: z.object({ keys: z.array(z.looseObject({ kty: z.string() })).min(1) }).optional(),
  brands: z.array(brand).min(1),
  roles: z.array(z.string()).min(1),
})

export const configFile = strict({
  $schema: z.string().optional(),
  mcpServers: z.record(slug, server).default({}),
  connectors: z
    .record(slug, strict({ baseUrl: z.string().optional(), allowPrivate: z.boolean().optional() }))
    .default({}),
  issuers: z.array(issuer).default([]),
  allowedOrigins: z.array(z.string()).default([]),
  allowedHosts: z.array(z.string()).default([]),
  authorizationServers: z.array(z.string()).default([]),
  webhooks: strict({
    allowPrivate: z.boolean().default(false).describe('Any webhook may go to addresses of your own network.'),
    hosts: z
      .array(z.string().regex(/^[a-z0-9.:-]+$/, 'a host name or address in small letters, without scheme and port.'))
      .default([])
      .describe('Hosts that a webhook may go to whatever their address, over http too.'),
  }).prefault({}),
  connections: strict({
    allowPrivate: z.boolean().default(false).describe("A brand's own servers may be in your own network."),
    hosts: z
      .array(z.string().regex(/^[a-z0-9.:-]+$/, 'a host name or address in small letters, without scheme and port.'))
      .default([])
      .describe("Hosts that a brand's own servers may be at whatever their address, over http too."),
  }).prefault({}),
  spend: strict({
    askAbove: z
      .record(slug, decimal)
      .default({})
      .describe(
        'Per connector, in its own unit: a call that may come to more asks a person. 0: whatever costs anything.',
      ),
  }).prefault({}),
  limits: strict({
    bodyBytes: z
      .int()
      .min(1024)
      .max(64 * MIB)
      .default(4 * MIB),
    listPageSize: z.int().min(1).max(10_000).default(1000),
    /** Unset: as many as come. */
    liveSessionsPerBrand: z.int().min(1).optional(),
    inboundTurnsPerHour: z.int().min(1).default(60),
    callsPerSession: z.int().min(1).optional(),
    equalCalls: z
      .int()
      .min(1)
      .default(20)
      .describe(
        'In a session of a routine: after so many equal calls of one tool within ten minutes, a person decides.',
      ),
  }).prefault({}),
})

export type ConfigFile = z.output<typeof configFile>
export type WrittenServer = ConfigFile['mcpServers'][string]
export type { ToolPolicy }
