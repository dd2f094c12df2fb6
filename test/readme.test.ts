/**
 * The README says what the code says: its tables, snippets and commands are compared or run.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { connectors as catalogue } from '../connectors/index.ts'
import { loadConfig } from '../src/config/config.ts'
import { VARIABLES } from '../src/config/env.ts'
import { configsFor } from '../src/http/api/configs.ts'
import { SWITCHES } from '../src/policy/switches.ts'
import { CODES } from '../src/policy/words.ts'

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8')
const connecting = readFileSync(join(import.meta.dirname, '..', 'docs', 'connecting.md'), 'utf8')

/** The rows of a marked table, as cells without the backticks of names. */
function table(name: string, page = readme): string[][] {
  const from = page.indexOf(`<!-- table: ${name} -->`)
  const text = page.slice(from, page.indexOf('<!-- end -->', from))
  const rows = text.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
  )
}

const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1] as string)

describe('tables', () => {
  test('the environment table lists every variable, its default and what it does', () => {
    expect(table('environment')).toEqual(
      VARIABLES.map(({ name, default: standard, effect }) => [name, standard, effect]),
    )
  })

  test('the switch table lists every switch of the operator', () => {
    const rows = table('switches').map(([name, standard, , effect]) => [name, standard, effect])
    expect(rows).toEqual(SWITCHES.map(({ name, default: standard, effect }) => [name, String(standard), effect]))
  })

  test('the code table lists the closed list of codes, in its order', () => {
    expect(table('codes').map(([code]) => code)).toEqual([...CODES])
  })

  test('the table of native connectors says what their files say', () => {
    const rows = catalogue.flatMap(({ title, tools, billing }) => {
      const built = tools.filter(({ body }) => body !== undefined)
      if (built.length === 0) return []
      const asking = built.filter(({ ask }) => ask === 'always').length
      const byArguments = built.some(({ ask }) => ask === 'mutations') ? 'its mutations' : undefined
      const asks = billing !== undefined ? 'above a price' : (byArguments ?? String(asking))
      return [[title, String(built.length), asks, billing === undefined ? '–' : billing.unit]]
    })
    expect(table('native')).toEqual(rows.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)))
  })

  test('the table of credentials says what the connectors ask for', () => {
    const rows = catalogue.flatMap(({ title, connection }) =>
      Object.entries(connection?.fields ?? {}).map(([name, field]) => [
        title,
        name,
        field.title,
        field.secret === false ? 'no' : 'yes',
        field.env ?? '',
      ]),
    )
    expect(rows.length).toBeGreaterThan(5)
    expect(table('fields', connecting)).toEqual(rows)
  })

  test('the role table says what the policy files say', () => {
    const { roles } = configOf({})
    const asks = { true: 'yes, per gated call', false: 'no one to ask' }
    const connectors = {
      every: 'every connector of the brand',
      granted: 'read tools of granted connectors',
      routine: 'what its routine says, tool by tool',
      none: 'none',
    }
    const given = { all: 'all the role may hold', asked: 'they must be named' }
    const rows = [...roles.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((role) => [role.name, asks[`${role.asksPerson}`], connectors[role.connectors], given[role.given]])
    expect(table('roles')).toEqual(rows)
  })
})

describe('snippets', () => {
  const configs = configsFor('https://gateway.example/mcp')

  test('the Claude Code command and file are those that the gateway hands out', () => {
    expect(blocks('bash').join('\n')).toContain(configs.claudeCode.command)
    expect(blocks('json').map((text) => JSON.parse(text))).toContainEqual({ mcpServers: configs.claudeCode.mcpServers })
  })

  test('the Hermes and Codex snippets are those that the gateway hands out', () => {
    expect(blocks('yaml').map((text) => parse(text))).toContainEqual(parse(configs.hermes))
    expect(blocks('toml')).toContain(configs.codex)
  })

  test('every JSON snippet is JSON', () => {
    expect(blocks('json').length).toBeGreaterThan(2)
    for (const text of blocks('json')) JSON.parse(text)
  })

  test('the configuration example is one that the gateway loads', () => {
    const example = blocks('yaml').find((text) => text.includes('mcpServers'))
    const config = configOf({ SEARCH_KEY: 'a-key' }, example)
    expect(config.servers.map(({ name }) => name)).toEqual(['files', 'search'])
    expect(config.notices.filter((notice) => notice.includes('mcpServers'))).toEqual([])
  })
})

describe('commands', () => {
  test('every npm command of the README is one that package.json knows', () => {
    const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'))
    const named = [...readme.matchAll(/npm run (?:--silent )?([a-z:-]+)/g)].map((match) => match[1] as string)
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })
})

function configOf(env: Record<string, string>, file?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-readme-'))
  try {
    if (file !== undefined) writeFileSync(join(folder, 'tollgate.yaml'), file)
    return loadConfig(
      {
        TOLLGATE_DATA: folder,
        TOLLGATE_ADMIN_KEY: 'a-long-admin-key-for-the-readme-test',
        TOLLGATE_SECRET: 'a-long-secret-for-the-readme-test-too',
        ...(file === undefined ? {} : { TOLLGATE_CONFIG: join(folder, 'tollgate.yaml') }),
        ...env,
      },
      folder,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
