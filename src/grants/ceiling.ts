/**
 * What a grant adds to a ceiling, in the five steps of seed 001 ("Specialist coworker run"), and what becomes of each
 * tool a profile asks for. Pure: what exists is handed in.
 * @module
 */
import type { DeclaredTool } from '../connector/define.ts'
import { covers, normalise, split } from '../policy/names.ts'
import { nearest } from '../policy/nearest.ts'
import type { Grant, Role, Tool } from '../policy/words.ts'
import { allowanceProblem } from './billing.ts'
import type { GrantWords } from './profile.ts'

/** A tool, or all of an upstream (`mcp__<connector>__*`), that a grant gives, and by which of the five steps. */
export interface Granted {
  readonly name: string
  readonly step: 'reads' | 'joint' | 'opt-in' | 'skills' | 'rides-on-skill'
}

/** What is granted to whom. `asked`: canonical names and patterns of the profile. */
export interface GrantAsk {
  readonly grant: Grant
  readonly asked: readonly string[]
  readonly maxDelegationDepth: number
  /** The role's skill tools are what a skill brings; a role without any takes no skill and no opt-in tool. */
  readonly role: Pick<Role, 'connectors' | 'withSkills'>
}

/**
 * The tools a grant adds, in order. Of a granted connector of which the profile names tools, only those named; of every
 * other its whole read table. A connector that bills and has no sound allowance gives nothing.
 */
export function grantedTools({ grant, asked, maxDelegationDepth, role }: GrantAsk, words: GrantWords): Granted[] {
  if (role.connectors !== 'granted') return []
  const live = liveConnectors(grant, words)
  const skills = role.withSkills === undefined ? [] : grant.skills.filter((skill) => words.skills.includes(skill))
  const declared = words.catalogue.flatMap((one) =>
    one.tools.filter(({ name }) => registers(name, words)).map((tool) => ({ tool, beside: one.beside })),
  )
  const isNarrowed = (slug: string) => asked.some((name) => split(name)?.connector === slug)
  const wanted = (name: string, slug: string) => !isNarrowed(slug) || asked.some((pattern) => covers(pattern, name))
  const reads = live.flatMap((slug) => {
    const names = readTable(slug, words)
    return names.flatMap((name) =>
      name.endsWith('__*') ? narrowed(slug, asked, name) : wanted(name, slug) ? [name] : [],
    )
  })
  const joint = declared.filter(
    ({ tool }) =>
      tool.grantable && tool.joint?.every((slug) => live.includes(slug)) === true && wanted(tool.name, tool.connector),
  )
  const optIn = declared.filter(
    ({ tool, beside }) =>
      role.withSkills !== undefined &&
      tool.optIn === true &&
      tool.grantable &&
      beside !== undefined &&
      live.includes(beside) &&
      asked.includes(tool.name),
  )
  const riding = declared.filter(
    ({ tool }) =>
      tool.ridesOn !== undefined &&
      skills.includes(tool.ridesOn) &&
      maxDelegationDepth >= (tool.delegationDepth ?? 0) &&
      wanted(tool.name, tool.connector),
  )
  const named = (step: Granted['step']) => (name: string) => ({ name, step })
  return [
    ...reads.map(named('reads')),
    ...joint.map(nameOf).map(named('joint')),
    ...optIn.map(nameOf).map(named('opt-in')),
    ...(skills.length > 0 ? (role.withSkills ?? []) : []).map(named('skills')),
    ...riding.map(nameOf).map(named('rides-on-skill')),
  ]
}

/** Granted connectors that exist for the brand and that the grant can pay for, each once. */
export function liveConnectors({ connectors, allowance }: Grant, words: GrantWords): string[] {
  return [...new Set(connectors)].filter(
    (slug) =>
      words.connectors.some((one) => one.slug === slug) &&
      allowanceProblem(slug, Object.hasOwn(allowance, slug) ? allowance[slug] : undefined, words) === undefined,
  )
}

/** What becomes of a profile's tools in a session of a role. */
export interface Ceiling {
  /** Canonical names and patterns: what the profile asks for out of the role's own, then what the grant adds. */
  readonly held: readonly string[]
  readonly granted: readonly Granted[]
  /** What the profile asks for and a session does not get, as written, and why. */
  readonly lost: readonly { readonly tool: string; readonly reason: string }[]
}

/** Asked ∩ the role's own, and what the grant adds. */
export function ceilingOf(
  role: Role,
  { tools, grant, maxDelegationDepth }: { tools: readonly string[]; grant: Grant; maxDelegationDepth: number },
  words: GrantWords,
): Ceiling {
  const asked = tools.map((written) => normalise(written)).filter((name) => name !== undefined)
  const granted = grantedTools({ grant, asked, maxDelegationDepth, role }, words)
  const isOwn = (name: string) =>
    [...role.builtins, ...role.holds].some((own) => covers(own, name) || covers(name, own))
  const isGranted = (name: string) => granted.some((one) => covers(one.name, name) || covers(name, one.name))
  const lost = tools.flatMap((tool) => {
    const name = normalise(tool)
    if (name !== undefined && (isOwn(name) || isGranted(name))) return []
    return [{ tool, reason: whyLost(name, role, words) }]
  })
  return { held: [...new Set([...asked.filter(isOwn), ...granted.map(({ name }) => name)])], granted, lost }
}

/** The read table of a granted connector, as far as it will register. */
function readTable(slug: string, { catalogue, tools }: GrantWords): string[] {
  const declared = catalogue.find((one) => one.slug === slug)
  // What an upstream offers changes while it runs; the session's view keeps the grantable reads of it.
  if (declared === undefined) return [`mcp__${slug}__*`]
  return tools.filter((tool) => tool.connector === slug && isPlainRead(tool, declared.tools)).map(({ name }) => name)
}

function isPlainRead(tool: Tool, declared: readonly DeclaredTool[]): boolean {
  const said = declared.find(({ name }) => name === tool.name)
  if (tool.grantable !== true || tool.access === 'write') return false
  return said === undefined || (said.grantable && !said.joint && said.optIn !== true && said.ridesOn === undefined)
}

const registers = (name: string, { tools }: GrantWords) => tools.some((tool) => tool.name === name)
const nameOf = ({ tool }: { readonly tool: DeclaredTool }) => tool.name

/** All of an upstream, or what the profile names of it. */
function narrowed(slug: string, asked: readonly string[], all: string): string[] {
  const named = asked.filter((name) => split(name)?.connector === slug)
  return named.length === 0 ? [all] : named
}

function whyLost(name: string | undefined, role: Role, words: GrantWords): string {
  if (name === undefined) return 'It is no tool name.'
  const slug = split(name)?.connector
  if (slug === undefined) {
    const meant = nearest(name, role.builtins)
    return `The role ${role.name} holds no built-in ${name} here.${meant === undefined ? '' : ` Did you mean ${meant}?`}`
  }
  const declared = words.catalogue.find((one) => one.slug === slug)
  if (declared !== undefined && declared.kind !== 'connector') return `The role ${role.name} does not hold ${name}.`
  if (!words.connectors.some((one) => one.slug === slug)) return `${slug} is not connected for this brand.`
  return `${name} does not register for this brand right now, or its grant does not give it.`
}
