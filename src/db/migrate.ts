/**
 * Brings the database to the state this program was written for: plain SQL files, numbered, each applied once.
 * @module
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from './drizzle.ts'
import type { Database } from './connect.ts'
import { rows } from './orm.ts'

/** The database and the program do not fit; the message says how to mend it. */
export class MigrationRefused extends Error {
  override name = 'MigrationRefused'
}

interface Migration {
  readonly name: string
  readonly text: string
  readonly sha256: string
}

/** Any number will do, as long as nothing else in the database uses it: the letters 'tollgate' as bits. */
const LOCK = 0x746f6c6c

/** The folder migrations/ of the package this module is part of, whether it runs from src/ or from dist/. */
export function migrationsFolder(): string {
  for (let folder = import.meta.dirname; ; folder = path.dirname(folder)) {
    const found = path.join(folder, 'migrations')
    if (existsSync(found)) return found
    if (folder === path.dirname(folder))
      throw new MigrationRefused('The folder migrations/ is missing: install Tollgate again.')
  }
}

/**
 * Applies what is missing, in order, each file in a transaction of its own, and answers with the names it applied.
 * Any number of processes may do this at once. Refuses (MigrationRefused) a file that was edited after it was applied,
 * and a database that a newer program has migrated.
 */
export async function migrate(db: Database, folder = migrationsFolder()): Promise<string[]> {
  const migrations = readMigrations(folder)
  const applied: string[] = []
  // One file per turn of the lock: the loop ends when the first look under the lock finds nothing left.
  for (;;) {
    const name = await applyNext(db, migrations)
    if (name === undefined) return applied
    applied.push(name)
  }
}

function readMigrations(folder: string): Migration[] {
  const names = readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
  return names.map((name) => {
    const text = readFileSync(path.join(folder, name), 'utf8')
    return { name, text, sha256: createHash('sha256').update(text).digest('hex') }
  })
}

function applyNext(db: Database, migrations: readonly Migration[]): Promise<string | undefined> {
  return db.unhurried(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${sql.raw(String(LOCK))})`)
    await tx.execute(sql`create table if not exists migrations (
      name text primary key, sha256 text not null, applied_at timestamptz not null default now())`)
    const done = rows<{ name: string; sha256: string }>(await tx.execute(sql`select name, sha256 from migrations`))
    const next = pending(migrations, done)
    if (next === undefined) return undefined
    await tx.execute(sql.raw(next.text))
    await tx.execute(sql`insert into migrations (name, sha256) values (${next.name}, ${next.sha256})`)
    return next.name
  })
}

/** The first file not applied yet, once all that was applied is known to be what this program has. */
function pending(migrations: readonly Migration[], done: ReadonlyArray<{ name: string; sha256: string }>) {
  for (const { name, sha256 } of done) {
    const known = migrations.find((migration) => migration.name === name)
    if (known === undefined) {
      throw new MigrationRefused(
        `The database has the migration ${name}, which this program does not know: a newer Tollgate was here. Run that version or a later one.`,
      )
    }
    if (known.sha256 !== sha256) {
      throw new MigrationRefused(
        `The file migrations/${name} was edited after it was applied to this database. Restore the file, and put the change into a new one.`,
      )
    }
  }
  return migrations.find(({ name }) => !done.some((migration) => migration.name === name))
}
