/** Bug bank, group 5: names that fit and stay apart, calls that find their owner, pages to the end, notices of change. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callText, listTexts, type Notices, openNotices } from '../support/bank.ts'
import { ERAS, type Era, type Gateway, speaker, startGateway } from '../support/gateway.ts'
import { type Behaviour, startUpstream, tool, type Upstream } from '../support/upstream.ts'

const STDIO = join(import.meta.dirname, '../support/stdio-upstream.mjs')
const LONG_SERVER = 'a-server-with-thirty-letters-x'
const LONG_TOOL = 'a_tool_with_sixty_letters_'.padEnd(60, 'x')
const TWINS = Array.from({ length: 2_000 }, (_, i) => `${'same_'.repeat(12)}${i}`)
const COUNT = Array.from({ length: 50 }, (_, i) => `paged_${i}`)

const started: Upstream[] = []
const byName: Record<string, Upstream> = {}
let gateway: Gateway
let token: string

/** An upstream whose every tool says whose it is. */
async function owner(name: string, tools: readonly string[], more: object = {}): Promise<void> {
  const own =
    (toolName: string): Behaviour =>
    (call) =>
      call.text(`${name}:${toolName}`)
  const behaviours = Object.fromEntries([...tools, 'read', 'added'].map((toolName) => [toolName, own(toolName)]))
  byName[name] = await startUpstream({ tools: tools.map((toolName) => tool(toolName)), behaviours, ...more })
  started.push(byName[name])
}

const upstream = (name: string): Upstream => byName[name] as Upstream

beforeAll(async () => {
  await Promise.all([
    owner(LONG_SERVER, [LONG_TOOL, `${LONG_TOOL}y`, 'with.dots/and spaces', 'grüße']),
    owner('twins', TWINS),
    owner('web', ['search', 'scraper_search']),
    owner('web_scraper', ['search']),
    owner('shop_scraper', ['search']),
    owner('shop', ['search', 'scraper_search']),
    owner('first', ['read']),
    owner('second', ['other']),
    owner('pages_old', COUNT, { era: 'legacy', pageSize: 7 }),
    owner('pages_new', COUNT, { era: 'modern', pageSize: 7 }),
    owner('stuck', ['a', 'b']),
    owner('swinging', ['a', 'b']),
    owner('told_old', ['here'], { era: 'legacy', sessions: true }),
    owner('told_new', ['here'], { era: 'modern' }),
  ])
  upstream('stuck').setIntercept(loop(() => 'again'))
  upstream('swinging').setIntercept(loop((cursor) => (cursor === 'tick' ? 'tock' : 'tick')))
  // Here it is about names and notices; that new tools are closed is shown elsewhere.
  const servers = Object.fromEntries(
    Object.entries(byName).map(([name, { url }]) => [
      name,
      { type: 'http', url, tools: { '*': 'read' }, newTools: 'open' },
    ]),
  )
  const stdio = { command: process.execPath, args: [STDIO, '--tools', '50', '--page', '7'], tools: { '*': 'read' } }
  gateway = await startGateway({
    ...servers,
    pages_pipe: stdio,
    told_pipe: { ...stdio, args: [STDIO, '--era', 'legacy'], newTools: 'open' },
  })
  await gateway.running.settled(15_000)
  token = await gateway.token({ role: 'person-chat' })
})

afterAll(async () => {
  await gateway?.close()
  await Promise.all(started.map((each) => each.close()))
})

/** Answers every tools/list with the same tools and a cursor that `next` chooses. */
function loop(next: (cursor: unknown) => string) {
  return (seen: { rpc: string | undefined; body: string }, response: import('node:http').ServerResponse): boolean => {
    if (seen.rpc !== 'tools/list') return false
    const { id, params } = JSON.parse(seen.body)
    const result = { resultType: 'complete', tools: [tool('a'), tool('b')], nextCursor: next(params?.cursor) }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { ...result, ttlMs: 0, cacheScope: 'private' } }))
    return true
  }
}

const said = async (era: Era, name: string, path = '/mcp'): Promise<string | undefined> =>
  (await callText(gateway, era, token, name, '{}', { path })).answer.result?.content[0].text

describe.each(ERAS)('names in the %s era', (era) => {
  test('metatool-ai/metamcp#249: long and odd names fit into 64 characters, differ, and can be called', async () => {
    const { tools } = await listTexts(gateway, era, token)
    const own = [...tools.keys()].filter((name) => name.startsWith(`${LONG_SERVER}__`))
    expect(own).toHaveLength(4)
    for (const name of tools.keys()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    const owners = await Promise.all(own.map((name) => said(era, name)))
    expect(owners.sort()).toEqual(
      [LONG_TOOL, `${LONG_TOOL}y`, 'with.dots/and spaces', 'grüße'].map((name) => `${LONG_SERVER}:${name}`).sort(),
    )
  })

  test('metatool-ai/metamcp#249: the door of one connector lists names that fit, too', async () => {
    const path = `/mcp/${LONG_SERVER}`
    const { tools } = await listTexts(gateway, era, token, path)
    expect(tools.has(LONG_TOOL)).toBe(true)
    for (const name of tools.keys()) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      expect(await said(era, name, path)).toMatch(`${LONG_SERVER}:`)
    }
  })

  test('activepieces/activepieces#9714: 2,000 names equal in their first 60 characters are 2,000 tools', async () => {
    const { tools, repeated } = await listTexts(gateway, era, token)
    const own = [...tools.keys()].filter((name) => name.startsWith('twins__'))
    expect([new Set(own).size, repeated]).toEqual([2_000, []])
    const called = own.filter((_, i) => i % 2 === ERAS.indexOf(era))
    const owners = new Set<string | undefined>()
    for (let i = 0; i < called.length; i += 50) {
      for (const text of await Promise.all(called.slice(i, i + 50).map((name) => said(era, name)))) owners.add(text)
    }
    expect(owners.size).toBe(1_000)
    for (const text of owners) expect(text).toMatch(/^twins:same_.*\d$/)
  })

  test.each([
    ['web', 'web_scraper'],
    ['shop', 'shop_scraper'],
  ])('bytedance/deer-flow#3811: tools of %s and %s go to their owners', async (short, long) => {
    expect(await said(era, `${short}__search`)).toBe(`${short}:search`)
    expect(await said(era, `${short}__scraper_search`)).toBe(`${short}:scraper_search`)
    expect(await said(era, `${long}__search`)).toBe(`${long}:search`)
    expect(await said(era, `${short}_scraper_search`)).toBeUndefined()
    expect(await said(era, 'search', `/mcp/${long}`)).toBe(`${long}:search`)
    expect(await said(era, 'scraper_search', `/mcp/${long}`)).toBeUndefined()
  })

  test('IBM/chuk-tool-processor#53: who lists a name later does not get the calls of who had it', async () => {
    upstream('second').setTools([tool('other'), tool('read')])
    upstream('second').notifyChanged()
    await expect.poll(() => said(era, 'second__read'), { timeout: 3_000 }).toBe('second:read')
    expect(await said(era, 'first__read')).toBe('first:read')
    upstream('second').setTools([tool('other')])
    upstream('second').notifyChanged()
    await expect.poll(() => said(era, 'second__read'), { timeout: 3_000 }).toBeUndefined()
    expect(await said(era, 'first__read')).toBe('first:read')
  })
})

describe.each(ERAS)('pages in the %s era', (era) => {
  test.each(['pages_old', 'pages_new'])(
    'agentgateway/agentgateway#3476: 50 tools in pages of 7 are all there (%s)',
    async (name) => {
      const { tools } = await listTexts(gateway, era, token)
      const own = [...tools.keys()].filter((listed) => listed.startsWith(`${name}__`))
      expect(own.sort()).toEqual(COUNT.map((own) => `${name}__${own}`).sort())
      for (const listed of own) expect(await said(era, listed)).toBe(listed.replace('__', ':'))
    },
  )

  test('agentgateway/agentgateway#3476: the same over standard input and output', async () => {
    const { tools } = await listTexts(gateway, era, token)
    for (let i = 0; i < 50; i++) {
      expect(tools.has(`pages_pipe__extra_${i}`)).toBe(true)
      expect(await said(era, `pages_pipe__extra_${i}`)).toBe(`extra_${i} ran`)
    }
  })

  test.each(['stuck', 'swinging'])(
    'DeusData/codebase-memory-mcp#1247: a cursor that leads nowhere is left, and said (%s)',
    async (name) => {
      const { tools, repeated } = await listTexts(gateway, era, token)
      expect([...tools.keys()].filter((listed) => listed.startsWith(`${name}__`))).toEqual([`${name}__a`, `${name}__b`])
      expect(repeated).toEqual([])
      expect(upstream(name).of('tools/list').length).toBeLessThan(20)
      const { body } = await gateway.api('GET', '/v1/connectors')
      const { detail } = body.items.find((row: { slug: string }) => row.slug === name)
      expect(detail).toMatch(/repeats itself/)
      expect(await said(era, `${name}__a`)).toBe(`${name}:a`)
    },
  )
})

describe.each(ERAS)('change notices to a client of the %s era', (era) => {
  const changes = ({ heard }: Notices): number =>
    heard.filter(({ method }) => method === 'notifications/tools/list_changed').length
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

  async function withStreams(tools: string[], work: (streams: { entitled: Notices; other: Notices }) => Promise<void>) {
    const entitled = await openNotices(gateway, era, await gateway.token({ role: 'person-chat', tools }))
    const other = await openNotices(gateway, era, await gateway.token({ role: 'person-chat', tools: ['mcp__web__*'] }))
    try {
      expect([entitled.status, other.status]).toEqual([200, 200])
      await work({ entitled, other })
    } finally {
      entitled.close()
      other.close()
    }
  }

  test.each(['told_old', 'told_new'])(
    'PrefectHQ/fastmcp#4161: a new tool is told within a second to those who may see it (%s)',
    async (name) => {
      await withStreams([`mcp__${name}__*`], async ({ entitled, other }) => {
        // A list that was just read is not read again at once.
        await pause(600)
        upstream(name).setTools([tool('here'), tool('added')])
        upstream(name).notifyChanged()
        await expect.poll(() => changes(entitled), { timeout: 1_000, interval: 20 }).toBe(1)
        expect(await said(era, `${name}__added`)).toBe(`${name}:added`)
        upstream(name).setTools([tool('here')])
        upstream(name).notifyChanged()
        await expect.poll(() => changes(entitled), { timeout: 2_000, interval: 20 }).toBe(2)
        await pause(200)
        expect([changes(entitled), changes(other)]).toEqual([2, 0])
      })
    },
  )

  test('PrefectHQ/fastmcp#4161: the same over standard input and output', async () => {
    await withStreams(['mcp__told_pipe__*'], async ({ entitled, other }) => {
      await pause(600)
      await callText(gateway, era, token, 'told_pipe__change_tools', `{"name":"late_${era}"}`)
      await expect.poll(() => changes(entitled), { timeout: 1_000, interval: 20 }).toBe(1)
      expect(await said(era, `told_pipe__late_${era}`)).toBe(`late_${era} ran`)
      expect(changes(other)).toBe(0)
    })
  })

  test('PrefectHQ/fastmcp#4161: a tool outside the ceiling is told to nobody who may not see it', async () => {
    await withStreams(['mcp__told_new__here'], async ({ entitled }) => {
      await pause(600)
      upstream('told_new').setTools([tool('here'), tool('added')])
      upstream('told_new').notifyChanged()
      await expect.poll(() => said(era, 'told_new__added'), { timeout: 2_000 }).toBe('told_new:added')
      await pause(200)
      expect(changes(entitled)).toBe(0)
      upstream('told_new').setTools([tool('here')])
      upstream('told_new').notifyChanged()
      await pause(800)
      expect(changes(entitled)).toBe(0)
    })
  })

  test.each(['told_old', 'told_new'])(
    'apify/apify-mcp-server#1233: 1,000 notices without a change tell nobody anything (%s)',
    async (name) => {
      await withStreams([`mcp__${name}__*`], async ({ entitled }) => {
        const lists = upstream(name).of('tools/list').length
        upstream(name).notifyChanged(1_000)
        await pause(1_200)
        expect(changes(entitled)).toBe(0)
        expect(upstream(name).of('tools/list').length - lists).toBeLessThanOrEqual(4)
      })
    },
  )

  test.runIf(era === 'modern')('apify/apify-mcp-server#1233: who did not ask for the notices gets none', async () => {
    const stream = await openNotices(gateway, era, token, false)
    const speak = await speaker(gateway, era, token)
    await speak('tools/call', { name: 'told_pipe__change_tools', arguments: { name: 'unasked' } })
    await pause(900)
    expect(stream.heard.map(({ method }) => method)).toEqual(['notifications/subscriptions/acknowledged'])
    stream.close()
  })
})
