import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileView, holds, reaches } from '../../src/policy/view.ts'
import type { Access, Role, Route, Session, Tool } from '../../src/policy/words.ts'

/** Fewer where each of many mutants is judged. */
const RUNS = Number(process.env.POLICY_RUNS ?? 2_000)

const tool = (connector: string, name: string, access: Access = 'read', grantable = false): Tool => ({
  name: `mcp__${connector}__${name}`,
  connector,
  access,
  ask: false,
  grantable,
})
const CATALOG = [
  tool('files', 'read', 'read', true),
  tool('files', 'write', 'write', true),
  tool('files_extra', 'read', 'read', true),
  tool('shop', 'orders', 'read', true),
  tool('shop', 'secret', 'read'),
  tool('memory', 'memory_read'),
  tool('memory', 'soul_update', 'write'),
  tool('skills', 'load_skill'),
]
const role = (more: Partial<Role> = {}): Role => ({
  name: 'tester',
  title: 'Tester',
  describes: '',
  asksPerson: true,
  builtins: ['Read', 'Bash'],
  holds: ['mcp__memory__memory_read'],
  withSkills: ['mcp__skills__*'],
  connectors: 'every',
  given: 'all',
  limits: {},
  ...more,
})
const STANDARD: Route = { name: 'standard', describes: '', keeps: 'everything', connectors: true }
const READ_ONLY: Route = { name: 'read-only', describes: '', keeps: ['Read', 'mcp__skills__*'], connectors: false }
const EVERYTHING = ['Read', 'Bash', ...new Set(CATALOG.map(({ connector }) => `mcp__${connector}__*`))]

const session = (more: Partial<Session> = {}): Session => ({
  id: 's1',
  issuer: 'i',
  subject: 'u',
  brand: 'acme',
  role: role(),
  route: STANDARD,
  ceiling: EVERYTHING,
  grant: { connectors: [], skills: [], allowance: {} },
  channel: 'inbox',
  limits: {},
  issuedAt: 0,
  expiresAt: 1,
  viewKey: 'k',
  ...more,
})
const view = (given: Session) =>
  compileView(given, {
    tools: CATALOG,
    builtins: ['Bash', 'Read', 'Write'],
    mark: ({ name }) => name,
    hash: (text) => text,
  })
const names = (given: Session) => view(given).tools.map(({ name }) => name.slice(5))

describe('what a session holds', () => {
  const grant = (connectors: string[], skills: string[] = []) => ({ connectors, skills, allowance: {} })
  const cases: Record<string, [Partial<Session>, string[]]> = {
    'a role with every connector holds every tool of the brand, but for skill tools without a skill': [
      {},
      CATALOG.map(({ name }) => name.slice(5))
        .filter((name) => !name.startsWith('skills'))
        .sort(),
    ],
    'a role without connectors holds only what it lists': [
      { role: role({ connectors: 'none' }) },
      ['memory__memory_read'],
    ],
    'a grant gives the grantable tools of the granted connector, and of no other': [
      { role: role({ connectors: 'granted', holds: [] }), grant: grant(['files']) },
      ['files__read'],
    ],
    'a grant never gives a write, even one marked grantable': [
      { role: role({ connectors: 'granted', holds: [] }), grant: grant(['files', 'shop']) },
      ['files__read', 'shop__orders'],
    ],
    'without a grant a granted role holds what it lists': [
      { role: role({ connectors: 'granted' }) },
      ['memory__memory_read'],
    ],
    'skill tools come with a skill in the grant': [
      { role: role({ connectors: 'none', holds: [] }), grant: grant([], ['seo']) },
      ['skills__load_skill'],
    ],
    'the ceiling narrows to what it names': [{ ceiling: ['mcp__shop__orders'] }, ['shop__orders']],
    'a pattern for one connector does not reach another whose name begins alike': [
      { ceiling: ['mcp__files__*'] },
      ['files__read', 'files__write'],
    ],
    'an empty ceiling holds nothing': [{ ceiling: [] }, []],
    'the read-only route keeps no connector': [
      { route: READ_ONLY, role: role({ connectors: 'every', withSkills: [], holds: ['mcp__skills__load_skill'] }) },
      ['skills__load_skill'],
    ],
    'a word about connectors that nobody knows gives nothing': [
      { role: role({ connectors: 'all' as never, holds: [], withSkills: [] }) },
      [],
    ],
  }
  test.each(Object.entries(cases))('%s', (_name, [given, wanted]) => {
    expect(names(session(given))).toEqual(wanted)
  })

  test('built-ins are those of role, route, ceiling and deployment at once', () => {
    expect(view(session()).builtins).toEqual(['Bash', 'Read'])
    expect(view(session({ route: READ_ONLY })).builtins).toEqual(['Read'])
    expect(view(session({ ceiling: ['Write'] })).builtins).toEqual([])
  })

  test('every tool that is not held has a reason', () => {
    const { tools, refused } = view(session({ ceiling: ['mcp__files__read'] }))
    expect(tools.length + refused.size).toBe(CATALOG.length)
    for (const reasons of refused.values()) expect(reasons[0]?.because).toMatch(/\.$/)
  })
})

describe('narrowing', () => {
  const anySession = fc
    .record({
      connectors: fc.constantFrom('every', 'granted', 'none') as fc.Arbitrary<Role['connectors']>,
      holds: fc.subarray(CATALOG.map(({ name }) => name)),
      ceiling: fc.subarray([...EVERYTHING, ...CATALOG.map(({ name }) => name)]),
      granted: fc.subarray(['files', 'files_extra', 'shop']),
      skills: fc.subarray(['seo']),
      route: fc.constantFrom(STANDARD, READ_ONLY),
    })
    .map(({ connectors, holds: held, ceiling, granted, skills, route }) =>
      session({
        role: role({ connectors, holds: held }),
        ceiling,
        route,
        grant: { connectors: granted, skills, allowance: {} },
      }),
    )
  const within = (narrow: Session, wide: Session) => {
    const wider = new Set(names(wide))
    return names(narrow).every((name) => wider.has(name))
  }

  test('taking a name from the ceiling, a connector from the grant, or the route away never adds a tool', () => {
    fc.assert(
      fc.property(anySession, fc.nat(), fc.nat(), (given, a, b) => {
        const ceiling = given.ceiling.filter((_, i) => i !== a % (given.ceiling.length + 1))
        const connectors = given.grant.connectors.filter((_, i) => i !== b % (given.grant.connectors.length + 1))
        expect(within(session({ ...given, ceiling }), given)).toBe(true)
        expect(within(session({ ...given, grant: { ...given.grant, connectors } }), given)).toBe(true)
        expect(within(session({ ...given, route: READ_ONLY }), session({ ...given, route: STANDARD }))).toBe(true)
      }),
      { numRuns: RUNS },
    )
  })

  test('the order of ceiling, grant and catalog changes nothing', () => {
    fc.assert(
      fc.property(anySession, (given) => {
        const turned = session({
          ...given,
          ceiling: [...given.ceiling].reverse(),
          grant: { ...given.grant, connectors: [...given.grant.connectors].reverse() },
        })
        const back = compileView(turned, {
          tools: [...CATALOG].reverse(),
          builtins: ['Bash', 'Read', 'Write'],
          mark: ({ name }) => name,
          hash: (text) => text,
        })
        expect(back.hash).toBe(view(given).hash)
      }),
      { numRuns: RUNS },
    )
  })

  test('what the view holds is what holds() says, and lies within reach', () => {
    fc.assert(
      fc.property(anySession, (given) => {
        const { byName } = view(given)
        for (const each of CATALOG) {
          expect(byName.has(each.name)).toBe(holds(given, each).held)
          if (byName.has(each.name)) expect(reaches(given, each.connector)).toBe(true)
        }
      }),
      { numRuns: RUNS },
    )
  })
})
