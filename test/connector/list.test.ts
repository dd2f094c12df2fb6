import { expect, test } from 'vitest'
import { call, connector, entryOf, ready, textOf, until, upstream } from '../support/connectors.ts'
import { tool } from '../support/upstream.ts'

const named = (count: number, prefix = 't'): object[] => Array.from({ length: count }, (_, i) => tool(`${prefix}${i}`))
const echo = (names: string[]) =>
  Object.fromEntries(names.map((name) => [name, (c: { text(t: string): void }) => c.text(name)]))

test.each(['legacy', 'modern'] as const)('all pages of a %s list are read', async (era) => {
  const up = await upstream({ era, tools: named(50), pageSize: 7, behaviours: echo(['t49']) })
  const { connector: made } = await ready(up)
  expect(made.tools()).toHaveLength(50)
  expect(textOf(await call(made, 't49'))).toBe('t49')
})

test('a list that gives the same page for ever ends, each name once, and that is said', async () => {
  const up = await upstream()
  up.setIntercept((seen, response) => {
    if (seen.rpc !== 'tools/list') return false
    response.setHeader('content-type', 'application/json')
    response.end(
      `{"jsonrpc":"2.0","id":${JSON.parse(seen.body).id},"result":{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"same"}}`,
    )
    return true
  })
  const { connector: made, heard } = await ready(up)
  expect(made.tools().map((found) => found.upstreamName)).toEqual(['a', 'b'])
  expect(made.state().detail).toContain('repeats itself')
  expect(heard.lines.join()).toContain('repeats itself')
  expect(up.of('tools/list').length).toBeLessThan(5)
})

test('a list with two cursors in turn, and one with ever new cursors, end too', async () => {
  for (const next of [(n: number) => `c${n % 2}`, (n: number) => `c${n}`]) {
    let n = 0
    const up = await upstream()
    up.setIntercept((seen, response) => {
      if (seen.rpc !== 'tools/list') return false
      response.setHeader('content-type', 'application/json')
      response.end(
        `{"jsonrpc":"2.0","id":${JSON.parse(seen.body).id},"result":{"tools":[{"name":"a"}],"nextCursor":"${next(n++)}"}}`,
      )
      return true
    })
    const { connector: made } = await ready(up)
    expect(made.tools()).toHaveLength(1)
    expect(up.of('tools/list').length).toBeLessThanOrEqual(200)
  }
})

test('one bad tool is left out with its name, nine good ones stay', async () => {
  const up = await upstream({ tools: [...named(9), { name: 'bad', inputSchema: { type: 'int' } }] })
  const { connector: made } = await ready(up)
  expect(made.tools()).toHaveLength(9)
  expect(made.withheld()).toMatchObject([{ tool: 'mcp__up__bad', reason: expect.stringContaining('"bad"') }])
})

test('2,000 long names equal in their first 60 characters are all there, each its own', async () => {
  const names = Array.from({ length: 2_000 }, (_, i) => `${'n'.repeat(60)}/${i}`)
  const up = await upstream({ tools: names.map((name) => ({ name })), behaviours: echo(names) })
  const { connector: made } = await ready(up, { name: 'a'.repeat(30) })
  expect(new Set(made.tools().map((found) => found.name)).size).toBe(2_000)
  expect(new Set(made.tools().map((found) => found.ownName)).size).toBe(2_000)
  for (const found of made.tools()) {
    expect(found.name.slice('mcp__'.length).length).toBeLessThanOrEqual(64)
    expect(found.ownName.length).toBeLessThanOrEqual(64)
  }
  for (const name of [names[0], names[1_999]]) expect(textOf(await call(made, name!))).toBe(name)
})

test('a list of 1,030 tools and 2 MB in one event is read', async () => {
  const up = await upstream({
    era: 'legacy',
    answers: 'sse',
    tools: Array.from({ length: 1_030 }, (_, i) => tool(`t${i}`, { description: 'd'.repeat(2_000) })),
  })
  const { connector: made } = await ready(up)
  expect(made.tools()).toHaveLength(1_030)
})

test('an odd tool name is called by its own name', async () => {
  const names = ['järv/ö', 'a b', ' edge ', '=?base64?eA==?=', 'x\u2028y', '"quoted"']
  const up = await upstream({ tools: names.map((name) => ({ name })), behaviours: echo(names) })
  const { connector: made } = await ready(up)
  for (const name of names) expect(textOf(await call(made, name))).toBe(name)
})

test.each(['legacy', 'modern'] as const)(
  'a change that a %s upstream tells of is seen within a second',
  async (era) => {
    const up = await upstream({ era, tools: named(2) })
    const { connector: made, heard } = await ready(up)
    await until(() => up.listeners() === 1)
    const before = made.tools()
    const changes = heard.changes
    up.setTools(named(3))
    up.notifyChanged()
    await until(() => made.tools().length === 3, 1_000)
    expect(made.tools()).not.toBe(before)
    expect(heard.changes).toBe(changes + 1)
  },
)

test('1,000 notices without a change change nothing', async () => {
  const up = await upstream({ tools: named(2) })
  const { connector: made, heard } = await ready(up)
  await until(() => up.listeners() === 1)
  const before = made.tools()
  const changes = heard.changes
  const lists = up.of('tools/list').length
  up.notifyChanged(1_000)
  await until(() => up.of('tools/list').length > lists)
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(made.tools()).toBe(before)
  expect(heard.changes).toBe(changes)
  expect(up.of('tools/list').length - lists).toBeLessThan(5)
})

test('an upstream without tools is ready with none', async () => {
  const up = await upstream({ tools: [] })
  const { connector: made } = await ready(up)
  expect(made.withheld()).toEqual([])
})

test('a brand that the entry does not name is not served', async () => {
  const { connector: made } = connector(entryOf('http://127.0.0.1:9/', { brands: ['acme'] }))
  expect([made.serves('acme'), made.serves('other'), made.serves('*')]).toEqual([true, false, false])
})
