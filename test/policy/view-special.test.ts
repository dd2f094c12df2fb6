/** Views of two special kinds of tool: the harness's prompt, and what a routine lets in. Pure. */
import { describe, expect, test } from 'vitest'
import { STANDARD } from '../../src/policy/role-file.ts'
import type { RoutinePolicy } from '../../src/policy/routines.ts'
import { compileView } from '../../src/policy/view.ts'
import type { Role, Session, Tool } from '../../src/policy/words.ts'

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name: `mcp__${name}`,
  connector: name.split('__')[0] as string,
  access: 'write',
  ask: false,
  grantable: false,
  ...more,
})
const PROMPT = tool('harness__permission_prompt', { decidesBuiltins: true, access: 'read', asks: 'never' })
const TOOLS = [PROMPT, tool('github__send'), tool('github__look')]
const role = (more: Partial<Role>): Role => ({
  name: 'any',
  title: 'Any',
  describes: 'Any.',
  asksPerson: true,
  builtins: ['Read'],
  holds: [],
  connectors: 'none',
  given: 'all',
  limits: {},
  ...more,
})
const session = (more: Partial<Session>): Session => ({
  id: 's1',
  issuer: 'i',
  subject: 'u',
  brand: 'acme',
  role: role({}),
  route: STANDARD,
  ceiling: ['Read', 'mcp__github__*'],
  grant: { connectors: [], skills: [], allowance: {} },
  channel: 'inbox',
  limits: {},
  issuedAt: 0,
  expiresAt: 1,
  viewKey: 'k',
  ...more,
})
const compile = (given: Session, routine?: RoutinePolicy) =>
  compileView(given, {
    tools: TOOLS,
    builtins: ['Bash', 'Read'],
    mark: () => 'd1',
    hash: (text) => text,
    ...(routine && { routine }),
  })

describe('the permission prompt', () => {
  const why = (more: Partial<Session>) => {
    const view = compile(session(more))
    return view.byName.has(PROMPT.name) ? 'held' : view.refused.get(PROMPT.name)?.[0]?.because
  }

  test.each<[Partial<Session>, string]>([
    [{ role: role({ permissionPrompt: true }) }, 'held'],
    [{ role: role({}) }, 'The role any has no permission prompt.'],
    [{ role: role({ permissionPrompt: true }), channel: 'none' }, 'A permission prompt needs somebody to ask.'],
    [
      { role: role({ permissionPrompt: true }), ceiling: [] },
      'The session holds no built-in that could be asked about.',
    ],
  ])('%#', (more, expected) => {
    expect(why(more)).toBe(expected)
  })

  test('is not registered where nobody can be asked, and outside the ceiling where it is not the role’s', () => {
    const absent = (more: Partial<Session>) => compile(session(more)).absent.has(PROMPT.name)
    expect(absent({ role: role({ permissionPrompt: true }), channel: 'none' })).toBe(true)
    expect(absent({})).toBe(false)
  })
})

describe('a session of a routine', () => {
  const policy: RoutinePolicy = {
    id: 'rt_1',
    brand: 'acme',
    name: 'Audit',
    version: 3,
    state: 'ready',
    connections: ['github'],
    tools: new Map([['mcp__github__send', { state: 'automatic', digest: 'd1', since: 2 }]]),
  }
  const routine = { id: 'rt_1', version: 3, supervised: false }
  const given = session({ role: role({ connectors: 'routine', builtins: [] }), routine })

  test('holds what its routine lets in, says how each call goes, and why the rest is not there', () => {
    const view = compile(given, policy)
    expect([...view.byName.keys()]).toEqual(['mcp__github__send'])
    expect([...view.routine!]).toEqual([['mcp__github__send', 'automatic']])
    expect(view.refused.get('mcp__github__look')).toEqual([
      { rule: 'routine', because: 'The routine "Audit" has mcp__github__look disabled.' },
    ])
  })

  test('has another view when a tool only asks, and none without its routine', () => {
    const asking = { ...policy, tools: new Map([['mcp__github__send', { state: 'enabled', digest: 'd1', since: 2 }]]) }
    const view = compile(given, asking as RoutinePolicy)
    expect([...view.routine!]).toEqual([['mcp__github__send', 'asks']])
    expect(view.hash).not.toBe(compile(given, policy).hash)
    expect(compile(given).byName.size).toBe(0)
    expect(compile(session({})).routine).toBeUndefined()
  })
})
