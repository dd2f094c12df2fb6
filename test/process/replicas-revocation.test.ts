/** A session revoked on one gateway is dead on the other within a second (reliability A8). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { barePostgres } from '../support/database.ts'
import { eventually, pause, type Replica, startTwo } from '../support/replica.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const SESSIONS = 100
const BITES_MS = 1_000

let upstream: Upstream
let database: { url: string; close(): Promise<void> }
let a: Replica
let b: Replica

beforeAll(async () => {
  upstream = await startUpstream()
  database = await barePostgres()
  const tools = { '*': 'read', increment: 'write' }
  const mcpServers = { up: { type: 'http', url: upstream.url, tools } }
  ;[a, b] = await startTwo({ databaseUrl: database.url, mcpServers })
}, 120_000)
afterAll(async () => {
  await Promise.all([a?.close(), b?.close()])
  await upstream?.close()
  await database?.close()
})

interface Caller {
  readonly id: string
  readonly token: string
  readonly n: number
  /** When the answer to the revocation came, by this machine's clock, which is PostgreSQL's too. */
  revokedAt: number
  /** Answers that came, by status, to calls sent later than a second after that. */
  late: number[]
  sent: number
}

test(`of ${SESSIONS} sessions revoked under running calls none is let in a second later, on either gateway`, async () => {
  const callers: Caller[] = []
  for (let n = 0; n < SESSIONS; n++) {
    callers.push({ ...(await (n % 2 ? a : b).issue()), n, revokedAt: Number.POSITIVE_INFINITY, late: [], sent: 0 })
  }
  let going = true
  const running = callers.map(async (caller) => {
    await pause((caller.n * 400) / SESSIONS)
    while (going) {
      const turn = caller.sent++
      const from = Date.now()
      const answer = await (turn % 2 ? a : b).call(caller.token, 'up__echo', { caller: caller.n, turn })
      if (from > caller.revokedAt + BITES_MS) caller.late.push(answer.status)
      await pause(400)
    }
  })
  await eventually(() => callers.every(({ sent }) => sent >= 3), Boolean, 20_000)

  for (const caller of callers) {
    const { status, text } = await (caller.n % 3 ? a : b).api('DELETE', `/v1/sessions/${caller.id}`)
    caller.revokedAt = Date.now()
    expect(status, text).toBe(200)
    await pause(15)
  }
  await pause(BITES_MS + 1_200)
  going = false
  await Promise.all(running)

  const lags = upstream.ledger.flatMap(({ argumentsText, at }) => {
    const caller = callers[JSON.parse(argumentsText ?? '{}').caller]
    return caller !== undefined && at > caller.revokedAt ? [at - caller.revokedAt] : []
  })
  const worst = Math.max(0, ...lags)
  console.log(`calls admitted after the revocation was answered: ${lags.length}, the last after ${worst} ms`)
  expect(worst).toBeLessThanOrEqual(BITES_MS)
  const late = callers.flatMap((caller) => caller.late)
  expect(late.length).toBeGreaterThan(SESSIONS)
  expect(new Set(late)).toEqual(new Set([401]))
}, 90_000)

test('the open streams of a revoked session end on both gateways, and other streams stay', async () => {
  const [doomed, other] = [await a.issue(), await a.issue()]
  const ended = (replica: Replica, token: string) => {
    const state = { open: false, ended: 0 }
    const abort = new AbortController()
    const heard = listen(replica, token, abort.signal, () => (state.open = true))
    void heard.then(() => (state.ended = Date.now())).catch(() => {})
    return { state, abort }
  }
  const doomedOnes = [a, b, a, b].map((replica) => ended(replica, doomed.token))
  const others = [a, b].map((replica) => ended(replica, other.token))
  await eventually(() => [...doomedOnes, ...others].every(({ state }) => state.open), Boolean)
  await b.api('DELETE', `/v1/sessions/${doomed.id}`)
  const at = Date.now()
  await eventually(() => doomedOnes.every(({ state }) => state.ended > 0), Boolean)
  for (const { state } of doomedOnes) expect(state.ended - at).toBeLessThanOrEqual(BITES_MS)
  expect(others.map(({ state }) => state.ended)).toEqual([0, 0])
  for (const { abort } of others) abort.abort()
})

test('a card of a revoked session never runs, whoever approves it, and its waiting caller is told', async () => {
  const { id, token } = await a.issue()
  const held = a.call(token, 'up__increment', { n: 'revoked' })
  const list = () => b.api('GET', `/v1/approvals?sessionId=${id}`)
  const { body } = await eventually(list, ({ body }) => body.items.length === 1)
  const card = body.items[0].id
  await b.api('DELETE', `/v1/sessions/${id}`)
  await b.api('POST', `/v1/approvals/${card}/approve`, {})
  const { answer } = await held
  expect(answer.result.isError).toBe(true)
  expect(JSON.stringify(answer)).toContain('session_revoked')
  const after = await eventually(
    () => a.api('GET', `/v1/approvals/${card}`),
    ({ body }) => body.status !== 'approved',
  )
  expect(after.body).toMatchObject({ status: 'failed', outcome: { code: 'session_revoked' } })
  expect(upstream.ledger.some(({ tool }) => tool === 'increment')).toBe(false)
})

test('a session that has ended is as dead as a revoked one', async () => {
  const { id, token } = await a.issue()
  expect((await b.call(token, 'up__echo')).status).toBe(200)
  expect((await a.api('POST', `/v1/sessions/${id}/end`, { usd: '0.25' })).status).toBe(200)
  await pause(BITES_MS)
  for (const replica of [a, b]) expect((await replica.call(token, 'up__echo')).status).toBe(401)
})

/** Holds a stream of notices open; resolves when the gateway ends it. */
async function listen(replica: Replica, token: string, signal: AbortSignal, opened: () => void): Promise<void> {
  const response = await fetch(`${replica.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 's',
      method: 'subscriptions/listen',
      params: {
        notifications: { toolsListChanged: true },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
    signal,
  })
  for await (const _part of response.body!) opened()
}
