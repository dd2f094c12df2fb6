/** Bug bank, groups 13 and 14: upstreams that are not there or slow, and addresses inside. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callText, listTexts } from '../support/bank.ts'
import { ERAS, type Gateway, HELLO, startGateway } from '../support/gateway.ts'
import { type Behaviour, startUpstream, type Upstream } from '../support/upstream.ts'

const STDIO = join(import.meta.dirname, '../support/stdio-upstream.mjs')
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

let folder: string
/** Accepts connections, counts them, and says nothing. */
let inner: Server
let reached = 0
let innerPort: number
let http: Upstream
let moving: Upstream

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-upstreams-'))
  inner = createServer(() => reached++)
  await new Promise<void>((resolve) => inner.listen(0, '0.0.0.0', resolve))
  innerPort = (inner.address() as AddressInfo).port
  const away =
    (status: number): Behaviour =>
    (call) => {
      call.response.writeHead(status, { location: String(call.args.to) })
      call.response.end()
    }
  const behaviours = {
    r301: away(301),
    r302: away(302),
    r303: away(303),
    r307: away(307),
    r308: away(308),
    write: ((call) => call.text('wrote')) as Behaviour,
    write_slow: (async (call) => {
      await pause(3_000)
      call.text('wrote slowly')
    }) as Behaviour,
  }
  http = await startUpstream({ behaviours })
  moving = await startUpstream()
  moving.setIntercept((_seen, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${innerPort}/mcp` })
    response.end()
    return true
  })
})

afterAll(async () => {
  inner?.close()
  await Promise.all([http?.close(), moving?.close()])
  rmSync(folder, { recursive: true, force: true })
})

const read = { tools: { '*': 'read' } }

describe('a gateway whose upstreams are not all there', () => {
  let gateway: Gateway
  let token: string
  let startMs: number
  let allowedMs: number
  const ledger = () => join(folder, 'ledger')

  beforeAll(async () => {
    const settings = { TOLLGATE_DATA: join(folder, 'data'), TOLLGATE_APPROVAL_WAIT_MS: '200' }
    // The database is made here, so that what is measured is a start; and how fast this machine is today.
    const bare = performance.now()
    await (await startGateway({}, settings)).close()
    allowedMs = Math.max(5_000, performance.now() - bare + 2_000)
    const hole = createServer(() => {})
    await new Promise<void>((resolve) => hole.listen(0, '127.0.0.1', resolve))
    const began = performance.now()
    gateway = await startGateway(
      {
        missing: { command: 'no-such-command-anywhere' },
        hole: { type: 'http', url: `http://127.0.0.1:${(hole.address() as AddressInfo).port}/mcp` },
        mute: { command: process.execPath, args: [STDIO, '--silent'] },
        good: { command: process.execPath, args: [STDIO, '--ledger', ledger()], ...read },
        web: { type: 'http', url: http.url, tools: { '*': 'read', write: 'write', write_slow: 'write' } },
        moving: { type: 'http', url: moving.url },
        named: { type: 'http', url: `https://${hostname()}:${innerPort}/mcp` },
        metadata: { type: 'http', url: 'http://169.254.169.254/mcp', allowPrivate: true },
      },
      settings,
    )
    startMs = performance.now() - began
    token = await gateway.token({ role: 'person-chat', approval: { channel: 'inbox' } })
    return () => hole.close()
  })
  afterAll(() => gateway?.close())

  const connectors = async (): Promise<any[]> => (await gateway.api('GET', '/v1/connectors')).body.items

  test.each(ERAS)(
    'sparfenyuk/mcp-proxy#198: it is up within 5 s, and the others can be used at once (%s)',
    async (era) => {
      expect(startMs).toBeLessThan(allowedMs)
      const { tools, meta } = await listTexts(gateway, era, token)
      expect(tools.has('good__echo') && tools.has('web__echo')).toBe(true)
      expect((await callText(gateway, era, token, 'good__add', '{"a":1,"b":2}')).answer.result.content[0].text).toBe(
        '3',
      )
      expect((await callText(gateway, era, token, 'web__echo', '{"a":1}')).answer.result.content[0].text).toBe(
        '{"a":1}',
      )
      for (const name of ['missing', 'hole', 'mute']) {
        const row = meta['dev.tollgate/withheld'].find(({ tool }: { tool: string }) => tool === `mcp__${name}__*`)
        expect(row.reason).toContain(`"${name}"`)
      }
    },
  )

  test('Temikus/denkeeper#219: a child sees a short base set of variables and nothing of the gateway', async () => {
    const { answer } = await callText(gateway, 'modern', token, 'good__environment', '{}')
    const names = Object.keys(JSON.parse(answer.result.content[0].text))
    expect(names).toContain('PATH')
    expect(names.filter((name) => /TOLLGATE|DATABASE|VITEST|SECRET|KEY|TOKEN/.test(name))).toEqual([])
    expect(names.length).toBeLessThan(15)
  })

  test('metatool-ai/metamcp#162: 300 sessions, half of them left without goodbye, share one child', async () => {
    const visit = async (i: number) => {
      const opened = await gateway.rpc(token, 'initialize', HELLO)
      const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
      const { answer } = await gateway.rpc(
        token,
        'tools/call',
        { name: 'good__add', arguments: { a: i, b: 0 } },
        { headers },
      )
      expect(answer.result.content[0].text).toBe(String(i))
      if (i % 2 === 0)
        await fetch(gateway.mcpUrl, { method: 'DELETE', headers: { ...headers, authorization: `Bearer ${token}` } })
    }
    for (let i = 0; i < 300; i += 30) await Promise.all(Array.from({ length: 30 }, (_, j) => visit(i + j)))
    const events = readFileSync(ledger(), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    expect(events.filter(({ event }) => event === 'start')).toHaveLength(1)
  })

  test('IBM/mcp-context-forge#1706: 200 slow calls hold nothing that a list or an approval needs', async () => {
    const park = async (name: string, i: number) =>
      (await callText(gateway, 'modern', token, `web__${name}`, `{"i":${i}}`)).answer.result._meta[
        'dev.tollgate/decision'
      ].card.id as string
    const approve = (id: string) => gateway.api('POST', `/v1/approvals/${id}/approve`, {})
    const gated = await Promise.all(Array.from({ length: 12 }, (_, i) => park('write_slow', i)))
    const slow = Array.from({ length: 200 }, () => callText(gateway, 'legacy', token, 'web__slow', '{"ms":5000}'))
    await Promise.all(gated.map(approve))
    await expect
      .poll(() => http.ledger.filter(({ tool }) => tool === 'slow' || tool === 'write_slow').length, {
        timeout: 10_000,
      })
      .toBe(212)
    const taken: number[] = []
    for (let i = 0; i < 5; i++) {
      const id = await park('write', 100 + i)
      const began = performance.now()
      await listTexts(gateway, 'modern', token)
      expect((await approve(id)).status).toBe(200)
      taken.push(performance.now() - began)
    }
    expect(taken.sort((a, b) => a - b)[2]).toBeLessThan(1_000)
    for (const call of slow) expect((await call).answer.result.content[0].text).toBe('slow')
  })

  test('JaidenSy/Arbiter#182: an upstream that sends us on to an address inside is not followed', async () => {
    const before = reached
    for (const era of ERAS) {
      for (const name of ['r301', 'r302', 'r303', 'r307', 'r308']) {
        for (const to of [
          `http://127.0.0.1:${innerPort}/x`,
          'http://169.254.169.254/latest/meta-data/',
          `//localhost:${innerPort}/`,
          'file:///etc/passwd',
        ]) {
          const { answer } = await callText(gateway, era, token, `web__${name}`, JSON.stringify({ to }))
          expect(answer.result.isError).toBe(true)
          expect(answer.result._meta['dev.tollgate/decision'].code).toBe('upstream_unavailable')
        }
      }
    }
    expect(reached).toBe(before)
  })

  test('JaidenSy/Arbiter#182: a redirected handshake, a name for an address inside and a metadata address reach nothing', async () => {
    expect(moving.requests.length).toBeGreaterThan(0)
    await expect
      .poll(
        async () =>
          (await connectors())
            .filter(({ slug }) => ['moving', 'named', 'metadata'].includes(slug))
            .map(({ state }) => state),
        { timeout: 12_000 },
      )
      .toEqual(['failed', 'failed', 'failed'])
    expect((await connectors()).find(({ slug }) => slug === 'moving').detail).toMatch(/redirected/)
    expect((await connectors()).find(({ slug }) => slug === 'metadata').detail).toMatch(/no upstream may have/)
    expect(reached).toBe(0)
  })

  test('sparfenyuk/mcp-proxy#198: all three are named as failed, with what went wrong', async () => {
    await expect
      .poll(async () => (await connectors()).filter(({ state }) => state === 'failed').map(({ slug }) => slug), {
        timeout: 15_000,
        interval: 200,
      })
      .toEqual(expect.arrayContaining(['missing', 'hole', 'mute']))
    const detail = Object.fromEntries((await connectors()).map((row) => [row.slug, row.detail]))
    expect(detail.missing).toMatch(/no-such-command-anywhere|ENOENT|not found/)
    expect(detail.hole).toMatch(/did not answer/)
    expect(detail.mute).toMatch(/did not answer/)
  })
})
