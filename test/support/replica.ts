/**
 * A gateway in a process of its own, as an operator runs it: on a given database, to be signalled, killed and started
 * again. Replicas of one deployment share database, secret, admin key and public URL.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, headerText, readAnswer, type RpcAnswer, type RpcOptions } from './gateway.ts'

const CLI = join(import.meta.dirname, '../../src/cli.ts')
export const ADMIN_KEY = 'replica-admin-key-that-is-long-enough'
export const SECRET = 'replica-secret-that-is-long-enough-for-anyone'

/** The front doors of a gateway at a URL. */
export interface Doors {
  readonly url: string
  /** REST as the operator. */
  api(method: string, path: string, body?: unknown): Promise<{ status: number; body: any; text: string }>
  /** Issues a session. */
  issue(request?: Record<string, unknown>): Promise<{ id: string; token: string }>
  /** One JSON-RPC request in the legacy era, without an MCP session. */
  rpc(token: string, method: string, params?: Record<string, unknown>, options?: RpcOptions): Promise<RpcAnswer>
  /** One JSON-RPC request in the modern era. */
  modern(token: string, method: string, params?: Record<string, unknown>, options?: RpcOptions): Promise<RpcAnswer>
  /** One legacy `tools/call`. */
  call(token: string, name: string, args?: object, options?: RpcOptions): Promise<RpcAnswer>
}

export interface Replica extends Doors {
  /** Of the process that runs now. */
  pid(): number
  /** All that every process of this replica wrote so far. */
  output(): string
  /** Sends a signal; resolves at once. */
  signal(name: NodeJS.Signals): void
  /** Sends a signal and waits for the end: the exit code, or the name of the signal. */
  end(name: NodeJS.Signals): Promise<number | string>
  /** Starts it, on the same port and settings; resolves when it and its upstreams are ready. */
  start(): Promise<void>
  /** Kills what is left and removes its files. */
  close(): Promise<void>
}

export interface ReplicaOptions {
  readonly databaseUrl: string
  readonly mcpServers?: Record<string, unknown>
  /** More of the configuration file. */
  readonly settings?: Record<string, unknown>
  readonly env?: Record<string, string>
  /** Address in the tokens (default: the replica's own). */
  readonly publicUrl?: string
  /** Wait for every upstream to be ready (default true). */
  readonly settle?: boolean
}

const started = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of started) child.kill('SIGKILL')
})

/** Starts one replica. Close it when the test is over. */
export async function startReplica(options: ReplicaOptions): Promise<Replica> {
  const { databaseUrl, mcpServers = {}, settle = true } = options
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-replica-'))
  const configFile = join(folder, 'config.json')
  writeFileSync(configFile, JSON.stringify({ mcpServers, ...options.settings }))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const doors = doorsOf(url)
  let child: ChildProcess | undefined
  let gone: Promise<number | string> = Promise.resolve(0)
  let output = ''

  async function start(): Promise<void> {
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      PORT: String(port),
      TOLLGATE_DATA: join(folder, 'data'),
      TOLLGATE_CONFIG: configFile,
      TOLLGATE_ADMIN_KEY: ADMIN_KEY,
      TOLLGATE_SECRET: SECRET,
      TOLLGATE_PUBLIC_URL: options.publicUrl ?? url,
      DATABASE_URL: databaseUrl,
      ...options.env,
    }
    const own = spawn(process.execPath, [CLI, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    child = own
    started.add(own)
    for (const stream of [own.stdout, own.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    gone = new Promise((resolve) =>
      own.once('close', (code, signal) => {
        started.delete(own)
        resolve(signal ?? code ?? -1)
      }),
    )
    await ready(own)
  }

  async function ready(own: ChildProcess): Promise<void> {
    const until = Date.now() + 90_000
    for (;;) {
      if (own.exitCode !== null) throw new Error(`The replica ended with ${own.exitCode}: ${output}`)
      if (Date.now() > until) throw new Error(`The replica was not ready in time: ${output}`)
      if (await isReady().catch(() => false)) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async function isReady(): Promise<boolean> {
    if ((await fetch(`${url}/readyz`)).status !== 200) return false
    if (!settle) return true
    const { body } = await doors.api('GET', '/v1/connectors')
    return body.items.every(({ state }: { state: string }) => state === 'ready')
  }

  const replica: Replica = {
    ...doors,
    pid: () => child?.pid ?? -1,
    output: () => output,
    signal: (name) => void child?.kill(name),
    end(name) {
      child?.kill(name)
      return gone
    },
    start,
    async close() {
      child?.kill('SIGKILL')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await start().catch(async (problem: unknown) => {
    await replica.close()
    throw problem
  })
  return replica
}

/** Starts the two replicas of one deployment, both at once. */
export async function startTwo(options: Omit<ReplicaOptions, 'publicUrl'>): Promise<[Replica, Replica]> {
  const shared = { ...options, publicUrl: 'http://127.0.0.1:8787' }
  const both = await Promise.allSettled([startReplica(shared), startReplica(shared)])
  const failed = both.find((one) => one.status === 'rejected')
  if (failed !== undefined) {
    for (const one of both) if (one.status === 'fulfilled') await one.value.close()
    throw failed.reason
  }
  return both.map((one) => (one as PromiseFulfilledResult<Replica>).value) as [Replica, Replica]
}

/** The doors at a URL. */
export function doorsOf(url: string): Doors {
  async function post(token: string, message: object, headers: Record<string, string>, options: RpcOptions) {
    const response = await fetch(`${url}${options.path ?? '/mcp'}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
        ...options.headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: options.id ?? 1, ...message }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
    return readAnswer(response)
  }
  const doors: Doors = {
    url,
    async api(method, path, body) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${ADMIN_KEY}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
    },
    async issue(request = { role: 'person-chat', approval: { channel: 'inbox' } }) {
      const { status, body, text } = await doors.api('POST', '/v1/sessions', request)
      if (status !== 201) throw new Error(`issuing failed: ${status} ${text}`)
      return body
    },
    rpc: (token, method, params = {}, options = {}) => post(token, { method, params }, {}, options),
    modern(token, method, params = {}, options = {}) {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
        ...options.meta,
      }
      const named = typeof params.name === 'string' ? { 'mcp-name': headerText(params.name) } : {}
      const mirrored = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named }
      return post(token, { method, params: { ...params, _meta } }, mirrored, options)
    },
    call: (token, name, args = {}, options = {}) => doors.rpc(token, 'tools/call', { name, arguments: args }, options),
  }
  return doors
}

/** What the gateway said about a call, in its own `_meta`. */
export function decisionOf(answer: RpcAnswer): { code?: string; card?: { id: string; status: string } } {
  return answer.answer?.result?._meta?.['dev.tollgate/decision'] ?? {}
}

/** The first text of a result that came from an upstream; undefined for what the gateway answers itself. */
export function textOf(answer: RpcAnswer): string | undefined {
  return decisionOf(answer).code === undefined ? answer.answer?.result?.content?.[0]?.text : undefined
}

/** Asks again and again until it is so; the last answer. Throws after `ms`. */
export async function eventually<T>(ask: () => Promise<T> | T, isSo: (seen: T) => unknown, ms = 5_000): Promise<T> {
  const until = performance.now() + ms
  for (;;) {
    const seen = await ask()
    if (isSo(seen)) return seen
    if (performance.now() > until) throw new Error(`Not so within ${ms} ms; last seen: ${JSON.stringify(seen)}`)
    await pause(30)
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
