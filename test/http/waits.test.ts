/** Callers who wait for a person: they go, they cancel, they are shown the page, and the card outlives what it should. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ERAS, type Era } from '../support/gateway.ts'
import { type StreamingClient, streamingClient } from '../support/streaming.ts'
import { DECLARED, decisionOf, type WaitsWorld, waitsWorld } from './waits-world.ts'

const WAIT_MS = 1_500
const POLICIES = join(import.meta.dirname, '../../policies')

let world: WaitsWorld
let token: string
beforeAll(async () => {
  world = await waitsWorld(WAIT_MS)
  token = await world.person()
})
afterAll(() => world?.close())

const client = (era: Era, capabilities: object = {}, as = token): Promise<StreamingClient> =>
  streamingClient(world.gateway, era, as, capabilities)
const statusOf = async (id: string) => (await world.cardOf(id)).status
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe.each(ERAS)('the pending answer in the %s era', (era) => {
  test('says which card, where a person decides and what to do, in words and as facts', async () => {
    const caller = await client(era)
    const { result } = await caller.call('shop__pay', world.fresh()).ended
    const { card, next, code } = decisionOf(result)
    expect([result.isError, code, card.status]).toEqual([false, 'approval_pending', 'pending'])
    expect(card.url).toBe(`${world.gateway.url}/inbox/cards/${card.id}`)
    expect(next).toMatch(/again with exactly the same arguments/)
    for (const said of [card.id, card.url, card.expiresAt, next]) expect(result.content[0].text).toContain(said)
    expect((await fetch(card.url, { redirect: 'manual' })).status).toBeLessThan(500)
  })
})

describe('a legacy client’s cancel', () => {
  test('takes back the card it waits for, and the next equal call is a new one', async () => {
    const args = world.fresh()
    const caller = await client('legacy')
    const call = caller.call('shop__pay', args)
    const { id } = await world.waiting(args)
    await caller.cancel(call)
    await expect.poll(() => statusOf(id)).toBe('withdrawn')
    expect((await world.decide(id, 'approve')).status).toBe(409)
    const again = caller.call('shop__pay', args)
    expect((await world.waiting(args)).id).not.toBe(id)
    await caller.cancel(again)
    expect(world.ran(args)).toBe(0)
  })

  test('leaves the card to another caller who waits, and the last one who cancels takes it', async () => {
    const args = world.fresh()
    const [one, other] = [await client('legacy'), await client('legacy')]
    const calls = [one.call('shop__pay', args), other.call('shop__pay', args)] as const
    const { id } = await world.waiting(args)
    await Promise.all(calls.map(({ opened }) => opened))
    await one.cancel(calls[0])
    await calls[0].ended
    expect(await statusOf(id)).toBe('pending')
    await other.cancel(calls[1])
    await expect.poll(() => statusOf(id)).toBe('withdrawn')
  })

  test('of a call that was answered, or of another session’s, does nothing', async () => {
    const args = world.fresh()
    const [caller, stranger] = [await client('legacy'), await client('legacy', {}, await world.person())]
    const call = caller.call('shop__pay', args)
    const { id } = await world.waiting(args)
    await stranger.cancel(call)
    await call.ended
    await caller.cancel(call)
    await pause(100)
    expect(await statusOf(id)).toBe('pending')
  })

  test('never undoes a call that runs: its outcome is there for whoever asks', async () => {
    const args = world.fresh()
    const caller = await client('legacy')
    const call = caller.call('shop__slow', args)
    const { id } = await world.waiting(args)
    await world.decide(id, 'approve')
    await expect.poll(() => world.ran(args)).toBe(1)
    await caller.cancel(call)
    await pause(50)
    expect(await statusOf(id)).toBe('running')
    world.release()
    expect((await call.ended).result.content[0].text).toBe('slow')
    expect([await statusOf(id), world.ran(args)]).toEqual(['done', 1])
  })
})

test.each(ERAS)('a %s client that merely goes away ends its wait and not the card', async (era) => {
  const args = world.fresh()
  const call = (await client(era)).call('shop__pay', args, { progressToken: 1 })
  const { id } = await world.waiting(args)
  await call.opened
  call.drop()
  await pause(100)
  expect(await statusOf(id)).toBe('pending')
  await world.decide(id, 'approve')
  await expect.poll(() => statusOf(id), { timeout: 5_000 }).toBe('done')
  // The outcome is collected on another connection, in the other era.
  const other = await client(era === 'legacy' ? 'modern' : 'legacy')
  expect((await other.call('shop__pay', args).ended).result.content[0].text).toBe(`paid ${args.n}`)
  expect(world.ran(args)).toBe(1)
})

const BY_URL = { elicitation: { form: {}, url: {} } }
const isPage = (message: any) => message.method === 'elicitation/create' && message.params.mode === 'url'

describe('the page of a card, shown to the person at a legacy client', () => {
  const shown = async (args: object, capabilities: object = BY_URL, as = token) => {
    const caller = await client('legacy', capabilities, as)
    const call = caller.call('shop__pay', args)
    const card = await world.waiting(args)
    return { caller, call, card }
  }

  test('is asked for by URL, with no secret in it, and "accept" decides nothing', async () => {
    const args = world.fresh()
    const { caller, call, card } = await shown(args)
    await expect.poll(() => call.messages.find(isPage)).toBeDefined()
    const { id, params } = call.messages.find(isPage)
    expect(params).toMatchObject({ url: `${world.gateway.url}/inbox/cards/${card.id}`, elicitationId: card.id })
    expect(params.message).toContain(card.summary)
    expect(await caller.respond(id, { action: 'accept' })).toBe(202)
    await pause(100)
    expect([await statusOf(card.id), world.ran(args)]).toEqual(['pending', 0])
    await world.decide(card.id, 'approve')
    expect((await call.ended).result.content[0].text).toBe(`paid ${args.n}`)
    const complete = call.messages.filter(({ method }) => method === 'notifications/elicitation/complete')
    expect(complete).toMatchObject([{ params: { elicitationId: card.id } }])
  })

  test.each(['decline', 'cancel'])('"%s" is no decision: the wait goes on', async (action) => {
    const { caller, call, card } = await shown(world.fresh())
    await expect.poll(() => call.messages.find(isPage)).toBeDefined()
    await caller.respond(call.messages.find(isPage).id, { action })
    expect(decisionOf((await call.ended).result).card).toMatchObject({ id: card.id, status: 'pending' })
  })

  test('is shown once for a card, and not at every retry', async () => {
    const args = world.fresh()
    const { caller, call } = await shown(args)
    await call.ended
    const retry = caller.call('shop__pay', args)
    await retry.ended
    expect([call.messages.filter(isPage).length, retry.messages.filter(isPage).length]).toEqual([1, 0])
  })

  test('is not shown to a client that did not declare it, nor where nothing waits', async () => {
    const undeclared = [{}, { elicitation: {} }, { elicitation: { form: {} } }]
    const calls = await Promise.all(undeclared.map((capabilities) => shown(world.fresh(), capabilities)))
    for (const { call } of calls) {
      await call.ended
      expect(call.messages.filter(isPage)).toEqual([])
    }
    const look = (await client('legacy', BY_URL)).call('shop__look', {})
    await look.ended
    expect(look.messages).toHaveLength(1)
  })
})

describe('the page of a card, shown to the person at a modern client', () => {
  const call = (args: object, more: object = {}, capabilities: object = BY_URL, as = token) =>
    world.call(as, 'pay', args, { capabilities, params: more })

  test.each(['accept', 'decline', 'cancel'])('is a round of its own, and "%s" decides nothing', async (action) => {
    const args = world.fresh()
    const { result } = (await call(args)).answer
    expect(result.resultType).toBe('input_required')
    const [[key, request]] = Object.entries<any>(result.inputRequests) as [[string, any]]
    const card = await world.waiting(args)
    expect(request).toMatchObject({ method: 'elicitation/create', params: { mode: 'url' } })
    expect(request.params.url).toBe(`${world.gateway.url}/inbox/cards/${card.id}`)
    expect(request.params.elicitationId).toBeUndefined()
    const back = { requestState: result.requestState, inputResponses: { [key]: { action } } }
    const held = call(args, back)
    await pause(100)
    expect([await statusOf(card.id), world.ran(args)]).toEqual(['pending', 0])
    await world.decide(card.id, 'approve')
    expect((await held).answer.result.content[0].text).toBe(`paid ${args.n}`)
    expect(world.ran(args)).toBe(1)
  })

  test('comes before the handle of a client that has tasks as well', async () => {
    const args = world.fresh()
    const both = { ...BY_URL, ...DECLARED }
    const { result } = (await call(args, {}, both)).answer
    expect(result.resultType).toBe('input_required')
    const back = (await call(args, { requestState: result.requestState }, both)).answer.result
    expect([back.resultType, back.taskId]).toEqual(['task', (await world.waiting(args)).id])
  })

  test('leaves a state that is good for this call of this session alone, and allows nothing', async () => {
    const args = world.fresh()
    const { requestState } = (await call(args)).answer.result
    const stranger = await world.person()
    const bad = [
      await call(args, { requestState }, BY_URL, stranger),
      await call(world.fresh(), { requestState }),
      await call(args, { requestState: `${requestState}x` }),
      await call(args, { requestState: 'page.' }),
    ]
    const never = await call(args, { requestState: 'never.was' })
    for (const { text } of bad) expect(text).toBe(never.text)
    expect(never.answer.error.code).toBe(-32602)
  })
})

test('no page is shown in a role that does not have the terminal’s user decide', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-policies-'))
  await cp(POLICIES, folder, { recursive: true })
  const file = join(folder, 'person-chat.yaml')
  await writeFile(file, (await readFile(file, 'utf8')).replace('terminalDecides: true\n', ''))
  const quiet = await waitsWorld(50, { TOLLGATE_POLICIES: folder })
  onTestFinished(async () => {
    await quiet.close()
    await rm(folder, { recursive: true })
  })
  const as = await quiet.person()
  const { answer } = await quiet.call(as, 'pay', quiet.fresh(), { capabilities: BY_URL })
  expect(decisionOf(answer.result).code).toBe('approval_pending')
})
