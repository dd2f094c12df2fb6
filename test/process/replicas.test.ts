/** Two gateway processes on one PostgreSQL behave as one. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HELLO } from '../support/gateway.ts'
import { barePostgres } from '../support/database.ts'
import { decisionOf, eventually, pause, type Replica, startTwo, textOf } from '../support/replica.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let database: { url: string; close(): Promise<void> }
let a: Replica
let b: Replica

beforeAll(async () => {
  upstream = await startUpstream()
  database = await barePostgres()
  const tools = { '*': 'read', increment: 'write', slow: 'write' }
  const mcpServers = { up: { type: 'http', url: upstream.url, tools } }
  ;[a, b] = await startTwo({ databaseUrl: database.url, mcpServers })
}, 120_000)
afterAll(async () => {
  await Promise.all([a?.close(), b?.close()])
  await upstream?.close()
  await database?.close()
})

/** How often a tool ran with these arguments. */
const runs = (tool: string, args: object) =>
  upstream.ledger.filter((one) => one.tool === tool && one.argumentsText === JSON.stringify(args)).length

/** The one card of a session that waits for a person. */
async function pendingCard(replica: Replica, sessionId: string): Promise<{ id: string }> {
  const list = () => replica.api('GET', `/v1/approvals?status=pending&sessionId=${sessionId}`)
  const { body } = await eventually(list, ({ body }) => body.items.length === 1)
  return body.items[0]
}

test('a session issued on one works on the other at once', async () => {
  const { token } = await a.issue()
  expect(textOf(await b.call(token, 'up__echo', { n: 1 }))).toBe('{"n":1}')
  const other = await b.issue()
  expect((await a.modern(other.token, 'tools/list')).answer.result.tools.length).toBeGreaterThan(5)
})

test('both list the same tools, byte for byte', async () => {
  const { token } = await a.issue()
  const [first, second] = await Promise.all([a.rpc(token, 'tools/list'), b.rpc(token, 'tools/list')])
  expect(first.text).toBe(second.text)
})

test('a legacy Mcp-Session-Id from one is good on the other, for its own caller only', async () => {
  const [one, stranger] = [await a.issue(), await a.issue({ role: 'person-chat', subject: 'somebody else' })]
  const opened = await a.rpc(one.token, 'initialize', HELLO)
  const headers = {
    'mcp-session-id': opened.headers.get('mcp-session-id')!,
    'mcp-protocol-version': HELLO.protocolVersion,
  }
  const call = { name: 'up__echo', arguments: { n: 2 } }
  expect(textOf(await b.rpc(one.token, 'tools/call', call, { headers }))).toBe('{"n":2}')
  expect((await b.rpc(stranger.token, 'tools/call', call, { headers })).status).toBe(404)
  const foreign = await b.rpc(stranger.token, 'tools/list', {}, { headers })
  const madeUp = await b.rpc(stranger.token, 'tools/list', {}, { headers: { ...headers, 'mcp-session-id': 'x.y' } })
  expect([foreign.status, foreign.text]).toEqual([madeUp.status, madeUp.text])
})

test('a card parked on one and approved on the other runs once, and the caller gets the result', async () => {
  const { id, token } = await a.issue()
  const args = { n: 3 }
  const held = a.call(token, 'up__increment', args)
  const card = await pendingCard(b, id)
  const decided = performance.now()
  expect((await b.api('POST', `/v1/approvals/${card.id}/approve`, {})).status).toBe(200)
  expect(textOf(await held)).toMatch(/^\d+$/)
  expect(performance.now() - decided).toBeLessThan(5_000)
  expect(runs('increment', args)).toBe(1)
  // Neither runner takes it once more.
  await pause(2_500)
  expect(runs('increment', args)).toBe(1)
  expect((await a.api('GET', `/v1/approvals/${card.id}`)).body).toMatchObject({ status: 'done', decidedBy: 'operator' })
})

test('the same call on the other joins the card, and both callers get the one outcome', async () => {
  const { id, token } = await a.issue()
  const args = { n: 4 }
  const first = a.call(token, 'up__increment', args)
  const card = await pendingCard(b, id)
  const second = b.call(token, 'up__increment', args)
  await pause(300)
  expect((await pendingCard(a, id)).id).toBe(card.id)
  await a.api('POST', `/v1/approvals/${card.id}/approve`, {})
  const texts = (await Promise.all([first, second])).map(textOf)
  expect(texts[0]).toMatch(/^\d+$/)
  expect(texts[1]).toBe(texts[0])
  expect(runs('increment', args)).toBe(1)
})

test('of approvals and denials on both at once, one decides', async () => {
  const { id, token } = await a.issue()
  for (let n = 0; n < 6; n++) {
    const args = { contested: n }
    const held = a.call(token, 'up__increment', args)
    const card = await pendingCard(a, id)
    const verbs = ['approve', 'deny', 'approve', 'deny']
    const decisions = verbs.map((verb, i) => (i < 2 ? a : b).api('POST', `/v1/approvals/${card.id}/${verb}`, {}))
    const statuses = (await Promise.all(decisions)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 409, 409, 409])
    const denied = verbs[statuses.indexOf(200)] === 'deny'
    const answer = await held
    expect(decisionOf(answer).code).toBe(denied ? 'approval_denied' : undefined)
    expect(runs('increment', args)).toBe(denied ? 0 : 1)
  }
})

test('what was said on one is heard by who listens for approvals on the other', async () => {
  const { token } = await a.issue()
  const abort = new AbortController()
  const stream = await fetch(`${b.url}/v1/approvals/events`, {
    headers: { authorization: 'Bearer replica-admin-key-that-is-long-enough' },
    signal: abort.signal,
  })
  let heard = ''
  const reading = (async () => {
    for await (const part of stream.body!.pipeThrough(new TextDecoderStream())) heard += part
  })().catch(() => {})
  const asking = a.call(token, 'up__increment', { n: 'listened' }, { signal: abort.signal }).catch(() => {})
  await eventually(
    () => heard,
    (text) => text.includes('event: created') && text.includes('"listened"'),
  )
  abort.abort()
  await Promise.all([reading, asking])
})

test('while 200 calls wait on a slow upstream, no connection is idle in a transaction, and lists are quick', async () => {
  const { id, token } = await a.issue()
  const before = upstream.ledger.length
  const calls = Array.from({ length: 200 }, (_, n) => (n % 2 ? a : b).call(token, 'up__hang', { n }, aborted(4_000)))
  await eventually(
    () => upstream.ledger.length,
    (count) => count >= before + 200,
    10_000,
  )
  const times: number[] = []
  for (let i = 0; i < 20; i++) {
    const from = performance.now()
    expect((await a.rpc(token, 'tools/list')).status).toBe(200)
    expect((await b.api('GET', `/v1/approvals?sessionId=${id}`)).status).toBe(200)
    times.push(performance.now() - from)
  }
  expect(Math.max(...times)).toBeLessThan(2_000)
  const { idle } = await query(`select count(*)::int as idle from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'
    and state_change < now() - interval '1 second'`)
  expect(idle).toBe(0)
  await Promise.allSettled(calls)
})

test('the chains of both verify together, and each attempt has one terminal row', async () => {
  const { token } = await a.issue()
  for (let n = 0; n < 20; n++) await (n % 2 ? a : b).call(token, n % 3 ? 'up__echo' : 'up__nothing', { last: n })
  const report = await eventually(
    () => b.api('GET', '/v1/audit/verify'),
    ({ body }) => body.writers === 2,
  )
  expect(report.body).toMatchObject({ ok: true, problems: [], writers: 2 })
  const odd = async () =>
    query(`select count(*)::int as odd from (select attempt from audit where attempt is not null
      group by attempt having count(*) filter (where kind = 'call.ended') <> 1) odd`)
  expect((await eventually(odd, ({ odd }) => odd === 0)).odd).toBe(0)
})

function aborted(ms: number): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(ms) }
}

async function query(text: string): Promise<any> {
  const { default: postgres } = await import('postgres')
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  try {
    return (await sql.unsafe(text))[0]
  } finally {
    await sql.end()
  }
}
