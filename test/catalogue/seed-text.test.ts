import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as seed from './seed.ts'

const FOLDER = join(import.meta.dirname, '../../../shared/spec')
const file = existsSync(FOLDER) ? readdirSync(FOLDER).find((name) => /^001_.*\.txt$/.test(name)) : undefined
const text = file === undefined ? '' : readFileSync(join(FOLDER, file), 'utf8')
const plain = text.replace(/\s+/g, ' ').replaceAll('\\$', '$')
const why = 'the text of seed 001 is not beside this clone (../shared/spec/001_*.txt)'

/** The first cells of the table that stands after `heading`, or all cells of its rows. */
function rows(heading: string): string[][] {
  const after = text.slice(text.indexOf(`\n${heading}\n`) + heading.length + 2)
  const table = /(?:^|\n)(\|.*(?:\n\|.*)*)/.exec(after)?.[1] ?? ''
  return table
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

describe.skipIf(text === '')(
  `the expectation tables and the text of seed 001${text === '' ? ` (skipped: ${why})` : ''}`,
  () => {
    it('name the same tools: none is missing and none is extra', () => {
      const named = new Set(text.match(/mcp__[A-Za-z0-9_-]+__(?:\*|[A-Za-z0-9_-]+)/g))
      expect([...new Set(seed.ALL_NAMES)].sort()).toEqual([...named].sort())
      expect(seed.ALL_NAMES).toHaveLength(new Set(seed.ALL_NAMES).size)
    })

    it('agree on the connector table, row by row', () => {
      const names = (cell: string) => cell.match(/mcp__\w+__(?:\*|\w+)/g) ?? []
      const told = rows('### Connector tools').map(([title, read, other]) => ({
        title,
        read: names(read ?? ''),
        other: names(other ?? ''),
      }))
      expect(seed.CONNECTORS.map(({ title, read, other }) => ({ title, read, other }))).toEqual(told)
      expect(rows('### The read table').map(([title]) => title)).toEqual([
        ...seed.CONNECTORS.map(({ title }) => title).filter((title) => !/Cloudflare|Contentsquare/.test(title)),
        'Content writer (with Shopify)',
        'Cloudflare, Contentsquare',
      ])
    })

    it('agree on the platform and environment tables, row by row', () => {
      const told = (heading: string) =>
        rows(heading).map(([, tools, when]) => ({ tools: tools?.replaceAll('`', '').split(', '), when }))
      expect(seed.PLATFORM.map(({ tools, when }) => ({ tools, when }))).toEqual(told('### Platform tools'))
      expect(seed.ENVIRONMENT.map(({ tools, when }) => ({ tools, when }))).toEqual(
        told('### Environment tools (E2B only)'),
      )
    })

    it('agree on the built-ins by role', () => {
      const told = rows('## Built-in Claude Code tools').map(([name, ...cells]) => [
        name?.replaceAll('`', ''),
        cells.map((cell) => cell.replace(/^No, .*/, 'No')).join(' | '),
      ])
      expect(Object.entries(seed.BUILTIN_TABLE)).toEqual(told)
      expect(rows('## Roles at a glance').map(([title]) => title)).toEqual([
        ...seed.ROLES.map(({ title }) => title),
        'Read-only route',
      ])
      expect(rows('## Roles at a glance').map((cells) => cells[4])).toEqual([
        ...seed.ROLES.map(({ asks }) => asks),
        'Not applicable',
      ])
    })

    it('agree on presets, switches, what is not built, allowances and briefs', () => {
      expect(rows('### Presets').map(([title]) => title)).toEqual(seed.PRESETS.map(({ title }) => title))
      expect(
        rows('## Operator switches')
          .map(([name]) => name?.replaceAll('`', ''))
          .sort(),
      ).toEqual([...seed.SWITCHES, ...seed.OTHER_SWITCHES].map(([name]) => name).sort())
      expect(rows('## What is never given, to any role')).toHaveLength(Object.keys(seed.NOT_BUILT).length)
      expect(rows('### Allowance').map(([, ...cells]) => cells)).toEqual(
        Object.values(seed.ALLOWANCE).map((names) => names.map((name) => `\`${name}\``)),
      )
      expect(rows('### SEO brief tools')).toEqual(seed.BRIEFS.map(({ tool, given }) => [`\`${tool}\``, given]))
    })

    it('agree on what was measured and what is reasoned', () => {
      const told = (heading: string) =>
        rows(heading).map(([what, record]) => [what, ...(record?.split(';')[0]?.match(/[A-Z_]{5,}[\w.]*/g) ?? [])])
      expect(seed.MEASURED).toEqual(told('### Measured'))
      expect(seed.REASONED).toEqual(told('### Reasoned, never exercised'))
    })

    it('agree on what counts as on, switch by switch', () => {
      const told = new Map(rows('## Operator switches').map((cells) => [cells[0]?.replaceAll('`', ''), cells[2]]))
      for (const [name, says] of [...seed.SWITCHES, ...seed.OTHER_SWITCHES])
        expect(told.get(name), name).toContain(says)
    })

    it.each([...seed.CONNECTORS.map(({ says }) => says), ...Object.values(seed.NOT_BUILT)])(
      'the text says: %s',
      (sentence) => {
        expect(plain).toContain(sentence)
      },
    )
  },
)
