/** What a profile and a grant must be before they are saved. */
import { describe, expect, it } from 'vitest'
import { NO_GRANT, type Profile, USUAL_LIMITS } from '../../src/grants/profile.ts'
import { goalGrantProblems, profileProblems } from '../../src/grants/rules.ts'
import { CREDITS, grant, presets, profile, upstreamTool, USD, words } from './world.ts'

const rules = (more: Partial<Profile>, known = words()) =>
  profileProblems(profile(more), known).map(({ path, rule }) => `${path}: ${rule}`)

describe('the five rules of a grant', () => {
  it('1: a connector tool that the grant does not cover is refused', () => {
    expect(rules({ tools: ['mcp__shopify__shopify_shop_info'] })).toEqual(['tools[0]: not_granted'])
    expect(rules({ tools: ['mcp__shopify__shopify_shop_info'], grant: grant(['figma']) })).toEqual([
      'tools[0]: not_granted',
    ])
    expect(rules({ tools: ['mcp__writer__writer_save_draft'], grant: grant(['figma']) })).toEqual([
      'tools[0]: not_granted',
    ])
    expect(rules({ tools: ['shopify/shopify_shop_info', 'shopify/*'], grant: grant(['shopify']) })).toEqual([])
    expect(rules({ tools: ['mcp__writer__writer_save_draft'], grant: grant(['shopify']) })).toEqual([])
  })

  it('1: a joint tool needs every connector it reads', () => {
    const tools = ['mcp__dataforseo__seo_page_opportunities']
    expect(rules({ tools, grant: grant(['dataforseo', 'shopify'], { allowance: USD }) })).toEqual([
      'tools[0]: not_granted',
    ])
    expect(rules({ tools, grant: grant(['dataforseo', 'shopify', 'searchconsole'], { allowance: USD }) })).toEqual([])
  })

  it.each([
    'mcp__shopify__shopify_admin_graphql',
    'mcp__analytics__analytics_use_property',
    'mcp__sheets__sheets_append',
    'mcp__github__github_comment',
    'mcp__agentmail__agentmail_create_draft',
    'mcp__agentmail__agentmail_send_draft',
    'mcp__railway__railway_redeploy',
    'mcp__cloudflare__search',
    'mcp__cloudflare__*',
    'mcp__contentsquare__anything',
    'mcp__contentsquare__*',
  ])('2: %s is outside the read table, granted or not', (tool) => {
    const connectors = ['shopify', 'analytics', 'sheets', 'github', 'agentmail', 'railway']
    expect(rules({ tools: [tool], grant: grant(connectors) })).toEqual(['tools[0]: outside_read_table'])
    expect(rules({ tools: [tool] })).toEqual(['tools[0]: outside_read_table'])
  })

  it.each(['cloudflare', 'contentsquare', 'memory', 'seo', 'writer'])('2: %s cannot be granted', (slug) => {
    expect(rules({ grant: grant([slug]) })).toEqual(['grant.connectors[0]: not_grantable'])
  })

  it.each([
    ['without an allowance', {}, 'allowance_missing'],
    ['with an empty one', { firecrawl: {} }, 'allowance_missing'],
    ['without the figure per day', { firecrawl: { perRunCredits: 25 } }, 'allowance_figures'],
    ['without the figure per run', { firecrawl: { perDayCredits: 25 } }, 'allowance_figures'],
    ['in the unit of another', { firecrawl: { perRunUsd: 1, perDayUsd: 3 } }, 'allowance_figures'],
    ['with a third figure', { firecrawl: { perRunCredits: 1, perDayCredits: 3, perDayUsd: 1 } }, 'allowance_figures'],
    ['with a run above its day', { firecrawl: { perRunCredits: 101, perDayCredits: 100 } }, 'allowance_order'],
    ['with nothing per run', { firecrawl: { perRunCredits: 0, perDayCredits: 100 } }, 'allowance_figures'],
    ['with no number', { firecrawl: { perRunCredits: Number.NaN, perDayCredits: 100 } }, 'allowance_figures'],
    ['with no number per day', { firecrawl: { perRunCredits: 1, perDayCredits: Number.NaN } }, 'allowance_order'],
    ['without an end', { firecrawl: { perRunCredits: 1, perDayCredits: Infinity } }, 'allowance_order'],
  ])('3: a connector that bills is refused %s', (_, allowance, rule) => {
    expect(rules({ grant: grant(['firecrawl'], { allowance: allowance as never }) })).toEqual([
      `grant.allowance.firecrawl: ${rule}`,
    ])
  })

  it('3: a run may have its whole day', () => {
    expect(rules({ grant: grant(['firecrawl', 'dataforseo'], { allowance: { ...CREDITS, ...USD } }) })).toEqual([])
    const whole = { firecrawl: { perRunCredits: 100, perDayCredits: 100 } }
    expect(rules({ grant: grant(['firecrawl'], { allowance: whole }) })).toEqual([])
  })

  it('3: an allowance is for a granted connector that bills', () => {
    expect(rules({ grant: grant([], { allowance: CREDITS }) })).toEqual([
      'grant.allowance.firecrawl: allowance_without_grant',
    ])
    expect(rules({ grant: grant(['figma'], { allowance: { figma: { perRunUsd: 1, perDayUsd: 1 } } }) })).toEqual([
      'grant.allowance.figma: allowance_without_bill',
    ])
  })

  it('4: a skill tool needs a skill, and a skill must be bundled', () => {
    const tools = ['mcp__skills__load_skill']
    expect(rules({ tools })).toEqual(['tools[0]: skill_not_granted'])
    expect(rules({ tools: ['mcp__skills__*'] })).toEqual(['tools[0]: skill_not_granted'])
    expect(rules({ tools, grant: grant([], { skills: ['humanizer'] }) })).toEqual([])
    expect(rules({ tools, grant: grant([], { skills: ['humaniser'] }) })).toEqual([
      'grant.skills[0]: unknown_skill',
      'tools[0]: skill_not_granted',
    ])
    expect(rules({ tools: ['mcp__seo__seo_save_brief'], grant: grant([], { skills: ['humanizer'] }) })).toEqual([
      'tools[0]: skill_not_granted',
    ])
  })

  it('5: handing a brief off needs a delegation depth', () => {
    const more = { tools: ['mcp__seo__seo_hand_off_brief'], grant: grant([], { skills: ['seo-method'] }) }
    expect(rules(more)).toEqual(['tools[0]: delegation_depth'])
    expect(rules({ ...more, limits: { ...USUAL_LIMITS, maxDelegationDepth: 1 } })).toEqual([])
  })
})

describe('a profile', () => {
  it('names every rule it breaks at once', () => {
    const broken = rules({
      id: 'goal-agent',
      role: 'coworker',
      tools: ['no tool', 'mcp__figma__figma_whoamy', 'mcp__nowhere__x', 'mcp__writer__*'],
      grant: grant(['firecrawl', 'nowhere']),
      limits: { runBudgetUsd: 0, maxTurns: 0, maxConcurrentRuns: 0.5, maxDelegationDepth: -1, maxAttempts: Number.NaN },
    })
    expect(broken).toEqual([
      'id: coworker_id',
      'role: coworker_with_grant',
      'grant.connectors[1]: unknown_connector',
      'grant.allowance.firecrawl: allowance_missing',
      'tools[0]: tool_name',
      'tools[1]: unknown_tool',
      'tools[2]: unknown_connector',
      'tools[3]: name_each',
      'limits.runBudgetUsd: limit',
      'limits.maxTurns: limit',
      'limits.maxConcurrentRuns: limit',
      'limits.maxDelegationDepth: limit',
      'limits.maxAttempts: limit',
    ])
  })

  it('says what to write instead of a slip', () => {
    const said = profileProblems(profile({ tools: ['mcp__figma__figma_whoamy'], grant: grant(['fima']) }), words())
    expect(said.map(({ detail }) => detail)).toEqual([
      'There is no connector "fima"; did you mean figma?',
      'figma has no tool "figma_whoamy". Did you mean mcp__figma__figma_whoami?',
    ])
  })

  it('may keep entries that no ceiling holds, since a session just loses them', () => {
    expect(rules({ tools: ['Agent', 'Bash', 'mcp__project__project_delete', 'mcp__team__team_assign'] })).toEqual([])
  })

  it('may be saved for connectors that are not connected yet', () => {
    expect(rules({ tools: ['mcp__figma__figma_whoami'], grant: grant(['figma']) }, words([]))).toEqual([])
  })

  it.each(presets().map((preset) => [preset.name, preset] as const))('begun from the preset %s', (name, preset) => {
    const more = {
      tools: [...preset.builtins, ...preset.tools],
      grant: preset.grant,
      limits: { ...USUAL_LIMITS, ...preset.limits },
    }
    const owed = name === 'marketing-assistant' ? ['grant.allowance.dataforseo: allowance_missing'] : []
    expect(rules(more)).toEqual(owed)
  })
})

describe('an upstream that only the operator describes', () => {
  const known = words(
    [],
    [
      upstreamTool('wiki', 'read'),
      upstreamTool('wiki', 'edit', { access: 'write', grantable: false }),
      upstreamTool('closed', 'read', { grantable: false }),
      upstreamTool('paid', 'look', { access: 'spend' }),
    ],
    ['away'],
  )

  it('can be granted for the tools that are marked so, and for no write', () => {
    expect(rules({ tools: ['wiki/read', 'wiki/*', 'Read'], grant: grant(['wiki']) }, known)).toEqual([])
    expect(rules({ tools: ['wiki/edit'], grant: grant(['wiki']) }, known)).toEqual(['tools[0]: outside_read_table'])
    expect(rules({ tools: ['wiki/raed'], grant: grant(['wiki']) }, known)).toEqual(['tools[0]: unknown_tool'])
    expect(rules({ tools: ['wiki/read'] }, known)).toEqual(['tools[0]: not_granted'])
    expect(rules({ tools: ['closed/*'], grant: grant(['closed']) }, known)).toEqual([
      'grant.connectors[0]: not_grantable',
      'tools[0]: outside_read_table',
    ])
  })

  it('can be granted while it is away', () => {
    expect(rules({ tools: ['away/anything'], grant: grant(['away']) }, known)).toEqual([])
  })

  it('needs an allowance where a tool of it spends, in either unit', () => {
    expect(rules({ grant: grant(['paid']) }, known)).toEqual(['grant.allowance.paid: allowance_missing'])
    const usd = { paid: { perRunUsd: 1, perDayUsd: 1 } }
    const credits = { paid: { perRunCredits: 1, perDayCredits: 1 } }
    expect(rules({ grant: grant(['paid'], { allowance: usd }) }, known)).toEqual([])
    expect(rules({ grant: grant(['paid'], { allowance: credits }) }, known)).toEqual([])
  })
})

describe("a goal agent's grant", () => {
  it('follows the same rules, and takes no skill', () => {
    const problems = goalGrantProblems(grant(['cloudflare', 'firecrawl'], { skills: ['humanizer'] }), words())
    expect(problems.map(({ path, rule }) => `${path}: ${rule}`)).toEqual([
      'grant.connectors[0]: not_grantable',
      'grant.allowance.firecrawl: allowance_missing',
      'grant.skills[0]: no_skills',
    ])
    expect(goalGrantProblems(grant(['firecrawl'], { allowance: CREDITS }), words())).toEqual([])
    expect(goalGrantProblems(NO_GRANT, words())).toEqual([])
  })
})
