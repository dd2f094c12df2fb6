/**
 * A tool must be as somebody accepted it, or nobody sees or calls it: over a whole gateway, in both eras, with REST.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ADMIN_KEY, ERAS, type Gateway, startGateway } from '../support/gateway.ts'
import { callText, listTexts, type Notices, openNotices } from '../support/bank.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

const ran = (call: { text(text: string): void }) => call.text('ran')
const NAMES = ['send', 'look', 'other', 'shown']
const TOOLS = NAMES.map((name) => tool(name))
let upstream: Upstream
let gateway: Gateway
let receiver: Receiver
let token: string
let asker: string

beforeAll(async () => {
  receiver = await startReceiver()
  upstream = await startUpstream({
    tools: TOOLS,
    behaviours: Object.fromEntries([...NAMES, 'late', 'renamed'].map((n) => [n, ran])),
  })
  gateway = await startGateway(
    {
      up: {
        type: 'http',
        url: upstream.url,
        tools: { look: 'read', other: 'read', late: 'read', renamed: 'read', shown: 'read' },
      },
      open: { type: 'http', url: upstream.url, tools: { '*': 'read' }, newTools: 'open' },
    },
    { TOLLGATE_APPROVAL_WAIT_MS: '0' },
    { webhooks: { hosts: ['127.0.0.1'] } },
  )
  await gateway.running.settled(10_000)
  const { status } = await gateway.api('POST', '/v1/webhooks', { url: receiver.url, events: ['tool.changed'] })
  expect(status).toBe(201)
  token = await gateway.token({ role: 'person-chat' })
  asker = await gateway.token({ role: 'person-chat', approval: { channel: 'inbox' } })
})
afterAll(async () => {
  await gateway?.close()
  await Promise.all([upstream, receiver].map((each) => each?.close()))
})
beforeEach(async () => {
  upstream.setTools(TOOLS)
  expect((await gateway.api('POST', '/v1/connections/up/discover')).status).toBe(200)
})

/** The tools with one of them otherwise described. */
const otherwise = (name: string, more: object) =>
  TOOLS.map((each) => ((each as { name: string }).name === name ? tool(name, more) : each))
const shown = async (name: string, connection = 'up') =>
  (await gateway.api('GET', `/v1/connections/${connection}/tools?tool=${name}`)).body.items[0]
const discover = async (connection = 'up') => {
  const { status, body } = await gateway.api('POST', `/v1/connections/${connection}/discover`)
  expect(status).toBe(200)
  return body
}
const accept = (name: string, digest: string) =>
  gateway.api('POST', `/v1/connections/up/tools/${name}/accept`, { digest })
const decisionOf = (answer: any) => answer.answer.result?._meta?.['dev.tollgate/decision']
const changes = ({ heard }: Notices): number =>
  heard.filter(({ method }) => method === 'notifications/tools/list_changed').length
const audit = async (kind: string) => (await gateway.api('GET', `/v1/audit?kind=${kind}`)).body.items

test('the first discovery accepts what it finds, and says so', async () => {
  const { body } = await gateway.api('GET', '/v1/connections/up/tools')
  expect(body).toMatchObject({
    connection: 'up',
    scope: '*',
    pinned: true,
    newTools: 'closed',
    upstream: { state: 'ready' },
  })
  expect(body.items.map((one: any) => [one.tool, one.state, one.access, one.pinned.acceptedBy, one.seen])).toEqual(
    [...NAMES].sort().map((name) => [name, 'open', name === 'send' ? 'write' : 'read', 'first discovery', null]),
  )
  const rows = (await audit('tool.pinned')).filter(({ connector }: any) => connector === 'up')
  expect(rows).toHaveLength(1)
})

describe.each(ERAS)('to a client of the %s era', (era) => {
  test('a tool goes within a second of its change, is told of, and comes back as it was', async () => {
    const session = await gateway.token({ role: 'person-chat', tools: ['mcp__up__*'] })
    const notices = await openNotices(gateway, era, session)
    try {
      await new Promise((resolve) => setTimeout(resolve, 600))
      upstream.setTools(otherwise('look', { description: `Looks, and tells me (${era}).` }))
      upstream.notifyChanged()
      await expect.poll(() => changes(notices), { timeout: 1_000, interval: 20 }).toBe(1)
      const { tools, meta } = await listTexts(gateway, era, session)
      expect([tools.has('up__look'), tools.has('up__other')]).toEqual([false, true])
      expect(meta['dev.tollgate/withheld']).toMatchObject([{ tool: 'mcp__up__look', code: 'definition_changed' }])
      expect(JSON.stringify(meta)).not.toContain('tells me')
      expect(decisionOf(await callText(gateway, era, token, 'up__look', '{}'))).toMatchObject({
        code: 'definition_changed',
      })
      expect((await callText(gateway, era, token, 'up__other', '{}')).answer.result.content[0].text).toBe('ran')
      const narrow = await gateway.token({ role: 'person-chat', tools: ['mcp__up__other'] })
      expect((await callText(gateway, era, narrow, 'up__look', '{}')).answer.error.code).toBe(-32602)
      expect((await listTexts(gateway, era, narrow)).meta['dev.tollgate/withheld']).toBeUndefined()
      upstream.setTools(TOOLS)
      upstream.notifyChanged()
      await expect.poll(() => changes(notices), { timeout: 2_000, interval: 20 }).toBe(2)
      expect((await listTexts(gateway, era, token)).tools.has('up__look')).toBe(true)
      expect((await callText(gateway, era, token, 'up__look', '{}')).answer.result.content[0].text).toBe('ran')
    } finally {
      notices.close()
    }
  })
})

describe('a person', () => {
  test('sees what changed, and accepts exactly what they saw', async () => {
    upstream.setTools(otherwise('look', { description: 'Looks.\u200b', annotations: { readOnlyHint: true } }))
    await discover()
    const seen = await shown('look')
    expect(seen).toMatchObject({ state: 'changed', access: 'read', serverSays: { readOnlyHint: true } })
    expect(seen.diff.changes).toEqual([
      { path: 'description', change: 'changed', before: 'Does look.', now: 'Looks.\\u{200b}', hidden: true },
      { path: 'annotations', change: 'added', now: '{"readOnlyHint":true}', serverSays: true },
    ])
    expect(seen.pinned.digest).not.toBe(seen.seen.digest)
    upstream.setTools(otherwise('look', { description: 'Something else.' }))
    await discover()
    const late = await accept('look', seen.seen.digest)
    expect([late.status, late.body.code]).toEqual([409, 'definition_changed'])
    expect(late.body.digest).toBe((await shown('look')).seen.digest)
    const accepted = await accept('look', late.body.digest)
    expect([accepted.status, accepted.body.state, accepted.body.pinned.acceptedBy]).toEqual([200, 'open', 'operator'])
    expect((await listTexts(gateway, 'modern', token)).tools.get('up__look')).toContain('Something else.')
    expect((await audit('tool.accepted'))[0]).toMatchObject({ tool: 'mcp__up__look' })
    upstream.setTools(TOOLS)
    await discover()
    const back = await shown('look')
    expect(back.state).toBe('changed')
    expect((await accept('look', back.seen.digest)).body.state).toBe('open')
  })

  test('opens a new tool, which is closed until then, also one under the name of another', async () => {
    upstream.setTools([...TOOLS, tool('late')])
    await discover()
    expect(await shown('late')).toMatchObject({ state: 'new', pinned: null, serverSays: null })
    expect((await listTexts(gateway, 'legacy', token)).tools.has('up__late')).toBe(false)
    const called = await callText(gateway, 'legacy', token, 'up__late', '{}')
    expect(decisionOf(called)).toMatchObject({ code: 'definition_changed' })
    upstream.setTools([...TOOLS.slice(0, 3), { ...tool('shown'), name: 'renamed' }])
    await discover()
    expect(await shown('renamed')).toMatchObject({ state: 'new', renamedFrom: 'shown' })
    expect(await shown('shown')).toMatchObject({ state: 'gone' })
    expect(await shown('late')).toBeUndefined()
    expect((await listTexts(gateway, 'legacy', token)).tools.has('up__renamed')).toBe(false)
    const { digest } = (await shown('renamed')).seen
    expect((await accept('renamed', digest)).body.state).toBe('open')
    expect((await callText(gateway, 'legacy', token, 'up__renamed', '{}')).answer.result.content[0].text).toBe('ran')
  })

  test('need not open new tools where the operator says so; what changes is closed there too', async () => {
    upstream.setTools([...otherwise('other', { description: 'Changed.' }), tool('late')])
    await discover('open')
    const { tools } = await listTexts(gateway, 'modern', token)
    expect([tools.has('open__late'), tools.has('open__other'), tools.has('up__late')]).toEqual([true, false, false])
    upstream.setTools(TOOLS)
    await discover('open')
    expect((await listTexts(gateway, 'modern', token)).tools.has('open__other')).toBe(true)
  })

  test('cannot accept what is not there, what was never seen, or on a connection that is not', async () => {
    expect((await accept('nothing', '0'.repeat(64))).status).toBe(404)
    expect((await accept('look', '0'.repeat(64))).status).toBe(409)
    expect((await accept('look', 'yes')).status).toBe(422)
    expect((await gateway.api('GET', '/v1/connections/none/tools')).status).toBe(404)
    expect((await gateway.api('GET', '/v1/connections/up/tools?brand=stranger')).status).toBe(404)
    const asSession = await fetch(`${gateway.url}/v1/connections/up/tools`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(asSession.status).toBe(401)
  })

  test('reads tools page after page', async () => {
    const names: string[] = []
    let cursor = ''
    do {
      const { body } = await gateway.api('GET', `/v1/connections/up/tools?limit=1&state=open${cursor}`)
      names.push(...body.items.map(({ tool: name }: any) => name))
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')
    expect(names).toEqual([...NAMES].sort())
  })
})

describe('a call that waits for a person', () => {
  const park = async () => {
    const answer = await callText(gateway, 'modern', asker, 'up__send', `{"n":"${Math.random()}"}`)
    return decisionOf(answer).card.id as string
  }
  const card = async (id: string) => (await gateway.api('GET', `/v1/approvals/${id}`)).body
  const times = () => upstream.ledger.filter(({ tool: name }) => name === 'send').length

  test('is withdrawn when the definition of its tool changes, and nobody can approve it any more', async () => {
    const before = times()
    const id = await park()
    upstream.setTools(otherwise('send', { description: 'Sends to somebody else.' }))
    await discover()
    expect(await card(id)).toMatchObject({ status: 'withdrawn', decidedBy: 'definition changed' })
    const approved = await gateway.api('POST', `/v1/approvals/${id}/approve`, {})
    expect(approved.status).toBe(409)
    upstream.setTools(TOOLS)
    await discover()
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(times()).toBe(before)
    const told = receiver.got
      .map(({ body }) => JSON.parse(body))
      .filter(({ type }: any) => type === 'tool.changed')
      .flatMap(({ data }: any) => data.tools)
    expect(told).toContainEqual(
      expect.objectContaining({ kind: 'changed', name: 'mcp__up__send', summary: 'description' }),
    )
    expect(JSON.stringify(told)).not.toContain('somebody else')
    const metrics = await (
      await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })
    ).text()
    expect(Number(/tollgate_tool_changes_total\{kind="changed"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(0)
  })
})
