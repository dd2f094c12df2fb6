import { expect, test } from 'vitest'
import { isReservedMeta } from '../../src/policy/meta.ts'

test.each([
  ['a progress token is the hop’s own', 'progressToken', true],
  ['and only in its exact spelling', 'ProgressToken', false],
  ['a key without a prefix is the caller’s', 'traceparent', false],
  ['so is no key at all', '', false],
  ['and one with an empty prefix', '/mcp', false],
  ['the prefix of the protocol is reserved', 'io.modelcontextprotocol/related-task', true],
  ['and its short form', 'com.mcp/x', true],
  ['in any case', 'COM.MCP/x', true],
  ['also the long one', 'IO.ModelContextProtocol/x', true],
  ['and with labels after it', 'com.mcp.tools/x', true],
  ['up to the first slash', 'com.mcp/x/y.z', true],
  ['as a first label it is the caller’s', 'mcp/x', false],
  ['so it is as a first label with others after it', 'modelcontextprotocol.io/x', false],
  ['so it is as a third label', 'com.example.mcp/x', false],
  ['and as part of a label', 'com.mcps/x', false],
  ['a name behind the slash is no prefix', 'com.example/x.mcp', false],
  ['a key that only looks like a prefix has none', 'com.mcp', false],
  ['nor has one that would be reserved but for its last letter', 'com.mcp_', false],
  ['this gateway’s own prefix can be forged by nobody', 'dev.tollgate/card', true],
  ['in any case of it', 'Dev.TollGate/card', true],
  ['nor with labels after it', 'dev.tollgate.card/id', true],
  ['the prefix of another developer is the caller’s', 'dev.example/x', false],
  ['so is the same name elsewhere', 'com.tollgate/x', false],
  ['and a prefix of one label', 'dev/tollgate', false],
  ['and an empty second label', 'com./x', false],
])('%s: %s', (_what, key, reserved) => {
  expect(isReservedMeta(key)).toBe(reserved)
})
