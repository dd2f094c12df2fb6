/**
 * Two replicas on one database, with an upstream that keeps a ledger.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { PostgresServer } from '../support/postgres.ts'
import { type Replica, startReplica } from '../support/replica.ts'
import type { Upstream } from '../support/upstream.ts'
import { type Ledgers, openLedgers } from './ledgers.ts'
import { policiesIn } from './money.ts'
import { createObserver, type Observer } from './observer.ts'
import { createTraps, type Traps } from './traps.ts'
import { REPLICA, startLedgerUpstream } from './upstream.ts'

export interface Deployment {
  readonly folder: string
  readonly replicas: readonly [Member, Member]
  readonly upstream: Upstream
  readonly observer: Observer
  readonly ledgers: Ledgers
  readonly traps: Traps
  close(): Promise<void>
}

/** A replica, since when it has been serving (performance.now()), and every moment (Date.now()) at which it was killed. */
export interface Member extends Replica {
  readonly name: string
  upSince: number | undefined
  readonly killed: number[]
}

/** Both replicas name one public URL, so that a session of one is good on the other. */
const PUBLIC_URL = 'http://127.0.0.1:8787'

/** Starts one on a new database of the server. `env` goes to both gateways; `act` is what the tool is to them. */
export async function deploy(
  server: PostgresServer,
  name: string,
  env: Record<string, string>,
  act: unknown = 'write',
): Promise<Deployment> {
  const admin = postgres(`${server.url}/postgres`, { max: 1, onnotice: () => {}, fetch_types: false })
  await admin.unsafe(`create database ${name}`)
  await admin.end()
  const databaseUrl = `${server.url}/${name}`
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-chaos-'))
  const ledgers = openLedgers(folder)
  const traps = createTraps()
  let observer: Observer | undefined
  const upstream = await startLedgerUpstream(ledgers, traps, () => observer)
  const closers: (() => unknown)[] = [() => upstream.close()]
  async function close(): Promise<void> {
    for (const one of closers.reverse()) await one()
    ledgers.close()
    rmSync(folder, { recursive: true, force: true })
  }

  const more = { ...env, TOLLGATE_POLICIES: policiesIn(folder) }
  async function member(name: string): Promise<Member> {
    const tools = { '*': 'read', act }
    const mcpServers = { up: { type: 'http', url: upstream.url, headers: { [REPLICA]: name }, tools } }
    const replica = await startReplica({ databaseUrl, publicUrl: PUBLIC_URL, mcpServers, env: more })
    closers.push(() => replica.close())
    return Object.assign(replica, { name, upSince: performance.now(), killed: [] })
  }

  const both = await Promise.allSettled([member('a'), member('b')])
  const replicas = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])) as [Member, Member]
  if (replicas.length < 2) {
    await close()
    throw (both.find((one) => one.status === 'rejected') as PromiseRejectedResult).reason
  }
  observer = createObserver(databaseUrl)
  closers.push(() => observer?.close())
  await observer.prepare()
  return { folder, replicas, upstream, observer, ledgers, traps, close }
}

/** SIGKILL; resolves when it is gone. */
export async function kill(member: Member): Promise<void> {
  member.upSince = undefined
  await member.end('SIGKILL')
  member.killed.push(Date.now())
}

/** Starts it again and waits until it serves. */
export async function restart(member: Member): Promise<void> {
  await member.start()
  member.upSince = performance.now()
}
