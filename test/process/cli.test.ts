/** The program as an operator runs it: served in one process, used from others. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../support/gateway.ts'

const CLI = join(import.meta.dirname, '../../src/cli.ts')

let folder: string
let env: NodeJS.ProcessEnv
let gateway: ChildProcess
let banner = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-cli-'))
  const data = join(folder, 'data')
  env = {
    PATH: process.env.PATH,
    HOME: folder,
    PORT: String(await freePort()),
    TOLLGATE_DATA: data,
    TOLLGATE_LOG: 'silent',
  }
  gateway = spawn(process.execPath, [CLI, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve, reject) => {
    gateway.on('exit', (code) => reject(new Error(`serve ended with ${code}`)))
    gateway.stdout?.setEncoding('utf8').on('data', (text: string) => {
      banner += text
      if (banner.includes('claude mcp add')) resolve()
    })
  })
}, 120_000)

afterAll(async () => {
  gateway.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** Runs one command to its end. */
function cli(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
    })
    child.on('close', (code) => resolve({ code, out, err }))
  })
}

it('serve says where everything is', () => {
  expect(banner).toContain(`http://127.0.0.1:${env.PORT}/mcp`)
  expect(banner).toContain(join(folder, 'data', 'admin-key'))
  expect(banner).toContain('curl -s')
})

it('a token for a script is one line, and opens the MCP door', async () => {
  const { code, out } = await cli('token', '--role', 'goal-agent')
  expect(code).toBe(0)
  const response = await fetch(`http://127.0.0.1:${env.PORT}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${out.trim()}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  expect(response.status).toBe(200)
})

it('commands find the key of the data folder and the port by themselves', async () => {
  const { code, out } = await cli('sessions', '--json')
  expect([code, JSON.parse(out).items.length]).toEqual([0, 1])
})

it('a command that fails exits with 1 and one sentence', async () => {
  const { code, out, err } = await cli('approve', 'nothing')
  expect([code, out, err]).toEqual([1, '', 'tollgate: There is no card "nothing"; GET /v1/approvals lists them.\n'])
})

it('cards --watch goes on until Ctrl-C, which is no failure', async () => {
  const child = spawn(process.execPath, [CLI, 'cards', '--watch'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve([code, signal, err])))
  const early = await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 3_000, 'watching'))])
  expect(early).toBe('watching')
  child.kill('SIGINT')
  expect(await ended).toEqual([0, null, ''])
})

it('a second gateway on the same folder refuses to start, and says why', async () => {
  const { code, out, err } = await cli('serve')
  expect([code, out]).toEqual([1, ''])
  expect(err).toMatch(/^tollgate: .*\n$/)
})

it('SIGTERM ends it cleanly', async () => {
  const ended = new Promise((resolve) => gateway.on('exit', (code, signal) => resolve([code, signal])))
  gateway.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})
