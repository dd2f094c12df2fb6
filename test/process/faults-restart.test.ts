/** A gateway that is killed outright loses no card and runs none twice. */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { barePostgres } from '../support/database.ts'
import { decisionOf, eventually, pause, type Replica, startReplica, textOf } from '../support/replica.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let database: { url: string; close(): Promise<void> }
let sql: postgres.Sql
let gateway: Replica

beforeAll(async () => {
  upstream = await startUpstream({
    behaviours: {
      slow_read: async (call) => {
        await pause(Number(call.args.ms))
        call.text('read')
      },
    },
  })
  database = await barePostgres()
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
  const tools = { '*': 'read', increment: 'write', hang: 'write', slow: 'write' }
  const mcpServers = { up: { type: 'http', url: upstream.url, tools } }
  gateway = await startReplica({ databaseUrl: database.url, mcpServers, env: { TOLLGATE_APPROVAL_WAIT_MS: '4000' } })
}, 120_000)
afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
  await sql?.end()
  await database?.close()
})

const runs = (tool: string, args: object) =>
  upstream.ledger.filter((one) => one.tool === tool && one.argumentsText === JSON.stringify(args)).length

const cardsOf = async (sessionId: string): Promise<any[]> =>
  (await gateway.api('GET', `/v1/approvals?sessionId=${sessionId}`)).body.items

const approve = (id: string) => gateway.api('POST', `/v1/approvals/${id}/approve`, {})

/** Parks a call whose caller is cut off when the gateway dies; the card. */
async function park(session: { id: string; token: string }, tool: string, args: object): Promise<{ id: string }> {
  void gateway.call(session.token, tool, args).catch(() => {})
  return (
    await eventually(
      () => cardsOf(session.id),
      (cards) => cards.length === 1,
    )
  )[0]
}

async function killAndStart(): Promise<void> {
  expect(await gateway.end('SIGKILL')).toBe('SIGKILL')
  await gateway.start()
}

test('killed between parking and approving, it runs the card once and the caller who asks again gets the outcome', async () => {
  const session = await gateway.issue()
  const args = { n: 'parked' }
  const card = await park(session, 'up__increment', args)
  await killAndStart()
  expect((await cardsOf(session.id)).map(({ id, status }) => [id, status])).toEqual([[card.id, 'pending']])
  expect((await approve(card.id)).status).toBe(200)
  const answer = await gateway.call(session.token, 'up__increment', args)
  expect(textOf(answer), answer.text).toMatch(/^\d+$/)
  expect(runs('increment', args)).toBe(1)
  await pause(2_500)
  expect(runs('increment', args)).toBe(1)
  expect((await cardsOf(session.id)).map(({ status }) => status)).toEqual(['done'])
}, 120_000)

test('killed after the approval, it runs the card by itself, and the outcome is collected once', async () => {
  const session = await gateway.issue()
  const args = { n: 'approved' }
  const card = await park(session, 'up__increment', args)
  // In one go: no runner has had its turn when the process ends.
  await sql`update cards set status = 'approved', decided_at = now(), decided_by = 'operator' where id = ${card.id}`
  await killAndStart()
  await eventually(
    () => cardsOf(session.id),
    (cards) => cards[0].status === 'done',
    10_000,
  )
  const first = await gateway.call(session.token, 'up__increment', args)
  expect(textOf(first), first.text).toMatch(/^\d+$/)
  expect(runs('increment', args)).toBe(1)
  // Once told, the same call is a new one and asks again.
  await eventually(
    async () => (await sql`select delivered_at from cards where id = ${card.id}`)[0]!.delivered_at,
    Boolean,
  )
  const second = await gateway.call(session.token, 'up__increment', args)
  expect(decisionOf(second)).toMatchObject({ code: 'approval_pending' })
  expect(decisionOf(second).card!.id).not.toBe(card.id)
  expect(runs('increment', args)).toBe(1)
}, 120_000)

test('killed while the approved call runs, the card stays running and is never run again by itself', async () => {
  const session = await gateway.issue()
  const args = { n: 'running' }
  const card = await park(session, 'up__hang', args)
  await approve(card.id)
  await eventually(
    () => runs('hang', args),
    (count) => count === 1,
  )
  await killAndStart()
  await pause(3_000)
  expect((await cardsOf(session.id)).map(({ id, status }) => [id, status])).toEqual([[card.id, 'running']])
  const again = await gateway.call(session.token, 'up__hang', args)
  expect(decisionOf(again)).toMatchObject({ code: 'approval_pending', card: { id: card.id, status: 'running' } })
  expect(runs('hang', args)).toBe(1)

  // When its lease is over, nobody knows what became of it: that is said, once, and it is still not run again.
  await sql`update cards set lease_until = now() where id = ${card.id}`
  await eventually(
    () => cardsOf(session.id),
    (cards) => cards[0].status === 'unknown',
  )
  const told = await gateway.call(session.token, 'up__hang', args)
  expect(decisionOf(told)).toMatchObject({ code: 'outcome_unknown', card: { id: card.id } })
  expect(told.answer.result.isError).toBe(true)
  expect(runs('hang', args)).toBe(1)
  const rows = await sql`select kind from audit where card = ${card.id} and attempt is not null order by at`
  expect(rows.map(({ kind }) => kind).filter((kind) => kind === 'call.started')).toHaveLength(1)
}, 120_000)

test('SIGTERM lets what runs end, tells open streams, and exits with 0', async () => {
  const session = await gateway.issue()
  const slow = Array.from({ length: 10 }, (_, n) =>
    gateway.call(session.token, 'up__progress', { ms: 300, count: 4, n }),
  )
  await eventually(
    () => upstream.ledger.filter(({ tool }) => tool === 'progress').length,
    (count) => count === 10,
  )
  const from = performance.now()
  const ended = gateway.end('SIGTERM')
  const answers = await Promise.all(slow)
  const answered = performance.now()
  expect(answers.map(textOf)).toEqual(Array(10).fill('progressed'))
  await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow()
  expect(await ended).toBe(0)
  const idle = performance.now() - answered
  console.log(`answered ${Math.round(answered - from)} ms after SIGTERM, gone ${Math.round(idle)} ms later`)
  // Clients keep their connections open; once answered these hold nothing up.
  expect(idle).toBeLessThan(5_000)
  await gateway.start()
  const { body } = await gateway.api('GET', `/v1/audit?sessionId=${session.id}&kind=call.ended`)
  expect(body.items.map(({ code }: { code: string }) => code)).toEqual(Array(10).fill('ok'))
}, 120_000)

test('SIGTERM under load: every call that ran is answered, and the next find a closed door', async () => {
  const { token } = await gateway.issue()
  const answered = new Set<number>()
  const failures: string[] = []
  let next = 0
  let going = true
  const callers = Array.from({ length: 10 }, async () => {
    while (going) {
      const n = next++
      try {
        const answer = await gateway.call(token, 'up__slow_read', { n, ms: 100 })
        if (textOf(answer) === 'read') answered.add(n)
        else failures.push(answer.text)
      } catch {
        await pause(100)
      }
    }
  })
  await eventually(
    () => answered.size,
    (size) => size > 30,
    20_000,
  )
  expect(await gateway.end('SIGTERM')).toBe(0)
  going = false
  await Promise.all(callers)
  const ran = upstream.ledger
    .filter(({ tool }) => tool === 'slow_read')
    .map(({ argumentsText }) => JSON.parse(argumentsText!).n)
  expect(ran.filter((n: number) => !answered.has(n))).toEqual([])
  expect(failures).toEqual([])
  await gateway.start()
}, 120_000)

test('SIGTERM answers calls that wait for a person, so that they can ask the next gateway', async () => {
  const mcpServers = { up: { type: 'http', url: upstream.url, tools: { '*': 'write' } } }
  const other = await startReplica({ databaseUrl: database.url, mcpServers })
  try {
    const session = await other.issue()
    const held = other.call(session.token, 'up__increment', { n: 'held' })
    await eventually(
      () => cardsOf(session.id),
      (cards) => cards.length === 1,
    )
    const from = performance.now()
    const ended = other.end('SIGTERM')
    expect(decisionOf(await held)).toMatchObject({ code: 'approval_pending', card: { status: 'pending' } })
    expect(await ended).toBe(0)
    expect(performance.now() - from).toBeLessThan(5_000)
  } finally {
    await other.close()
  }
}, 120_000)

test('after all that the chains of every process verify', async () => {
  const { body } = await gateway.api('GET', '/v1/audit/verify')
  expect(body).toMatchObject({ ok: true, problems: [] })
  expect(body.writers).toBeGreaterThan(3)
  expect(gateway.output()).not.toMatch(/Unhandled|uncaught/i)
})
