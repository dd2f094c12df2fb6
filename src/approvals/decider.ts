/**
 * Who decides and what comes of it, as every door says it.
 * @module
 */
import type { Tx } from '../db/connect.ts'
import type { DECIDED_VIA, SETTLED } from '../db/schema.ts'
import { type Card, shownText } from './show.ts'
import type { Scope, Similar } from './standing-match.ts'
import type { StandingApproval } from './standing-row.ts'

export type Via = (typeof DECIDED_VIA)[number]
export type Settled = (typeof SETTLED)[number]

export interface Decider {
  /** Who decides, as the audit and the card name them. */
  readonly by: string
  readonly note?: string
  /** Only cards of this brand; any other is not there. */
  readonly brand?: string
  /** The gateway's own door they came through, and the address they came from. */
  readonly via?: Via
  readonly address?: string
  /** Digest of what they saw (`Card.shown`). Of anything but the card as it is, the decision is refused as `changed`. */
  readonly shown?: string
}

export interface Approving {
  /** How far the yes goes; `once` when left away. */
  readonly scope?: Scope
  /** With `session` or `always`: calls like this one too. */
  readonly similar?: Similar
}

/** A decision, or why there is none; the card then says who was first. */
export type Decided =
  | {
      readonly ok: true
      readonly card: Card
      /** What a yes for more than once left standing. */
      readonly standing?: StandingApproval
    }
  | { readonly ok: false; readonly problem: 'not_found'; readonly card?: never }
  | {
      readonly ok: false
      /**
       * `changed`: not what the person saw. `scope_not_offered`, `bad_pattern`: what was asked for cannot stand, `details`
       * say why. `not_unknown`: only an unknown outcome is settled.
       */
      readonly problem: 'already_decided' | 'expired' | 'changed' | 'scope_not_offered' | 'bad_pattern' | 'not_unknown'
      readonly card: Card
      readonly details?: readonly string[]
    }

/**
 * Told of a move inside its transaction: what it throws undoes the move. A card that a standing approval covers is told as
 * `created`, being `approved` already, and then as `decided`. That an approved card starts is told to nobody.
 */
export type OnMove = (tx: Tx, card: Card, moved: 'created' | 'decided' | 'finished' | 'settled') => Promise<void>

/** What a row says of its decider, fit to be shown. */
export function deciderText({ by, note, via, address, shown }: Decider) {
  return {
    by: shownText(by, 200),
    note: note === undefined ? undefined : shownText(note),
    via,
    address: address === undefined ? undefined : shownText(address, 100),
    shown: shown === undefined ? undefined : shownText(shown, 100),
  }
}
