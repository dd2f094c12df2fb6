import { describe, expect, onTestFinished, test } from 'vitest'
import type { ElicitationModes, UpstreamCall } from '../../src/connector/connector.ts'
import { greet as greetUpstream } from '../../src/connector/mcp/handshake.ts'
import { createHttpTransport } from '../../src/connector/mcp/http.ts'
import { hold, type Link, release } from '../../src/connector/mcp/link.ts'
import { createSessions } from '../../src/connector/mcp/sessions.ts'
import { call, ready, start, textOf, until, upstream } from '../support/connectors.ts'

test('each caller has its own session with an upstream that keeps state, and keeps it', async () => {
  const up = await upstream({ era: 'legacy', sessions: true })
  const { connector } = await ready(up)
  const five = async (caller: string): Promise<string> => {
    for (let i = 0; i < 5; i++) await call(connector, 'increment', {}, { caller })
    return textOf(await call(connector, 'get', {}, { caller }))
  }
  expect(await Promise.all([five('a'), five('b')])).toEqual(['5', '5'])
  expect(new Set(up.ledger.map((run) => run.session)).size).toBe(2)
})

test('an upstream without sessions is shared by all callers over one connection state', async () => {
  const up = await upstream({ era: 'legacy' })
  const { connector } = await ready(up)
  await Promise.all(['a', 'b', 'c'].map((caller) => call(connector, 'echo', {}, { caller })))
  expect(up.of('initialize')).toHaveLength(1)
})

test('many first calls of one caller share one handshake', async () => {
  const up = await upstream({ era: 'legacy', sessions: true })
  const { connector } = await ready(up)
  await Promise.all(Array.from({ length: 50 }, () => call(connector, 'increment')))
  expect(up.of('initialize')).toHaveLength(2)
  expect(textOf(await call(connector, 'get'))).toBe('50')
})

describe('a session that the upstream lost', () => {
  const LOST: Array<[string, number, string, 1 | 0]> = [
    ['404', 404, 'gone', 1],
    ['400 with a text', 400, 'Bad Request: No valid session ID provided', 1],
    [
      '200 with an error',
      200,
      '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"invalid or expired session"}}',
      1,
    ],
    ['503 with a text', 503, 'Session not found', 0],
  ]

  test.each(LOST)(
    'by %s is made again once, and a call that cannot have run is sent again',
    async (_name, status, body, runs) => {
      const up = await upstream({ era: 'legacy', sessions: true })
      const { connector } = await ready(up)
      await call(connector, 'increment')
      const lost = up.ledger[0]?.session
      up.setIntercept((seen, response) => {
        if (seen.rpc !== 'tools/call' || seen.headers['mcp-session-id'] !== lost) return false
        response.writeHead(status, { 'content-type': status === 200 ? 'application/json' : 'text/plain' })
        response.end(body.replace('ID', String(JSON.parse(seen.body).id)))
        return true
      })
      const answer = await call(connector, 'increment')
      expect(answer.kind).toBe(runs === 1 ? 'result' : 'failed')
      if (runs === 0) expect(answer).toMatchObject({ code: 'upstream_unavailable', ran: 'maybe' })
      expect(up.ledger).toHaveLength(1 + runs)
      expect(textOf(await call(connector, 'get'))).toBe(String(runs))
      expect(up.of('initialize')).toHaveLength(3)
    },
  )

  test.each([401, 403])('is not what %i means', async (status) => {
    const up = await upstream({ era: 'legacy', sessions: true })
    const { connector } = await ready(up)
    await call(connector, 'echo')
    up.setIntercept((seen, response) => {
      if (seen.rpc !== 'tools/call') return false
      response.writeHead(status)
      response.end('session expired')
      return true
    })
    expect(await call(connector, 'echo')).toMatchObject({ kind: 'failed', ran: 'no' })
    expect(up.of('initialize')).toHaveLength(2)
  })

  test('again and again is no loop', async () => {
    const up = await upstream({ era: 'legacy', sessions: true })
    const { connector } = await ready(up)
    up.setIntercept((seen, response) => {
      if (seen.rpc !== 'tools/call') return false
      response.writeHead(404)
      response.end()
      return true
    })
    expect(await call(connector, 'echo')).toMatchObject({ kind: 'failed', code: 'upstream_unavailable', ran: 'no' })
    expect(up.of('tools/call')).toHaveLength(2)
    expect(up.of('initialize')).toHaveLength(3)
  })

  test('under 100 calls at once costs one handshake, and each call runs once', async () => {
    const up = await upstream({ era: 'legacy', sessions: true })
    const { connector } = await ready(up)
    await call(connector, 'echo')
    up.forgetSessions()
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => call(connector, 'echo', { i })))
    expect(answers.map(textOf)).toEqual(Array.from({ length: 100 }, (_, i) => `{"i":${i}}`))
    expect(up.ledger).toHaveLength(101)
    expect(up.of('initialize')).toHaveLength(3)
  })
})

test('sessions are ended with the connector', async () => {
  const up = await upstream({ era: 'legacy', sessions: true })
  const { connector } = await ready(up)
  await call(connector, 'echo')
  expect(up.sessions()).toHaveLength(2)
  await connector.close()
  await until(() => up.sessions().length === 0)
})

test('a call under way when the connector closes is told so', async () => {
  const up = await upstream({ era: 'legacy', sessions: true })
  const { connector } = await ready(up)
  const running = start(connector, 'hang')
  await until(() => up.ledger.length === 1)
  await connector.close()
  expect(await running.answer).toMatchObject({ kind: 'failed', ran: 'maybe' })
})

describe('the keeper of sessions', () => {
  async function keeper(more: { idleMs?: number; most?: number }) {
    const up = await upstream({ era: 'legacy', sessions: true })
    const transport = createHttpTransport(
      { url: up.url, headers: {}, rules: { allowPrivate: true, hosts: [] }, connectTimeoutMs: 1_000 },
      (text) => text,
    )
    const greeting = {
      transport,
      client: { name: 't', version: '0' },
      events: { onNotice() {}, onGone() {} },
      timeoutMs: 1_000,
      snip: (text: string) => text,
    }
    const greet = (modes: ElicitationModes) => greetUpstream({ ...greeting, modes, era: 'legacy' })
    const main = await greet({ form: false, url: false })
    if (!('link' in main)) throw new Error(main.failure)
    const sessions = createSessions({ main: () => main.link, greet, ...more })
    onTestFinished(async () => {
      await sessions.close()
      await transport.close()
    })
    const linkFor = async (caller: string): Promise<Link> => {
      const link = await sessions.linkFor({
        session: { id: caller },
        elicitation: { form: false, url: false },
      } as UpstreamCall)
      if (typeof link === 'string') throw new Error(link)
      return link
    }
    return { up, linkFor }
  }

  test('ends one that nobody used for long, but none with a call under way', async () => {
    const { up, linkFor } = await keeper({ idleMs: 100 })
    hold(await linkFor('busy'))
    await linkFor('idle')
    await until(() => up.sessions().length === 2)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(up.sessions()).toHaveLength(2)
    expect(up.requests.filter((seen) => seen.method === 'DELETE')).toHaveLength(1)
  })

  test('makes room by ending the longest unused, and refuses when all are in use', async () => {
    const { up, linkFor } = await keeper({ most: 2 })
    const first = await linkFor('a')
    await linkFor('b')
    expect(await linkFor('a')).toBe(first)
    hold(first)
    await until(() => up.sessions().length === 3)
    hold(await linkFor('c'))
    expect(await linkFor('a')).toBe(first)
    await until(() => up.sessions().length === 3)
    await expect(linkFor('d')).rejects.toThrow('all of them in use')
    release(first)
    await linkFor('d')
    await until(() => up.requests.filter((seen) => seen.method === 'DELETE').length === 2)
  })
})
