import { expect, test } from 'vitest'
import { call, ready, upstream } from '../support/connectors.ts'
import { tool } from '../support/upstream.ts'

const annotated = tool('echo', {
  inputSchema: {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
      dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
      deep: { type: 'object', properties: { id: { type: 'string', 'x-mcp-header': 'Id' } } },
      'x-mcp-header': { type: 'string' },
    },
  },
})

const params = (headers: Record<string, unknown> = {}) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('mcp-param-')))

test('a modern upstream gets the arguments it wants in headers, as its schema says', async () => {
  const up = await upstream({ era: 'modern', tools: [annotated] })
  const { connector } = await ready(up)
  await call(connector, 'echo', {
    region: 'eu',
    count: 7,
    dry: false,
    deep: { id: 'ж\r\nx: y' },
    'x-mcp-header': 'plain',
  })
  expect(params(up.of('tools/call')[0]?.headers)).toEqual({
    'mcp-param-region': 'eu',
    'mcp-param-count': '7',
    'mcp-param-dry': 'false',
    'mcp-param-id': `=?base64?${Buffer.from('ж\r\nx: y').toString('base64')}?=`,
  })
})

test('arguments that are absent, null or no single value are in no header', async () => {
  const up = await upstream({ era: 'modern', tools: [annotated] })
  const { connector } = await ready(up)
  await call(connector, 'echo', { region: null, count: [1], deep: 'x', dry: {} })
  await call(connector, 'echo', '{"count":9007199254740993}')
  for (const seen of up.of('tools/call')) expect(params(seen.headers)).toEqual({})
})

test('a legacy upstream gets none', async () => {
  const up = await upstream({ era: 'legacy', tools: [annotated] })
  const { connector } = await ready(up)
  await call(connector, 'echo', { region: 'eu' })
  expect(params(up.of('tools/call')[0]?.headers)).toEqual({})
})

test.each([
  ['an empty name', { a: { type: 'string', 'x-mcp-header': '' } }],
  ['a line break in the name', { a: { type: 'string', 'x-mcp-header': 'Bad\r\nAuthorization' } }],
  ['one name twice', { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } }],
  ['an object', { a: { type: 'object', 'x-mcp-header': 'A' } }],
  ['a number', { a: { type: 'number', 'x-mcp-header': 'A' } }],
  ['the items of a list', { a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } }],
  ['one of several schemas', { a: { oneOf: [{ type: 'string', 'x-mcp-header': 'A' }] } }],
])('a tool that wants %s mirrored is left out', async (_name, properties) => {
  const up = await upstream({ tools: [tool('good'), tool('odd', { inputSchema: { type: 'object', properties } })] })
  const { connector } = await ready(up)
  expect(connector.tools().map((found) => found.upstreamName)).toEqual(['good'])
  expect(connector.withheld()).toMatchObject([
    { tool: 'mcp__up__odd', reason: expect.stringContaining('x-mcp-header') },
  ])
})
