/** Texts and numbers that some reader or store would change: ids, progress tokens, names and arguments (bug bank group 8, E3, J3). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ERAS, type Era, type Gateway, postBytes, startGateway } from '../support/gateway.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'
import { META, modernHeaders } from './edge-envelopes.ts'

let upstream: Upstream
let gateway: Gateway
let token: string

beforeAll(async () => {
  upstream = await startUpstream({
    tools: ['echo', 'progress', 'slow', 'write_file'].map((name) => tool(name)),
    behaviours: { write_file: (call) => call.text('written') },
  })
  gateway = await startGateway(
    { u: { type: 'http', url: upstream.url, tools: { '*': 'read', write_file: 'write' } } },
    { TOLLGATE_APPROVAL_WAIT_MS: '50' },
  )
  await gateway.running.settled(5_000)
  token = await gateway.token({ role: 'person-chat' })
})

afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
})

/** Calls a tool with texts as they are written. */
function callText(era: Era, bearer: string, name: string, args: string, more: { id?: string; meta?: string } = {}) {
  const { id = '1', meta = '' } = more
  const ownMeta = meta === '' ? '' : `"_meta":{${meta}},`
  const envelope = era === 'modern' ? `${META.slice(0, -1)}${meta === '' ? '' : `,${meta}`}},` : ownMeta
  const body = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{${envelope}"name":"${name}","arguments":${args}}}`
  const coded = Buffer.from(JSON.parse(`"${name}"`) as string).toString('base64')
  return postBytes(gateway, bearer, body, era === 'modern' ? modernHeaders(`=?base64?${coded}?=`) : {})
}

async function ordinaryCall(): Promise<void> {
  for (const era of ERAS) {
    expect((await callText(era, token, 'u__echo', '{"ok":true}')).answer.result.content[0].text).toBe('{"ok":true}')
  }
}

describe('modelcontextprotocol/python-sdk#961', () => {
  test.each(ERAS)('progress tokens keep type and value, as ids do, %s', async (era) => {
    const long = JSON.stringify('x'.repeat(500))
    for (const written of ['1', '0', '-5', '"1"', '""', '9007199254740993', '"\\u0000\\"é"', long]) {
      const { text } = await callText(era, token, 'u__progress', '{"count":1}', { meta: `"progressToken":${written}` })
      expect(text).toContain(`"progressToken":${written},`)
    }
    await ordinaryCall()
  })

  test('a cancel finds its call however both wrote the id', async () => {
    const pairs = [
      ['1', '1'],
      ['"1"', '"1"'],
      ['9007199254740993', '9007199254740993'],
      ['"caf\\u00e9"', '"café"'],
      ['"a\\/b"', '"a/b"'],
    ] as const
    const before = upstream.aborted.length + upstream.cancelled().length
    const results = await Promise.all(
      pairs.map(async ([called, cancelled]) => {
        const started = performance.now()
        const calling = callText('legacy', token, 'u__slow', '{"ms":4000}', { id: called })
        await new Promise((resolve) => setTimeout(resolve, 300))
        const params = `{"requestId":${cancelled}}`
        await postBytes(gateway, token, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`)
        await calling
        return [called, performance.now() - started < 3_500]
      }),
    )
    expect(results).toEqual(pairs.map(([called]) => [called, true]))
    const heard = () => upstream.aborted.length + upstream.cancelled().length - before
    await expect.poll(heard).toBeGreaterThanOrEqual(pairs.length)
    await ordinaryCall()
  })
})

/** As JSON writes them: NUL, halves of pairs, direction, escape sequences, line ends, a tag character. */
const ODD = ['\\u0000', '\\ud800', '\\udfff\\ud800', '\\u202e', '\\u001b[31m', '\\r\\n', '\\udb40\\udc41']

describe('what a database cannot hold', () => {
  test.each(ERAS)('in a name is refused and recorded, and the record goes on, %s', async (era) => {
    const { body: session } = await gateway.api('POST', '/v1/sessions', { role: 'person-chat' })
    const names = [...ODD.map((text) => `u__x${text}`), `${'x'.repeat(127)}\\ud83d\\ude00`, 'x'.repeat(9_000)]
    const before = upstream.of('tools/call').length
    let refusedByName = 0
    for (const name of names) {
      const { answer } = await callText(era, session.token, name, '{}')
      expect([-32602, -32020]).toContain(answer.error.code)
      if (answer.error.code === -32602) refusedByName++
    }
    expect(upstream.of('tools/call')).toHaveLength(before)
    await callText(era, session.token, 'u__echo', '{}')
    const rows = async () => (await gateway.api('GET', `/v1/audit?sessionId=${session.id}&kind=call.ended`)).body.items
    await expect.poll(async () => (await rows())[0]?.code, { timeout: 3_000 }).toBe('ok')
    expect(await rows()).toHaveLength(refusedByName + 1)
    expect((await gateway.api('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true, problems: [] })
    await ordinaryCall()
  })

  test.each(ERAS)('in arguments that a person must see is parked, approved and sent as written, %s', async (era) => {
    const { body: session } = await gateway.api('POST', '/v1/sessions', { role: 'person-chat' })
    for (const text of [...ODD, '{\\"a\\":'.repeat(60)]) {
      const written = `{"${era}${text}":"${text}","list":["${text}",9007199254740993,1e400,-0,1.0]}`
      const call = () => callText(era, session.token, 'u__write_file', written)
      const parked = await call()
      const card = parked.answer.result?._meta['dev.tollgate/decision'].card?.id
      expect(card, parked.text).toBeDefined()
      const shown = await fetch(`${gateway.url}/v1/approvals/${card}`, {
        headers: { authorization: 'Bearer test-admin-key-that-is-long-enough' },
      })
      expect(shown.status).toBe(200)
      const shownText = await shown.text()
      for (const digits of ['9007199254740993', '1e400', '1.0']) expect(shownText).toContain(digits)
      expect((await gateway.api('POST', `/v1/approvals/${card}/approve`, {})).status).toBe(200)
      await expect.poll(async () => (await call()).text).toContain('"written"')
      expect(upstream.ledger.at(-1)?.argumentsText).toBe(written)
    }
    await ordinaryCall()
  })
})
