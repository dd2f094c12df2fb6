/**
 * A loopback proxy that adds one header to every request, for clients that cannot send it themselves. Host and Origin
 * pass as they came, and bodies stream both ways.
 * @module
 */
import { createServer, request } from 'node:http'

/** Starts the proxy in front of `origin` on this port of 127.0.0.1. */
export async function startProxy(own: number, origin: string, authorization: string): Promise<{ close(): void }> {
  const { hostname, port } = new URL(origin)
  const server = createServer((req, res) => {
    const { method, url: path } = req
    const onward = request({ hostname, port, method, path, headers: { ...req.headers, authorization } }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      // An open stream of events has headers long before it has a body.
      res.flushHeaders()
      answer.on('error', () => res.destroy())
      answer.pipe(res)
    })
    onward.on('error', () => res.destroy())
    res.on('close', () => onward.destroy())
    req.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve))
  return {
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
