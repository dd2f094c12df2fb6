/**
 * A look into the gateway's own tables from outside, and locks that hold its transactions.
 * @module
 */
import postgres from 'postgres'
import type { Seen } from './ledgers.ts'

export interface Observer {
  readonly sql: postgres.Sql
  /** Indexes for the looks below, which the gateway itself has no use for. */
  prepare(): Promise<void>
  /** What is committed about the call right now; undefined when the database does not answer. */
  look(n: number): Promise<Seen | undefined>
  /** The open card of a call is locked until `release`; `blocked` resolves once a gateway waits for it, or after `ms`. */
  holdCard(n: number): Promise<Hold>
  /** No row can be recorded until `release`, so no move commits. */
  holdRecord(): Promise<Hold>
  close(): Promise<void>
}

export interface Hold {
  blocked(ms: number): Promise<boolean>
  release(): Promise<void>
}

/** Arguments of a call as its card shows them. */
export const argumentsOf = (n: number): string => JSON.stringify({ n })

/** Opens connections of its own. */
export function createObserver(url: string): Observer {
  const sql = postgres(url, { max: 6, onnotice: () => {}, fetch_types: false, connect_timeout: 2 })

  async function hold(lock: (tx: postgres.ReservedSql) => Promise<unknown>): Promise<Hold> {
    const tx = await sql.reserve()
    await tx`begin`
    const [own] = await tx`select pg_backend_pid() as pid`
    await lock(tx)
    return {
      async blocked(ms) {
        for (const until = performance.now() + ms; performance.now() < until; ) {
          const [seen] = await sql`select count(*)::int as count from pg_stat_activity
            where ${own!.pid}::int = any(pg_blocking_pids(pid))`
          if (seen!.count > 0) return true
        }
        return false
      },
      async release() {
        await tx`rollback`
        tx.release()
      },
    }
  }

  return {
    sql,
    async prepare() {
      await sql`create index chaos_cards on cards (md5(arguments))`
      await sql`create index chaos_audit on audit (card)`
    },
    async look(n) {
      const text = argumentsOf(n)
      const looked = sql`select
          count(*) filter (where status = 'running')::int as running,
          coalesce(sum((select count(*) from audit where card = cards.id::text
            and kind = 'card.decided' and code = 'ok')), 0)::int as approvals,
          coalesce(sum((select count(*) from audit where card = cards.id::text
            and kind = 'call.started')), 0)::int as started
        from cards where md5(arguments) = md5(${text}) and arguments = ${text}`
      const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 1_000))
      const found = await Promise.race([looked.catch(() => undefined), late])
      return found?.[0] as Seen | undefined
    },
    holdCard: (n) => hold((tx) => tx`select from cards where md5(arguments) = md5(${argumentsOf(n)}) for update`),
    holdRecord: () => hold((tx) => tx`lock table audit in share mode`),
    close: () => sql.end({ timeout: 1 }),
  }
}
