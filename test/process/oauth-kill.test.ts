/** A gateway that is killed in the middle of a refresh: what the other replica makes of it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/db/drizzle.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts'
import { freshPostgres, type TestDatabase } from '../support/database.ts'
import { type GuardedUpstream, startGuarded } from '../support/guarded-upstream.ts'
import { decisionOf, eventually, type Replica, startTwo, textOf } from '../support/replica.ts'

let database: Required<TestDatabase>
let server: AuthorizationServer
let upstream: GuardedUpstream
let one: Replica
let two: Replica

beforeAll(async () => {
  database = await freshPostgres()
  server = await startAuthorizationServer()
  upstream = await startGuarded(server)
  ;[one, two] = await startTwo({ databaseUrl: database.url, settings: { connections: { allowPrivate: true } } })
}, 120_000)
afterAll(async () => {
  await one?.close()
  await two?.close()
  await upstream.close()
  await server.close()
  await database.close()
})

test('a refresh cut off by SIGKILL asks for consent again, and its token is never used twice', async () => {
  const mcp = { url: upstream.url, oauth: true, tools: { echo: 'read' } }
  await one.api('PUT', '/v1/connections/notes', { mcp })
  const { body } = await one.api('POST', '/v1/connections/notes/connect')
  const back = new URL(await server.consent(body.authorizationUrl))
  expect((await fetch(one.url + back.pathname + back.search)).status).toBe(200)
  const { token } = await one.issue()
  expect(textOf(await one.call(token, 'notes__echo', { n: 1 }))).toBe('{"n":1}')

  await database.db.orm.execute(sql`update connection_consents set refresh_at = now(), expires_at = now()`)
  server.endAccess()
  let killed: Promise<unknown> | undefined
  server.takeover = (asked) => {
    // The server takes the request and answers; nobody is there any more to hear it.
    if (asked.form.grant_type === 'refresh_token') killed ??= one.end('SIGKILL')
    return false
  }
  await one.call(token, 'notes__echo', { n: 2 }).catch(() => undefined)
  await killed
  expect(server.granted('refresh_token')).toHaveLength(1)
  server.takeover = undefined
  // A minute later.
  await database.db.orm.execute(sql`update connection_consents set claimed_at = now() - interval '2 minutes'`)

  const late = await two.call(token, 'notes__echo', { n: 3 })
  expect(decisionOf(late).code).toBe('upstream_unavailable')
  const shown = async () => (await two.api('GET', '/v1/connections/notes')).body.consent
  const consent = await eventually(shown, ({ state }) => state === 'needed')
  expect(consent.because).toContain('cut off')
  await two.call(token, 'notes__echo', { n: 4 })
  expect(server.granted('refresh_token')).toHaveLength(1)
  expect(server.reused()).toBe(0)

  const again = await two.api('POST', '/v1/connections/notes/connect')
  const second = new URL(await server.consent(again.body.authorizationUrl))
  expect((await fetch(two.url + second.pathname + second.search)).status).toBe(200)
  expect(textOf(await two.call(token, 'notes__echo', { n: 5 }))).toBe('{"n":5}')
  for (const secret of server.secrets) expect(one.output() + two.output()).not.toContain(secret)
})
