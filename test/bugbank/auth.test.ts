/** Bug bank groups 9 and 10 as far as tokens go: who is let in by which door, and what a refusal says. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signEd } from '../session/world.ts'
import { ADMIN_KEY, ERAS, type Gateway, HELLO, speaker, startGateway } from '../support/gateway.ts'
import { rawExchange, rawRequest } from '../support/raw.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

const HOST = 'https://host.example'
const pair = generateKeyPairSync('ed25519')
const stranger = generateKeyPairSync('ed25519')
const READS = ['echo', 'find']
const WRITES = ['write_file', 'delete_file', 'unclassified']

let upstream: Upstream
let gateway: Gateway
/** Holds the reads of `u` and may ask nobody. */
let reader: string

beforeAll(async () => {
  const run = (call: { text(text: string): void }) => call.text('ran')
  upstream = await startUpstream({
    tools: [...READS, ...WRITES].map((name) => tool(name)),
    behaviours: Object.fromEntries(['find', ...WRITES].map((name) => [name, run])),
  })
  const { x, crv, kty } = pair.publicKey.export({ format: 'jwk' })
  const read = { access: 'read', grantable: true }
  gateway = await startGateway(
    {
      u: {
        type: 'http',
        url: upstream.url,
        tools: { echo: read, find: read, write_file: 'write', delete_file: 'write' },
      },
    },
    {},
    {
      authorizationServers: ['https://login.example'],
      issuers: [
        {
          issuer: HOST,
          jwks: { keys: [{ x, crv, kty, kid: 'k' }] },
          brands: ['default'],
          roles: ['person-chat', 'specialist'],
        },
      ],
    },
  )
  await gateway.running.settled(5_000)
  reader = await gateway.token({ role: 'specialist', grant: { connectors: ['u'] } })
})

afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
})

const port = (): number => Number(new URL(gateway.url).port)
const ECHO = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"u__echo","arguments":{}}}'

/** Runs the work, and sees that no call reached the upstream and that the next ordinary call works. */
async function unreached(work: () => Promise<void>): Promise<void> {
  const before = upstream.of('tools/call').length
  await work()
  expect(upstream.of('tools/call')).toHaveLength(before)
  for (const era of ERAS) {
    const { answer } = await (await speaker(gateway, era, reader))('tools/call', { name: 'u__echo', arguments: {} })
    expect(answer.result.content[0].text).toBe('{}')
  }
}

/** Knocks at /mcp with these header lines for authentication, as raw bytes. */
async function knock(lines: readonly string[], path = '/mcp', body = ECHO) {
  const headers = ['Host: localhost', 'Content-Type: application/json', 'Accept: application/json', ...lines]
  const { answers } = await rawExchange(port(), [rawRequest(`POST ${path} HTTP/1.1`, headers, body)])
  return answers[0]!
}

/** Claims of a host-signed token; `undefined` leaves one out. */
function hostClaims(changes: Record<string, unknown> = {}): object {
  const iat = Math.floor(Date.now() / 1000)
  return {
    iss: HOST,
    aud: gateway.mcpUrl,
    sub: 'host',
    jti: `j${Math.random()}`,
    iat,
    exp: iat + 600,
    brand: 'default',
    role: 'specialist',
    route: 'standard',
    ceiling: ['mcp__u__*'],
    grant: { connectors: ['u'] },
    approval: { channel: 'none' },
    ...changes,
  }
}
const TYP = 'tollgate-session+jwt'
const hostToken = (changes: Record<string, unknown> = {}, header: object = {}): string =>
  signEd({ alg: 'EdDSA', typ: TYP, kid: 'k', ...header }, hostClaims(changes), pair.privateKey)

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

describe('rights', () => {
  test.each(ERAS)('IBM/mcp-context-forge#4671: a token limited to reading writes nothing, %s', async (era) => {
    await unreached(async () => {
      const all = await gateway.token({ role: 'person-chat', approval: { channel: 'none' } })
      for (const [token, code] of [
        [reader, 'unknown'],
        [all, 'approval_required'],
      ] as const) {
        const speak = await speaker(gateway, era, token)
        for (const name of WRITES) {
          const { answer } = await speak('tools/call', { name: `u__${name}`, arguments: {} })
          if (code === 'unknown') expect(answer.error).toMatchObject({ code: -32602 })
          else {
            expect(answer.result.isError).toBe(true)
            expect(answer.result._meta['dev.tollgate/decision'].code).toBe('approval_required')
          }
        }
      }
    })
  })

  test('IBM/mcp-context-forge#4671: a session token decides no card and opens no admin door', async () => {
    const asking = await gateway.api('POST', '/v1/sessions', { role: 'person-chat', approval: { channel: 'inbox' } })
    const leave = AbortSignal.timeout(500)
    await gateway.modern(asking.body.token, 'tools/call', { name: 'u__write_file' }, { signal: leave }).catch(() => {})
    const card = (await gateway.api('GET', '/v1/approvals?status=pending')).body.items[0]
    const doors: Array<[string, string, unknown?]> = [
      ['POST', `/v1/approvals/${card.id}/approve`, {}],
      ['POST', `/v1/approvals/${card.id}/deny`, {}],
      ['GET', '/v1/approvals'],
      ['GET', `/v1/approvals/${card.id}`],
      ['GET', '/v1/approvals/events'],
      ['POST', '/v1/sessions', { role: 'person-chat' }],
      ['GET', '/v1/sessions'],
      ['GET', `/v1/sessions/${asking.body.id}`],
      ['DELETE', `/v1/sessions/${asking.body.id}`],
      ['POST', `/v1/sessions/${asking.body.id}/end`, {}],
      ['POST', '/v1/explain', { session: asking.body.id, tool: 'u__echo' }],
      ['GET', '/v1/audit'],
      ['GET', '/v1/audit/verify'],
      ['GET', '/v1/connectors'],
      ['GET', '/v1/roles'],
      ['POST', '/v1/keys/rotate', {}],
      ['GET', '/v1/openapi.json'],
      ['GET', '/v1/nothing'],
    ]
    await unreached(async () => {
      for (const token of [
        reader,
        asking.body.token,
        hostToken({ role: 'person-chat' }),
        hostToken({}, { typ: 'tollgate-approver+jwt' }),
      ]) {
        for (const [method, path, body] of doors) {
          const response = await fetch(`${gateway.url}${path}`, {
            method,
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          })
          expect([path, response.status]).toEqual([path, 401])
          expect(await response.json()).toMatchObject({ code: 'unauthorized' })
        }
      }
      expect((await gateway.api('GET', `/v1/approvals/${card.id}`)).body.status).toBe('pending')
    })
  })

  test('BerriAI/litellm#33397: a tool named without its connector granted is not held; the ceiling is an intersection', async () => {
    await unreached(async () => {
      const rows: Array<[Record<string, unknown>, string[]]> = [
        [{}, ['u__echo', 'u__find']],
        [{ grant: { connectors: [] } }, []],
        [{ grant: { connectors: [] }, ceiling: ['mcp__u__echo'] }, []],
        [{ grant: { connectors: ['other'] }, ceiling: ['mcp__u__echo'] }, []],
        [{ ceiling: ['mcp__u__echo'] }, ['u__echo']],
        [{ ceiling: [] }, []],
        [{ ceiling: ['mcp__other__*'] }, []],
        [{ ceiling: ['mcp__u__write_file', 'mcp__u__unclassified'] }, []],
        [{ route: 'read-only' }, []],
        [{ role: 'person-chat', ceiling: ['mcp__u__echo'] }, ['u__echo']],
      ]
      for (const [changes, holds] of rows) {
        for (const era of ERAS) {
          const speak = await speaker(gateway, era, hostToken(changes))
          const names = (await speak('tools/list')).answer.result.tools.map(({ name }: { name: string }) => name)
          expect([changes, names]).toEqual([changes, holds])
          for (const name of READS.map((name) => `u__${name}`).filter((name) => !holds.includes(name))) {
            expect((await speak('tools/call', { name })).answer.error).toMatchObject({ code: -32602 })
          }
        }
      }
      const asked = { role: 'specialist', tools: ['mcp__u__echo'] }
      expect((await gateway.api('POST', '/v1/sessions', asked)).status).toBe(422)
    })
  })

  test('BerriAI/litellm#20383: the same rights by each kind of token give the same decisions', async () => {
    const decisions = async (token: string) => {
      const speak = await speaker(gateway, 'modern', token)
      const list = (await speak('tools/list')).answer.result.tools
      const calls = await Promise.all(
        [...READS, ...WRITES, 'nothing'].map(async (name) => {
          const { answer } = await speak('tools/call', { name: `u__${name}`, arguments: {} })
          return answer.error ?? answer.result._meta?.['dev.tollgate/decision']?.code ?? answer.result.content
        }),
      )
      return { list, calls }
    }
    const grant = { connectors: ['u'] }
    expect(await decisions(hostToken({ grant }))).toEqual(
      await decisions(await gateway.token({ role: 'specialist', grant })),
    )
    const person = { role: 'person-chat', approval: { channel: 'none' } }
    expect(await decisions(hostToken({ ...person, grant: { connectors: [] } }))).toEqual(
      await decisions(await gateway.token(person)),
    )
  })

  test.each(['role', 'brand', 'route', 'ceiling', 'grant', 'approval', 'sub', 'jti', 'iat', 'exp', 'aud', 'iss'])(
    'BerriAI/litellm#20383: a token without the claim %s has no rights at all',
    async (claim) => {
      await unreached(async () => {
        for (const value of [undefined, null, [], {}, 7, '', true, 'goal-agent']) {
          if (claim === 'ceiling' && Array.isArray(value)) continue
          if (['sub', 'jti'].includes(claim) && value === 'goal-agent') continue
          if (
            claim === 'grant' &&
            typeof value === 'object' &&
            value !== null &&
            !Array.isArray(value) &&
            'connectors' in value
          )
            continue
          const { status } = await knock([`Authorization: Bearer ${hostToken({ [claim]: value })}`])
          expect([value, status]).toEqual([value, 401])
        }
      })
    },
  )

  test('BerriAI/litellm#20383: an issuer names only what it is configured for', async () => {
    await unreached(async () => {
      for (const changes of [
        { role: 'coworker', grant: { connectors: [] } },
        { brand: 'other' },
        { iss: `${HOST}/` },
        { iss: gateway.mcpUrl },
        { iss: HOST.toUpperCase() },
      ]) {
        expect((await knock([`Authorization: Bearer ${hostToken(changes)}`])).status).toBe(401)
      }
    })
  })

  test.each(['own', 'host-signed'])(
    'IBM/mcp-context-forge#3409: the smallest %s token for one tool works on every door',
    async (kind) => {
      const token =
        kind === 'own'
          ? await gateway.token({ role: 'person-chat', tools: ['mcp__u__echo'] })
          : hostToken({ ceiling: ['mcp__u__echo'] })
      for (const era of ERAS) {
        for (const [path, name] of [
          ['/mcp', 'u__echo'],
          ['/mcp/u', 'echo'],
        ] as const) {
          const speak = await speaker(gateway, era, token, path)
          expect((await speak('tools/list')).answer.result.tools.map(({ name }: { name: string }) => name)).toEqual([
            name,
          ])
          expect((await speak('tools/call', { name, arguments: {} })).answer.result.content[0].text).toBe('{}')
        }
      }
      const opened = await gateway.rpc(token, 'initialize', HELLO)
      const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': opened.headers.get('mcp-session-id')! }
      const leave = new AbortController()
      const stream = await fetch(gateway.mcpUrl, {
        headers: { ...headers, accept: 'text/event-stream' },
        signal: leave.signal,
      })
      expect(stream.status).toBe(200)
      leave.abort()
      expect(
        (await gateway.rpc(token, 'ping', {}, { headers: { 'mcp-session-id': headers['mcp-session-id'] } })).answer
          .result,
      ).toEqual({})
      expect((await fetch(gateway.mcpUrl, { method: 'DELETE', headers })).status).toBe(200)
      expect((await fetch(gateway.mcpUrl, { method: 'DELETE', headers })).status).toBe(404)
    },
  )
})

describe('mcpjungle/MCPJungle#252: nothing of the caller goes upstream', () => {
  test.each(ERAS)('no token, cookie, key, address or header of its own, %s', async (era) => {
    const canary = 'CANARY-92c1'
    const headers = {
      cookie: `sid=${canary}`,
      'x-api-key': canary,
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-host': `${canary}.example`,
      forwarded: `for=${canary}`,
      'x-real-ip': '203.0.113.9',
      'proxy-authorization': `Basic ${canary}`,
      'x-custom': canary,
      'user-agent': canary,
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      'mcp-param-secret': canary,
      'last-event-id': canary,
      referer: `https://${canary}.example/`,
    }
    const speak = await speaker(gateway, era, reader)
    const before = upstream.requests.length
    const { answer } = await speak('tools/call', { name: 'u__echo', arguments: {} }, { headers })
    expect(answer.result.content[0].text).toBe('{}')
    const seen = JSON.stringify(
      upstream.requests.slice(before).map(({ rawHeaders, body, path }) => [rawHeaders, body, path]),
    )
    for (const secret of [canary, reader, reader.split('.')[2]!, '203.0.113.9', 'a'.repeat(32)])
      expect(seen).not.toContain(secret)
    const names = upstream.requests.slice(before).flatMap(({ headers }) => Object.keys(headers))
    expect(
      names.filter((name) =>
        /^(authorization|cookie|x-|forwarded|proxy|referer|traceparent|mcp-param|last-event)/.test(name),
      ),
    ).toEqual([])
  })
})
