/** A gateway with an https address: the document that says who it is as a client, and people told when a consent ends. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { type GuardedUpstream, startGuarded } from '../support/guarded-upstream.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const OUTSIDE = 'https://gateway.example'
const DOCUMENT = `${OUTSIDE}/.well-known/oauth-client.json`
let gateway: Gateway
let server: AuthorizationServer
let upstream: GuardedUpstream
let receiver: Receiver

beforeAll(async () => {
  server = await startAuthorizationServer()
  upstream = await startGuarded(server)
  receiver = await startReceiver()
  gateway = await startGateway(
    {},
    { TOLLGATE_PUBLIC_URL: OUTSIDE },
    { connections: { allowPrivate: true }, webhooks: { allowPrivate: true } },
  )
  const mcp = { url: upstream.url, oauth: true, tools: { echo: 'read' } }
  await gateway.api('PUT', '/v1/connections/notes?brand=acme', { mcp })
})
afterAll(async () => {
  await gateway.close()
  await receiver.close()
  await upstream.close()
  await server.close()
})
const begin = () => gateway.api('POST', '/v1/connections/notes/connect?brand=acme')
const finish = async (authorizationUrl: string) =>
  fetch((await server.consent(authorizationUrl)).replace(OUTSIDE, gateway.url))

it('publishes its client document, and goes by it at a server that reads such documents', async () => {
  const document = await (await fetch(`${gateway.url}/.well-known/oauth-client.json`)).json()
  expect(document).toEqual({
    client_id: DOCUMENT,
    client_name: 'Tollgate',
    client_uri: OUTSIDE,
    redirect_uris: [`${OUTSIDE}/oauth/callback`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: 'web',
    token_endpoint_auth_method: 'none',
  })
  server.metadata = { client_id_metadata_document_supported: true }
  const { body } = await begin()
  expect(new URL(body.authorizationUrl).searchParams.get('client_id')).toBe(DOCUMENT)
  expect(server.asked.some(({ path }) => path === '/register')).toBe(false)
})

it('is told once, signed, and with nothing secret, that a person has to consent again', async () => {
  const wanted = { url: receiver.url, brand: 'acme', events: ['connection.needs_consent'] }
  const { body: hook } = await gateway.api('POST', '/v1/webhooks', wanted)
  server.lifeS = 1
  expect((await finish((await begin()).body.authorizationUrl)).status).toBe(200)
  server.endConsents()
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  const token = await gateway.token({ brand: 'acme', role: 'person-chat', approval: { channel: 'inbox' } })
  const calls = Array.from({ length: 5 }, () =>
    gateway.modern(token, 'tools/call', { name: 'notes__echo', arguments: {} }),
  )
  await Promise.all(calls)
  for (let tries = 0; tries < 200 && receiver.got.length === 0; tries++) await new Promise((r) => setTimeout(r, 20))
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(receiver.got).toHaveLength(1)
  const told = receiver.verify(receiver.got[0]!, hook.secret)
  expect(told).toMatchObject({
    type: 'connection.needs_consent',
    data: { brand: 'acme', slug: 'notes', connector: 'mcp', because: expect.stringContaining('invalid_grant') },
  })
  expect(JSON.stringify(receiver.got)).not.toContain('canary')
})
