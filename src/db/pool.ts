/**
 * Connections to PostgreSQL that never make a caller wait for a server that does not answer.
 * Each postgres.js client here holds one connection, so that a silent one can be dropped by itself, and so that a
 * connection lost inside a transaction is noticed rather than written to. (One shared client can do neither.)
 * @module
 */
import net from 'node:net'
import postgres from 'postgres'
import { asDatabaseError, DatabaseUnavailable, gaveUp } from './errors.ts'
import { type Ask, LEFT_AS_TEXT } from './orm.ts'

export interface PoolOptions {
  readonly url: string
  /** Most connections at once. */
  readonly size: number
  /** Longest wait for a connection, and for the answer to one statement; 0 for no limit. */
  readonly limitMs: number
}

/** One connection, connected at its first question. */
export interface Connection {
  readonly sql: postgres.Sql
  readonly ask: Ask
  /** True once the server or this side closed it: what it was in the middle of is gone. */
  lost(): boolean
  readonly bornAt: number
  /** Closes at once, whatever is going on. */
  drop(): void
}

export interface Pool {
  readonly ask: Ask
  /** Lends one connection to `work` alone. */
  lend<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

const MAX_AGE_MS = 30 * 60_000
const IDLE_SECONDS = 30

const silent = (limitMs: number) =>
  new DatabaseUnavailable(`The database did not answer within ${limitMs} ms. Check that it runs and is not overloaded.`)

/** Rejects with `error()` when the promise takes longer than `limitMs`; 0 waits for ever. */
export function within<T>(limitMs: number, promise: Promise<T>, error: () => Error): Promise<T> {
  if (limitMs === 0) return promise
  return new Promise((resolve, reject) => {
    // The turn through setImmediate reads the sockets once more: a busy event loop is not a silent server.
    const timer = setTimeout(() => setImmediate(() => reject(error())), limitMs)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Opens nothing yet. `heard` receives notifications, `closed` is told each time the connection ends. */
export function createConnection(
  { url, limitMs }: PoolOptions,
  { heard, closed }: { heard?: (payload: string) => void; closed?: () => void } = {},
): Connection {
  let lost = false
  let socket: net.Socket | undefined
  let attempts = 0
  const options = {
    max: 1,
    connect_timeout: limitMs / 1000,
    idle_timeout: heard === undefined ? IDLE_SECONDS : 0,
    max_lifetime: null,
    // Asking for the types of arrays ends the process when the connection is lost meanwhile: nobody awaits the answer.
    fetch_types: false,
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 0.5),
    connection: {
      application_name: 'tollgate',
      TimeZone: 'UTC',
      // A living server gives up before this side does, so that a limit reached here means a server that is not there.
      ...(limitMs > 0 && { statement_timeout: Math.ceil(limitMs * 0.75), idle_in_transaction_session_timeout: 10_000 }),
    },
    onnotice: () => {},
    onnotify: (_channel: string, payload: string) => heard?.(payload),
    onclose: () => {
      lost = true
      closed?.()
    },
    socket: (to: { path?: string | false; host: string[]; port: number[] }) => {
      const turn = attempts++ % to.host.length
      const host = to.host[turn] ?? 'localhost'
      socket = to.path ? net.connect(to.path) : net.connect(to.port[turn] ?? 5432, host)
      socket.setNoDelay(true)
      // postgres.js listens a moment later; an error before that must not end the process.
      socket.on('error', () => {})
      return Object.assign(socket, { host })
    },
  }
  // The published types leave out `onnotify` and `socket`.
  const sql = postgres(url, options as unknown as postgres.Options<Record<string, never>>)
  for (const oid of LEFT_AS_TEXT) {
    sql.options.parsers[oid] = (text: unknown) => text
    sql.options.serializers[oid] = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value))
  }
  const drop = () => {
    lost = true
    const last = socket
    // First postgres.js's own end, which may still write: over TLS, a socket destroyed under it ends the process.
    sql.end({ timeout: 0 }).finally(() => last?.on('error', () => {}).destroy())
  }
  const ask: Ask = async (text, parameters, shape) => {
    // postgres.js would connect anew, and the rest of a transaction would run outside of it.
    if (lost) throw new DatabaseUnavailable('The connection to the database was lost.')
    const query = sql.unsafe(text, parameters.map(arrayText) as never[], { prepare: parameters.length > 0 })
    try {
      return await within(limitMs, shape === 'arrays' ? query.values() : query, () => silent(limitMs))
    } catch (error) {
      const known = asDatabaseError(error)
      if (known instanceof DatabaseUnavailable && !gaveUp(error)) drop()
      throw known
    }
  }
  return { sql, ask, lost: () => lost, bornAt: Date.now(), drop }
}

/** Arrays as PostgreSQL writes them: postgres.js would need their types for that. */
function arrayText(parameter: unknown): unknown {
  if (!Array.isArray(parameter)) return parameter
  const items = parameter.map((item) => (item === null ? 'NULL' : `"${String(item).replace(/["\\]/g, '\\$&')}"`))
  return `{${items.join(',')}}`
}

/** A pool of such connections, lent one caller at a time, first come first served. */
export function createPool(options: PoolOptions): Pool {
  const idle: Connection[] = []
  const lent = new Set<Connection>()
  const waiting: Array<(connection: Connection) => void> = []
  let closing = false

  async function take(): Promise<Connection> {
    if (closing) throw new DatabaseUnavailable('The database connection of this process is closed.')
    if (lent.size < options.size) return lend(idle.pop() ?? createConnection(options))
    let mine: ((connection: Connection) => void) | undefined
    const turn = new Promise<Connection>((resolve) => {
      mine = resolve
      waiting.push(resolve)
    })
    return within(options.limitMs, turn, () => {
      waiting.splice(waiting.indexOf(mine!), 1)
      return new DatabaseUnavailable(`All ${options.size} database connections were busy for ${options.limitMs} ms.`)
    })
  }

  function lend(connection: Connection): Connection {
    lent.add(connection)
    return connection
  }

  function giveBack(connection: Connection): void {
    lent.delete(connection)
    const fresh = reusable(connection)
    const next = waiting.shift()
    if (next !== undefined) next(lend(fresh ?? createConnection(options)))
    else if (fresh !== undefined) idle.push(fresh)
  }

  /** A connection that was lost, or is old, is replaced: postgres.js could be left with half a message to send. */
  function reusable(connection: Connection): Connection | undefined {
    if (!closing && !connection.lost() && Date.now() - connection.bornAt < MAX_AGE_MS) return connection
    connection.drop()
    return undefined
  }

  const pool: Pool = {
    async lend(work) {
      let connection = await take()
      if (connection.lost()) {
        lent.delete(connection)
        connection.drop()
        connection = lend(createConnection(options))
      }
      try {
        return await work(connection)
      } finally {
        giveBack(connection)
      }
    },
    ask: (text, parameters, shape) => pool.lend((connection) => connection.ask(text, parameters, shape)),
    async close() {
      closing = true
      for (const connection of idle.splice(0)) connection.drop()
      const until = Date.now() + Math.max(options.limitMs, 1000)
      while (lent.size > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
      for (const connection of lent) connection.drop()
    },
  }
  return pool
}
