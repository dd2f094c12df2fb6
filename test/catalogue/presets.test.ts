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
