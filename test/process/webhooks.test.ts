/** Webhooks of a gateway as operators run it: killed between sending and recording, and what its log says. */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { barePostgres } from '../support/database.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { eventually, type Replica, startReplica } from '../support/replica.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let receiver: Receiver
let database: { url: string; close(): Promise<void> }
let db: postgres.Sql
let gateway: Replica

beforeAll(async () => {
  upstream = await startUpstream()
  receiver = await startReceiver()
  database = await barePostgres()
  db = postgres(database.url, { max: 1, onnotice: () => {} })
  const tools = { '*': 'read', increment: 'write' }
  gateway = await startReplica({
    databaseUrl: database.url,
    mcpServers: { up: { type: 'http', url: upstream.url, tools } },
    settings: { webhooks: { hosts: ['127.0.0.1'] } },
    env: { TOLLGATE_LOG: 'trace', TOLLGATE_APPROVAL_WAIT_MS: '0' },
  })
}, 120_000)
afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
  await receiver?.close()
  await db?.end()
  await database?.close()
})

test('a gateway killed after a receiver got an event and before that was recorded sends it again under the same id', async () => {
  const canary = `cnry-${randomBytes(9).toString('hex')}`
  const url = `${receiver.url}/services/T0/${canary}-of-the-address`
  const { body: hook, status } = await gateway.api('POST', '/v1/webhooks', { url, events: ['card.created'] })
  expect(status).toBe(201)
  receiver.answers(
    () => gateway.signal('SIGKILL'),
    (response) => response.writeHead(200).end(`password=${canary}`),
  )
  const { token } = await gateway.issue()
  await gateway.call(token, 'up__increment', { password: canary, text: `token=${canary}` })
  await eventually(
    () => receiver.got.length,
    (n) => n === 1,
  )
  await gateway.end('SIGKILL')
  // The lease of the attempt that was lost runs out.
  await db`update webhook_deliveries set due_at = now()`
  await gateway.start()
  await eventually(
    () => gateway.api('GET', `/v1/webhooks/${hook.id}/deliveries`),
    ({ body }) => body?.items[0]?.status === 'delivered',
    20_000,
  )
  const [first, second] = receiver.got
  expect(receiver.got).toHaveLength(2)
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  expect(receiver.verify(first!, hook.secret)).toEqual(receiver.verify(second!, hook.secret))

  const rows = await db`select d::text as text from webhook_deliveries d union all select w::text from webhooks w
    union all select c::text from cards c union all select a::text from audit a`
  const said = [...receiver.got.map(({ body }) => body), ...rows.map(({ text }) => text as string), gateway.output()]
  for (const secret of [canary, hook.secret, hook.secret.slice(6)]) {
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').slice(2, -4)]) {
      expect(said.filter((text) => text.includes(form))).toEqual([])
    }
  }
})
