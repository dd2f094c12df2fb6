/**
 * What a session token says, and what becomes of it: claims in, a frozen Session out, or the rules they break.
 * Pure. A token can only narrow what its role and route allow; what is not known here is refused.
 * @module
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { canonicalText } from '../json.ts'
import { normalise, SLUG } from '../policy/names.ts'
import type { Limits, Role, Route, Session } from '../policy/words.ts'

/** The longest a session token may live, in days. A retired key is kept for checking no longer than this. */
export const LONGEST_SESSION_DAYS = 31

/** The policy files a token's words are looked up in. */
export interface Policies {
  readonly roles: ReadonlyMap<string, Role>
  readonly routes: ReadonlyMap<string, Route>
}

const isPlain = (text: string) => text.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f]/.test(text)
const text = z.string().min(1).max(200).refine(isPlain, 'expected text without control characters')
const slug = z.string().max(100).regex(SLUG, 'expected a connector name')
const seconds = z.int().nonnegative()
const figure = z.number().nonnegative()
const count = z.int().nonnegative()

/** The figures an allowance may hold. An unknown one would be a limit that nobody keeps, so it is refused. */
const allowance = z.strictObject({
  perRunCredits: figure.optional(),
  perDayCredits: figure.optional(),
  perRunUsd: figure.optional(),
  perDayUsd: figure.optional(),
})

/**
 * The claims of a session token (design, section 5). Unknown claims are ignored, but for unknown limits, which are
 * refused: whoever wrote one believed it would be kept.
 */
export const sessionClaims = z.object({
  iss: text,
  aud: text,
  sub: text,
  jti: text,
  iat: seconds,
  nbf: seconds.optional(),
  exp: seconds,
  brand: text,
  role: text,
  route: text,
  ceiling: z.array(z.string()).max(1000),
  grant: z.object({
    connectors: z.array(slug).max(200),
    skills: z.array(text).max(200).default([]),
    allowance: z.record(slug, allowance).default({}),
  }),
  approval: z.object({ channel: z.enum(['none', 'inbox']) }),
  routine: z.strictObject({ id: text, version: z.int().positive(), supervised: z.boolean() }).optional(),
  limits: z
    .strictObject({
      runUsd: figure.optional(),
      turns: count.optional(),
      delegationDepth: count.optional(),
      attempts: count.optional(),
      concurrentRuns: count.optional(),
    })
    .default({}),
})

/** Claims that have the right types. */
export type SessionClaims = z.output<typeof sessionClaims>

/** Reads claims from parsed JSON; the problem names each claim that is missing or of a wrong type. */
export function readClaims(value: unknown): { claims: SessionClaims } | { problem: string } {
  const read = sessionClaims.safeParse(value)
  if (read.success) return { claims: read.data }
  const broken = read.error.issues.map((issue) => {
    const claim = issue.path.length === 0 ? 'The payload' : `The claim ${issue.path.join('.')}`
    return `${claim} is missing or wrong: ${issue.message.replace('Invalid input: ', '')}.`
  })
  return { problem: broken.join(' ') }
}

/** Every rule that claims of the right types still break, as sentences; empty when they make a session. */
export function brokenRules(claims: SessionClaims, { roles, routes }: Policies): string[] {
  const broken: string[] = []
  const role = roles.get(claims.role)
  if (role === undefined) {
    broken.push(`There is no role ${claims.role}; the roles are ${[...roles.keys()].join(', ')}.`)
  }
  if (routes.get(claims.route) === undefined) {
    broken.push(`There is no route ${claims.route}; the routes are ${[...routes.keys()].join(', ')}.`)
  }
  for (const name of claims.ceiling) {
    if (normalise(name) !== undefined) continue
    broken.push(
      `The ceiling names ${JSON.stringify(name.slice(0, 80))}, which is no tool name; write mcp__connector__tool or mcp__connector__*.`,
    )
  }
  if (role !== undefined && claims.approval.channel !== 'none' && role.asksPerson !== true) {
    broken.push(`A session of the role ${role.name} has nobody to ask, so its approval channel must be none.`)
  }
  return [...broken, ...routineRules(claims, role)]
}

/** A session works for a routine if, and only if, its role does; where it is supervised there is somebody to ask. */
function routineRules({ routine, approval }: SessionClaims, role: Role | undefined): string[] {
  if (role === undefined) return []
  if (role.connectors === 'routine' && routine === undefined) {
    return [`A session of the role ${role.name} works for a routine; say which: routine, instead of role.`]
  }
  if (role.connectors !== 'routine' && routine !== undefined) {
    return [`A session of the role ${role.name} works for no routine.`]
  }
  if (routine?.supervised === true && approval.channel !== 'inbox') {
    return ['A supervised session has somebody to ask, so its approval channel must be inbox.']
  }
  return []
}

/**
 * The session these claims make, or a sentence that says which rules they break.
 * `id` is the session's id where it is not the token's own `jti` (foreign issuers).
 */
export function toSession(claims: SessionClaims, policies: Policies, id: string = claims.jti): Session | string {
  const broken = brokenRules(claims, policies)
  const role = policies.roles.get(claims.role)
  const route = policies.routes.get(claims.route)
  if (broken.length > 0 || role === undefined || route === undefined) return broken.join(' ')
  const ceiling = sortedOnce(claims.ceiling.map((name) => normalise(name)!))
  const grant = Object.freeze({
    connectors: sortedOnce(claims.grant.connectors),
    skills: sortedOnce(claims.grant.skills),
    allowance: Object.freeze(claims.grant.allowance as Record<string, Record<string, number>>),
  })
  const { channel } = claims.approval
  const routine = claims.routine === undefined ? {} : { routine: Object.freeze({ ...claims.routine }) }
  return Object.freeze({
    id,
    issuer: claims.iss,
    subject: claims.sub,
    brand: claims.brand,
    role,
    route,
    ceiling,
    grant,
    channel,
    limits: limitsOf(role, claims.limits),
    ...routine,
    issuedAt: claims.iat * 1000,
    expiresAt: claims.exp * 1000,
    viewKey: hash({ brand: claims.brand, role: role.name, route: route.name, ceiling, grant, channel, ...routine }),
  })
}

/** Order and repetition mean nothing in a list of names, so equal lists become equal texts. */
function sortedOnce(names: readonly string[]): readonly string[] {
  return Object.freeze([...new Set(names)].sort())
}

/** Each figure as asked where the role's is the usual one only; else the smaller, since a token lifts nothing. */
function limitsOf(role: Role, asked: SessionClaims['limits']): Limits {
  const limits: Record<string, number> = {}
  for (const name of ['runUsd', 'turns', 'delegationDepth', 'attempts', 'concurrentRuns'] as const) {
    const most = role.limits[name]
    const wanted = asked[name]
    if (wanted === undefined) {
      if (most !== undefined) limits[name] = most
    } else {
      limits[name] = most === undefined || role.limitsAre === 'usual' ? wanted : Math.min(most, wanted)
    }
  }
  return Object.freeze(limits)
}

const hash = (value: unknown) =>
  createHash('sha256')
    .update(canonicalText(JSON.stringify(value)))
    .digest('hex')
