/** Random calls under faults of the upstream, the callers and the database, held against three ledgers (reliability J1). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RegisteredTool } from '../../src/connector/connector.ts'
import { fingerprint } from '../../src/gate/facts.ts'
import type { RpcAnswer } from '../support/gateway.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { decisionOf, eventually, pause, type Replica, startTwo } from '../support/replica.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const CALLS = 300
const AT_ONCE = 12
const SEED = Number(process.env.TOLLGATE_TEST_SEED ?? 20_261)

let upstream: Upstream
let server: PostgresServer
let both: [Replica, Replica]

beforeAll(async () => {
  const gated = ['write_ok', 'write_fails', 'write_resets', 'write_hangs'] as const
  upstream = await startUpstream({
    behaviours: {
      write_ok: (call) => call.text('written'),
      write_fails: (call) => call.answer('{"content":[],"isError":true}'),
      write_resets: (call) => void call.response.socket?.destroy(),
      write_hangs: () => {},
    },
  })
  server = await startPostgres()
  const tools = { '*': 'read', ...Object.fromEntries(gated.map((name) => [name, 'write'])) }
  const mcpServers = { up: { type: 'http', url: upstream.url, tools, timeout: 1_500 } }
  const env = { TOLLGATE_APPROVAL_WAIT_MS: '1500' }
  both = await startTwo({ databaseUrl: `${server.url}/postgres`, mcpServers, env })
}, 120_000)
afterAll(async () => {
  await Promise.all((both ?? []).map((replica) => replica.close()))
  await upstream?.close()
  await server?.stop()
})

const READS = ['echo', 'failing', 'error', 'reset', 'torn', 'raw', 'hang', 'increment']
const GATED = ['write_ok', 'write_ok', 'write_ok', 'write_fails', 'write_resets', 'write_hangs']

/** The client's ledger: what was sent, and what came back. */
interface Sent {
  readonly tool: string
  readonly fingerprint: string | undefined
  /** Undefined where the caller went away, or the answer did not come from the gate. */
  readonly answer: RpcAnswer | undefined
}

test(`${CALLS} random calls leave one terminal row each, and nothing gated ran without a row before it`, async () => {
  const random = seeded(SEED)
  const { id, token } = await both[0].issue()
  const sent: Sent[] = []
  let next = 0
  let going = true

  const callers = Array.from({ length: AT_ONCE }, async () => {
    while (next < CALLS) {
      const n = next++
      const dice = random()
      const tool = dice < 0.1 ? `nothing_${n}` : dice < 0.55 ? pick(random, READS) : pick(random, GATED)
      const times = tool.startsWith('write') && random() < 0.3 ? 2 : 1
      const leaves = random() < 0.15 ? Math.round(random() * 600) : undefined
      for (let i = 0; i < times; ) {
        const one = await send(pick(random, both), token, tool, n, leaves, random() < 0.5)
        sent.push(one)
        // While the database is away a caller asks again, or all calls would be spent on one outage.
        if (one.answer?.status === 503) await pause(400)
        else i++
      }
    }
  })
  const decider = (async () => {
    while (going) {
      const { body } = await pick(random, both).api('GET', `/v1/approvals?status=pending&sessionId=${id}`)
      for (const card of body?.items ?? []) {
        const dice = random()
        const verb = dice < 0.5 ? 'approve' : dice < 0.65 ? 'deny' : undefined
        if (verb !== undefined) await pick(random, both).api('POST', `/v1/approvals/${card.id}/${verb}`, {})
      }
      await pause(150)
    }
  })()
  const faults = (async () => {
    const after = (count: number) =>
      eventually(
        () => next,
        (seen) => seen >= count,
        60_000,
      )
    await after(60)
    await server.pause()
    await pause(4_500)
    await server.resume()
    await after(140)
    await server.kill()
    await pause(300)
    await server.start()
    await after(220)
    await upstream.stop()
    await pause(400)
    await upstream.start()
  })()
  await Promise.all([...callers, faults])
  going = false
  await decider

  // What still runs ends by its own limit, and what could not be written waits its turn; then all is there.
  const look = async () => {
    const rows = await auditOf(id)
    return { rows, odd: [...oddAttempts(rows), ...oddCalls(rows, sent)] }
  }
  await pause(1_000)
  const { rows } = await eventually(look, ({ odd }) => odd.length === 0, 20_000).catch(look)
  expect([...oddAttempts(rows), ...oddCalls(rows, sent)], both.map((one) => one.output().slice(-3_000)).join()).toEqual(
    [],
  )

  const started = rows.filter(({ kind }) => kind === 'call.started')
  const ran = upstream.ledger.filter(({ tool }) => tool.startsWith('write'))
  for (const [key, effects] of Map.groupBy(ran, ({ tool, argumentsText }) => printOf(tool, argumentsText!))) {
    const intents = started
      .filter((row) => row.fingerprint === key)
      .map(({ at }) => Date.parse(at))
      .toSorted()
    expect(effects.length).toBeLessThanOrEqual(intents.length)
    for (const [n, { at }] of effects.entries()) expect(at).toBeGreaterThanOrEqual(intents[n]!)
  }
  const codes = Map.groupBy(sent, ({ answer }) =>
    answer === undefined ? 'left' : (decisionOf(answer).code ?? answer.status),
  )
  const counts = Object.fromEntries([...codes].map(([code, { length }]) => [code, length]))
  console.log(
    `seed ${SEED}: ${sent.length} calls, ${ran.length} gated runs, ${rows.length} rows`,
    JSON.stringify(counts),
  )
  expect(ran.length).toBeGreaterThan(20)

  expect((await both[1].api('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true, problems: [] })
  for (const replica of both) expect(replica.output()).not.toMatch(/Unhandled|uncaught/i)
}, 120_000)

/** Attempts that do not have exactly one terminal row. */
function oddAttempts(rows: any[]): string[] {
  return [
    ...Map.groupBy(
      rows.filter(({ attempt }) => attempt !== undefined),
      ({ attempt }) => attempt,
    ),
  ].flatMap(([attempt, own]) => {
    const kinds = own.map(({ kind }) => kind)
    return kinds.filter((kind) => kind === 'call.ended').length === 1 ? [] : [`${attempt}: ${kinds.join(' ')}`]
  })
}

/** Calls that were judged and do not each have a row of their own. A run nobody waited for names no rules. */
function oddCalls(rows: any[], sent: Sent[]): string[] {
  const own = rows.filter(({ kind, rules }) => kind === 'call.ended' && rules !== undefined)
  return [...Map.groupBy(sent, (one) => one.fingerprint ?? one.tool)].flatMap(([key, group]) => {
    const judged = group.filter(({ answer }) => answer?.status === 200 && decisionOf(answer).code !== 'internal').length
    const written = own.filter((row) => (row.fingerprint ?? row.tool) === key).length
    // A name that was unknown just then has no fingerprint, so its rows cannot be told from those of calls that were left.
    const most = group[0]!.fingerprint === undefined ? CALLS : group.length
    const answers = group.map(({ answer }) => answer?.text.slice(0, 300))
    return written >= judged && written <= most
      ? []
      : [`${group[0]!.tool}: ${written} rows for ${answers.join(' and ')}`]
  })
}

async function send(
  replica: Replica,
  token: string,
  tool: string,
  n: number,
  leaves: number | undefined,
  modern: boolean,
): Promise<Sent> {
  const args = tool === 'raw' ? { n, status: 500 } : { n }
  const params = { name: `up__${tool}`, arguments: args }
  const options = leaves === undefined ? {} : { signal: AbortSignal.timeout(leaves) }
  const ask = modern ? replica.modern : replica.rpc
  const answer = await ask(token, 'tools/call', params, options).catch(() => undefined)
  // The tools of an upstream that is away are withheld, and a call of one then has no fingerprint.
  const known = !tool.startsWith('nothing') && !/Unknown tool|up is not there right now/.test(answer?.text ?? '')
  return {
    tool: known ? tool : `mcp__up__${tool}`,
    answer,
    fingerprint: known ? printOf(tool, JSON.stringify(args)) : undefined,
  }
}

/** What the record calls a call by. */
const printOf = (tool: string, argumentsText: string): string =>
  fingerprint({ name: `mcp__up__${tool}` } as RegisteredTool, argumentsText, '')

/** All rows of a session, oldest first. */
async function auditOf(sessionId: string): Promise<any[]> {
  const rows: any[] = []
  let cursor = ''
  do {
    const { body } = await both[0].api('GET', `/v1/audit?sessionId=${sessionId}&limit=200${cursor}`)
    rows.push(...body.items)
    cursor = body.nextCursor === null ? '' : `&cursor=${encodeURIComponent(body.nextCursor)}`
  } while (cursor !== '')
  return rows.reverse()
}

const pick = <T>(random: () => number, from: readonly T[]): T => from[Math.floor(random() * from.length)]!

/** mulberry32: the same numbers for the same seed. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
