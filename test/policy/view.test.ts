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

/** A role that skills are not for: it lists none, not even an empty list. */
const withoutSkills = (more: Partial<Role> = {}): Role => {
  const { withSkills, ...rest } = role(more)
  return rest
}

describe('why a tool is held, or is not', () => {
  const name = 'mcp__files__read'
  const grant = (connectors: string[], skills: string[] = []) => ({ connectors, skills, allowance: {} })
  const granted = role({ connectors: 'granted', holds: [] })
  const asking = role({ connectors: 'granted', holds: [], given: 'asked' })
  const none = role({ connectors: 'none', holds: [] })
  type Where = 'held' | 'ceiling' | 'registration'
  /** The tool is the grantable read of `files`, but for what is said; then the session, the live connectors, the answer. */
  const cases: Record<string, [Partial<Tool>, Partial<Session>, string[], Where, string, string]> = {
    'the role lists it': [
      {},
      { role: role({ connectors: 'none', holds: ['mcp__memory__*', name] }) },
      [],
      'held',
      'role-holds',
      `The role tester lists ${name}.`,
    ],
    'the role lists it among others with skills, and there is one': [
      {},
      { role: role({ ...none, withSkills: ['mcp__skills__*', 'mcp__files__*'] }), grant: grant([], ['seo']) },
      [],
      'held',
      'skill',
      `The grant names a skill, and the role tester lists ${name} with skills.`,
    ],
    'the role lists it with skills, and there is none': [
      {},
      { role: role({ connectors: 'every', holds: [], withSkills: ['mcp__files__*'] }) },
      [],
      'ceiling',
      'no-skill',
      `The role tester holds ${name} only when its grant names a skill.`,
    ],
    'the role holds every connector': [
      {},
      { role: withoutSkills() },
      [],
      'held',
      'every-connector',
      'The role tester holds every tool of every connector the brand has.',
    ],
    'every connector does not bring what must be asked for by name': [
      { optIn: true },
      { ceiling: [name] },
      [],
      'ceiling',
      'by-name-only',
      `${name} goes only to a profile with a grant that asks for it by name.`,
    ],
    'the role holds no connector': [
      {},
      { role: none, grant: grant(['files']) },
      [],
      'ceiling',
      'role',
      'The role tester holds no tool of files.',
    ],
    'nobody knows which connectors the role holds': [
      {},
      { role: role({ connectors: 'all' as never }) },
      [],
      'ceiling',
      'role',
      'The role tester says nothing this gateway knows about connectors.',
    ],
    'what the role does not hold is put down to the role, though route and ceiling lack it too': [
      {},
      { role: none, route: READ_ONLY, ceiling: [] },
      [],
      'ceiling',
      'role',
      'The role tester holds no tool of files.',
    ],
    'the route does not keep it, and it is put down to the route though the ceiling lacks it too': [
      {},
      { route: READ_ONLY, ceiling: [] },
      [],
      'ceiling',
      'route',
      `The read-only route does not keep ${name}.`,
    ],
    'a route that keeps connectors keeps it without a name': [
      {},
      { route: { ...STANDARD, keeps: ['Read'] } },
      [],
      'held',
      'every-connector',
      'The role tester holds every tool of every connector the brand has.',
    ],
    'the ceiling does not list it': [
      {},
      { ceiling: ['mcp__shop__*'] },
      [],
      'ceiling',
      'ceiling',
      `The session's ceiling does not list ${name}.`,
    ],
    'it is absent where nobody can be asked, and nobody can': [
      { withoutChannel: 'absent' },
      { channel: 'none', ceiling: [] },
      [],
      'registration',
      'no-channel',
      `${name} asks a person, and is not registered for a session with no one to ask.`,
    ],
    'it is absent where nobody can be asked, and someone can': [
      { withoutChannel: 'absent' },
      {},
      [],
      'held',
      'every-connector',
      'The role tester holds every tool of every connector the brand has.',
    ],
    'it stays and refuses where nobody can be asked': [
      { withoutChannel: 'refuses' },
      { channel: 'none' },
      [],
      'held',
      'every-connector',
      'The role tester holds every tool of every connector the brand has.',
    ],
    'its connector was granted, whether or not that is known to live': [
      {},
      { role: granted, grant: grant(['files']) },
      [],
      'held',
      'granted',
      `A person granted files, and ${name} is in the read table.`,
    ],
    'its connector was not granted': [
      {},
      { role: granted, grant: grant(['shop']) },
      ['files'],
      'ceiling',
      'not-granted',
      `No grant names files, which ${name} needs.`,
    ],
    'the connector that it stands beside was granted and lives': [
      { beside: 'drive' },
      { role: granted, grant: grant(['drive']) },
      ['drive'],
      'held',
      'granted',
      `A person granted drive, and ${name} is in the read table.`,
    ],
    'the connector that it stands beside was granted and is away': [
      { beside: 'drive' },
      { role: granted, grant: grant(['drive']) },
      ['files'],
      'registration',
      'not-live',
      `${name} needs drive, which has no tool here right now.`,
    ],
    'its own connector was granted, and not the one that it stands beside': [
      { beside: 'drive' },
      { role: granted, grant: grant(['files']) },
      ['files', 'drive'],
      'ceiling',
      'not-granted',
      `No grant names drive, which ${name} needs.`,
    ],
    'a joint tool whose other connector was granted and lives': [
      { joint: ['shop'] },
      { role: granted, grant: grant(['files', 'shop']) },
      ['shop'],
      'held',
      'granted',
      `A person granted files, and ${name} is in the read table.`,
    ],
    'a joint tool whose other connector was granted and is away': [
      { joint: ['shop'] },
      { role: granted, grant: grant(['files', 'shop']) },
      ['files'],
      'registration',
      'not-live',
      `${name} needs shop, which has no tool here right now.`,
    ],
    'a joint tool whose other connector was not granted': [
      { joint: ['shop'] },
      { role: granted, grant: grant(['files']) },
      ['files', 'shop'],
      'ceiling',
      'not-granted',
      `No grant names shop, which ${name} needs.`,
    ],
    'a read outside the read table': [
      { grantable: false },
      { role: granted, grant: grant(['files']) },
      [],
      'ceiling',
      'not-grantable',
      `${name} is not in the read table, so no grant can give it.`,
    ],
    'a write that someone put into the read table': [
      { access: 'write' },
      { role: granted, grant: grant(['files']) },
      [],
      'ceiling',
      'not-grantable',
      `${name} is not in the read table, so no grant can give it.`,
    ],
    'what must be asked for by name was, by a profile that asks': [
      { optIn: true },
      { role: asking, grant: grant(['files']), ceiling: [name] },
      [],
      'held',
      'granted',
      `A person granted files, and ${name} is in the read table.`,
    ],
    'what must be asked for by name was asked for by its connector': [
      { optIn: true },
      { role: asking, grant: grant(['files']), ceiling: ['mcp__files__*'] },
      [],
      'ceiling',
      'by-name-only',
      `${name} goes only to a profile with a grant that asks for it by name.`,
    ],
    'what must be asked for by name is named, but the profile is given all': [
      { optIn: true },
      { role: granted, grant: grant(['files']), ceiling: [name] },
      [],
      'ceiling',
      'by-name-only',
      `${name} goes only to a profile with a grant that asks for it by name.`,
    ],
    'the skill that brings it was granted': [
      { ridesOn: 'seo' },
      { role: granted, grant: grant([], ['ads', 'seo']) },
      [],
      'held',
      'skill',
      `The grant names seo, which brings ${name}.`,
    ],
    'another skill was granted, and its connector': [
      { ridesOn: 'seo' },
      { role: granted, grant: grant(['files'], ['ads']) },
      [],
      'ceiling',
      'no-skill',
      `The grant does not name seo, which brings ${name}.`,
    ],
    'its skill was granted to a role that holds every connector': [
      { ridesOn: 'seo' },
      { grant: grant([], ['seo']) },
      [],
      'ceiling',
      'role',
      `The role tester is given no skill, and ${name} comes with seo.`,
    ],
    'its skill was granted to a role that skills are not for': [
      { ridesOn: 'seo' },
      { role: withoutSkills({ connectors: 'granted', holds: [] }), grant: grant(['files'], ['seo']) },
      [],
      'ceiling',
      'role',
      `The role tester is given no skill, and ${name} comes with seo.`,
    ],
    'its skill was granted, and the depth left is just enough': [
      { ridesOn: 'seo', delegationDepth: 2 },
      { role: granted, grant: grant([], ['seo']), limits: { delegationDepth: 2 } },
      [],
      'held',
      'skill',
      `The grant names seo, which brings ${name}.`,
    ],
    'its skill was granted, and the depth left is one too few': [
      { ridesOn: 'seo', delegationDepth: 2 },
      { role: granted, grant: grant([], ['seo']), limits: { delegationDepth: 1 } },
      [],
      'ceiling',
      'depth',
      `${name} needs a delegation depth of 2; this session has 1.`,
    ],
    'its skill was granted, and no depth is said': [
      { ridesOn: 'seo', delegationDepth: 1 },
      { role: granted, grant: grant([], ['seo']) },
      [],
      'ceiling',
      'depth',
      `${name} needs a delegation depth of 1; this session has 0.`,
    ],
    'its skill was granted, and the depth left is no number': [
      { ridesOn: 'seo', delegationDepth: 1 },
      { role: granted, grant: grant([], ['seo']), limits: { delegationDepth: Number.NaN } },
      [],
      'ceiling',
      'depth',
      `${name} needs a delegation depth of 1; this session has NaN.`,
    ],
  }
  test.each(Object.entries(cases))('%s', (_name, [what, given, live, where, rule, because]) => {
    const each = { ...tool('files', 'read', 'read', true), ...what }
    const holding = holds(session(given), each, new Set(live))
    expect(holding).toEqual({
      held: where === 'held',
      reasons: [{ rule, because }],
      ...(where === 'registration' && { filter: 'registration' }),
    })
  })
})

describe('whether a connector is within reach', () => {
  const grant = (connectors: string[], skills: string[] = []) => ({ connectors, skills, allowance: {} })
  const none = role({ connectors: 'none', holds: [] })
  const granted = role({ connectors: 'granted', holds: [] })
  const cases: Record<string, [Partial<Session>, boolean]> = {
    'of a role that holds every connector it is': [{}, true],
    'of a role that holds none it is not, though granted': [{ role: none, grant: grant(['files']) }, false],
    'of a role that lists one of its tools it is': [
      { role: role({ ...none, holds: ['Read', 'mcp__files__read'] }) },
      true,
    ],
    'of a role that lists only tools of others it is not': [
      { role: role({ ...none, holds: ['Read', 'mcp__files_extra__*'] }) },
      false,
    ],
    'of a role that lists it with skills it is, with a skill': [
      { role: role({ ...none, withSkills: ['mcp__skills__*', 'mcp__files__*'] }), grant: grant([], ['seo']) },
      true,
    ],
    'of a role that lists it with skills it is not, without one': [
      { role: role({ ...none, withSkills: ['mcp__files__*'] }) },
      false,
    ],
    'of a role that lists others with skills it is not': [{ role: none, grant: grant([], ['seo']) }, false],
    'of a role that skills are not for it is not': [
      { role: withoutSkills({ connectors: 'none', holds: [] }), grant: grant([], ['seo']) },
      false,
    ],
    'of a granted one it is': [{ role: granted, grant: grant(['files']) }, true],
    'of a grant for others it is not': [{ role: granted, grant: grant(['files_extra', 'shop']) }, false],
    'a route that keeps everything keeps it': [{ route: { ...STANDARD, connectors: false } }, true],
    'a route that keeps connectors keeps it': [{ route: { ...STANDARD, keeps: ['Read'] } }, true],
    'a route that names one of its tools keeps it': [
      { route: { ...READ_ONLY, keeps: ['Read', 'mcp__files__read'] } },
      true,
    ],
    'a route that keeps no connector does not': [{ route: READ_ONLY }, false],
    'a ceiling that names one of its tools leaves it': [{ ceiling: ['Read', 'mcp__files__write'] }, true],
    'a ceiling that names only others does not': [
      { ceiling: ['Read', 'mcp__shop__*', 'mcp__files_extra__read'] },
      false,
    ],
    'an empty ceiling does not': [{ ceiling: [] }, false],
  }
  test.each(Object.entries(cases))('%s', (_name, [given, wanted]) => {
    expect(reaches(session(given), 'files')).toBe(wanted)
  })
})

describe('a compiled view', () => {
  const compile = (tools: Tool[], given: Partial<Session> = {}, mark = 'm1') =>
    compileView(session(given), { tools, builtins: ['Read', 'Write'], mark: () => mark, hash: (text) => text })
  const read = tool('files', 'read', 'read', true)

  test('holds a joint tool while its other connector has a tool of its own, and calls it absent otherwise', () => {
    const joint = { ...tool('files', 'joined', 'read', true), joint: ['shop'] }
    const given = {
      role: role({ connectors: 'granted', holds: [] }),
      grant: { connectors: ['files', 'shop'], skills: [], allowance: {} },
    }
    const both = compile([joint, tool('shop', 'orders')], given)
    expect([...both.byName.keys()]).toEqual([joint.name])
    expect([...both.absent]).toEqual([])
    const alone = compile([joint, tool('files', 'unlisted')], given)
    expect(alone.tools).toEqual([])
    expect([...alone.refused.keys()]).toEqual([joint.name, 'mcp__files__unlisted'])
    expect([...alone.absent]).toEqual([joint.name])
  })

  test('leaves out a built-in that its route does not name, though the route keeps connectors', () => {
    const route: Route = { ...STANDARD, keeps: ['Bash'] }
    expect(compile([read], { route }).builtins).toEqual([])
    expect(compile([read], { route: { ...route, keeps: ['Read'] } }).builtins).toEqual(['Read'])
  })

  test('is told apart by one line for each tool and built-in', () => {
    const gated: Tool = { ...tool('shop', 'buy', 'spend'), ask: true, asks: 'always', switchedOff: 'SHOP_SPENDS' }
    expect(compile([gated, read]).hash).toBe(
      'mcp__files__read read false m1\nmcp__shop__buy spend true,always,SHOP_SPENDS m1\nRead',
    )
  })

  const changes: Record<string, [Partial<Tool>, Partial<Session>, string?]> = {
    'another access': [{ access: 'write' }, {}],
    'that the operator wants it asked': [{ ask: true }, {}],
    'another word about when it asks': [{ asks: 'always' }, {}],
    'a switch that is off': [{ switchedOff: 'FILES_READS' }, {}],
    'another definition': [{}, {}, 'm2'],
    'a tool less': [{}, { ceiling: ['Read'] }],
    'a built-in less': [{}, { ceiling: ['mcp__files__*'] }],
  }
  test.each(Object.entries(changes))('is another after %s', (_name, [what, given, mark]) => {
    expect(compile([{ ...read, ...what }], given, mark).hash).not.toBe(compile([read]).hash)
  })
  test('is the same after a change of what it does not hold', () => {
    const given = { ceiling: ['Read', read.name] }
    expect(compile([read, tool('shop', 'buy', 'spend')], given).hash).toBe(compile([read], given).hash)
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
