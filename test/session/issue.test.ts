/** What a session request is refused for before any token is made. Pure. */
import { describe, expect, it } from 'vitest'
import { readFolder, shippedPolicies } from '../../src/config/files.ts'
import { readPolicies } from '../../src/policy/role-file.ts'
import type { Role, Tool } from '../../src/policy/words.ts'
import { type IssueRequest, planSession, type Supply } from '../../src/session/issue.ts'

const read = readPolicies(readFolder(shippedPolicies(), '', []), { sandbox: false })
if (!read.ok) throw new Error(read.problems.join('\n'))
const { roles, routes } = read.policies
const reviewer = roles.get('goal-reviewer')!

/** The rules a request breaks, with the reviewer's policy file changed by `edit`. */
function broken(request: Partial<IssueRequest>, edit: Partial<Role> = {}, skills: string[] = []): string[] {
  const supply: Supply = {
    roles: new Map([...roles, ['goal-reviewer', { ...reviewer, ...edit }]]),
    routes,
    ownerBrand: 'acme',
    connectors: () => ['files'],
    tool: () => undefined,
    skills,
  }
  const making = { id: 's_1', resource: 'https://tollgate.example/mcp', now: 0 }
  const planned = planSession({ role: 'goal-reviewer', ...request }, supply, making)
  return planned.ok ? [] : planned.broken.map(({ path, rule }) => `${path}: ${rule}`)
}

describe('a goal reviewer', () => {
  it('starts with nothing, and is refused with any tool, grant or delegation', () => {
    expect(broken({})).toEqual([])
    expect(broken({ tools: [] })).toEqual([])
    expect(broken({ tools: ['Read'] })).toEqual(['tools: nothing_to_hold'])
    expect(broken({ tools: ['files/read'] })).toEqual(['tools: nothing_to_hold'])
    expect(broken({ grant: { connectors: ['files'] } })).toEqual(['grant: no_grants'])
    expect(broken({ grant: { connectors: [], skills: ['seo-method'] } }, {}, ['seo-method'])).toEqual([
      'grant: no_grants',
    ])
    expect(broken({ limits: { delegationDepth: 1 } })).toEqual(['limits.delegationDepth: limit_above_role'])
  })

  it.each<[string, Partial<Role>]>([
    ['a built-in', { builtins: ['Read'] }],
    ['a platform tool', { holds: ['mcp__project__project_read'] }],
    ['skill tools', { withSkills: ['mcp__skills__load_skill'] }],
    ['every connector', { connectors: 'every' }],
    ['granted connectors', { connectors: 'granted' }],
    ['a delegation depth', { limits: { ...reviewer.limits, delegationDepth: 1 } }],
    ['no word on delegation', { limits: { runUsd: 0.1 } }],
    ['limits that a request may lift', { limitsAre: 'usual' }],
  ])('does not start while its policy file gives it %s', (_, edit) => {
    expect(broken({}, edit)).toEqual(['role: reviewer_holds_nothing'])
  })
})

describe('a grant in a request', () => {
  it('names bundled skills only', () => {
    const grant = { connectors: [], skills: ['seo-method', 'x'] }
    expect(broken({ role: 'specialist', tools: ['Read'], grant }, {}, ['seo-method'])).toEqual([
      'grant.skills[1]: unknown_skill',
    ])
    expect(broken({ role: 'specialist', tools: ['Read'], grant })).toHaveLength(2)
  })
})

describe('a request that names only a tool of another making', () => {
  const specialist = (tool: Tool, request: Partial<IssueRequest>) => {
    const supply: Supply = {
      roles,
      routes,
      ownerBrand: 'acme',
      connectors: () => ['firecrawl', 'dataforseo', 'seo'],
      tool: (_, name) => (name === tool.name ? tool : undefined),
      skills: ['campaign-fleet'],
    }
    const making = { id: 's_1', resource: 'https://tollgate.example/mcp', now: 0 }
    const planned = planSession({ role: 'specialist', tools: [tool.name], ...request }, supply, making)
    return planned.ok ? planned.claims.ceiling.includes(tool.name) : planned.broken.map(({ rule }) => rule)
  }
  const read = { access: 'read', ask: false, asks: 'never', grantable: true } as const
  const joint = { ...read, name: 'mcp__seo__both', connector: 'seo', joint: ['seo', 'dataforseo'] }
  const riding = { ...read, name: 'mcp__seo__fleet', connector: 'seo', ridesOn: 'campaign-fleet', delegationDepth: 1 }

  it('starts with a joint tool when every connector that it reads is granted, and not with one of them', () => {
    expect(specialist(joint, { grant: { connectors: ['seo', 'dataforseo'] } })).toBe(true)
    expect(specialist(joint, { grant: { connectors: ['seo'] } })).toEqual(['nothing_to_hold'])
  })

  it('starts with a tool that rides on a skill when the grant names the skill, and depth is left', () => {
    const grant = { connectors: [], skills: ['campaign-fleet'] }
    expect(specialist(riding, { grant, limits: { delegationDepth: 1 } })).toBe(true)
    expect(specialist(riding, { grant, limits: { delegationDepth: 0 } })).toEqual(['nothing_to_hold'])
    expect(specialist(riding, { grant: { connectors: ['seo'] } })).toEqual(['nothing_to_hold'])
  })
})
