/**
 * How a saved profile or the goal agent's grant becomes a request for a session. Pure.
 * What the profile asks for and no session can hold is left out here and kept in the profile.
 * @module
 */
import { normalise, split } from '../policy/names.ts'
import type { Grant, Role } from '../policy/words.ts'
import type { Broken, IssueRequest } from '../session/issue.ts'
import { type Ceiling, ceilingOf, liveConnectors } from './ceiling.ts'
import { type GrantWords, type Profile, sessionLimits } from './profile.ts'

/** What the caller may still choose when a profile says the rest. */
export type StartRequest = Pick<IssueRequest, 'route' | 'subject' | 'ttlSeconds'>

export type Start =
  | { readonly ok: true; readonly request: IssueRequest; readonly lost: Ceiling['lost'] }
  | { readonly ok: false; readonly broken: readonly Broken[] }

/** The session of a coworker's run. Refused when nothing is left of its tools, rather than started with none. */
export function coworkerStart(profile: Profile, asked: StartRequest, words: GrantWords): Start {
  const role = words.roles.get(profile.role)
  if (role === undefined) throw new Error(`There is no role ${profile.role}.`)
  const { maxDelegationDepth } = profile.limits
  const { held, lost } = ceilingOf(role, { tools: profile.tools, grant: profile.grant, maxDelegationDepth }, words)
  if (held.length === 0) {
    const why = lost.map(({ tool, reason }) => `${tool}: ${reason}`).join(' ')
    const detail = `The coworker ${profile.id} would hold no tool at all. ${why || 'Its profile asks for none.'}`
    return { ok: false, broken: [{ path: 'coworker', rule: 'nothing_to_hold', detail }] }
  }
  const request = {
    ...asked,
    brand: profile.brand,
    subject: asked.subject ?? profile.id,
    role: profile.role,
    tools: held,
    ...(role.connectors === 'granted' ? { grant: liveGrant(profile.grant, words) } : {}),
    limits: sessionLimits(profile.limits),
  }
  return { ok: true, request, lost }
}

/**
 * A goal agent step with what a person granted it: its own tools, and the granted connectors' read table. A request that
 * names tools gets no connector of which it names none.
 */
export function goalAgentStart<R extends IssueRequest>(request: R, role: Role, grant: Grant, words: GrantWords): R {
  const { tools } = request
  const isNamed = (slug: string) => tools?.some((name) => split(normalise(name) ?? '')?.connector === slug) !== false
  const connectors = grant.connectors.filter(isNamed)
  const given = { ...liveGrant({ ...grant, connectors }, words), skills: [] }
  if (tools !== undefined) return { ...request, grant: given }
  const own = [...role.builtins, ...role.holds]
  const { held } = ceilingOf(role, { tools: own, grant: given, maxDelegationDepth: 0 }, words)
  return { ...request, grant: given, tools: held }
}

/** As much of a grant as exists for the brand right now, with the allowance of just that. */
function liveGrant(grant: Grant, words: GrantWords): Grant {
  const connectors = liveConnectors(grant, words)
  const allowance = Object.fromEntries(
    connectors.flatMap((slug) => {
      const figures = Object.hasOwn(grant.allowance, slug) ? grant.allowance[slug] : undefined
      return figures === undefined ? [] : [[slug, figures]]
    }),
  )
  return { connectors, skills: grant.skills.filter((skill) => words.skills.includes(skill)), allowance }
}
