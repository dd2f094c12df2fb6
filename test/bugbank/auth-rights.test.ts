/** Bug bank groups 9 and 10: what a good token may do, whoever signed it, and what of its bearer goes upstream. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ERAS, HELLO, speaker } from '../support/gateway.ts'
import {
  closeWorld,
  gateway,
  HOST,
  hostToken,
  knock,
  openWorld,
  READS,
  reader,
  unreached,
  upstream,
  WRITES,
} from './auth-world.ts'

beforeAll(openWorld)
afterAll(closeWorld)

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
