import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readText } from '../../src/config/data.ts'
import { readFolder, shippedPolicies } from '../../src/config/files.ts'
import { policySchema, readPolicies } from '../../src/policy/role-file.ts'
import { compileView } from '../../src/policy/view.ts'
import type { Session } from '../../src/policy/words.ts'
import * as seed from './seed-tools.ts'

const FOLDER = shippedPolicies()

function shipped(sandbox = false) {
  const problems: string[] = []
  const read = readPolicies(readFolder(FOLDER, 'the test', problems), { sandbox })
  if (!read.ok) throw new Error([...problems, ...read.problems].join('\n'))
  return read.policies
}

/** What a session of a role sees of everything there is, with a token that narrows nothing. */
function sees(
  role: string,
  { route = 'standard', connectors = [] as string[], skills = [] as string[], sandbox = false } = {},
) {
  const policies = shipped(sandbox)
  const session: Session = {
    id: 's',
    issuer: 'i',
    subject: 'u',
    brand: 'acme',
    role: policies.roles.get(role)!,
    route: policies.routes.get(route)!,
    ceiling: [...seed.BUILTINS, ...seed.REGISTRY.map(({ name }) => name)],
    grant: { connectors, skills, allowance: {} },
    channel: 'none',
    limits: {},
    issuedAt: 0,
    expiresAt: 1,
    viewKey: 'k',
  }
  const view = compileView(session, {
    tools: seed.REGISTRY,
    builtins: policies.builtins,
    mark: () => '',
    hash: (text) => text,
  })
  return { tools: view.tools.map(({ name }) => name).sort(), builtins: view.builtins }
}

const without = (names: readonly string[], ...less: string[]) =>
  names.filter((name) => !less.some((end) => name.endsWith(end)))
const COWORKER = [...seed.NOTES, ...without(seed.PROJECT, 'project_delete')].sort()

describe('the roles at a glance (seed 001)', () => {
  it.each([
    ['person-chat', true, 'all', 'every'],
    ['inbound-email', false, 'all', 'none'],
    ['coworker', false, 'asked', 'none'],
    ['specialist', false, 'asked', 'granted'],
    ['goal-agent', false, 'all', 'granted'],
    ['goal-reviewer', false, 'all', 'none'],
  ])('%s: asks a person %s, given %s, connectors %s', (name, asksPerson, given, connectors) => {
    expect(shipped().roles.get(name)).toMatchObject({ name, asksPerson, given, connectors })
  })

  it('there are these six and that of routines, and the two routes', () => {
    const { roles, routes } = shipped()
    expect([...roles.keys()].sort()).toEqual([
      'coworker',
      'goal-agent',
      'goal-reviewer',
      'inbound-email',
      'person-chat',
      'routine',
      'specialist',
    ])
    expect([...routes.keys()].sort()).toEqual(['read-only', 'standard'])
  })

  it('person chat holds everything', () => {
    expect(sees('person-chat').tools).toEqual(seed.REGISTRY.map(({ name }) => name).sort())
    expect([...shipped().roles.get('person-chat')!.holds].sort()).toEqual([...seed.PLATFORM].sort())
  })

  it('an inbound email turn holds the eleven AgentMail names and nothing else', () => {
    const { tools, builtins } = sees('inbound-email')
    expect(tools).toEqual([...seed.MAIL_READS, ...seed.MAIL_DRAFT].sort())
    expect(tools).toHaveLength(11)
    expect(builtins).toEqual([])
  })

  it('a coworker holds its notes and the project folder but for deleting, whatever its grant says', () => {
    expect(sees('coworker').tools).toEqual(COWORKER)
    expect(sees('coworker', { connectors: ['firecrawl', 'shopify'] }).tools).toEqual(COWORKER)
  })

  it('a specialist adds the read table of what was granted', () => {
    expect(sees('specialist').tools).toEqual(COWORKER)
    expect(sees('specialist', { connectors: ['firecrawl', 'shopify', 'agentmail', 'cloudflare'] }).tools).toEqual(
      [...COWORKER, ...seed.FIRECRAWL, ...seed.SHOPIFY_READS, ...seed.MAIL_READS].sort(),
    )
  })

  it('the skill tools are a specialist’s only beside a granted skill', () => {
    expect(shipped().roles.get('specialist')!.withSkills).toEqual(seed.SKILLS)
    expect(sees('specialist').tools).not.toContain(seed.SKILLS[0])
    expect(shipped().roles.get('coworker')!.withSkills).toBeUndefined()
  })

  it('a goal agent step holds three project tools and what was granted', () => {
    const base = without(seed.PROJECT, 'project_delete', 'project_append').sort()
    expect(sees('goal-agent').tools).toEqual(base)
    expect(sees('goal-agent', { connectors: ['shopify'] }).tools).toEqual([...base, ...seed.SHOPIFY_READS].sort())
  })

  it('a goal reviewer holds nothing, whatever its grant says', () => {
    expect(sees('goal-reviewer', { connectors: ['firecrawl', 'agentmail'] })).toEqual({ tools: [], builtins: [] })
  })
})

describe('the read-only route', () => {
  it.each([
    ['person-chat', [...seed.TRANSCRIPTS, ...seed.SKILLS, ...seed.TEAM], seed.READ_ONLY_BUILTINS],
    ['inbound-email', [], []],
    ['coworker', [], seed.READ_ONLY_BUILTINS],
    ['specialist', [], seed.READ_ONLY_BUILTINS],
    ['goal-agent', [], seed.READ_ONLY_BUILTINS],
    ['goal-reviewer', [], []],
  ])('leaves %s what only reads', (role, tools, builtins) => {
    const seen = sees(role, { route: 'read-only', connectors: ['firecrawl', 'shopify'] })
    expect(seen.tools).toEqual([...tools].sort())
    expect(seen.builtins).toEqual(builtins)
  })
})

describe('the built-in table (seed 001)', () => {
  /** [built-in, person chat local, person chat E2B, coworker, goal agent, goal reviewer, read-only route] */
  it.each([
    ['Bash', true, false, true, false, false, false],
    ['Read', true, false, true, true, false, true],
    ['Write', true, false, true, false, false, false],
    ['Edit', true, false, true, false, false, false],
    ['Glob', true, false, true, true, false, true],
    ['Grep', true, false, true, true, false, true],
    ['WebSearch', true, true, true, true, false, true],
    ['WebFetch', true, true, true, true, false, true],
  ])('%s', (name, local, e2b, coworker, agent, reviewer, readOnly) => {
    expect({
      local: sees('person-chat').builtins.includes(name),
      e2b: sees('person-chat', { sandbox: true }).builtins.includes(name),
      coworker: sees('coworker').builtins.includes(name),
      agent: sees('goal-agent').builtins.includes(name),
      reviewer: sees('goal-reviewer').builtins.includes(name),
      readOnly: sees('person-chat', { route: 'read-only' }).builtins.includes(name),
    }).toEqual({ local, e2b, coworker, agent, reviewer, readOnly })
  })

  it('a coworker in a sandbox keeps the web tools only', () => {
    expect(sees('coworker', { sandbox: true }).builtins).toEqual(['WebSearch', 'WebFetch'])
  })

  it('a built-in the deployment does not list is nobody’s', () => {
    expect(shipped().builtins).toEqual(seed.BUILTINS)
  })
})

describe('single names', () => {
  const holders = (name: string) =>
    [...shipped().roles.values()].filter(({ holds }) => holds.includes(name)).map((role) => role.name)

  it('the memory server has nine names, two of which only a person’s chat holds', () => {
    const memory = shipped()
      .roles.get('person-chat')!
      .holds.filter((name) => name.startsWith('mcp__memory__'))
    expect(memory).toHaveLength(9)
    for (const name of seed.STANDING) expect(holders(name)).toEqual(['person-chat'])
  })

  it.each([
    'mcp__project__project_delete',
    'mcp__sandbox_egress__sandbox_allow_host',
    ...seed.TRANSCRIPTS,
    ...seed.TEAM,
    ...seed.GOALS,
    ...seed.SANDBOX,
    ...seed.BROWSER,
  ])('%s is in person chat only', (name) => {
    expect(holders(name)).toEqual(['person-chat'])
  })

  it.each(seed.MAIL_SENDS)('%s is in no file', (name) => {
    expect(holders(name)).toEqual([])
  })
})

describe('limits (seed 001)', () => {
  it.each([
    ['person-chat', 'most', {}],
    ['inbound-email', 'most', { runUsd: 0.5, turns: 8 }],
    ['coworker', 'usual', { runUsd: 0.5, turns: 10, delegationDepth: 0, attempts: 1, concurrentRuns: 1 }],
    ['specialist', 'usual', { runUsd: 0.5, turns: 10, delegationDepth: 0, attempts: 1, concurrentRuns: 1 }],
    ['goal-agent', 'most', { runUsd: 0.5, turns: 10, delegationDepth: 0, attempts: 2, concurrentRuns: 1 }],
    ['goal-reviewer', 'most', { runUsd: 0.1, turns: 2, delegationDepth: 0, attempts: 1, concurrentRuns: 1 }],
  ])('%s', (name, limitsAre, limits) => {
    const role = shipped().roles.get(name)!
    expect([role.limitsAre, role.limits]).toEqual([limitsAre, limits])
  })
})

describe('a set of policy files is refused', () => {
  const NAMES = [
    'deployment',
    'person-chat',
    'inbound-email',
    'coworker',
    'specialist',
    'goal-agent',
    'goal-reviewer',
    'read-only',
  ]
  const texts = () => new Map(NAMES.map((name) => [`${name}.yaml`, readFileSync(join(FOLDER, `${name}.yaml`), 'utf8')]))

  function problems(change: (files: Map<string, string>) => void): string {
    const files = texts()
    change(files)
    const data = [...files].map(([file, text]) => {
      const read = readText(text, file)
      if (!read.ok) throw new Error(read.problems.join('\n'))
      return read.data
    })
    const read = readPolicies(data, { sandbox: false })
    return read.ok ? '' : read.problems.join('\n')
  }
  const edit = (file: string, from: string | RegExp, to: string) => (files: Map<string, string>) => {
    const before = files.get(file)!
    const after = before.replace(from, to)
    if (after === before) throw new Error(`nothing to change in ${file}`)
    files.set(file, after)
  }
  const tool = (written: string) => edit('coworker.yaml', 'mcp__memory__memory_read', written)

  it.each<[string, (files: Map<string, string>) => void, string | RegExp]>([
    [
      'for a misspelt field, with its line',
      edit('coworker.yaml', 'given:', 'givn:'),
      /coworker\.yaml:8: givn: "givn" is not a field here \(did you mean "given"\?\); known: role, title,/,
    ],
    ['for a missing field', edit('coworker.yaml', 'given: asked\n', ''), 'coworker.yaml:4: given: '],
    [
      'for an unknown word',
      edit('coworker.yaml', 'which: none', 'which: some'),
      /coworker\.yaml:\d+: connectors\.which: .*"every"\|"granted"\|"routine"\|"none"/,
    ],
    [
      'for a short name, saying the whole one',
      tool('memory/memory_read'),
      '"memory/memory_read" is not canonical: write mcp__memory__memory_read.',
    ],
    ['for a name without mcp__', tool('memory__memory_read'), 'write mcp__memory__memory_read.'],
    [
      'for a name that is none',
      tool('mcp__Memory memory_read'),
      /coworker\.yaml:\d+: holds\[0\]\.tools\[0\]: .* is not a tool name/,
    ],
    ['for a star in half a tool part', tool('mcp__memory__memory_*'), '"*" stands only for a whole tool part'],
    ['for a star alone', tool("'*'"), '"*" stands only for a whole tool part'],
    ['for a star as connector', tool("'mcp__*__memory_read'"), '"*" stands only for a whole tool part'],
    ['for a name listed twice', tool('mcp__memory__memory_list'), '"mcp__memory__memory_list" is listed twice'],
    ['for a built-in among the held tools', tool('Read'), 'list it under "builtins"'],
    [
      'for a held tool among the built-ins',
      edit('coworker.yaml', '[Bash, Read', '[mcp__sandbox__bash, Read'),
      'list it under "holds"',
    ],
    [
      'for a missing role',
      (files) => files.delete('goal-reviewer.yaml'),
      'No policy file is for the role "goal-reviewer": add goal-reviewer.yaml.',
    ],
    ['for a missing route', (files) => files.delete('read-only.yaml'), 'No policy file is for the route "read-only"'],
    ['for a missing deployment', (files) => files.delete('deployment.yaml'), 'add deployment.yaml'],
    [
      'for a role in two files',
      (files) => files.set('zz.yaml', files.get('coworker.yaml')!),
      'zz.yaml: the role "coworker" is already in coworker.yaml; keep one of them.',
    ],
    [
      'for a file that is none of the three',
      (files) => files.set('zz.yaml', 'rolle: x'),
      'zz.yaml: a policy file opens with "role", "route" or "deployment"',
    ],
    ['for an empty file', (files) => files.set('zz.yaml', ''), 'zz.yaml: a policy file opens with'],
    [
      'for a second route',
      (files) => files.set('zz.yaml', files.get('read-only.yaml')!.replace('route: read-only', 'route: standard')),
      'the only route with a file is "read-only"',
    ],
    [
      'for turns that are none',
      edit('goal-agent.yaml', 'turns: 10', 'turns: 0'),
      /goal-agent\.yaml:\d+: limits\.turns: /,
    ],
    [
      'for money that is text',
      edit('goal-agent.yaml', 'runUsd: 0.5', 'runUsd: lots'),
      /goal-agent\.yaml:\d+: limits\.runUsd: expected number/,
    ],
    [
      'for a yes that is not true',
      edit('person-chat.yaml', 'asksPerson: true', 'asksPerson: yes'),
      /asksPerson: expected boolean/,
    ],
    [
      'for a permission prompt in a role that asks nobody',
      edit('coworker.yaml', 'given: asked', 'permissionPrompt: true\ngiven: asked'),
      /coworker\.yaml:\d+: permissionPrompt: a role that asks nobody could only refuse its own built-ins/,
    ],
    [
      'for a permission prompt in a role without built-ins',
      edit('person-chat.yaml', 'tools: [Bash, Read, Write, Edit, Glob, Grep, WebSearch, WebFetch]', 'tools: []'),
      /person-chat\.yaml:\d+: permissionPrompt: a role without built-ins has nothing to ask about/,
    ],
    [
      'for a built-in that neither reads nor writes',
      edit('deployment.yaml', 'Bash: write', 'Bash: run'),
      /deployment\.yaml:\d+: builtins\.access\.Bash: /,
    ],
    [
      'for the access of a tool that is no built-in',
      edit('deployment.yaml', 'Bash: write', 'mcp__box__echo: write'),
      /builtins\.access\.mcp__box__echo: .*connector's tool/,
    ],
    [
      'for a list without a reason',
      edit('goal-reviewer.yaml', '  reason: A review is written from what it is handed.\n', ''),
      /builtins\.reason: is missing/,
    ],
  ])('%s', (_what, change, expected) => {
    const said = problems(change)
    if (typeof expected === 'string') expect(said).toContain(expected)
    else expect(said).toMatch(expected)
  })

  it('with every problem at once', () => {
    const said = problems((files) => {
      tool('memory/memory_read')(files)
      files.delete('goal-agent.yaml')
    })
    expect(said.split('\n')).toHaveLength(2)
  })

  it('but not for a role of the operator’s own', () => {
    expect(
      problems((files) =>
        files.set('night.yaml', files.get('coworker.yaml')!.replace('role: coworker', 'role: night-watch')),
      ),
    ).toBe('')
  })

  it('and a built-in that the deployment lacks is told, not refused', () => {
    const files = texts()
    files.set(
      'deployment.yaml',
      files
        .get('deployment.yaml')!
        .replace('Bash, Read, Write, Edit, Glob, Grep, WebSearch', 'Read, Write, Edit, Glob, Grep, WebSearch'),
    )
    const data = [...files].map(
      ([file, text]) => (readText(text, file) as { data: Parameters<typeof readPolicies>[0][number] }).data,
    )
    const read = readPolicies(data, { sandbox: false })
    expect(read.ok && read.policies.roles.get('person-chat')!.builtins).not.toContain('Bash')
    expect(read.ok && read.notices).toHaveLength(3)
  })
})

it('the schema for editors is the one that validates (npm run schemas)', () => {
  expect(JSON.parse(readFileSync(join(FOLDER, 'role.schema.json'), 'utf8'))).toEqual(policySchema())
})

it('each policy file names its schema and opens with a comment for a reviewer', () => {
  for (const { file } of readFolder(FOLDER, 'the test', [])) {
    expect(readFileSync(join(FOLDER, file), 'utf8')).toMatch(
      /^# yaml-language-server: \$schema=\.\/(role|presets)\.schema\.json\n# [A-Z]/,
    )
  }
})
