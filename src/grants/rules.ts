/**
 * The rules a profile or a grant must pass when it is saved (seed 001, "Rules a grant must pass"), so that a bad one is
 * refused then and not at its first call. Pure; every broken rule is named.
 * @module
 */
import type { DeclaredConnector } from '../connector/define.ts'
import { covers, normalise, split } from '../policy/names.ts'
import { nearest } from '../policy/nearest.ts'
import type { Grant } from '../policy/words.ts'
import type { Broken } from '../session/issue.ts'
import { allowanceProblem } from './billing.ts'
import { type GrantWords, isEmptyGrant, type Profile, type ProfileLimits } from './profile.ts'

/** Roles that are no saved profile; a coworker under such an id could be taken for them. */
const TAKEN = ['goal-agent', 'goal-reviewer']
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

type Say = (path: string, rule: string, detail: string) => void

/** Every rule a profile breaks; empty when it may be saved. */
export function profileProblems(profile: Profile, words: GrantWords): Broken[] {
  const broken: Broken[] = []
  const say: Say = (path, rule, detail) => broken.push({ path, rule, detail })
  if (!ID.test(profile.id)) {
    say('id', 'coworker_id', 'An id is 1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit.')
  } else if (TAKEN.includes(profile.id)) {
    say('id', 'coworker_id', `${profile.id} is built in and no coworker; its grant is under /v1/goals/agent.`)
  }
  if (profile.role !== 'specialist' && !isEmptyGrant(profile.grant)) {
    say(
      'role',
      'coworker_with_grant',
      'A coworker with a grant is a specialist; write "specialist", or leave the role out.',
    )
  }
  checkGrant(profile.grant, words, say)
  for (const [i, written] of profile.tools.entries()) checkTool(written, `tools[${i}]`, profile, words, say)
  checkLimits(profile.limits, say)
  return broken
}

/** Every rule a goal agent's grant breaks. It takes no skills: an agent step has none (seed 001, "Goal agent step"). */
export function goalGrantProblems(grant: Grant, words: GrantWords): Broken[] {
  const skills = grant.skills.map((_, i) => ({
    path: `grant.skills[${i}]`,
    rule: 'no_skills',
    detail: 'A goal agent step has no skills; take it out.',
  }))
  return [...grantProblems({ ...grant, skills: [] }, words), ...skills]
}

/** Every rule that one session's own grant breaks. */
export function grantProblems(grant: Grant, words: GrantWords): Broken[] {
  const broken: Broken[] = []
  checkGrant(grant, words, (path, rule, detail) => broken.push({ path, rule, detail }))
  return broken
}

/** Connectors that can be granted to this brand, by slug. */
export function grantable({ catalogue, connectors, tools }: GrantWords): string[] {
  const declared = catalogue.filter(hasReadTable).map(({ slug }) => slug)
  const own = connectors
    .map(({ slug }) => slug)
    .filter((slug) => !catalogue.some((one) => one.slug === slug) && canGrantUpstream(slug, tools))
  return [...declared, ...own]
}

const hasReadTable = ({ beside, tools }: DeclaredConnector): boolean =>
  beside === undefined && tools.some((tool) => tool.grantable)

/** An upstream that is away may have something to grant; one that is there and marks no tool grantable has not. */
function canGrantUpstream(slug: string, tools: GrantWords['tools']): boolean {
  const own = tools.filter((tool) => tool.connector === slug)
  return own.length === 0 || own.some((tool) => tool.grantable === true && tool.access !== 'write')
}

function checkGrant({ connectors, skills, allowance }: Grant, words: GrantWords, say: Say): void {
  const known = grantable(words)
  connectors.forEach((slug, i) => {
    if (known.includes(slug)) return
    const path = `grant.connectors[${i}]`
    const declared = words.catalogue.find((one) => one.slug === slug)
    if (declared?.beside !== undefined) {
      const detail = `${slug} has no grant of its own: grant ${declared.beside}, and name the tools of ${slug} one by one.`
      say(path, 'not_grantable', detail)
    } else if (declared !== undefined) {
      say(path, 'not_grantable', `${slug} cannot be granted: none of its tools is in the read table.`)
    } else if (words.connectors.some((one) => one.slug === slug)) {
      const detail = `${slug} cannot be granted: none of its tools is marked "grantable" in the configuration.`
      say(path, 'not_grantable', detail)
    } else {
      say(path, 'unknown_connector', `There is no connector ${quote(slug)}; ${choice(slug, known, 'grantable ones')}`)
    }
  })
  for (const slug of new Set(connectors)) {
    const found = known.includes(slug) ? allowanceProblem(slug, own(allowance, slug), words) : undefined
    if (found !== undefined) say(`grant.allowance.${slug}`, found.rule, found.detail)
  }
  for (const slug of Object.keys(allowance)) {
    if (connectors.includes(slug)) continue
    say(
      `grant.allowance.${slug}`,
      'allowance_without_grant',
      `An allowance is for a granted connector; grant ${slug} too.`,
    )
  }
  skills.forEach((skill, i) => {
    if (words.skills.includes(skill)) return
    const detail = `There is no bundled skill ${quote(skill)}; ${choice(skill, words.skills, 'bundled ones')}`
    say(`grant.skills[${i}]`, 'unknown_skill', detail)
  })
}

/**
 * One tool a profile asks for. Platform tools and built-ins that the ceiling does not hold are no mistake: they stay in
 * the profile and are lost in the session.
 */
function checkTool(written: string, path: string, profile: Profile, words: GrantWords, say: Say): void {
  const name = normalise(written)
  if (name === undefined) {
    return say(
      path,
      'tool_name',
      `${quote(written)} is no tool name; write mcp__connector__tool, or a built-in such as Read.`,
    )
  }
  const parts = split(name)
  if (parts === undefined) return
  const declared = words.catalogue.find(({ slug }) => slug === parts.connector)
  const registered = words.tools.find((tool) => tool.name === name)
  if (declared === undefined) return checkUpstreamTool(name, parts, path, { profile, words }, say)
  const tool = declared.tools.find((one) => covers(one.name, name))
  if (parts.tool === '*') return checkWhole(declared, path, profile, words, say)
  if (tool === undefined && registered === undefined) {
    const meant = nearest(
      name,
      declared.tools.map((one) => one.name),
    )
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
    return say(path, 'unknown_tool', `${declared.slug} has no tool ${quote(parts.tool)}.${hint}`)
  }
  if (needsSkill(name, words)) {
    if (profile.grant.skills.some((skill) => words.skills.includes(skill))) return
    return say(path, 'skill_not_granted', `${name} comes with a skill; name one under grant.skills, or take it out.`)
  }
  if (declared.kind !== 'connector') return
  if (tool?.ridesOn !== undefined) {
    if (!profile.grant.skills.includes(tool.ridesOn)) {
      say(path, 'skill_not_granted', `${name} comes with the skill ${tool.ridesOn}; grant that, or take it out.`)
    }
    const depth = tool.delegationDepth ?? 0
    if (!(profile.limits.maxDelegationDepth >= depth)) {
      say(
        path,
        'delegation_depth',
        `${name} hands work on: set limits.maxDelegationDepth to ${depth} or more, or take it out.`,
      )
    }
    return
  }
  const canBeGranted = (tool ?? registered)?.grantable === true && (tool ?? registered)?.access !== 'write'
  if (!canBeGranted) return say(path, 'outside_read_table', `${name} ${OUTSIDE}`)
  const needed = new Set([declared.beside ?? declared.slug, ...(tool?.joint ?? [])])
  checkCovered(name, needed, path, profile, say)
}

const OUTSIDE =
  'is outside the read table, so no grant can give it: a specialist reads and proposes; it never commits. Take it out.'

/** All of a declared connector: what its grant gives, which for opt-in and skill-borne tools is nothing. */
function checkWhole(declared: DeclaredConnector, path: string, profile: Profile, words: GrantWords, say: Say): void {
  if (declared.kind !== 'connector') {
    const bySkill = declared.tools.every(({ name }) => needsSkill(name, words))
    if (!bySkill || profile.grant.skills.some((skill) => words.skills.includes(skill))) return
    return say(
      path,
      'skill_not_granted',
      `The tools of ${declared.slug} come with a skill; name one under grant.skills.`,
    )
  }
  if (declared.tools.some(({ optIn, ridesOn }) => optIn === true || ridesOn !== undefined)) {
    const names = declared.tools.map(({ name }) => name).join(', ')
    return say(path, 'name_each', `The tools of ${declared.slug} are given by name only; write those wanted: ${names}.`)
  }
  if (!hasReadTable(declared)) return say(path, 'outside_read_table', `mcp__${declared.slug}__* ${OUTSIDE}`)
  checkCovered(`mcp__${declared.slug}__*`, new Set([declared.slug]), path, profile, say)
}

function checkUpstreamTool(
  name: string,
  { connector, tool }: { readonly connector: string; readonly tool: string },
  path: string,
  { profile, words }: { readonly profile: Profile; readonly words: GrantWords },
  say: Say,
): void {
  const slugs = [...words.connectors, ...words.catalogue].map(({ slug }) => slug)
  if (!slugs.includes(connector)) {
    return say(
      path,
      'unknown_connector',
      `There is no connector ${quote(connector)}; ${choice(connector, slugs, 'known ones')}`,
    )
  }
  const there = words.tools.filter((one) => one.connector === connector)
  const found = there.find((one) => one.name === name)
  if (found === undefined && there.length > 0 && tool !== '*') {
    const meant = nearest(
      name,
      there.map((one) => one.name),
    )
    return say(
      path,
      'unknown_tool',
      `${connector} has no tool ${quote(tool)}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
    )
  }
  const isOutside =
    found === undefined ? !canGrantUpstream(connector, there) : found.grantable !== true || found.access === 'write'
  if (isOutside) return say(path, 'outside_read_table', `${name} ${OUTSIDE}`)
  checkCovered(name, new Set([connector]), path, profile, say)
}

function checkCovered(name: string, needed: ReadonlySet<string>, path: string, { grant }: Profile, say: Say): void {
  const missing = [...needed].filter((slug) => !grant.connectors.includes(slug))
  if (missing.length === 0) return
  say(
    path,
    'not_granted',
    `The grant does not cover ${name}: grant ${missing.join(', ')} under grant.connectors, or take it out.`,
  )
}

function needsSkill(name: string, { roles }: GrantWords): boolean {
  return [...roles.values()].some((role) => role.withSkills?.some((pattern) => covers(pattern, name)) === true)
}

function checkLimits(limits: ProfileLimits, say: Say): void {
  if (!(limits.runBudgetUsd > 0 && limits.runBudgetUsd < Number.POSITIVE_INFINITY)) {
    say('limits.runBudgetUsd', 'limit', 'runBudgetUsd is an amount of US dollars above zero.')
  }
  const least = { maxTurns: 1, maxConcurrentRuns: 1, maxDelegationDepth: 0, maxAttempts: 1 } as const
  for (const [name, from] of Object.entries(least)) {
    const figure = limits[name as keyof typeof least]
    if (Number.isSafeInteger(figure) && figure >= from) continue
    say(`limits.${name}`, 'limit', `${name} is a whole number of ${from} or more.`)
  }
}

const quote = (text: string) => JSON.stringify(text.slice(0, 80))
const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

function choice(written: string, known: readonly string[], which: string): string {
  const meant = nearest(written, known)
  return meant === undefined ? `the ${which}: ${known.join(', ') || 'none'}.` : `did you mean ${meant}?`
}
