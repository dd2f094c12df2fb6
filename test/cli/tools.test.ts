/** `tollgate tools` and `tollgate discover`, against a whole gateway. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN_KEY, type Gateway, startGateway } from '../support/gateway.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'
import { run } from './world.ts'

const TOOLS = [tool('look', { annotations: { readOnlyHint: true } }), tool('send')]

let upstream: Upstream
let gateway: Gateway
const cli = (...args: string[]) => run(args, { env: { TOLLGATE_URL: gateway.url, TOLLGATE_ADMIN_KEY: ADMIN_KEY } })

beforeAll(async () => {
  upstream = await startUpstream({ tools: TOOLS })
  gateway = await startGateway({ up: { type: 'http', url: upstream.url, tools: { look: 'read' } } })
  await gateway.running.settled(10_000)
})
afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
})

test('lists tools with who accepted them and what the server says', async () => {
  const { code, out } = await cli('tools', 'list', 'up')
  expect(code).toBe(0)
  const lines = out.split('\n').map((line) => line.split(/ {2,}/))
  expect(lines[1]).toEqual(['TOOL', 'STATE', 'ACCESS', 'ACCEPTED', 'THE SERVER SAYS'])
  expect(lines[2]).toEqual([
    'look',
    'open',
    'read',
    expect.stringMatching(/by first discovery$/),
    '{"readOnlyHint":true}',
  ])
  expect(lines[3]?.slice(0, 3)).toEqual(['send', 'open', 'write'])
  expect((await cli('tools', 'diff', 'up')).out).toBe('Nothing differs: up is as it was accepted.\n')
})

test('shows what changed, and accepts what was read and nothing else', async () => {
  upstream.setTools([tool('look', { description: 'Looks.\u200b\nAnd \u001b[31mtells.' }), TOOLS[1]!])
  const found = await cli('discover', 'up')
  expect([found.code, found.out]).toEqual([0, expect.stringMatching(/^look {2,}changed {2,}read /m)])
  const { out } = await cli('tools', 'diff', 'up', 'look')
  expect(out).toContain('look (changed)')
  expect(out).toContain('  annotations removed [the server says; it decides nothing here]\n    - {"readOnlyHint":true}')
  expect(out).toContain(
    '  description changed [holds hidden characters, written as \\u{…}]\n    - Does look.\n    + Looks.\\u{200b}\n    + And \\u{1b}[31mtells.',
  )
  const [, command] = /tollgate (tools accept up look --digest [0-9a-f]{12})$/m.exec(out) ?? []
  expect(command).toBeDefined()
  const unread = await cli('tools', 'accept', 'up', 'look')
  expect([unread.code, unread.err]).toEqual([
    1,
    expect.stringContaining(`Say which definition you read: tollgate ${command}`),
  ])
  const other = await cli('tools', 'accept', 'up', 'look', '--digest', '0'.repeat(12))
  expect([other.code, other.err]).toEqual([1, expect.stringContaining('is another one by now')])
  const accepted = await cli(...(command ?? '').split(' '))
  expect([accepted.code, accepted.out]).toEqual([0, 'up look is accepted as it is now, and open.\n'])
  expect((await cli('tools', 'accept', 'up', 'look', '--digest', '0'.repeat(12))).err).toContain('nothing to accept')
})

test('says so where there is no such connection, tool or key', async () => {
  const none = await cli('tools', 'list', 'nothing')
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('no connection nothing')])
  expect((await cli('tools', 'diff', 'up', 'nothing')).err).toContain('up has no tool nothing')
  expect((await cli('discover', 'nothing')).code).toBe(1)
  const json = await cli('tools', 'list', 'up', '--json')
  expect(JSON.parse(json.out).items.map((one: { tool: string }) => one.tool)).toEqual(['look', 'send'])
})
