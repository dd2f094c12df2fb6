/** Spend as its callers, people and operators see it: over MCP, REST and the command line, with a real far side. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../cli/world.ts'
import { ADMIN_KEY, ERAS, type Gateway, speaker, startGateway } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
beforeAll(async () => {
  upstream = await startUpstream({
    tools: ['pay', 'buy', 'free'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    behaviours: {
      pay: ({ args, answer }) =>
        answer(
          JSON.stringify({
            content: [],
            structuredContent: { bill: { credits: args.bill ?? args.credits } },
            _meta: { 'x/y': 1 },
          }),
        ),
      buy: ({ text }) => text('bought'),
      free: ({ text }) => text('free'),
    },
  })
  const shop = {
    type: 'http',
    url: upstream.url,
    tools: {
      pay: {
        access: 'spend',
        grantable: true,
        cost: { unit: 'Credits', argument: 'credits', actual: 'structuredContent.bill.credits' },
      },
      buy: { access: 'spend', grantable: true, cost: { unit: 'credits', amount: 4 } },
      free: 'read',
    },
  }
  gateway = await startGateway({ shop }, { TOLLGATE_APPROVAL_WAIT_MS: '0' }, { spend: { askAbove: { shop: 5 } } })
})
afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
})

const allowance = { shop: { perRunCredits: 20, perDayCredits: 100_000 } }
const unattended = { role: 'specialist', tools: ['shop/*'], grant: { connectors: ['shop'], allowance } }
async function issue(request: Record<string, unknown>): Promise<any> {
  const { status, body } = await gateway.api('POST', '/v1/sessions', request)
  expect([status, body]).toEqual([201, expect.anything()])
  return body
}
const get = async (path: string) => (await gateway.api('GET', path)).body
const cli = (...args: string[]) => run(args, { env: { TOLLGATE_URL: gateway.url, TOLLGATE_ADMIN_KEY: ADMIN_KEY } })
const DECISION = 'dev.tollgate/decision'

describe.each(ERAS)('in the %s era', (era) => {
  test('an unattended session spends its allowance, is told what is left, and is refused with it', async () => {
    const { id, token, spend, tools } = await issue(unattended)
    const credits = { connector: 'shop', unit: 'credits', most: '20', handedOn: '0' }
    expect(spend).toEqual([{ ...credits, reserved: '0', spent: '0', left: '20' }])
    expect(tools).toEqual([
      expect.objectContaining({ name: 'mcp__shop__buy', access: 'spend', asks: false }),
      expect.objectContaining({ name: 'mcp__shop__pay', access: 'spend', asks: false }),
    ])
    const speak = await speaker(gateway, era, token)
    const call = async (name: string, args: object) =>
      (await speak('tools/call', { name: `shop__${name}`, arguments: args })).answer.result
    expect((await call('pay', { credits: 15, bill: 12.5 }))._meta).toMatchObject({
      'x/y': 1,
      [DECISION]: { code: 'ok', spend: { cost: { unit: 'credits', amount: '12.5' }, left: '7.5' } },
    })
    expect((await call('buy', {}))._meta[DECISION].spend).toEqual({
      cost: { unit: 'credits', amount: '4' },
      left: '3.5',
    })
    const sent = upstream.ledger.length
    const refused = await call('buy', { more: true })
    expect(refused).toMatchObject({ isError: true })
    expect(refused.content[0].text).toContain('allowance_exhausted: This call costs up to 4 credits')
    expect(refused._meta[DECISION]).toMatchObject({
      code: 'allowance_exhausted',
      rules: ['over-allowance', 'no-channel'],
      spend: { cost: { unit: 'credits', amount: '4' }, left: '3.5' },
    })
    expect(upstream.ledger).toHaveLength(sent)
    expect((await get(`/v1/sessions/${id}`)).spend).toEqual([{ ...credits, reserved: '0', spent: '16.5', left: '3.5' }])
    const explained = async (args: object) =>
      (await gateway.api('POST', '/v1/explain', { session: id, tool: 'shop/pay', arguments: args })).body
    expect(await explained({ credits: 3.5 })).toMatchObject({
      effect: 'allow',
      cost: { unit: 'credits', amount: '3.5', left: '3.5' },
    })
    expect(await explained({ credits: 3.6 })).toMatchObject({ effect: 'deny', code: 'allowance_exhausted' })
    expect(await explained({})).toMatchObject({ effect: 'deny', code: 'approval_required', cost: { amount: null } })
  })
})

test('a person is asked above the operator’s threshold, on a card that says the cost, and the call runs once', async () => {
  const { id, token } = await issue({ role: 'person-chat', approval: { channel: 'inbox' } })
  const call = async (credits: number) =>
    (await gateway.rpc(token, 'tools/call', { name: 'shop__pay', arguments: { credits } })).answer.result
  expect((await call(5))._meta[DECISION]).toEqual({
    code: 'ok',
    spend: { cost: { unit: 'credits', amount: '5' }, left: null },
  })
  const { card } = (await call(6))._meta[DECISION]
  expect(card.cost).toEqual({ unit: 'credits', amount: '6' })
  expect(await get(`/v1/approvals/${card.id}`)).toMatchObject({ status: 'pending', cost: { amount: '6' } })
  expect(
    (await get(`/v1/spend?session=${id}`)).items.map((row: any) => [row.state, row.reserved, row.settled]),
  ).toEqual([
    ['open', '6', null],
    ['settled', '5', '5'],
  ])
  await gateway.api('POST', `/v1/approvals/${card.id}/approve`, {})
  await expect.poll(async () => (await get(`/v1/approvals/${card.id}`)).status).toBe('done')
  expect((await call(6))._meta[DECISION].spend.cost).toEqual({ unit: 'credits', amount: '6' })
  expect((await get(`/v1/spend/totals?by=session&session=${id}`)).items).toEqual([
    { session: id, brand: 'default', unit: 'credits', calls: 2, settled: '11', open: '0', unknown: '0' },
  ])
})

test('a call that costs nothing asks nothing of the ledger', async () => {
  const { id, token } = await issue({ role: 'person-chat' })
  const { result } = (await gateway.rpc(token, 'tools/call', { name: 'shop__free' })).answer
  expect(result._meta).toBeUndefined()
  expect((await get(`/v1/spend?session=${id}`)).items).toEqual([])
})

test('explains a call of a session that is only asked about by all of its allowance', async () => {
  const claims = { role: 'specialist', ceiling: ['mcp__shop__*'], grant: { connectors: ['shop'], allowance } }
  const explained = async (credits: number) =>
    (await gateway.api('POST', '/v1/explain', { claims, tool: 'shop/pay', arguments: { credits } })).body
  expect(await explained(20)).toMatchObject({ effect: 'allow', cost: { left: '20' } })
  expect(await explained(21)).toMatchObject({ effect: 'deny', code: 'allowance_exhausted' })
})

describe('GET /v1/spend', () => {
  test('filters by brand, connector, session, day and state, and pages', async () => {
    const { id, token } = await issue(unattended)
    for (let i = 0; i < 3; i++)
      await gateway.rpc(token, 'tools/call', { name: 'shop__pay', arguments: { credits: 1, i } })
    const mine = await get(`/v1/spend?session=${id}`)
    const { day } = mine.items[0]
    expect(mine.items).toHaveLength(3)
    const found = async (query: string) => (await get(`/v1/spend?session=${id}&${query}`)).items.length
    const counts = [`day=${day}`, 'day=2020-02-29', 'connector=shop', 'connector=other', 'brand=default', 'brand=acme']
    expect(await Promise.all(counts.map(found))).toEqual([3, 0, 3, 0, 3, 0])
    expect(await Promise.all(['state=settled', 'state=open'].map(found))).toEqual([3, 0])
    const first = await get(`/v1/spend?session=${id}&limit=2`)
    const rest = await get(`/v1/spend?session=${id}&limit=2&cursor=${first.nextCursor}`)
    expect([...first.items, ...rest.items]).toEqual(mine.items)
    expect(rest.nextCursor).toBeNull()
  })

  test.each(['day=2026-02-30', 'day=today', 'state=lost', 'by=month', 'what=ever'])('refuses %s', async (query) => {
    const path = query.startsWith('by') ? '/v1/spend/totals' : '/v1/spend'
    expect((await gateway.api('GET', `${path}?${query}`)).status).toBe(422)
  })
})

describe('tollgate spend', () => {
  test('prints a table per connector, session and day, and each call', async () => {
    const { id, token } = await issue(unattended)
    await gateway.rpc(token, 'tools/call', { name: 'shop__pay', arguments: { credits: 2.5 } })
    const [row] = (await get(`/v1/spend?session=${id}`)).items
    const printed = async (by: string) => (await cli('spend', '--by', by, '--session', id)).out.split('\n').slice(0, 2)
    expect(await printed('connector')).toEqual([
      'CONNECTOR  BRAND    UNIT     CALLS  BOOKED  OPEN  UNKNOWN',
      'shop       default  credits  1      2.5     0     0',
    ])
    expect((await printed('session'))[1]).toMatch(new RegExp(`^${id}  default  credits  1 `))
    expect((await printed('day'))[1]).toMatch(new RegExp(`^${row.day}  default  credits  1 `))
    expect((await printed('call'))[1]).toMatch(
      / {2}settled {2}default {2}.* {2}mcp__shop__pay {2}credits {2}2\.5 {7}2\.5$/,
    )
    expect(JSON.parse((await cli('spend', '--by', 'call', '--session', id, '--json')).out).items).toEqual([row])
  })

  test('shows what is left with the session', async () => {
    const { id, token } = await issue(unattended)
    await gateway.rpc(token, 'tools/call', { name: 'shop__pay', arguments: { credits: 2.5 } })
    expect((await cli('sessions', 'show', id)).out).toContain('\nshop: 17.5 of 20 credits left in this run.\n')
  })

  test('says how to mend what it cannot do', async () => {
    expect(await cli('spend', '--by', 'month')).toMatchObject({
      code: 1,
      err: 'tollgate: --by is connector, session, day or call.\n',
    })
    expect((await cli('spend', '--session', 'nobody')).out).toBe('Nothing was spent.\n')
  })
})
