/**
 * A receiver of webhooks on loopback: it writes down what it gets, checks signatures with the scheme's own library, and
 * answers as told, one answer after the other; the last one goes on.
 * @module
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

export interface Got {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A status, or whatever else a server can do. */
export type Answer = number | ((response: ServerResponse, got: Got) => void)

export interface Receiver {
  readonly url: string
  readonly got: Got[]
  /** Connections that were opened, asked something or not. */
  connections(): number
  /** What it answers from now on. */
  answers(...answers: Answer[]): void
  /** The data of a request, when its signature is right; throws as the library does. */
  verify(got: Got, secret: string): any
  close(): Promise<void>
}

/** Starts one; it answers 204. */
export async function startReceiver(): Promise<Receiver> {
  const got: Got[] = []
  let script: Answer[] = [204]
  let connections = 0
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body }
      got.push(one)
      const answer = script.length > 1 ? script.shift()! : script[0]!
      if (typeof answer === 'number') response.writeHead(answer).end()
      else answer(response, one)
    })
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    connections: () => connections,
    answers(...answers) {
      script = answers
    },
    verify: (one, secret) => new Webhook(secret).verify(one.body, one.headers as Record<string, string>),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
