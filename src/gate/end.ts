/**
 * How an attempt leaves the gate: sent, and in every case with its one terminal row.
 * @module
 */
import type { Card } from '../approvals/cards.ts'
import { AuditUnavailable } from '../audit/audit.ts'
import type { Answer, RegisteredTool } from '../connector/connector.ts'
import { DatabaseUnavailable } from '../db/errors.ts'
import { split } from '../policy/names.ts'
import type { Reason } from '../policy/words.ts'
import type { GateParts } from './gate.ts'
import { type Outcome, unrecordable } from './outcome.ts'
import type { SpendFacts } from './paid.ts'
import type { Asked, Leaving } from './passing.ts'
import { type Attempt, codeOf, costNow, recordEnd, sizeOf, wordFor } from './record.ts'

/** A card that cannot be read, parked or claimed runs nothing. What has run ends without the database (person.ts). */
export function withoutDatabase(problem: unknown): Outcome {
  if (problem instanceof DatabaseUnavailable || problem instanceof AuditUnavailable) return unrecordable()
  throw problem
}

/** A call that asks nobody. The one row of its end is written in a batch. */
export function runUnasked(
  { sender }: Pick<GateParts, 'sender'>,
  asked: Asked,
  tool: RegisteredTool,
  leaving: Leaving,
): Promise<Answer> {
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
export function ended(
  parts: GateParts,
  asked: Asked,
  attempt: Attempt,
  outcome: Outcome,
  print?: string,
  reasons: readonly Reason[] = [],
  answer: Answer | undefined = outcome.kind === 'answered' ? outcome.answer : undefined,
  spent?: SpendFacts,
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
    ...(answer === undefined ? {} : { bytes: sizeOf(answer), cost: costNow(answer, spent?.cost ?? costOfCard(card)) }),
  })
  parts.observe(code, asked.tool?.access ?? 'none', (performance.now() - attempt.started) / 1000)
  return outcome
}

/** What the call of a card came to, or was approved at. */
const costOfCard = (card: Card | undefined): SpendFacts['cost'] | undefined =>
  (card?.outcome?.cost as SpendFacts['cost'] | undefined) ?? card?.cost
