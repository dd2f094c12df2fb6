/**
 * The configuration file's shape (design, section 5). Its own fields are strict; an entry of `mcpServers` is not,
 * since other programs keep their own keys there.
 * @module
 */
import { z } from 'zod'
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

/** A decimal as text: numbers in the file are as people write them, and never become a float that is reckoned with. */
const decimal = z
  .union([z.number(), z.string()], { error: 'an amount is a number such as 2 or 0.05.' })
  .transform(String)
  .refine((text) => /^\d{1,15}(\.\d{1,9})?$/.test(text), 'an amount is a plain number such as 2 or 0.05, not negative.')

const cost = strict({
  unit: z.string().min(1).describe('What is counted: credits, usd.'),
  amount: decimal.optional().describe('The same for every call.'),
  argument: z.string().min(1).optional().describe('The argument that says how much a call takes.'),
  actual: z.string().min(1).optional().describe('Path in the result to what it came to.'),
}).refine(({ amount, argument }) => (amount === undefined) !== (argument === undefined), {
  message: 'state either "amount" or "argument".',
})

const toolPolicy = strict({
  access: z.enum(['read', 'write', 'spend'], { error: 'an access is read, write or spend.' }),
  ask: z.boolean().optional(),
  grantable: z.boolean().optional(),
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
  tools: z
    .record(
      z.string().min(1),
      z.preprocess((written) => (typeof written === 'string' ? { access: written } : written), toolPolicy),
    )
    .optional(),
  brands: brands.optional(),
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
  }).prefault({}),
})

export type ConfigFile = z.output<typeof configFile>
export type WrittenServer = ConfigFile['mcpServers'][string]
export type ToolPolicy = z.output<typeof toolPolicy>
