/** Signing keys over REST, and REST as plain clients speak it. */
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN_KEY, type Gateway, startGateway } from '../support/gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const CHAT = { role: 'person-chat', approval: { channel: 'inbox' } }
const admin = { authorization: `Bearer ${ADMIN_KEY}` }
const jwks = async (): Promise<any[]> => (await readJson(await fetch(`${gateway.url}/.well-known/jwks.json`))).keys
const readJson = (response: Response): Promise<any> => response.json()
const statusOf = async (token: string): Promise<number> => (await gateway.rpc(token, 'tools/list')).status
const headerOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString())

test('the key set is public, holds no private half, and names the key of a new token', async () => {
  const token = await gateway.token(CHAT)
  const keys = await jwks()
  expect(keys.map(({ kid }) => kid)).toContain(headerOf(token).kid)
  for (const key of keys) expect(Object.keys(key).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x'])
})

test('after a rotation both keys are believed, and the new one signs', async () => {
  const old = await gateway.token(CHAT)
  const { status, body } = await gateway.api('POST', '/v1/keys/rotate')
  expect([status, body.retireOthers]).toEqual([200, false])
  const fresh = await gateway.token(CHAT)
  expect(headerOf(fresh).kid).toBe(body.kid)
  expect(headerOf(old).kid).not.toBe(body.kid)
  expect(await Promise.all([statusOf(old), statusOf(fresh)])).toEqual([200, 200])
  expect((await jwks()).map(({ kid }) => kid)).toEqual(expect.arrayContaining([headerOf(old).kid, body.kid]))
})

test('with retireOthers every earlier token is refused at once, with a challenge, and the set holds one key', async () => {
  const old = await gateway.token(CHAT)
  expect(await statusOf(old)).toBe(200)
  const { body } = await gateway.api('POST', '/v1/keys/rotate', { retireOthers: true })
  const refused = await gateway.rpc(old, 'tools/list')
  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toMatch(/error="invalid_token".*get a new token/)
  expect((await jwks()).map(({ kid }) => kid)).toEqual([body.kid])
  expect(await statusOf(await gateway.token(CHAT))).toBe(200)
})

test('a rotation is written down with who asked for it, and without the key', async () => {
  await gateway.api('POST', '/v1/keys/rotate')
  const { body } = await gateway.api('GET', '/v1/audit?kind=keys.rotated')
  expect(body.items[0]).toMatchObject({ kind: 'keys.rotated', by: 'operator', reason: 'earlier keys still verify' })
})

test('only the admin key turns keys: no session token does', async () => {
  const token = await gateway.token(CHAT)
  for (const headers of [{}, { authorization: `Bearer ${token}` }] as Record<string, string>[]) {
    expect((await fetch(`${gateway.url}/v1/keys/rotate`, { method: 'POST', headers })).status).toBe(401)
  }
  expect(await statusOf(token)).toBe(200)
})

test('the token of another deployment is refused, whatever it says', async () => {
  const other = await startGateway()
  try {
    const token = await other.token(CHAT)
    expect(await statusOf(token)).toBe(401)
    const [, payload, signature] = token.split('.')
    const ours = (await gateway.token(CHAT)).split('.')
    // With our key's name, and with our claims under their signature.
    expect(await statusOf([ours[0], payload, signature].join('.'))).toBe(401)
    expect(await statusOf([ours[0], ours[1], signature].join('.'))).toBe(401)
  } finally {
    await other.close()
  }
})

test('REST takes a DELETE and a POST without any body, as curl sends them', async () => {
  const { body } = await gateway.api('POST', '/v1/sessions', CHAT)
  const ended = await fetch(`${gateway.url}/v1/sessions/${body.id}/end`, { method: 'POST', headers: admin })
  expect(ended.status).toBe(200)
  const revoked = await fetch(`${gateway.url}/v1/sessions/${body.id}`, { method: 'DELETE', headers: admin })
  expect([revoked.status, (await readJson(revoked)).status]).toEqual([200, 'revoked'])
  expect(await statusOf(body.token)).toBe(401)
  const bare = await exchange(
    `POST /v1/keys/rotate HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${ADMIN_KEY}\r\n`,
  )
  expect(bare).toMatch(/^HTTP\/1.1 200 /)
})

test('REST never fails inside over a body in chunks', async () => {
  const chunked = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"role":'))
      controller.enqueue(new TextEncoder().encode('"person-chat"}'))
      controller.close()
    },
  })
  const init = {
    method: 'POST',
    headers: { ...admin, 'content-type': 'application/json' },
    body: chunked,
    duplex: 'half',
  }
  const { status } = await fetch(`${gateway.url}/v1/sessions`, init as RequestInit)
  expect([201, 411]).toContain(status)
})

/** One request by hand, to the end of the connection. */
function exchange(head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1' })
    let text = ''
    socket.setEncoding('utf8').on('data', (part) => (text += part))
    socket.on('error', reject).on('close', () => resolve(text))
    socket.write(`${head}Connection: close\r\n\r\n`)
  })
}
