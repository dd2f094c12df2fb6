/** Bug bank group 9 and B1 as far as tokens go: who is let in by which door, and what a refusal says, to the letter. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADMIN_KEY } from '../support/gateway.ts'
import { closeWorld, ECHO, gateway, hostToken, knock, openWorld, reader, unreached } from './auth-world.ts'

const stranger = generateKeyPairSync('ed25519')

beforeAll(openWorld)
afterAll(closeWorld)

const SEND = 'Send the session token in the header Authorization: Bearer TOKEN.'
const FORM = 'The Authorization header must be the word Bearer, a space and one session token.'
const NO_TOKEN = 'This is no session token: it must be three base64url parts with dots.'

describe('a challenge', () => {
  const metadata = () => `${gateway.url}/.well-known/oauth-protected-resource/mcp`

  test.each([
    ['no token', [], undefined, SEND],
    ['an empty header', ['Authorization:'], undefined, SEND],
    ['Bearer alone', ['Authorization: Bearer'], 'invalid_token', FORM],
    ['Bearer and a blank', ['Authorization: Bearer '], 'invalid_token', FORM],
    ['Basic', ['Authorization: Basic dXNlcjpwYXNz'], 'invalid_token', FORM],
    ['Bearer with two tokens', ['Authorization: Bearer a b'], 'invalid_token', FORM],
    ['Bearer:', ['Authorization: Bearer: a.b.c'], 'invalid_token', FORM],
    ['a token alone', ['Authorization: aaaa.bbbb.cccc'], 'invalid_token', FORM],
    ['no JWT', ['Authorization: Bearer nonsense'], 'invalid_token', NO_TOKEN],
    ['the admin key', [`Authorization: Bearer ${ADMIN_KEY}`], 'invalid_token', NO_TOKEN],
    [
      '9 KB',
      [`Authorization: Bearer ${'a'.repeat(9_000)}`],
      'invalid_token',
      'The token is longer than 8192 bytes; ask for one that names fewer tools.',
    ],
  ])(
    'IBM/mcp-context-forge#2712: %s gets 401 and exactly this text, by every door',
    async (_, lines, error, description) => {
      await unreached(async () => {
        const challenge = `Bearer realm="tollgate"${error === undefined ? '' : `, error="${error}"`}, error_description="${description}", resource_metadata="${metadata()}"`
        for (const path of ['/mcp', '/mcp/', '/mcp/u', '/mcp/nobody']) {
          const { status, headers, body } = await knock(lines, path)
          expect({ status, challenge: headers['www-authenticate'] }).toEqual({ status: 401, challenge })
          expect(JSON.parse(body)).toEqual({ error: error ?? 'invalid_request', error_description: description })
          expect(headers['content-type']).toBe('application/json; charset=utf-8')
          expect(headers['cache-control']).toBe('no-store')
        }
      })
    },
  )

  test.each(['bearer', 'BEARER', 'bEaReR'])(
    'IBM/mcp-context-forge#2712: the scheme %s with a good token is let in',
    async (scheme) => {
      expect((await knock([`Authorization: ${scheme} ${reader}`])).status).toBe(200)
      expect((await knock([`Authorization:   ${scheme}   ${reader}  `])).status).toBe(200)
    },
  )

  test('czlonkowski/n8n-mcp#604: the metadata it names is JSON, with and without the path suffix', async () => {
    for (const url of [metadata(), `${gateway.url}/.well-known/oauth-protected-resource`]) {
      const response = await fetch(url)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toMatch(/^application\/json/)
      expect(await response.json()).toEqual({
        resource: gateway.mcpUrl,
        authorization_servers: [expect.stringMatching(/^https:\/\/login\.example\/?$/)],
        bearer_methods_supported: ['header'],
        resource_name: 'Tollgate',
      })
    }
  })

  test('czlonkowski/n8n-mcp#604: what is not there is a JSON problem, never a page', async () => {
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/register',
      '/authorize',
      '/token',
      '/sse',
      '/',
      '/mcp/u/x',
    ]) {
      const response = await fetch(`${gateway.url}${path}`)
      expect([path, response.status]).toEqual([path, 404])
      expect(response.headers.get('content-type')).toMatch(/json/)
      expect(await response.json()).toMatchObject({ status: 404 })
    }
  })

  test.each(['GET', 'DELETE', 'PUT', 'PATCH'])('B1: comes by HTTP %s as well', async (verb) => {
    await unreached(async () => {
      for (const authorization of [
        undefined,
        'Bearer x.y.z',
        `Bearer ${hostToken({ aud: 'https://other.example/mcp' })}`,
      ]) {
        const headers = {
          accept: 'text/event-stream',
          'mcp-session-id': 'x',
          ...(authorization === undefined ? {} : { authorization }),
        }
        const response = await fetch(gateway.mcpUrl, { method: verb, headers })
        expect(response.status).toBe(401)
        expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="tollgate", /)
        await response.arrayBuffer()
      }
    })
  })

  test('B1: comes for a modern subscription and discovery as well, before the body is judged', async () => {
    await unreached(async () => {
      for (const body of [
        '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}',
        '{"jsonrpc":"2.0","id":1,"method":"server/discover"}',
        'nonsense',
        '[]',
        '',
      ]) {
        expect((await knock(['Authorization: Bearer x.y.z'], '/mcp', body)).status).toBe(401)
      }
    })
  })

  test('B6: repeats nothing of the token, and neither does the record', async () => {
    await unreached(async () => {
      const canary = 'CANARY-7f3a'
      const told: string[] = []
      for (const text of [
        canary,
        `${canary}.${canary}.${canary}`,
        hostToken({ role: canary }),
        hostToken({ sub: [canary] }),
        hostToken({}, { kid: canary }),
      ]) {
        const { status, body, headers } = await knock([`Authorization: Bearer ${text}`])
        expect(status).toBe(401)
        told.push(body, headers['www-authenticate']!)
      }
      const signed = told.filter((text) => text.includes(canary))
      // A role that does not exist is named to whoever signed the token; nothing else of it comes back.
      expect(signed.every((text) => text.includes(`There is no role ${canary}`))).toBe(true)
      await expect
        .poll(async () => (await gateway.api('GET', '/v1/audit?kind=auth.refused')).body.items.length)
        .toBeGreaterThan(0)
      const rows = JSON.stringify((await gateway.api('GET', '/v1/audit?kind=auth.refused&limit=200')).body)
      expect(rows).not.toContain(reader.split('.')[1])
      expect(rows).not.toContain(ADMIN_KEY)
    })
  })
})

describe('a token', () => {
  test('by two Authorization headers is refused, whichever is the good one', async () => {
    await unreached(async () => {
      const good = `Authorization: Bearer ${reader}`
      for (const lines of [
        [good, good],
        [good, 'Authorization: Bearer x.y.z'],
        ['Authorization: Bearer x.y.z', good],
        [good, 'AUTHORIZATION: Basic eDp4'],
        [good, 'Authorization:'],
      ]) {
        const { status, body } = await knock(lines)
        expect(status).toBe(401)
        expect(JSON.parse(body).error_description).toBe('The header authorization was sent twice; send it once.')
      }
    })
  })

  test('joined to another by a comma is refused', async () => {
    await unreached(async () => {
      const other = hostToken()
      for (const text of [
        `${reader}, Bearer ${reader}`,
        `${reader},${other}`,
        `${reader}, ${other}`,
        `x.y.z, Bearer ${reader}`,
        `${reader},`,
      ]) {
        const { status, body } = await knock([`Authorization: Bearer ${text}`])
        expect({ status, said: JSON.parse(body).error_description }).toEqual({ status: 401, said: FORM })
      }
    })
  })

  test('anywhere but in the Authorization header is not looked at', async () => {
    await unreached(async () => {
      for (const query of ['access_token', 'token', 'bearer', 'authorization', 'api_key', 'jwt']) {
        const { status, body } = await knock([], `/mcp?${query}=${reader}`)
        expect({ status, said: JSON.parse(body).error_description }).toEqual({ status: 401, said: SEND })
      }
      for (const header of [
        'X-Api-Key',
        'X-Authorization',
        'Proxy-Authorization',
        'X-Access-Token',
        'X-Forwarded-Authorization',
        'Mcp-Session-Id',
        'Authorization_',
        'Cookie',
      ]) {
        const value =
          header === 'Cookie'
            ? `token=${reader}; access_token=${reader}`
            : header === 'Proxy-Authorization'
              ? `Bearer ${reader}`
              : reader
        expect((await knock([`${header}: ${value}`])).status).toBe(401)
      }
      const inBody = ECHO.replace(
        '"arguments"',
        `"_meta":{"authorization":"Bearer ${reader}","token":"${reader}"},"arguments"`,
      )
      expect((await knock([], '/mcp', inBody)).status).toBe(401)
      const url = new URL(gateway.mcpUrl)
      expect((await knock([], `http://${reader}:x@${url.host}/mcp`)).status).not.toBe(200)
    })
    // A query beside a good header changes nothing.
    expect((await knock([`Authorization: Bearer ${reader}`], '/mcp?access_token=x.y.z')).status).toBe(200)
  })

  test.each([
    'tollgate-approver+jwt',
    'JWT',
    'at+jwt',
    'dpop+jwt',
    'TOLLGATE-SESSION+JWT',
    'application/tollgate-session+jwt',
    '',
    null,
    undefined,
  ])('of the type %s is no session token, whatever it claims', async (typ) => {
    await unreached(async () => {
      const { status, body } = await knock([`Authorization: Bearer ${hostToken({}, { typ })}`])
      expect({ status, said: JSON.parse(body).error_description }).toEqual({
        status: 401,
        said: "The token's header must say typ tollgate-session+jwt; this is another kind.",
      })
    })
  })

  test('with a claim changed after it was signed is refused, each claim', async () => {
    await unreached(async () => {
      for (const good of [reader, hostToken()]) {
        const [head, payload, signature] = good.split('.') as [string, string, string]
        const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
        for (const claim of Object.keys(claims)) {
          const changed = { ...claims, [claim]: typeof claims[claim] === 'number' ? claims[claim] + 1 : 'person-chat' }
          const forged = `${head}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`
          expect([claim, (await knock([`Authorization: Bearer ${forged}`])).status]).toEqual([claim, 401])
        }
        const otherKey = sign(null, Buffer.from(`${head}.${payload}`), stranger.privateKey).toString('base64url')
        expect((await knock([`Authorization: Bearer ${head}.${payload}.${otherKey}`])).status).toBe(401)
      }
    })
  })

  test('that was revoked is refused at once, by every door, and the others are not', async () => {
    const { body: session } = await gateway.api('POST', '/v1/sessions', {
      role: 'specialist',
      grant: { connectors: ['u'] },
    })
    expect((await knock([`Authorization: Bearer ${session.token}`])).status).toBe(200)
    expect((await gateway.api('DELETE', `/v1/sessions/${session.id}`)).status).toBeLessThan(300)
    await unreached(async () => {
      await expect
        .poll(async () => (await knock([`Authorization: Bearer ${session.token}`])).status, { timeout: 2_000 })
        .toBe(401)
      for (const verb of ['GET', 'DELETE']) {
        const headers = { authorization: `Bearer ${session.token}`, 'mcp-session-id': 'x' }
        expect((await fetch(gateway.mcpUrl, { method: verb, headers })).status).toBe(401)
      }
      const { body } = await knock([`Authorization: Bearer ${session.token}`])
      expect(JSON.parse(body)).toEqual({
        error: 'invalid_token',
        error_description: 'This session was revoked or has ended. Ask the host app for a new token.',
      })
    })
  })
})
