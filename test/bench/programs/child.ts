/**
 * What every process of the bench does: it says when it is ready, collects garbage when asked, and ends with the bench.
 * @module
 */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The variable that holds a program's parameters, as JSON. */
export const PARAMETERS = 'BENCH_PARAMETERS'

/** The parameters this program was started with. */
export function parameters<T>(): T {
  return JSON.parse(process.env[PARAMETERS] ?? '{}') as T
}

/** Tells the bench that this process serves, with what it must know; `stop` is run before the process ends. */
export function ready(facts: unknown, stop: () => Promise<unknown> | undefined = () => undefined): void {
  let ending = false
  const end = async (): Promise<void> => {
    if (ending) return
    ending = true
    await stop()
    process.exit(0)
  }
  // The channel closes when the bench ends, however it ends.
  process.on('disconnect', end)
  process.on('SIGTERM', end)
  process.on('SIGINT', () => {})
  process.on('message', (message) => {
    if (message !== 'collect') return
    for (let i = 0; i < 4; i++) global.gc?.()
    process.send?.({ collected: true })
  })
  process.send?.({ ready: facts })
}

/** Listens on a free port and tells the bench the origin. */
export function serveHttp(server: Server): void {
  server.keepAliveTimeout = 300_000
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
    ready({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  })
}
