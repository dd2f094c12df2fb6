/**
 * Issuing a session over REST: asked for in so many words, by an agent definition, or as a run of a saved coworker.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { createRoute, type OpenAPIHono, type z } from '@hono/zod-openapi'
import { type GrantSupply, type GrantWords, wordsOf } from '../../grants/profile.ts'
import { grantProblems } from '../../grants/rules.ts'
import { routineStart } from '../../grants/routines/start.ts'
import { coworkerStart, goalAgentStart } from '../../grants/start.ts'
import { findGoalGrant, findProfile } from '../../grants/store.ts'
import type { Session } from '../../policy/words.ts'
import { type SessionClaims, toSession } from '../../session/claims.ts'
import { narrowToDefinition, toolsOfDefinition, type Unmatched } from '../../session/definition.ts'
import { type Broken, type IssueRequest, planSession, type Supply } from '../../session/issue.ts'
import { beginRun, findEarlier, narrowRetry } from '../../session/runs.ts'
import { untouched } from '../../session/spend-left.ts'
import { UnissuableClaims } from '../../session/token.ts'
import { type BrokenRule, brokenRules, problem } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import { configsFor } from './configs.ts'
import { limited } from './delegate.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './schemas.ts'
import { describeSession, shownSpend } from './session-view.ts'

const BY = 'operator'

const issueRoute = createRoute({
  method: 'post',
  path: '/v1/sessions',
  summary: 'Issue a session token',
  request: { body: body(requests.issueBody) },
  responses: answers(201, 'The session and its token, which is shown only here.', schemas.issued, 409, 422, 503),
})

/** A request in so many words, and what of a profile or a definition it leaves out. */
interface Wanted {
  readonly request: IssueRequest
  readonly coworker?: string
  /** All the session may hold, in canonical form: what a definition lists, or what a profile comes to. */
  readonly only?: readonly string[]
  readonly left: readonly Unmatched[]
  /** What the claims say besides, for a routine. */
  readonly more?: Pick<SessionClaims, 'routine' | 'grant'>
}

type Refusal = { readonly broken: readonly BrokenRule[] }

/** Adds the route. */
export function addIssue(app: OpenAPIHono, parts: ApiParts): void {
  const supply = supplyOf(parts)

  app.openapi(issueRoute, async (c) => {
    const { retryOf, ...asked } = c.req.valid('json')
    await parts.connections.wake(asked.brand ?? parts.ownerBrand)
    const wanted = await wantedOf(asked, parts, supply)
    if (wanted instanceof Response) return wanted
    if ('broken' in wanted) return brokenRules(wanted.broken)
    const { request, coworker, only, left, more } = wanted
    const making = { id: `s_${randomBytes(16).toString('base64url')}`, resource: parts.resource, now: parts.now() }
    const planned = planSession(request, supply, making)
    const owed = grantBroken(request, parts)
    if (!planned.ok) return brokenRules([...planned.broken, ...owed.filter(isNew(planned.broken))])
    if (owed.length > 0) return brokenRules(owed)
    const full = { ...planned.claims, ...more }
    const own = only === undefined ? full : narrowToDefinition(full, only)
    const narrowed = await narrow(own, retryOf, coworker ?? own.routine?.id, parts)
    if (!narrowed.ok) return brokenRules(narrowed.broken)
    const { claims } = narrowed
    const session = toSession(claims, parts)
    if (typeof session === 'string') return brokenRules([{ rule: 'claims', detail: session }])
    const token = await sign(parts, claims)
    if (token instanceof Response) return token
    const view = parts.views.of(session)
    const registered = [...view.byName.keys(), ...view.builtins]
    // Signed before it is recorded and handed out after: a session that could not be written down does not exist.
    // Runs of one routine are counted together, and with no other's.
    const profile = coworker ?? claims.routine?.id
    const run = { session, claims, by: BY, registered, coworker: profile, retryOf }
    const begun = await beginRun(parts.audit, run, parts.caps)
    if (!begun.ok) return limited(begun.broken)
    const held = describeSession(session, parts)
    const issued = {
      id: session.id,
      token,
      expiresAt: new Date(session.expiresAt).toISOString(),
      url: parts.resource,
      inbox: parts.inboxUrl,
      brand: session.brand,
      role: session.role.name,
      ...(coworker === undefined ? {} : { coworker }),
      ...(claims.routine === undefined ? {} : { routine: claims.routine }),
      ...held,
      withheld: [...held.withheld, ...left],
      ...shownSpend(untouched(session)),
      configs: configsFor(parts.resource, held),
    }
    return answer(schemas.issued, issued, 201)
  })
}

/** What a request for a session may choose from. */
export function supplyOf({
  roles,
  routes,
  ownerBrand,
  registry,
  grants,
}: Pick<ApiParts, 'roles' | 'routes' | 'ownerBrand' | 'registry' | 'grants'>): Supply {
  return {
    roles,
    routes,
    ownerBrand,
    connectors: (brand) => registry.connectors(brand).map(({ slug }) => slug),
    tool: (brand, name) => registry.tools(brand).find((tool) => tool.name === name),
    skills: grants?.skills ?? [],
  }
}

type Asked = Omit<z.output<typeof requests.issueBody>, 'retryOf'>

/** What is asked for: by a coworker's profile, by a definition, or as it is said. */
async function wantedOf(asked: Asked, parts: ApiParts, supply: Supply): Promise<Wanted | Refusal | Response> {
  const { coworker, definition, role, routine, supervised, ...rest } = asked
  if (routine !== undefined) return routineWanted(routine, asked, parts)
  if (supervised !== undefined)
    return one('supervised', 'routine_missing', 'supervised goes with a routine; say which.')
  if (coworker !== undefined) return coworkerWanted(coworker, asked, parts)
  if (role === undefined) return one('role', 'missing', 'role is missing; name a role, or a coworker to start.')
  const request = { ...rest, role }
  if (definition !== undefined) {
    if (rest.tools !== undefined) {
      const detail = 'Give tools or a definition, not both; a definition names its tools itself.'
      return one('tools', 'tools_or_definition', detail)
    }
    const brand = rest.brand ?? parts.ownerBrand
    const { roles, builtins } = parts
    const { tools, unmatched } = toolsOfDefinition(definition, {
      brand,
      builtins,
      connectors: supply.connectors(brand),
      roles,
    })
    return { request: { ...request, tools }, only: tools, left: unmatched }
  }
  return withGoalGrant(request, parts)
}

/** The profile decides what the session is; a request can only say for whom, how long, and on which route. */
async function coworkerWanted(id: string, asked: Asked, parts: ApiParts): Promise<Wanted | Refusal> {
  const decided = (['role', 'tools', 'grant', 'limits', 'approval', 'definition'] as const).filter(
    (name) => asked[name] !== undefined,
  )
  if (decided.length > 0) {
    const broken = decided.map((path) => ({
      path,
      rule: 'coworker_decides',
      detail: `The profile of the coworker says ${path}; leave it out, or leave coworker out.`,
    }))
    return { broken }
  }
  const brand = asked.brand ?? parts.ownerBrand
  const profile = parts.grants && (await findProfile(parts.db, brand, id))
  if (parts.grants === undefined || profile === undefined) {
    const detail = `The brand ${brand} has no coworker ${JSON.stringify(id)}; GET /v1/coworkers lists them.`
    return one('coworker', 'unknown_coworker', detail)
  }
  const { route, subject, ttlSeconds } = asked
  const start = coworkerStart(profile, { route, subject, ttlSeconds }, words(brand, parts.grants, parts))
  if (!start.ok) return start
  const left = start.lost.map(({ tool, reason }): Unmatched => ({ tool, code: 'unknown_tool', reason }))
  return { request: start.request, coworker: id, only: start.request.tools ?? [], left }
}

/** The routine decides what the session is; a request can only say for whom, how long, and whether a person is present. */
async function routineWanted(id: string, asked: Asked, parts: ApiParts): Promise<Wanted | Refusal | Response> {
  const decided = (['role', 'coworker', 'tools', 'grant', 'limits', 'approval', 'definition'] as const).filter(
    (name) => asked[name] !== undefined,
  )
  if (decided.length > 0) {
    const detail = (path: string) => `The routine says ${path}; leave it out, or leave routine out.`
    return { broken: decided.map((path) => ({ path, rule: 'routine_decides', detail: detail(path) })) }
  }
  const { route, subject, ttlSeconds, supervised = false } = asked
  await parts.routines.refresh()
  const [routine, policy] = [await parts.routines.find(id), parts.routines.of(id)]
  if (routine === undefined || policy === undefined || routine.brand !== (asked.brand ?? routine.brand)) {
    return one('routine', 'unknown_routine', `There is no routine ${JSON.stringify(id)}; GET /v1/routines lists them.`)
  }
  await parts.connections.wake(routine.brand)
  const tools = new Map(parts.registry.tools(routine.brand).map(({ name, digest }) => [name, digest]))
  const start = routineStart(routine, policy, { route, subject, ttlSeconds, supervised }, (name) => tools.get(name))
  if (start.ok) return { request: start.request, left: [], more: start.claims }
  if (start.problem === 'nothing_enabled') return one('routine', start.problem, start.detail)
  return problem(409, start.problem, start.detail, { routine: `/v1/routines/${id}` })
}

/** A goal agent step of which no grant is said has what was granted under Goals. */
async function withGoalGrant(request: IssueRequest, parts: ApiParts): Promise<Wanted> {
  const role = parts.roles.get('goal-agent')
  const isStep = role !== undefined && request.role === role.name && request.grant === undefined
  const brand = request.brand ?? parts.ownerBrand
  const stored = isStep && parts.grants !== undefined ? await findGoalGrant(parts.db, brand) : undefined
  if (!isStep || parts.grants === undefined || stored === undefined) return { request, left: [] }
  const started = goalAgentStart(request, role, stored.grant, words(brand, parts.grants, parts))
  // Where the request names tools, they stay as it wrote them, and planning brings them into their form.
  return { request: started, left: [], ...(request.tools === undefined ? { only: started.tools ?? [] } : {}) }
}

/** Rules that a grant written into the request breaks, such as a missing allowance. */
function grantBroken({ brand = '', grant, role }: IssueRequest, parts: ApiParts): Broken[] {
  if (grant === undefined || parts.grants === undefined || parts.roles.get(role)?.connectors !== 'granted') return []
  const known = words(brand === '' ? parts.ownerBrand : brand, parts.grants, parts)
  const { connectors, skills = [], allowance = {} } = grant
  return grantProblems({ connectors, skills, allowance: figuresOf(allowance) }, known)
}

/** A rule about a place that nothing was said of yet. */
const isNew = (said: readonly Broken[]) => (one: Broken) => !said.some(({ path }) => path === one.path)

/** What a retry asks for is cut to what the attempt before it ran with. */
async function narrow(
  claims: SessionClaims,
  retryOf: string | undefined,
  coworker: string | undefined,
  parts: ApiParts,
) {
  if (retryOf === undefined) return { ok: true, claims } as const
  const session = toSession(claims, parts)
  if (typeof session === 'string') return { ok: false, broken: [{ rule: 'claims', detail: session }] } as const
  return narrowRetry(await findEarlier(parts.db, retryOf), claims, { coworker, attempts: attemptsOf(session) })
}

const attemptsOf = ({ limits }: Session): number | undefined => limits.attempts

const words = (brand: string, grants: GrantSupply, { roles, registry }: ApiParts): GrantWords =>
  wordsOf(grants, roles, registry, brand)

const one = (path: string, rule: string, detail: string): Refusal => ({ broken: [{ path, rule, detail }] })

/** Figures without those left undefined. */
function figuresOf(allowance: Readonly<Record<string, Readonly<Record<string, number | undefined>>>>) {
  const defined = (figures: object) => requests.given(figures) as Record<string, number>
  return Object.fromEntries(Object.entries(allowance).map(([slug, figures]) => [slug, defined(figures)]))
}

async function sign({ tokens }: ApiParts, claims: SessionClaims): Promise<string | Response> {
  try {
    const { iss: _iss, aud: _aud, ...own } = claims
    return await tokens.issue(own)
  } catch (error) {
    if (!(error instanceof UnissuableClaims)) throw error
    return brokenRules([{ rule: 'claims', detail: error.message }])
  }
}
