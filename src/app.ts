/**
 * The composition root: the core, the doors over it, and their end. Only here rooms are joined.
 * @module
 */
// Before any schema is made: it lets each describe itself in the OpenAPI document.
import '@hono/zod-openapi'
import type { Server } from 'node:http'
import type { Logger } from 'pino'
import type { Config } from './config/config.ts'
import { HARNESS } from './gate/harness-tools.ts'
import { createCore } from './app/core.ts'
import { createDoors } from './app/doors.ts'

export interface App {
  readonly server: Server
  readonly database: 'pglite' | 'postgres'
  /** Waits until every configured upstream is ready or has failed once, up to `ms`. */
  settled(ms: number): Promise<void>
  /** What each configured upstream is doing. */
  upstreams(): readonly {
    readonly slug: string
    readonly state: string
    readonly detail: string
    readonly tools: number
  }[]
  close(): Promise<void>
}

/** Builds the gateway. Throws with a sentence when the database or the keys are not to be had. */
export async function createApp(config: Config, log: Logger): Promise<App> {
  const core = await createCore(config, log)
  const { db, registry, streams, closing } = core
  const server = createDoors(config, log, core)
  return {
    server,
    database: db.kind,
    async settled(ms) {
      const busy = (): boolean =>
        config.servers.length > 0 && registry.all().some((connector) => connector.state().state === 'connecting')
      const until = performance.now() + ms
      while (busy() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 25))
    },
    upstreams: () =>
      registry
        .all()
        .filter(({ slug }) => slug !== HARNESS)
        .map((connector) => ({
          slug: connector.slug,
          ...connector.state(),
          tools: connector.tools().length,
        })),
    async close() {
      streams.close()
      closing.abort()
      await closeServer(server)
      await core.close()
    },
  }
}

/** Stops taking connections, lets calls in flight end for a while, then cuts what is left. */
async function closeServer(server: Server, graceMs = 20_000): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // A connection that is busy now would stay open after its answer, and bring the next call.
  server.prependListener('request', (_req, res) => res.setHeader('connection', 'close'))
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(sweep)
  clearTimeout(timer)
}
