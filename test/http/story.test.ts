import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

test('a session without any upstream lists no tools, in both eras', async () => {
  const token = await gateway.token({
    role: 'person-chat',
    tools: ['memory/memory_read'],
    approval: { channel: 'inbox' },
  })
  const legacy = await gateway.rpc(token, 'tools/list')
  expect(legacy.answer.result.tools).toEqual([])
  const modern = await gateway.modern(token, 'tools/list')
  expect(modern.answer.result).toMatchObject({ tools: [], cacheScope: 'private', resultType: 'complete' })
})
