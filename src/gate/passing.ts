/**
 * One call on its way through the gate: what a door hands in, and how its caller can leave it.
 * @module
 */
import type { Card } from '../approvals/cards.ts'
import type { ElicitationModes, Question, RegisteredTool, Running } from '../connector/connector.ts'
import type { Session } from '../policy/words.ts'
import type { Outcome } from './outcome.ts'

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
  /** This very request can come back for its outcome by the card's id: it is parked and not held. */
  readonly handle?: true
}

/** A call inside the gate. A card, and an approved call that runs, go on whatever its caller does. */
export interface Passing {
  readonly outcome: Promise<Outcome>
  /** Ends the wait for a person. */
  leave(): void
  /** Ends the wait, and tells the upstream of a plain read. */
  cancel(reason: string): void
  /** As `cancel`, and takes back a card that has not started, unless another caller waits for it. */
  takeBack(reason: string): void
}

/** A caller's leaving, as the steps of its call see it. */
export interface Leaving {
  left: boolean
  takenBack: boolean
  cancelled: string | undefined
  running: Running | undefined
  onLeave: (() => void) | undefined
}

/** Starts a call, and hands out how to leave it. */
export function createPassing(start: (leaving: Leaving) => Promise<Outcome>): Passing {
  const leaving: Leaving = {
    left: false,
    takenBack: false,
    cancelled: undefined,
    running: undefined,
    onLeave: undefined,
  }
  function leave(): void {
    leaving.left = true
    leaving.onLeave?.()
  }
  function cancel(reason: string): void {
    leaving.cancelled = reason
    leaving.running?.cancel(reason)
    leave()
  }
  return {
    outcome: start(leaving),
    leave,
    cancel,
    takeBack(reason) {
      leaving.takenBack = true
      cancel(reason)
    },
  }
}
