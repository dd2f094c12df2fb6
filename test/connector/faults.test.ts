import { createServer, type Server, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { call, connector, entryOf, ready, start, textOf, until, upstream } from '../support/connectors.ts'

const RESULT = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"ok"}]}}'

describe.each(['legacy', 'modern'] as const)('towards a %s upstream', (era) => {
  test.each(['reset', 'torn'])('a call cut after it was sent (%s) is unknown and runs once', async (name) => {
    const up = await upstream({ era, sessions: era === 'legacy' })
    const { connector: made } = await ready(up)
    expect(await call(made, name)).toMatchObject({ kind: 'failed', code: 'outcome_unknown', ran: 'maybe' })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(up.ledger).toHaveLength(1)
  })

  test('a call that nobody answers ends at its limit, runs once, and is cancelled in the way of the era', async () => {
    const up = await upstream({ era })
    const { connector: made } = await ready(up, { timeoutMs: 200 })
    const began = Date.now()
    expect(await call(made, 'hang')).toMatchObject({ kind: 'failed', code: 'upstream_timeout', ran: 'maybe' })
    expect(Date.now() - began).toBeLessThan(1_500)
    expect(up.ledger).toHaveLength(1)
    if (era === 'legacy') await until(() => up.cancelled().some(({ requestId }) => requestId === up.ledger[0]?.id))
    else await until(() => up.aborted.some((seen) => seen.rpc === 'tools/call'))
  })

  test('progress extends the limit, up to the longest', async () => {
    const up = await upstream({ era })
    const { connector: made } = await ready(up, { timeoutMs: 300, maxTimeoutMs: 1_000 })
    expect(textOf(await call(made, 'progress', { count: 6, ms: 100 }, { onProgress: () => {} }))).toBe('progressed')
    const began = Date.now()
    expect(await call(made, 'progress', { count: -1, ms: 100 }, { onProgress: () => {} })).toMatchObject({
      code: 'upstream_timeout',
    })
    expect(Date.now() - began).toBeGreaterThan(900)
    expect(Date.now() - began).toBeLessThan(3_000)
  })

  test('a cancelled call is cancelled there at once, and no other call is touched', async () => {
    const up = await upstream({ era, sessions: era === 'legacy' })
    const { connector: made } = await ready(up)
    const slow = start(made, 'hang')
    const fast = start(made, 'slow', { ms: 400 })
    await until(() => up.ledger.length === 2)
    const began = Date.now()
    slow.cancel('c4n4ry of the caller')
    expect(await slow.answer).toMatchObject({ kind: 'failed', ran: 'maybe' })
    const id = up.ledger.find((run) => run.tool === 'hang')?.id
    if (era === 'legacy') await until(() => up.cancelled().some(({ requestId }) => requestId === id))
    await until(() => up.aborted.some((seen) => seen.body.includes('"hang"')))
    expect(Date.now() - began).toBeLessThan(500)
    expect(textOf(await fast.answer)).toBe('slow')
    expect(JSON.stringify(up.requests)).not.toContain('c4n4ry')
    expect(up.cancelled()).toHaveLength(era === 'legacy' ? 1 : 0)
  })

  test('1,000 overlapping calls each get their own answer and progress', async () => {
    const nonces = Array.from({ length: 1_000 }, (_, i) => `n${i}`)
    const up = await upstream({
      era,
      behaviours: {
        nonce: async (c) => {
          c.progress(1, { message: c.args.nonce })
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 30))
          c.text(String(c.args.nonce))
        },
      },
    })
    const { connector: made } = await ready(up)
    const heard: string[] = []
    const answers = await Promise.all(
      nonces.map((nonce) =>
        call(
          made,
          'nonce',
          { nonce },
          { onProgress: (params) => heard.push(`${nonce} ${JSON.parse(`{${params}}`).message}`) },
        ),
      ),
    )
    expect(answers.map(textOf)).toEqual(nonces)
    expect(new Set(heard)).toEqual(new Set(nonces.map((nonce) => `${nonce} ${nonce}`)))
    expect(up.ledger).toHaveLength(1_000)
  })

  test('an upstream that went away did not run the call, and one that comes back is used again', async () => {
    const up = await upstream({ era, sessions: era === 'legacy' })
    const { connector: made, heard } = await ready(up)
    await call(made, 'increment')
    await up.stop()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await call(made, 'increment')).toMatchObject({ kind: 'failed', code: 'upstream_unavailable', ran: 'no' })
    await until(() => made.state().state === 'failed')
    expect(made.tools()).toEqual([])
    expect(made.withheld()).toMatchObject([{ tool: 'mcp__up__*', code: 'upstream_unavailable' }])
    expect(heard.lines.join()).toContain('ECONNREFUSED')
    up.forgetSessions()
    await up.start()
    await until(() => made.state().state === 'ready', 5_000)
    expect((await call(made, 'increment')).kind).toBe('result')
    expect(up.ledger).toHaveLength(2)
  })

  test('a restart between two calls is not even noticed', async () => {
    const up = await upstream({ era, sessions: era === 'legacy', tellsChanges: false })
    const { connector: made } = await ready(up)
    for (let i = 0; i < 10; i++) {
      expect((await call(made, 'increment')).kind).toBe('result')
      await up.stop()
      up.forgetSessions()
      await up.start()
      // The connections that were cut must be known to be gone; a call into a dying one would be unknown, rightly.
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(up.ledger).toHaveLength(10)
  })
})

describe('a legacy stream torn before its answer', () => {
  const world = async (breaks: number) => {
    let gets = 0
    let idText = ''
    const up = await upstream({
      era: 'legacy',
      sessions: true,
      tellsChanges: false,
      behaviours: {
        polling: (c) => {
          idText = c.idText
          c.response.writeHead(200, { 'content-type': 'text/event-stream' })
          c.response.end('id: first\nretry: 10\ndata:\n\n')
        },
      },
    })
    up.setIntercept((seen, response) => {
      if (seen.method !== 'GET' || seen.headers['last-event-id'] === undefined) return false
      gets++
      if (seen.headers['last-event-id'] !== 'first') {
        response.writeHead(400)
        response.end()
      } else {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(gets < breaks ? ': nothing yet\n\n' : `data: ${RESULT.replace('ID', idText)}\n\n`)
      }
      return true
    })
    return { up, gets: () => gets }
  }

  test('is taken up by its last event id, and the call is not sent again', async () => {
    const { up, gets } = await world(2)
    const { connector: made } = await ready(up)
    expect(textOf(await call(made, 'polling'))).toBe('ok')
    expect(gets()).toBe(2)
    expect(up.ledger).toHaveLength(1)
  })

  test('is given up after two tries without anything new', async () => {
    const { up, gets } = await world(99)
    const { connector: made } = await ready(up)
    expect(await call(made, 'polling')).toMatchObject({ kind: 'failed', code: 'outcome_unknown', ran: 'maybe' })
    expect(gets()).toBe(2)
    expect(up.ledger).toHaveLength(1)
  })
})

describe('an upstream that cannot be reached', () => {
  test('does not hold up the others, and each is named with its reason', async () => {
    const silent = await listener(() => {})
    const rude = await listener((socket) => socket.destroy())
    const good = await upstream()
    const made = [
      connector(entryOf('http://127.0.0.1:1/mcp', { name: 'refuses' })),
      connector(entryOf(`http://127.0.0.1:${silent}/mcp`, { name: 'silent', connectTimeoutMs: 300 })),
      connector(entryOf(`http://127.0.0.1:${rude}/mcp`, { name: 'rude' })),
      connector(entryOf(`${good.url}/wrong`, { name: 'wrong-path' })),
      connector(entryOf('https://host.invalid/mcp', { name: 'no-such-host' })),
      connector(entryOf('https://10.0.0.1/mcp', { name: 'inside', allowPrivate: false })),
    ].map((each) => each.connector)
    const { connector: fine } = await ready(good)
    expect(textOf(await call(fine, 'echo', {}))).toBe('{}')
    await until(() => made.every((each) => each.state().state === 'failed'))
    for (const each of made) {
      expect(each.tools()).toEqual([])
      expect(each.withheld()).toMatchObject([{ tool: `mcp__${each.slug}__*`, code: 'upstream_unavailable' }])
      expect(each.withheld()[0]?.reason).toContain(`"${each.title}"`)
      expect(await call(each, 'echo')).toMatchObject({ kind: 'failed', code: 'upstream_unavailable', ran: 'no' })
    }
  })

  test('is tried again until it is there', async () => {
    const up = await upstream()
    await up.stop()
    const { connector: made } = connector(entryOf(up.url))
    await until(() => made.state().state === 'failed')
    await up.start()
    await until(() => made.state().state === 'ready')
  })

  test('that hangs is given up after the limit, also in the middle of its list', async () => {
    const up = await upstream()
    up.setIntercept((seen) => seen.rpc === 'tools/list')
    const { connector: made } = connector(entryOf(up.url, { connectTimeoutMs: 200 }))
    await until(() => made.state().state === 'failed')
    expect(made.state().detail).toContain('tools/list')
  })
})

async function listener(accept: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    accept(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as { port: number }).port
}
