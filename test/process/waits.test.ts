/** C8: whatever waiting callers do, one card per logical call, and one outcome however often it is asked for. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshPostgres } from '../support/database.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { eventually } from '../support/replica.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'
import { type Came, isOpen, live, type Mix, mixes, type Place, place, TASKS, toldBy } from './waits-mix.ts'

const WAIT_MS = 400
const MIXES = Number(process.env.MIXES ?? 2_000)
const AT_ONCE = 15
const BATCH = Math.min(MIXES, 250)

let upstream: Upstream
let database: { db: { close(): Promise<void> }; url?: string; close(): Promise<void> }
let gateways: [Gateway, Gateway]
const places: Place[] = []
let runs = 0
let count = 0

beforeAll(async () => {
  upstream = await startUpstream({
    tools: [tool('pay')],
    behaviours: { pay: (call) => call.text(`paid ${call.args.n}, run ${++runs}`) },
  })
  database = await freshPostgres()
  const servers = { up: { type: 'http', url: upstream.url, tools: { pay: 'write' } } }
  const env = {
    DATABASE_URL: database.url as string,
    TOLLGATE_PUBLIC_URL: 'http://127.0.0.1:8787',
    TOLLGATE_APPROVAL_WAIT_MS: String(WAIT_MS),
  }
  gateways = [await startGateway(servers, env), await startGateway(servers, env)]
  await Promise.all(gateways.map(({ running }) => running.settled(10_000)))
  for (let i = 0; i < AT_ONCE; i++) places.push(await place(gateways))
}, 120_000)
afterAll(async () => {
  await Promise.all((gateways ?? []).map((gateway) => gateway.close()))
  await upstream?.close()
  await database?.close()
})

/** All cards that a session's calls with these arguments made, oldest first, once each has come to its end. */
async function cardsOf(where: Place, args: { n: number }, closed = true): Promise<any[]> {
  const { jti } = JSON.parse(atob(where.token.split('.')[1] as string))
  const list = async (): Promise<any[]> => {
    const { body } = await gateways[0].api('GET', `/v1/approvals?sessionId=${jti}&limit=50`)
    return (body.items ?? []).filter((card: any) => card.arguments.n === args.n).reverse()
  }
  const isClosed = ({ status }: { status: string }): boolean => !['pending', 'approved', 'running'].includes(status)
  return eventually(list, (cards) => cards.length > 0 && (!closed || cards.every(isClosed)), 30_000)
}

async function check(where: Place, mix: Mix): Promise<void> {
  const args = { n: ++count }
  const { came, told } = await live(where, mix, args)
  const cards = await cardsOf(where, args)
  const ran = upstream.ledger.filter(({ argumentsText }) => argumentsText === JSON.stringify(args)).length
  const of = (status: string) => cards.filter((card) => card.status === status)
  const seen = JSON.stringify({ mix, told, cards: cards.map(({ id, status, decidedBy }) => [id, status, decidedBy]) })

  // Every card has come to an end, ran at most once, and only after a person's yes.
  expect(cards.length, seen).toBe(of('done').length + of('denied').length + of('withdrawn').length)
  expect(ran, seen).toBe(of('done').length)
  for (const card of of('done')) expect([card.decidedBy, mix.verdict], seen).toEqual(['operator', 'approve'])
  // A card gives way to another only when a caller took it back, or when its outcome went out.
  const outcomes = new Set(told.filter((one) => !isOpen(one)).map((one) => one.text ?? one.card))
  const wasDropped = came.some(({ dropped }) => dropped)
  const decided = cards.length - of('withdrawn').length
  if (!wasDropped) expect(outcomes.size - of('withdrawn').length, seen).toBeLessThanOrEqual(decided)
  expect(new Set(told.flatMap(({ text }) => text ?? [])).size, seen).toBeLessThanOrEqual(of('done').length)
  const last = told.at(-1)
  expect([undefined, 'approval_denied'], seen).toContain(last?.code)
  // Only a cancel takes a card back, and a caller's own cancel, where no other waits, always does.
  const cancels = mix.steps.filter((step) => step.do === 'cancel').length
  expect(of('withdrawn').length, seen).toBeLessThanOrEqual(cancels)
  for (const one of came) {
    if (one.cancelled?.alone !== true || one.told?.code !== 'approval_pending' || wasJoined(one, came)) continue
    expect((one.ended as number) - one.began, seen).toBeGreaterThan(WAIT_MS * 0.9)
  }
}

/** Whether another caller came to the same gateway before this one's answer: the card stays for it then. */
function wasJoined(one: Came, came: readonly Came[]): boolean {
  return came.some((other) => other !== one && other.at === one.at && other.began < (one.ended as number))
}

const BY_URL = { elicitation: { url: {} } }
const args = () => ({ n: ++count })
const status = async (id: string) => (await gateways[0].api('GET', `/v1/approvals/${id}`)).body.status

test('a task made on one gateway is polled, approved and cancelled on the other', async () => {
  const { clients, token } = places[0] as Place
  const ask = (at: 0 | 1, method: string, taskId: string) =>
    gateways[at].modern(token, method, { taskId }, { capabilities: TASKS, headers: { 'mcp-name': taskId } })
  const [first, second] = await Promise.all([
    clients[0].task.call('up__pay', args()).ended,
    clients[1].task.call('up__pay', args()).ended,
  ])
  const { taskId } = first.result
  await gateways[1].api('POST', `/v1/approvals/${taskId}/approve`, {})
  const done = () => ask(1, 'tasks/get', taskId).then(({ answer }) => answer.result)
  const task = await eventually(done, (seen) => seen.status === 'completed', 20_000)
  expect(task.result.content[0].text).toMatch(/^paid /)
  expect((await ask(0, 'tasks/get', taskId)).answer.result).toEqual(task)
  await ask(0, 'tasks/cancel', second.result.taskId)
  expect((await ask(1, 'tasks/get', second.result.taskId)).answer.result.status).toBe('cancelled')
})

test('who waits on one gateway is not left alone by a cancel on the other: the call gets a card of its own', async () => {
  const { clients } = places[1] as Place
  const what = args()
  const calls = [clients[0].legacy.call('up__pay', what), clients[1].modern.call('up__pay', what)] as const
  await Promise.all(calls.map(({ opened }) => opened))
  await clients[0].legacy.cancel(calls[0])
  const { result } = await calls[1].ended
  const cards = await cardsOf(places[1] as Place, what, false)
  expect(cards.map((card) => card.status).toSorted()).toEqual(['pending', 'withdrawn'])
  expect(toldBy(result)).toMatchObject({ code: 'approval_pending', card: cards.at(-1).id })
})

test('who opened the page from one gateway comes back to the other', async () => {
  const { token } = places[2] as Place
  const params = { name: 'up__pay', arguments: args() }
  const asked = await gateways[0].modern(token, 'tools/call', params, { capabilities: BY_URL })
  const { requestState, inputRequests } = asked.answer.result
  const { url } = inputRequests['dev.tollgate/card'].params
  const id = url.slice(url.lastIndexOf('/') + 1)
  const back = gateways[1].modern(token, 'tools/call', { ...params, requestState }, { capabilities: BY_URL })
  expect(await status(id)).toBe('pending')
  await gateways[0].api('POST', `/v1/approvals/${id}/approve`, {})
  await eventually(
    () => status(id),
    (seen) => seen === 'done',
    20_000,
  )
  expect((await back).answer.result.content[0].text).toMatch(/^(paid|approval_pending)/)
})

test(`C8: ${MIXES} random mixes of drop, retry, cancel, timeout and resume on the other gateway or era`, async () => {
  const batch = fc.array(mixes, { minLength: BATCH, maxLength: BATCH })
  const together = fc.asyncProperty(batch, async (some) => {
    const left = [...some]
    const all = await Promise.allSettled(
      places.map(async (where) => {
        for (let mix = left.pop(); mix !== undefined; mix = left.pop()) await check(where, mix)
      }),
    )
    for (const one of all) if (one.status === 'rejected') throw one.reason
  })
  const ran = await fc.check(together, { numRuns: Math.ceil(MIXES / BATCH), endOnFailure: true })
  if (ran.failed) throw new Error(`It fails with the seed ${ran.seed}.`, { cause: ran.errorInstance })
}, 900_000)
