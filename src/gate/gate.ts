/**
 * The one gate that every door passes: decide, then act on the decision, and write down what happened.
 * Nothing reaches an upstream but through here.
 * @module
 */
import { randomUUID } from 'node:crypto'
import type { Card, Cards } from '../approvals/cards.ts'
import { type Audit, AuditUnavailable } from '../audit/audit.ts'
import type { Answer, ElicitationModes, Question, RegisteredTool, Running } from '../connector/connector.ts'
import type { Registry } from '../connector/registry.ts'
import { DatabaseUnavailable } from '../db/errors.ts'
import { decide } from '../policy/decide.ts'
import { covers, split } from '../policy/names.ts'
import { reaches } from '../policy/view.ts'
import type { Code, Decision, Reason, Session } from '../policy/words.ts'
import type { CallCounts } from '../session/calls.ts'
import { type FactParts, factsOf, fingerprint, isDead } from './facts.ts'
import { DEAD, denied, failed, type Outcome, refused, unknownTool, unrecordable } from './outcome.ts'
import { askPerson, runCard } from './person.ts'
import { type Attempt, codeOf, recordEnd, recordStart, sizeOf, wordFor } from './record.ts'
import type { Sender } from './send.ts'
import type { Views } from './views.ts'

export interface GateParts extends FactParts {
  readonly views: Views
  readonly registry: Registry
  readonly sender: Sender
  readonly cards: Cards
  readonly audit: Audit
  /** How long a call is held for a person before it answers "pending", in milliseconds. */
  readonly waitMs: number
  /** How many calls a session may still make; without it, as many as it likes. */
  readonly calls?: CallCounts | undefined
  /** Told of every ended call, for metrics. */
  readonly observe: (code: Code | 'ok', access: string, seconds: number) => void
}

/** One `tools/call` as it came through a door, already looked up in the session's view. */
export interface Asked {
  readonly session: Session
  /** The name exactly as the caller wrote it, and as it would be in canonical form. */
  readonly written: string
  readonly name: string
  readonly tool: RegisteredTool | undefined
  readonly argumentsText: string | undefined
  readonly extraText: string
  readonly metaText: string
  readonly elicitation: ElicitationModes
  readonly onProgress: ((paramsText: string) => void) | undefined
  readonly ask: (questions: readonly Question[]) => Promise<ReadonlyMap<string, string>>
  /** The call is held for a person: send a first byte now, and progress from time to time. */
  readonly onHold: (card: Card) => void
}

/** A call inside the gate. A card, and an approved call that runs, go on whatever its caller does. */
export interface Passing {
  readonly outcome: Promise<Outcome>
  /** Ends the wait for a person. */
  leave(): void
  /** Ends the wait, and tells the upstream of a plain read. */
  cancel(reason: string): void
}

/** A caller's leaving, as the steps of its call see it. */
export interface Leaving {
  left: boolean
  cancelled: string | undefined
  running: Running | undefined
  onLeave: (() => void) | undefined
}

export interface Gate {
  call(asked: Asked): Passing
  /** Runs an approved card that nobody waits for; without its session it is refused. Nothing when another took it first. */
  runApproved(card: Card, session: Session | undefined): Promise<void>
  /** The decision on a call, with nothing done. Throws UnreadableJson for arguments that are no JSON. */
  explain(session: Session, tool: RegisteredTool, argumentsText: string | undefined): Decision
}

/** How the record names a call of something outside the session's view (seed 001, filter 2). */
const DENIED: Reason = { rule: 'permission_denied', because: 'The name is not in the view of the session.' }

/** Builds the gate from its parts. */
export function createGate(parts: GateParts): Gate {
  return {
    call(asked) {
      const leaving: Leaving = { left: false, cancelled: undefined, running: undefined, onLeave: undefined }
      const leave = (): void => {
        leaving.left = true
        leaving.onLeave?.()
      }
      return {
        outcome: pass(parts, asked, leaving),
        leave,
        cancel(reason) {
          leaving.cancelled = reason
          leaving.running?.cancel(reason)
          leave()
        },
      }
    },
    async runApproved(card, session) {
      // Just started: the upstream is on its way. The runner looks again, and the approval stands until then.
      if (parts.registry.find(card.connector)?.state().state === 'connecting') return
      await parts.revocations.ensureFresh()
      if (session === undefined) await parts.cards.refuse(card.id, { code: 'session_revoked' })
      else await runCard(parts, card, session, randomUUID(), {})
    },
    explain(session, tool, argumentsText) {
      const call = { tool, fingerprint: fingerprint(tool, argumentsText, '') }
      return decide(call, factsOf(parts, session, parts.views.of(session), tool, undefined))
    },
  }
}

async function pass(parts: GateParts, asked: Asked, leaving: Leaving): Promise<Outcome> {
  const { session, tool } = asked
  if (!(await canRecord(parts))) return unrecordable()
  const attempt: Attempt = { id: randomUUID(), started: performance.now(), view: parts.views.of(session) }
  if (tool === undefined) {
    const rules = [DENIED, ...(attempt.view.refused.get(asked.name) ?? [])]
    return ended(parts, asked, attempt, noSuchTool(parts, asked), undefined, rules)
  }
  const call = { tool, fingerprint: fingerprint(tool, asked.argumentsText, asked.extraText) }
  if (parts.calls !== undefined) {
    const left = await takeCall(parts.calls, session.id)
    if (left === undefined) return unrecordable()
    if (left !== true) {
      return ended(parts, asked, attempt, refused('session_limit', NO_CALLS.because), call.fingerprint, [NO_CALLS])
    }
  }
  const decision = decide(call, factsOf(parts, session, attempt.view, tool, undefined))
  switch (decision.effect) {
    case 'deny': {
      const outcome = denied(asked.written, decision.code, decision.reasons)
      return ended(parts, asked, attempt, outcome, call.fingerprint, decision.reasons)
    }
    case 'ask': {
      const outcome = await askPerson(parts, asked, call, attempt, decision.reasons, leaving).catch(withoutDatabase)
      return ended(parts, asked, attempt, outcome, call.fingerprint, decision.reasons)
    }
    case 'allow': {
      if (tool.access !== 'read') {
        const started = { tool: tool.name, connector: tool.connector, fingerprint: call.fingerprint }
        const recorded = await recordStart(parts.audit, session, attempt, started)
        const refusal = recorded ? refused('session_revoked', DEAD) : unrecordable()
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
  const slug = split(name)?.connector
  const connector = slug === undefined ? undefined : parts.registry.find(slug)
  const away = connector?.serves(session.brand) === true && connector.state().state !== 'ready'
  if (!away || !reaches(session, connector.slug) || !session.ceiling.some((pattern) => covers(pattern, name))) {
    return unknownTool(written)
  }
  return refused(
    'upstream_unavailable',
    `${connector.slug} is not there right now: ${connector.state().detail} It did not run.`,
  )
}

/** A card that cannot be read, parked or claimed runs nothing. What has run ends without the database (person.ts). */
function withoutDatabase(problem: unknown): Outcome {
  if (problem instanceof DatabaseUnavailable || problem instanceof AuditUnavailable) return unrecordable()
  throw problem
}

/** Whether what happens now can be known and written down; without that nothing happens. */
async function canRecord({ revocations, audit }: GateParts): Promise<boolean> {
  try {
    if (!revocations.fresh()) await revocations.ensureFresh()
    return audit.healthy()
  } catch {
    return false
  }
}

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

/** A call that asks nobody. The one row of its end is written in a batch. */
function runUnasked({ sender }: GateParts, asked: Asked, tool: RegisteredTool, leaving: Leaving): Promise<Answer> {
  return sender.send({ ...asked, tool }, (running) => {
    leaving.running = running
    if (leaving.cancelled !== undefined) running.cancel(leaving.cancelled)
  })
}

/** A name outside the view as the record keeps it: canonical where it can be, never longer than a name may be. */
function recordedName({ name, written }: Asked): string {
  return (split(name) === undefined ? written : name).slice(0, 128)
}

/** Writes the terminal row of an attempt and hands the outcome on. */
function ended(
  parts: GateParts,
  asked: Asked,
  attempt: Attempt,
  outcome: Outcome,
  print?: string,
  reasons: readonly Reason[] = [],
  answer: Answer | undefined = outcome.kind === 'answered' ? outcome.answer : undefined,
): Outcome {
  const code = answer !== undefined ? codeOf(answer) : outcome.kind === 'refused' ? outcome.code : 'approval_pending'
  const card = 'card' in outcome ? outcome.card : undefined
  recordEnd(parts.audit, asked.session, attempt, {
    tool: asked.tool?.name ?? recordedName(asked),
    code,
    outcome: outcome.kind === 'pending' ? 'parked' : answer !== undefined ? wordFor(answer) : 'refused',
    rules: reasons.map((reason) => reason.rule),
    ...(print === undefined ? {} : { fingerprint: print }),
    ...(card === undefined ? {} : { card: card.id }),
    ...(answer === undefined ? {} : { bytes: sizeOf(answer) }),
  })
  parts.observe(code, asked.tool?.access ?? 'none', (performance.now() - attempt.started) / 1000)
  return outcome
}
