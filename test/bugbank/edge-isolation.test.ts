/** Bug bank group 3, and what of group 2 is about whose session it is: nothing of one caller reaches another. */
import { Agent, fetch as fetchOver } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ERAS, type Era, type Gateway, HELLO, speaker, startGateway } from '../support/gateway.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

let shared: Upstream
let upstreamA: Upstream
let upstreamB: Upstream
let gateway: Gateway
/** Two callers of two brands, and a second token of the first one's subject. */
let a: string
let b: string
let renewed: string

const CAN_ASK = { elicitation: { form: {} } }

beforeAll(async () => {
  const report = (owner: string) => ({
    report: (call: { text(text: string): void }) => call.text(`report of ${owner}`),
  })
  shared = await startUpstream({
    behaviours: {
      nonce: async (call) => {
        call.progress(1, { message: String(call.args.nonce) })
        await new Promise((resolve) => setTimeout(resolve, Number(call.args.ms ?? 5)))
        call.text(String(call.args.nonce))
      },
    },
  })
  upstreamA = await startUpstream({ tools: [tool('report'), tool('only_a')], behaviours: report('A') })
  upstreamB = await startUpstream({ tools: [tool('report')], behaviours: report('B') })
  const server = (upstream: Upstream, brands: string[]) => ({
    type: 'http',
    url: upstream.url,
    brands,
    tools: { '*': 'read' },
  })
  gateway = await startGateway(
    {
      shared: server(shared, ['alpha', 'beta']),
      crm: server(upstreamA, ['alpha']),
      crm_b: server(upstreamB, ['beta']),
    },
    {},
    { limits: { listPageSize: 2 } },
  )
  await gateway.running.settled(5_000)
  a = await gateway.token({ role: 'person-chat', brand: 'alpha', subject: 'ann' })
  renewed = await gateway.token({ role: 'person-chat', brand: 'alpha', subject: 'ann' })
  b = await gateway.token({ role: 'person-chat', brand: 'beta', subject: 'bob' })
})

afterAll(async () => {
  await gateway?.close()
  await Promise.all([shared, upstreamA, upstreamB].map((upstream) => upstream?.close()))
})

/** A call that echoes a nonce and reports it as progress under the caller's own token. */
async function nonce(
  speak: Awaited<ReturnType<typeof speaker>>,
  era: Era,
  id: number,
  text: string,
  ms = 5,
): Promise<void> {
  const asked = { nonce: text, ms }
  // Both callers use the same ids and the same progress tokens.
  const params = {
    name: 'shared__nonce',
    arguments: asked,
    ...(era === 'legacy' ? { _meta: { progressToken: id } } : {}),
  }
  const { messages, answer } = await speak('tools/call', params, { id, meta: { progressToken: id } })
  expect(answer).toMatchObject({ id, result: { content: [{ text }] } })
  const progress = messages.filter(({ method }) => method === 'notifications/progress')
  expect(progress.map(({ params }) => [params.progressToken, params.message])).toEqual([[id, text]])
}

async function ordinaryCall(): Promise<void> {
  for (const era of ERAS) await nonce(await speaker(gateway, era, a), era, 7, `still there ${era}`)
}

describe('answers', () => {
  test.each(ERAS)(
    'modelcontextprotocol/typescript-sdk#742: overlapping calls of two clients with the same ids, %s',
    async (era) => {
      const clients = await Promise.all([speaker(gateway, era, a), speaker(gateway, era, b)])
      for (let round = 0; round < (era === 'legacy' ? 5 : 2); round++) {
        const ids = Array.from({ length: 100 }, (_, i) => i)
        await Promise.all(
          ids.flatMap((id) => clients.map((speak, i) => nonce(speak, era, id, `${era} ${i} ${round} ${id}`))),
        )
      }
    },
  )

  test('modelcontextprotocol/typescript-sdk#742: two legacy sessions of one token with the same ids', async () => {
    const clients = await Promise.all([speaker(gateway, 'legacy', a), speaker(gateway, 'legacy', a)])
    const ids = Array.from({ length: 50 }, (_, i) => i)
    await Promise.all(
      ids.flatMap((id) => clients.map((speak, i) => nonce(speak, 'legacy', id, `one token ${i} ${id}`))),
    )
  })

  test.each(ERAS)('indexnetwork/index#940: 200 simultaneous calls under two tokens and one id, %s', async (era) => {
    const clients = await Promise.all([speaker(gateway, era, a), speaker(gateway, era, b)])
    const calls = Array.from({ length: 200 }, (_, i) => i)
    await Promise.all(calls.map((i) => nonce(clients[i % 2]!, era, 1, `${era} of ${i % 2} no ${i}`)))
  })

  test.each(ERAS)('supercorp-ai/supergateway#144: 50 clients that leave at 100 ms disturb nobody, %s', async (era) => {
    const stay = await speaker(gateway, era, b)
    const leave = await speaker(gateway, era, a)
    const before = shared.of('tools/call').length
    const left = Array.from({ length: 50 }, (_, i) =>
      leave(
        'tools/call',
        { name: 'shared__slow', arguments: { ms: 400 } },
        { id: i, signal: AbortSignal.timeout(100) },
      ),
    )
    const stayed = Array.from({ length: 10 }, (_, i) => nonce(stay, era, i, `stays ${era} ${i}`, 300))
    const ends = await Promise.allSettled(left)
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(50)
    await Promise.all(stayed)
    expect(shared.of('tools/call').length - before).toBeLessThanOrEqual(60)
    await ordinaryCall()
  })
})

describe('tools', () => {
  test.each(ERAS)(
    'IBM/mcp-context-forge#6959: a tool of the same name at two tenants goes to its own upstream always, %s',
    async (era) => {
      const own = await Promise.all([speaker(gateway, era, a, '/mcp/crm'), speaker(gateway, era, b, '/mcp/crm_b')])
      const all = await Promise.all([speaker(gateway, era, a), speaker(gateway, era, b)])
      const counts = [upstreamA.ledger.length, upstreamB.ledger.length]
      for (let i = 0; i < 100; i++) {
        const [door, name] = i % 4 < 2 ? [own, 'report'] : [all, i % 2 === 0 ? 'crm__report' : 'crm_b__report']
        const { answer } = await door[i % 2]!('tools/call', { name })
        expect(answer.result.content[0].text).toBe(`report of ${i % 2 === 0 ? 'A' : 'B'}`)
      }
      expect([upstreamA.ledger.length - counts[0]!, upstreamB.ledger.length - counts[1]!]).toEqual([50, 50])
    },
  )

  test.each(ERAS)(
    "IBM/mcp-context-forge#6959: another tenant's connector is not there, by either door, %s",
    async (era) => {
      const before = upstreamA.of('tools/call').length
      for (const [path, name] of [
        ['/mcp', 'crm__report'],
        ['/mcp/crm', 'report'],
        ['/mcp/crm', 'crm__report'],
        ['/mcp', 'report'],
      ] as const) {
        const { answer } = await (await speaker(gateway, era, b, path))('tools/call', { name })
        expect(answer.error).toMatchObject({ code: -32602, message: expect.stringMatching(/^Unknown tool/) })
      }
      const { answer } = await (await speaker(gateway, era, b, '/mcp/crm'))('tools/list')
      expect(answer.result).toMatchObject({ tools: [] })
      expect(JSON.stringify(answer)).not.toMatch(/only_a|crm_/)
      expect(upstreamA.of('tools/call')).toHaveLength(before)
    },
  )

  test('A9: lists that alternate over one connection never mix, and say that they are private', async () => {
    const dispatcher = new Agent({ connections: 1 })
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    try {
      for (let i = 0; i < 300; i++) {
        const response = await fetchOver(`${gateway.url}/mcp/${i % 2 === 0 ? 'crm' : 'crm_b'}`, {
          method: 'POST',
          dispatcher,
          headers: {
            authorization: `Bearer ${i % 2 === 0 ? a : b}`,
            'content-type': 'application/json',
            accept: 'application/json',
            'mcp-protocol-version': '2026-07-28',
            'mcp-method': 'tools/list',
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }),
        })
        const { result } = (await response.json()) as any
        expect(result.tools.map(({ name }: { name: string }) => name)).toEqual(
          i % 2 === 0 ? ['only_a', 'report'] : ['report'],
        )
        expect(result.cacheScope).toBe('private')
        expect(response.headers.get('cache-control')).toBe('no-store')
      }
    } finally {
      await dispatcher.close()
    }
  })
})

describe('handles', () => {
  test('stacklok/toolhive#5306: a session goes on under a new token of the same subject', async () => {
    const opened = await gateway.rpc(a, 'initialize', HELLO)
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id')! }
    for (const token of [renewed, a]) {
      const { answer } = await gateway.rpc(token, 'tools/call', { name: 'crm__report' }, { headers })
      expect(answer.result.content[0].text).toBe('report of A')
    }
  })

  test("stacklok/toolhive#5306: another subject's token is refused as for a session that never was, and recorded", async () => {
    const opened = await gateway.rpc(a, 'initialize', HELLO)
    const id = opened.headers.get('mcp-session-id')!
    const { body: session } = await gateway.api('POST', '/v1/sessions', {
      role: 'person-chat',
      brand: 'alpha',
      subject: 'eve',
    })
    const before = shared.requests.length + upstreamA.requests.length
    for (const token of [b, session.token]) {
      const texts = await Promise.all(
        [id, `${id.slice(0, -1)}${id.endsWith('A') ? 'B' : 'A'}`, 'never-was'].map(async (id) => {
          const call = await gateway.rpc(
            token,
            'tools/call',
            { name: 'crm__report' },
            { headers: { 'mcp-session-id': id } },
          )
          const init = {
            headers: { authorization: `Bearer ${token}`, 'mcp-session-id': id, accept: 'text/event-stream' },
          }
          const stream = await fetch(gateway.mcpUrl, init)
          const ended = await fetch(gateway.mcpUrl, { ...init, method: 'DELETE' })
          return [call.status, call.text, stream.status, await stream.text(), ended.status, await ended.text()]
        }),
      )
      expect(texts[0]![0]).toBe(404)
      expect(texts[1]).toEqual(texts[0])
      expect(texts[2]).toEqual(texts[0])
    }
    expect(shared.requests.length + upstreamA.requests.length).toBe(before)
    // Its owner still has it.
    const { status } = await gateway.rpc(a, 'tools/list', {}, { headers: { 'mcp-session-id': id } })
    expect(status).toBe(200)
    await expect
      .poll(async () => (await gateway.api('GET', `/v1/audit?sessionId=${session.id}`)).body.items)
      .toContainEqual(expect.objectContaining({ kind: expect.stringMatching(/refused/) }))
  })

  test.each(ERAS)("B5: another's cursor means as much as an invented one, %s", async (era) => {
    const [first, second, other] = await Promise.all([a, renewed, b].map((token) => speaker(gateway, era, token)))
    const { nextCursor } = (await first!('tools/list')).answer.result
    expect((await first!('tools/list', { cursor: nextCursor })).answer.result.tools.length).toBeGreaterThan(0)
    for (const speak of [second!, other!]) {
      const foreign = await speak('tools/list', { cursor: nextCursor })
      const invented = await speak('tools/list', { cursor: 'invented' })
      expect(foreign.answer.error.code).toBe(-32602)
      expect(foreign.text).toBe(invented.text)
    }
    for (const cursor of ['', 0, null, {}, [nextCursor], `${nextCursor} `, nextCursor.toUpperCase()]) {
      expect((await first!('tools/list', { cursor })).answer.error.code).toBe(-32602)
    }
  })

  test('B5: a request state is good for its own session, tool and arguments, and once', async () => {
    const call = (token: string, params: object, capabilities: object = CAN_ASK) =>
      gateway.modern(
        token,
        'tools/call',
        { name: 'shared__elicit', arguments: {}, ...params },
        { capabilities: { ...capabilities } },
      )
    const asked = await call(a, {})
    expect(asked.answer.result.resultType).toBe('input_required')
    const { requestState, inputRequests } = asked.answer.result
    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: { who: 'ann' } }]),
    )
    const before = shared.ledger.length
    const invented = await call(b, { requestState: 'invented.state', inputResponses })
    const tries = [
      await call(b, { requestState, inputResponses }),
      await call(renewed, { requestState, inputResponses }),
      await call(a, { requestState, inputResponses, arguments: { other: true } }),
      await call(a, { requestState, inputResponses, name: 'shared__insatiable' }),
      await call(a, { requestState: `${requestState}x`, inputResponses }),
      await call(a, { requestState: requestState.split('.')[0], inputResponses }),
      await call(a, { requestState: [requestState], inputResponses }),
    ]
    for (const { answer, text } of tries) {
      expect(answer.error?.code, text).toBe(-32602)
      expect(text).toBe(invented.text)
    }
    expect(shared.ledger).toHaveLength(before)
    expect((await call(a, { requestState, inputResponses })).text).toContain('ann')
    expect((await call(a, { requestState, inputResponses })).answer.error.code).toBe(-32602)
    expect(shared.ledger).toHaveLength(before + 1)
  })

  test("B5: another's answer to a question is not heard, and another's cancel cancels nothing", async () => {
    const hello = { ...HELLO, capabilities: CAN_ASK }
    const [mine, theirs] = await Promise.all(
      [a, b].map(async (token) => (await gateway.rpc(token, 'initialize', hello)).headers.get('mcp-session-id')!),
    )
    const send = (token: string, session: string, message: object) =>
      fetch(gateway.mcpUrl, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-session-id': session,
        },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      })
    const params = { name: 'shared__elicit', arguments: {} }
    const response = await send(a, mine!, { id: 1, method: 'tools/call', params })
    let text = ''
    for await (const bytes of response.body!) {
      text += Buffer.from(bytes).toString()
      const question = /"id":"([^"]+)","method":"elicitation\/create"/.exec(text)?.[1]
      if (question !== undefined && !text.includes('"result"')) {
        const answer = (who: string) => ({ id: question, result: { action: 'accept', content: { who } } })
        expect((await send(b, theirs!, answer('bob'))).status).toBe(202)
        expect((await send(b, mine!, answer('bob'))).status).toBe(404)
        for (const session of [theirs!, mine!])
          await send(b, session, { method: 'notifications/cancelled', params: { requestId: 1 } })
        expect((await send(a, mine!, answer('ann'))).status).toBe(202)
      }
    }
    expect(text).toContain('ann')
    expect(text).not.toContain('bob')
    await ordinaryCall()
  })
})
