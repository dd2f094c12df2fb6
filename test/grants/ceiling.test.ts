/** What a grant gives, step by step, and what a session is asked for from it. */
import { describe, expect, it } from 'vitest'
import { ceilingOf, grantedTools } from '../../src/grants/ceiling.ts'
import { USUAL_LIMITS } from '../../src/grants/profile.ts'
import { coworkerStart, goalAgentStart } from '../../src/grants/start.ts'
import type { Grant } from '../../src/policy/words.ts'
import { CREDITS, EVERYTHING, grant, presets, profile, roles, upstreamTool, USD, words } from './world.ts'

const specialist = roles().get('specialist')!
const goalAgent = roles().get('goal-agent')!
const given = (granted: Grant, { asked = [] as string[], depth = 0, known = words(), role = specialist } = {}) =>
  grantedTools({ grant: granted, asked, maxDelegationDepth: depth, role }, known).map(
    ({ name, step }) => `${step} ${name}`,
  )

const SHOPIFY = ['shopify_shop_info', 'shopify_search_products', 'shopify_recent_orders'].map(
  (tool) => `reads mcp__shopify__${tool}`,
)
const OPPORTUNITIES = 'mcp__dataforseo__seo_page_opportunities'

describe('the five steps', () => {
  it('1: the read table of a granted connector that really registers', () => {
    expect(given(grant(['shopify']))).toEqual(SHOPIFY)
    expect(given(grant(['shopify']), { known: words([]) })).toEqual([])
    expect(given(grant(['analytics']))).toHaveLength(6)
    expect(given(grant(['sheets']))).toEqual(['reads mcp__sheets__sheets_list'])
    expect(given(grant(['cloudflare', 'contentsquare', 'memory', 'writer', 'seo']))).toEqual([])
  })

  it('1: of a connector of which the profile names tools, only those', () => {
    const asked = ['mcp__shopify__shopify_shop_info', 'mcp__shopify__shopify_admin_graphql']
    expect(given(grant(['shopify', 'sheets']), { asked })).toEqual([
      'reads mcp__shopify__shopify_shop_info',
      'reads mcp__sheets__sheets_list',
    ])
  })

  it('1: nothing of a connector that bills and has no sound allowance', () => {
    expect(given(grant(['firecrawl']))).toEqual([])
    expect(given(grant(['firecrawl'], { allowance: { firecrawl: { perRunCredits: 5, perDayCredits: 4 } } }))).toEqual(
      [],
    )
    expect(given(grant(['firecrawl'], { allowance: CREDITS }))).toHaveLength(5)
  })

  it('2: a joint tool when all it reads is granted and live, and not before', () => {
    const all = grant(['dataforseo', 'searchconsole', 'shopify'], { allowance: USD })
    expect(given(all).filter((row) => row.startsWith('joint'))).toEqual([`joint ${OPPORTUNITIES}`])
    for (const missing of ['dataforseo', 'searchconsole', 'shopify']) {
      const fewer = { ...all, connectors: all.connectors.filter((slug) => slug !== missing) }
      expect(given(fewer).join()).not.toContain(OPPORTUNITIES)
      const known = words(EVERYTHING.filter((slug) => slug !== missing))
      expect(given(all, { known }).join()).not.toContain(OPPORTUNITIES)
    }
  })

  it('3: opt-in tools beside a granted connector, only by name', () => {
    const asked = ['mcp__writer__writer_save_draft']
    expect(given(grant(['shopify']), { asked })).toEqual([...SHOPIFY, 'opt-in mcp__writer__writer_save_draft'])
    expect(given(grant(['shopify']), { asked: ['mcp__writer__*'] })).toEqual(SHOPIFY)
    expect(given(grant(['sheets']), { asked })).toEqual(['reads mcp__sheets__sheets_list'])
  })

  it('4: the skill tools with a skill that is bundled', () => {
    expect(given(grant([], { skills: ['humanizer'] }))).toEqual([
      'skills mcp__skills__load_skill',
      'skills mcp__skills__read_skill_file',
    ])
    expect(given(grant([], { skills: ['home-made'] }))).toEqual([])
  })

  it('5: what rides on one skill, and the hand-off only with a delegation depth', () => {
    const method = grant([], { skills: ['seo-method'] })
    const riding = (depth: number) => given(method, { depth }).filter((row) => row.startsWith('rides'))
    expect(riding(0)).toEqual(['rides-on-skill mcp__seo__seo_save_brief'])
    expect(riding(1)).toEqual([
      'rides-on-skill mcp__seo__seo_save_brief',
      'rides-on-skill mcp__seo__seo_hand_off_brief',
    ])
    expect(riding(Number.NaN)).toEqual([])
    expect(given(grant([], { skills: ['humanizer'] }), { depth: 1 }).join()).not.toContain('seo_')
  })

  it('come in this order', () => {
    const all = grant(['dataforseo', 'searchconsole', 'shopify'], { skills: ['seo-method'], allowance: USD })
    const steps = given(all, { asked: ['mcp__writer__writer_read_brief'], depth: 1 }).map((row) => row.split(' ')[0])
    expect([...new Set(steps)]).toEqual(['reads', 'joint', 'opt-in', 'skills', 'rides-on-skill'])
    expect(steps).toEqual([...steps].sort((a, b) => steps.indexOf(a) - steps.indexOf(b)))
  })

  it('give a goal agent reads and joint tools, never opt-in or skill tools', () => {
    const all = grant(['dataforseo', 'searchconsole', 'shopify'], { skills: ['seo-method'], allowance: USD })
    const rows = given(all, { asked: ['mcp__writer__writer_read_brief'], depth: 1, role: goalAgent })
    expect([...new Set(rows.map((row) => row.split(' ')[0]))]).toEqual(['reads', 'joint'])
  })

  it.each(['coworker', 'person-chat', 'inbound-email', 'goal-reviewer'])('give a %s nothing', (name) => {
    expect(given(grant(['shopify'], { skills: ['seo-method'] }), { role: roles().get(name)! })).toEqual([])
  })

  it('take an upstream of the operator whole, or what the profile names of it', () => {
    const known = words([], [upstreamTool('wiki', 'read'), upstreamTool('wiki', 'find')])
    expect(given(grant(['wiki']), { known })).toEqual(['reads mcp__wiki__*'])
    expect(given(grant(['wiki']), { known, asked: ['mcp__wiki__read'] })).toEqual(['reads mcp__wiki__read'])
  })
})

describe('a ceiling', () => {
  it('is what the profile asks for out of its role, and what the grant adds; the rest is lost with a reason', () => {
    const tools = ['Read', 'Raed', 'project/project_list', 'mcp__project__project_delete', 'mcp__figma__figma_whoami']
    const { held, lost } = ceilingOf(
      specialist,
      { tools, grant: grant(['figma', 'sheets']), maxDelegationDepth: 0 },
      words(['sheets']),
    )
    expect(held).toEqual(['Read', 'mcp__project__project_list', 'mcp__sheets__sheets_list'])
    expect(lost).toEqual([
      { tool: 'Raed', reason: 'The role specialist holds no built-in Raed here. Did you mean Read?' },
      {
        tool: 'mcp__project__project_delete',
        reason: 'The role specialist does not hold mcp__project__project_delete.',
      },
      { tool: 'mcp__figma__figma_whoami', reason: 'figma is not connected for this brand.' },
    ])
  })

  it.each(presets().map((preset) => [preset.name, preset] as const))('of the preset %s loses nothing', (_, preset) => {
    const role = preset.grant.connectors.length > 0 ? specialist : roles().get('coworker')!
    const { maxDelegationDepth } = preset.limits
    const asked = { tools: [...preset.builtins, ...preset.tools], grant: preset.grant, maxDelegationDepth }
    expect(ceilingOf(role, asked, words()).lost).toEqual([])
  })
})

describe('the start of a run', () => {
  it("asks for the profile's role, ceiling, live grant and limits", () => {
    const tools = ['Read', 'mcp__project__project_delete']
    const granted = grant(['firecrawl', 'figma'], { allowance: CREDITS, skills: ['humanizer', 'gone'] })
    const limits = { ...USUAL_LIMITS, runBudgetUsd: 0.25, maxAttempts: 2 }
    const start = coworkerStart(profile({ tools, grant: granted, limits }), { ttlSeconds: 60 }, words(['firecrawl']))
    expect(start).toMatchObject({
      ok: true,
      request: {
        brand: 'acme',
        role: 'specialist',
        subject: 'ada',
        ttlSeconds: 60,
        grant: { connectors: ['firecrawl'], skills: ['humanizer'], allowance: CREDITS },
        limits: { runUsd: 0.25, turns: 10, concurrentRuns: 1, delegationDepth: 0, attempts: 2 },
      },
      lost: [{ tool: 'mcp__project__project_delete' }],
    })
    expect(start.ok && start.request.tools).toHaveLength(1 + 5 + 2)
  })

  it.each([[['mcp__project__project_delete', 'Agent']], [[]]])('is refused when nothing of %j is left', (tools) => {
    const start = coworkerStart(profile({ role: 'coworker', tools }), {}, words())
    expect(start).toMatchObject({ ok: false, broken: [{ path: 'coworker', rule: 'nothing_to_hold' }] })
  })

  it('of a goal agent takes what was granted, unless the request narrows it', () => {
    const granted = grant(['sheets', 'figma'])
    const known = words(['sheets'])
    expect(goalAgentStart({ role: 'goal-agent' }, goalAgent, granted, known)).toEqual({
      role: 'goal-agent',
      grant: grant(['sheets']),
      tools: [...goalAgent.builtins, ...goalAgent.holds, 'mcp__sheets__sheets_list'],
    })
    expect(goalAgentStart({ role: 'goal-agent', tools: ['Read'] }, goalAgent, granted, known).tools).toEqual(['Read'])
  })
})
