/**
 * Approve to run: from a person's click (`POST /v1/approvals/:id/approve`) until the upstream has the call, with the
 * caller waiting on the gateway that is clicked at, or on the other replica. Beside it, in turn and in the same process:
 * a call posted to the upstream directly, and a notice from one connection of the database to another.
 * @module
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { ADMIN_KEY, type Doors, doorsOf, SECRET } from '../support/replica.ts'
import { startUpstream } from '../support/upstream.ts'
import { createProcesses, freePort } from './processes.ts'

/** Milliseconds, by what was measured, in the order of the report. */
export type Approvals = ReadonlyMap<string, readonly number[]>

export interface ApprovePace {
  readonly rounds: number
  readonly perRound: number
}

/** The base of the ratios. */
export const DIRECT = 'a call posted to the upstream'

/** A call that was just parked is left alone so long, as a person would. */
const SETTLED_MS = 15
const PATIENCE_MS = 15_000

/** Starts what it needs, measures lane by lane, and stops it all. */
export async function measureApprovals({ rounds, perRound }: ApprovePace): Promise<Approvals> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-approve-'))
  chmodSync(folder, 0o711)
  const { run, stop } = createProcesses(folder)
  const arrivals = new Map<number, (at: number) => void>()
  const act = (call: { args: Record<string, unknown>; text(text: string): void }): void => {
    arrivals.get(Number(call.args.n))?.(performance.now())
    call.text('done')
  }
  const upstream = await startUpstream({ behaviours: { act } })
  let sql: postgres.Sql | undefined
  let next = 0

  /** When the upstream gets the next call, which `send` is told the number of. */
  function arrival(): { n: number; at: Promise<number> } {
    const n = next++
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const late = setTimeout(() => reject(new Error('A call did not reach the upstream.')), PATIENCE_MS)
    arrivals.set(n, resolve)
    return { n, at: promise.finally(() => clearTimeout(late)) }
  }

  try {
    const { facts } = await run('postgres', { folder: join(folder, 'cluster'), port: await freePort() })
    const configFile = join(folder, 'config.json')
    writeFileSync(configFile, JSON.stringify({ mcpServers: { up: { type: 'http', url: upstream.url } } }))
    const ports = [await freePort(), await freePort()] as const
    const gateways: Doors[] = []
    for (const port of ports) {
      const env = {
        PORT: String(port),
        TOLLGATE_PUBLIC_URL: `http://127.0.0.1:${ports[0]}`,
        TOLLGATE_DATA: join(folder, String(port)),
        TOLLGATE_CONFIG: configFile,
        TOLLGATE_ADMIN_KEY: ADMIN_KEY,
        TOLLGATE_SECRET: SECRET,
        DATABASE_URL: facts.url,
      }
      await run('tollgate', {}, env)
      gateways.push(doorsOf(`http://127.0.0.1:${port}`))
    }
    sql = postgres(facts.url, { max: 2, onnotice: () => {} })
    const heard = await hear(sql)
    const [one, other] = gateways as [Doors, Doors]
    const { token } = await one.issue()

    async function approved(at: Doors): Promise<number> {
      const { n, at: reached } = arrival()
      const parked = heard.card()
      const answer = one.call(token, 'up__act', { n })
      const id = await parked
      await new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
      const clicked = performance.now()
      const decided = at.api('POST', `/v1/approvals/${id}/approve`, {})
      const took = (await reached) - clicked
      const { status, text } = await decided
      if (status !== 200 || (await answer).status !== 200) throw new Error(`An approval was answered ${status} ${text}`)
      return took
    }

    const lanes: [string, () => Promise<number>][] = [
      [DIRECT, () => direct(upstream.url, arrival())],
      ['a notice of the database', () => heard.notice()],
      ['click to upstream, one replica', () => approved(one)],
      ['click to upstream, caller on the other replica', () => approved(other)],
    ]
    const took = new Map(lanes.map(([name]) => [name, [] as number[]]))
    for (let round = -1; round < rounds; round++) {
      for (const [name, sample] of lanes) {
        for (let i = 0; i < perRound; i++) {
          const ms = await sample()
          // The first round warms up.
          if (round >= 0) took.get(name)?.push(ms)
        }
      }
    }
    return took
  } finally {
    await sql?.end({ timeout: 1 })
    await stop()
    await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function direct(url: string, { n, at }: { n: number; at: Promise<number> }): Promise<number> {
  const params = { name: 'act', arguments: { n } }
  const sent = performance.now()
  const answer = fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params }),
  })
  const took = (await at) - sent
  await (await answer).text()
  return took
}

interface Hearing {
  /** The id of the next card that is parked. */
  card(): Promise<string>
  /** How long a notice takes, in milliseconds. */
  notice(): Promise<number>
}

async function hear(sql: postgres.Sql): Promise<Hearing> {
  let parked: ((id: string) => void) | undefined
  let noticed: ((at: number) => void) | undefined
  await sql.listen('tollgate', (payload) => {
    const { kind, id, status } = JSON.parse(payload)
    if (kind === 'card' && status === 'pending') parked?.(id)
  })
  await sql.listen('bench', () => noticed?.(performance.now()))
  return {
    card: () =>
      new Promise((resolve) => {
        parked = resolve
      }),
    async notice() {
      const at = new Promise<number>((resolve) => {
        noticed = resolve
      })
      const sent = performance.now()
      await sql`select pg_notify('bench', '')`
      return (await at) - sent
    },
  }
}
