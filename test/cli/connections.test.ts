import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from './world.ts'
import { createWorld, type World } from './world.ts'
import { ADMIN_KEY } from '../http/api-world.ts'

const KEY = 'fc-canary-of-the-command-line'
let world: World
let folder: string
beforeAll(async () => {
  world = await createWorld()
  folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await world.close()
})
const withEnv = (env: Record<string, string>, ...args: string[]) =>
  run(args, { env: { TOLLGATE_URL: world.url, TOLLGATE_ADMIN_KEY: ADMIN_KEY, ...env } })

describe('connections', () => {
  it('are put from a variable or a file, listed, shared and deleted, and no secret is printed', async () => {
    const put = await withEnv({ FC: KEY }, 'connections', 'put', 'firecrawl', '--set', 'apiKey=FC')
    expect([put.code, put.out]).toEqual([
      0,
      expect.stringMatching(/^firecrawl of default: Firecrawl, unchecked, set: apiKey\./),
    ])
    writeFileSync(join(folder, 'fields.json'), JSON.stringify({ apiKey: KEY }))
    const file = ['--file', join(folder, 'fields.json'), '--connector', 'firecrawl']
    const second = await world.cli('connections', 'put', 'firecrawl-2', '--brand', 'acme', ...file)
    expect(second.code).toBe(0)
    const list = await world.cli('connections', 'list')
    expect(list.out).toMatch(/^BRAND +CONNECTION +CONNECTOR +STATUS/)
    expect(list.out).toMatch(/acme +firecrawl-2 +firecrawl +unchecked/)
    const shared = await world.cli('connections', 'share', 'firecrawl', '--with', 'acme,other')
    expect(shared.out).toMatch(/shared with acme, other/)
    const removed = await world.cli('connections', 'delete', 'firecrawl')
    expect(removed.out).toBe('The connection firecrawl of default is removed.\n')
    for (const { out, err } of [put, second, list, shared, removed]) expect(out + err).not.toContain('canary')
  })

  it.each([
    ['the value itself on the command line', ['--set', `apiKey=${KEY}`], /not the value/],
    ['a variable that is not set', ['--set', 'apiKey=NOT_SET'], /field apiKey is not set/],
    ['nothing', [], /No field is stated/],
    ['a file that is not there', ['--file', '/nowhere/at/all'], /cannot be read/],
  ])('%s: says how to mend it, and does not repeat it', async (_name, args, says) => {
    const { code, err } = await world.cli('connections', 'put', 'firecrawl', ...args)
    expect([code, err]).toEqual([1, expect.stringMatching(says)])
    expect(err).not.toContain('canary')
  })

  it('of a server of the brand’s own are put from its entry, begun to be consented to, and show no secret', async () => {
    const file = join(folder, 'entry.json')
    writeFileSync(file, JSON.stringify({ url: 'https://8.8.8.8/s/canary-in-the-path', oauth: true }))
    const put = await world.cli('connections', 'put', 'my-notes', '--mcp', file)
    expect(put.out).toMatch(
      /^my-notes of default: a server of its own at https:\/\/8\.8\.8\.8\/s\/can…, needs consent\./,
    )
    expect(put.out).toContain('tollgate connections connect my-notes --brand default')
    expect((await world.cli('connections', 'list')).out).toMatch(/my-notes +mcp +needs consent/)
    writeFileSync(file, JSON.stringify({ command: 'npx' }))
    const command = await world.cli('connections', 'put', 'my-notes', '--mcp', file)
    expect([command.code, command.err]).toEqual([
      1,
      expect.stringContaining('from the operator’s file'.replace('’', "'")),
    ])
    const none = await world.cli('connections', 'connect', 'firecrawl')
    expect(none.code).toBe(1)
    for (const { out, err } of [put, command, none]) expect(out + err).not.toContain('canary')
  })

  it('a vendor that cannot be asked fails the command', async () => {
    await withEnv({ FC: KEY }, 'connections', 'put', 'firecrawl', '--set', 'apiKey=FC')
    const gone = await world.cli('connections', 'check', 'nothing')
    expect([gone.code, gone.err]).toEqual([1, expect.stringMatching(/has no connection nothing/)])
  })
})

describe('new connector', () => {
  it('writes a file that defines a connector as it is', async () => {
    const root = join(import.meta.dirname, '../..')
    for (const name of ['src', 'node_modules']) symlinkSync(join(root, name), join(folder, name))
    const { code, out } = await run(['new', 'connector', 'ledger-x', '--folder', folder])
    expect([code, out]).toEqual([0, expect.stringMatching(/ledger-x\.ts is written\./)])
    const written = await import(/* @vite-ignore */ join(folder, 'connectors/ledger-x.ts'))
    expect(written.ledgerX.tools[0]).toMatchObject({ name: 'mcp__ledger-x__ledger_x_get_thing', access: 'read' })
    const again = await run(['new', 'connector', 'ledger-x', '--folder', folder])
    expect([again.code, again.err]).toEqual([1, expect.stringMatching(/is there already/)])
  })

  it.each(['../x', 'A', 'a__b', ''])('refuses the slug %j', async (slug) => {
    expect((await run(['new', 'connector', slug, '--folder', folder])).code).toBe(1)
  })

  it('writes nothing outside a checkout', async () => {
    const { code, err } = await run(['new', 'connector', 'x', '--folder', tmpdir()])
    expect([code, err]).toEqual([1, expect.stringMatching(/no checkout/)])
  })
})
