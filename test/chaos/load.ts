/**
 * The load: clients who ask until they have their answer, and a third party who decides over REST.
 * @module
 */
import { decisionOf, pause } from '../support/replica.ts'
import type { Deployment } from './deployment.ts'
import type { Decision, LogicalCall } from './ledgers.ts'
import { SHOPPER } from './money.ts'
import type { Random } from './random.ts'

export interface LoadOptions {
  /** Cards that are open at once. */
  readonly inFlight: number
  /** Decisions of the third party in a second. */
  readonly perSecond: number
  /** Share of decisions that are denials. */
  readonly denials: number
}

export interface Load {
  /** Resolves when every client waits at a card of its own. */
  full(): Promise<void>
  /** Approves a card; for kills that need an approval at a moment of their own. */
  approve(card: string, through: number): Promise<void>
  /** Makes no new calls; resolves when each that was made has its answer, or after `ms` with those that have none. */
  drain(ms: number): Promise<LogicalCall[]>
}

/** Open cards that one session may have are 100. */
const PER_SESSION = 50

/** What a client takes as the end; after anything else it asks again. */
const ENDS = new Set(['approval_denied', 'approval_expired', 'outcome_unknown'])
/** What a client is told while a gateway starts or a database is away. */
const PASSES = new Set(['approval_pending', 'internal', 'upstream_unavailable', 'session_limit'])

/** Starts clients and third party. */
export async function startLoad(where: Deployment, random: Random, options: LoadOptions): Promise<Load> {
  const { replicas, ledgers } = where
  const { calls, decisions, noted } = ledgers
  const tokens: string[] = []
  for (let i = 0; i < Math.ceil(options.inFlight / PER_SESSION); i++) {
    tokens.push((await replicas[i % 2]!.issue(SHOPPER)).token)
  }
  const open = new Set<LogicalCall>()
  const pending = new Set<string>()
  let next = 0
  let making = true
  let deciding = true

  async function client(session: number): Promise<void> {
    while (making) {
      const call: LogicalCall = { n: next++, session, sent: 0, cut: 0, cards: new Set() }
      calls.set(call.n, call)
      open.add(call)
      while (call.end === undefined && deciding) await ask(call)
      open.delete(call)
    }
  }

  async function ask(call: LogicalCall): Promise<void> {
    const { n } = call
    // Whose gateway is gone asks the other.
    const at = call.cutBy === undefined ? random.pick(replicas) : replicas.find(({ name }) => name !== call.cutBy)!
    call.cutBy = undefined
    call.sent++
    noted({ at: Date.now(), n, to: at.name })
    const answer = await at.call(tokens[call.session]!, 'up__act', { n }).catch(() => undefined)
    if (answer === undefined) {
      call.cut++
      call.cutBy = at.name
      noted({ at: Date.now(), n, cut: true })
      return pause(random.between(50, 600))
    }
    const { code = answer.status === 200 && answer.answer?.result !== undefined ? 'ok' : undefined, card } =
      decisionOf(answer)
    noted({ at: Date.now(), n, status: answer.status, code, card: card?.id })
    if (card !== undefined) call.cards.add(card.id)
    const text: string = answer.answer?.result?.content?.[0]?.text ?? answer.text
    if (code === 'ok' || (code !== undefined && ENDS.has(code))) call.end = { code, text, at: Date.now() }
    else if (answer.status === 503 || (code !== undefined && PASSES.has(code))) await pause(random.between(50, 400))
    else call.end = { code: code ?? `HTTP ${answer.status}`, text, at: Date.now() }
  }

  /** Reads what waits, a page at a time from either replica. */
  async function reader(): Promise<void> {
    let cursor = ''
    while (deciding) {
      const path = `/v1/approvals?status=pending&limit=200${cursor}`
      const { body } = await random
        .pick(replicas)
        .api('GET', path)
        .catch(() => ({ body: undefined }))
      for (const { id } of body?.items ?? []) pending.add(id)
      cursor = typeof body?.nextCursor === 'string' ? `&cursor=${body.nextCursor}` : ''
      await pause(250)
    }
  }

  async function decider(): Promise<void> {
    while (deciding) {
      await pause(random.between(500, 1_500) * (DECIDERS / (making ? options.perSecond : 40)))
      const card = random.pick([...pending])
      if (card === undefined) continue
      pending.delete(card)
      await decide(card, random.next() < options.denials ? 'deny' : 'approve', random.between(0, 1))
    }
  }

  async function decide(card: string, verb: Decision['verb'], through: number): Promise<void> {
    const decision: Decision = { card, verb, at: Date.now() }
    decisions.push(decision)
    const answer = await replicas[through]!.api('POST', `/v1/approvals/${card}/${verb}`, {}).catch(() => undefined)
    if (answer !== undefined) Object.assign(decision, { status: answer.status, answeredAt: Date.now() })
    noted(decision)
  }

  const clients = Array.from({ length: options.inFlight }, (_, i) => client(Math.floor(i / PER_SESSION)))
  const deciders = [reader(), ...Array.from({ length: DECIDERS }, decider)]

  return {
    async full() {
      const waits = () => where.observer.sql`select count(*)::int as count from cards where status = 'pending'`
      while ((await waits())[0]!.count < options.inFlight * 0.9) await pause(100)
    },
    async approve(card, through) {
      pending.delete(card)
      await decide(card, 'approve', through)
    },
    async drain(ms) {
      making = false
      const until = performance.now() + ms
      while (open.size > 0 && performance.now() < until) await pause(100)
      const left = [...open]
      deciding = false
      await Promise.all(deciders)
      await Promise.race([Promise.all(clients), pause(5_000)])
      return left
    },
  }
}

const DECIDERS = 6
