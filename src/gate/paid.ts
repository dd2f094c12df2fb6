/**
 * A call that spends and asks nobody: reserved with the row that says it leaves, sent, and booked at what it came to.
 * @module
 */
import type { CardCost } from '../approvals/cards.ts'
import type { Answer, RegisteredTool } from '../connector/connector.ts'
import type { Session } from '../policy/words.ts'
import { amountOf } from '../session/amount.ts'
import type { Ending, Ledger } from '../session/ledger.ts'
import type { Attempt } from './record.ts'
import { startedRow, wordFor } from './record.ts'
import { meterOf, type Price } from './price.ts'

/** What of a call's money is told to its caller; decimals as text. */
export interface SpendFacts {
  /** What it came to, or would come to at most. */
  readonly cost: CardCost
  /** What the session has left for this connector; null where no allowance limits it. */
  readonly left: string | null
}

export interface PaidParts {
  readonly ledger: Ledger
  /** How long a call may be out before its outcome counts as unknown, in milliseconds. */
  readonly leaseMs: number
}

/** Reserves a call's cost and writes down that it leaves; false, and neither, where the session has not so much left. */
export function reserveCall(
  { ledger, leaseMs }: PaidParts,
  session: Session,
  tool: RegisteredTool,
  attempt: Attempt,
  { cost, paying }: Price & { readonly cost: CardCost },
  fingerprint: string,
): Promise<boolean> {
  const { name, connector } = tool
  const who = { brand: session.brand, sessionId: session.id, role: session.role.name }
  const wanted = { id: attempt.id, card: false, attempt: attempt.id, ...who, tool: name, connector, ...cost, leaseMs }
  const started = { tool: name, connector, fingerprint, cost }
  return ledger.begin(wanted, paying !== 'unlimited', startedRow(session, attempt, started))
}

/** What an answer came to, where its tool's meter can read it. */
export function actualOf(tool: RegisteredTool, answer: Answer, unit: string): string | undefined {
  if (answer.kind !== 'result') return undefined
  const actual = meterOf(tool)?.actual(answer.members)
  return actual?.unit === unit ? amountOf(actual.amount) : undefined
}

/** Books how a call ended, and says what it came to. */
export async function bookCall(
  { ledger }: PaidParts,
  tool: RegisteredTool,
  attempt: Attempt,
  answer: Answer,
  { unit, amount }: CardCost,
): Promise<SpendFacts> {
  const actual = actualOf(tool, answer, unit)
  const booked = await ledger.end(attempt.id, endingOf(answer, actual))
  const cost = { unit, amount: endsUnbilled(answer) ? '0' : (booked?.settled ?? actual ?? amount) }
  return { cost, left: booked?.left ?? null }
}

const endsUnbilled = (answer: Answer): boolean => wordFor(answer) === 'failed'

/** An answer, an error too, may be billed; what did not run is not; what may have run keeps the whole reservation. */
function endingOf(answer: Answer, actual: string | undefined): Ending {
  switch (wordFor(answer)) {
    case 'failed':
      return { is: 'did-not-run' }
    case 'unknown':
      return { is: 'unknown' }
    default:
      return { is: 'done', actual }
  }
}
