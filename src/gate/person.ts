/**
 * A gated call: parked as a card, waited for, and run once after a person said yes.
 * @module
 */
import { CHANGED_DEFINITION } from '../approvals/outdated.ts'
import { bindingOf, type Card, type CardCost, type Cards, type Finish } from '../approvals/cards.ts'
import type { Answer, RegisteredTool, UpstreamCall } from '../connector/connector.ts'
import type { Call } from '../policy/decide.ts'
import type { Code, Reason, Session } from '../policy/words.ts'
import { decideAgain } from './again.ts'
import type { GateParts } from './gate.ts'
import { HANDED_OVER, HARNESS } from './harness-tools.ts'
import { failed, type Outcome, refused } from './outcome.ts'
import { actualOf } from './paid.ts'
import type { Asked, Leaving } from './passing.ts'
import type { Price } from './price.ts'
import { type Attempt, codeOf, costNow, recordEnd, sizeOf, wordFor } from './record.ts'

/** Who takes back a call, as its card and the audit name them. */
export const CALLER = 'the caller'

/**
 * Joins the card that is there or parks one, then waits for the person, up to `waitMs`. A caller with a handle does not
 * wait. Where another caller of the same call took the card back, this one parks its own. `short`: the allowance that
 * covered the call when it was decided does not any more, and nothing was parked.
 */
export async function askPerson(
  parts: GateParts,
  asked: Asked,
  call: Call & { readonly tool: RegisteredTool },
  attempt: Attempt,
  reasons: readonly Reason[],
  leaving: Leaving,
  price: Price | undefined,
): Promise<Outcome | 'short'> {
  const { cards, waitMs } = parts
  const bound = bindingOf({ ...call, cost: price?.cost })
  const found = await cards.latest(asked.session.id, call.fingerprint, bound)
  const parked = found ?? (await park(parts, asked, call, attempt, reasons, price))
  if (parked === 'short') return parked
  if (typeof parked === 'string') return refused('session_limit', TOO_MANY[parked], reasons)
  let card = parked
  const until = performance.now() + waitMs
  if (isOpen(card)) asked.onHold(card)
  for (;;) {
    if (leaving.takenBack) card = await takeBack(parts, card)
    if (card.status === 'approved') {
      const ran = await runCard(parts, card, asked.session, attempt.id, asked)
      if (ran !== undefined) return ran
    } else if (!isOpen(card)) {
      if (!isTakenBack(card) || leaving.left) return storedOutcome(parts, card)
      const own = await park(parts, asked, call, attempt, reasons, price)
      if (own === 'short') return own
      if (typeof own === 'string') return refused('session_limit', TOO_MANY[own], reasons)
      card = own
      continue
    }
    if (asked.handle === true) return { kind: 'pending', card, handle: true }
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

const TOO_MANY = {
  too_many: 'This session has too many calls waiting for a person. Wait until some are decided.',
  too_many_ever: 'This session has asked a person as often as a session may. Ask the host app for a new one.',
} as const

async function park(
  { cards }: GateParts,
  asked: Asked,
  { tool, fingerprint }: Call & { readonly tool: RegisteredTool },
  attempt: Attempt,
  reasons: readonly Reason[],
  price: Price | undefined,
): Promise<Card | keyof typeof TOO_MANY | 'short'> {
  const { session, argumentsText, extraText, metaText } = asked
  const paid = { cost: price?.cost, paying: price?.paying }
  const what = { session, tool, fingerprint, argumentsText, extraText, metaText, reasons, ...paid }
  const parked = await cards.park({ ...what, viewHash: attempt.view.hash, attempt: attempt.id })
  return parked.ok ? parked.card : parked.problem
}

/** Takes a card back that has not started and that nobody here waits for; the card as it is then. */
export async function takeBack({ cards }: GateParts, card: Card): Promise<Card> {
  if ((card.status !== 'pending' && card.status !== 'approved') || cards.waiting(card.id)) return card
  return (await cards.withdraw(card.id, { by: CALLER })).card ?? card
}

/** Whether the card was withdrawn by a caller of its session. */
export const isTakenBack = ({ status, decidedBy }: Card): boolean => status === 'withdrawn' && decidedBy === CALLER

/** What a card came to, for whoever asks for it by its id. */
export async function outcomeOf(parts: GateParts, card: Card): Promise<Outcome> {
  return isOpen(card) ? { kind: 'pending', card } : storedOutcome(parts, card)
}

const isOpen = ({ status }: Card): boolean => status === 'pending' || status === 'approved' || status === 'running'

/** What an ended card says to the caller who comes for it. */
async function storedOutcome({ cards }: GateParts, card: Card): Promise<Outcome> {
  if (card.settled !== undefined) return refused('outcome_unknown', SETTLED[card.settled], [], card)
  switch (card.status) {
    case 'denied': {
      const note = card.note ? ` They said: ${card.note}` : ''
      return refused('approval_denied', `A person denied this call.${note} Do not send it again unchanged.`, [], card)
    }
    case 'expired':
      return refused('approval_expired', 'Nobody decided in time, so this call was denied. It did not run.', [], card)
    case 'withdrawn':
      if (card.decidedBy === CHANGED_DEFINITION) return refused('definition_changed', OUTDATED, [], card)
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

const OUTDATED =
  'The definition of the tool changed while this call waited for a person, so it was withdrawn. It did not run.'

/** An outcome that was unknown, once a person has looked. */
const SETTLED = {
  happened: 'A person found that this call did happen. Its answer is lost; do not send it again.',
  did_not:
    'A person found that this call did not happen. It is not run again by itself; call again if it is still wanted.',
} as const

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
  const opened = await parts.cards.open(card.id)
  if (opened === undefined) return undefined
  // What a call costs is part of what was approved, and this process may not have read the prices yet.
  if (card.cost !== undefined) await parts.registry.find(card.connector, session.brand)?.prepare?.(session)
  const again = decideAgain(parts, opened, session)
  if (again.refusal !== undefined) {
    const code = again.refusal.kind === 'refused' ? again.refusal.code : 'internal'
    return (await parts.cards.refuse(card.id, { code })) && again.refusal
  }
  const { tool, view } = again
  const attempt: Attempt = { id: attemptId, started: performance.now(), view }
  const intent = { subject: session.subject, view: view.hash }
  const claimed = await parts.cards.claim(card.id, attemptId, intent, opened)
  if (claimed === undefined) return undefined
  // What changed while the claim was written down: nothing left yet, and nothing does.
  const late = decideAgain(parts, opened, session)
  if (late.refusal !== undefined) {
    const code = late.refusal.kind === 'refused' ? late.refusal.code : 'internal'
    await parts.cards.finish(card.id, { status: 'failed', code })
    return late.refusal
  }
  const letGo = holdLease(parts.cards, card.id)
  const sent = parts.sender.send({
    tool,
    session,
    argumentsText: claimed.argumentsText,
    key: card.id,
    extraText: claimed.extraText,
    metaText: claimed.metaText,
    elicitation: caller.elicitation ?? { form: false, url: false },
    onProgress: caller.onProgress,
    ask: caller.ask ?? (() => Promise.resolve(new Map())),
  })
  const answer = await sent.finally(letGo)
  const cost = card.cost && cameTo(tool, answer, card.cost)
  const end: Finish = {
    status: wordFor(answer),
    code: codeOf(answer),
    outcome: {
      code: codeOf(answer),
      isError: answer.kind === 'error' || (answer.kind === 'result' && answer.isError),
      ...(tool.connector === HARNESS && HANDED_OVER),
      ...(cost && { cost }),
    },
    resultText: JSON.stringify(answer),
  }
  const ended = await parts.cards.finish(card.id, end).catch(() => finishLater(parts.cards, card.id, end))
  if (caller.ask === undefined) recordDetached(parts, session, attempt, card, answer, cost)
  return toOutcome(answer, ended ?? card)
}

/** What a call came to, where it ran and its answer says it; else it is booked at what was approved. */
function cameTo(tool: RegisteredTool, answer: Answer, { unit }: CardCost): CardCost | undefined {
  const amount = actualOf(tool, answer, unit)
  return amount === undefined ? undefined : { unit, amount }
}

/** Keeps a call's lease while this process has it, so that the lease only measures how long a dead one may be waited for. */
function holdLease(cards: Cards, id: string): () => void {
  const renew = (): void => void cards.renew(id).catch(() => {})
  const timer = setInterval(renew, Math.max(cards.leaseMs / 3, 100)).unref()
  return () => clearInterval(timer)
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
function recordDetached(
  parts: GateParts,
  session: Session,
  attempt: Attempt,
  card: Card,
  answer: Answer,
  cost: CardCost | undefined,
): void {
  recordEnd(parts.audit, session, attempt, {
    tool: card.tool,
    code: codeOf(answer),
    outcome: wordFor(answer),
    fingerprint: card.fingerprint,
    card: card.id,
    bytes: sizeOf(answer),
    cost: costNow(answer, cost ?? card.cost),
  })
}
