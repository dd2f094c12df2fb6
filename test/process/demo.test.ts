/** The two ways a newcomer starts the program, as processes of their own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { access, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { prepareDatabase } from '../support/database.ts'
import { freePort } from '../support/gateway.ts'

const CLI = join(import.meta.dirname, '../../src/cli.ts')
const FILES = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')

/** A folder that stands for a newcomer's home, and the environment of a shell in it. */
async function home(more: Record<string, string> = {}) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tollgate-home-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const port = await freePort()
  const env = { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, PORT: String(port), ...more }
  return { folder, port, env }
}

/** Starts a command in a folder and collects what it says. */
function start(args: readonly string[], folder: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [CLI, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text
  })
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
  return { child, said, ended }
}

/** Spares a gateway the making of its database; returns what its environment then needs. */
async function prepared(data: string): Promise<Record<string, string>> {
  const database = await prepareDatabase(data, false)
  onTestFinished(database.close)
  return database.env
}

/** A gateway whose banner has been printed. */
async function serve(folder: string, env: NodeJS.ProcessEnv) {
  const started = start(['serve'], folder, env)
  const ready = until(() => started.said.out.includes('claude mcp add'), 60_000)
  const over = started.ended.then(({ code }) => `serve ended with ${code}: ${started.said.err}`)
  expect(await Promise.race([ready, over])).toBe(true)
  return started
}

async function until(check: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  const end = performance.now() + ms
  while (!(await check())) {
    if (performance.now() > end) return false
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return true
}

/** Processes that were started, directly or not, by `parent`, as long as it lives (Linux). */
async function childrenOf(parent: number): Promise<number[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const parents = await Promise.all(
    all.map(async (name) => {
      const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
      return { pid: Number(name), ppid: Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]) }
    }),
  )
  const own = parents.filter(({ ppid }) => ppid === parent).map(({ pid }) => pid)
  return [...own, ...(await Promise.all(own.map(childrenOf))).flat()]
}

/** Whether a process still runs; one that only waits to be reaped does not. */
async function runs(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return text !== '' && text.slice(text.lastIndexOf(')') + 2)[0] !== 'Z'
}

/** What a shell makes of a text that a person copied from the screen. */
function shell(text: string, folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child: ChildProcess = spawn('/bin/sh', ['-c', text], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    out += part
  })
  return new Promise((resolve) => child.on('close', () => resolve(out)))
}

const curlIn = (banner: string): string => /^ *(curl -s [^\n]*\\\n[^\n]*)$/m.exec(banner)?.[1] ?? 'echo no curl printed'

describe('tollgate demo', () => {
  test('holds all nine steps, exits with 0, and leaves nothing behind', { timeout: 120_000 }, async () => {
    const { folder, env } = await home()
    const { said, ended } = start(['demo'], folder, env)
    expect([await ended, said.err]).toEqual([{ code: 0, signal: null }, ''])
    expect(said.out.match(/^\[\d\/9\] /gm)?.length).toBe(9)
    expect(said.out).toMatch(/All 9 steps held, in \d+\.\d s\./)
    expect(said.out).not.toContain('FAILED')
    expect(said.out).not.toMatch(/eyJ[\w-]{20}/)
    const left = (await readdir(folder)).filter((name) => name.startsWith('tollgate-'))
    expect(left).toEqual([])
  })

  test('takes no notice of a gateway that is configured here', { timeout: 120_000 }, async () => {
    const { folder, env } = await home({ TOLLGATE_CONFIG: './nothing.json', TOLLGATE_DATA: './own', HOST: '0.0.0.0' })
    const { said, ended } = start(['demo'], folder, env)
    expect([(await ended).code, said.err]).toEqual([0, ''])
    await expect(access(join(folder, 'own'))).rejects.toThrow(/ENOENT/)
  })
})

describe('tollgate serve', () => {
  test('prints what comes next, and what it prints works as it stands', async () => {
    const { folder, port, env } = await home()
    const { said } = await serve(folder, env)
    const key = join(folder, '.tollgate', 'admin-key')
    expect(said.out).toContain(`http://127.0.0.1:${port}/mcp`)
    expect(said.out).toContain(`http://127.0.0.1:${port}/inbox`)
    expect(said.out).toContain(key)
    expect((await stat(key)).mode & 0o077).toBe(0)
    expect(said.out + said.err).not.toContain((await readFile(key, 'utf8')).trim())
    const add = `claude mcp add --transport http gateway http://127.0.0.1:${port}/mcp --header 'Authorization: Bearer \${GATEWAY_TOKEN}'`
    expect(said.out).toContain(add)

    const issued = JSON.parse(await shell(curlIn(said.out), folder, env))
    const listed = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${issued.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    expect(await listed.json()).toMatchObject({ result: { tools: [{ name: 'harness__permission_prompt' }] } })
  })

  test('prints a curl that works from a folder with spaces, and with a key from the environment', async () => {
    const { folder, ...made } = await home({ TOLLGATE_DATA: './my data' })
    const env = { ...made.env, ...(await prepared(join(folder, 'my data'))) }
    const first = await serve(folder, env)
    expect(JSON.parse(await shell(curlIn(first.said.out), folder, env)).token).toMatch(/^eyJ/)
    first.child.kill('SIGTERM')
    await first.ended
    const own = { ...env, TOLLGATE_ADMIN_KEY: 'a-key-of-the-operator-long-enough-to-hold' }
    const second = await serve(folder, own)
    expect(JSON.parse(await shell(curlIn(second.said.out), folder, own)).token).toMatch(/^eyJ/)
  })

  test.runIf(process.platform === 'linux')(
    'ends with 0 soon after SIGTERM, with an upstream and open streams, and no child is left',
    async () => {
      const { folder, port, ...made } = await home({ TOLLGATE_CONFIG: './config.json' })
      const env = { ...made.env, ...(await prepared(join(folder, '.tollgate'))) }
      const files = { command: process.execPath, args: [FILES, folder], tools: { 'read_*': 'read' } }
      await writeFile(join(folder, 'config.json'), JSON.stringify({ mcpServers: { files } }))
      const { child, said, ended } = await serve(folder, env)
      expect(said.out).toMatch(/files: \d+ tools/)
      const { token } = JSON.parse(await shell(curlIn(said.out), folder, env))
      const stream = await listen(port, token)
      const below = await childrenOf(child.pid!)
      expect(below.length).toBeGreaterThan(0)
      const asked = performance.now()
      child.kill('SIGTERM')
      expect(await ended).toEqual({ code: 0, signal: null })
      expect(performance.now() - asked).toBeLessThan(5_000)
      await stream.ended
      const left = async () => (await Promise.all(below.map(runs))).filter(Boolean).length
      expect(await until(async () => (await left()) === 0, 3_000)).toBe(true)
    },
  )

  test.each([
    ['a file that is not there', { TOLLGATE_CONFIG: './nothing.json' }, undefined, /nothing\.json/],
    ['a port that is none', { PORT: 'eighty' }, undefined, /PORT must be a whole number from 0 to 65535\./],
    ['text that is no JSON', { TOLLGATE_CONFIG: './config.json' }, '{"mcpServers": {', /config\.json/],
    [
      'an access that is none',
      { TOLLGATE_CONFIG: './config.json' },
      '{"mcpServers":{"a":{"command":"true","tools":{"x":"rite"}}}}',
      /an access is read, write or spend\./,
    ],
    [
      'a variable nobody set',
      { TOLLGATE_CONFIG: './config.json' },
      `{"mcpServers":{"a":{"command":"true","env":{"X":"$\{NOT_SET_ANYWHERE}"}}}}`,
      /NOT_SET_ANYWHERE/,
    ],
  ])('does not start on %s, and says what mends it', async (_what, more, config, sentence) => {
    const { folder, env } = await home(more)
    if (config !== undefined) await writeFile(join(folder, 'config.json'), config)
    const { said, ended } = start(['serve'], folder, env)
    expect([(await ended).code, said.out]).toEqual([1, ''])
    expect(said.err).toMatch(sentence)
    expect(said.err).not.toMatch(/^ +at /m)
    await expect(access(join(folder, '.tollgate'))).rejects.toThrow(/ENOENT/)
  })

  test('says so when its port is in use', async () => {
    const { folder, port, ...made } = await home()
    const env = { ...made.env, ...(await prepared(join(folder, '.tollgate'))) }
    const squatter = createServer().listen(port, '127.0.0.1')
    onTestFinished(() => void squatter.close())
    const { said, ended } = start(['serve'], folder, env)
    expect([(await ended).code, said.out]).toEqual([1, ''])
    expect(said.err).toContain(`Port ${port} is in use. Set PORT to another one, or stop what listens there.`)
  })
})

/** Opens a legacy stream of notices. `ended`: what came over it until it ended. */
async function listen(port: number, token: string): Promise<{ ended: Promise<string> }> {
  const url = `http://127.0.0.1:${port}/mcp`
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const hello = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  const session = hello.headers.get('mcp-session-id') ?? ''
  await hello.text()
  const response = await fetch(url, { headers: { ...headers, 'mcp-session-id': session } })
  expect(response.status).toBe(200)
  return { ended: response.text() }
}
