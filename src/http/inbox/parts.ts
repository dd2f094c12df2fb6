/**
 * What the inbox is made of; app.ts hands it over.
 * @module
 */
import type { Card, Cards } from '../../approvals/cards.ts'
import type { Seal } from '../../db/seal.ts'
import type { Approver } from '../../session/approvers.ts'
import type { Person } from '../person.ts'
import type { Allowance, Asker } from './facts.ts'
import type { Work } from './work.ts'

export interface InboxParts {
  /** Who an `Authorization` header stands for: the operator, an approver, or nobody. */
  readonly personOf: (authorization: string | undefined) => Promise<Person | undefined>
  /** The approver of an id while the token is neither revoked nor expired. */
  readonly approver: (id: string) => Promise<Approver | undefined>
  readonly cards: Pick<Cards, 'get' | 'list' | 'approve' | 'deny' | 'settle' | 'standing' | 'onEvent'>
  /** Who holds a session. */
  readonly asker: (sessionId: string) => Promise<Asker | undefined>
  /** The tool's definition on a card and on the one that a person last said yes to, where the two differ. */
  readonly definitionChange: (card: Card) => Promise<{ readonly former: string; readonly now: string } | undefined>
  /** Whether the tool's definition is another than when the card was made: then an approved call does not run. */
  readonly isStale: (card: Card) => boolean
  /** What is left of the allowances that a card with a cost would be paid from. */
  readonly allowances?: (card: Card) => Promise<readonly Allowance[]>
  /** Tools, routines and their runs; left away, there are no pages of them. */
  readonly work?: Work
  /** Seals what a browser keeps; best under a key that serves nothing else. */
  readonly seal: Seal
  /** Where people open the inbox; its path is the base of every link. */
  readonly inboxUrl: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly log: { error(facts: object, message: string): void }
  /** Aborted when the gateway stops, so that open pages let go of it. */
  readonly closing: AbortSignal
}
