/**
 * An approved call is decided again when it is about to run, with today's facts and with the arguments that would run. An
 * approval is one of the facts, bound to what a person saw; it is no way round any other.
 * @module
 */
import { type Card, type Opened, sameCost } from '../approvals/cards.ts'
import type { RegisteredTool } from '../connector/connector.ts'
import { decide } from '../policy/decide.ts'
import type { Session } from '../policy/words.ts'
import { closedFor } from './closed.ts'
import { callOf, type FactParts, factsOf } from './facts.ts'
import type { GateParts } from './gate.ts'
import { denied, type Outcome, refused, unknownTool } from './outcome.ts'
import { costOf } from './price.ts'
import { heldTool, type ToolView } from './views.ts'

export type AgainParts = FactParts & Pick<GateParts, 'views' | 'registry'>

/** What may run, or why not. */
export type Again =
  | { readonly tool: RegisteredTool; readonly view: ToolView; readonly refusal?: never }
  | { readonly refusal: Outcome }

/** Decides an approved card again for its session. */
export function decideAgain(parts: AgainParts, { card, argumentsText, extraText }: Opened, session: Session): Again {
  const view = parts.views.of(session)
  const tool = heldTool(view, card.tool)
  if (tool === undefined) return { refusal: missing(parts, card, session) }
  const call = callOf(tool, argumentsText, extraText)
  const changed = changedSince(card, tool, argumentsText, call.fingerprint)
  if (changed !== undefined) {
    const words = `${changed} after a person approved this call, so it did not run. Call it again.`
    return { refusal: refused('definition_changed', words, [], card) }
  }
  const decision = decide(call, factsOf(parts, session, view, tool, card.fingerprint))
  if (decision.effect === 'allow') return { tool, view }
  const code = decision.effect === 'deny' ? decision.code : 'approval_required'
  return { refusal: denied(card.tool, code, decision.reasons, card) }
}

/** What an approval was bound to and is not the same any more; undefined when all of it is. */
function changedSince(
  card: Card,
  tool: RegisteredTool,
  argumentsText: string | undefined,
  fingerprint: string,
): string | undefined {
  if (tool.digest !== card.digest) return 'The tool’s definition changed'
  if (tool.upstream !== card.upstream) return 'The upstream behind the tool changed'
  if (fingerprint !== card.fingerprint) return 'What would run changed'
  return sameCost(card.cost, costOf(tool, argumentsText)) ? undefined : 'What the call costs changed'
}

/** The approved tool is not in the view: its upstream is away, or the session may not call it any more. */
function missing({ registry }: AgainParts, card: Card, session: Session): Outcome {
  const closed = closedFor(registry, session, card.tool)
  if (closed !== undefined) return refused('definition_changed', `${closed.reason} It did not run.`, [], card)
  const state = registry.find(card.connector, card.brand)?.state()
  if (state === undefined || state.state === 'ready') return unknownTool(card.tool)
  return refused('upstream_unavailable', `The upstream of ${card.tool} is not there. It did not run.`, [], card)
}
