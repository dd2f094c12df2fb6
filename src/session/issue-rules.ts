/**
 * The rules that the single fields of a session request must keep. Each broken one is said, with what would be right.
 * Pure.
 * @module
 */
import { normalise, SLUG, split } from '../policy/names.ts'
import { nearest } from '../policy/nearest.ts'
import type { Limits, Role } from '../policy/words.ts'
import type { IssueRequest } from './issue.ts'

/** Takes down a broken rule. */
export type Say = (path: string, rule: string, detail: string) => void

/** Every name must be spelt right and lead somewhere: to this brand's connectors, or to tools that some role lists. */
export function checkNames(
  request: IssueRequest,
  brand: string,
  connectors: readonly string[],
  roles: ReadonlyMap<string, Role>,
  say: Say,
): void {
  const listed = new Set(
    [...roles.values()]
      .flatMap((role) => [...role.holds, ...(role.withSkills ?? [])])
      .map((name) => split(name)?.connector),
  )
  const none = (slug: string) => `There is no connector ${slug} for the brand ${brand}; ${those(slug, connectors)}.`
  request.tools?.forEach((written, i) => {
    const name = normalise(written)
    const slug = name === undefined ? undefined : split(name)?.connector
    if (name === undefined) {
      const shown = JSON.stringify(written.slice(0, 80))
      say(
        `tools[${i}]`,
        'tool_name',
        `${shown} is no tool name; write mcp__connector__tool, mcp__connector__* or a built-in such as Read.`,
      )
    } else if (slug !== undefined && !connectors.includes(slug) && !listed.has(slug)) {
      say(`tools[${i}]`, 'unknown_connector', none(slug))
    }
  })
  request.grant?.connectors.forEach((slug, i) => {
    if (!SLUG.test(slug) || !connectors.includes(slug))
      say(`grant.connectors[${i}]`, 'unknown_connector', none(slug.slice(0, 80)))
  })
}

/** Seed 001, "Rules a grant must pass", as far as one session's grant goes. */
export function checkGrant(grant: IssueRequest['grant'], role: Role, bundled: readonly string[], say: Say): void {
  if (grant === undefined) return
  const { connectors, skills = [], allowance = {} } = grant
  const isEmpty = connectors.length === 0 && skills.length === 0 && Object.keys(allowance).length === 0
  if (role.connectors !== 'granted' && !isEmpty) {
    say('grant', 'no_grants', `The role ${role.name} takes no grant; leave it out, or use a role that does.`)
    return
  }
  skills.forEach((skill, i) => {
    if (bundled.includes(skill)) return
    const known = bundled.length === 0 ? '' : ` The bundled skills are ${bundled.join(', ')}.`
    say(
      `grant.skills[${i}]`,
      'unknown_skill',
      `There is no bundled skill ${JSON.stringify(skill.slice(0, 80))}.${known}`,
    )
  })
  for (const [slug, figures = {}] of Object.entries(allowance)) {
    const path = `grant.allowance.${slug}`
    if (!connectors.includes(slug))
      say(path, 'allowance_without_grant', `An allowance is for a granted connector; grant ${slug} too.`)
    const { perRunCredits, perDayCredits, perRunUsd, perDayUsd } = figures
    if ((perRunCredits ?? 0) > (perDayCredits ?? Number.POSITIVE_INFINITY)) {
      say(path, 'allowance_order', 'perRunCredits must not be above perDayCredits.')
    }
    if ((perRunUsd ?? 0) > (perDayUsd ?? Number.POSITIVE_INFINITY)) {
      say(path, 'allowance_order', 'perRunUsd must not be above perDayUsd.')
    }
  }
}

/**
 * A goal reviewer must not start with any tool, delegation or grant (seed 001, "Goal reviewer"), also where an edited
 * policy file would give it some. What a request asks beyond an empty file is refused as for every role.
 */
export function checkReviewer(role: Role, say: Say): void {
  if (role.name !== 'goal-reviewer') return
  const own = [...role.builtins, ...role.holds, ...(role.withSkills ?? [])]
  const isBound = role.connectors === 'none' && role.limits.delegationDepth === 0 && role.limitsAre !== 'usual'
  if (own.length === 0 && isBound) return
  const detail =
    'A goal reviewer has no tool, no connector and no delegation; take them out of its policy file, and say delegationDepth: 0.'
  say('role', 'reviewer_holds_nothing', detail)
}

/** Figures that a role states as the most there is cannot be lifted. */
export function checkLimits(limits: IssueRequest['limits'], role: Role, say: Say): void {
  if (role.limitsAre === 'usual') return
  for (const [name, asked] of Object.entries(limits ?? {})) {
    const most = role.limits[name as keyof Limits]
    if (asked === undefined || most === undefined || asked <= most) continue
    say(
      `limits.${name}`,
      'limit_above_role',
      `${name} is above what the role ${role.name} allows; ask for ${most} or less.`,
    )
  }
}

/** The sentence about a word that is not one of those known. */
export function unknown(kind: string, name: string, known: Iterable<string>): string {
  const names = [...known]
  const meant = nearest(name, names)
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
  return `There is no ${kind} ${JSON.stringify(name.slice(0, 80))}; the ${kind}s are ${names.join(', ')}.${hint}`
}

function those(slug: string, connectors: readonly string[]): string {
  if (connectors.length === 0) return 'it has none'
  const meant = nearest(slug, connectors)
  return `it has ${connectors.join(', ')}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`
}
