/**
 * What is measured: each target in processes of its own, how it is called, and how it is stopped.
 * @module
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Door } from './client.ts'
import type { Accounts } from './load.ts'
import { residentKib, tree } from './proc.ts'
import { createProcesses, freePort, type Program } from './processes.ts'
import { mint } from './programs/token.ts'

/** `calls` and `modern` are called, `opening` has 10 tools to list, `wide` 500. */
export type DoorName = 'calls' | 'modern' | 'opening' | 'wide'

export interface Target {
  readonly name: string
  readonly accounts: Accounts
  readonly doors: Readonly<Partial<Record<DoorName, Door>>>
  /** As many tokens as asked for, each of its own session where the target can tell callers apart. */
  tokens(count: number): Promise<(string | undefined)[]>
  /** Resident memory after a full garbage collection, in KiB. */
  memory(): Promise<number>
}

export interface Stage {
  direct(): Promise<Target>
  floor(): Promise<Target>
  naive(): Promise<Target>
  tollgate(database: 'PostgreSQL' | 'PGlite'): Promise<Target>
  /** One more process of the gateway on PostgreSQL, which must run: it issues the tokens of this one. */
  replica(): Promise<Target>
  /** Stops every process and removes every file. */
  strike(): Promise<void>
}

const ADMIN_KEY = 'bench-admin-key-that-is-long-enough'
const SECRET = 'bench-secret-that-is-long-enough-for-anyone'

/** The PostgreSQL server, and the public URL of the gateways on it. */
interface Database {
  readonly url: string
  readonly pid: number
  readonly publicUrl: string
}

/**
 * Prepares the stage: a folder for all files, and the one upstream that stands behind every target.
 * `gatewayArguments` are Node's, for the gateway's own processes.
 */
export async function setStage(gatewayArguments: readonly string[] = []): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  // PostgreSQL may run as another user, who has to get through to its own folder.
  chmodSync(folder, 0o711)
  const { run, stop } = createProcesses(folder)
  const strike = async (): Promise<void> => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
  const upstream = await run('upstream').catch(async (problem) => {
    await strike()
    throw problem
  })
  const origin: string = upstream.facts.origin
  let database: Promise<Database> | undefined
  const configFile = join(folder, 'config.json')
  writeFileSync(configFile, configOf(origin))

  function target(name: string, program: Program, more: Pick<Target, 'doors' | 'tokens'>, database?: number): Target {
    return {
      name,
      accounts: { target: program.pid, database },
      async memory() {
        await program.collect()
        return residentKib(tree(program.pid))
      },
      ...more,
    }
  }

  async function compared(name: 'floor' | 'naive', modern: boolean): Promise<Target> {
    const program = await run(name, { upstream: origin, secret: SECRET })
    const token = await mint(SECRET)
    const tokens = (count: number) => Promise.resolve(Array.from({ length: count }, () => token))
    return target(name, program, { doors: upstreamDoors(program.facts.origin, token, modern), tokens })
  }

  async function postgres(): Promise<Database> {
    const { facts, pid } = await run('postgres', { folder: join(folder, 'cluster'), port: await freePort() })
    return { url: facts.url, pid, publicUrl: `http://127.0.0.1:${await freePort()}` }
  }

  /** Starts a gateway; one on PostgreSQL has its tokens from the process that listens on the public URL. */
  async function gateway(name: string, port: number, server: Database | undefined): Promise<Target> {
    const at = `http://127.0.0.1:${port}`
    const publicUrl = server?.publicUrl ?? at
    const env = {
      PORT: String(port),
      TOLLGATE_PUBLIC_URL: publicUrl,
      TOLLGATE_DATA: join(folder, name),
      TOLLGATE_CONFIG: configFile,
      TOLLGATE_ADMIN_KEY: ADMIN_KEY,
      TOLLGATE_SECRET: SECRET,
      ...(server === undefined ? {} : { DATABASE_URL: server.url }),
    }
    const program = await run('tollgate', {}, env, gatewayArguments)
    const tokens = (count: number) => issue(publicUrl, count)
    const [token] = await tokens(1)
    const doors = {
      calls: { url: new URL('/mcp', at), era: 'legacy', tool: 'bench__tool_0', token },
      modern: { url: new URL('/mcp', at), era: 'modern', tool: 'modern__tool_0', token },
      opening: { url: new URL('/mcp/bench', at), era: 'legacy', tool: 'tool_0', token },
      wide: { url: new URL('/mcp/wide', at), era: 'legacy', tool: 'tool_0', token },
    } as const
    return target(name, program, { doors, tokens }, server?.pid)
  }

  return {
    direct: async () =>
      target('direct', upstream, {
        doors: upstreamDoors(origin, undefined, true),
        tokens: (count) => Promise.resolve(Array.from({ length: count }, () => undefined)),
      }),
    floor: () => compared('floor', true),
    naive: () => compared('naive', false),

    async tollgate(kind) {
      if (kind === 'PGlite') return gateway('tollgate on PGlite', await freePort(), undefined)
      database ??= postgres()
      const server = await database
      return gateway('tollgate on PostgreSQL', Number(new URL(server.publicUrl).port), server)
    },
    async replica() {
      return gateway('tollgate', await freePort(), await database)
    },
    strike,
  }
}

/** A configuration with the upstream's three doors as connectors, whose tools are plain reads. */
function configOf(origin: string): string {
  const server = (path: string) => ({ type: 'http', url: `${origin}${path}`, tools: { '*': 'read' } })
  return JSON.stringify({ mcpServers: { bench: server('/mcp'), wide: server('/wide'), modern: server('/modern') } })
}

/** Doors of a target that has the upstream's own paths. */
function upstreamDoors(at: string, token: string | undefined, modern: boolean): Target['doors'] {
  const calls = { url: new URL('/mcp', at), era: 'legacy', tool: 'tool_0', token } as const
  return {
    calls,
    opening: calls,
    wide: { ...calls, url: new URL('/wide', at) },
    ...(modern ? { modern: { ...calls, url: new URL('/modern', at), era: 'modern' } } : {}),
  }
}

/** Issues session tokens as a host app does, a few at a time. */
async function issue(origin: string, count: number): Promise<string[]> {
  const tokens: string[] = []
  async function one(index: number): Promise<void> {
    const answer = await fetch(`${origin}/v1/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
      body: '{"role":"person-chat"}',
    })
    const text = await answer.text()
    if (answer.status !== 201) throw new Error(`POST /v1/sessions: HTTP ${answer.status} ${text.slice(0, 500)}`)
    tokens[index] = JSON.parse(text).token
  }
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await one(next++)
  }
  await Promise.all(Array.from({ length: Math.min(count, 8) }, worker))
  return tokens
}
