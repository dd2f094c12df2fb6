/**
 * What a new session is asked to be, and the claims it gets; or every rule the request breaks.
 * Pure. What is refused here is what could only disappoint later: a name nobody knows, a session that can hold nothing.
 * @module
 */
import { covers, normalise, split } from '../policy/names.ts'
import { holds } from '../policy/view.ts'
import type { Channel, Limits, Role, Route, Session, Tool } from '../policy/words.ts'
import type { Policies, SessionClaims } from './claims.ts'
import { checkGrant, checkLimits, checkNames, checkReviewer, unknown } from './issue-rules.ts'

/** What a session may live, in seconds. */
export const TTL = { least: 60, most: 604_800, usual: 3_600 } as const

/** A request for a session, of the right types. */
export interface IssueRequest {
  readonly brand?: string | undefined
  readonly role: string
  readonly route?: string | undefined
  readonly tools?: readonly string[] | undefined
  readonly grant?:
    | {
        readonly connectors: readonly string[]
        readonly skills?: readonly string[] | undefined
        readonly allowance?: Readonly<Record<string, Allowance>> | undefined
      }
    | undefined
  readonly approval?: { readonly channel: Channel } | undefined
  readonly subject?: string | undefined
  readonly ttlSeconds?: number | undefined
  readonly limits?: { readonly [K in keyof Limits]?: number | undefined } | undefined
}

type Allowance = SessionClaims['grant']['allowance'][string]

/** What there is to choose from. */
export interface Supply extends Policies {
  readonly ownerBrand: string
  /** The slugs of the connectors that a brand has, ready or not. */
  readonly connectors: (brand: string) => readonly string[]
  /** A tool that exists for a brand right now. */
  readonly tool: (brand: string, name: string) => Tool | undefined
  /** The bundled skills; without any a grant can name none. */
  readonly skills?: readonly string[]
}

/** Names to be put into the claims that the request does not choose. */
export interface Making {
  readonly id: string
  /** `iss` and `aud`. */
  readonly resource: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** A rule the request breaks, and where. */
export interface Broken {
  readonly path: string
  readonly rule: string
  readonly detail: string
}

export type Planned =
  | { readonly ok: true; readonly claims: SessionClaims }
  | { readonly ok: false; readonly broken: readonly Broken[] }

const BRAND = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** The claims of a new session, or all that is wrong with the request. */
export function planSession(request: IssueRequest, supply: Supply, making: Making): Planned {
  const broken: Broken[] = []
  const say = (path: string, rule: string, detail: string) => broken.push({ path, rule, detail })
  const brand = request.brand ?? supply.ownerBrand
  if (!BRAND.test(brand)) {
    say('brand', 'brand_name', 'A brand is 1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit.')
  }
  const routeName = request.route ?? 'standard'
  const route = supply.routes.get(routeName)
  if (route === undefined) say('route', 'unknown_route', unknown('route', routeName, supply.routes.keys()))
  const role = supply.roles.get(request.role)
  if (role === undefined) say('role', 'unknown_role', unknown('role', request.role, supply.roles.keys()))
  const connectors = supply.connectors(brand)
  checkNames(request, brand, connectors, supply.roles, say)
  if (role === undefined || route === undefined) return { ok: false, broken }

  checkReviewer(role, say)
  checkGrant(request.grant, role, supply.skills ?? [], say)
  const channel = request.approval?.channel ?? (role.asksPerson ? 'inbox' : 'none')
  if (channel !== 'none' && role.asksPerson !== true) {
    say('approval.channel', 'nobody_to_ask', `A ${role.name} session has nobody to ask; its channel must be "none".`)
  }
  checkLimits(request.limits, role, say)
  const named = request.tools?.map((name) => normalise(name)).filter((name) => name !== undefined)
  const granted = request.grant?.connectors ?? []
  if (named === undefined && role.given === 'asked' && granted.length === 0) {
    const example = role.builtins[0] ?? role.holds[0] ?? 'mcp__connector__tool'
    say(
      'tools',
      'tools_missing',
      `A ${role.name} session gets only what it asks for; name its tools: ["${example}", …].`,
    )
  }
  if (broken.length > 0) return { ok: false, broken }

  const ceiling = ceilingOf(role, route, named, granted, connectors)
  const delegationDepth = request.limits?.delegationDepth ?? role.limits.delegationDepth ?? 0
  const asking = { role, route, grant: request.grant, delegationDepth }
  if ((request.tools?.length ?? 0) > 0 && !ceiling.some((name) => couldHold(name, asking, brand, supply))) {
    const detail = `A ${role.name} session on the ${route.name} route can hold none of the tools asked for; ${offer(role, connectors)}.`
    return { ok: false, broken: [{ path: 'tools', rule: 'nothing_to_hold', detail }] }
  }
  const issuedAt = Math.floor(making.now / 1000)
  return {
    ok: true,
    claims: {
      iss: making.resource,
      aud: making.resource,
      sub: request.subject ?? 'operator',
      jti: making.id,
      iat: issuedAt,
      exp: issuedAt + (request.ttlSeconds ?? TTL.usual),
      brand,
      role: role.name,
      route: route.name,
      ceiling,
      grant: {
        connectors: [...granted],
        skills: [...(request.grant?.skills ?? [])],
        allowance: { ...request.grant?.allowance },
      },
      approval: { channel },
      limits: request.limits === undefined ? {} : (defined(request.limits) as SessionClaims['limits']),
    },
  }
}

/**
 * Named tools as they are; without any, all the role may hold. Each granted connector of which no tool is named comes
 * whole, since the grant would otherwise give nothing.
 */
function ceilingOf(
  role: Role,
  route: Route,
  named: readonly string[] | undefined,
  granted: readonly string[],
  connectors: readonly string[],
): string[] {
  const every = role.connectors === 'every' && route.connectors === true ? connectors.map(whole) : []
  const all = role.given === 'all' ? [...role.builtins, ...role.holds, ...every] : []
  const base = named ?? all
  const extra = granted.filter((slug) => !base.some((name) => split(name)?.connector === slug)).map(whole)
  return [...new Set([...base, ...extra])]
}

const whole = (slug: string) => `mcp__${slug}__*`

/** What of a request decides which tools its session can come to hold. */
interface Asking {
  readonly role: Role
  readonly route: Route
  readonly grant: IssueRequest['grant']
  readonly delegationDepth: number
}

/** Whether a session could ever hold anything that a ceiling entry names, whatever connectors come to offer. */
function couldHold(name: string, asking: Asking, brand: string, supply: Supply): boolean {
  const { role, route, grant } = asking
  const kept = route.keeps === 'everything' || route.keeps.some((pattern) => overlap(pattern, name))
  const slug = split(name)?.connector
  if (slug === undefined) return role.builtins.includes(name) && kept
  if (!kept && route.connectors !== true) return false
  if ([...role.holds, ...(role.withSkills ?? [])].some((pattern) => overlap(pattern, name))) return true
  if (role.connectors === 'every' || role.connectors === 'routine') return true
  if (role.connectors !== 'granted') return false
  const tool = supply.tool(brand, name)
  if (tool === undefined) return grant?.connectors.includes(slug) === true
  return holds(sessionLike(name, asking), tool, new Set(supply.connectors(brand))).held
}

const overlap = (a: string, b: string) => covers(a, b) || covers(b, a)

/** As much of a session as the question whether it holds a tool needs. */
function sessionLike(name: string, { role, route, grant, delegationDepth }: Asking): Session {
  return {
    id: '',
    issuer: '',
    subject: '',
    brand: '',
    role,
    route,
    ceiling: [name],
    grant: { connectors: grant?.connectors ?? [], skills: grant?.skills ?? [], allowance: {} },
    channel: 'none',
    limits: { delegationDepth },
    issuedAt: 0,
    expiresAt: 0,
    viewKey: '',
  }
}

/** What a role has to offer, for the sentence that says that nothing asked for is in it. */
function offer(role: Role, connectors: readonly string[]): string {
  const own = [...role.builtins, ...role.holds]
  const some = own.length > 8 ? `${own.slice(0, 8).join(', ')} and ${own.length - 8} more` : own.join(', ')
  const lists = own.length === 0 ? 'the role lists no tool' : `the role lists ${some}`
  if (role.connectors === 'every')
    return `${lists}, and every tool of ${connectors.join(', ') || 'the connectors the brand has (none yet)'}`
  if (role.connectors === 'granted') return `${lists}, and the grantable read tools of connectors that the grant names`
  return lists
}

function defined<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>
}
