import { describe, expect, it } from 'vitest'
import { harnesses } from '../../connectors/harnesses.ts'
import { connectors } from '../../connectors/index.ts'
import type { Need } from '../../src/connector/declaration.ts'
import { declaredOnly, grantWords, NO_BODY } from '../../src/connector/define.ts'
import * as seed from './seed.ts'

const tools = connectors.flatMap((one) => one.tools)
const named = (wanted: (tool: (typeof tools)[number]) => boolean) =>
  tools
    .filter(wanted)
    .map(({ name }) => name)
    .sort()
const find = (name: string) => {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return tool
}
const connector = (slug: string) => {
  const found = connectors.find((one) => one.slug === slug)
  if (found === undefined) throw new Error(`no connector ${slug}`)
  return found
}
const needText = (need: Need) => ('circumstance' in need ? need.circumstance : `${need.switch} ${need.is ?? 'on'}`)
const sorted = (names: readonly string[]) => [...names].sort()

describe('the catalogue', () => {
  it('has every name of the seed and no other', () => {
    expect(named(() => true)).toEqual(sorted(seed.ALL_NAMES))
  })

  it('has the servers of the seed, by kind', () => {
    const slugs = (kind: string) => connectors.filter((one) => one.kind === kind).map(({ slug }) => slug)
    expect(slugs('connector')).toEqual([...seed.CONNECTORS.map(({ slug }) => slug), 'writer', 'seo'])
    expect(slugs('platform')).toEqual(['memory', 'project', 'goals', 'transcripts', 'skills', 'team'])
    expect(slugs('environment')).toEqual(['sandbox', 'browser', 'sandbox_egress'])
  })

  it.each(seed.CONNECTORS)('$title: reads, writes and spends as the connector table says', (row) => {
    const one = connector(row.slug)
    const holds = (accesses: string[]) =>
      one.tools.filter(({ access }) => accesses.includes(access)).map(({ name }) => name)
    expect(one).toMatchObject({ title: row.title, kind: 'connector', credentials: 'brand' })
    expect(sorted(holds(row.bills ? ['spend'] : ['read']))).toEqual(sorted(row.read))
    expect(sorted(holds(['write']))).toEqual(sorted(row.other))
    expect(sorted(holds(['read', 'write', 'spend']))).toEqual(sorted([...row.read, ...row.other]))
  })

  it.each(seed.CONNECTORS)('$title: grantable and never grantable as the read table says', (row) => {
    const one = connector(row.slug)
    const all = [...row.read, ...row.other]
    expect(sorted(one.tools.filter(({ grantable }) => !grantable).map(({ name }) => name))).toEqual(sorted(row.never))
    expect(sorted(one.tools.filter(({ grantable }) => grantable).map(({ name }) => name))).toEqual(
      sorted(all.filter((name) => !row.never.includes(name))),
    )
  })

  it('grants nothing else but the content writer tools, which are opt-in beside Shopify', () => {
    const read = seed.CONNECTORS.flatMap((row) =>
      [...row.read, ...row.other].filter((name) => !row.never.includes(name)),
    )
    expect(named(({ grantable }) => grantable)).toEqual(sorted([...read, ...seed.WRITER]))
    expect(named(({ optIn }) => optIn === true)).toEqual(sorted(seed.WRITER))
    expect(connector('writer')).toMatchObject({ beside: 'shopify', credentials: 'none' })
    expect(tools.filter(({ grantable, access }) => grantable && access === 'write')).toEqual([])
  })

  it('has one joint tool, and two that ride on a skill', () => {
    expect(named(({ joint }) => joint !== undefined)).toEqual([seed.JOINT.tool])
    expect(sorted(find(seed.JOINT.tool).joint ?? [])).toEqual(sorted(seed.JOINT.reads))
    expect(tools.filter(({ ridesOn }) => ridesOn).map(({ name, ridesOn }) => [name, ridesOn])).toEqual(
      seed.BRIEFS.map(({ tool }) => [tool, 'seo-method']),
    )
    expect(seed.BRIEFS.map(({ tool }) => find(tool).delegationDepth)).toEqual(seed.BRIEFS.map(({ depth }) => depth))
  })

  it('offers Microsoft Ads and Figma only where the deployment does', () => {
    expect(
      connectors.filter(({ kind, needs }) => kind === 'connector' && needs).map(({ slug, needs }) => [slug, needs]),
    ).toEqual([
      ['microsoftads', [{ circumstance: 'microsoftads-offered' }]],
      ['figma', [{ circumstance: 'figma-offered' }]],
    ])
  })

  it('bills in the units of the allowance table, and nothing else bills', () => {
    expect(grantWords(connectors).figures).toEqual(seed.ALLOWANCE)
    expect(connector('firecrawl').billing?.unit).toBe('credits')
    expect(connector('dataforseo').billing?.unit).toBe('usd')
    expect(new Set(tools.filter(({ ask }) => ask === 'above-threshold').map((tool) => tool.connector))).toEqual(
      new Set(Object.keys(seed.ALLOWANCE)),
    )
  })
})

describe('platform and environment servers', () => {
  it.each(seed.PLATFORM)('$tools.0 and its like: $when', ({ tools: names, circumstances }) => {
    for (const name of names) {
      expect(find(name).needs.map(needText), name).toEqual(circumstances)
      expect(find(name).grantable).toBe(false)
    }
  })

  it.each(seed.ENVIRONMENT)('$tools.0 and its like: $when', ({ tools: names, needs }) => {
    for (const name of names) expect(find(name).needs.map(needText), name).toEqual(needs)
  })

  it('standing instructions ask each time when approvals are on, run when they are off, and are absent unattended', () => {
    expect(named(({ approvalsOff }) => approvalsOff === 'runs')).toEqual(sorted(seed.STANDING))
    for (const name of seed.STANDING) expect(find(name)).toMatchObject({ ask: 'always', withoutChannel: 'absent' })
  })

  it('only those and the sandbox network ask a person', () => {
    expect(named((tool) => connector(tool.connector).kind !== 'connector' && tool.ask !== 'never')).toEqual(
      sorted([...seed.STANDING, ...seed.EGRESS]),
    )
  })
})

describe('absent beats refusing', () => {
  it('but for exactly the tools that stay and refuse without a channel', () => {
    const gated = (tool: (typeof tools)[number]) => tool.ask === 'always' || tool.ask === 'mutations'
    expect(named((tool) => gated(tool) && tool.withoutChannel === 'refuses')).toEqual(sorted(seed.STAYS_AND_REFUSES))
    expect(named((tool) => gated(tool) && tool.withoutChannel === 'absent')).toEqual(
      sorted([
        ...seed.STANDING,
        ...seed.EGRESS,
        'mcp__cloudflare__execute',
        'mcp__railway__railway_reveal_variables',
        'mcp__railway__railway_redeploy',
      ]),
    )
  })

  it('a switch that is off takes a tool away, but for GitHub writes and Shopify mutations', () => {
    const off = (effect: string) =>
      named(({ needs }) => needs.some((need) => 'switch' in need && need.otherwise === effect))
    expect(off('refuses')).toEqual(sorted(seed.REFUSES_WHEN_OFF))
    expect(off('absent')).toEqual(
      sorted([
        ...seed.MAIL_SENDS,
        ...seed.BROWSER,
        ...seed.LOGINS,
        ...seed.EGRESS,
        'mcp__cloudflare__execute',
        'mcp__railway__railway_reveal_variables',
        'mcp__railway__railway_redeploy',
      ]),
    )
  })

  it.each([
    ['mcp__shopify__shopify_admin_graphql', ['SHOPIFY_ALLOW_WRITES on']],
    ['mcp__github__github_comment', ['GITHUB_ALLOW_WRITES on']],
    ['mcp__agentmail__agentmail_send_draft', ['AGENTMAIL_ALLOW_SENDS on']],
    ['mcp__agentmail__agentmail_create_draft', []],
    ['mcp__cloudflare__execute', ['REQUIRE_WRITE_APPROVAL on']],
    ['mcp__railway__railway_reveal_variables', ['RAILWAY_ALLOW_VARIABLE_VALUES on']],
    ['mcp__railway__railway_redeploy', ['RAILWAY_ALLOW_REDEPLOY on']],
    ['mcp__sheets__sheets_append', []],
  ])('%s needs %j', (name, needs) => {
    expect(find(name).needs.map(needText)).toEqual(needs)
  })

  it('a draft asks nobody; each send, each GitHub write and each sheet write asks; GraphQL asks for mutations', () => {
    for (const name of seed.MAIL_DRAFT) expect(find(name)).toMatchObject({ ask: 'never', access: 'write' })
    for (const name of seed.STAYS_AND_REFUSES) {
      expect(find(name).ask, name).toBe(name.endsWith('graphql') ? 'mutations' : 'always')
    }
  })

  it('no coworker can be granted one of them', () => {
    expect(seed.STAYS_AND_REFUSES.filter((name) => find(name).grantable)).toEqual([])
  })
})

describe('what is written down', () => {
  it.each(connectors)('$slug: not built, and why', ({ slug, withheld = [] }) => {
    const told = seed.NOT_BUILT[slug]
    const mark = told?.includes('; ') ? '; ' : ', '
    expect(withheld.map(({ what }) => what).join(mark)).toBe(told ?? '')
    for (const { why } of withheld) expect(why.length).toBeGreaterThan(10)
  })

  it('what GitHub refuses in code', () => {
    expect(connector('github').refused?.map(({ what }) => what)).toEqual([
      'Commits to the default branch',
      'Commits to `.github/workflows/`',
    ])
  })

  it('what was measured, and what is only reasoned', () => {
    const told = (of: 'captured' | 'unverified') =>
      [harnesses, ...connectors].flatMap((one) => one[of] ?? []).map(({ what, records }) => [what, ...records])
    const byText = (a: readonly string[], b: readonly string[]) => (a.join() < b.join() ? -1 : 1)
    expect(told('captured').sort(byText)).toEqual([...seed.MEASURED].sort(byText))
    expect(told('unverified').sort(byText)).toEqual([...seed.REASONED].sort(byText))
  })

  it('a tool without a body is not registered, and says why', () => {
    const withheld = connectors.flatMap(declaredOnly)
    expect(withheld.map(({ tool }) => tool).sort()).toEqual(sorted(seed.ALL_NAMES))
    for (const { tool, reason } of withheld) expect(reason).toBe(`${tool} is ${NO_BODY}.`)
  })
})
