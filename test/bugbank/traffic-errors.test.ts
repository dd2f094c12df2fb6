/** Bug bank, group 7: errors, time limits, progress, cancelling and questions to a person, in every pairing of eras. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bank, callText, HTTP_KINDS, KINDS, type Kind, listTexts, startBank } from '../support/bank.ts'
import { ERAS, type Era, freePort, type Gateway, HELLO, startGateway } from '../support/gateway.ts'
import { type StreamingClient, streamingClient } from '../support/streaming.ts'
import { BEHAVIOURS, type Behaviour } from '../support/upstream.ts'

const LIMIT_MS = 2_000
const SECRET = 'configured-secret-value-81723'
const NAMES = [
  'answer',
  'raw',
  'noisy',
  'exit',
  'torn',
  'mute',
  'fail',
  'error',
  'progress',
  'elicit',
  'insatiable',
  'fast',
  'foreign',
  'say',
]
const behaviours: Record<string, Behaviour> = {
  exit: BEHAVIOURS.reset as Behaviour,
  mute: BEHAVIOURS.hang as Behaviour,
  fail: BEHAVIOURS.failing as Behaviour,
  fast: (call) => call.text('fast'),
  /** Sends the texts in `lines` before its answer, which may be one of them. */
  say: async (call) => {
    for (const text of call.args.lines as string[]) call.send(text.replaceAll('ID', call.idText))
    await new Promise((resolve) => setTimeout(resolve, 50))
    call.text('said')
  },
  /** Reports progress of everybody else's calls. */
  foreign: (call) => {
    for (let progressToken = -2; progressToken < 400; progressToken++) {
      if (progressToken === call.meta.progressToken) continue
      const params = { progressToken, progress: 99, message: 'approved' }
      call.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }))
    }
    call.text('told')
  },
}

let bank: Bank
let gateway: Gateway
let token: string
let refusing: ReturnType<typeof createServer>

beforeAll(async () => {
  bank = await startBank(
    NAMES.map((name) => `{"name":"${name}","inputSchema":{"type":"object"}}`),
    { behaviours, entry: { timeout: LIMIT_MS, headers: { 'x-key': SECRET } } },
  )
  refusing = createServer((_req, res) => res.writeHead(401, { 'www-authenticate': 'Bearer' }).end(`no: ${SECRET}`))
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
  const away = { tools: { '*': 'read' }, headers: { 'x-key': SECRET }, type: 'http' }
  for (const kind of ['pipe', 'pipe_new']) delete (bank.servers[kind] as { headers?: unknown }).headers
  gateway = await startGateway({
    ...bank.servers,
    dead: { ...away, url: `http://127.0.0.1:${await freePort()}/mcp` },
    lost: { ...away, url: bank.http.new.url.replace('/mcp', '/wrong') },
    locked: { ...away, url: `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/mcp` },
  })
  await gateway.running.settled(10_000)
  token = await gateway.token({ role: 'person-chat' })
})

afterAll(async () => {
  await gateway?.close()
  refusing?.close()
  await bank?.close()
})

const PAIRS = ERAS.flatMap((era) => KINDS.map((kind) => [era, kind] as const))
const HTTP_PAIRS = ERAS.flatMap((era) => HTTP_KINDS.map((kind) => [era, kind] as const))
const textOf = (answer: any): string => answer.result?.content?.[0]?.text
const codeOf = (answer: any): string | undefined => answer.result?._meta?.['dev.tollgate/decision']?.code

const client = (era: Era, capabilities: object = {}, as = token): Promise<StreamingClient> =>
  streamingClient(gateway, era, as, capabilities)

describe.each(PAIRS)('client %s, upstream %s', (era, kind) => {
  const call = (name: string, args: object = {}) =>
    callText(gateway, era, token, `${kind}__${name}`, JSON.stringify(args))

  test('E7: an error of the upstream is an error under the caller’s id, and isError stays isError', async () => {
    expect((await call('error')).answer).toMatchObject({
      id: 7,
      error: { code: -32602, message: expect.stringMatching(/^bad/) },
    })
    expect((await call('fail')).answer).toMatchObject({
      id: 7,
      result: { isError: true, content: [{ text: 'it failed' }] },
    })
    expect((await call('nothing_of_that_name')).answer).toMatchObject({ id: 7, error: { code: -32602 } })
  })

  test('lynnswap/XcodeMCPKit#210: a cancel reaches the right upstream under its own id, and delays nobody', async () => {
    const { call, cancel } = await client(era)
    const other: Kind = kind === 'old' ? 'new' : 'old'
    const before = { own: bank.arrived(kind).length, other: bank.http[other as 'new'].cancelled().length }
    const aborted = { own: abortedAt(kind), other: abortedAt(other) }
    const slow = call(`${kind}__mute`, {})
    if (kind.startsWith('pipe')) await new Promise((resolve) => setTimeout(resolve, 300))
    else await expect.poll(() => bank.arrived(kind).length).toBe(before.own + 1)
    const began = performance.now()
    const fast = call(`${other}__fast`, {})
    await cancel(slow)
    expect(textOf(await fast.ended)).toBe('fast')
    expect(performance.now() - began).toBeLessThan(1_000)
    await expect.poll(() => heardCancel(kind), { timeout: 1_000, interval: 10 }).toBe(true)
    expect([bank.http[other as 'new'].cancelled().length, abortedAt(other)]).toEqual([before.other, aborted.other])
  })

  const abortedAt = (of: Kind): number =>
    of.startsWith('pipe') ? 0 : bank.http[of as 'new'].aborted.filter(({ rpc }) => rpc === 'tools/call').length

  /** Whether the last call of `mute` at the upstream was cancelled, by its own id. */
  function heardCancel(of: Kind): boolean {
    if (of.startsWith('pipe')) {
      const events = bank.events(of as 'pipe')
      const last = events.findLast(({ event, tool }) => event === 'call' && tool === 'mute')
      return events.some(({ event, id }) => event === 'cancelled' && id === last?.id)
    }
    const { ledger, cancelled, aborted } = bank.http[of as 'new']
    const last = ledger.findLast(({ tool }) => tool === 'mute')
    if (of === 'new') return aborted.some(({ body }) => body === last?.body)
    return cancelled().some(({ requestId }) => requestId === last?.id)
  }
})

/** The same for every pairing, all at once: these take their time. */
const everywhere = (work: (era: Era, kind: Kind) => Promise<void>) =>
  Promise.all(PAIRS.map(([era, kind]) => work(era, kind)))

test('modelcontextprotocol/inspector#2363: silence ends a call in time, and the sentence says that it may have run', async () => {
  await everywhere(async (era, kind) => {
    const began = performance.now()
    const { answer } = await callText(gateway, era, token, `${kind}__mute`, '{}')
    expect(performance.now() - began).toBeGreaterThan(LIMIT_MS - 50)
    expect(performance.now() - began).toBeLessThan(LIMIT_MS + 1_500)
    expect(answer).toMatchObject({ id: 7, result: { isError: true } })
    expect(codeOf(answer)).toBe('upstream_timeout')
    expect(textOf(answer)).toMatch(/may have run/)
  })
})

test('modelcontextprotocol/inspector#2363: progress extends the time, and comes under the caller’s own token', async () => {
  await everywhere(async (era, kind) => {
    const { call } = await client(era)
    const calling = call(`${kind}__progress`, { count: 6, steps: 6, ms: 500 }, { progressToken: `own ${era}` })
    const answer = await calling.ended
    expect(textOf(answer)).toMatch(/^(progressed|done)$/)
    const progress = calling.messages.slice(0, -1)
    const expected = [1, 2, 3, 4, 5, 6].map((step) => [`own ${era}`, step])
    expect(progress.map(({ params }) => [params.progressToken, params.progress])).toEqual(expected)
    expect(progress[0]).toMatchObject({ method: 'notifications/progress', params: { message: 'step 1' } })
  })
})

describe.each(HTTP_PAIRS)('answers that are none, client %s, upstream %s', (era, kind) => {
  const ok = '"result":{"resultType":"complete","content":[]}'
  test.each([
    ['other JSON', 200, 'application/json', `{"Output":1,"password":"${SECRET}"}`],
    ['an empty batch', 200, 'application/json', '[]'],
    ['a string', 200, 'application/json', `"ok ${SECRET}"`],
    ['HTML', 200, 'text/html', `<html>Authorization: Bearer ${SECRET} ${'<p>long</p>'.repeat(500)}`],
    ['an empty body', 200, 'application/json', ''],
    ['a wrong id', 200, 'application/json', `{"jsonrpc":"2.0","id":"other",${ok}}`],
    [
      'both result and error',
      200,
      'application/json',
      `{"jsonrpc":"2.0","id":ID,${ok},"error":{"code":1,"message":"x"}}`,
    ],
    ['neither result nor error', 200, 'application/json', '{"jsonrpc":"2.0","id":ID}'],
    ['a result that is a list', 200, 'application/json', '{"jsonrpc":"2.0","id":ID,"result":[]}'],
    ['HTTP 500', 500, 'text/plain', `stack at /srv/app.js ${SECRET}`],
    ['HTTP 429', 429, 'text/plain', 'slow down'],
  ])('speakeasy-api/gram#3998: %s', async (_what, status, type, body) => {
    const { answer, text } = await callText(gateway, era, token, `${kind}__raw`, JSON.stringify({ status, type, body }))
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: 7, result: { isError: true } })
    expect(codeOf(answer)).toMatch(/^(outcome_unknown|upstream_unavailable)$/)
    expect(textOf(answer)).toContain(kind)
    expect(textOf(answer)).toMatch(/It (may have run|did not run)/)
    expect(text).not.toContain(SECRET)
    expect(text.length).toBeLessThan(3_000)
    expect(bank.arrived(kind).filter(({ body: sent }) => sent.includes(JSON.stringify(body))).length).toBeGreaterThan(0)
  })

  test('I3: progress of another’s call reaches neither its caller nor this one', async () => {
    const { call } = await client(era)
    const other = call(`${kind}__mute`, {}, { progressToken: 1 })
    const own = call(`${kind}__foreign`, {}, { progressToken: 2 })
    expect(textOf(await own.ended)).toBe('told')
    expect(codeOf(await other.ended)).toBe('upstream_timeout')
    expect([own.messages.length, other.messages.length]).toEqual([1, 1])
  })

  test('stacklok/toolhive#1595: notices and requests before the answer are not the answer', async () => {
    const { call } = await client(era)
    const calling = call(`${kind}__noisy`, {}, { progressToken: 9 })
    const answer = await calling.ended
    expect(answer.id).toBe(calling.id)
    const { sampling, ping } = JSON.parse(textOf(answer))
    expect([sampling.error.code, ping.result]).toEqual([-32601, {}])
    expect(calling.messages.map(({ method }) => method)).toEqual(['notifications/progress', undefined])
  })
})

describe.each(PAIRS)('doubled keys, client %s, upstream %s', (era, kind) => {
  const twice = '"message":"a","message":"b","requestedSchema":{}'
  const request = `"method":"elicitation/create","params":{"message":"a","requestedSchema":{}}`
  const inputs = '"resultType":"input_required","requestState":"s"'
  test.each<[string, string, string]>([
    ['progress', '"method":"notifications/progress","params":{"progressToken":ID,"progress":1,"progress":2}', 'said'],
    [
      'params of progress',
      '"method":"notifications/progress","params":{},"params":{"progressToken":ID,"progress":1}',
      'said',
    ],
    ['a request', '"id":1,"id":"one","method":"ping"', 'said'],
    ['a question', `"id":"q","id":"r",${request}`, 'said'],
    ['params of a question', `"id":"q","params":{},${request}`, 'said'],
    ['the message of a question', `"id":"q","method":"elicitation/create","params":{${twice}}`, 'said'],
    ['a notice', '"method":"notifications/tools/list_changed","method":"notifications/tools/list_changed"', 'said'],
    ['an error', '"id":ID,"error":{"code":-32602,"message":"x"},"error":{"code":1}', 'none'],
    ['an answer', '"id":ID,"result":{"content":[]},"result":{"content":[]}', 'none'],
    ['_meta of a result', '"id":ID,"result":{"content":[],"_meta":{"a/b":1,"a/b":2}}', 'none'],
    ['a demand for input', `"id":ID,"result":{${inputs},${inputs}}`, 'none'],
    [
      'questions in a demand',
      `"id":ID,"result":{${inputs},"inputRequests":{"k":{${request}},"k":{${request}}}}`,
      'none',
    ],
    ['one question of a demand', `"id":ID,"result":{${inputs},"inputRequests":{"k":{${request},${request}}}}`, 'none'],
  ])(
    'GHSA-q382-vc8q-7jhj from an upstream, in %s: one answer, and the gateway lives',
    async (_what, members, outcome) => {
      for (const capabilities of [{}, { elicitation: { form: {} } }]) {
        const { call } = await client(era, capabilities)
        const calling = call(`${kind}__say`, { lines: [`{"jsonrpc":"2.0",${members}}`] }, { progressToken: 1 })
        const answer = await calling.ended
        expect(answer.id).toBe(calling.id)
        // Over HTTP the call's own stream has then become unreadable; over pipes a line is skipped.
        if (outcome === 'said')
          expect(codeOf(answer) ?? 'ok').toMatch(kind.startsWith('pipe') ? /^ok$/ : /^(ok|outcome_unknown)$/)
        else expect(codeOf(answer)).toMatch(/^(outcome_unknown|upstream_unavailable)$/)
      }
      const next = await callText(gateway, era, token, `${kind}__answer`, '{"result":"{\\"content\\":[]}"}')
      expect(next.answer.result.content).toEqual([])
    },
  )
})

describe.each(ERAS)('a list in the %s era', (era) => {
  test('PrefectHQ/fastmcp#4227: an upstream that is away is said to be away, never an empty list', async () => {
    const only = await gateway.token({ role: 'person-chat', tools: ['mcp__dead__*', 'mcp__lost__*', 'mcp__locked__*'] })
    const { tools, meta } = await listTexts(gateway, era, only)
    expect(tools.size).toBe(0)
    const rows = meta['dev.tollgate/withheld'] as { tool: string; code: string; reason: string }[]
    expect(rows.map(({ tool }) => tool).sort()).toEqual(['mcp__dead__*', 'mcp__locked__*', 'mcp__lost__*'])
    expect(rows.find(({ tool }) => tool === 'mcp__locked__*')?.reason).toMatch(/"locked".*401/)
    expect(rows.find(({ tool }) => tool === 'mcp__lost__*')?.reason).toMatch(/"lost".*404/)
    expect(JSON.stringify(rows)).not.toContain(SECRET)
    const hello =
      era === 'legacy' ? await gateway.rpc(only, 'initialize', HELLO) : await gateway.modern(only, 'server/discover')
    for (const name of ['dead', 'lost', 'locked']) expect(hello.answer.result.instructions).toContain(name)
  })
})

describe.each(PAIRS)('BerriAI/litellm#23761: a question to the person, client %s, upstream %s', (era, kind) => {
  const ASKS = { elicitation: { form: {} } }

  // All callers share the one child of a legacy stdio upstream, so its questions would belong to none of their calls.
  test.runIf(kind === 'pipe')('is turned down quickly, since the upstream was told that nobody is asked', async () => {
    const { call } = await client(era, ASKS)
    expect(textOf(await call('pipe__elicit', {}).ended)).toContain('-32601')
    const greeted = bank.events('pipe').find(({ event }) => event === 'initialize') as any
    expect(greeted.params.capabilities.elicitation).toBeUndefined()
  })

  test.runIf(kind !== 'pipe')('reaches a client that can ask, names who asks, and the answer comes back', async () => {
    const { call, respond } = await client(era, ASKS)
    const args = {}
    let calling = call(`${kind}__elicit`, args)
    const content = { ok: true, n: 1 }
    if (era === 'legacy') {
      await expect.poll(() => calling.messages.length, { timeout: 3_000 }).toBe(1)
      const [question] = calling.messages
      expect(question).toMatchObject({
        method: 'elicitation/create',
        params: { message: expect.stringContaining(`[${kind}] `) },
      })
      expect(await respond(question.id, { action: 'accept', content, _meta: { 'dev.tollgate/x': 1 } })).toBe(202)
    } else {
      const asked = await calling.ended
      expect(asked.result.resultType).toBe('input_required')
      const [[key, request]] = Object.entries<any>(asked.result.inputRequests) as [[string, any]]
      expect(request).toMatchObject({
        method: 'elicitation/create',
        params: { message: expect.stringContaining(`[${kind}] `) },
      })
      const { requestState } = asked.result
      const params = { requestState, inputResponses: { [key]: { action: 'accept', content } } }
      const wrong = call(`${kind}__elicit`, { other: 1 }, { params })
      expect((await wrong.ended).error.code).toBe(-32602)
      const stranger = await client(era, ASKS, await gateway.token({ role: 'person-chat' }))
      expect((await stranger.call(`${kind}__elicit`, args, { params }).ended).error.code).toBe(-32602)
      calling = call(`${kind}__elicit`, args, { params })
      await calling.ended
      const again = call(`${kind}__elicit`, args, { params })
      expect((await again.ended).error.code).toBe(-32602)
    }
    const said = textOf(await calling.ended)
    expect(said).toContain('"action":"accept"')
    expect(said).toContain(JSON.stringify(content))
    expect(said).not.toContain('dev.tollgate')
  })

  test('is turned down quickly where the client cannot ask', async () => {
    const { call } = await client(era)
    const began = performance.now()
    const answer = await call(`${kind}__elicit`, {}).ended
    expect(performance.now() - began).toBeLessThan(1_500)
    expect(textOf(answer)).toMatch(/decline|error/)
    const { call: urlOnly } = await client(era, { elicitation: { url: {} } })
    expect(textOf(await urlOnly(`${kind}__elicit`, {}).ended)).toMatch(/decline|error/)
  })
})

test.each(ERAS)(
  'BerriAI/litellm#23761: an upstream that asks for sampling, or for ever, is not waited for (%s)',
  async (era) => {
    const { call } = await client(era)
    for (const args of [{ method: 'sampling/createMessage' }, { method: 'roots/list' }, {}]) {
      const answer = await call('new__insatiable', args).ended
      expect(codeOf(answer)).toBe('outcome_unknown')
    }
  },
)

describe.each(PAIRS)('an upstream that dies, client %s, upstream %s', (era, kind) => {
  test('IBM/mcp-context-forge#6275: is a result with isError that says that it may have run, at every door', async () => {
    for (const path of ['/mcp', `/mcp/${kind}`]) {
      const prefix = path === '/mcp' ? `${kind}__` : ''
      const ready = async () => (await listTexts(gateway, era, token, path)).tools.has(`${prefix}exit`)
      await expect.poll(ready, { timeout: 8_000, interval: 100 }).toBe(true)
      for (const name of kind.startsWith('pipe') ? ['exit'] : ['exit', 'torn']) {
        const { status, answer } = await callText(gateway, era, token, `${prefix}${name}`, '{}', { path })
        expect([status, answer.id, answer.result?.isError]).toEqual([200, 7, true])
        expect(codeOf(answer)).toBe('outcome_unknown')
        expect(textOf(answer)).toMatch(/may have run/)
      }
    }
  })
})
