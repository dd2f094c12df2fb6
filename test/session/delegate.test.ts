/**
 * What a session can hand on: over random parents and requests, a child never holds what its parent does not.
 * @module
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { covers } from '../../src/policy/names.ts'
import { compileView } from '../../src/policy/view.ts'
import type { Access, Role, Session, Tool } from '../../src/policy/words.ts'
import { type SessionClaims, toSession } from '../../src/session/claims.ts'
import { type ChildRequest, planChild } from '../../src/session/delegate.ts'
import { type Figures, figuresOf } from '../../src/session/figures.ts'
import { NOON, ownClaims, RESOURCE, roles as fixed, routes } from './fixtures.ts'

const tool = (connector: string, name: string, access: Access = 'read', grantable = false): Tool => ({
  name: `mcp__${connector}__${name}`,
  connector,
  access,
  ask: false,
  asks: access === 'read' ? 'never' : 'always',
  grantable,
})
const TOOLS = [
  tool('files', 'read', 'read', true),
  tool('files', 'write', 'write'),
  tool('firecrawl', 'scrape', 'read', true),
  tool('firecrawl', 'crawl', 'read', true),
  tool('project', 'project_list'),
  tool('project', 'project_delete', 'write'),
  tool('skills', 'load_skill'),
  { ...tool('writer', 'save_draft', 'read', true), optIn: true as const, beside: 'files' },
  { ...tool('firecrawl', 'both', 'read', true), joint: ['firecrawl', 'files'] },
  { ...tool('seo', 'hand_off', 'read'), ridesOn: 'seo-method', delegationDepth: 1 },
  { ...tool('egress', 'allow_host', 'write'), withoutChannel: 'absent' as const },
]
const role = (name: string, more: Partial<Role> = {}): Role => ({
  ...fixed.get('coworker')!,
  name,
  builtins: ['Read', 'Bash'],
  holds: ['mcp__project__*'],
  withSkills: ['mcp__skills__*'],
  limitsAre: 'usual',
  ...more,
})
const roles = new Map([
  ['wide', role('wide', { asksPerson: true, connectors: 'every' })],
  ['granted', role('granted', { given: 'asked' })],
])
const view = (session: Session) =>
  compileView(session, { tools: TOOLS, builtins: ['Bash', 'Read'], mark: ({ name }) => name, hash: (text) => text })

function sessionOf(claims: SessionClaims): Session {
  const session = toSession(claims, { roles, routes })
  if (typeof session === 'string') throw new Error(session)
  return session
}

const base = {
  ...ownClaims,
  role: 'granted',
  ceiling: ['Read', 'mcp__project__*', 'mcp__files__read', 'mcp__firecrawl__*'],
  grant: {
    connectors: ['files', 'firecrawl'],
    skills: ['seo-method'],
    allowance: { firecrawl: { perRunCredits: 25, perDayCredits: 100 } },
  },
  limits: { runUsd: 0.5, turns: 10, delegationDepth: 2, attempts: 1, concurrentRuns: 1 },
} satisfies SessionClaims

const plan = (request: ChildRequest, claims: SessionClaims = base, remaining?: Figures) => {
  const session = sessionOf(claims)
  const held = view(session)
  return planChild(
    request,
    {
      session,
      remaining: remaining ?? figuresOf(session),
      holds: (name) => held.byName.has(name) || held.builtins.includes(name),
    },
    { id: 's_child', resource: RESOURCE, now: NOON * 1000 },
  )
}
const claimsOf = (request: ChildRequest, claims?: SessionClaims, remaining?: Figures): SessionClaims => {
  const planned = plan(request, claims, remaining)
  if (!planned.ok) throw new Error(JSON.stringify(planned.broken))
  return planned.claims
}
const rules = (request: ChildRequest, claims?: SessionClaims, remaining?: Figures) => {
  const planned = plan(request, claims, remaining)
  return planned.ok ? [] : planned.broken.map(({ path, rule }) => `${path}: ${rule}`)
}

describe('a child', () => {
  it('does not hold by name what its parent, which names only the connector, does not hold', () => {
    const parent = { ...base, ceiling: ['mcp__writer__*', 'mcp__files__read'] }
    const request = { tools: ['writer/save_draft'], grant: { connectors: ['files'] } }
    expect(rules(request, parent)).toEqual(['tools[0]: above_parent'])
    const byName = { ...parent, ceiling: ['mcp__writer__save_draft'] }
    const child = sessionOf(claimsOf(request, byName))
    expect([...view(child).byName.keys()]).toEqual(['mcp__writer__save_draft'])
  })

  it('that asks for nothing in particular gets no grant, one level less, and all the dollars that are left', () => {
    expect(claimsOf({}, base, { runUsd: 0.2, 'firecrawl.perRunCredits': 5 })).toEqual({
      ...base,
      jti: 's_child',
      exp: NOON + 3600,
      ceiling: ['Read', 'mcp__project__*'],
      grant: { connectors: [], skills: [], allowance: {} },
      limits: { ...base.limits, runUsd: 0.2, delegationDepth: 1 },
    })
  })

  it('gets what it asks for in every accepted spelling, with figures out of the parent', () => {
    const claims = claimsOf({
      tools: ['project/project_list', 'firecrawl__scrape', 'mcp__project__*'],
      grant: { connectors: ['firecrawl'], allowance: { firecrawl: { perRunCredits: 10, perDayCredits: 20 } } },
      limits: { runUsd: 0.1, turns: 3, delegationDepth: 0 },
      ttlSeconds: 60,
      subject: 'part 1',
    })
    expect(claims).toMatchObject({
      sub: 'part 1',
      exp: NOON + 60,
      ceiling: ['mcp__project__project_list', 'mcp__firecrawl__scrape', 'mcp__project__*'],
      grant: {
        connectors: ['firecrawl'],
        skills: [],
        allowance: { firecrawl: { perRunCredits: 10, perDayCredits: 20 } },
      },
      limits: { runUsd: 0.1, turns: 3, delegationDepth: 0, attempts: 1, concurrentRuns: 1 },
    })
  })

  it('of a connector that bills takes all that is left when it says no figure', () => {
    const { grant } = claimsOf({ grant: { connectors: ['firecrawl'] } }, base, {
      runUsd: 0.5,
      'firecrawl.perRunCredits': 7,
    })
    expect(grant.allowance).toEqual({ firecrawl: { perRunCredits: 7, perDayCredits: 100 } })
  })

  it('is told every rule it breaks', () => {
    expect(
      rules({
        tools: ['Bash', 'firecrawl/scrape', 'files/*', 'files/write', 'project/nowhere', 'b ad'],
        grant: {
          connectors: ['firecrawl', 'shopify'],
          skills: ['ppc-method'],
          allowance: { firecrawl: { perRunCredits: 26, perRunUsd: 1 }, files: { perRunUsd: 1 } },
        },
        approval: { channel: 'inbox' },
        limits: { runUsd: 0.6, delegationDepth: 2, turns: 11, attempts: 2, concurrentRuns: 2 },
      }),
    ).toEqual([
      'approval.channel: above_parent',
      'grant.connectors[1]: above_parent',
      'grant.skills[0]: above_parent',
      'grant.allowance.files: allowance_without_grant',
      'grant.allowance.firecrawl.perRunCredits: above_parent',
      'grant.allowance.firecrawl.perRunUsd: above_parent',
      'tools[0]: above_parent',
      'tools[2]: above_parent',
      'tools[3]: above_parent',
      'tools[4]: above_parent',
      'tools[5]: tool_name',
      'limits.runUsd: above_parent',
      'limits.turns: above_parent',
      'limits.delegationDepth: above_parent',
      'limits.attempts: above_parent',
      'limits.concurrentRuns: above_parent',
    ])
  })

  it('cannot be had of a parent that may not delegate, has expired, or has nothing left', () => {
    expect(rules({}, { ...base, limits: { ...base.limits, delegationDepth: 0 } })).toEqual(['id: delegation_depth'])
    expect(rules({}, { ...base, limits: {} })).toEqual(['id: delegation_depth'])
    expect(rules({}, { ...base, iat: NOON - 100, exp: NOON })).toEqual(['id: parent_dead'])
    expect(rules({ grant: { connectors: ['firecrawl'] } }, base, { runUsd: 0, 'firecrawl.perRunCredits': 0 })).toEqual([
      'grant.allowance.firecrawl.perRunCredits: carved',
      'limits.runUsd: carved',
    ])
  })

  it('never lives longer than its parent', () => {
    expect(claimsOf({ ttlSeconds: 604_800 }).exp).toBe(base.exp)
  })

  it('may have nobody to ask where its parent has somebody', () => {
    const parent = { ...base, role: 'wide', approval: { channel: 'inbox' as const } }
    expect(claimsOf({}, parent).approval.channel).toBe('inbox')
    expect(claimsOf({ approval: { channel: 'none' } }, parent).approval.channel).toBe('none')
  })
})

const NAMES = [
  ...TOOLS.map(({ name }) => name),
  ...new Set(TOOLS.map(({ connector }) => `mcp__${connector}__*`)),
  'Read',
  'Bash',
  'Write',
  'mcp__files__nowhere',
]
/** Parents are wide and requests small, so that many are granted and many are not. */
const much = <T>(list: T[]) => fc.subarray(list, { minLength: list.length - 1 })
const few = <T>(list: T[]) => fc.subarray(list, { maxLength: 2 })
const CONNECTORS = ['files', 'firecrawl', 'skills']
const SKILLS = ['seo-method', 'ppc-method']
const optional = <T>(from: fc.Arbitrary<T>) => fc.option(from, { nil: undefined })
const amount = (min: number, max: number) => optional(fc.integer({ min, max }))
const defined = <T extends object>(from: T) =>
  Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined))
const allowance = (min: number, max: number) =>
  fc
    .record({ perRunCredits: amount(min, max), perDayCredits: amount(max, max) })
    .map((figures) => ({ firecrawl: defined(figures) }))
const limits = (min: number, max: number, deepest: number) =>
  fc
    .record({
      runUsd: amount(min, max),
      turns: amount(min, max),
      delegationDepth: fc.integer({ min: 0, max: deepest }),
      attempts: amount(min, max),
    })
    .map(defined)
const parents = fc
  .record({
    role: fc.constantFrom('wide', 'granted'),
    route: fc.constantFrom('standard', 'read-only'),
    ceiling: much(NAMES),
    connectors: much(CONNECTORS),
    skills: much(SKILLS),
    allowance: allowance(10, 30),
    limits: limits(10, 30, 6),
    life: fc.integer({ min: 1, max: 5000 }),
  })
  .map(
    ({ role, route, ceiling, connectors, skills, allowance, limits, life }): SessionClaims => ({
      ...ownClaims,
      role,
      route,
      ceiling,
      grant: { connectors, skills, allowance: connectors.includes('firecrawl') ? allowance : {} },
      approval: { channel: role === 'wide' ? 'inbox' : 'none' },
      limits,
      exp: NOON + life,
    }),
  )
const requests: fc.Arbitrary<ChildRequest> = fc.record({
  tools: optional(few(NAMES)),
  grant: optional(
    fc.record({ connectors: few(CONNECTORS), skills: few(SKILLS), allowance: optional(allowance(0, 12)) }),
  ),
  approval: optional(fc.record({ channel: fc.constantFrom('none' as const, 'inbox' as const) })),
  limits: optional(limits(0, 12, 3)),
  ttlSeconds: optional(fc.integer({ min: 60, max: 9000 })),
})
const FIGURES = ['runUsd', 'turns', 'delegationDepth', 'attempts', 'concurrentRuns'] as const

/** Every way in which a child would hold more than its parent. */
function excess(parent: Session, child: Session): string[] {
  const [above, below] = [view(parent), view(child)]
  const lacks = (list: readonly string[], of: readonly string[]) => list.filter((name) => !of.includes(name))
  const wider = child.ceiling.filter((name) => !parent.ceiling.some((pattern) => covers(pattern, name)))
  const figures = figuresOf(parent)
  return [
    ...lacks([...below.byName.keys()], [...above.byName.keys()]),
    ...lacks(below.builtins, above.builtins),
    ...wider,
    ...lacks(child.grant.connectors, parent.grant.connectors),
    ...lacks(child.grant.skills, parent.grant.skills),
    ...Object.entries(figuresOf(child)).flatMap(([figure, most]) =>
      figures[figure] === undefined ? (figure === 'runUsd' ? [] : [figure]) : most <= figures[figure] ? [] : [figure],
    ),
    ...FIGURES.filter((name) => (child.limits[name] ?? 0) > (parent.limits[name] ?? Number.POSITIVE_INFINITY)),
    ...(child.expiresAt > parent.expiresAt ? ['expiry'] : []),
    ...(child.channel !== 'none' && child.channel !== parent.channel ? ['channel'] : []),
    ...((child.limits.delegationDepth ?? 9) < (parent.limits.delegationDepth ?? 0) ? [] : ['depth']),
    ...(child.brand === parent.brand && child.role === parent.role && child.route === parent.route ? [] : ['identity']),
  ]
}

it('of a thousand random trees never holds what its parent does not', () => {
  let born = 0
  fc.assert(
    fc.property(parents, fc.array(requests, { minLength: 1, maxLength: 6 }), (root, asked) => {
      let session = sessionOf(root)
      let remaining: Record<string, number> = { ...figuresOf(session) }
      let spent: Record<string, number> = {}
      for (const [i, request] of asked.entries()) {
        const held = view(session)
        const planned = planChild(
          request,
          {
            session,
            remaining,
            holds: (name) => held.byName.has(name) || held.builtins.includes(name),
          },
          { id: `s_${i}`, resource: RESOURCE, now: NOON * 1000 },
        )
        if (!planned.ok) {
          expect(planned.broken.length).toBeGreaterThan(0)
          continue
        }
        born++
        const child = sessionOf(planned.claims)
        expect(excess(session, child)).toEqual([])
        for (const [figure, most] of Object.entries(figuresOf(child))) {
          if (remaining[figure] === undefined) continue
          remaining[figure] -= most
          spent[figure] = (spent[figure] ?? 0) + most
          expect(spent[figure]).toBeLessThanOrEqual(figuresOf(session)[figure]! + 1e-9)
        }
        // Every third one, the tree goes a level down.
        if (born % 3 === 0) {
          session = child
          remaining = { ...figuresOf(child) }
          spent = {}
        }
      }
    }),
    { numRuns: 1000 },
  )
  expect(born).toBeGreaterThan(300)
})
