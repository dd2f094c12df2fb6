import { describe, expect, test } from 'vitest'
import { createAccess } from '../../src/connector/mcp/access.ts'
import { define } from '../../src/connector/mcp/definition.ts'

const standing = createAccess({})
const defined = (text: string) => define(text, 'up', standing, 'far side')

function tool(text: string) {
  const found = defined(text)
  if (!('tool' in found)) throw new Error(found.dropped.reason)
  return found.tool
}

function reason(text: string): string {
  const found = defined(text)
  if ('tool' in found) throw new Error('It was not dropped.')
  return found.dropped.reason
}

const withSchema = (schema: string): string => `{"name":"t","inputSchema":${schema}}`

test('members nobody knows, key order and numbers go out as they came', () => {
  const text =
    '{"title":"T","name":"t","x-vendor":{"n":9007199254740993,"f":1.0},"description":"d","inputSchema":{"type":"object","$defs":{"a":{"$ref":"#/$defs/a"}},' +
    '"additionalProperties":{"type":"string"}},"outputSchema":{"type":"array"},"icons":[],"annotations":{"readOnlyHint":true},"_meta":{"a/b":1e400}}'
  const out = `,"title":"T","x-vendor"${text.slice(text.indexOf('"x-vendor"') + 10, -1)}`
  expect(tool(text).definition).toEqual({ legacy: out, modern: out })
  expect(tool(text)).toMatchObject({
    name: 'mcp__up__t',
    ownName: 't',
    upstreamName: 't',
    connector: 'up',
    access: 'write',
    title: 'T',
    description: 'd',
  })
})

describe('an input schema', () => {
  test.each([
    ['absent', '{"name":"t"}', '{"type":"object"}'],
    ['true', withSchema('true'), '{"type":"object"}'],
    ['{}', withSchema('{}'), '{"type":"object"}'],
    [
      'only a dialect',
      withSchema('{"$schema":"https://json-schema.org/draft/2020-12/schema"}'),
      '{"type":"object","$schema":"https://json-schema.org/draft/2020-12/schema"}',
    ],
    [
      'only properties',
      withSchema('{"properties":{"a":{"type":"string"}}}'),
      '{"type":"object","properties":{"a":{"type":"string"}}}',
    ],
  ])('that is %s goes out with a type', (_name, text, schema) => {
    expect(tool(text).definition).toEqual({ legacy: `,"inputSchema":${schema}`, modern: `,"inputSchema":${schema}` })
  })

  test.each([
    ['a type list with object', '{"type":["object","null"]}', '{"type":"object"}'],
    ['anyOf at the root', '{"anyOf":[{"type":"object"}]}', '{"type":"object","anyOf":[{"type":"object"}]}'],
    [
      '$ref at the root',
      '{"$ref":"#/$defs/n","$defs":{"n":{"type":"object"}}}',
      '{"type":"object","$ref":"#/$defs/n","$defs":{"n":{"type":"object"}}}',
    ],
  ])('with %s stays as written in the modern era and gets a type in the legacy one', (_name, written, legacy) => {
    expect(tool(withSchema(written)).definition).toEqual({
      legacy: `,"inputSchema":${legacy}`,
      modern: `,"inputSchema":${written}`,
    })
  })

  test.each([
    '{"type":"string"}',
    '{"type":"int"}',
    '{"type":["string"]}',
    '{"type":7}',
    'false',
    '"object"',
    '[]',
    'null',
    '7',
  ])('%s drops the tool with a reason', (schema) => {
    expect(reason(withSchema(schema))).toMatch(/inputSchema/)
  })

  test('with 10,000 properties is passed on without being compiled', () => {
    const properties = Array.from({ length: 10_000 }, (_, i) => `"p${i}":{"type":"string","maxLength":9}`).join()
    const began = process.cpuUsage()
    expect(tool(withSchema(`{"type":"object","properties":{${properties}}}`)).name).toBe('mcp__up__t')
    expect(process.cpuUsage(began).user).toBeLessThan(3_000_000)
  })
})

test.each([
  ['no object', '7'],
  ['null', 'null'],
  ['without a name', '{"inputSchema":{}}'],
  ['with an empty name', '{"name":""}'],
  ['with a number for a name', '{"name":7}'],
  ['with a key given twice', '{"name":"t","name":"u"}'],
  ['too deep', withSchema(`{"type":"object","x":${'['.repeat(101)}${']'.repeat(101)}}`)],
  ['too large', `{"name":"t","description":"${'x'.repeat(1024 * 1024)}"}`],
])('a definition that is %s is dropped', (_name, text) => {
  expect(reason(text)).not.toBe('')
})

test.each(['{"name":"t","title":7,"description":{"a":[]}}', '{"name":"t","annotations":null,"title":null}'])(
  'title and description may be anything: %s',
  (text) => {
    expect(tool(text)).toMatchObject({ title: undefined, description: undefined })
  },
)

test('the digest is of the definition, not of how it is written', () => {
  const a = tool('{"name":"t","description":"d","inputSchema":{"type":"object"}}').digest
  expect(tool('{ "inputSchema": {"type":"object"},"description":"d", "name":"t" }').digest).toBe(a)
  expect(tool('{"name":"t","description":"D","inputSchema":{"type":"object"}}').digest).not.toBe(a)
  expect(a).toMatch(/^[0-9a-f]{64}$/)
})
