/**
 * One drizzle over both databases: it speaks to a single function that asks a question and gives rows.
 * So results look the same on PGlite and PostgreSQL, and no error carries parameters.
 * @module
 */
import { type ExtractTablesWithRelations, type PgDatabase, type PgQueryResultHKT, drizzle } from './drizzle.ts'
import type { Sql } from 'postgres'
import { asDatabaseError, DatabaseUnavailable } from './errors.ts'

type NoSchema = Record<string, never>

/** What queries are written against: select, insert, update, delete and ``execute(sql`…`)``. */
export type Orm = PgDatabase<PgQueryResultHKT, NoSchema, ExtractTablesWithRelations<NoSchema>>

/** The same inside a transaction. A query that failed in there fails the whole transaction, caught or not. */
export type Tx = Orm

/** Rows as objects by column, or as arrays in column order. */
export type Shape = 'objects' | 'arrays'

/** Asks one statement. Throws DatabaseRefused or DatabaseUnavailable. */
export type Ask = (text: string, parameters: unknown[], shape: Shape) => Promise<unknown[]>

/**
 * The rows of `orm.execute(…)`. bigint, numeric and timestamptz arrive as text on both databases;
 * cast them in the statement where a number is wanted. Give arrays as `sql.param(list)` with a cast; return JSON instead.
 */
export function rows<T>(result: unknown): T[] {
  return result as T[]
}

/** OIDs of bigint, numeric, date, time and the timestamps: left as text, drizzle's columns read them. */
export const LEFT_AS_TEXT = [20, 1700, 1082, 1083, 1114, 1184, 1186] as const

/** A drizzle database that sends every statement to `ask`. */
export function ormOn(ask: Ask): Orm {
  const client = {
    options: { parsers: {}, serializers: {} },
    unsafe(text: string, parameters: unknown[] = []) {
      let shape: Shape = 'objects'
      // drizzle says which shape it wants by calling values() on what it gets, in the same breath.
      const answer = Promise.resolve().then(() => ask(text, parameters, shape))
      const values = () => {
        shape = 'arrays'
        return answer
      }
      return Object.assign(answer, { values })
    },
    begin: () => Promise.reject(new Error('Use Database.transaction; a transaction does not nest.')),
    savepoint: () => Promise.reject(new Error('Use Database.transaction; a transaction does not nest.')),
  }
  return bareErrors(drizzle(client as unknown as Sql) as unknown as Orm)
}

/** drizzle wraps errors in one whose message lists the parameters, sealed or not: here they stay as `ask` threw them. */
function bareErrors(orm: Orm): Orm {
  const { session } = orm._
  const prepare = session.prepareQuery.bind(session)
  const queryWithCache = (_text: string, _parameters: unknown[], query: () => Promise<unknown>) => query()
  session.prepareQuery = (...query) => Object.assign(prepare(...query), { queryWithCache })
  return orm
}

/**
 * Runs `work` as one transaction on a connection that is this caller's alone. Throws what `work` threw, after a
 * rollback. A commit that went unanswered throws DatabaseUnavailable: whether it took place is unknown.
 */
export async function inTransaction<T>(ask: Ask, work: (tx: Tx) => Promise<T>): Promise<T> {
  let ended = false
  let failure: { error: unknown } | undefined
  const guarded: Ask = async (text, parameters, shape) => {
    // A query nobody awaited must not run later, outside the transaction or inside somebody else's.
    if (ended) throw new Error('The transaction this query belongs to has ended: await every query inside it.')
    if (failure?.error instanceof DatabaseUnavailable) throw failure.error
    try {
      return await ask(text, parameters, shape)
    } catch (error) {
      failure ??= { error: asDatabaseError(error) }
      throw failure.error
    }
  }
  await ask('begin', [], 'arrays')
  try {
    const result = await work(ormOn(guarded))
    // PostgreSQL answers the commit of a failed transaction with a silent rollback, so a caught error is thrown here.
    if (failure !== undefined) throw failure.error
    ended = true
    await ask('commit', [], 'arrays')
    return result
  } catch (error) {
    if (!ended && !(failure?.error instanceof DatabaseUnavailable)) await ask('rollback', [], 'arrays').catch(() => {})
    ended = true
    throw error
  }
}
