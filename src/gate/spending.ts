/**
 * The way of a call that spends: priced, decided, and reserved before it leaves. Where another call took what was left
 * between the two, it is decided again with what is left now.
 * @module
 */
import type { CardCost } from '../approvals/cards.ts'
import type { RegisteredTool } from '../connector/connector.ts'
import { type Call, decide } from '../policy/decide.ts'
import { ended, runUnasked, withoutDatabase } from './end.ts'
import { callOf, factsOf, isDead } from './facts.ts'
import type { GateParts } from './gate.ts'
import { DEAD, denied, failed, type Outcome, refused, unrecordable } from './outcome.ts'
import { bookCall, reserveCall, type SpendFacts } from './paid.ts'
import type { Asked, Leaving } from './passing.ts'
import { askPerson } from './person.ts'
import { meterOf, type Price, priceOf } from './price.ts'
import type { Attempt } from './record.ts'

type Called = Call & { readonly tool: RegisteredTool }

/** How often a call is decided anew because others were quicker. */
const MOST_TRIES = 3

/** Takes a call that spends to its end. */
export async function passSpending(
  parts: GateParts,
  asked: Asked,
  first: Called,
  attempt: Attempt,
  leaving: Leaving,
): Promise<Outcome> {
  const { session } = asked
  const { tool, fingerprint } = first
  const { repeated } = attempt
  const facts = (price?: Price) => ({ ...factsOf(parts, session, attempt.view, tool, undefined, price), repeated })
  // What is refused at any price is refused before prices are asked for.
  const within = meterOf(tool) === undefined ? first : { ...first, cost: 'within' as const }
  const before = decide(within, facts())
  if (before.effect === 'deny') {
    return ended(parts, asked, attempt, denied(asked.written, before.code, before.reasons), fingerprint, before.reasons)
  }
  for (let tries = 1; ; tries++) {
    const price = await priceNow(parts, asked, tool)
    if (price === undefined) return ended(parts, asked, attempt, unrecordable(), fingerprint)
    const decision = decide(callOf(tool, asked.argumentsText, asked.extraText, price), facts(price))
    const { reasons } = decision
    if (decision.effect === 'deny') {
      const outcome = { ...denied(asked.written, decision.code, reasons), ...told(price) } as Outcome
      return ended(parts, asked, attempt, outcome, fingerprint, reasons)
    }
    const last = tries === MOST_TRIES
    if (decision.effect === 'ask' || (await isAsked(parts, asked, fingerprint, price))) {
      const outcome = await askPerson(parts, asked, first, attempt, reasons, leaving, price).catch(withoutDatabase)
      if (outcome !== 'short') {
        return ended(parts, asked, attempt, await withSpend(parts, asked, outcome, price), fingerprint, reasons)
      }
    } else {
      const outcome = await runPaid(parts, asked, first, attempt, leaving, price)
      if (outcome !== 'short') return outcome
    }
    if (last) return ended(parts, asked, attempt, { ...SHORT, ...told(price) }, fingerprint, reasons)
  }
}

const SHORT = refused('allowance_exhausted', 'Other calls of this session took what was left. It did not run.')

/** Reserved, sent and booked. */
async function runPaid(
  parts: GateParts,
  asked: Asked,
  { tool, fingerprint }: Called,
  attempt: Attempt,
  leaving: Leaving,
  price: Price,
): Promise<Outcome | 'short'> {
  const { session } = asked
  const { cost } = price
  // Only a known cost runs unasked; anything else is a bug, and runs nothing.
  if (cost === undefined) return ended(parts, asked, attempt, refused('approval_required', UNKNOWN), fingerprint)
  const paid = { ...price, cost }
  const reserved = await reserveCall(parts, session, tool, attempt, paid, fingerprint).catch(() => undefined)
  if (reserved === false) return 'short'
  if (reserved === undefined) return ended(parts, asked, attempt, unrecordable(), fingerprint)
  if (isDead(parts, session)) {
    await parts.ledger.end(attempt.id, { is: 'did-not-run' })
    return ended(parts, asked, attempt, refused('session_revoked', DEAD), fingerprint)
  }
  const answer = await runUnasked(parts, asked, tool, leaving)
  const spend = await bookCall(parts, tool, attempt, answer, cost)
  const outcome: Outcome = answer.kind === 'failed' ? failed(answer) : { kind: 'answered', answer }
  return ended(parts, asked, attempt, { ...outcome, spend } as Outcome, fingerprint, [], answer, spend)
}

const UNKNOWN = 'Nobody can say what this call costs, so a person would have to decide it. It did not run.'

/** The price; undefined where the database cannot say what is left. */
function priceNow(parts: GateParts, asked: Asked, tool: RegisteredTool): Promise<Price | undefined> {
  const { registry, askAbove, ledger } = parts
  return priceOf({ registry, askAbove, left: ledger.left }, asked.session, tool, asked.argumentsText).catch(
    () => undefined,
  )
}

/**
 * Whether the very call is with a person already, or ended there and was not collected: then it is that card's, though by
 * now it would run unasked. Only what an allowance limits is asked about at one time and not at another.
 */
async function isAsked(
  { cards }: GateParts,
  { session }: Asked,
  fingerprint: string,
  { paying }: Price,
): Promise<boolean> {
  if (session.channel === 'none' || paying === 'unlimited') return false
  return (await cards.latest(session.id, fingerprint)) !== undefined
}

/** The outcome of a card with what it came to, and what is left by now where that can be said. */
async function withSpend({ ledger }: GateParts, { session }: Asked, outcome: Outcome, { cost, paying }: Price) {
  if (outcome.kind !== 'answered' || cost === undefined) return outcome
  const { connector, outcome: noted } = outcome.card ?? {}
  const limited = paying !== 'unlimited' && connector !== undefined
  const found = limited && (await ledger.left(session.id, connector, cost.unit).catch(() => undefined))
  const came = (noted?.cost as CardCost | undefined) ?? cost
  return { ...outcome, spend: { cost: came, left: found ? found.left : null } }
}

/** What a refusal says of the money. */
function told({ cost, free }: Price): { readonly spend?: SpendFacts } {
  return cost === undefined ? {} : { spend: { cost: cost satisfies CardCost, left: free ?? null } }
}
