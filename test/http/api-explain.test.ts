/** What explaining says besides the answer: the filter, the rule and the cost of a call. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RegisteredTool } from '../../src/connector/connector.ts'
import { costOf as estimateOf } from '../../src/gate/price.ts'
import { costOf } from '../../src/http/api/cost.ts'
import { createWorld, type World } from './api-world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())

const explain = async (role: string, tool: string, more: object = {}) => {
  const claims = { role, brand: 'default', ceiling: [tool], ...more }
  const { status, body } = await world.ask('POST', '/v1/explain', { claims, tool })
  expect(status).toBe(200)
  return body
}

describe('the filter and the rule that decided', () => {
  it.each([
    ['a tool nobody registered', 'person-chat', 'nowhere/go', {}, 'deny', 'registration', 'registry'],
    ['a tool of a connector that is away', 'person-chat', 'slow/go', {}, 'deny', 'registration', 'registry'],
    ['no name', 'person-chat', 'files/*', {}, 'deny', 'registration', 'name'],
    ['a tool outside the role', 'coworker', 'files/read_file', {}, 'deny', 'ceiling', 'role'],
    ['a tool outside the grant', 'specialist', 'files/read_file', {}, 'deny', 'ceiling', 'not-granted'],
    ['a tool outside the ceiling', 'person-chat', 'files/read_file', { ceiling: [] }, 'deny', 'ceiling', 'ceiling'],
    ['a tool off the route', 'person-chat', 'files/read_file', { route: 'read-only' }, 'deny', 'ceiling', 'route'],
    ['a built-in outside the role', 'goal-agent', 'Bash', {}, 'deny', 'ceiling', 'registry'],
    ['a built-in', 'coworker', 'Read', {}, 'allow', 'ceiling', 'builtin'],
    ['a write', 'person-chat', 'files/write_file', {}, 'ask', 'gate', 'write-asks'],
    [
      'a write with nobody to ask',
      'person-chat',
      'files/write_file',
      { approval: { channel: 'none' } },
      'deny',
      'gate',
      'no-channel',
    ],
    [
      'a read by a grant',
      'specialist',
      'files/read_file',
      { grant: { connectors: ['files'] } },
      'allow',
      'gate',
      'granted',
    ],
    ['a read', 'person-chat', 'files/read_file', {}, 'allow', 'gate', 'every-connector'],
  ])('%s', async (_what, role, tool, more, effect, filter, rule) => {
    const said = await explain(role, tool, more)
    expect([said.effect, said.filter, said.rule]).toEqual([effect, filter, rule])
    expect(said.reasons.at(-1)).toEqual({ rule, because: expect.stringMatching(/\S/) })
  })

  it('of a revoked session it is the session', async () => {
    const { id } = await world.issue({ role: 'person-chat' })
    await world.ask('DELETE', `/v1/sessions/${id}`)
    const filter = async () =>
      (await world.ask('POST', '/v1/explain', { session: id, tool: 'files/read_file' })).body.filter
    await expect.poll(filter, { timeout: 2_000 }).toBe('session')
  })
})

describe('the cost', () => {
  const tool = (more: Partial<RegisteredTool>) => ({ access: 'spend', connector: 'up', ...more }) as RegisteredTool
  const said = (one: RegisteredTool, given?: object) => {
    const known = estimateOf(one, given && JSON.stringify(given))
    return costOf(one, { cost: known, level: 'within', left: undefined, paying: 'allowance', free: '7' })
  }

  it('of a read is nothing, and is said of every tool that is there', async () => {
    expect((await explain('person-chat', 'files/read_file')).cost).toEqual({
      unit: null,
      amount: '0',
      because: 'A call of this tool spends nothing.',
    })
    expect((await explain('person-chat', 'nowhere/go')).cost).toBeUndefined()
  })

  it('of a tool that spends is what the operator wrote, and what is left for it', () => {
    expect(said(tool({ cost: { unit: 'credits', amount: '2' } }), {})).toMatchObject({
      unit: 'credits',
      amount: '2',
      left: '7',
    })
    const byArgument = tool({ cost: { unit: 'usd', argument: 'budget' } })
    expect(said(byArgument, { budget: 0.05 })).toMatchObject({ unit: 'usd', amount: '0.05' })
    expect(said(byArgument, { budget: '5' })).toMatchObject({ unit: 'usd', amount: '5' })
  })

  it.each([[undefined], [{}], [{ budget: 'much' }], [{ budget: -1 }], [{ budget: Number.NaN }], [{ budget: null }]])(
    'is unknown, and never nothing, with the arguments %j',
    (given) => {
      const { unit, amount } = said(tool({ cost: { unit: 'usd', argument: 'budget' } }), given)
      expect([unit, amount]).toEqual(['usd', null])
    },
  )

  it('is unknown where nobody said it', () => {
    expect(said(tool({}), {})).toMatchObject({ unit: null, amount: null })
    expect(said(tool({ cost: { unit: 'usd' } }), {})).toMatchObject({ unit: 'usd', amount: null })
    expect(said(tool({ cost: { unit: 'usd', argument: 'toString' } }), {})).toMatchObject({ amount: null })
  })
})
