/**
 * Opens the database: PostgreSQL where a URL is given, else PGlite in the data folder.
 * @module
 */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { createEars, type DbEvent, type Ear } from './events.ts'
import { keepListening } from './listen.ts'
import { lockFolder } from './lock.ts'
import type { Log } from './log.ts'
import { inTransaction, type Orm, ormOn, type Tx } from './orm.ts'
import { engineOn } from './pglite.ts'
import { createPool, type PoolOptions } from './pool.ts'

export type { DbEvent } from './events.ts'
export { type Orm, rows, type Tx } from './orm.ts'

export interface Database {
  readonly kind: 'pglite' | 'postgres'
  /** Single statements. Throws DatabaseRefused, or DatabaseUnavailable when no answer comes within the limit. */
  readonly orm: Orm
  /** All or nothing. Inside, use `tx` only, await every query, and never wait for a network or a person. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** A transaction without time limits, on a connection of its own: for migrations. */
  unhurried<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Hears what replicas tell each other (events.ts). The result stops it. */
  listen(heard: (event: DbEvent) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

export interface ConnectOptions {
  /** PostgreSQL: a direct or session-pooled connection, since notifications need one. */
  readonly url?: string | undefined
  /** Where PGlite keeps its files (in the folder `database` inside) when there is no URL. */
  readonly folder: string
  readonly log: Log
  /** Longest wait for one answer from PostgreSQL. */
  readonly limitMs?: number
  /** Most connections to PostgreSQL, beside one that listens. */
  readonly size?: number
}

/** Opens the database. PostgreSQL is first spoken to by the first query; PGlite is opened here (FolderInUse when taken). */
export async function connect({ url, folder, log, limitMs = 2000, size = 10 }: ConnectOptions): Promise<Database> {
  if (url !== undefined) return onPostgres({ url, limitMs, size }, log)
  const place = path.join(folder, 'database')
  mkdirSync(place, { recursive: true, mode: 0o700 })
  const unlock = await lockFolder(place)
  try {
    const { PGlite } = await import('@electric-sql/pglite')
    const pglite = await PGlite.create(place)
    return onPglite(pglite, log, async () => {
      await pglite.close()
      await unlock()
    })
  } catch (error) {
    await unlock()
    throw error
  }
}

function onPostgres(options: PoolOptions, log: Log): Database {
  const pool = createPool(options)
  const ears = createEars((error) => log.error({ reason: String(error) }, 'A listener of database events failed.'))
  let listening: Promise<{ close(): void }> | undefined
  const stop = async () => {
    const listener = listening
    listening = undefined
    if (listener !== undefined) (await listener).close()
  }
  return {
    kind: 'postgres',
    orm: ormOn(pool.ask),
    transaction: (work) => pool.lend((connection) => inTransaction(connection.ask, work)),
    async unhurried(work) {
      const patient = createPool({ ...options, size: 1, limitMs: 0 })
      try {
        return await patient.lend((connection) => inTransaction(connection.ask, work))
      } finally {
        await patient.close()
      }
    },
    async listen(heard) {
      if (listening === undefined) {
        const first = ears.add(heard)
        listening = keepListening(options, ears, log)
        await listening
        return () => leave(first)
      }
      await listening
      const ear = ears.add(heard)
      ear.tell({ kind: 'listening' })
      return () => leave(ear)
    },
    async close() {
      ears.clear()
      await stop()
      await pool.close()
    },
  }

  async function leave(ear: Ear): Promise<void> {
    ear.remove()
    if (ears.size() === 0) await stop()
  }
}

/** A database on an open PGlite. `end` closes it, once all that is running has ended. */
export function onPglite(pglite: PGlite, log: Log, end: () => Promise<void>): Database {
  const engine = engineOn(pglite)
  const ears = createEars((error) => log.error({ reason: String(error) }, 'A listener of database events failed.'))
  let hearing: Promise<() => Promise<void>> | undefined
  return {
    kind: 'pglite',
    orm: engine.orm,
    transaction: engine.transaction,
    unhurried: engine.transaction,
    async listen(heard) {
      hearing ??= engine.hear(ears)
      await hearing
      const ear = ears.add(heard)
      ear.tell({ kind: 'listening' })
      return async () => ear.remove()
    },
    async close() {
      ears.clear()
      await engine.last(async () => {
        await (await hearing)?.()
        await end()
      })
    },
  }
}
