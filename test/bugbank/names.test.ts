/** Names as a way past the rules: spellings (reliability A5), and bug bank group 10 as far as names go. */
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ERAS, type Gateway, headerText, speaker, startGateway } from '../support/gateway.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'
import { signEd } from '../session/world.ts'
import { LISTED, LONG, NO_TEXTS, SPELLINGS, TOOL, WRITTEN } from './names-spellings.ts'

const HOST = 'https://host.example'
const pair = generateKeyPairSync('ed25519')

let u: Upstream
let others: Upstream
let gateway: Gateway
/** May call `u__echo` alone. */
let plain: string
/** May call `u__echo` and `u__delete_disks`. */
let holder: string

beforeAll(async () => {
  const run = (call: { text(text: string): void }) => call.text('ran')
  u = await startUpstream({
    tools: [tool('echo'), tool(TOOL), tool('delete__disks'), tool(LONG), tool('write_file')],
    behaviours: { [TOOL]: run, delete__disks: run, [LONG]: run, write_file: run },
  })
  // This one takes any name for the one it knows: folded, trimmed, and without marks.
  others = await startUpstream({ tools: [tool('echo'), tool(TOOL)] })
  others.setIntercept((seen, response) => {
    if (seen.rpc !== 'tools/call' || !/delete/i.test(seen.body.normalize('NFKC'))) return false
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ran"}]}}')
    return true
  })
  const server = (upstream: Upstream) => ({
    type: 'http',
    url: upstream.url,
    tools: { '*': 'read', write_file: 'write' },
  })
  const { x, crv, kty } = pair.publicKey.export({ format: 'jwk' })
  gateway = await startGateway(
    { u: server(u), 'u-x': server(others), u_x: server(others), other: server(others) },
    { TOLLGATE_APPROVAL_WAIT_MS: '50' },
    {
      issuers: [
        { issuer: HOST, jwks: { keys: [{ x, crv, kty, kid: 'k' }] }, brands: ['default'], roles: ['person-chat'] },
      ],
    },
  )
  await gateway.running.settled(5_000)
  plain = await gateway.token({ role: 'person-chat', tools: ['mcp__u__echo'] })
  holder = await gateway.token({ role: 'person-chat', tools: ['mcp__u__echo', `mcp__${LISTED}`] })
})

afterAll(async () => {
  await gateway?.close()
  await u?.close()
  await others?.close()
})

const calls = () => u.of('tools/call').length + others.of('tools/call').length

/** Runs the work, and sees that no call reached any upstream and that both tokens still work. */
async function unreached(work: () => Promise<void>): Promise<void> {
  const before = calls()
  await work()
  expect(calls()).toBe(before)
  for (const era of ERAS) {
    for (const [token, name] of [
      [plain, 'u__echo'],
      [holder, LISTED],
    ] as const) {
      const speak = await speaker(gateway, era, token)
      const { answer } = await speak('tools/call', { name, arguments: {} })
      expect(answer.result.isError).not.toBe(true)
    }
  }
}

const listed = async (token: string): Promise<string[]> =>
  (await gateway.modern(token, 'tools/list')).answer.result.tools.map(({ name }: { name: string }) => name)

const unknown = (name: string) => ({
  code: -32602,
  message: `Unknown tool: ${name.length > 128 ? `${name.slice(0, 128)}…` : name}. Call only tools that tools/list shows for this session.`,
})

describe('A5: a spelling', () => {
  test.each(Object.entries(SPELLINGS))('by %s reaches nothing on tools/call', async (_, spellings) => {
    await unreached(async () => {
      for (const era of ERAS) {
        for (const token of [plain, holder]) {
          const all = await speaker(gateway, era, token)
          const own = await speaker(gateway, era, token, '/mcp/u')
          for (const name of spellings) {
            expect((await all('tools/call', { name, arguments: {} })).answer.error, JSON.stringify(name)).toEqual(
              unknown(name),
            )
            const rest = name.startsWith('u__') ? name.slice(3) : name
            if (rest === TOOL && token === holder) continue
            expect((await own('tools/call', { name: rest })).answer.error, JSON.stringify(rest)).toEqual(unknown(rest))
          }
        }
      }
    })
  })

  test('that is no text reaches nothing on tools/call', async () => {
    await unreached(async () => {
      for (const era of ERAS) {
        for (const token of [plain, holder]) {
          const speak = await speaker(gateway, era, token)
          for (const name of [...NO_TEXTS, undefined]) {
            const params = { name, arguments: {} }
            const headers = era === 'modern' ? { 'mcp-name': headerText(LISTED) } : {}
            const { answer } = await speak('tools/call', params, { headers })
            expect(answer.error).toEqual({ code: -32602, message: '"name" must be a string.' })
          }
        }
      }
    })
  })

  test.each(Object.entries(SPELLINGS))('by %s puts nothing into a list by REST', async (_, spellings) => {
    for (const written of spellings) {
      const asked = { role: 'person-chat', tools: ['mcp__u__echo', written] }
      const { status, body } = await gateway.api('POST', '/v1/sessions', asked)
      if (status === 422) expect(body.errors[0].path).toBe('tools[1]')
      else {
        expect(status, written).toBe(201)
        const granted = (await listed(body.token)).filter((name) => name.startsWith('u__') && name !== 'u__echo')
        // The whole of a connector, and another tool's exact name, are what they say.
        expect([written, granted]).toEqual([
          written,
          written === 'u__*' ? expect.arrayContaining([LISTED]) : own(written),
        ])
      }
    }
  })

  const own = (written: string) => (['u__delete__disks'].includes(written) ? [written] : [])

  test.each(Object.entries(SPELLINGS))(
    'by %s puts nothing into a list by a host-signed token',
    async (_, spellings) => {
      for (const written of spellings.filter((name) => name !== 'u__*')) {
        const response = await fetch(gateway.mcpUrl, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${hostToken([written, 'mcp__u__echo'])}`,
            'content-type': 'application/json',
            accept: 'application/json',
          },
          body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
        })
        const answer = (await response.json()) as any
        if (response.status === 401) expect(answer.error_description).toMatch(/ceiling|longer than/)
        else {
          const names = answer.result.tools.map(({ name }: { name: string }) => name)
          expect([written, names]).toEqual([written, expect.not.arrayContaining([LISTED])])
        }
      }
    },
  )

  test('of the three that are taken gives the exact tool, and the exact name works', async () => {
    for (const written of WRITTEN) {
      const token = await gateway.token({ role: 'person-chat', tools: [written] })
      expect(await listed(token)).toEqual([LISTED])
    }
    const long = (await listed(await gateway.token({ role: 'person-chat', tools: ['mcp__u__*'] }))).find((name) =>
      name.includes('everything'),
    )!
    expect(long.length).toBeLessThanOrEqual(64)
    const { answer } = await gateway.modern(plain, 'tools/call', { name: long })
    expect(answer.error).toEqual(unknown(long))
  })

  test('as a JSON escape is the name itself: refused to who may not, run for who may', async () => {
    for (const [token, ran] of [
      [plain, false],
      [holder, true],
    ] as const) {
      const before = u.ledger.length
      const response = await fetch(gateway.mcpUrl, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\u0075__delete\\u005fdisks"}}',
      })
      const answer = (await response.json()) as any
      expect(answer.error === undefined).toBe(ran)
      expect(u.ledger).toHaveLength(ran ? before + 1 : before)
    }
  })

  test.each(ERAS)('does not collect or use up the approval of the exact name, %s', async (era) => {
    const token = await gateway.token({
      role: 'person-chat',
      tools: ['mcp__u__write_file'],
      approval: { channel: 'inbox' },
    })
    const speak = await speaker(gateway, era, token)
    const call = (name: string) => speak('tools/call', { name, arguments: { era } })
    const parked = await call('u__write_file')
    const card = parked.answer.result._meta['dev.tollgate/decision'].card.id
    const before = calls()
    const spelt = ['u__Write_file', 'u__write_file ', 'u__writе_file', 'mcp__u__write_file', 'u__write_file\u200b']
    for (const name of spelt) expect((await call(name)).answer.error).toEqual(unknown(name))
    expect((await gateway.api('POST', `/v1/approvals/${card}/approve`, {})).status).toBe(200)
    for (const name of spelt) expect((await call(name)).answer.error).toEqual(unknown(name))
    await expect.poll(async () => (await call('u__write_file')).answer.result.content[0].text).toBe('ran')
    expect(calls()).toBe(before + 1)
    const { sessionId } = (await gateway.api('GET', `/v1/approvals/${card}`)).body
    const cards = (await gateway.api('GET', `/v1/approvals?sessionId=${sessionId}`)).body.items
    expect(cards.map(({ id }: { id: string }) => id)).toEqual([card])
  })
})

describe('bypass', () => {
  test.each(ERAS)(
    'github/gh-aw-mcpg#3332: a tool that the list omits is refused, not reached, recorded, %s',
    async (era) => {
      await unreached(async () => {
        const { body: session } = await gateway.api('POST', '/v1/sessions', {
          role: 'person-chat',
          tools: ['mcp__u__echo'],
        })
        expect(await listed(session.token)).toEqual(['u__echo'])
        const speak = await speaker(gateway, era, session.token)
        const hidden = await speak('tools/call', { name: LISTED, arguments: {} })
        const absent = await speak('tools/call', { name: 'u__never_was', arguments: {} })
        expect(hidden.answer.error).toEqual(unknown(LISTED))
        // Word for word the same whether the tool exists or not, but for the name the caller wrote.
        expect(hidden.text.replaceAll(LISTED, 'X')).toBe(absent.text.replaceAll('u__never_was', 'X'))
        expect(hidden.status).toBe(absent.status)
        const rows = async () =>
          (await gateway.api('GET', `/v1/audit?sessionId=${session.id}&kind=call.ended`)).body.items
        await expect
          .poll(rows)
          .toEqual([
            expect.objectContaining({ code: 'unknown_tool', outcome: 'refused' }),
            expect.objectContaining({ code: 'unknown_tool', outcome: 'refused' }),
          ])
      })
    },
  )

  test('github/gh-aw-mcpg#3332: for any session the list and what can be called are the same', async () => {
    const everything = await listed(await gateway.token({ role: 'person-chat' }))
    const others = ['u__echo', 'other__echo', 'u_x__echo', 'u-x__echo', LISTED, 'other__delete_disks']
    for (const tools of [
      ['mcp__u__*'],
      ['mcp__u_x__*'],
      ['mcp__u-x__echo', 'mcp__other__delete_disks'],
      [`mcp__${LISTED}`],
    ]) {
      const token = await gateway.token({ role: 'person-chat', tools })
      const held = await listed(token)
      for (const era of ERAS) {
        const speak = await speaker(gateway, era, token)
        const callable: string[] = []
        for (const name of new Set([...everything, ...others])) {
          if (/write/.test(name)) continue
          if ((await speak('tools/call', { name })).answer.error?.message.startsWith('Unknown tool') !== true)
            callable.push(name)
        }
        expect(callable.sort()).toEqual(held.filter((name) => !/write/.test(name)).sort())
      }
    }
  })

  test('QwenLM/qwen-code#10199: a name that would have to be cleaned does not start, and says so', async () => {
    for (const name of ['foo.bar', 'foo/bar', 'foo__bar', 'fоo']) {
      await expect(startGateway({ [name]: { type: 'http', url: u.url } })).rejects.toThrow(/a name here is letters/)
    }
  })

  test('QwenLM/qwen-code#10199: the rule for one server fits no other of nearly the same name', async () => {
    for (const [server, not] of [
      ['u', ['u-x', 'u_x', 'other']],
      ['u_x', ['u-x', 'u', 'other']],
      ['u-x', ['u_x', 'u', 'other']],
    ] as const) {
      const token = await gateway.token({ role: 'person-chat', tools: [`mcp__${server}__*`] })
      const names = await listed(token)
      expect(new Set(names.map((name) => name.split('__')[0]))).toEqual(new Set([server]))
      const before = calls()
      for (const other of not) {
        const { answer } = await gateway.modern(token, 'tools/call', { name: `${other}__echo` })
        expect(answer.error).toEqual(unknown(`${other}__echo`))
        const door = await gateway.modern(token, 'tools/list', {}, { path: `/mcp/${other}` })
        expect(door.answer.result.tools).toEqual([])
      }
      expect(calls()).toBe(before)
    }
  })

  test.each(ERAS)(
    'anthropics/claude-code#29489: lookalikes of a denied name do not reach an upstream that folds them, %s',
    async (era) => {
      const token = await gateway.token({ role: 'person-chat', tools: ['mcp__other__echo'] })
      const speak = await speaker(gateway, era, token)
      await unreached(async () => {
        for (const name of [...SPELLINGS.case!, ...SPELLINGS.lookalikes!, ...SPELLINGS['other forms']!, `${LISTED} `]) {
          const there = name.replace(/^.+?__/, 'other__')
          expect((await speak('tools/call', { name: there })).answer.error).toEqual(unknown(there))
        }
      })
    },
  )
})

/** A token of the configured host app, for a session that may call what `ceiling` says. */
function hostToken(ceiling: readonly string[]): string {
  const iat = Math.floor(Date.now() / 1000)
  const claims = {
    iss: HOST,
    aud: gateway.mcpUrl,
    sub: 'host',
    jti: `j${Math.random()}`,
    iat,
    exp: iat + 600,
    brand: 'default',
    role: 'person-chat',
    route: 'standard',
    ceiling,
    grant: { connectors: [] },
    approval: { channel: 'none' },
  }
  return signEd({ alg: 'EdDSA', typ: 'tollgate-session+jwt', kid: 'k' }, claims, pair.privateKey)
}
