/**
 * The one door to drizzle: its CommonJS build. Loaded as ES modules (some 120 files) it leaves 100 MiB more resident for
 * the life of the process.
 * @module
 */
import { createRequire } from 'node:module'

export type { ExtractTablesWithRelations, SQL } from 'drizzle-orm'
export type { AnyPgColumn, PgDatabase, PgQueryResultHKT, PgUpdateSetSource } from 'drizzle-orm/pg-core'

const load = createRequire(import.meta.url)
const main = load('drizzle-orm') as typeof import('drizzle-orm')
const core = load('drizzle-orm/pg-core') as typeof import('drizzle-orm/pg-core')
const driver = load('drizzle-orm/postgres-js') as typeof import('drizzle-orm/postgres-js')

export const { and, asc, count, desc, eq, getTableColumns, gt, inArray, isNotNull, isNull, lt, lte, ne, or, sql } = main
export const { bigint, boolean, integer, numeric, pgTable, primaryKey, text, timestamp, uuid } = core
export const { drizzle } = driver
