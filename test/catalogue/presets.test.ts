import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { connectors } from '../../connectors/index.ts'
import { readText } from '../../src/config/data.ts'
import { grantWords } from '../../src/connector/define.ts'
import { figuresOwed, presetsSchema, readPresets } from '../../src/policy/presets.ts'
import * as seed from './seed.ts'
import { known, PRESETS, presets } from './world.ts'

const shipped = readFileSync(PRESETS, 'utf8')

function read(text: string) {
  const data = readText(text, 'presets.yaml')
  if (!data.ok) throw new Error(data.problems.join('\n'))
  const result = readPresets(data.data, known())
  return result.ok ? [] : result.problems
}

describe('the presets', () => {
  it('are the eight of the seed, in its order', () => {
    expect(presets().map(({ title }) => title)).toEqual(seed.PRESETS.map(({ title }) => title))
  })

  it.each(seed.PRESETS)('$title', (row) => {
    const preset = presets().find(({ title }) => title === row.title)
    expect(preset).toEqual({
      name: row.title.toLowerCase().replaceAll(' ', '-'),
      title: row.title,
      builtins: seed.READ_ONLY_BUILTINS,
      tools: row.tools,
      grant: { connectors: row.connectors, skills: row.skills, allowance: row.allowance },
      withDataSkills: row.dataSkillsOf ?? [],
      limits: { runBudgetUsd: 0.5, maxTurns: 10, maxConcurrentRuns: 1, maxDelegationDepth: row.depth ?? 0 },
    })
  })

  it('one of them owes figures before it can be saved', () => {
    const words = grantWords(connectors)
    expect(presets().flatMap((one) => figuresOwed(one, words).map((slug) => [one.name, slug]))).toEqual([
      ['marketing-assistant', 'dataforseo'],
    ])
  })

  it('ask for nothing that only comes with something they do not grant', () => {
    const tools = new Map(
      connectors.flatMap((one) => one.tools.map((tool) => [tool.name, { tool, beside: one.beside }])),
    )
    for (const preset of presets()) {
      for (const name of preset.tools) {
        const found = tools.get(name)
        if (found?.beside) expect(preset.grant.connectors).toContain(found.beside)
        if (found?.tool.ridesOn) expect(preset.grant.skills).toContain(found.tool.ridesOn)
        expect(preset.limits.maxDelegationDepth).toBeGreaterThanOrEqual(found?.tool.delegationDepth ?? 0)
      }
    }
  })
})

describe('a presets file is refused', () => {
  it.each([
    ['an unknown field', '    title: Researcher', '    titel: Researcher', /titel.*did you mean "title"/],
    ['a misspelt connector', 'connectors: [firecrawl]', 'connectors: [firecrawll]', /no connector.*write firecrawl/],
    ['a connector no grant can give', '[firecrawl]', '[firecrawl, cloudflare]', /no connector is called "cloudflare"/],
    ['a connector that is only given beside another', '[firecrawl]', '[firecrawl, writer]', /no connector/],
    ['a misspelt tool', 'mcp__project__project_list', 'mcp__project__project_lst', /write mcp__project__project_list/],
    [
      'a tool in another spelling',
      'mcp__project__project_list',
      'project/project_list',
      /write mcp__project__project_list/,
    ],
    ['an unknown built-in', '[Read, Glob', '[Reed, Glob', /no built-in is called "Reed": write Read/],
    ['a run above its day', 'perRunCredits: 25', 'perRunCredits: 250', /perRunCredits is above perDayCredits/],
    ['a figure of nothing', 'perRunCredits: 25', 'perRunCredits: 0', /allowance/],
    [
      'the wrong unit',
      '{ perRunCredits: 25, perDayCredits: 100 }',
      '{ perRunUsd: 1, perDayUsd: 2 }',
      /counted in perRunCredits and perDayCredits/,
    ],
    ['half an allowance', 'perRunCredits: 25, ', '', /allowance/],
    [
      'an allowance for what is not granted',
      'connectors: [firecrawl]',
      'connectors: [shopify]',
      /does not grant firecrawl/,
    ],
    ['a preset that stands twice', 'preset: data-analyst', 'preset: researcher', /is a preset already/],
    [
      'data skills of a skill it does not grant',
      'withDataSkills: [seo-method]',
      'withDataSkills: [seo]',
      /no granted skill/,
    ],
    ['no turns', 'maxTurns: 10', 'maxTurns: 0', /maxTurns/],
  ])('for %s', (_, written, instead, problem) => {
    expect(shipped).toContain(written)
    const problems = read(shipped.replace(written, instead))
    expect(problems.join('\n')).toMatch(problem)
    expect(problems[0]).toMatch(/^presets\.yaml:\d+: /)
  })

  it('and the schema for editors is the one that validates', () => {
    expect(JSON.parse(readFileSync(PRESETS.replace('.yaml', '.schema.json'), 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(presetsSchema())),
    )
  })
})

describe('what is wrong with a preset is said whole, each with its place', () => {
  const lines = (grant: string, more = '') => [
    'defaults: { runBudgetUsd: 0.5, maxTurns: 10, maxConcurrentRuns: 1, maxDelegationDepth: 0 }',
    'presets:',
    `  - { preset: one, title: One, builtins: [Read], tools: [], grant: ${grant} }`,
    ...(more === '' ? [] : [more]),
  ]
  const said = (...text: string[]) => read(text.join('\n'))

  it.each<[string, string]>([
    [
      '{ connectors: [github], allowance: { firecrawl: { perRunCredits: 1, perDayCredits: 2 } } }',
      'presets[0].grant.allowance.firecrawl: the preset does not grant firecrawl; take one of the two out.',
    ],
    [
      '{ connectors: [github], allowance: { github: { perRunCredits: 1, perDayCredits: 2 } } }',
      'presets[0].grant.allowance.github: github does not bill, so it has no allowance.',
    ],
    [
      '{ connectors: [firecrawl], allowance: { firecrawl: { perRunUsd: 1, perDayUsd: 2 } } }',
      'presets[0].grant.allowance.firecrawl: firecrawl is counted in perRunCredits and perDayCredits.',
    ],
    [
      '{ connectors: [firecrawl], allowance: { firecrawl: { perRunCredits: 3, perDayCredits: 2 } } }',
      'presets[0].grant.allowance.firecrawl: perRunCredits is above perDayCredits; a run cannot have more than its day.',
    ],
    [
      '{ connectors: [firecrawl, firecrawl] }',
      'presets[0].grant.connectors[1]: "firecrawl" is listed twice; keep one.',
    ],
    [
      '{ connectors: [firecrwl] }',
      'presets[0].grant.connectors[0]: no connector is called "firecrwl": write firecrawl.',
    ],
    ['{ connectors: [zzzzzzzz] }', 'presets[0].grant.connectors[0]: no connector is called "zzzzzzzz".'],
    ['{ skills: [a, a] }', 'presets[0].grant.skills[1]: "a" is listed twice; keep one.'],
    ['{ withDataSkills: [b] }', 'presets[0].grant.withDataSkills[0]: no granted skill is called "b".'],
  ])('grant: %s', (grant, problem) => {
    expect(said(...lines(grant))).toEqual([`presets.yaml:3: ${problem}`])
  })

  it('a run may have all of its day', () => {
    expect(
      said(...lines('{ connectors: [firecrawl], allowance: { firecrawl: { perRunCredits: 2, perDayCredits: 2 } } }')),
    ).toEqual([])
  })

  it('names that are no built-in, no tool, or used before', () => {
    const more = '  - { preset: one, title: Two, builtins: [Raed, Read, Read], tools: [mcp__project__project_lst] }'
    expect(said(...lines('{ connectors: [] }', more))).toEqual([
      'presets.yaml:4: presets[1].preset: "one" is a preset already; keep one.',
      'presets.yaml:4: presets[1].builtins[2]: "Read" is listed twice; keep one.',
      'presets.yaml:4: presets[1].builtins[0]: no built-in is called "Raed": write Read.',
      'presets.yaml:4: presets[1].tools[0]: no tool is called "mcp__project__project_lst": write mcp__project__project_list.',
    ])
  })
})
