/** The shipped catalogue and roles, with whichever connectors a test calls live. Pure. */
import { bundledSkills } from '../../connectors/bundled-skills.ts'
import { connectors as catalogue } from '../../connectors/index.ts'
import { readFolder, shippedPolicies } from '../../src/config/files.ts'
import { presetsOf } from '../../src/grants/presets.ts'
import { type GrantWords, NO_GRANT, type Profile, USUAL_LIMITS } from '../../src/grants/profile.ts'
import { readPolicies } from '../../src/policy/role-file.ts'
import type { Role, Tool } from '../../src/policy/words.ts'

const files = readFolder(shippedPolicies(), '', [])

export function roles(): ReadonlyMap<string, Role> {
  const read = readPolicies(files, { sandbox: false })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return read.policies.roles
}

export function presets() {
  const read = presetsOf(files, catalogue)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return read.presets
}

/** The connectors of seed 001 that bill, to be connected in a test. */
export const EVERYTHING = catalogue.map(({ slug }) => slug)

/** What exists for a brand with these declared connectors live, and these tools of its own upstreams. */
export function words(
  live: readonly string[] = EVERYTHING,
  upstream: readonly Tool[] = [],
  away: string[] = [],
): GrantWords {
  const declared = catalogue
    .filter(({ slug }) => live.includes(slug))
    .flatMap(({ tools }) =>
      tools.map(({ name, connector, access, grantable }): Tool => ({ name, connector, access, grantable, ask: false })),
    )
  const slugs = new Set([...live, ...upstream.map(({ connector }) => connector), ...away])
  return {
    catalogue,
    skills: bundledSkills,
    roles: roles(),
    connectors: [...slugs].map((slug) => ({ slug })),
    tools: [...declared, ...upstream],
  }
}

/** A tool of an upstream that only the operator describes. */
export function upstreamTool(connector: string, name: string, more: Partial<Tool> = {}): Tool {
  return { name: `mcp__${connector}__${name}`, connector, access: 'read', ask: false, grantable: true, ...more }
}

export function profile(more: Partial<Profile> = {}): Profile {
  return {
    brand: 'acme',
    id: 'ada',
    name: 'Ada',
    role: 'specialist',
    tools: ['Read'],
    grant: NO_GRANT,
    limits: USUAL_LIMITS,
    ...more,
  }
}

export const grant = (connectors: string[], more: Partial<Profile['grant']> = {}): Profile['grant'] => ({
  connectors,
  skills: [],
  allowance: {},
  ...more,
})

export const CREDITS = { firecrawl: { perRunCredits: 25, perDayCredits: 100 } }
export const USD = { dataforseo: { perRunUsd: 1, perDayUsd: 3 } }
