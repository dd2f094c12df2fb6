import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { Declaration } from '../../src/connector/declaration.ts'
import { defineConnector } from '../../src/connector/define.ts'
import { createEraser } from '../../src/connector/native/secrets.ts'
import { body, type ConnectionKind, path, Refusal, refusedBy, type Run } from '../../src/connector/native/kit.ts'
import { bench, resultOf } from './world.ts'

const KEY = 'canary/+secret key'
const connection: ConnectionKind = {
  fields: { key: { title: 'a key', schema: z.string() } },
  baseUrl: 'https://api.vendor.example/v1',
  authorize: ({ key }) => ({ authorization: `Bearer ${key}` }),
  check: async () => 'Fine.',
}
const facts = { access: 'write', grantable: false, ask: 'always', withoutChannel: 'refuses' } as const

/** A connector of one tool that does what the test says, and the far side. */
async function world(
  run: (run: Run<{ id: string }>) => Promise<Record<string, unknown>>,
  listener: RequestListener,
  more: Partial<ConnectionKind> = {},
  parts: Parameters<typeof bench>[3] = {},
) {
  const seen: string[] = []
  const server = createServer((req, res) => {
    seen.push(`${req.method} ${req.url} ${req.headers.authorization ?? 'nothing'}`)
    listener(req, res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const declared = defineConnector({
    slug: 'vendor',
    title: 'Vendor',
    kind: 'connector',
    credentials: 'brand',
    when: 'Connected.',
    connection: { ...connection, ...more },
    tools: [
      {
        name: 'act',
        ...facts,
        body: body({ title: 'Act', description: 'Acts.', input: z.strictObject({ id: z.string() }), run }),
      },
    ],
  })
  const made = bench(declared, `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, { key: KEY }, parts)
  onTestFinished(async () => {
    await made.close()
    server.closeAllConnections()
    server.close()
  })
  return { ...made, seen, act: (id = 'x') => made.call('act', { id }) }
}
const says =
  (status: number, headers: Record<string, string> = {}, text = '{}'): RequestListener =>
  (_req, res) => {
    res.writeHead(status, headers)
    res.end(text)
  }
/** The first answers, then the last for good. */
const inTurn = (...listeners: RequestListener[]): RequestListener => {
  let at = 0
  return (req, res) => listeners[Math.min(at++, listeners.length - 1)]?.(req, res)
}

describe('what has no effect', () => {
  it.each([429, 502, 503, 504])('is tried again on %i, waiting as the vendor says', async (status) => {
    const { act, seen, waits } = await world(
      async ({ http }) => ({ got: (await http.get<{ ok: boolean }>(path`/x`)).json.ok }),
      inTurn(says(status, { 'retry-after': '3' }), says(status), says(200, {}, '{"ok":true}')),
    )
    expect(resultOf(await act())).toEqual({ got: true })
    expect(seen).toHaveLength(3)
    expect(waits).toEqual([3_000, 2_000])
  })

  it('is tried three times in all, and not where the wait is longer than 20 s', async () => {
    const often = await world(({ http }) => http.get(path`/x`).then(() => ({})), says(503))
    expect(await often.act()).toMatchObject({ code: 'upstream_unavailable', ran: 'no' })
    expect(often.seen).toHaveLength(3)
    const long = await world(({ http }) => http.get(path`/x`).then(() => ({})), says(429, { 'retry-after': '21' }))
    expect(await long.act()).toMatchObject({ code: 'rate_limited', facts: { retry_after_s: 21 } })
    expect(long.seen).toHaveLength(1)
  })

  it.each([400, 404, 500, 501])('is not tried again on %i', async (status) => {
    const { act, seen } = await world(({ http }) => http.get(path`/x`).then(() => ({})), says(status))
    expect(await act()).toMatchObject({ kind: 'failed', ran: 'no' })
    expect(seen).toHaveLength(1)
  })

  it('is also a POST that says it is safe', async () => {
    const { act, seen } = await world(
      ({ http }) => http.post(path`/x`, { json: {}, safe: true }).then(() => ({})),
      inTurn(says(502), says(200)),
    )
    expect(await act()).toMatchObject({ kind: 'result' })
    expect(seen).toHaveLength(2)
  })
})

describe('what may have an effect', () => {
  it.each([429, 500, 502, 503, 504, 302, 408])('is sent once, whatever comes: %i', async (status) => {
    const { act, seen } = await world(({ http }) => http.post(path`/x`).then(() => ({})), says(status))
    const known = status === 429
    expect(await act()).toMatchObject(
      known ? { code: 'rate_limited', ran: 'no' } : { code: 'outcome_unknown', ran: 'maybe' },
    )
    expect(seen).toHaveLength(1)
  })

  it('did not run where no connection was made', async () => {
    const { act, vendor: _, ...made } = await world(({ http }) => http.post(path`/x`).then(() => ({})), says(200))
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    expect(made.seen).toEqual([])
    const nobody = await world(
      ({ http }) => http.post(path`/x`).then(() => ({})),
      says(200),
      {},
      {
        override: { baseUrl: `http://127.0.0.1:${port}`, allowPrivate: true },
      },
    )
    expect(await nobody.act()).toMatchObject({ code: 'upstream_unavailable', ran: 'no' })
  })

  it('once done, makes every later failure of the call unknown', async () => {
    const { act } = await world(
      async ({ http }) => {
        await http.post(path`/made`)
        await http.get(path`/look`)
        return {}
      },
      inTurn(says(200), says(404)),
    )
    expect(await act()).toMatchObject({ code: 'outcome_unknown', ran: 'maybe', facts: { http_status: 404 } })
  })

  it('is unknown when its caller cancels it under way, and can be stopped at the vendor afterwards', async () => {
    const { start, seen } = await world(
      async ({ http, cleanup, signal }) => {
        try {
          await http.post(path`/job`)
        } finally {
          if (signal.aborted) await cleanup.delete(path`/job`)
        }
        return {}
      },
      (req, res) => (req.method === 'DELETE' ? res.end('{}') : undefined),
    )
    const running = start('act', { id: 'x' })
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    running.cancel('enough')
    expect(await running.answer).toMatchObject({ code: 'outcome_unknown', ran: 'maybe' })
    expect(seen.map((line) => line.split(' ')[0])).toEqual(['POST', 'DELETE'])
  })
})

describe('a path', () => {
  it.each(['..', '.', '', 'a\nb'])('refuses the segment %j before anything leaves', async (id) => {
    const { act, seen } = await world(({ http, args }) => http.post(path`/x/${args.id}`).then(() => ({})), says(200))
    expect(await act(id)).toMatchObject({ code: 'invalid_arguments', ran: 'no' })
    expect(seen).toEqual([])
  })

  it.each([
    ['../../admin', '/v1/x/..%2F..%2Fadmin'],
    ['a?b=c#d', '/v1/x/a%3Fb%3Dc%23d'],
    ['//evil.example/', '/v1/x/%2F%2Fevil.example%2F'],
    ['%2e%2e', '/v1/x/%252e%252e'],
    ['<id@x>', '/v1/x/%3Cid%40x%3E'],
  ])('keeps %j in its segment', async (id, target) => {
    const { act, seen } = await world(({ http, args }) => http.get(path`/x/${args.id}`).then(() => ({})), says(200))
    await act(id)
    expect(seen).toEqual([`GET ${target} Bearer ${KEY}`])
  })

  it('takes a list as several segments, and judges each', () => {
    expect(path`/c/${'src/a b.ts'.split('/')}`.made).toBe('/c/src/a%20b.ts')
    expect(() => path`/c/${'src/../x'.split('/')}`).toThrow(Refusal)
  })
})

describe('an address', () => {
  it.each(['http://169.254.169.254/v1', 'http://10.0.0.1/v1', 'http://127.0.0.1:1/v1', 'http://api.vendor.example/v1'])(
    '%s is reached only where the operator said so',
    async (baseUrl) => {
      const { act } = await world(
        ({ http }) => http.get(path`/x`).then(() => ({})),
        says(200),
        {},
        {
          override: { baseUrl, allowPrivate: false },
        },
      )
      expect(await act()).toMatchObject({ code: 'upstream_unavailable', ran: 'no' })
    },
  )

  it('a name that leads inside is refused when the connection is made', async () => {
    const { act } = await world(
      ({ http }) => http.get(path`/x`).then(() => ({})),
      says(200),
      {},
      {
        override: { baseUrl: 'https://localhost:1/v1', allowPrivate: false },
      },
    )
    const answer = await act()
    expect(answer).toMatchObject({ code: 'upstream_unavailable', ran: 'no' })
    expect(JSON.stringify(answer)).toMatch(/address/)
  })
})

describe('a token that is asked for', () => {
  const minting = (asked: { count: number }): Partial<ConnectionKind> => ({
    authorize: async (given, mint) => ({
      authorization: `Bearer ${await mint(async (http) => {
        const { json } = await http.post<{ t: string }>(path`/token`, { form: { key: String(given.key) }, safe: true })
        asked.count++
        return { token: json.t, expiresInS: 3600 }
      })}`,
    }),
  })
  let issued = 0
  const tokens: RequestListener = (req, res) =>
    req.url === '/v1/token'
      ? res.end(`{"t":"minted-token-${++issued}"}`)
      : res.end(`{"saw":"${req.headers.authorization}"}`)

  it('is asked for once, however many calls want it, and never comes back', async () => {
    const asked = { count: 0 }
    const { act, seen } = await world(
      ({ http }) => http.get(path`/x`).then(({ json }) => ({ json })),
      tokens,
      minting(asked),
    )
    const answers = await Promise.all([act(), act(), act()])
    expect(asked.count).toBe(1)
    expect(seen.filter((line) => line.startsWith('POST'))).toEqual(['POST /v1/token nothing'])
    for (const answer of answers) expect(JSON.stringify(answer)).not.toContain('minted-token')
  })

  it('is asked for again when it is refused, and the request is sent again: nothing of it has happened', async () => {
    const asked = { count: 0 }
    const first = issued + 1
    const { act, seen } = await world(
      ({ http }) => http.post(path`/x`).then(() => ({})),
      (req, res) =>
        req.headers.authorization === `Bearer minted-token-${first}` ? says(401)(req, res) : tokens(req, res),
      minting(asked),
    )
    expect(await act()).toMatchObject({ kind: 'result' })
    expect(seen.filter((line) => line.startsWith('POST /v1/x'))).toHaveLength(2)
    expect(asked.count).toBe(2)
  })

  it('is not asked for again and again', async () => {
    const asked = { count: 0 }
    const { act, seen } = await world(
      ({ http }) => http.post(path`/x`).then(() => ({})),
      (req, res) => (req.url === '/v1/token' ? tokens(req, res) : says(401)(req, res)),
      minting(asked),
    )
    expect(await act()).toMatchObject({ code: 'upstream_unavailable', ran: 'no' })
    expect(seen.filter((line) => line.startsWith('POST /v1/x'))).toHaveLength(2)
  })

  it('a fixed credential that is refused is not sent twice', async () => {
    const { act, seen } = await world(({ http }) => http.post(path`/x`).then(() => ({})), says(401))
    expect(await act()).toMatchObject({ code: 'upstream_unavailable', ran: 'no' })
    expect(seen).toHaveLength(1)
  })
})

describe('headers', () => {
  it('of a request stand in the place of those of the connector, and of neither in that of the credential', async () => {
    let seen: Record<string, unknown> = {}
    const { act } = await world(
      ({ http }) =>
        http.get(path`/x`, { headers: { Accept: 'text/raw', AUTHORIZATION: 'Bearer mine' } }).then(() => ({})),
      (req, res) => {
        seen = req.headers
        res.end('{}')
      },
      { headers: { accept: 'application/vnd.vendor', 'X-Version': '1' } },
    )
    await act()
    expect(seen).toMatchObject({ accept: 'text/raw', 'x-version': '1', authorization: `Bearer ${KEY}` })
  })
})

describe('what goes wrong inside a tool', () => {
  it.each([
    [
      'a refusal of status 200',
      () => refusedBy('Vendor', { code: 'rate_limited', message: 'slow', retryAfterS: 4 }),
      { code: 'rate_limited', facts: { retry_after_s: 4 } },
    ],
    [
      'a refusal of the tool’s own',
      () => new Refusal('forbidden_arguments', 'Not this branch.'),
      { code: 'forbidden_arguments', reason: 'Not this branch.' },
    ],
    ['a fault of ours, without its words', () => new TypeError(`cannot read ${KEY}`), { code: 'internal' }],
  ])('%s', async (_name, problem, expected) => {
    const { act } = await world(() => Promise.reject(problem()), says(200))
    const answer = await act()
    expect(answer).toMatchObject({ kind: 'failed', ran: 'no', ...expected })
    expect(JSON.stringify(answer)).not.toContain('canary')
  })

  it('arguments that its judge cannot judge are not sent', async () => {
    const { vendor: _, ...made } = await world(async () => ({}), says(200))
    expect(made.tool('act').judge?.('{"id":1}')).toMatchObject({ refused: { code: 'invalid_arguments' } })
    expect(made.tool('act').judge?.('[1')).toMatchObject({ refused: { code: 'invalid_arguments' } })
  })
})

describe('secrets in what comes back', () => {
  const erase = createEraser([KEY, 'short'])
  it.each([
    ['as it is', KEY],
    ['percent-encoded', encodeURIComponent(KEY)],
    ['in base64', Buffer.from(KEY).toString('base64')],
    ['in base64 with something before it', Buffer.from(`user:${KEY}`).toString('base64')],
    ['in base64 with something around it', Buffer.from(`ab${KEY}cd`).toString('base64')],
    ['in base64 for URLs', Buffer.from(`x${KEY}`).toString('base64url')],
  ])('%s', (_name, form) => {
    const left = erase(`before ${form} after`)
    expect(left).toMatch(/^before .*\[redacted\].* after$/)
    expect(left).not.toContain(form)
  })

  it('leaves words alone that are too short to be one', () => {
    expect(erase('a short word')).toBe('a short word')
  })
})

describe('a declaration with bodies', () => {
  const tool = { title: 'T', description: 'D', input: z.strictObject({}), run: async () => ({}) }
  const base: Declaration = {
    slug: 'v',
    title: 'V',
    kind: 'connector',
    credentials: 'brand',
    when: 'Connected.',
    connection,
    tools: [{ name: 'act', ...facts, body: body(tool) }],
  }
  const spend = { access: 'spend', grantable: true, ask: 'above-threshold', withoutChannel: 'refuses' } as const
  it.each<[string, Declaration, RegExp]>([
    ['no connection', (({ connection: _, ...rest }) => rest)(base), /needs a "connection"/],
    ['no secret field', { ...base, connection: { ...connection, fields: {} } }, /at least one secret field/],
    [
      'an address without https',
      { ...base, connection: { ...connection, baseUrl: 'http://v.example' } },
      /"baseUrl" is https/,
    ],
    [
      'an address with a slash at its end',
      { ...base, connection: { ...connection, baseUrl: 'https://v.example/' } },
      /"baseUrl"/,
    ],
    [
      'an input that takes anything',
      { ...base, tools: [{ name: 'act', ...facts, body: body({ ...tool, input: z.looseObject({}) }) }] },
      /z\.strictObject/,
    ],
    [
      'an input that drops what it does not know',
      { ...base, tools: [{ name: 'act', ...facts, body: body({ ...tool, input: z.object({}) }) }] },
      /z\.strictObject/,
    ],
    [
      'a tool that asks for mutations and cannot tell',
      { ...base, tools: [{ name: 'act', ...facts, ask: 'mutations', body: body(tool) }] },
      /say "mutates"/,
    ],
    [
      'a tool that tells mutations and never asks for them',
      { ...base, tools: [{ name: 'act', ...facts, body: body({ ...tool, mutates: () => false }) }] },
      /only there/,
    ],
    [
      'a tool that bills and has no price',
      {
        ...base,
        billing: { unit: 'usd', perRun: 'a', perDay: 'b' },
        tools: [{ name: 'act', ...spend, body: body(tool) }],
      },
      /say "cost"/,
    ],
    [
      'no description',
      { ...base, tools: [{ name: 'act', ...facts, body: body({ ...tool, description: ' ' }) }] },
      /"description"/,
    ],
  ])('is refused with %s', (_name, declaration, problem) => {
    expect(() => defineConnector(declaration)).toThrow(problem)
  })
})
