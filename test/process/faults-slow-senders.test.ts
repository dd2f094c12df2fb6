/** Connections that trickle hold nothing up and are cut (reliability G1). */
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { barePostgres } from '../support/database.ts'
import { pause, type Replica, startReplica, textOf } from '../support/replica.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const TRICKLERS = 200
const CUT_MS = 25_000

let upstream: Upstream
let database: { url: string; close(): Promise<void> }
let gateway: Replica

beforeAll(async () => {
  upstream = await startUpstream()
  database = await barePostgres()
  const mcpServers = { up: { type: 'http', url: upstream.url, tools: { '*': 'read' } } }
  gateway = await startReplica({ databaseUrl: database.url, mcpServers })
}, 120_000)
afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
  await database?.close()
})

/** Sends the start at once and then a byte every second; how long until the gateway cut it, in milliseconds. */
function trickle(port: number, start: string, rest: string): Promise<number> {
  return new Promise((resolve) => {
    const from = performance.now()
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(start))
    let at = 0
    const timer = setInterval(() => socket.write(rest[at++ % rest.length]!), 1_000)
    const limit = setTimeout(() => socket.destroy(), CUT_MS + 5_000)
    socket.on('error', () => {})
    socket.resume()
    socket.on('close', () => {
      clearInterval(timer)
      clearTimeout(limit)
      resolve(performance.now() - from)
    })
  })
}

test(`${TRICKLERS} connections that trickle are cut, and no good call fails meanwhile`, async () => {
  const { token } = await gateway.issue()
  const port = Number(new URL(gateway.url).port)
  const host = `Host: 127.0.0.1:${port}\r\n`
  const auth = `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n`
  const starts: [string, string][] = [
    ['', 'POST /mcp HTTP/1.1'],
    [`POST /mcp HTTP/1.1\r\n${host}X-Slow: `, 'slow'],
    [`POST /mcp HTTP/1.1\r\n${host}${auth}Content-Length: 4000\r\n\r\n{"jsonrpc":"2.0","id":1,`, ' '],
    [`POST /mcp HTTP/1.1\r\n${host}${auth}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, '1\r\n \r\n'],
    [`POST /v1/sessions HTTP/1.1\r\n${host}Authorization: Bearer x\r\nContent-Length: 900\r\n\r\n{`, ' '],
  ]
  let going = true
  const bad: string[] = []
  const times: number[] = []
  const good = Array.from({ length: 4 }, async (_, n) => {
    while (going) {
      const from = performance.now()
      const answer = await gateway.call(token, 'up__echo', { n })
      times.push(performance.now() - from)
      if (textOf(answer) === undefined) bad.push(answer.text)
      await pause(100)
    }
  })
  const cut = await Promise.all(
    Array.from({ length: TRICKLERS }, (_, n) => trickle(port, ...starts[n % starts.length]!)),
  )
  going = false
  await Promise.all(good)
  times.sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)]!
  console.log(`cut within ${Math.round(Math.max(...cut))} ms; ${times.length} good calls, p99 ${Math.round(p99)} ms`)
  expect(bad).toEqual([])
  expect(times.length).toBeGreaterThan(20)
  expect(Math.max(...cut)).toBeLessThan(CUT_MS)
}, 60_000)
