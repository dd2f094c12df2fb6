/** Bug bank, group 11: one card, one decision, one execution, and a caller who is told, whatever happens between. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bank, callText, KINDS, type Kind, listTexts, startBank } from '../support/bank.ts'
import { ERAS, type Era, freePort, type Gateway, startGateway } from '../support/gateway.ts'
import { streamingClient } from '../support/streaming.ts'
import type { Behaviour } from '../support/upstream.ts'

const WAIT_MS = 300
const RULES = { '*': 'write', look: 'read', buy: { access: 'spend' }, peek: { access: 'read', ask: true } }
const LONG = 'a_tool_with_a_very_long_name_that_does_not_fit_into_sixty_four_characters'
const NAMES = ['pay', 'look', 'buy', 'peek', 'breaks', 'hinted', LONG]
const HINTS = ',"annotations":{"readOnlyHint":true,"destructiveHint":false},"_meta":{"dev.tollgate/access":"read"}'
const definition = (name: string, more = name === 'hinted' ? HINTS : ''): string =>
  `{"name":"${name}","inputSchema":{"type":"object"}${more}}`

let bank: Bank
let gateway: Gateway
let token: string
let folder: string
let settings: Record<string, string>
let amount = 0

beforeAll(async () => {
  const echo: Behaviour = (call) => call.text(`paid ${call.argumentsText}`)
  bank = await startBank(
    NAMES.map((name) => definition(name)),
    {
      behaviours: {
        ...Object.fromEntries(NAMES.map((name) => [name, echo])),
        breaks: (call) => void call.response.socket?.destroy(),
      },
      entry: { tools: RULES },
    },
  )
  folder = mkdtempSync(join(tmpdir(), 'tollgate-approvals-'))
  settings = {
    TOLLGATE_DATA: folder,
    PORT: String(await freePort()),
    TOLLGATE_APPROVAL_WAIT_MS: String(WAIT_MS),
  }
  gateway = await startGateway(bank.servers, settings)
  await gateway.running.settled(10_000)
  token = await person()
})

afterAll(async () => {
  await gateway?.close()
  await bank?.close()
  rmSync(folder, { recursive: true, force: true })
})

const person = (): Promise<string> => gateway.token({ role: 'person-chat', approval: { channel: 'inbox' } })
/** Arguments that no other test uses. */
const fresh = (): string => `{"amount":${++amount}}`
const decisionOf = (answer: any) => answer.result?._meta?.['dev.tollgate/decision']
const decide = (id: string, how: 'approve' | 'deny', body: object = {}) =>
  gateway.api('POST', `/v1/approvals/${id}/${how}`, body)
const cardOf = async (id: string) => (await gateway.api('GET', `/v1/approvals/${id}`)).body
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const ran = (kind: Kind, args: string): number =>
  bank.arrived(kind).filter(({ argumentsText }) => argumentsText === args).length

const pay = async (era: Era, args: string, kind: Kind = 'new', as = token, name = 'pay') =>
  (await callText(gateway, era, as, `${kind}__${name}`, args)).answer

/** Calls and comes back with the card that waits. */
async function park(era: Era, args: string, kind: Kind = 'new', as = token, name = 'pay') {
  const answer = await pay(era, args, kind, as, name)
  expect(decisionOf(answer)?.code).toBe('approval_pending')
  return decisionOf(answer).card as { id: string; status: string; expiresAt: string }
}

/** A call that is held, and followed as its messages come. */
async function hold(era: Era, args: string, more: { progressToken?: unknown } = {}) {
  const caller = await streamingClient(gateway, era, token)
  return caller.call('new__pay', JSON.parse(args), more)
}

describe.each(ERAS)('a held call in the %s era', (era) => {
  test('gridctl/gridctl#1150: the first byte goes out at once, and the answer is "pending", which is no error', async () => {
    const args = fresh()
    const held = await hold(era, args, { progressToken: 'mine' })
    const opened = await held.opened
    expect(opened.ms).toBeLessThan(1_000)
    expect(opened.type).toMatch(/^text\/event-stream/)
    await expect.poll(() => held.messages.length).toBeGreaterThan(0)
    const answer = await held.ended
    expect(held.messages[0]).toMatchObject({ method: 'notifications/progress', params: { progressToken: 'mine' } })
    expect(answer).toMatchObject({ id: held.id, result: { isError: false } })
    expect(decisionOf(answer)).toMatchObject({ code: 'approval_pending', card: { status: 'pending' } })
    expect(answer.result.content[0].text).toContain(decisionOf(answer).card.id)
    expect(answer.result.structuredContent).toBeUndefined()
    const again = await park(era, args)
    expect(again.id).toBe(decisionOf(answer).card.id)
    expect(ran('new', args)).toBe(0)
  })

  test('gridctl/gridctl#1150: without a progress token there is no progress', async () => {
    const held = await hold(era, fresh())
    await held.ended
    expect(held.messages).toHaveLength(1)
  })

  test('gridctl/gridctl#1150: approved while the caller waits, its answer comes on the same request', async () => {
    const args = fresh()
    const held = await hold(era, args, { progressToken: 5 })
    await expect.poll(() => held.messages.length).toBeGreaterThan(0)
    const [card] = (await gateway.api('GET', '/v1/approvals?status=pending&limit=1')).body.items
    expect((await decide(card.id, 'approve')).status).toBe(200)
    const answer = await held.ended
    expect(answer.result.content[0].text).toBe(`paid ${args}`)
    expect(ran('new', args)).toBe(1)
    await expect.poll(async () => (await cardOf(card.id)).status).toBe('done')
  })

  test('gridctl/gridctl#1150: the caller drops and asks again: one card, one execution, the outcome once', async () => {
    const args = fresh()
    const dropped = await hold(era, args)
    await dropped.opened
    dropped.drop()
    await dropped.ended.catch(() => {})
    const card = await park(era, args)
    const other = await park(era === 'modern' ? 'legacy' : 'modern', args)
    expect(other.id).toBe(card.id)
    await decide(card.id, 'approve')
    await expect.poll(async () => (await cardOf(card.id)).status, { timeout: 5_000 }).toBe('done')
    const late = await pay(era, args)
    expect(late.result.content[0].text).toBe(`paid ${args}`)
    await pause(150)
    // Collected: the same call is a new question.
    expect((await park(era, args)).id).not.toBe(card.id)
    expect(ran('new', args)).toBe(1)
  })

  test('gridctl/gridctl#1150: five callers of one call at once share a card, an execution and an outcome', async () => {
    const args = fresh()
    const calls = Array.from({ length: 5 }, () => hold(era, args))
    await Promise.all(calls.map(async (call) => (await call).opened))
    const { items } = (await gateway.api('GET', '/v1/approvals?status=pending&limit=50')).body
    const own = items.filter((card: any) => card.arguments.amount === amount)
    expect(own).toHaveLength(1)
    await decide(own[0].id, 'approve')
    const texts = await Promise.all(calls.map(async (call) => (await (await call).ended).result.content[0].text))
    expect(texts).toContain(`paid ${args}`)
    // On a slow machine some have been told to come again.
    for (const text of texts) expect(text).toMatch(/^(paid |approval_pending: )/)
    expect(ran('new', args)).toBe(1)
  })

  test('a denial is told once, with its note, and nothing ran', async () => {
    const args = fresh()
    const card = await park(era, args)
    expect((await decide(card.id, 'deny', { note: 'too dear' })).body.status).toBe('denied')
    const answer = await pay(era, args)
    expect(answer.result.isError).toBe(true)
    expect(decisionOf(answer)).toMatchObject({ code: 'approval_denied', card: { id: card.id } })
    expect(answer.result.content[0].text).toContain('too dear')
    expect((await decide(card.id, 'approve')).status).toBe(409)
    await pause(150)
    expect((await park(era, args)).id).not.toBe(card.id)
    expect(ran('new', args)).toBe(0)
  })

  test('a session without a channel gets approval_required, parks nothing and reaches nothing', async () => {
    const alone = await gateway.token({ role: 'person-chat', approval: { channel: 'none' } })
    const before = (await gateway.api('GET', '/v1/approvals?limit=1')).body.items[0]?.id
    for (const kind of KINDS) {
      const args = fresh()
      const answer = await pay(era, args, kind, alone)
      expect(answer.result.isError).toBe(true)
      expect(decisionOf(answer).code).toBe('approval_required')
      expect(ran(kind, args)).toBe(0)
    }
    expect((await gateway.api('GET', '/v1/approvals?limit=1')).body.items[0]?.id).toBe(before)
  })

  test.each(KINDS)('AtomicBot-ai/atomic-agent#132: every gated tool makes a card at every door (%s)', async (kind) => {
    const doors = ['pay', 'buy', 'peek'].flatMap((name) => [
      { name, path: '/mcp', called: `${kind}__${name}`, args: fresh() },
      { name, path: `/mcp/${kind}`, called: name, args: fresh() },
    ])
    await Promise.all(
      doors.map(async ({ name, path, called, args }) => {
        const { answer } = await callText(gateway, era, token, called, args, { path })
        expect([name, decisionOf(answer)?.code]).toEqual([name, 'approval_pending'])
        expect(ran(kind, args)).toBe(0)
        const card = await cardOf(decisionOf(answer).card.id)
        expect(card).toMatchObject({ tool: `mcp__${kind}__${name}`, status: 'pending', arguments: JSON.parse(args) })
        await decide(card.id, 'approve')
      }),
    )
    for (const { args } of doors) await expect.poll(() => ran(kind, args), { timeout: 5_000 }).toBe(1)
    expect(decisionOf(await pay(era, fresh(), kind, token, 'look'))).toBeUndefined()
  })
})

test.each(KINDS)('I3: what an upstream says of its own tool does not lower the rule (%s)', async (kind) => {
  for (const era of ERAS) expect((await park(era, fresh(), kind, token, 'hinted')).status).toBe('pending')
  const { body } = await gateway.api('GET', '/v1/connectors')
  const { tools } = body.items.find((row: { slug: string }) => row.slug === kind)
  expect(tools.find((row: { listedAs: string }) => row.listedAs === `${kind}__hinted`).access).toBe('write')
})

describe('decisions', () => {
  test.each(KINDS)(
    'nitin27may/e-commerce-agents#28: eight approvals at one instant are one decision and one execution (%s)',
    async (kind) => {
      const args = fresh()
      const card = await park('modern', args, kind)
      const answers = await Promise.all(Array.from({ length: 8 }, () => decide(card.id, 'approve')))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
      expect(answers.find(({ status }) => status === 409)?.body.code).toBe('already_decided')
      const collected = await Promise.all([pay('modern', args, kind), pay('legacy', args, kind)])
      expect(collected.some((answer) => answer.result.content[0].text.includes(args.slice(1, -1).split(':')[1]))).toBe(
        true,
      )
      await pause(700)
      expect(ran(kind, args)).toBe(1)
    },
  )

  test('Growth-Circle/cadis#852: approve against deny at one instant: what is recorded is what happens', async () => {
    for (let i = 0; i < 6; i++) {
      const args = fresh()
      const card = await park('legacy', args)
      const [yes, no] = await Promise.all(
        i % 2
          ? [decide(card.id, 'approve'), decide(card.id, 'deny')]
          : [decide(card.id, 'deny'), decide(card.id, 'approve')].reverse(),
      )
      expect([yes?.status, no?.status].sort()).toEqual([200, 409])
      await pause(700)
      expect([(await cardOf(card.id)).status, ran('new', args)]).toEqual(
        yes?.status === 200 ? ['done', 1] : ['denied', 0],
      )
    }
  })

  test('verifywise-ai/verifywise#4078: an approval is for these arguments, this session, this once', async () => {
    const stranger = await person()
    const card = await park('modern', '{"amount":1,"to":"x"}')
    await decide(card.id, 'approve')
    for (const [args, as] of [
      ['{"amount":1000,"to":"x"}', token],
      ['{"amount":1.0,"to":"x"}', token],
      ['{"amount":"1","to":"x"}', token],
      ['{"amount":1,"to":"x","more":null}', token],
      ['{"amount":1,"to":"x"}', stranger],
    ] as const) {
      expect((await park('modern', args, 'new', as)).id).not.toBe(card.id)
    }
    const collected = await pay('modern', '{ "to": "x",\n "amount": 1 }')
    expect(collected.result.content[0].text).toBe('paid {"amount":1,"to":"x"}')
    await pause(150)
    expect((await park('modern', '{"amount":1,"to":"x"}')).id).not.toBe(card.id)
    expect(ran('new', '{"amount":1,"to":"x"}')).toBe(1)
    expect(ran('new', '{"amount":1000,"to":"x"}')).toBe(0)
  })

  test('verifywise-ai/verifywise#4078: a definition that changed after the question does not run', async () => {
    const args = fresh()
    const card = await park('modern', args)
    bank.http.new.setTools(
      NAMES.map((name) => definition(name, name === 'pay' ? ',"description":"now to somebody else"' : undefined)),
    )
    bank.http.new.notifyChanged()
    await expect
      .poll(async () => (await listTexts(gateway, 'modern', token)).tools.has('new__pay'), { timeout: 5_000 })
      .toBe(false)
    await expect.poll(async () => (await cardOf(card.id)).status, { timeout: 5_000 }).toBe('withdrawn')
    expect((await gateway.api('POST', `/v1/approvals/${card.id}/approve`, {})).status).toBe(409)
    const answer = await pay('modern', args)
    expect(decisionOf(answer).code).toBe('definition_changed')
    expect(ran('new', args)).toBe(0)
    bank.http.new.setTools(NAMES.map((name) => definition(name)))
    bank.http.new.notifyChanged()
    await expect
      .poll(async () => (await listTexts(gateway, 'modern', token)).tools.get('new__pay') ?? '', { timeout: 5_000 })
      .toMatch(/^(?!.*somebody else).+/)
  })

  test('verifywise-ai/verifywise#4078: a session revoked between question and decision runs nothing', async () => {
    const args = fresh()
    const { body } = await gateway.api('POST', '/v1/sessions', { role: 'person-chat', approval: { channel: 'inbox' } })
    const card = await park('modern', args, 'new', body.token)
    expect((await gateway.api('DELETE', `/v1/sessions/${body.id}`)).status).toBe(200)
    await decide(card.id, 'approve')
    await pause(1_000)
    expect((await cardOf(card.id)).status).not.toBe('done')
    expect(ran('new', args)).toBe(0)
  })

  test('an approved call whose upstream dies in it is "outcome unknown", and is never sent again', async () => {
    const args = fresh()
    const card = await park('modern', args, 'new', token, 'breaks')
    await decide(card.id, 'approve')
    await expect.poll(async () => (await cardOf(card.id)).status, { timeout: 5_000 }).toBe('unknown')
    const answer = await pay('modern', args, 'new', token, 'breaks')
    expect(answer.result.isError).toBe(true)
    expect(decisionOf(answer)).toMatchObject({ code: 'outcome_unknown', card: { id: card.id } })
    expect(answer.result.content[0].text).toMatch(/may have run/)
    await pause(2_200)
    expect(ran('new', args)).toBe(1)
  })
})

describe('a restart of the gateway on the same data', () => {
  const kept: Record<string, string> = {}
  const args = { waiting: '{"kept":"waiting"}', done: '{"kept":"done"}', approved: '{"kept":"approved"}' }
  let names: string[]

  beforeAll(async () => {
    kept.waiting = (await park('legacy', args.waiting)).id
    kept.done = (await park('modern', args.done)).id
    await decide(kept.done, 'approve')
    while ((await cardOf(kept.done)).status !== 'done') await pause(50)
    names = [...(await listTexts(gateway, 'modern', token)).tools.keys()]
    kept.approved = (await park('modern', args.approved)).id
    await decide(kept.approved, 'approve')
    await gateway.close()
    gateway = await startGateway(bank.servers, { ...settings, APPROVAL_TIMEOUT_MS: '1500' })
    await gateway.running.settled(10_000)
  })

  test('Growth-Circle/cadis#852: what was parked before is approved after, and runs once', async () => {
    expect((await park('modern', args.waiting)).id).toBe(kept.waiting)
    expect((await decide(kept.waiting as string, 'approve')).status).toBe(200)
    const answer = await pay('legacy', args.waiting)
    expect(answer.result.content[0].text).toBe(`paid ${args.waiting}`)
    expect((await decide(kept.waiting as string, 'approve')).status).toBe(409)
    await pause(600)
    expect(ran('new', args.waiting)).toBe(1)
  })

  test('Growth-Circle/cadis#852: what was approved before ran once, and its outcome is collected once', async () => {
    for (const which of ['done', 'approved'] as const) {
      expect((await decide(kept[which] as string, 'approve')).status).toBe(409)
      await expect.poll(async () => (await cardOf(kept[which] as string)).status, { timeout: 5_000 }).toBe('done')
      const answer = await pay('modern', args[which])
      expect(answer.result.content[0].text).toBe(`paid ${args[which]}`)
      await pause(150)
      expect((await park('modern', args[which])).id).not.toBe(kept[which])
      expect(ran('new', args[which])).toBe(1)
    }
  })

  test('metatool-ai/metamcp#249: names, cut ones too, are the same after a restart', async () => {
    const after = [...(await listTexts(gateway, 'modern', token)).tools.keys()]
    expect(after).toEqual(names)
    expect(after.some((name) => name.length === 64)).toBe(true)
  })

  test.each(ERAS)(
    'pensarai/apex#638: nobody decides: denied at the stated time, told, recorded, never run (%s)',
    async (era) => {
      const args = fresh()
      const card = await park(era, args)
      let answer: any
      // The caller asks again and again, as it was told to.
      await expect
        .poll(
          async () => {
            answer = await pay(era, args)
            return decisionOf(answer).code
          },
          { timeout: 8_000, interval: 10 },
        )
        .toBe('approval_expired')
      expect(Date.now() - Date.parse(card.expiresAt)).toBeGreaterThanOrEqual(-50)
      expect(Date.now() - Date.parse(card.expiresAt)).toBeLessThan(2_500)
      expect(answer.result.isError).toBe(true)
      expect(decisionOf(answer).card.id).toBe(card.id)
      const late = await decide(card.id, 'approve')
      expect([late.status, late.body.code]).toEqual([409, 'approval_expired'])
      expect((await cardOf(card.id)).status).toBe('expired')
      await expect
        .poll(async () =>
          (await gateway.api('GET', '/v1/audit?limit=50')).body.items
            .filter((row: any) => row.card === card.id)
            .map((row: any) => row.kind),
        )
        .toEqual(expect.arrayContaining(['card.created', 'card.ended']))
      expect(ran('new', args)).toBe(0)
    },
  )
})
