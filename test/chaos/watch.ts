/**
 * Watches during a run that nothing is stuck: no card runs on past its lease, no approved card is left lying.
 * @module
 */
import { pause } from '../support/replica.ts'
import type { Deployment } from './deployment.ts'

export interface Watch {
  /** The longest that a card was seen past its lease, and approved without having been claimed, in milliseconds. */
  stop(): Promise<{ overdue: number; lying: number }>
}

/** A gateway that just started has a moment to look round. */
const SETTLED_MS = 5_000

/** From here on it is said at once, with what the gateways last wrote. */
const TELLING_MS = 5_000

const logs = (replicas: Deployment['replicas']): string =>
  replicas
    .map((replica) => `${replica.name}: ${replica.output().trim().split('\n').slice(-4).join('\n   ')}`)
    .join('\n')

/** Looks twice a second, while some gateway has been up for a while and the database answers. */
export function watchStuck({ replicas, observer }: Deployment, say: (line: string) => void): Watch {
  const worst = { overdue: 0, lying: 0 }
  const told = { overdue: TELLING_MS / 2, lying: TELLING_MS / 2 }
  let going = true
  async function watch(): Promise<void> {
    while (going) {
      await pause(500)
      const up = replicas.some(({ upSince }) => upSince !== undefined && performance.now() - upSince > SETTLED_MS)
      if (!up) continue
      const rows = await observer.sql`select
          coalesce(max(extract(epoch from now() - lease_until) * 1000) filter (where status = 'running'), 0)::float8
            as overdue,
          coalesce(max(extract(epoch from now() - decided_at) * 1000) filter (where status = 'approved'), 0)::float8
            as lying
        from cards where status in ('running', 'approved')`.catch(() => [])
      for (const what of ['overdue', 'lying'] as const) {
        const ms = rows[0]?.[what] ?? 0
        if (ms > told[what] * 2) {
          told[what] = ms
          say(`${what} for ${Math.round(ms)} ms\n${logs(replicas)}`)
        }
      }
      worst.overdue = Math.max(worst.overdue, rows[0]?.overdue ?? 0)
      worst.lying = Math.max(worst.lying, rows[0]?.lying ?? 0)
    }
  }
  const watching = watch()
  return {
    async stop() {
      going = false
      await watching
      return worst
    },
  }
}
