/**
 * A real PostgreSQL for tests: `startPostgres` gives a server that can be stopped, killed and started again; the default
 * export is vitest's global setup, which starts one for the whole run.
 * @module
 */
import { spawn } from 'node:child_process'
import path from 'node:path'
import readline from 'node:readline'

/** Where the server of the run is told to the workers. May also name a server that is there already. */
export const SERVER_URL = 'TOLLGATE_TEST_POSTGRES_URL'

export interface PostgresServer {
  /** Without a database name at the end. */
  readonly url: string
  /** Stops every process of the server in its tracks, as a hanging machine would. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** SIGKILL to the server and all its backends; resolves when all are gone. */
  kill(): Promise<void>
  /** Starts it again on the same port and data. */
  start(): Promise<void>
  /** Ends it and removes its files. */
  stop(): Promise<void>
}

export async function startPostgres(): Promise<PostgresServer> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'postgres-server.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  const answers = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  async function answer(): Promise<{ url?: string }> {
    const { value } = await answers.next()
    const said = JSON.parse(value ?? '{"error":"The PostgreSQL of the tests ended."}')
    if (said.error !== undefined) throw new Error(`PostgreSQL for the tests: ${said.error}`)
    return said
  }
  async function command(name: string): Promise<void> {
    child.stdin.write(`${name}\n`)
    await answer()
  }
  const { url } = await answer()
  return {
    url: url!,
    pause: () => command('pause'),
    resume: () => command('resume'),
    kill: () => command('kill'),
    start: () => command('start'),
    async stop() {
      child.stdin.end()
      await gone
    },
  }
}

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Two projects share one run, and so one server.
  if (process.env[SERVER_URL] !== undefined) return undefined
  const server = await startPostgres()
  process.env[SERVER_URL] = server.url
  return async () => {
    delete process.env[SERVER_URL]
    await server.stop()
  }
}
