/**
 * Random lives of one logical call: callers of either era, with progress, with a handle or without, on either of two
 * gateways, come, drop, cancel, ask again and run out of time, and a person decides at some point.
 * @module
 */
import fc from 'fast-check'
import { type Calling, type StreamingClient, streamingClient } from '../support/streaming.ts'
import type { Gateway } from '../support/gateway.ts'

export const WAYS = ['legacy', 'modern', 'task'] as const
export type Way = (typeof WAYS)[number]

export type Step =
  | { readonly do: 'call'; readonly way: Way; readonly at: 0 | 1; readonly progress: boolean }
  | { readonly do: 'drop' | 'cancel'; readonly which: number }
  | { readonly do: 'poll'; readonly at: 0 | 1 }
  | { readonly do: 'pause'; readonly ms: number }
  | { readonly do: 'decide'; readonly at: 0 | 1 }

export interface Mix {
  readonly steps: readonly Step[]
  readonly verdict: 'approve' | 'deny'
  readonly last: { readonly way: Way; readonly at: 0 | 1 }
}

const at = fc.constantFrom(0 as const, 1 as const)
const way = fc.constantFrom(...WAYS)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('call' as const), way, at, progress: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('drop' as const), which: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('poll' as const), at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pause' as const), ms: fc.constantFrom(0, 5, 30, 500) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('decide' as const), at }) },
)

export const mixes: fc.Arbitrary<Mix> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 7 }),
  verdict: fc.constantFrom('approve' as const, 'deny' as const),
  last: fc.record({ way, at }),
})

/** What a caller was told in the end: the upstream's text, or our code and the card. */
export interface Told {
  readonly text?: string
  readonly code?: string
  readonly card?: string
  readonly task?: string
}

/** A call of a mix, and what became of it. */
export interface Came {
  readonly way: Way
  readonly at: 0 | 1
  readonly calling: Calling
  readonly began: number
  ended?: number
  told?: Told
  dropped: boolean
  /** Cancelled while nothing had come for it; `alone`: no other call of the mix was under way on its gateway. */
  cancelled?: { readonly alone: boolean }
}

/** Where mixes are lived: two gateways, and the clients of one session at each. */
export interface Place {
  readonly gateways: readonly [Gateway, Gateway]
  readonly token: string
  readonly clients: readonly [Record<Way, StreamingClient>, Record<Way, StreamingClient>]
}

export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

/** A session with its clients. */
export async function place(gateways: readonly [Gateway, Gateway]): Promise<Place> {
  const token = await gateways[0].token({ role: 'person-chat', approval: { channel: 'inbox' } })
  const clientsAt = async (gateway: Gateway) => ({
    legacy: await streamingClient(gateway, 'legacy', token),
    modern: await streamingClient(gateway, 'modern', token),
    task: await streamingClient(gateway, 'modern', token, TASKS),
  })
  return { gateways, token, clients: [await clientsAt(gateways[0]), await clientsAt(gateways[1])] }
}

/** A result as what it says. */
export function toldBy(result: any): Told {
  if (result?.resultType === 'task') return { task: result.taskId, card: result.taskId, code: 'approval_pending' }
  const decision = result?._meta?.['dev.tollgate/decision']
  if (decision === undefined) return { text: result?.content?.[0]?.text ?? JSON.stringify(result) }
  return { code: decision.code, ...(decision.card && { card: decision.card.id }) }
}

/** Whether a caller has to ask again: nothing came of its call yet, or the database was too slow to run anything. */
export const isOpen = (told: Told | undefined): boolean =>
  told === undefined || told.code === 'approval_pending' || told.code === 'internal'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Lives one mix to its end: the last caller asks until it has an outcome. All that any caller was told. */
export async function live(where: Place, mix: Mix, args: object): Promise<{ came: Came[]; told: Told[] }> {
  const { gateways, clients, token } = where
  const came: Came[] = []
  const told: Told[] = []
  const hear = (what: Told): Told => {
    told.push(what)
    return what
  }

  function call(way: Way, at: 0 | 1, progress: boolean): Came {
    const more = progress ? { progressToken: 'p' } : {}
    const calling = clients[at][way].call('up__pay', args, more)
    const one: Came = { way, at, calling, began: performance.now(), dropped: false }
    came.push(one)
    calling.ended.then(
      (answer) => {
        one.ended = performance.now()
        one.told = hear(toldBy(answer.result ?? answer))
      },
      () => {
        one.ended = performance.now()
      },
    )
    return one
  }

  const ask = (method: string, taskId: string, at: 0 | 1) =>
    gateways[at].modern(token, method, { taskId }, { capabilities: TASKS, headers: { 'mcp-name': taskId } })

  async function poll(taskId: string, at: 0 | 1): Promise<string> {
    const { result = { status: 'working' } } = (await ask('tasks/get', taskId, at)).answer
    if (result.status === 'completed') hear(toldBy(result.result))
    return result.status
  }

  async function cancel(one: Came): Promise<void> {
    if (one.way === 'task') {
      if (one.told?.task !== undefined) await ask('tasks/cancel', one.told.task, one.at)
    } else if (one.ended === undefined) {
      const others = came.some((other) => other !== one && other.at === one.at && other.ended === undefined)
      if (one.way === 'legacy') one.cancelled = { alone: !others }
      else one.dropped = true
      await clients[one.at][one.way].cancel(one.calling)
    }
  }

  async function decide(at: 0 | 1): Promise<void> {
    const query = `status=pending&sessionId=${JSON.parse(atob(token.split('.')[1] as string)).jti}`
    // A busy machine may answer 503: nothing was decided then, and the last caller asks for it again.
    const { items = [] } = (await gateways[at].api('GET', `/v1/approvals?${query}`)).body
    for (const { id } of items) await gateways[at].api('POST', `/v1/approvals/${id}/${mix.verdict}`, {})
  }

  for (const step of mix.steps) {
    if (step.do === 'call') call(step.way, step.at, step.progress)
    else if (step.do === 'pause') await pause(step.ms)
    else if (step.do === 'decide') await decide(step.at)
    else if (step.do === 'poll') {
      const task = came.findLast((one) => one.told?.task !== undefined)?.told?.task
      if (task !== undefined) await poll(task, step.at)
    } else {
      const one = came[step.which % Math.max(came.length, 1)]
      if (one === undefined) continue
      if (step.do === 'cancel') await cancel(one)
      else if (one.ended === undefined) {
        one.dropped = true
        one.calling.drop()
      }
    }
  }
  await Promise.allSettled(came.map(({ calling }) => calling.ended))
  for (;;) {
    const one = call(mix.last.way, mix.last.at, false)
    const deciding = one.calling.opened.then(() => decide(mix.last.at))
    await one.calling.ended
    await deciding
    if (!isOpen(one.told)) break
    if (one.told?.task === undefined) continue
    let status = await poll(one.told.task, mix.last.at)
    for (; status === 'working'; status = await poll(one.told.task, mix.last.at)) await decide(mix.last.at)
    // A cancel that was on its way took back the card that the handle is of: the caller asks anew.
    if (status !== 'cancelled') break
  }
  return { came, told }
}
