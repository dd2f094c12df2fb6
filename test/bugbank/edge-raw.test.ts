/** Hostile bytes at the HTTP door: envelopes (reliability A6), bodies (G2, G3), raw requests (G4), Origin and Host (G5). */
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADMIN_KEY, type Gateway, postBytes, speaker, startGateway } from '../support/gateway.ts'
import { rawExchange, rawRequest, trickle } from '../support/raw.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

import { BAD, common as commonOf, ECHO, LINE, requests, visits } from './edge-requests.ts'
import { both, envelopes, legacyBody, META, modernHeaders, modernTwin } from './edge-envelopes.ts'
const BODY_BYTES = 1024 * 1024

let upstream: Upstream
let gateway: Gateway
/** Its ceiling holds `u__echo`; `u__delete` is forbidden. */
let token: string

beforeAll(async () => {
  upstream = await startUpstream({
    tools: [tool('echo'), tool('delete')],
    behaviours: { delete: (call) => call.text('deleted') },
  })
  gateway = await startGateway(
    { u: { type: 'http', url: upstream.url, tools: { '*': 'read' } } },
    {},
    {
      allowedHosts: ['gate.example:8443'],
      allowedOrigins: ['https://app.example', 'http://pages.example:3000'],
      limits: { bodyBytes: BODY_BYTES },
    },
  )
  await gateway.running.settled(5_000)
  token = await gateway.token({ role: 'person-chat', tools: ['mcp__u__echo'] })
})

afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
})

const port = (): number => Number(new URL(gateway.url).port)

/** Runs the work, and sees that the forbidden tool was never asked for and that ordinary calls still work. */
async function unreached(work: () => Promise<void>): Promise<void> {
  const before = upstream.of('tools/call').length
  await work()
  expect(upstream.of('tools/call')).toHaveLength(before)
  await ordinaryCall()
}

async function ordinaryCall(): Promise<void> {
  const params = { name: 'u__echo', arguments: { ok: true } }
  const { answer } = await gateway.modern(token, 'tools/call', params)
  expect(answer.result.content[0].text).toBe('{"ok":true}')
}

const common = (...more: string[]): string[] => commonOf(token, ...more)

describe('a forbidden call', () => {
  test.each(envelopes)(
    'golang/vulndb#4770 and A6: wrapped as %s does not reach the upstream',
    async (_how, body, headers) => {
      const before = upstream.requests.length
      const asModern = typeof body === 'string' && headers === undefined ? modernTwin(body) : undefined
      for (const [sent, carried] of [
        [body, headers ?? {}],
        ...(asModern === undefined ? [] : [[asModern, modernHeaders('u__echo')]]),
      ] as Array<[string | Buffer, Record<string, string>]>) {
        const { status, answer, messages } = await postBytes(gateway, token, sent, carried)
        if (status === 202) expect(messages).toEqual([])
        else {
          expect(messages).toHaveLength(1)
          expect(answer.error).toMatchObject({ code: expect.any(Number), message: expect.any(String) })
          expect([200, 400, 404, 415]).toContain(status)
        }
      }
      expect(upstream.requests.slice(before)).toEqual([])
      await ordinaryCall()
    },
  )

  test('golang/vulndb#4770: "arguments" twice is refused, at every depth, and on no card', async () => {
    await unreached(async () => {
      for (const params of [
        '{"name":"u__echo","arguments":{"a":1},"arguments":{"a":2}}',
        '{"name":"u__echo","arguments":{"a":1},"arguments\\u0000":{"a":2}}',
        '{"name":"u__echo","arguments":{"a":1},"Arguments":{"a":2}}',
        '{"name":"u__echo","arguments":{"a":1,"a":2}}',
        '{"name":"u__echo","arguments":{"a":{"b":[{"c":1,"\\u0063":2}]}}}',
      ]) {
        for (const [text, headers] of [
          [params, {}],
          [both(params), modernHeaders('u__echo')],
        ] as const) {
          const { status, answer } = await postBytes(gateway, token, legacyBody(text), headers)
          expect({ params, status, code: answer.error?.code }).toMatchObject({ status: 400, code: expect.any(Number) })
        }
      }
    })
    expect((await gateway.api('GET', '/v1/approvals')).body.items).toEqual([])
  })

  test('golang/vulndb#4770: odd keys inside the arguments are data, and reach the upstream as written', async () => {
    const written = '{"name\\u0000":1,"Name":2,"__proto__":{"x":1},"constructor":null,"":[]}'
    for (const [text, headers] of [
      [`{"name":"u__echo","arguments":${written}}`, {}],
      [`{"name":"u__echo","arguments":${written},${META}}`, modernHeaders('u__echo')],
    ] as const) {
      const { answer } = await postBytes(gateway, token, legacyBody(text), headers)
      expect(answer.result.content[0].text).toBe(written)
    }
  })
})

/** A chunk of 64 KB. */
const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, ' '), Buffer.from('\r\n')])

describe('a body', () => {
  test('G2: of 100 MB by its length is refused before it is read', async () => {
    await unreached(async () => {
      const piece = Buffer.alloc(65_536, 'x')
      const head = rawRequest('POST /mcp HTTP/1.1', common('Content-Length: 104857600'))
      const { answers, sent } = await rawExchange(port(), repeat(head, piece, 1_600))
      expect(answers[0]?.status).toBe(413)
      expect(sent).toBeLessThan(BODY_BYTES + 4 * 1024 * 1024)
    })
  })

  test('G2: of 100 MB in chunks is refused little above the limit, and memory stays', async () => {
    await unreached(async () => {
      const before = process.memoryUsage().arrayBuffers
      const head = rawRequest('POST /mcp HTTP/1.1', common('Transfer-Encoding: chunked'))
      const { answers, sent } = await rawExchange(port(), repeat(head, CHUNK, 1_600))
      expect(answers[0]?.status).toBe(413)
      // What lies in the sockets' buffers on this one machine counts as sent too.
      expect(sent).toBeLessThan(BODY_BYTES + 8 * 1024 * 1024)
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024)
    })
  })

  test('G2: that unpacks to 1,000 times its size is not unpacked', async () => {
    await unreached(async () => {
      const packed = gzipSync(Buffer.alloc(20 * 1024 * 1024, ' '))
      for (const coding of ['gzip', 'deflate', 'br', 'x-gzip', 'zstd', 'gzip, gzip']) {
        const { status, answer } = await postBytes(gateway, token, packed, { 'content-encoding': coding })
        expect({ status, code: answer.error.code }).toEqual({ status: 415, code: -32600 })
      }
    })
  })

  test.each(
    [LINE, 'POST /v1/sessions HTTP/1.1', 'POST /nothing HTTP/1.1'].flatMap((to) =>
      ['Content-Length: 104857600', 'Transfer-Encoding: chunked'].map((length) => [to, length] as const),
    ),
  )('G2: of 100 MB from a stranger is not read to its end: %s, %s', async (to, length) => {
    await unreached(async () => {
      const head = rawRequest(to, ['Host: localhost', 'Content-Type: application/json', length])
      // Two answers are awaited, so that it is seen how much is taken after the first.
      const { answers, sent } = await rawExchange(port(), repeat(head, CHUNK, 600), { answers: 2, lingerMs: 1_500 })
      expect([401, 404]).toContain(answers[0]?.status)
      expect(sent).toBeLessThan(16 * 1024 * 1024)
    })
  })

  test('REST: in chunks is read up to the limit, and one without a body needs no length', async () => {
    const admin = ['Host: localhost', `Authorization: Bearer ${ADMIN_KEY}`, 'Content-Type: application/json']
    const text = '{"role":"person-chat","tools":["mcp__u__echo"]}'
    const chunked = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
    const issue = rawRequest('POST /v1/sessions HTTP/1.1', [...admin, 'Transfer-Encoding: chunked'], chunked)
    const issued = (await rawExchange(port(), [issue])).answers[0]!
    expect(issued.status).toBe(201)
    const { id } = JSON.parse(issued.body)
    const revoke = rawRequest(`DELETE /v1/sessions/${id} HTTP/1.1`, admin.slice(0, 2))
    expect((await rawExchange(port(), [revoke])).answers[0]?.status).toBe(200)
    for (const length of ['Content-Length: 104857600', 'Transfer-Encoding: chunked']) {
      const endless = rawRequest('POST /v1/sessions HTTP/1.1', [...admin, length])
      const { answers, sent } = await rawExchange(port(), repeat(endless, CHUNK, 1_600))
      expect(answers[0]?.status).toBe(413)
      expect(sent).toBeLessThan(16 * 1024 * 1024)
    }
    await ordinaryCall()
  })

  test('G2: with endless chunk extensions is cut', async () => {
    await unreached(async () => {
      const head = rawRequest('POST /mcp HTTP/1.1', common('Transfer-Encoding: chunked'))
      const { answers, closed, sent } = await rawExchange(
        port(),
        repeat(Buffer.concat([head, Buffer.from('1;')]), Buffer.alloc(65_536, 'a'), 400),
      )
      expect(answers[0]?.status ?? (closed ? 'closed' : 'open')).not.toBe('open')
      expect(sent).toBeLessThan(8 * 1024 * 1024)
    })
  })

  test('G2: shorter than its length says gets no answer that says it ran', async () => {
    await unreached(async () => {
      const { answers } = await rawExchange(
        port(),
        [rawRequest('POST /mcp HTTP/1.1', common(`Content-Length: ${ECHO.length + 9}`), ECHO)],
        { withinMs: 300 },
      )
      expect(answers).toEqual([])
    })
  })

  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  test.each([
    ['1,000 objects deep', () => nested(1_000)],
    ['100,000 objects deep', () => nested(100_000)],
    ['500,000 arrays deep', () => '['.repeat(500_000)],
    ['400,000 small members', () => `[${'1,'.repeat(400_000)}1]`],
    ['300,000 empty objects', () => `[${'{},'.repeat(300_000)}1]`],
    ['100,000 members named alike', () => `{${'"a":1,'.repeat(100_000)}"b":1}`],
    ['90,000 distinct members', () => `{${Array.from({ length: 90_000 }, (_, i) => `"${i}":1`).join()},"0":1}`],
    ['a key of 1 MB without an end', () => `{"${'k'.repeat(BODY_BYTES - 200)}`],
    ['a string of backslashes', () => `{"k":"${'\\'.repeat(BODY_BYTES - 200)}`],
    ['many strings of backslashes', () => `{"k":["${'\\\\","'.repeat(150_000)}`],
    ['a number of 900,000 digits that ends wrong', () => `{"k":${'9'.repeat(900_000)}x}`],
  ])('G3: with %s is refused in no time, and blocks nobody', async (_, make) => {
    const body = legacyBody(`{"name":"u__echo","arguments":${make()}}`)
    await unreached(async () => {
      const before = process.threadCpuUsage()
      const { status, answer } = await postBytes(gateway, token, body)
      const { user, system } = process.threadCpuUsage(before)
      expect({ status, code: answer.error.code }).toMatchObject({ status: 400, code: -32700 })
      // Work of this thread, the sending of it included, whatever else the machine does meanwhile.
      expect((user + system) / 1000).toBeLessThan(250)
    })
  })

  test('G3: with a key of 900 KB, or as deep as the bound allows, is served, and nothing throws later', async () => {
    for (const args of [`{"${'k'.repeat(900_000)}":1}`, nested(96)]) {
      const { answer } = await postBytes(gateway, token, legacyBody(`{"name":"u__echo","arguments":${args}}`))
      expect(answer.result.content[0].text).toBe(args)
    }
    await ordinaryCall()
  })
})

function* repeat(head: Buffer, piece: Buffer, times: number): Generator<Buffer> {
  yield head
  for (let i = 0; i < times; i++) yield piece
}

describe('a raw request', () => {
  test.each(requests)('G4: with %s smuggles nothing', async (_, make, expected) => {
    const before = upstream.of('tools/call').length
    const { answers, text, closed } = await rawExchange(port(), [make(token)], { answers: 2, lingerMs: 100 })
    const status = answers[0]?.status ?? (closed ? 0 : Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? -1))
    expect(expected).toContain(status)
    const calls = upstream.of('tools/call').slice(before)
    expect(calls.map(({ body }) => body).join()).not.toContain('delete')
    expect(calls).toHaveLength(
      answers.filter((answer) => answer.status === 200 && answer.body.includes('"content"')).length,
    )
    await ordinaryCall()
  })

  test('G4: three in one piece are answered in order, each by itself', async () => {
    const request = (id: string) => rawRequest(LINE, common(), ECHO.replace('"id":1', `"id":${id}`))
    const { answers } = await rawExchange(port(), [Buffer.concat(['1', '"1"', '3'].map(request))], { answers: 3 })
    expect(answers.map(({ body }) => /"id":([^,]+)/.exec(body)?.[1])).toEqual(['1', '"1"', '3'])
  })

  test('G4: behind a refused one on the same connection is not run in its place', async () => {
    await unreached(async () => {
      const first = rawRequest(LINE, ['Host: localhost', 'Content-Type: application/json'], ECHO)
      const second = rawRequest(LINE, common(), BAD)
      const { answers } = await rawExchange(port(), [Buffer.concat([first, second])], { answers: 2, lingerMs: 300 })
      expect(answers[0]?.status).toBe(401)
      if (answers[1] !== undefined) expect(answers[1].body).toContain('-32602')
    })
  })

  test('G4: cannot set a header upstream by its arguments or headers', async () => {
    const odd = {
      'Transfer-Encoding': 'chunked',
      authorization: 'Bearer x',
      'x\r\ny': 'a\r\nb: c',
      Host: 'evil.example',
    }
    const speak = await speaker(gateway, 'modern', token)
    const sent = { 'mcp-param-authorization': 'Bearer evil', 'mcp-param-x': 'y', 'x-forwarded-host': 'evil.example' }
    await speak('tools/call', { name: 'u__echo', arguments: odd }, { headers: sent })
    const seen = upstream.of('tools/call').at(-1)!
    expect(seen.headers.host).toBe(new URL(upstream.url).host)
    expect(Object.keys(seen.headers).filter((name) => /^(mcp-param|authorization|x-|b$|y$)/.test(name))).toEqual([])
    expect(JSON.stringify(seen.rawHeaders)).not.toContain('evil')
  })
})

describe('G1: a connection', () => {
  test.each([
    ['its headers', () => 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-A: '],
    ['its body', () => rawRequest(LINE, common('Content-Length: 1000')).toString('latin1')],
    ['its chunks', () => `${rawRequest(LINE, common('Transfer-Encoding: chunked')).toString('latin1')}3e8\r\n`],
  ])(
    'that trickles %s is cut within 15 s, and good calls go on',
    { timeout: 30_000, concurrent: true },
    async (_, head) => {
      const started = performance.now()
      const cut = Array.from({ length: 100 }, async () => {
        const { answers, closed } = await trickle(port(), head(), 20_000)
        return { closed, ran: answers.some(({ status }) => status < 400), inTime: performance.now() - started < 15_500 }
      })
      const calls: Array<Promise<void>> = []
      const calling = setInterval(() => calls.push(ordinaryCall()), 1_000)
      const ends = await Promise.all(cut)
      clearInterval(calling)
      await Promise.all(calls)
      const bad = ends.filter(({ closed, ran, inTime }) => !closed || ran || !inTime)
      expect({ bad: bad.length, such: bad[0] }).toEqual({ bad: 0, such: undefined })
      await ordinaryCall()
    },
  )
})

describe('bytebase/dbhub#304 and G5: a page', () => {
  test.each(visits)('%s (Host %s, Origin %s) gets %i', async (_, host, origin, status) => {
    const fill = (text: string) => text.replace('PORT', String(port()))
    const headers = [
      ...(host === undefined ? [] : [`Host: ${fill(host)}`]),
      ...(origin === undefined ? [] : [`Origin: ${fill(origin)}`]),
    ]
    const before = upstream.of('tools/call').length
    for (const path of ['/mcp', '/mcp/u', '/v1/sessions']) {
      const body = path === '/v1/sessions' ? '' : ECHO.replace('u__echo', path === '/mcp' ? 'u__echo' : 'echo')
      const lines = [...headers, ...common().slice(1)]
      const request = rawRequest(`${body === '' ? 'GET' : 'POST'} ${path} HTTP/1.1`, lines, body)
      const { answers } = await rawExchange(port(), [request])
      const wanted = status === 200 && path === '/v1/sessions' ? 401 : status
      expect([path, answers[0]?.status]).toEqual([path, wanted])
      const allowed = answers[0]?.headers['access-control-allow-origin']
      expect(allowed).not.toBe('*')
      if (status === 403) expect(allowed).toBeUndefined()
      else if (path !== '/v1/sessions') expect(allowed).toBe(origin === undefined ? undefined : fill(origin))
      expect(answers[0]?.headers['access-control-allow-credentials']).toBeUndefined()
    }
    expect(upstream.of('tools/call')).toHaveLength(status === 200 ? before + 2 : before)
  })

  test('that says who it is by other headers is judged by Host and Origin alone', async () => {
    await unreached(async () => {
      for (const more of [
        'X-Forwarded-Host: localhost',
        'Forwarded: host=localhost',
        'X-Original-Host: localhost',
        'X-Host: localhost',
      ]) {
        const { answers } = await rawExchange(port(), [
          rawRequest(LINE, ['Host: evil.example', more, ...common().slice(1)], ECHO),
        ])
        expect(answers[0]?.status).toBe(403)
      }
    })
  })

  test('may ask beforehand without a token, from an allowed origin only, and never with credentials', async () => {
    const ask = (origin: string) =>
      rawExchange(port(), [
        rawRequest('OPTIONS /mcp HTTP/1.1', [
          'Host: localhost',
          `Origin: ${origin}`,
          'Access-Control-Request-Method: POST',
          'Access-Control-Request-Headers: authorization',
        ]),
      ])
    const good = (await ask('https://app.example')).answers[0]!
    expect(good.status).toBe(204)
    expect(good.headers['access-control-allow-origin']).toBe('https://app.example')
    expect(good.headers.vary).toContain('Origin')
    expect(good.headers['access-control-allow-headers']).toMatch(/Authorization/)
    expect(good.headers['access-control-allow-credentials']).toBeUndefined()
    for (const origin of ['https://evil.example', 'null', 'https://app.example.evil.test', '*']) {
      const bad = (await ask(origin)).answers[0]!
      expect([bad.status, bad.headers['access-control-allow-origin']]).toEqual([403, undefined])
    }
  })

  test('that posts as text/plain, a form, or without a type is refused', async () => {
    await unreached(async () => {
      for (const type of [
        'text/plain',
        'text/plain;charset=UTF-8',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        undefined,
      ]) {
        const lines = [
          'Host: localhost',
          `Authorization: Bearer ${token}`,
          ...(type === undefined ? [] : [`Content-Type: ${type}`]),
        ]
        const { answers } = await rawExchange(port(), [rawRequest(LINE, lines, ECHO)])
        expect(answers[0]?.status).toBe(415)
      }
    })
  })
})
