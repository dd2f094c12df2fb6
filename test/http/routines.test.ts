/**
 * Routines from the outside: REST, a whole gateway, and a scripted upstream whose tools change.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { listTexts } from '../support/bank.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

const NAMES = ['look', 'send', 'other', 'pay']
const LYING = { annotations: { readOnlyHint: true, destructiveHint: false } }
const TOOLS = [tool('look'), tool('send', LYING), tool('other'), tool('pay')]
const ran = (call: { text(text: string): void }) => call.text('ran')
let upstream: Upstream
let gateway: Gateway

beforeAll(async () => {
  upstream = await startUpstream({
    tools: TOOLS,
    behaviours: Object.fromEntries(NAMES.map((name) => [name, ran])),
  })
  gateway = await startGateway(
    {
      up: {
        type: 'http',
        url: upstream.url,
        tools: { look: 'read', pay: { access: 'spend', cost: { unit: 'credits', amount: '2' } } },
      },
    },
    { TOLLGATE_APPROVAL_WAIT_MS: '0' },
    { limits: { equalCalls: 3 } },
  )
  await gateway.running.settled(10_000)
})
afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
})
beforeEach(async () => {
  upstream.setTools(TOOLS)
  upstream.ledger.length = 0
  expect((await gateway.api('POST', '/v1/connections/up/discover')).status).toBe(200)
  for (const { tool: name, seen } of (await gateway.api('GET', '/v1/connections/up/tools')).body.items) {
    if (seen !== null) await gateway.api('POST', `/v1/connections/up/tools/${name}/accept`, { digest: seen.digest })
  }
})

let made = 0
async function routine(more: object = {}): Promise<any> {
  const name = `Routine ${++made}`
  const { status, body } = await gateway.api('POST', '/v1/routines', { name, connections: ['up'], ...more })
  expect(status).toBe(201)
  return body
}
const put = (id: string, name: string, body: object) => gateway.api('PUT', `/v1/routines/${id}/tools/up__${name}`, body)
const state = async (id: string, name: string) =>
  (await gateway.api('GET', `/v1/routines/${id}/tools`)).body.items.find((one: any) => one.tool === `mcp__up__${name}`)
const start = (id: string, supervised?: boolean) =>
  gateway.api('POST', '/v1/sessions', { routine: id, ...(supervised === undefined ? {} : { supervised }) })
const call = (token: string, name: string, args: object = {}) =>
  gateway.modern(token, 'tools/call', { name: `up__${name}`, arguments: args })
const codeOf = (answer: any) => answer.answer.result?._meta?.['dev.tollgate/decision']?.code
const textOf = (answer: any) => answer.answer.result?.content?.[0]?.text
const listed = async (token: string) => [...(await listTexts(gateway, 'modern', token)).tools.keys()]
const ranOf = (name: string) => upstream.ledger.filter((one) => one.tool === name).length

/** A call that a person approves, and that runs. */
async function supervise(id: string, name: string, args: object = {}): Promise<void> {
  const { status, body } = await start(id, true)
  expect(status).toBe(201)
  const asked = await call(body.token, name, args)
  expect(codeOf(asked)).toBe('approval_pending')
  const card = asked.answer.result._meta['dev.tollgate/decision'].card.id
  expect((await gateway.api('POST', `/v1/approvals/${card}/approve`, {})).status).toBe(200)
  await vi.waitFor(async () => {
    const { items } = (await gateway.api('GET', `/v1/traces/${body.id}`)).body
    expect(items).toMatchObject([{ outcome: 'done', decision: 'asked', supervised: true }])
  }, 5_000)
}

/** Lets a tool run unattended the long way: enabled, tried with a person, confirmed. */
async function automatic(id: string, name: string): Promise<any> {
  expect((await put(id, name, { state: 'enabled' })).status).toBe(200)
  await supervise(id, name)
  const { body } = await put(id, name, { state: 'automatic' })
  const { status, body: now } = await put(id, name, { state: 'automatic', confirm: body.confirm })
  expect(status).toBe(200)
  return now
}

test('a tool runs unattended only after it was enabled, tried with a person, and confirmed by its name', async () => {
  const { id, state: first } = await routine()
  expect(first).toBe('draft')
  expect(await state(id, 'send')).toMatchObject({ state: 'disabled', definition: 'present', proven: false })
  const early = await put(id, 'send', { state: 'automatic', confirm: 'yes' })
  expect(early).toMatchObject({ status: 422, body: { code: 'automatic_on_disabled_tool' } })
  expect(await state(id, 'send')).toMatchObject({ state: 'disabled' })

  expect(await put(id, 'send', { state: 'enabled' })).toMatchObject({
    status: 200,
    body: { version: expect.any(Number) },
  })
  const unconfirmed = await put(id, 'send', { state: 'automatic' })
  expect(unconfirmed).toMatchObject({ status: 409, body: { code: 'automatic_tool_confirmation_required' } })
  const { confirm } = unconfirmed.body
  expect(confirm).toContain('mcp__up__send')
  expect(confirm).toContain('may read or change connected data')
  const unproven = await put(id, 'send', { state: 'automatic', confirm })
  expect(unproven).toMatchObject({ status: 409, body: { code: 'automatic_tool_proof_required' } })
  expect(unproven.body.links.traces).toBe(`/v1/routines/${id}/traces?tool=mcp__up__send`)

  await supervise(id, 'send')
  expect(await state(id, 'send')).toMatchObject({ state: 'enabled', proven: true })
  expect((await put(id, 'send', { state: 'automatic', confirm })).status).toBe(200)

  expect(await start(id)).toMatchObject({ status: 409, body: { code: 'routine_not_ready' } })
  expect(await gateway.api('POST', `/v1/routines/${id}/ready`)).toMatchObject({ status: 200, body: { state: 'ready' } })
  const { body: session } = await start(id)
  expect(session.tools.map(({ listedAs }: any) => listedAs)).toEqual(['up__send'])
  expect(textOf(await call(session.token, 'send'))).toBe('ran')
  const { items } = (await gateway.api('GET', `/v1/traces/${session.id}`)).body
  expect(items).toMatchObject([{ decision: 'automatic', outcome: 'done', supervised: false, code: 'ok' }])
})

test('an enabled tool asks a person for every call, a plain read too, and is refused where nobody can be asked', async () => {
  const { id } = await routine()
  await put(id, 'look', { state: 'enabled' })
  await supervise(id, 'look', { a: 1 })
  await gateway.api('POST', `/v1/routines/${id}/ready`)
  const { body: session } = await start(id)
  expect(codeOf(await call(session.token, 'look'))).toBe('approval_required')
  expect(ranOf('look')).toBe(1)
})

test('a routine whose unattended sessions have the inbox parks the calls of an enabled tool there', async () => {
  const { id } = await routine({ channel: 'inbox' })
  await put(id, 'look', { state: 'enabled' })
  await gateway.api('POST', `/v1/routines/${id}/ready`)
  const { body: session } = await start(id)
  expect(codeOf(await call(session.token, 'look'))).toBe('approval_pending')
  expect(ranOf('look')).toBe(0)
})

test('nothing is shared: what one routine may do unattended, another with the same connection may not even see', async () => {
  const one = await routine()
  const two = await routine()
  await automatic(one.id, 'send')
  await put(two.id, 'look', { state: 'enabled' })
  const { confirm } = (await put(one.id, 'look', { state: 'automatic' })).body
  expect(confirm).toBeUndefined()
  const { body: session } = await start(two.id, true)
  expect(await listed(session.token)).toEqual(['up__look'])
  // The confirmation of one routine's tool is none for another routine's.
  await put(two.id, 'send', { state: 'enabled' })
  const first = `I confirm that mcp__up__send may read or change connected data while nobody is watching, in the routine ${JSON.stringify(one.name)}.`
  expect(await put(two.id, 'send', { state: 'automatic', confirm: first })).toMatchObject({
    status: 409,
    body: { code: 'automatic_tool_confirmation_required' },
  })
})

test('what is asked for outside the policy is unknown to the model, and on the record as tool_denied with the why', async () => {
  const { id, name } = await routine()
  await put(id, 'look', { state: 'enabled' })
  const { body: session } = await start(id, true)
  const inside = await call(session.token, 'send')
  const nowhere = await call(session.token, 'nothing_of_the_kind')
  expect(inside.answer.error.code).toBe(-32602)
  expect(inside.text.replaceAll('up__send', 'X')).toBe(nowhere.text.replaceAll('up__nothing_of_the_kind', 'X'))
  await vi.waitFor(async () => {
    const { items } = (await gateway.api('GET', `/v1/audit?sessionId=${session.id}&kind=tool_denied`)).body
    expect(items).toHaveLength(2)
    const row = items.find((one: any) => one.tool === 'mcp__up__send')
    expect(row).toMatchObject({
      routine: id,
      reason: expect.stringContaining(`${JSON.stringify(name)} has mcp__up__send disabled`),
    })
  })
  const { items } = (await gateway.api('GET', `/v1/traces/${session.id}`)).body
  expect(items).toMatchObject([
    { decision: 'denied', outcome: 'refused', code: 'unknown_tool' },
    { decision: 'denied' },
  ])
})

test('annotations are shown as what the server says, and a tool that calls itself read-only asks all the same', async () => {
  const { id } = await routine()
  expect(await state(id, 'send')).toMatchObject({
    state: 'disabled',
    access: 'write',
    serverSays: { readOnlyHint: true },
  })
  await put(id, 'send', { state: 'enabled' })
  const { body: session } = await start(id, true)
  expect(codeOf(await call(session.token, 'send'))).toBe('approval_pending')
})

describe('a changed definition', () => {
  const changed = [
    tool('look'),
    tool('send', { ...LYING, description: 'does more by now' }),
    tool('other'),
    tool('pay'),
  ]
  const seen = async (id: string) => {
    upstream.setTools(changed)
    upstream.notifyChanged()
    await vi.waitFor(
      async () => expect((await gateway.api('GET', `/v1/routines/${id}`)).body.state).toBe('draft'),
      5_000,
    )
  }

  test('clears the grant in every routine that held the tool, returns them to draft, and must be proven again', async () => {
    const holders = [await routine(), await routine()]
    for (const { id } of holders) {
      await automatic(id, 'send')
      await gateway.api('POST', `/v1/routines/${id}/ready`)
    }
    const bystander = await routine()
    await put(bystander.id, 'look', { state: 'enabled' })
    await gateway.api('POST', `/v1/routines/${bystander.id}/ready`)
    const [one, two] = holders as [any, any]
    const { body: session } = await start(one.id)
    await seen(one.id)
    expect((await gateway.api('GET', `/v1/routines/${two.id}`)).body).toMatchObject({
      state: 'draft',
      tools: [],
      stateBecause: 'definition changed: mcp__up__send',
    })
    expect((await gateway.api('GET', `/v1/routines/${bystander.id}`)).body).toMatchObject({ state: 'ready' })
    expect((await call(session.token, 'send')).answer.error.code).toBe(-32602)
    expect(await state(one.id, 'send')).toMatchObject({ state: 'disabled', definition: 'closed', proven: false })
    expect(await put(one.id, 'send', { state: 'enabled' })).toMatchObject({
      status: 409,
      body: { code: 'definition_changed' },
    })

    const { digest } = (await gateway.api('GET', '/v1/connections/up/tools?tool=send')).body.items[0].seen
    await gateway.api('POST', '/v1/connections/up/tools/send/accept', { digest })
    expect((await put(one.id, 'send', { state: 'enabled' })).status).toBe(200)
    const { confirm } = (await put(one.id, 'send', { state: 'automatic' })).body
    expect(await put(one.id, 'send', { state: 'automatic', confirm })).toMatchObject({
      status: 409,
      body: { code: 'automatic_tool_proof_required' },
    })
  })

  test('racing an approval, the call never runs on what was approved', async () => {
    const { id } = await routine()
    await put(id, 'send', { state: 'enabled' })
    const { body: session } = await start(id, true)
    const asked = await call(session.token, 'send')
    const card = asked.answer.result._meta['dev.tollgate/decision'].card.id
    upstream.setTools(changed)
    upstream.notifyChanged()
    await Promise.all([
      gateway.api('POST', `/v1/approvals/${card}/approve`, {}),
      gateway.api('POST', '/v1/connections/up/discover'),
    ])
    await vi.waitFor(async () => {
      const { status } = (await gateway.api('GET', `/v1/approvals/${card}`)).body
      expect(['withdrawn', 'failed', 'done']).toContain(status)
    }, 5_000)
    // Whoever was first: it ran as approved before the change was there, or it did not run.
    const { status } = (await gateway.api('GET', `/v1/approvals/${card}`)).body
    expect(ranOf('send')).toBe(status === 'done' ? 1 : 0)
  })
})

test('rediscovery clears what was let in and returns the routine to draft, though nothing changed', async () => {
  const { id } = await routine()
  await automatic(id, 'send')
  await gateway.api('POST', `/v1/routines/${id}/ready`)
  const { body: session } = await start(id)
  expect((await gateway.api('POST', '/v1/connections/up/discover')).status).toBe(200)
  expect((await gateway.api('GET', `/v1/routines/${id}`)).body).toMatchObject({ state: 'draft', tools: [] })
  expect((await call(session.token, 'send')).answer.error.code).toBe(-32602)
  // The definition is the one that was proven, so a confirmation is enough.
  await put(id, 'send', { state: 'enabled' })
  const { confirm } = (await put(id, 'send', { state: 'automatic' })).body
  expect((await put(id, 'send', { state: 'automatic', confirm })).status).toBe(200)
})

test('a later change narrows live sessions at once, and widens none', async () => {
  const { id } = await routine({ channel: 'inbox' })
  await automatic(id, 'send')
  await put(id, 'look', { state: 'enabled' })
  await supervise(id, 'look')
  await gateway.api('POST', `/v1/routines/${id}/ready`)
  const { body: session } = await start(id)
  // Let run unattended, and enabled, after the session was issued: nothing for this one.
  const { confirm } = (await put(id, 'look', { state: 'automatic' })).body
  expect((await put(id, 'look', { state: 'automatic', confirm })).status).toBe(200)
  await put(id, 'other', { state: 'enabled' })
  expect(codeOf(await call(session.token, 'look', { again: 1 }))).toBe('approval_pending')
  expect((await call(session.token, 'other')).answer.error.code).toBe(-32602)
  expect(textOf(await call(session.token, 'send'))).toBe('ran')
  await put(id, 'send', { state: 'enabled' })
  expect(codeOf(await call(session.token, 'send'))).toBe('approval_pending')
  await put(id, 'send', { state: 'disabled' })
  expect((await call(session.token, 'send')).answer.error.code).toBe(-32602)
  await gateway.api('DELETE', `/v1/routines/${id}`)
  expect(await listed(session.token)).toEqual([])
})

test('equal calls again and again are parked for a person, or refused where there is none', async () => {
  for (const [channel, code] of [
    ['inbox', 'approval_pending'],
    ['none', 'approval_required'],
  ] as const) {
    const { id } = await routine({ channel })
    await automatic(id, 'send')
    await gateway.api('POST', `/v1/routines/${id}/ready`)
    const { body: session } = await start(id)
    upstream.ledger.length = 0
    for (let i = 0; i < 3; i++) expect(textOf(await call(session.token, 'send', { b: 1, a: 2 }))).toBe('ran')
    const fourth = await call(session.token, 'send', { a: 2, b: 1 })
    expect(codeOf(fourth)).toBe(code)
    const { items } = (await gateway.api('GET', `/v1/traces/${session.id}`)).body
    expect(items.at(-1)).toMatchObject({ code, rules: expect.arrayContaining(['equal-calls']) })
    expect(textOf(await call(session.token, 'send', { a: 3 }))).toBe('ran')
    expect(ranOf('send')).toBe(4)
  }
})

test('of many equal calls at once no more than the figure run', async () => {
  const { id } = await routine()
  await automatic(id, 'send')
  await gateway.api('POST', `/v1/routines/${id}/ready`)
  const { body: session } = await start(id)
  upstream.ledger.length = 0
  await Promise.all(Array.from({ length: 12 }, () => call(session.token, 'send', { same: true })))
  expect(ranOf('send')).toBeLessThanOrEqual(3)
})

test('of two people who change one routine from the same version, the second is told what changed', async () => {
  const { id, version } = await routine()
  const answers = await Promise.all(
    ['look', 'send', 'other'].map((name) => put(id, name, { state: 'enabled', version })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  const { body } = answers.find(({ status }) => status === 409)!
  const { body: won } = answers.find(({ status }) => status === 200)!
  expect(body).toMatchObject({ code: 'version_conflict', current: { version: won.version } })
  expect(body.changes).toMatchObject([{ version: won.version, by: 'operator', what: `${won.tools[0].tool}: enabled` }])
  expect((await gateway.api('GET', `/v1/routines/${id}`)).body.tools).toHaveLength(1)
  const late = await gateway.api('PUT', `/v1/routines/${id}`, { name: 'Late', version })
  expect(late).toMatchObject({ status: 409, body: { code: 'version_conflict' } })
})

test('a refused change leaves everything as it was, its version too', async () => {
  const { id } = await routine()
  const before = (await gateway.api('GET', `/v1/routines/${id}`)).body
  for (const [name, body] of [
    ['send', { state: 'automatic' }],
    ['send', { state: 'on' }],
    ['nothing', { state: 'enabled' }],
    ['send', { state: 'enabled', all: true }],
  ] as const) {
    expect((await put(id, name, body)).status).toBeGreaterThanOrEqual(404)
  }
  expect((await gateway.api('POST', `/v1/routines/${id}/ready`)).status).toBe(422)
  expect((await gateway.api('GET', `/v1/routines/${id}`)).body).toEqual(before)
})

test('a session of a routine says nothing of itself: roles, tools, grants and channels are the routine’s', async () => {
  const { id } = await routine()
  await put(id, 'look', { state: 'enabled' })
  for (const more of [
    { role: 'person-chat' },
    { tools: ['up/send'] },
    { approval: { channel: 'inbox' } },
    { limits: {} },
  ]) {
    const { status, body } = await gateway.api('POST', '/v1/sessions', { routine: id, supervised: true, ...more })
    expect([status, body.errors[0].rule]).toEqual([422, 'routine_decides'])
  }
  expect((await gateway.api('POST', '/v1/sessions', { role: 'routine', tools: ['up/look'] })).status).toBe(422)
  expect((await gateway.api('POST', '/v1/sessions', { role: 'person-chat', supervised: true })).status).toBe(422)
  expect((await start('rt_nobody')).status).toBe(422)
})

test('a routine for money needs an allowance in the right figures, and none for what it does not use', async () => {
  const bad = await gateway.api('POST', '/v1/routines', {
    name: 'x',
    connections: ['nobody'],
    allowance: { up: { perRunUsd: 1 } },
  })
  expect(bad.status).toBe(422)
  expect(bad.body.errors.map(({ rule }: any) => rule)).toEqual(['unknown_connector', 'allowance_without_grant'])
})

test('automatic spends no more than the routine’s own allowance, by run and by day, and nothing without one', async () => {
  const figures = { perRunCredits: 3, perDayCredits: 7 }
  const { id } = await routine({ allowance: { up: figures } })
  await automatic(id, 'pay')
  const poor = await routine()
  await automatic(poor.id, 'pay')
  for (const each of [id, poor.id]) await gateway.api('POST', `/v1/routines/${each}/ready`)
  const { body: session } = await start(id)
  upstream.ledger.length = 0
  expect(textOf(await call(session.token, 'pay', { n: 1 }))).toBe('ran')
  expect(codeOf(await call(session.token, 'pay', { n: 2 }))).toBe('allowance_exhausted')
  const { body: other } = await start(poor.id)
  expect(codeOf(await call(other.token, 'pay', { n: 1 }))).toBe('allowance_exhausted')
  expect(ranOf('pay')).toBe(1)
  const { items } = (await gateway.api('GET', `/v1/traces/${session.id}`)).body
  expect(items).toMatchObject([
    { decision: 'automatic', cost: { unit: 'credits', amount: '2' } },
    { decision: 'denied', code: 'allowance_exhausted' },
  ])
  // Two runs of three credits each are spoken for today; a third would pass seven.
  expect(await start(id)).toMatchObject({ status: 409, body: { code: 'session_limit' } })
  // The day of one routine is not the day of another.
  const twin = await routine({ allowance: { up: figures } })
  await put(twin.id, 'look', { state: 'enabled' })
  await gateway.api('POST', `/v1/routines/${twin.id}/ready`)
  expect((await start(twin.id)).status).toBe(201)
  const { body: listedSession } = await gateway.api('GET', `/v1/sessions/${session.id}`)
  expect(listedSession).toMatchObject({ routine: { id, supervised: false }, role: 'routine' })
  expect(listedSession.coworker).toBeUndefined()
})
