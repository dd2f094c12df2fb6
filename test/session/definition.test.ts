/** Agent definitions of seed 003: which tools they ask for, and what becomes of names that lead nowhere. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalise } from '../../src/policy/names.ts'
import type { Role } from '../../src/policy/words.ts'
import {
  agentDefinition,
  type DefinitionWords,
  narrowToDefinition,
  toolsOfDefinition,
} from '../../src/session/definition.ts'

const role: Role = {
  name: 'coworker',
  title: '',
  describes: '',
  asksPerson: false,
  builtins: [],
  holds: ['mcp__memory__memory_read', 'mcp__project__*'],
  withSkills: ['mcp__skills__load_skill'],
  connectors: 'none',
  given: 'asked',
  limits: {},
}
const WORDS: DefinitionWords = {
  brand: 'acme',
  builtins: ['Read', 'Grep', 'Bash'],
  connectors: ['brave', 'files'],
  roles: new Map([['coworker', role]]),
}
const of = (definition: unknown) => toolsOfDefinition(agentDefinition.parse(definition), WORDS)

describe('what a definition asks for', () => {
  it('is its native names and its server/tool names, each once and canonical', () => {
    const definition = {
      id: 'web-researcher',
      displayName: 'Web Research Assistant',
      model: 'a-model',
      toolNames: ['Read', 'brave/search', 'brave/fetch_content', 'mcp__brave__search'],
      mcpServers: { brave: { command: 'npx', args: ['-y', 'a-server'], env: { KEY: 'not-ours' } } },
    }
    expect(of(definition)).toEqual({
      tools: ['Read', 'mcp__brave__search', 'mcp__brave__fetch_content'],
      unmatched: [],
    })
  })

  it.each([[{}], [{ toolNames: [] }], [{ toolNames: null }], [{ id: 'x', mcpServers: null }]])(
    'is nothing for %j',
    (definition) => expect(of(definition)).toEqual({ tools: [], unmatched: [] }),
  )

  it('is nothing of a server that it names without tools, and that is said', () => {
    expect(of({ mcpServers: { brave: {} } })).toEqual({
      tools: [],
      unmatched: [
        {
          tool: 'brave/*',
          code: 'unknown_tool',
          reason: 'mcpServers names "brave", and toolNames no tool of it, so none is given.',
        },
      ],
    })
  })

  it('takes the brand’s own connectors where it has no mcpServers at all', () => {
    expect(of({ toolNames: ['files/read_file'] }).tools).toEqual(['mcp__files__read_file'])
  })

  it('takes tools of the host app’s own servers, which no definition names as a server', () => {
    const toolNames = ['memory/memory_read', 'project/project_list', 'skills/load_skill']
    const { tools, unmatched } = of({ toolNames, mcpServers: {} })
    expect(tools).toEqual(['mcp__memory__memory_read', 'mcp__project__project_list', 'mcp__skills__load_skill'])
    expect(unmatched).toEqual([])
  })
})

describe('names that lead nowhere are reported', () => {
  it.each([
    ['read_files', 'is no native tool of this deployment; its built-ins are Read, Grep, Bash.'],
    ['read', 'Did you mean Read?'],
    ['WebSearch', 'is no native tool of this deployment'],
    ['Brave/search', 'There is no connector Brave for the brand acme; it has brave, files. Did you mean brave?'],
    ['braev/search', 'Did you mean brave?'],
    ['brave/*', 'A definition names single tools'],
    ['*', 'is no native tool'],
    ['brave/search/more', 'is no native tool'],
    ['brave/ search', 'is no native tool'],
    ['/search', 'is no native tool'],
    ['', 'is no native tool'],
    ['__proto__/x', 'is no native tool'],
  ])('%j', (written, reason) => {
    expect(of({ toolNames: [written] })).toEqual({
      tools: [],
      unmatched: [{ tool: written, code: 'unknown_tool', reason: expect.stringContaining(reason) }],
    })
  })

  it('so is a connector that mcpServers leaves out', () => {
    const { tools, unmatched } = of({ toolNames: ['files/read_file', 'brave/search'], mcpServers: { brave: {} } })
    expect(tools).toEqual(['mcp__brave__search'])
    expect(unmatched).toEqual([
      {
        tool: 'files/read_file',
        code: 'unknown_tool',
        reason: "The definition's mcpServers does not name files; add it there.",
      },
    ])
  })

  it('spelling a server’s name another way does not pass by mcpServers', () => {
    for (const written of ['files/read_file', 'files__read_file', 'mcp__files__read_file']) {
      expect(of({ toolNames: [written], mcpServers: {} }).tools).toEqual([])
    }
  })

  it('a deployment without built-ins and a brand without connectors say so', () => {
    const none = { ...WORDS, builtins: [], connectors: [] }
    const reasons = toolsOfDefinition({ toolNames: ['Read', 'brave/search'] }, none).unmatched.map((row) => row.reason)
    expect(reasons).toEqual([expect.stringContaining('it has no built-ins'), expect.stringContaining('it has none')])
  })
})

it('whatever is written, each name is given as it is or reported, and nothing else is given', () => {
  const part = fc.oneof(
    fc.constantFrom('brave', 'files', 'memory', 'Read', 'search', 'mcp', '__', '*', ''),
    fc.string(),
  )
  const name = fc
    .array(part, { minLength: 1, maxLength: 4 })
    .chain((parts) => fc.constantFrom('/', '__', '').map((between) => parts.join(between)))
  const servers = fc.option(fc.dictionary(part, fc.constant({})), { nil: undefined })
  fc.assert(
    fc.property(fc.array(name), servers, (toolNames, mcpServers) => {
      const { tools, unmatched } = toolsOfDefinition({ toolNames, mcpServers }, WORDS)
      const reported = new Set(unmatched.map(({ tool }) => tool))
      for (const written of toolNames) {
        const meant = normalise(written)
        expect(meant !== undefined && tools.includes(meant)).toBe(!reported.has(written))
      }
      expect(tools.every((tool) => toolNames.some((written) => normalise(written) === tool))).toBe(true)
      expect(tools.some((tool) => tool.endsWith('*'))).toBe(false)
    }),
    { numRuns: 2_000 },
  )
})

it('a ceiling is narrowed to what the definition named, whatever role and grant added', () => {
  const claims = { sub: 'x', ceiling: ['Read', 'mcp__files__*', 'mcp__brave__search'] }
  expect(narrowToDefinition(claims, ['mcp__brave__search'])).toEqual({ sub: 'x', ceiling: ['mcp__brave__search'] })
  expect(narrowToDefinition(claims, []).ceiling).toEqual([])
})

it.each([[{ toolNames: 'Read' }], [{ toolNames: [1] }], [{ mcpServers: ['brave'] }], [[]], ['Read']])(
  '%j is no definition',
  (value) => expect(agentDefinition.safeParse(value).success).toBe(false),
)
