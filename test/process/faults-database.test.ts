/** PostgreSQL stops answering, or is killed: nothing runs that cannot be judged and recorded, and both gateways live on. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { decisionOf, eventually, pause, type Replica, startTwo, textOf } from '../support/replica.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

/** What the gateway knows may be this old, so a read may still pass for so long after the database is gone. */
const FRESH_MS = 1_000
/** The longest a caller may wait for a refusal; 3 s are the goal, the rest is for a busy machine. */
const REFUSED_MS = 4_500
/** From the database's return until all works. */
const BACK_MS = 5_000

let upstream: Upstream
let server: PostgresServer
let both: Replica[]

beforeAll(async () => {
  upstream = await startUpstream()
  server = await startPostgres()
  const tools = { '*': 'read', increment: 'write', slow: 'write' }
  const mcpServers = { up: { type: 'http', url: upstream.url, tools } }
  both = await startTwo({ databaseUrl: `${server.url}/postgres`, mcpServers })
}, 120_000)
afterAll(async () => {
  await Promise.all((both ?? []).map((replica) => replica.close()))
  await upstream?.close()
  await server?.stop()
})

const outages = [
  { what: 'stopped in its tracks', begin: () => server.pause(), end: () => server.resume() },
  { what: 'killed', begin: () => server.kill(), end: () => server.start() },
]

describe.each(outages)('PostgreSQL $what', ({ what, begin, end }) => {
  test('refuses everything at once, reaches no upstream, and comes back by itself', async () => {
    const pids = both.map((replica) => replica.pid())
    const held = await both[0]!.issue()
    const warm = await both[0]!.issue()
    for (const replica of both) expect(textOf(await replica.call(warm.token, 'up__echo', { what }))).toBeDefined()
    const waiting = both[0]!.call(held.token, 'up__increment', { what })
    const list = () => both[1]!.api('GET', `/v1/approvals?sessionId=${held.id}`)
    const card = (await eventually(list, ({ body }) => body.items?.length === 1)).body.items[0]

    await begin()
    try {
      const gated = both.map((replica, n) => timed(() => replica.call(warm.token, 'up__increment', { what, now: n })))
      for (const { status, answer, ms } of await Promise.all(gated)) {
        expect([200, 503]).toContain(status)
        if (status === 200) expect(answer.result?.isError ?? answer.error).toBeTruthy()
        expect(ms).toBeLessThan(REFUSED_MS)
      }
      await pause(FRESH_MS)
      const before = upstream.ledger.length
      const asked = both.flatMap((replica) => [
        ...['up__echo', 'up__increment', 'up__get', 'up__nothing'].map((name) =>
          timed(() => replica.call(warm.token, name, { what, late: true })),
        ),
        timed(() => replica.modern(warm.token, 'tools/call', { name: 'up__echo', arguments: { what } })),
        timed(() => replica.api('GET', '/v1/sessions')),
        timed(() => replica.api('GET', '/v1/audit')),
        timed(() => replica.api('POST', '/v1/sessions', { role: 'person-chat' })),
        timed(() => replica.api('DELETE', `/v1/sessions/${warm.id}`)),
        timed(() => replica.api('POST', `/v1/approvals/${card.id}/approve`, {})),
        timed(() => replica.api('POST', '/v1/keys/rotate', {})),
      ])
      const refused = await Promise.all(asked)
      expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 503))
      const slowest = Math.max(...refused.map(({ ms }) => ms))
      expect(slowest).toBeLessThan(REFUSED_MS)
      expect(upstream.ledger.length).toBe(before)

      for (const replica of both) {
        const probe = await timed(() => replica.api('GET', '/readyz'))
        expect([probe.status, probe.body.checks.database]).toEqual([503, 'The database does not answer.'])
        expect(probe.ms).toBeLessThan(5_000)
        expect((await replica.api('GET', '/healthz')).status).toBe(200)
      }
      console.log(`${what}: refused within ${Math.round(slowest)} ms`)
    } finally {
      await end()
    }

    const from = performance.now()
    for (const replica of both) {
      await eventually(
        () => replica.api('GET', '/readyz'),
        ({ status }) => status === 200,
        BACK_MS,
      )
      const works = () => replica.call(warm.token, 'up__echo', { back: what })
      await eventually(works, (answer) => textOf(answer) !== undefined, BACK_MS)
    }
    console.log(`${what}: all works ${Math.round(performance.now() - from)} ms after its return`)
    expect(both.map((replica) => replica.pid())).toEqual(pids)

    // The approval went unanswered, so it may have been kept; said again, it stands. Who waited all along is told.
    const decided = await both[1]!.api('POST', `/v1/approvals/${card.id}/approve`, {})
    expect([200, 409]).toContain(decided.status)
    expect(textOf(await waiting)).toMatch(/^\d+$/)
    const ran = upstream.ledger.filter(
      ({ tool, argumentsText }) => tool === 'increment' && argumentsText === JSON.stringify({ what }),
    )
    expect(ran).toHaveLength(1)
  }, 90_000)

  test('a call that was approved and runs meanwhile still ends, and its end is recorded', async () => {
    const [a, b] = both as [Replica, Replica]
    const { id, token } = await a.issue()
    const args = { ms: 2_000, what }
    const call = a.call(token, 'up__slow', args)
    const list = () => b.api('GET', `/v1/approvals?sessionId=${id}`)
    const card = (await eventually(list, ({ body }) => body.items?.length === 1)).body.items[0].id
    await b.api('POST', `/v1/approvals/${card}/approve`, {})
    const runs = () => upstream.ledger.filter(({ argumentsText }) => argumentsText === JSON.stringify(args)).length
    await eventually(runs, (count) => count === 1)
    await begin()
    await pause(5_500)
    await end()
    await call
    // The upstream's answer came while nothing could be written; it is kept until it can.
    const ended = await eventually(
      () => a.api('GET', `/v1/approvals/${card}`),
      ({ body }) => body?.status === 'done',
      10_000,
    )
    expect(ended.body.outcome).toMatchObject({ code: 'ok' })
    const rows = await eventually(
      () => a.api('GET', `/v1/audit?sessionId=${id}`),
      ({ body }) => body?.items?.some(({ kind }: { kind: string }) => kind === 'call.ended'),
    )
    const started = rows.body.items.find(({ kind }: { kind: string }) => kind === 'call.started')
    const terminal = rows.body.items.filter((row: any) => row.kind === 'call.ended' && row.attempt === started.attempt)
    expect(terminal).toHaveLength(1)
    expect(runs()).toBe(1)
  }, 60_000)
})

test('a card that cannot be read in time is a call refused in words, never one that may have run', async () => {
  const { token } = await both[0]!.issue()
  const sql = postgres(`${server.url}/postgres`, { max: 1, onnotice: () => {} })
  const before = upstream.ledger.length
  try {
    await sql.begin(async (tx) => {
      await tx`lock table cards`
      const answer = await both[0]!.call(token, 'up__increment', { what: 'locked' })
      expect(decisionOf(answer).code, answer.text).toBe('internal')
      expect(answer.text).toContain('it runs nothing')
    })
  } finally {
    await sql.end()
  }
  expect(upstream.ledger.length).toBe(before)
  const { answer } = await both[0]!.call(token, 'up__echo', { what: 'afterwards' })
  expect(answer.result.isError).not.toBe(true)
}, 30_000)

test('no process complained of an error nobody caught, and the chains of both verify', async () => {
  const { body } = await both[0]!.api('GET', '/v1/audit/verify')
  expect(body).toMatchObject({ ok: true, problems: [] })
  for (const replica of both) expect(replica.output()).not.toMatch(/Unhandled|uncaught/i)
})

async function timed<T>(ask: () => Promise<T>): Promise<T & { ms: number }> {
  const from = performance.now()
  const seen = await ask()
  return { ...seen, ms: performance.now() - from }
}
