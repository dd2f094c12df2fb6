import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createWarden } from '../../src/connector/mcp/warden.ts'
import { alive, openWorld, until } from '../support/stdio-world.ts'

const GATEWAY = join(import.meta.dirname, '../support/stdio-gateway.ts')

/** A gateway-like process with children; resolves once all of them answered. */
async function startGateway(count: number, mode: 'stay' | 'close', args: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-life-'))
  const ledger = join(folder, 'ledger')
  const gateway = spawn(process.execPath, [GATEWAY, String(count), mode, '--ledger', ledger, ...args], {
    // Left open by whoever starts it: 40, with nothing below but 3.
    stdio: ['ignore', 'pipe', 'inherit', ...Array(37).fill('ignore'), 1],
  })
  onTestFinished(() => {
    gateway.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  })
  const ended = new Promise<void>((resolve) => void gateway.once('exit', () => resolve()))
  let said = ''
  await new Promise<void>((resolve, reject) => {
    gateway.stdout!.on('data', (chunk) => {
      said += chunk
      if (said.endsWith('ready\n')) resolve()
    })
    gateway.once('exit', () => reject(new Error('The gateway process ended before it was ready.')))
  })
  const lines = readFileSync(ledger, 'utf8').split('\n').filter(Boolean)
  const noted: Array<{ pid: number; event: string; child?: number }> = lines.map((line) => JSON.parse(line))
  const children = noted.filter(({ event }) => event === 'start').map(({ pid }) => pid)
  const grandchildren = noted.flatMap(({ child }) => (child === undefined ? [] : [child]))
  return { gateway, said, ended, children, grandchildren, all: [...children, ...grandchildren] }
}

const allGone = (pids: readonly number[]) => pids.every((pid) => !alive(pid))

/** The shells that `parent` started in a session of their own. */
function wardensOf(parent: ChildProcess): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const [, ppid, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        const isShell = readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith('/bin/sh\0-c')
        return Number(ppid) === parent.pid && session === name && isShell
      } catch {
        return false
      }
    })
    .map(Number)
}

describe('stdio upstreams', () => {
  test('that ignore SIGTERM are gone within 10 s of the close, grandchildren too', async () => {
    const world = openWorld(['--ignore-term'])
    const child = Number(await world.say('whoami'))
    const grandchild = Number(await world.say('grandchild'))
    expect([alive(child), alive(grandchild)]).toEqual([true, true])
    const asked = Date.now()
    await world.wire.close()
    expect(Date.now() - asked).toBeLessThan(10_000)
    expect(await until(() => allGone([child, grandchild]), 500)).toBe(true)
    expect(world.ledger().map(({ event }) => event)).toEqual(expect.arrayContaining(['input ended', 'signal']))
  })

  test('that end by themselves take their grandchildren with them', async () => {
    const world = openWorld()
    const grandchild = Number(await world.say('grandchild'))
    const { problem } = await world.call('exit', { code: 1 }).ended
    expect(problem?.reason).toBe('The process ended with exit code 1.')
    expect(await until(() => !alive(grandchild), 2_000)).toBe(true)
  })

  test('that listen to the end of their input are closed at once', async () => {
    const world = openWorld()
    await world.say('whoami')
    const asked = Date.now()
    await world.wire.close()
    expect(Date.now() - asked).toBeLessThan(1_000)
    expect(world.ledger().some(({ event }) => event === 'signal')).toBe(false)
  })

  test('are gone, with grandchildren, when the gateway is killed', async () => {
    const { gateway, ended, all } = await startGateway(3, 'stay', ['--ignore-term', '--grandchild'])
    expect(all.length).toBe(6)
    expect(all.every(alive)).toBe(true)
    const [warden] = wardensOf(gateway)
    gateway.kill('SIGKILL')
    await ended
    expect(await until(() => allGone(all), 10_000)).toBe(true)
    if (warden !== undefined) expect(await until(() => !alive(warden), 3_000)).toBe(true)
  })

  test('open and close 60 times and leave nobody', async () => {
    const { ended, children, all } = await startGateway(60, 'close', ['--grandchild'])
    expect(children.length).toBe(60)
    await ended
    expect(await until(() => allGone(all), 3_000)).toBe(true)
  })
})

test.runIf(process.platform === 'linux')(
  'a stdio upstream gets none of the descriptors the gateway was started with',
  async () => {
    const { said, gateway, children } = await startGateway(1, 'stay')
    const answer = JSON.parse(said.split('\n')[0]!)
    const open: Array<[number, string]> = JSON.parse(answer.result.content[0].text)
    expect(open.map(([fd]) => fd)).toEqual(expect.arrayContaining([0, 1, 2]))
    expect(open.map(([fd]) => fd)).not.toContain(40)
    // What is left above 2 the child's own Node opened: polls, wake-ups, its own pipes and null device.
    const foreign = open.filter(([fd, to]) => fd > 2 && !/^(anon_inode|pipe):|^\/dev\/null$/.test(to))
    expect(foreign).toEqual([])
    gateway.kill('SIGKILL')
    expect(await until(() => allGone(children), 5_000)).toBe(true)
  },
)

describe.runIf(process.platform === 'linux')('the warden', () => {
  test('is one shell for many children, deaf to SIGTERM, and started again when it dies', async () => {
    const { gateway, ended, all } = await startGateway(3, 'stay', ['--ignore-term', '--grandchild'])
    const [first, ...others] = wardensOf(gateway)
    expect(others).toEqual([])
    process.kill(first!, 'SIGTERM')
    process.kill(first!, 'SIGINT')
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(wardensOf(gateway)).toEqual([first])
    process.kill(first!, 'SIGKILL')
    expect(await until(() => wardensOf(gateway).some((pid) => pid !== first), 5_000)).toBe(true)
    expect(all.every(alive)).toBe(true)
    gateway.kill('SIGKILL')
    await ended
    expect(await until(() => allGone(all), 10_000)).toBe(true)
  })

  test('knows nothing of the environment, and leaves a forgotten group alone', async () => {
    const log = { info() {}, warn() {} }
    const warden = createWarden({ log })
    const start = () => spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
    const [watched, forgotten] = [start(), start()]
    onTestFinished(() => void forgotten.kill('SIGKILL'))
    warden.watch(watched.pid!)
    warden.watch(forgotten.pid!)
    warden.forget(forgotten.pid!)
    const own = wardensOf({ pid: process.pid } as ChildProcess)
    expect(own.length).toBe(1)
    expect(readFileSync(`/proc/${own[0]}/environ`, 'utf8')).not.toMatch(/HOME|SECRET|DATABASE/)
    warden.close()
    expect(await until(() => watched.signalCode === 'SIGTERM', 2_000)).toBe(true)
    expect(alive(forgotten.pid!)).toBe(true)
    expect(await until(() => !alive(own[0]!), 2_000)).toBe(true)
  })
})
