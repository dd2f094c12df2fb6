/**
 * PostgreSQL inside this process (PGlite), for trying the product out: one connection, one process, no server.
 * @module
 */
import type { PGlite } from '@electric-sql/pglite'
import { asDatabaseError } from './errors.ts'
import { CHANNEL, type Ears, readEvent } from './events.ts'
import { type Ask, inTransaction, LEFT_AS_TEXT, type Orm, ormOn, type Tx } from './orm.ts'
import { createTurns } from './turns.ts'

interface Engine {
  readonly orm: Orm
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Tells the ears of notifications. The result stops it. */
  hear(ears: Ears): Promise<() => Promise<void>>
  /** Does `work`, such as closing, once all that is running has ended. */
  last(work: () => Promise<void>): Promise<void>
}

const parsers = Object.fromEntries(LEFT_AS_TEXT.map((oid) => [oid, (text: string) => text]))

/**
 * Queries on an open PGlite. Statements take turns: inside a transaction use only `tx`, since a query on `orm` would
 * wait for the transaction to end.
 */
export function engineOn(pglite: PGlite): Engine {
  // A transaction is begun and ended here rather than by PGlite, so that both databases follow the same rules;
  // the turn keeps other statements out of it.
  const alone = createTurns()
  const query: Ask = async (text, parameters, shape) => {
    try {
      const rowMode = shape === 'arrays' ? 'array' : 'object'
      if (parameters.length > 0) return (await pglite.query(text, parameters, { rowMode, parsers })).rows
      // Several statements in one text, as in a migration, are taken by exec only.
      return (await pglite.exec(text, { rowMode, parsers })).at(-1)?.rows ?? []
    } catch (error) {
      throw asDatabaseError(error)
    }
  }
  return {
    orm: ormOn((text, parameters, shape) => alone(() => query(text, parameters, shape))),
    transaction: (work) => alone(() => inTransaction(query, work)),
    hear: (ears) =>
      alone(() =>
        pglite.listen(CHANNEL, (payload) => {
          const event = readEvent(payload)
          if (event !== undefined) ears.tellAll(event)
        }),
      ),
    last: alone,
  }
}
