/**
 * A gated call: parked as a card, waited for, and run once after a person said yes.
 * @module
 */
import type { Card, Cards, Finish } from '../approvals/cards.ts'
import type { Answer, RegisteredTool, UpstreamCall } from '../connector/connector.ts'
import { type Call, decide } from '../policy/decide.ts'
import type { Code, Reason, Session } from '../policy/words.ts'
import { factsOf } from './facts.ts'
import type { Asked, GateParts, Leaving } from './gate.ts'
import { denied, failed, type Outcome, refused, unknownTool } from './outcome.ts'
import { type Attempt, codeOf, recordEnd, sizeOf, wordFor } from './record.ts'
import type { ToolView } from './views.ts'

/** Joins the card that is there or parks one, then waits for the person, up to `waitMs`. */
export async function askPerson(
  parts: GateParts,
  asked: Asked,
  call: Call & { readonly tool: RegisteredTool },
  attempt: Attempt,
  reasons: readonly Reason[],
  leaving: Leaving,
): Promise<Outcome> {
  const { cards, waitMs } = parts
  let card =
    (await cards.latest(asked.session.id, call.fingerprint)) ?? (await park(parts, asked, call, attempt, reasons))
  if (card === undefined) return refused('session_limit', TOO_MANY, reasons)
  const until = performance.now() + waitMs
  if (isOpen(card)) asked.onHold(card)
  for (;;) {
    if (card.status === 'approved') {
      const ran = await runCard(parts, card, asked.session, attempt.id, asked)
      if (ran !== undefined) return ran
    } else if (!isOpen(card)) {
      return storedOutcome(parts, card)
    }
    const left = until - performance.now()
    if (leaving.left || !(left > 0)) return { kind: 'pending', card }
    const seen: Card | undefined = await cards.wait(card.id, {
      from: card.status,
      untilMs: left,
      onGone: (wake) => {
        leaving.onLeave = wake
      },
    })
    if (seen === undefined) return refused('internal', 'The card is gone. It did not run.')
    card = seen
  }
}

const TOO_MANY = 'This session has too many calls waiting for a person. Wait until some are decided.'

async function park(
  { cards }: GateParts,
  asked: Asked,
  { tool, fingerprint }: Call & { readonly tool: RegisteredTool },
  attempt: Attempt,
  reasons: readonly Reason[],
): Promise<Card | undefined> {
  const { session, argumentsText, extraText, metaText } = asked
  const what = { session, tool, fingerprint, argumentsText, extraText, metaText, reasons }
  const parked = await cards.park({ ...what, viewHash: attempt.view.hash, attempt: attempt.id })
  return parked.ok ? parked.card : undefined
}

const isOpen = ({ status }: Card): boolean => status === 'pending' || status === 'approved' || status === 'running'

/** What an ended card says to the caller who comes for it. */
async function storedOutcome({ cards }: GateParts, card: Card): Promise<Outcome> {
  switch (card.status) {
    case 'denied': {
      const note = card.note ? ` They said: ${card.note}` : ''
      return refused('approval_denied', `A person denied this call.${note} Do not send it again unchanged.`, [], card)
    }
    case 'expired':
      return refused('approval_expired', 'Nobody decided in time, so this call was denied. It did not run.', [], card)
    case 'withdrawn':
      return refused('approval_denied', 'This call was withdrawn before a person decided. It did not run.', [], card)
    default: {
      const kept = await cards.result(card.id)
      if (kept !== undefined) return toOutcome(JSON.parse(kept) as Answer, card)
      const code = card.status === 'unknown' ? 'outcome_unknown' : ((card.outcome?.code ?? 'internal') as Code)
      const ran = card.status === 'unknown' ? 'It may have run; it is not run again by itself.' : 'It did not run.'
      return refused(code, `The approved call ended with ${code}. ${ran}`, [], card)
    }
  }
}

const toOutcome = (answer: Answer, card: Card): Outcome =>
  answer.kind === 'failed' ? failed(answer, card) : { kind: 'answered', answer, card }

/**
 * Runs an approved card once: decided again with today's facts (an approval is one of them, not a way round),
 * claimed in the transaction that writes its intent, sent, and its result kept for whoever asks.
 * Undefined when another took it first.
 */
export async function runCard(
  parts: GateParts,
  card: Card,
  session: Session,
  attemptId: string,
  caller: Partial<Pick<UpstreamCall, 'onProgress' | 'ask' | 'elicitation'>>,
): Promise<Outcome | undefined> {
  const view = parts.views.of(session)
  const tool = view.byName.get(card.tool)
  const refusal = tool === undefined ? missing(parts, card) : decideAgain(parts, card, session, view, tool)
  if (tool === undefined || refusal !== undefined) {
    const code = refusal?.kind === 'refused' ? refusal.code : 'internal'
    return (await parts.cards.refuse(card.id, { code })) && refusal
  }
  const attempt: Attempt = { id: attemptId, started: performance.now(), view }
  const claimed = await parts.cards.claim(card.id, attemptId, { subject: session.subject, view: view.hash })
  if (claimed === undefined) return undefined
  const answer = await parts.sender.send({
    tool,
    session,
    argumentsText: claimed.argumentsText,
    extraText: claimed.extraText,
    metaText: claimed.metaText,
    elicitation: caller.elicitation ?? { form: false, url: false },
    onProgress: caller.onProgress,
    ask: caller.ask ?? (() => Promise.resolve(new Map())),
  })
  const end: Finish = {
    status: wordFor(answer),
    code: codeOf(answer),
    outcome: { code: codeOf(answer), isError: answer.kind === 'error' || (answer.kind === 'result' && answer.isError) },
    resultText: JSON.stringify(answer),
  }
  const ended = await parts.cards.finish(card.id, end).catch(() => finishLater(parts.cards, card.id, end))
  if (caller.ask === undefined) recordDetached(parts, session, attempt, card, answer)
  return toOutcome(answer, ended ?? card)
}

/** The approved tool is not in the view: its upstream is away, or the session may not call it any more. */
function missing({ registry }: GateParts, card: Card): Outcome {
  const state = registry.find(card.connector)?.state()
  if (state === undefined || state.state === 'ready') return unknownTool(card.tool)
  return refused('upstream_unavailable', `The upstream of ${card.tool} is not there. It did not run.`, [], card)
}

const FINISH_AGAIN_MS = 500

/** The call has run, so its end is written down as soon as it can be; after its lease there is nothing to end. */
function finishLater(cards: Cards, id: string, end: Finish): undefined {
  const again = (): void => {
    setTimeout(() => cards.finish(id, end).catch(again), FINISH_AGAIN_MS).unref()
  }
  again()
}

/** A run that no caller waits for has no attempt of a caller to write its terminal row. */
function recordDetached(parts: GateParts, session: Session, attempt: Attempt, card: Card, answer: Answer): void {
  recordEnd(parts.audit, session, attempt, {
    tool: card.tool,
    code: codeOf(answer),
    outcome: wordFor(answer),
    fingerprint: card.fingerprint,
    card: card.id,
    bytes: sizeOf(answer),
  })
}

function decideAgain(
  parts: GateParts,
  card: Card,
  session: Session,
  view: ToolView,
  tool: RegisteredTool,
): Outcome | undefined {
  if (tool.digest !== card.digest) {
    const changed = 'The tool’s definition changed after a person approved this call, so it did not run. Call it again.'
    return refused('definition_changed', changed, [], card)
  }
  const call = { tool, fingerprint: card.fingerprint }
  const decision = decide(call, factsOf(parts, session, view, tool, card.fingerprint))
  if (decision.effect === 'allow') return undefined
  return denied(card.tool, decision.effect === 'deny' ? decision.code : 'approval_required', decision.reasons, card)
}
