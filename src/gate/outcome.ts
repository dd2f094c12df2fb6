/**
 * How a call ended at the gate, for any door to put into its own words.
 * @module
 */
import type { Card } from '../approvals/cards.ts'
import type { Answer } from '../connector/connector.ts'
import type { Code, Reason } from '../policy/words.ts'
import type { SpendFacts } from './paid.ts'

export type Outcome =
  | {
      readonly kind: 'answered'
      readonly answer: Exclude<Answer, { kind: 'failed' }>
      readonly card?: Card
      readonly spend?: SpendFacts
    }
  | {
      readonly kind: 'refused'
      readonly code: Code
      /** A sentence that says what to do. */
      readonly message: string
      readonly reasons: readonly Reason[]
      readonly card?: Card
      /** What a vendor said when it refused. */
      readonly facts?: Readonly<Record<string, unknown>>
      readonly spend?: SpendFacts
    }
  /** `handle`: the caller comes back for it by the card's id, as a task. */
  | { readonly kind: 'pending'; readonly card: Card; readonly handle?: true }

type Refused = Extract<Outcome, { kind: 'refused' }>

/** A refusal with its sentence. */
export function refused(code: Code, message: string, reasons: readonly Reason[] = [], card?: Card): Refused {
  return { kind: 'refused', code, message, reasons, ...(card === undefined ? {} : { card }) }
}

/** What the caller is told when a name is not in its view: the same words whether the tool exists or not. */
export function unknownTool(written: string): Outcome {
  const name = written.length > 128 ? `${written.slice(0, 128)}…` : written
  return refused('unknown_tool', `Unknown tool: ${name}. Call only tools that tools/list shows for this session.`)
}

/** An upstream that gave no answer, as an outcome. */
export function failed(answer: Extract<Answer, { kind: 'failed' }>, card?: Card): Outcome {
  const ran =
    answer.ran === 'maybe'
      ? 'It may have run; it is not run again by itself. Check before you call again.'
      : 'It did not run.'
  const outcome = refused(answer.code, `${answer.reason} ${ran}`, [], card)
  return answer.facts === undefined ? outcome : { ...outcome, facts: answer.facts }
}

export const DEAD = 'This session was revoked, ended or has expired. Ask the host app for a new token.'

/** A refusal's sentence. Outside the view the answer is the same, word for word, whether the tool exists or not. */
export function denied(written: string, code: Code, reasons: readonly Reason[], card?: Card): Outcome {
  if (code === 'unknown_tool') return unknownTool(written)
  if (code === 'session_revoked') return refused(code, DEAD, reasons, card)
  return refused(code, reasons.map((reason) => reason.because).join(' '), reasons, card)
}

/** Without a record there is no effect. */
export function unrecordable(): Outcome {
  return refused('internal', 'The gateway cannot reach its database, so it runs nothing. Try again in a few seconds.')
}
