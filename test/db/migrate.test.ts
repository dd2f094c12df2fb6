import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { is, sql, Table } from 'drizzle-orm'
import { getTableColumns, getTableName } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { rows } from '../../src/db/connect.ts'
import { MigrationRefused, migrate, migrationsFolder } from '../../src/db/migrate.ts'
import * as schema from '../../src/db/schema.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

let world: TestDatabase
let folder: string
beforeEach(async () => {
  world = await freshDatabase()
  folder = mkdtempSync(path.join(os.tmpdir(), 'tollgate-migrations-'))
  cpSync(migrationsFolder(), folder, { recursive: true })
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await world.close()
})

test('a migrated database has nothing left to do', async () => {
  expect(await migrate(world.db)).toEqual([])
})

test('a file edited after it was applied is refused', async () => {
  writeFileSync(path.join(folder, '0001_gateway.sql'), '-- other\nselect 1;\n')
  await expect(migrate(world.db, folder)).rejects.toThrow('migrations/0001_gateway.sql was edited')
})

test('a database that a newer program migrated is refused', async () => {
  await world.db.transaction(async (tx) => {
    await tx.insert(schema.migrations).values({ name: '9999_tomorrow.sql', sha256: 'x' })
  })
  try {
    await expect(migrate(world.db, folder)).rejects.toThrow(/9999_tomorrow\.sql.*newer Tollgate was here/)
  } finally {
    await world.db.orm.delete(schema.migrations).where(sql`name = '9999_tomorrow.sql'`)
  }
})

test('a file that fails leaves nothing of itself', async () => {
  writeFileSync(path.join(folder, '9000_broken.sql'), 'create table half (x int);\nselect nonsense;\n')
  await expect(migrate(world.db, folder)).rejects.toThrow('nonsense')
  const found = await world.db.orm.execute(sql`select 1 from pg_tables where tablename = 'half'`)
  expect(rows(found)).toEqual([])
  await expect(migrate(world.db)).resolves.toEqual([])
  expect(MigrationRefused.name).toBe('MigrationRefused')
})

test('the tables are those of the schema, column by column', async () => {
  const found = rows<{ t: string; c: string; optional: boolean }>(
    await world.db.orm.execute(sql`
      select table_name as t, column_name as c, is_nullable = 'YES' as optional from information_schema.columns
      where table_schema = 'public'`),
  )
  const tables = Object.values(schema).filter((value) => is(value, Table))
  const described = tables.flatMap((table) =>
    Object.values(getTableColumns(table)).map(({ name, notNull, primary }) => {
      return { t: getTableName(table), c: name, optional: !(notNull || primary) }
    }),
  )
  const sorted = (list: Array<{ t: string; c: string; optional: boolean }>) =>
    list.map(({ t, c, optional }) => `${t}.${c}${optional ? '?' : ''}`).sort()
  expect(sorted(found)).toEqual(sorted(described))
})
