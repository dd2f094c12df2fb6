/** The command line itself, and the commands that need no gateway. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { table } from '../../src/cli/output.ts'
import { startUpstream } from '../support/upstream.ts'
import { run } from './world.ts'

const COMMANDS = [
  'serve',
  'demo',
  'check',
  'token',
  'sessions',
  'cards',
  'approve',
  'deny',
  'explain',
  'audit',
  'migrate',
  'rotate-keys',
]

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tollgate-cli-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

describe('the command line', () => {
  it.each(COMMANDS)('%s has --help and --json', async (command) => {
    const { code, out } = await run([command, '--help'])
    expect([code, out]).toEqual([0, expect.stringContaining('--json')])
    expect((await run(['--help'])).out).toContain(`\n  ${command} `)
  })

  it('without a command prints the help and fails', async () => {
    const { code, err } = await run([])
    expect([code, err]).toEqual([1, expect.stringContaining('Usage: tollgate')])
  })

  it.each([
    [['nope'], "tollgate: Unknown command 'nope'. See --help.\n"],
    [['token', '--role', 'x', '--ttl', '1h'], expect.stringContaining('Write a whole number.')],
    [['sessions', 'show'], "tollgate: Missing required argument 'id'. See --help.\n"],
    [['approve'], "tollgate: Missing required argument 'id'. See --help.\n"],
    [['sessions', '--adminkey', 'x'], expect.stringContaining("Unknown option '--adminkey'")],
  ])('%j fails with one sentence', async (args, err) => {
    expect(await run(args)).toEqual({ code: 1, out: '', err })
  })

  it('prints tables that line up and hold no control characters', () => {
    expect(
      table(
        ['A', 'LONG'],
        [
          ['long cell', 'x\u001b[31m\ny'],
          ['s', ''],
        ],
      ),
    ).toBe('A          LONG\nlong cell  x [31m y\ns')
  })
})

describe('check', () => {
  it('says what each role would get, and leaves nothing behind', async () => {
    const upstream = await startUpstream({
      tools: ['look_up', 'look_around', 'change'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    })
    onTestFinished(() => upstream.close())
    const data = await folder()
    const file = join(data, 'config.json')
    const tools = { 'look_*': { access: 'read', grantable: true }, gone: 'read' }
    await writeFile(file, JSON.stringify({ mcpServers: { up: { type: 'http', url: upstream.url, tools } } }))
    const env = { TOLLGATE_CONFIG: file, TOLLGATE_DATA: join(data, 'data') }

    const { code, out } = await run(['check', '--json'], { env })
    const report = JSON.parse(out)
    expect(code).toBe(0)
    expect(report.connectors).toMatchObject([{ slug: 'up', state: 'ready', unmatched: ['gone'] }])
    expect(report.connectors[0].tools.map((tool: any) => [tool.name, tool.access, tool.because])).toEqual([
      ['mcp__up__change', 'write', 'not classified, so it counts as write'],
      ['mcp__up__look_around', 'read', 'tools: look_*'],
      ['mcp__up__look_up', 'read', 'tools: look_*'],
    ])
    const held = (name: string) =>
      report.roles.find((role: any) => role.name === name).tools.map((tool: any) => [tool.name, tool.effect])
    expect(held('person-chat')).toEqual([
      // Its built-ins bring it, with a person to ask.
      ['mcp__harness__permission_prompt', 'allow'],
      ['mcp__up__change', 'ask'],
      ['mcp__up__look_around', 'allow'],
      ['mcp__up__look_up', 'allow'],
    ])
    expect(held('specialist')).toEqual([
      ['mcp__up__look_around', 'allow'],
      ['mcp__up__look_up', 'allow'],
    ])
    expect(held('coworker')).toEqual([])
    expect(await readdir(data)).toEqual(['config.json'])

    const text = (await run(['check'], { env })).out
    expect(text).toContain('The pattern "gone" matches no tool.')
    expect(text).toContain('Role goal-reviewer: ')
  })

  it('fails where an upstream does not answer, and says which; --offline does not ask it', async () => {
    const data = await folder()
    const file = join(data, 'config.yaml')
    await writeFile(file, 'mcpServers: { away: { type: http, url: "http://127.0.0.1:1/mcp" } }')
    const env = { TOLLGATE_CONFIG: file, TOLLGATE_DATA: data }
    const { code, out } = await run(['check'], { env })
    expect([code, out]).toEqual([1, expect.stringContaining('Connector away: failed.')])
    expect((await run(['check', '--offline'], { env })).code).toBe(0)
  })

  it('fails with every sentence that mends the configuration', async () => {
    const { code, out, err } = await run(['check'], {
      env: { PORT: 'http', TOLLGATE_LOG: 'loud', TOLLGATE_DATA: await folder() },
    })
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('PORT must be a whole number')
    expect(err).toContain('TOLLGATE_LOG must be one of')
  })
})

describe('migrate', () => {
  it('brings a new database up, and then finds nothing to do', async () => {
    const env = { TOLLGATE_DATA: await folder() }
    expect((await run(['migrate'], { env })).out).toMatch(/^Applied: 0001_gateway/)
    expect(JSON.parse((await run(['migrate', '--json'], { env })).out)).toEqual({ applied: [] })
  }, 60_000)
})
