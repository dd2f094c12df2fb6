/**
 * A command line and the REST API it talks to, on a port of its own.
 * @module
 */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { runCli } from '../../src/cli/program.ts'
import { ADMIN_KEY, createWorld as createApiWorld, type World as ApiWorld } from '../http/api-world.ts'

/** What one command did. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface RunOptions {
  readonly env?: Record<string, string>
  readonly terminal?: boolean
  /** Ends a command that would go on for ever. */
  readonly signal?: AbortSignal
  /** Told of each line as it is printed. */
  readonly heard?: (text: string) => void
}

/** Runs a command line in this process, with nothing of its environment but `env`. */
export async function run(
  args: readonly string[],
  { env = {}, terminal = false, signal, heard }: RunOptions = {},
): Promise<Ran> {
  let out = ''
  let err = ''
  const code = await runCli(args, {
    env,
    ...(signal === undefined ? {} : { signal }),
    stdout: {
      isTTY: terminal,
      write(text) {
        out += text
        heard?.(text)
      },
    },
    stderr: {
      write(text) {
        err += text
      },
    },
  })
  return { code, out, err }
}

export interface World {
  readonly api: ApiWorld
  readonly url: string
  /** Runs a command against this gateway, as its operator. */
  cli(...args: string[]): Promise<Ran>
  /** Goes away, connections and all, and comes back at the same address. */
  restart(): Promise<void>
  /** The same at a terminal. */
  typed(...args: string[]): Promise<Ran>
  close(): Promise<void>
}

/** Starts the API. */
export async function createWorld(): Promise<World> {
  const api = await createApiWorld()
  const fetch = (request: Request, bindings: object) =>
    api.request(new URL(request.url).pathname + new URL(request.url).search, request as RequestInit, bindings)
  const start = (at: number) =>
    new Promise<{ server: ReturnType<typeof serve>; port: number }>((resolve) => {
      const started = serve({ fetch, port: at, hostname: '127.0.0.1' }, (info: AddressInfo) =>
        resolve({ server: started, port: info.port }),
      )
    })
  let { server, port } = await start(0)
  const stop = async () => {
    const stopped = new Promise((resolve) => server.close(resolve))
    ;(server as Server).closeAllConnections()
    await stopped
  }
  const url = `http://127.0.0.1:${port}`
  const env = { TOLLGATE_URL: url, TOLLGATE_ADMIN_KEY: ADMIN_KEY }
  return {
    api,
    url,
    cli: (...args) => run(args, { env }),
    typed: (...args) => run(args, { env, terminal: true }),
    async restart() {
      await stop()
      ;({ server, port } = await start(port))
    },
    async close() {
      await stop()
      await api.close()
    },
  }
}
