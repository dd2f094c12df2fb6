/** Agent definitions as files: read as data, never run, and only their names leave the machine. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readDefinition } from '../../src/cli/definition.ts'
import { run } from './world.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-definition-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

describe('a definition', () => {
  it('is read from JSON, and of its servers only the names', async () => {
    const definition = {
      id: 'web-researcher',
      toolNames: ['brave/search'],
      mcpServers: { brave: { command: 'npx', env: { KEY: 'a-key-of-the-team' } } },
    }
    expect(readDefinition(await file('a.json', JSON.stringify(definition)))).toEqual({
      toolNames: ['brave/search'],
      mcpServers: { brave: {} },
    })
  })

  it('is read from YAML', async () => {
    expect(readDefinition(await file('a.yaml', 'toolNames: [Read]\nmcpServers:\n'))).toEqual({
      toolNames: ['Read'],
      mcpServers: {},
    })
    expect(readDefinition(await file('b.yml', 'id: sandboxed\n'))).toEqual({ toolNames: [] })
  })

  it.each(['a.ts', 'a.js', 'a.mjs', 'a', 'a.json.ts'])('%s is not run', async (name) => {
    const path = await file(name, `throw new Error('ran')`)
    expect(() => readDefinition(path)).toThrow('a definition that is code is not run')
  })

  it.each([
    ['toolNames: Read', 'c.yaml:1: toolNames: expected array'],
    ['id: x\ntoolNames: [1]', 'c.yaml:2: toolNames[0]: expected string'],
    ['- a', 'c.yaml:1: expected object'],
    ['a: [', 'c.yaml:'],
  ])('%j is refused with its place', async (text, problem) => {
    const path = await file('c.yaml', text)
    expect(() => readDefinition(path)).toThrow(problem)
  })
})

describe('token, and its --definition', () => {
  const env = { TOLLGATE_ADMIN_KEY: 'a-key-that-is-long-enough', TOLLGATE_URL: 'http://127.0.0.1:1' }

  it('says what is wrong with the file before anything is sent', async () => {
    const { code, err } = await run(['token', '--role', 'coworker', '--definition', join(folder, 'none.json')], { env })
    expect([code, err]).toEqual([1, expect.stringMatching(/--definition names .*none\.json, which is not there/)])
  })

  it('token without a role or a coworker asks for one', async () => {
    const { code, err } = await run(['token'], { env })
    expect([code, err]).toEqual([1, 'tollgate: Say what the session is: --role ROLE, or --coworker ID.\n'])
  })

  it('is not to be mixed with --tools', async () => {
    const path = await file('d.json', '{}')
    const { err } = await run(['token', '--role', 'coworker', '--tools', 'Read', '--definition', path], { env })
    expect(err).toContain('Give --tools or --definition, not both')
  })
})
