/**
 * The one gate that every door passes: decide, then act on the decision, and write down what happened.
 * Nothing reaches an upstream but through here.
 * @module
 */
import { randomUUID } from 'node:crypto'
import type { Card, Cards } from '../approvals/cards.ts'
import type { Audit } from '../audit/audit.ts'
import type { RegisteredTool } from '../connector/connector.ts'
import type { Registry } from '../connector/registry.ts'
import { decide } from '../policy/decide.ts'
import { covers, split } from '../policy/names.ts'
import { reaches } from '../policy/view.ts'
import type { Code, Decision, Reason, Session } from '../policy/words.ts'
import type { CallCounts } from '../session/calls.ts'
import type { Ledger } from '../session/ledger.ts'
import { untouched } from '../session/spend-left.ts'
import { closedFor } from './closed.ts'
import { ended, runUnasked, withoutDatabase } from './end.ts'
import { callOf, type FactParts, factsOf, isDead } from './facts.ts'
import { DEAD, denied, failed, type Outcome, refused, unknownTool, unrecordable } from './outcome.ts'
import { type Asked, createPassing, type Leaving, type Passing } from './passing.ts'
import { askPerson, outcomeOf, runCard, takeBack } from './person.ts'
import { type AskAbove, knownPrice, meterOf, type Price, type PriceParts } from './price.ts'
import { type Attempt, recordStart } from './record.ts'
import type { Sender } from './send.ts'
import { passTraced, type RoutineGate } from './routine.ts'
import { passSpending } from './spending.ts'
import { heldTool, type ToolView, type Views } from './views.ts'

export interface GateParts extends FactParts {
  readonly views: Views
  readonly registry: Registry
  readonly sender: Sender
  readonly cards: Cards
  readonly audit: Audit
  /** How long a call is held for a person before it answers "pending", in milliseconds. */
  readonly waitMs: number
  readonly ledger: Ledger
  /** Up to what a call runs unasked. */
  readonly askAbove: AskAbove
  /** How long a call that spends may be out before its outcome counts as unknown, in milliseconds. */
  readonly leaseMs: number
  /** How many calls a session may still make; without it, as many as it likes. */
  readonly calls?: CallCounts | undefined
  /** Without it no session of a routine runs anything. */
  readonly routines?: RoutineGate | undefined
  /** Told of every ended call, for metrics. */
  readonly observe: (code: Code | 'ok', access: string, seconds: number) => void
}

export type { Asked, Passing } from './passing.ts'

export interface Gate {
  call(asked: Asked): Passing
  /** Runs an approved card that nobody waits for; without its session it is refused. Nothing when another took it first. */
  runApproved(card: Card, session: Session | undefined): Promise<void>
  /** A card of this very session; another's is as one that never was. */
  cardOf(session: Session, id: string): Promise<Card | undefined>
  /** What a card came to, as often as it is asked for; `pending` while it is open. */
  outcomeOf(card: Card): Promise<Outcome>
  /** Takes back a card that has not started, unless a caller waits for it here. */
  takeBack(card: Card): Promise<void>
  /**
   * The decision on a call, with nothing done. Throws UnreadableJson for arguments that are no JSON. Without arguments it is
   * said of the tool's calls at large, and without a price of one that keeps within what runs unasked.
   */
  explain(session: Session, tool: RegisteredTool, argumentsText: string | undefined, price?: Price): Decision
  /** What a call costs at most, and what stands against it; undefined for a tool that does not spend. */
  price(session: Session, tool: RegisteredTool, argumentsText: string | undefined): Promise<Price | undefined>
}

/** How the record names a call of something outside the session's view (seed 001, filter 2). */
const DENIED: Reason = { rule: 'permission_denied', because: 'The name is not in the view of the session.' }

/** Builds the gate from its parts. */
export function createGate(parts: GateParts): Gate {
  return {
    call: (asked) =>
      createPassing((leaving) =>
        asked.session.routine === undefined
          ? pass(parts, asked, leaving)
          : passTraced(parts, asked, (repeated) => pass(parts, asked, leaving, repeated)),
      ),
    async cardOf(session, id) {
      const card = await parts.cards.get(id)
      return card?.sessionId === session.id ? card : undefined
    },
    outcomeOf: (card) => outcomeOf(parts, card),
    async takeBack(card) {
      await takeBack(parts, card)
    },
    async runApproved(card, session) {
      // Just started: the upstream is on its way. The runner looks again, and the approval stands until then.
      if (parts.registry.find(card.connector, card.brand)?.state().state === 'connecting') return
      await parts.revocations.ensureFresh()
      if (session === undefined) await parts.cards.refuse(card.id, { code: 'session_revoked' })
      else {
        const ran = await runCard(parts, card, session, randomUUID(), {})
        if (ran !== undefined && session.routine !== undefined) {
          await parts.routines?.traces.endCard(card.id, ran).catch(() => {})
        }
      }
    },
    explain(session, tool, argumentsText, price) {
      const cost = price === undefined && meterOf(tool) !== undefined ? 'within' : price?.level
      const call = argumentsText === undefined ? { tool, fingerprint: '' } : callOf(tool, argumentsText, '')
      return decide({ ...call, cost }, factsOf(parts, session, parts.views.of(session), tool, undefined, price))
    },
    async price(session, tool, argumentsText) {
      const { askAbove, ledger } = parts
      if (tool.access !== 'spend') return undefined
      // A session that is only asked about has all of its allowance left.
      const left: PriceParts['left'] = async (id, slug, unit) =>
        (await ledger.left(id, slug, unit)) ??
        untouched(session).find((one) => one.connector === slug && one.unit === unit)
      return knownPrice({ askAbove, left }, session, tool, argumentsText)
    },
  }
}

async function pass(parts: GateParts, asked: Asked, leaving: Leaving, repeated?: string): Promise<Outcome> {
  const { session, tool } = asked
  if (!(await canRecord(parts))) return unrecordable()
  const attempt: Attempt = { id: randomUUID(), started: performance.now(), view: parts.views.of(session), repeated }
  if (tool === undefined) {
    const rules = [DENIED, ...(attempt.view.refused.get(asked.name) ?? [])]
    return ended(parts, asked, attempt, noSuchTool(parts, asked), undefined, rules)
  }
  const call = callOf(tool, asked.argumentsText, asked.extraText)
  if (parts.calls !== undefined) {
    const left = await takeCall(parts.calls, session.id)
    if (left === undefined) return unrecordable()
    if (left !== true) {
      return ended(parts, asked, attempt, refused('session_limit', NO_CALLS.because), call.fingerprint, [NO_CALLS])
    }
  }
  if (tool.access === 'spend') return passSpending(parts, asked, call, attempt, leaving)
  const decision = decide(call, { ...factsOf(parts, session, attempt.view, tool, undefined), repeated })
  switch (decision.effect) {
    case 'deny': {
      const outcome = denied(asked.written, decision.code, decision.reasons)
      return ended(parts, asked, attempt, outcome, call.fingerprint, decision.reasons)
    }
    case 'ask': {
      const asking = askPerson(parts, asked, call, attempt, decision.reasons, leaving, undefined)
      const outcome = await asking.catch(withoutDatabase)
      if (outcome === 'short') throw new Error('A call that costs nothing cannot be short of money.')
      return ended(parts, asked, attempt, outcome, call.fingerprint, decision.reasons)
    }
    case 'allow': {
      if (tool.access !== 'read') {
        const started = { tool: tool.name, connector: tool.connector, fingerprint: call.fingerprint }
        const recorded = await recordStart(parts.audit, session, attempt, started)
        const refusal = recorded ? refused('session_revoked', DEAD) : unrecordable()
        // What changed while this was written down: nothing left yet, and nothing does.
        if (recorded && session.routine !== undefined && isOvertaken(parts.views.of(session), attempt.view, tool)) {
          return ended(parts, asked, attempt, refused('definition_changed', OVERTAKEN), call.fingerprint)
        }
        if (!recorded || isDead(parts, session)) return ended(parts, asked, attempt, refusal, call.fingerprint)
      }
      const answer = await runUnasked(parts, asked, tool, leaving)
      const outcome: Outcome = answer.kind === 'failed' ? failed(answer) : { kind: 'answered', answer }
      return ended(parts, asked, attempt, outcome, call.fingerprint, decision.reasons, answer)
    }
  }
}

/**
 * A name that is not in the view. Only of a connector within the session's own reach is it said that it is away; any
 * other name is unknown, in the same words whether it exists or not.
 */
function noSuchTool(parts: GateParts, { session, written, name }: Asked): Outcome {
  if (isDead(parts, session)) return refused('session_revoked', DEAD)
  const closed = closedFor(parts.registry, session, name)
  if (closed !== undefined) return refused('definition_changed', `${closed.reason} It did not run.`)
  const slug = split(name)?.connector
  const connector = slug === undefined ? undefined : parts.registry.find(slug, session.brand)
  const away = connector?.serves(session.brand) === true && connector.state().state !== 'ready'
  if (!away || !reaches(session, connector.slug) || !session.ceiling.some((pattern) => covers(pattern, name))) {
    return unknownTool(written)
  }
  return refused(
    'upstream_unavailable',
    `${connector.slug} is not there right now: ${connector.state().detail} It did not run.`,
  )
}

/** Whether the session does not hold the tool any more as it did when the call was decided. */
const isOvertaken = (now: ToolView, then: ToolView, tool: RegisteredTool): boolean =>
  heldTool(now, tool.name) !== tool || now.routine?.get(tool.name) !== then.routine?.get(tool.name)

/** Whether what happens now can be known and written down; without that nothing happens. */
async function canRecord({ revocations, audit }: GateParts): Promise<boolean> {
  try {
    if (!revocations.fresh()) await revocations.ensureFresh()
    return audit.healthy()
  } catch {
    return false
  }
}

const OVERTAKEN =
  'What the session may call changed while this call was on its way, so it did not run. List the tools again.'

const NO_CALLS: Reason = {
  rule: 'calls-per-session',
  because: 'This session has made as many calls as a session may. Ask the host app for a new one.',
}

/** Whether the session had a call left; undefined where that cannot be known. */
async function takeCall(calls: CallCounts, sessionId: string): Promise<boolean | undefined> {
  try {
    return await calls.take(sessionId)
  } catch {
    return undefined
  }
}
