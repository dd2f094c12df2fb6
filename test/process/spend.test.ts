/** A gateway that dies while a paid call is out: the reservation stays, is shown as unknown, and is charged never twice. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshPostgres, type TestDatabase } from '../support/database.ts'
import { eventually, type Replica, startReplica } from '../support/replica.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let database: Required<TestDatabase>
let upstream: Upstream
let replica: Replica
beforeAll(async () => {
  database = await freshPostgres()
  upstream = await startUpstream()
  const spend = { access: 'spend', grantable: true, cost: { unit: 'credits', amount: 4 } }
  const mcpServers = { shop: { type: 'http', url: upstream.url, tools: { hang: spend, echo: spend } } }
  const env = { TOLLGATE_APPROVAL_LEASE_MS: '1000' }
  replica = await startReplica({ databaseUrl: database.url, mcpServers, env })
})
afterAll(async () => {
  await replica?.close()
  await upstream?.close()
  await database?.close()
})

test('after a kill between reserve and settle the amount is unknown and held, and only what fits beside it runs', async () => {
  const grant = { connectors: ['shop'], allowance: { shop: { perRunCredits: 10, perDayCredits: 10 } } }
  const { id, token } = await replica.issue({ role: 'specialist', tools: ['shop/*'], grant })
  void replica.call(token, 'shop__hang').catch(() => {})
  await eventually(
    () => upstream.ledger.length,
    (count) => count === 1,
  )
  await replica.end('SIGKILL')
  await replica.start()
  const rows = async () => (await replica.api('GET', `/v1/spend?session=${id}`)).body.items
  const [row] = await eventually(rows, ([one]) => one.state === 'unknown', 15_000)
  expect(row).toMatchObject({ reserved: '4', settled: null })
  const left = async () => (await replica.api('GET', `/v1/sessions/${id}`)).body.spend[0]
  expect(await left()).toMatchObject({ reserved: '4', spent: '0', left: '6' })
  const decisions: any[] = []
  for (let i = 0; i < 2; i++) {
    const { answer } = await replica.call(token, 'shop__echo', { i })
    decisions.push(answer.result._meta['dev.tollgate/decision'])
  }
  expect(decisions).toMatchObject([
    { code: 'ok', spend: { left: '2' } },
    { code: 'allowance_exhausted', spend: { left: '2' } },
  ])
  expect(upstream.ledger.map(({ tool }) => tool)).toEqual(['hang', 'echo'])
  expect((await replica.api('GET', `/v1/spend/totals?by=session&session=${id}`)).body.items).toMatchObject([
    { calls: 2, settled: '4', open: '0', unknown: '4' },
  ])
})
