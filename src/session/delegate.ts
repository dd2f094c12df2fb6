/**
 * What a live session may hand on: the claims of a child that holds nothing its parent does not, one level less deep and
 * with figures taken out of the parent's. Or every rule the request breaks.
 * Pure. Names and patterns are compared as written and as held, since a tool that must be asked for by name is not held
 * by a parent that holds the rest of its connector.
 * @module
 */
import { covers, normalise, split } from '../policy/names.ts'
import type { Channel, Limits, Session } from '../policy/words.ts'
import type { SessionClaims } from './claims.ts'
import { type Figures, figureName, RUN_USD } from './figures.ts'
import { type Broken, type Making, type Planned, TTL } from './issue.ts'
import type { Say } from './issue-rules.ts'

type Allowance = SessionClaims['grant']['allowance'][string]

/** What a child is asked to be. What is left away is as the parent's, except for the grant, which must be named. */
export interface ChildRequest {
  readonly tools?: readonly string[] | undefined
  readonly grant?:
    | {
        readonly connectors: readonly string[]
        readonly skills?: readonly string[] | undefined
        /** Per-run figures that are left away take all that the parent has left. */
        readonly allowance?: Readonly<Record<string, Allowance>> | undefined
      }
    | undefined
  readonly approval?: { readonly channel: Channel } | undefined
  readonly limits?: { readonly [K in keyof Limits]?: number | undefined } | undefined
  readonly ttlSeconds?: number | undefined
  readonly subject?: string | undefined
}

/** The parent as of now. */
export interface Parent {
  readonly session: Session
  /** Its claims' per-run figures, less what it handed on. */
  readonly remaining: Figures
  /** Whether its view holds a tool or built-in of this exact name. */
  readonly holds: (name: string) => boolean
}

/** The claims of a child, or all that is wrong with the request. */
export function planChild(request: ChildRequest, parent: Parent, making: Making): Planned {
  const { session } = parent
  const broken: Broken[] = []
  const say: Say = (path, rule, detail) => broken.push({ path, rule, detail })
  const depth = session.limits.delegationDepth ?? 0
  if (!(depth >= 1)) {
    say('id', 'delegation_depth', 'The session may not delegate: its delegation depth is 0.')
    return { ok: false, broken }
  }
  const issuedAt = Math.floor(making.now / 1000)
  const expiresAt = Math.min(Math.floor(session.expiresAt / 1000), issuedAt + (request.ttlSeconds ?? TTL.usual))
  if (!(expiresAt > issuedAt)) say('id', 'parent_dead', 'The session has expired, so it delegates no more.')
  const channel = request.approval?.channel ?? session.channel
  if (channel !== 'none' && channel !== session.channel) {
    say('approval.channel', 'above_parent', 'The parent has nobody to ask, so neither has the child; say "none".')
  }
  const grant = grantOf(request.grant, parent, say)
  const ceiling = ceilingOf(request.tools, parent, grant.connectors, say)
  const limits = limitsOf(request.limits, depth, parent, say)
  if (broken.length > 0) return { ok: false, broken }
  return {
    ok: true,
    claims: {
      iss: making.resource,
      aud: making.resource,
      sub: request.subject ?? session.subject,
      jti: making.id,
      iat: issuedAt,
      exp: expiresAt,
      brand: session.brand,
      role: session.role.name,
      route: session.route.name,
      ceiling,
      grant,
      approval: { channel },
      limits,
    },
  }
}

/** What is asked for, each entry within the parent's; or the parent's own, without connectors that are not granted on. */
function ceilingOf(
  asked: readonly string[] | undefined,
  { session, holds }: Parent,
  granted: readonly string[],
  say: Say,
): string[] {
  const lost = session.grant.connectors.filter((slug) => !granted.includes(slug))
  if (asked === undefined) return session.ceiling.filter((name) => !lost.includes(split(name)?.connector ?? ''))
  const ceiling = new Set<string>()
  asked.forEach((written, i) => {
    const shown = JSON.stringify(written.slice(0, 80))
    const name = normalise(written)
    if (name === undefined) {
      say(`tools[${i}]`, 'tool_name', `${shown} is no tool name; write mcp__connector__tool or mcp__connector__*.`)
    } else if (!session.ceiling.some((pattern) => covers(pattern, name))) {
      say(`tools[${i}]`, 'above_parent', `The parent's ceiling does not list ${shown}; leave it out.`)
    } else if (!session.ceiling.includes(name) && !holds(name)) {
      say(`tools[${i}]`, 'above_parent', `The parent does not hold ${shown} itself; leave it out.`)
    } else ceiling.add(name)
  })
  return [...ceiling]
}

function grantOf(asked: ChildRequest['grant'], parent: Parent, say: Say): SessionClaims['grant'] {
  const { grant } = parent.session
  const { connectors = [], skills = [], allowance = {} } = asked ?? {}
  const within = (names: readonly string[], most: readonly string[], path: string) =>
    names.forEach((name, i) => {
      if (most.includes(name)) return
      say(`${path}[${i}]`, 'above_parent', `The parent's grant does not name ${JSON.stringify(name.slice(0, 80))}.`)
    })
  within(connectors, grant.connectors, 'grant.connectors')
  within(skills, grant.skills, 'grant.skills')
  for (const slug of Object.keys(allowance)) {
    if (connectors.includes(slug)) continue
    say(`grant.allowance.${slug}`, 'allowance_without_grant', `An allowance is for a granted connector; grant it too.`)
  }
  const handed = [...new Set(connectors)].flatMap((slug) => {
    const most = grant.allowance[slug]
    const figures = allowance[slug]
    if (most === undefined && figures === undefined) return []
    return [[slug, allowanceOf(slug, figures ?? {}, most ?? {}, parent.remaining, say)] as const]
  })
  return { connectors: [...new Set(connectors)], skills: [...new Set(skills)], allowance: Object.fromEntries(handed) }
}

/** Every figure of the parent's, as asked or as much as there is; a figure the parent lacks is refused. */
function allowanceOf(slug: string, asked: Allowance, most: Allowance, remaining: Figures, say: Say): Allowance {
  const figures: Record<string, number> = {}
  for (const name of new Set([...Object.keys(most), ...Object.keys(asked)])) {
    const figure = name as keyof Allowance
    const isPerRun = name.startsWith('perRun')
    const limit = isPerRun && most[figure] !== undefined ? remaining[figureName(slug, name)] : most[figure]
    const path = `grant.allowance.${slug}.${name}`
    figures[name] = atMost(asked[figure], limit, path, say)
    if (isPerRun && limit === 0 && asked[figure] === undefined) say(path, 'carved', 'The parent has none of it left.')
  }
  for (const unit of ['Credits', 'Usd']) {
    const [perRun, perDay] = [figures[`perRun${unit}`], figures[`perDay${unit}`]]
    if (perRun === undefined || perDay === undefined || perRun <= perDay) continue
    say(`grant.allowance.${slug}`, 'allowance_order', `perRun${unit} must not be above perDay${unit}.`)
  }
  return figures as Allowance
}

function limitsOf(
  asked: ChildRequest['limits'],
  depth: number,
  { session, remaining }: Parent,
  say: Say,
): SessionClaims['limits'] {
  const most: Record<string, number> = { ...session.limits, delegationDepth: depth - 1 }
  if (session.limits.runUsd !== undefined) most.runUsd = remaining[RUN_USD] ?? 0
  const limits: Record<string, number> = {}
  for (const [name, wanted] of Object.entries(asked ?? {})) {
    // Of turns, attempts and dollars that the parent does not limit, a child may be limited.
    if (wanted !== undefined && most[name] === undefined) limits[name] = wanted
  }
  for (const [name, limit] of Object.entries(most)) {
    limits[name] = atMost(asked?.[name as keyof Limits], limit, `limits.${name}`, say)
  }
  if (most.runUsd === 0 && asked?.runUsd === undefined)
    say('limits.runUsd', 'carved', 'The parent has no dollars left.')
  return limits as SessionClaims['limits']
}

/** What was asked for if it is within the limit, all there is if nothing was asked for. */
function atMost(asked: number | undefined, limit: number | undefined, path: string, say: Say): number {
  if (asked === undefined) return limit ?? 0
  if (limit !== undefined && asked >= 0 && asked <= limit) return asked
  const left = limit === undefined ? 'the parent has no such figure' : `the parent has ${limit} to hand on`
  say(path, 'above_parent', `${path} is more than there is: ${left}.`)
  return 0
}
