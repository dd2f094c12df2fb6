/**
 * Throw-away databases for tests, migrated and empty. `freshDatabase` is PGlite in memory, or PostgreSQL when
 * TOLLGATE_TEST_DATABASE=postgres; `freshPostgres` is always PostgreSQL.
 * @module
 */
import { createHash, randomBytes } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import postgres from 'postgres'
import { connect, type Database, onPglite } from '../../src/db/connect.ts'
import type { Log } from '../../src/db/log.ts'
import { migrate, migrationsFolder } from '../../src/db/migrate.ts'
import { SERVER_URL, startPostgres } from './postgres.ts'

export interface TestDatabase {
  readonly db: Database
  /** Set on PostgreSQL. */
  readonly url?: string
  close(): Promise<void>
}

/** A log that keeps nothing. */
export const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** Whether this run tests on PostgreSQL. */
export const onPostgres = process.env.TOLLGATE_TEST_DATABASE === 'postgres'

/** A migrated, empty database. Close it in the test that opened it; the next call then reuses what it can. */
export function freshDatabase(): Promise<TestDatabase> {
  return onPostgres ? freshPostgres() : freshPglite()
}

/** Engines nobody uses now: loading one takes about a second, emptying its tables a few milliseconds. */
const spare: PGlite[] = []

async function freshPglite(): Promise<TestDatabase> {
  const pglite = spare.pop() ?? (await loadPglite())
  const db = onPglite(pglite, quiet, async () => {
    const { rows } = await pglite.query<{ tables: string }>(
      `select string_agg(quote_ident(tablename), ', ') as tables from pg_tables
       where schemaname = 'public' and tablename <> 'migrations'`,
    )
    await pglite.exec(`truncate ${rows[0]?.tables} restart identity cascade`)
    spare.push(pglite)
  })
  return { db, close: () => db.close() }
}

/** Making a database takes PGlite some seconds; copying a migrated one from a file takes half of one. */
async function loadPglite(): Promise<PGlite> {
  const file = path.join(os.tmpdir(), `tollgate-test-${migrationsHash()}-${process.getuid?.() ?? 0}.tar`)
  if (!existsSync(file)) {
    const pglite = await PGlite.create()
    const db = onPglite(pglite, quiet, () => pglite.close())
    await migrate(db)
    const dump = await pglite.dumpDataDir('none')
    await db.close()
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, Buffer.from(await dump.arrayBuffer()), { mode: 0o600 })
    renameSync(draft, file)
  }
  return PGlite.create({ loadDataDir: new Blob([readFileSync(file)]) })
}

function migrationsHash(): string {
  const hash = createHash('sha256').update(readFileSync(new URL('../../package-lock.json', import.meta.url)))
  const folder = migrationsFolder()
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(path.join(folder, name)))
  return hash.digest('hex').slice(0, 16)
}

/** A migrated, empty database on a real server: the run's own, or one started here when there is none. */
export async function freshPostgres(): Promise<Required<TestDatabase>> {
  const server = await serverUrl()
  const template = `template_${migrationsHash()}`
  const name = `test_${randomBytes(6).toString('hex')}`
  await asAdmin(server, async (sql) => {
    await makeTemplate(sql, server, template)
    await sql.unsafe(`create database ${name} template ${template}`)
  })
  const url = `${server}/${name}`
  const db = await connect({ url, folder: '', log: quiet })
  return {
    db,
    url,
    async close() {
      await db.close()
      await asAdmin(server, (sql) => sql.unsafe(`drop database if exists ${name} with (force)`))
    },
  }
}

/** An empty database that no migration has seen, on the same server. */
export async function barePostgres(): Promise<{ url: string; close(): Promise<void> }> {
  const server = await serverUrl()
  const name = `test_${randomBytes(6).toString('hex')}`
  await asAdmin(server, (sql) => sql.unsafe(`create database ${name}`))
  const close = async () => {
    await asAdmin(server, (sql) => sql.unsafe(`drop database if exists ${name} with (force)`))
  }
  return { url: `${server}/${name}`, close }
}

let own: Promise<string> | undefined

/** A server started here ends with this process, since its standard input does. */
function serverUrl(): Promise<string> {
  const shared = process.env[SERVER_URL]
  if (shared !== undefined) return Promise.resolve(shared)
  own ??= startPostgres().then((server) => server.url)
  return own
}

async function asAdmin<T>(server: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(`${server}/postgres`, { max: 1, onnotice: () => {}, fetch_types: false })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

/** Made once per server: a database is only named the template when all its tables are there. */
async function makeTemplate(sql: postgres.Sql, server: string, template: string): Promise<void> {
  await sql`select pg_advisory_lock(1)`
  try {
    const found = await sql`select 1 from pg_database where datname = ${template}`
    if (found.length > 0) return
    const draft = `${template}_draft`
    await sql.unsafe(`drop database if exists ${draft} with (force)`)
    await sql.unsafe(`create database ${draft}`)
    const db = await connect({ url: `${server}/${draft}`, folder: '', log: quiet })
    await migrate(db)
    await db.close()
    await waitUntilAlone(sql, draft)
    await sql.unsafe(`alter database ${draft} rename to ${template}`)
  } finally {
    await sql`select pg_advisory_unlock(1)`
  }
}

async function waitUntilAlone(sql: postgres.Sql, name: string): Promise<void> {
  while ((await sql`select 1 from pg_stat_activity where datname = ${name}`).length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/**
 * Where a gateway under test finds its database: a URL on PostgreSQL, or files in `data` that spare PGlite its first
 * start, which takes some seconds.
 */
export async function prepareDatabase(
  data: string,
  lasting: boolean,
): Promise<{ env: Record<string, string>; close(): Promise<void> }> {
  if (onPostgres) {
    const url = kept.get(data) ?? (await makePostgres())
    // A data folder of the test's own outlives a gateway, and so must the database that stands for it.
    if (lasting) kept.set(data, url)
    return { env: { DATABASE_URL: url }, close: () => (lasting ? Promise.resolve() : dropPostgres(url)) }
  }
  if (existsSync(path.join(data, 'database'))) return { env: {}, close: () => Promise.resolve() }
  const template = path.join(os.tmpdir(), `tollgate-test-${migrationsHash()}-${process.getuid?.() ?? 0}.folder`)
  if (!existsSync(template)) {
    const draft = `${template}.${process.pid}`
    const db = await connect({ folder: draft, log: quiet })
    await migrate(db)
    await db.close()
    if (!existsSync(template)) renameSync(draft, template)
  }
  cpSync(template, data, { recursive: true })
  return { env: {}, close: () => Promise.resolve() }
}

/** Databases that stand for data folders; they go with the server. */
const kept = new Map<string, string>()

async function makePostgres(): Promise<string> {
  const { db, url } = await freshPostgres()
  await db.close()
  return url
}

async function dropPostgres(url: string): Promise<void> {
  const name = url.slice(url.lastIndexOf('/') + 1)
  await asAdmin(await serverUrl(), (sql) => sql.unsafe(`drop database if exists ${name} with (force)`))
}
