/** Routines over two replicas: whatever one hears, the other's live sessions are narrowed by, and equal calls are counted together. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { barePostgres } from '../support/database.ts'
import { eventually, type Replica, startReplica } from '../support/replica.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let database: { url: string; close(): Promise<void> }
let one: Replica
let two: Replica

beforeAll(async () => {
  upstream = await startUpstream({
    tools: [tool('send'), tool('look')],
    behaviours: { send: (call) => call.text('ran'), look: (call) => call.text('ran') },
  })
  database = await barePostgres()
  const options = {
    databaseUrl: database.url,
    mcpServers: { up: { type: 'http', url: upstream.url, tools: {} } },
    settings: { limits: { equalCalls: 5 } },
    env: { TOLLGATE_APPROVAL_WAIT_MS: '0' },
    publicUrl: 'http://gateway.test',
  }
  one = await startReplica(options)
  two = await startReplica(options)
}, 120_000)
afterAll(async () => {
  await Promise.all([one?.close(), two?.close()])
  await upstream?.close()
  await database?.close()
})

const codeOf = (answer: any) => answer.answer.result?._meta?.['dev.tollgate/decision']?.code
const ran = () => upstream.ledger.filter((each) => each.tool === 'send').length
const call = (replica: Replica, token: string, args: object = {}) =>
  replica.modern(token, 'tools/call', { name: 'up__send', arguments: args })

/** A ready routine whose `send` runs unattended, made at the first replica and tried at the second. */
async function routine(name: string): Promise<string> {
  const { id } = (await one.api('POST', '/v1/routines', { name, connections: ['up'] })).body
  const set = (body: object) => one.api('PUT', `/v1/routines/${id}/tools/up__send`, body)
  expect((await set({ state: 'enabled' })).status).toBe(200)
  const tried = (await two.api('POST', '/v1/sessions', { routine: id, supervised: true })).body
  const card = (await call(two, tried.token)).answer.result._meta['dev.tollgate/decision'].card.id
  await one.api('POST', `/v1/approvals/${card}/approve`, {})
  await eventually(
    () => one.api('GET', `/v1/routines/${id}/traces`),
    ({ body }) => body.items[0].outcome === 'done',
  )
  const { confirm } = (await set({ state: 'automatic' })).body
  expect((await set({ state: 'automatic', confirm })).status).toBe(200)
  expect((await one.api('POST', `/v1/routines/${id}/ready`)).status).toBe(200)
  return id
}

test('a tool taken away at one replica is gone at the other within a second', async () => {
  const id = await routine('Taken')
  const { token } = (await two.api('POST', '/v1/sessions', { routine: id })).body
  expect((await call(two, token)).answer.result.content[0].text).toBe('ran')
  await one.api('PUT', `/v1/routines/${id}/tools/up__send`, { state: 'disabled' })
  await eventually(
    () => call(two, token),
    ({ answer }) => answer.error?.code === -32602,
    1_000,
  )
  const before = ran()
  for (let i = 0; i < 5; i++) await call(two, token, { i })
  expect(ran()).toBe(before)
})

test('equal calls are counted over all replicas', async () => {
  const id = await routine('Equal')
  const { token } = (await one.api('POST', '/v1/sessions', { routine: id })).body
  // The other replica has read the routine.
  await eventually(
    () => call(two, token, { first: true }),
    ({ answer }) => answer.result?.content[0].text === 'ran',
  )
  const before = ran()
  for (let i = 0; i < 5; i++) await call(i % 2 ? one : two, token, { same: true })
  expect(ran() - before).toBe(5)
  for (const replica of [one, two]) expect(codeOf(await call(replica, token, { same: true }))).toBe('approval_required')
  expect(ran() - before).toBe(5)
})

test('a definition that changes is closed in the routines of both replicas, whichever saw it', async () => {
  const id = await routine('Changed')
  const { token } = (await two.api('POST', '/v1/sessions', { routine: id })).body
  expect((await call(two, token)).answer.result.content[0].text).toBe('ran')
  const before = ran()
  upstream.setTools([tool('send', { description: 'does more by now' }), tool('look')])
  await one.api('POST', '/v1/connections/up/discover')
  await eventually(
    () => call(two, token, { now: 1 }),
    ({ answer }) => answer.error?.code === -32602,
    1_000,
  )
  const after = ran()
  expect((await two.api('GET', `/v1/routines/${id}`)).body).toMatchObject({ state: 'draft', tools: [] })
  expect((await call(one, token)).answer.error.code).toBe(-32602)
  expect((await two.api('POST', '/v1/sessions', { routine: id })).status).toBe(409)
  expect(ran()).toBe(after)
  expect(after - before).toBeLessThanOrEqual(1)
})
