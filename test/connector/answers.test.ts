import { describe, expect, test } from 'vitest'
import { call, ready, start, textOf, until, upstream } from '../support/connectors.ts'

const RESULT = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"ok"}]}}'

describe.each(['legacy', 'modern'] as const)('a %s upstream', (era) => {
  test('has its whole result passed on, reserved _meta keys apart', async () => {
    const content =
      '[{"type":"text","text":"x"},{"type":"future","n":9007199254740993},{"type":"resource_link","uri":"a:b"}]'
    const rest = `"content":${content},"structuredContent":{"f":1.0,"big":1e400},"unknown":[null]`
    const meta = '"a.example/x":1,"traceparent":"t"'
    const up = await upstream({
      era,
      behaviours: {
        rich: (c) =>
          c.answer(
            `{${rest},"_meta":{"io.modelcontextprotocol/serverInfo":{},"a.mcp/x":1,"x.modelcontextprotocol.y/z":2,"progressToken":3,${meta}}}`,
          ),
      },
    })
    const { connector } = await ready(up)
    expect(await call(connector, 'rich')).toEqual({ kind: 'result', members: rest, metaText: meta, isError: false })
  })

  test('has a failing tool told from an error', async () => {
    const up = await upstream({ era })
    const { connector } = await ready(up)
    expect(await call(connector, 'failing')).toMatchObject({ kind: 'result', isError: true })
    expect(await call(connector, 'error')).toEqual({
      kind: 'error',
      errorText: '{"code":-32602,"message":"bad arguments"}',
    })
  })

  test.each([
    ['other JSON', 'application/json', '{"Output":1}'],
    ['an empty array', 'application/json', '[]'],
    ['a string', 'application/json', '"ok"'],
    ['broken JSON', 'application/json', '{"jsonrpc":"2.0","id":ID,"resu'],
    ['HTML', 'text/html', '<html>hello</html>'],
    ['HTML called JSON', 'application/json', '<html>hello</html>'],
    ['an empty body', 'application/json', ''],
    ['no type', undefined, RESULT],
    ['a wrong id', 'application/json', RESULT.replace('ID', '999999')],
    ['its id as a string', 'application/json', RESULT.replace('ID', '"ID"')],
    [
      'both result and error',
      'application/json',
      '{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"m"}}',
    ],
    ['neither', 'application/json', '{"jsonrpc":"2.0","id":ID}'],
    ['a result that is no object', 'application/json', '{"jsonrpc":"2.0","id":ID,"result":"ok"}'],
    [
      'a key given twice',
      'application/json',
      '{"jsonrpc":"2.0","id":ID,"result":{"isError":true,"isError":false,"content":[]}}',
    ],
    [
      'an unknown result type',
      'application/json',
      '{"jsonrpc":"2.0","id":ID,"result":{"resultType":"task","taskId":"t"}}',
    ],
    ['an error that is none', 'application/json', '{"jsonrpc":"2.0","id":ID,"error":"no"}'],
    ['no version', 'application/json', '{"id":ID,"result":{"content":[]}}'],
  ])('that answers with %s has failed, and may have run', async (_name, type, body) => {
    const up = await upstream({ era })
    const { connector } = await ready(up)
    expect(await call(connector, 'raw', { type, body })).toMatchObject({
      kind: 'failed',
      code: 'outcome_unknown',
      ran: 'maybe',
    })
    expect(up.ledger).toHaveLength(1)
    expect(textOf(await call(connector, 'echo', {}))).toBe('{}')
  })

  test.each([
    ['CRLF', `event: message\r\ndata: ${RESULT}\r\n\r\n`],
    ['CR', `event: message\rdata: ${RESULT}\r\r`],
    [
      'many data lines',
      `data: {"jsonrpc":"2.0",\ndata: "id":ID,\ndata: "result":\ndata: {"content":[{"type":"text",\ndata: "text":"ok"}]}}\n\n`,
    ],
    ['comments, ids and retry', `: hi\nretry: 10\nid: 1\n\n: again\nid: 2\ndata: ${RESULT}\n\n`],
    ['an empty event first', `id: 0\ndata:\n\ndata: ${RESULT}\n\n`],
    ['an event of another kind first', `event: ping\ndata: not json\n\ndata: ${RESULT}\n\n`],
    [
      'a notice and a wrong id first',
      `data: {"jsonrpc":"2.0","method":"notifications/x"}\n\ndata: ${RESULT.replace('ID', '12345678')}\n\ndata: ${RESULT}\n\n`,
    ],
    ['a BOM', `\ufeffdata: ${RESULT}\n\n`],
  ])('whose stream has %s is understood, whole and byte by byte', async (_name, events) => {
    const up = await upstream({ era })
    const { connector } = await ready(up)
    for (const step of [undefined, 1]) expect(textOf(await call(connector, 'stream', { events, step }))).toBe('ok')
  })

  test('whose characters are cut between bytes loses none', async () => {
    const up = await upstream({ era })
    const { connector } = await ready(up)
    const events = `data: ${RESULT.replace('"ok"', '"жук 🎈 \\u2028 日本"')}\n\n`
    expect(textOf(await call(connector, 'stream', { events, step: 1, type: 'Text/Event-Stream' }))).toBe(
      'жук 🎈 \u2028 日本',
    )
  })

  test('that names its type in capitals and with a charset is understood', async () => {
    const up = await upstream({ era })
    const { connector } = await ready(up)
    const answer = await call(connector, 'raw', {
      type: 'Application/JSON; Charset=UTF-8',
      body: RESULT.replace('ok', 'да'),
    })
    expect(textOf(answer)).toBe('да')
  })

  test('that says more before its answer is heard in full', async () => {
    const up = await upstream({ era })
    const { connector } = await ready(up)
    const answer = JSON.parse(textOf(await call(connector, 'noisy'))) as Record<string, object>
    expect(answer).toMatchObject({ sampling: { error: { code: -32601 } }, ping: { result: {} } })
  }, 5_000)

  test.each([400, 401, 403, 404, 405, 413, 429])(
    'that refuses with %i did not run, and its words are passed on',
    async (status) => {
      const up = await upstream({ era })
      const { connector } = await ready(up)
      up.setIntercept((seen, response) => {
        if (seen.rpc !== 'tools/call') return false
        response.writeHead(status, { 'content-type': 'text/plain' })
        response.end('because of x')
        return true
      })
      const answer = await call(connector, 'echo')
      expect(answer).toMatchObject({ kind: 'failed', code: 'upstream_unavailable', ran: 'no' })
      expect(answer).toMatchObject({ reason: expect.stringContaining(`HTTP ${status}: because of x`) })
    },
  )

  test.each([500, 502, 503, 504])('that fails with %i may have run', async (status) => {
    const up = await upstream({ era })
    const { connector } = await ready(up)
    expect(await call(connector, 'raw', { status, body: 'oops' })).toMatchObject({
      kind: 'failed',
      code: 'upstream_unavailable',
      ran: 'maybe',
    })
  })

  test('that repeats its secrets in an error does not get them out, and its words are bounded', async () => {
    const up = await upstream({ era })
    const { connector, heard } = await ready(up, {
      headers: { Authorization: 'Bearer c4n4ry-value', 'X-Key': 'c4n4ry-other' },
    })
    const body = `no: Bearer c4n4ry-value, c4n4ry-other, {"apiKey":"c4n4ry-third"} ${'x'.repeat(10_000)}`
    const answer = await call(connector, 'raw', { status: 400, body })
    expect(JSON.stringify(answer)).not.toContain('c4n4ry')
    expect(JSON.stringify(answer).length).toBeLessThan(600)
    expect(heard.lines.join()).not.toContain('c4n4ry')
  })

  test.each([
    ['a length it says', true],
    ['no length', false],
  ])('whose answer is too large, with %s, is refused in time', async (_name, withLength) => {
    const up = await upstream({ era, behaviours: { huge: (c) => flood(c.response, withLength) } })
    const { connector } = await ready(up)
    const answer = await call(connector, 'huge')
    expect(answer).toMatchObject({
      kind: 'failed',
      code: 'outcome_unknown',
      ran: 'maybe',
      reason: expect.stringContaining('16 MiB'),
    })
    expect(textOf(await call(connector, 'echo', {}))).toBe('{}')
  })

  test('that answers in an encoding nobody asked for has failed', async () => {
    const up = await upstream({ era })
    const { connector } = await ready(up)
    up.setIntercept((seen, response) => {
      if (seen.rpc !== 'tools/call') return false
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.end('no gzip')
      return true
    })
    expect(await call(connector, 'echo')).toMatchObject({
      kind: 'failed',
      ran: 'maybe',
      reason: expect.stringContaining('gzip'),
    })
  })

  test('that redirects to its slash form is followed once, not for ever', async () => {
    const up = await upstream({ era, path: '/mcp/' })
    let loops = 0
    up.setIntercept((seen, response) => {
      if (seen.path === '/mcp/') return false
      response.writeHead(307, { location: seen.path === '/mcp' ? '/mcp/' : '/loop' })
      loops += seen.path === '/loop' ? 1 : 0
      response.end('moved')
      return true
    })
    const url = up.url.slice(0, -1)
    const { connector } = await ready({ ...up, url })
    expect(textOf(await call(connector, 'echo', { a: 1 }))).toBe('{"a":1}')
    const looping = await ready({ ...up, url })
    up.setIntercept((seen, response) => {
      response.writeHead(308, { location: '/loop' })
      if (seen.rpc === 'tools/call') loops++
      response.end()
      return true
    })
    loops = 0
    expect(await call(looping.connector, 'echo')).toMatchObject({ kind: 'failed', ran: 'no' })
    expect(loops).toBe(2)
  })

  test('that leaves its stream open after the answer does not keep the call', async () => {
    const up = await upstream({
      era,
      behaviours: {
        lingering: (c) => {
          c.send(RESULT.replace('ID', c.idText))
        },
      },
    })
    const { connector } = await ready(up)
    const running = start(connector, 'lingering')
    expect(textOf(await running.answer)).toBe('ok')
    await until(() => up.aborted.some((seen) => seen.rpc === 'tools/call'), 3_000)
  })
})

function flood(response: import('node:http').ServerResponse, withLength: boolean): void {
  const chunk = Buffer.alloc(1024 * 1024, 0x20)
  response.writeHead(200, {
    'content-type': 'application/json',
    ...(withLength && { 'content-length': String(200 * 1024 * 1024) }),
  })
  let sent = 0
  const more = (): void => {
    while (sent++ < 200 && !response.destroyed) if (!response.write(chunk)) return void response.once('drain', more)
  }
  more()
}
