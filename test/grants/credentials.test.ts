import { describe, expect, it, test } from 'vitest'
import { connectors as catalogue } from '../../connectors/index.ts'
import { declaredRows, type Surroundings, standingOf } from '../../src/connector/declared.ts'
import { credentialsFor, isHanded } from '../../src/grants/credentials.ts'
import type { Session } from '../../src/policy/words.ts'
import { policies } from '../catalogue/world.ts'

const none = { own: false, shared: false, host: false }

describe('whose credentials (seed 001)', () => {
  it.each([
    ["the brand's own come first", 'acme', { own: true, shared: true, host: true }, 'own'],
    ['then those shared with it', 'acme', { ...none, shared: true, host: true }, 'shared'],
    ["no other brand inherits the host's", 'acme', { ...none, host: true }, undefined],
    ["the owner's own brand has the host's last", 'owner', { ...none, host: true }, 'host'],
    ["the owner's own brand has its own first too", 'owner', { own: true, shared: true, host: true }, 'own'],
    ['without any there is none', 'owner', none, undefined],
    ['a word that is not true is no', 'acme', { ...none, own: 'yes' as never }, undefined],
    ['a brand whose name is like the owner’s is another', 'Owner', { ...none, host: true }, undefined],
  ])('%s', (_name, brand, stored, source) => {
    const found = credentialsFor(brand, 'owner', stored)
    expect(found.source).toBe(source)
    expect(found.reason).toMatch(/\.$/)
  })
})

describe('which credentials a session is handed', () => {
  const { roles, routes } = policies()
  const session = (role: string, route = 'standard', connectors: string[] = []): Session => ({
    id: 's',
    issuer: 'i',
    subject: 'u',
    brand: 'acme',
    role: roles.get(role)!,
    route: routes.get(route)!,
    ceiling: catalogue.flatMap(({ tools }) => tools.map(({ name }) => name)),
    grant: { connectors, skills: ['seo-method'], allowance: {} },
    channel: 'none',
    limits: {},
    issuedAt: 0,
    expiresAt: 1,
    viewKey: 'k',
  })
  const vendors = catalogue.filter(({ credentials }) => credentials === 'brand').map(({ slug }) => slug)
  const handed = (given: Session) => vendors.filter((slug) => isHanded(given, slug))

  test('a person has all, a specialist and the goal agent those granted, a coworker and a reviewer none', () => {
    expect(handed(session('person-chat'))).toEqual(vendors)
    expect(handed(session('specialist', 'standard', ['shopify', 'firecrawl']))).toEqual(['shopify', 'firecrawl'])
    expect(handed(session('goal-agent', 'standard', ['figma']))).toEqual(['figma'])
    expect(handed(session('coworker', 'standard', ['shopify']))).toEqual([])
    expect(handed(session('goal-reviewer', 'standard', ['shopify']))).toEqual([])
  })

  test("an inbound email turn has AgentMail's and no others", () => {
    expect(handed(session('inbound-email', 'standard', ['shopify']))).toEqual(['agentmail'])
  })

  test.each([...roles.keys()])('a read-only route has none: %s', (role) => {
    expect(handed(session(role, 'read-only', vendors))).toEqual([])
  })
})

describe('a declared connector', () => {
  const around = (more: Partial<Surroundings> = {}): Surroundings => ({
    switches: {},
    has: () => true,
    credentials: () => ({ source: 'own', reason: '' }),
    hasBody: () => true,
    ...more,
  })
  const find = (slug: string) => catalogue.find((one) => one.slug === slug)!
  const names = (slug: string, given: Surroundings) =>
    standingOf(find(slug), given).tools.map(({ name }) => name.split('__')[2])

  test('registers nothing without credentials, and says why', () => {
    for (const connector of catalogue.filter(({ credentials }) => credentials === 'brand')) {
      const reason = 'The brand acme has not connected it.'
      const given = around({ credentials: () => ({ source: undefined, reason }) })
      const { tools, withheld } = standingOf(connector, given)
      expect(tools).toEqual([])
      expect(withheld.map(({ tool }) => tool)).toEqual(connector.tools.map(({ name }) => name))
      for (const one of withheld) expect(one.reason).toBe(`${connector.title} has no credentials: ${reason}`)
    }
  })

  test('registers no tool without a body', () => {
    const rows = declaredRows(catalogue, new Set(['shopify']), around({ hasBody: () => false }))
    expect(rows.map(({ slug }) => slug)).toEqual(catalogue.map(({ slug }) => slug).filter((slug) => slug !== 'shopify'))
    for (const { withheld } of rows) expect(withheld[0]?.reason).toMatch(/its body comes with a later release\.$/)
    const detail = (slug: string) => rows.find((row) => row.slug === slug)?.detail
    expect(detail('googleads')).toBe('Each tool is declared; its body comes with a later release.')
    expect(detail('dataforseo')).toBe('Each tool says why it is not registered.')
    expect(
      rows.flatMap(({ withheld }) => withheld).find(({ tool }) => tool.includes('seo_page_opportunities'))?.reason,
    ).toMatch(/It joins dataforseo, searchconsole and shopify, and waits until all of them are built\.$/)
    // Its switch is off.
    expect(declaredRows(catalogue, new Set(), around()).map(({ slug }) => slug)).toEqual(['browser'])
  })

  test('has tools that a switch makes, and tools that refuse while it is off', () => {
    expect(names('agentmail', around())).not.toContain('agentmail_send_message')
    expect(names('agentmail', around({ switches: { AGENTMAIL_ALLOW_SENDS: true } }))).toContain(
      'agentmail_send_message',
    )
    const refusing = standingOf(find('github'), around()).tools.filter(({ switchedOff }) => switchedOff !== undefined)
    expect(refusing.map(({ switchedOff }) => switchedOff)).toEqual(Array(4).fill('GITHUB_ALLOW_WRITES'))
    const on = standingOf(find('github'), around({ switches: { GITHUB_ALLOW_WRITES: true } })).tools
    expect(on.filter(({ switchedOff }) => switchedOff !== undefined)).toEqual([])
  })

  test('loses what can only ask where approvals are off, but for the standing instructions', () => {
    const off = around({ switches: { REQUIRE_WRITE_APPROVAL: false, RAILWAY_ALLOW_REDEPLOY: true } })
    expect(names('cloudflare', off)).toEqual(['docs', 'search'])
    expect(names('railway', off)).not.toContain('railway_redeploy')
    expect(names('memory', off)).toContain('soul_update')
    expect(names('railway', around({ switches: { RAILWAY_ALLOW_REDEPLOY: true } }))).toContain('railway_redeploy')
  })

  test('needs its circumstances', () => {
    expect(names('figma', around({ has: (one) => one !== 'figma-offered' }))).toEqual([])
    expect(names('figma', around())).toHaveLength(8)
  })
})
