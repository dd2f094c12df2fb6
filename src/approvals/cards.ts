/**
 * Cards: the state machine of calls that wait for a person. Every move is one conditional update by the database's clock
 * that returns the row, in one transaction with its audit row and its notice. No row back means that someone was first.
 * @module
 */
import { and, eq, inArray, isNull } from '../db/drizzle.ts'
import type { Audit, AuditEntry } from '../audit/audit.ts'
import type { Database } from '../db/connect.ts'
import type { DbEvent } from '../db/events.ts'
import type { Log } from '../db/log.ts'
import { cards } from '../db/schema.ts'
import type { Seal } from '../db/seal.ts'
import type { Code } from '../policy/words.ts'
import { createDeciding } from './decide.ts'
import type { Approving, Decided, Decider, OnMove, Settled } from './decider.ts'
import { payingFor } from './money.ts'
import { about, clock, inMs, move } from './moves.ts'
import { createPark, type Parked, type ToPark } from './park.ts'
import { type CardPage, type CardQuery, createReader, isCardId } from './read.ts'
import { type Card, type CardOutcome, shownOutcome, TOLD, toCard } from './show.ts'
import { createStanding, type Standing } from './standing.ts'
import { createSweep } from './sweep.ts'
import { createWaiting, type WaitOptions } from './wait.ts'

export { CARD_STATUSES, SCOPES } from '../db/schema.ts'
export { bindingOf, type CardCost, sameCost } from './binding.ts'
export type { Approving, Decided, Decider, OnMove, Settled, Via } from './decider.ts'
export type { Paying } from './money.ts'
export type { Parked, ToPark } from './park.ts'
export type { CardPage, CardQuery } from './read.ts'
export { type Card, type CardOutcome, type CardStatus, shownDigest } from './show.ts'
export type { Pattern, Scope, Similar } from './standing-match.ts'
export {
  STANDING_STATES,
  type Revoked,
  type Standing,
  type StandingApproval,
  type StandingPage,
  type StandingQuery,
  type StandingState,
} from './standing.ts'
export type { WaitOptions } from './wait.ts'

export interface CardsParts {
  readonly db: Database
  readonly audit: Audit
  readonly seal: Seal
  /** How long a card waits for a person (`APPROVAL_TIMEOUT_MS`). 0: every call is denied at once. */
  readonly timeoutMs: number
  /** How long a claimed card may run before its outcome counts as unknown; `renew` starts it anew. */
  readonly leaseMs: number
  readonly log: Log
  /** A new UUID. */
  readonly newId: () => string
  /** Most open cards of one session. */
  readonly mostOpen?: number
  /** Most cards that one session ever makes. */
  readonly mostEver?: number
  /** Told of each move inside its transaction, the sweep's too. */
  readonly onMove?: OnMove
  /** How often waited cards are looked at where no notice came. */
  readonly pollMs?: number
}

/** A card with what runs, opened. */
export interface Opened {
  readonly card: Card
  readonly argumentsText: string | undefined
  readonly extraText: string
  readonly metaText: string
}
export type Claimed = Opened

export interface Finish {
  readonly status: 'done' | 'failed' | 'unknown'
  readonly code: Code | 'ok'
  readonly outcome?: CardOutcome
  /** Kept sealed for a caller who comes for it later. */
  readonly resultText?: string
}

export type CardEvent = Extract<DbEvent, { kind: 'card' | 'listening' }>

export interface Cards {
  /** Parks a call: a new card, or the open one of the same call. */
  park(call: ToPark): Promise<Parked>
  /**
   * The open card of a call, else the newest ended one whose outcome nobody collected. With a binding (`bindingOf`) only an
   * open card that is bound to the very same: where definition, upstream or price changed, the call is another card.
   */
  latest(sessionId: string, fingerprint: string, binding?: string): Promise<Card | undefined>
  get(id: string): Promise<Card | undefined>
  /** Newest first. Throws RangeError for a cursor that no list gave out. */
  list(query: CardQuery): Promise<CardPage>
  /** Says yes: to this call once, or to what `how` says; a yes for more than once leaves a standing approval. */
  approve(id: string, decider: Decider, how?: Approving): Promise<Decided>
  deny(id: string, decider: Decider): Promise<Decided>
  /** Takes back a call that did not start yet, approved or not. */
  withdraw(id: string, decider: Decider): Promise<Decided>
  /** What a person found out about an unknown outcome: unknown → done or failed. Runs nothing. */
  settle(id: string, decider: Decider, what: Settled): Promise<Decided>
  /** Approvals that stand for more than one call. */
  readonly standing: Standing
  /** An approved card with what would run, to be decided again; undefined when it is not approved (any more). */
  open(id: string): Promise<Opened | undefined>
  /** approved → running, once. `more` goes into the started row; `opened` spares opening it again. Undefined when another was first. */
  claim(id: string, attempt: string, more?: Partial<AuditEntry>, opened?: Opened): Promise<Claimed | undefined>
  /** approved → failed: decided again and refused, so it never ran. Undefined when another was first. */
  refuse(id: string, refusal: { readonly code: Code; readonly outcome?: CardOutcome }): Promise<Card | undefined>
  /** running → its end. Undefined when it is not running (its lease ended, for one). */
  finish(id: string, end: Finish): Promise<Card | undefined>
  /** How long a lease is, in milliseconds. */
  readonly leaseMs: number
  /** Starts the lease of a running card anew; false when it runs no more. */
  renew(id: string): Promise<boolean>
  /** What `finish` kept, as it was. */
  result(id: string): Promise<string | undefined>
  /** The caller has the outcome: the next equal call is a new card. True for the first who says so. */
  delivered(id: string): Promise<boolean>
  /** The card once it has another status than `from`, or as it was when the wait ended. Undefined when there is none. */
  wait(id: string, options: WaitOptions): Promise<Card | undefined>
  /** Whether anyone in this process waits for the card. */
  waiting(id: string): boolean
  /** Expires what nobody decided and gives up what outran its lease; how many cards moved. Runs by itself every second. */
  sweep(): Promise<number>
  /** Every move on any replica, and `listening`, before which some may have been missed. Returns how to stop. */
  onEvent(listener: (event: CardEvent) => void): () => void
  close(): Promise<void>
}

const MOST_OPEN = 100
const MOST_EVER = 10_000
const POLL_MS = 1_000
const ID = { id: cards.id }

/** Builds the room, starts its clock and listens; `close` stops both. */
export function createCards(parts: CardsParts): Cards {
  const { db, audit, seal, timeoutMs, leaseMs, log, newId, pollMs = POLL_MS } = parts
  const onMove = payingFor(parts.onMove)
  const { mostOpen = MOST_OPEN, mostEver = MOST_EVER } = parts
  const reader = createReader(db)
  const waiting = createWaiting({ read: reader.cards, statuses: reader.statuses, pollMs })
  const sweeping = createSweep({ db, audit, log, onMove })
  const deciding = createDeciding({ audit, seal, reader, newId, onMove })
  const listeners = new Set<(event: CardEvent) => void>()
  const listening = db.listen(heard).catch((error: unknown) => {
    log.warn({ err: error }, 'Cards do not hear the database’s notices, so waiting calls wake a second late.')
    return async () => {}
  })

  function heard(event: DbEvent): void {
    if (event.kind !== 'card' && event.kind !== 'listening') return
    waiting.heard(event)
    for (const listener of listeners) listener(event)
  }

  async function open(id: string): Promise<Opened | undefined> {
    const kept = await reader.sealed(id)
    if (kept?.row.status !== 'approved') return undefined
    const { argumentsText, extraText, metaText } = JSON.parse(await seal.open(kept.sealedArguments)) as ToPark
    return { card: toCard(kept.row), argumentsText, extraText, metaText }
  }

  async function claim(
    id: string,
    attempt: string,
    more: Partial<AuditEntry> = {},
    opened?: Opened,
  ): Promise<Claimed | undefined> {
    // Opened before the move: a card whose seal this process cannot open is not taken from one that can.
    const kept = opened?.card.id === id ? opened : await open(id)
    if (kept === undefined) return undefined
    const running = { status: 'running', startedAt: clock, leaseUntil: inMs(leaseMs) } as const
    const row = await audit.transaction(async (tx, record) => {
      const moved = await move(tx, id, ['approved'], running)
      if (moved !== undefined) record({ ...about(moved), ...more, kind: 'call.started', attempt })
      return moved
    })
    return row && { ...kept, card: toCard(row) }
  }

  async function end(
    id: string,
    from: 'approved' | 'running',
    { status, code, outcome, resultText }: Finish,
    word: NonNullable<AuditEntry['outcome']>,
  ): Promise<Card | undefined> {
    if (!isCardId(id)) return undefined
    const sealedResult = resultText === undefined ? null : await seal.seal(resultText)
    const ended = { status, endedAt: clock, outcome: shownOutcome({ ...outcome, code }), sealedResult }
    const row = await audit.transaction(async (tx, record) => {
      const moved = await move(tx, id, [from], ended)
      if (moved === undefined) return undefined
      const { cost, ...told } = about(moved)
      const came = status === 'failed' ? {} : { cost: (outcome?.cost as AuditEntry['cost']) ?? cost }
      record({ ...told, ...came, kind: 'card.ended', code, outcome: word })
      await onMove(tx, toCard(moved), 'finished')
      return moved
    })
    return row && toCard(row)
  }

  return {
    park: createPark({ db, reader, audit, seal, timeoutMs, newId, mostOpen, mostEver, onMove }),
    latest: reader.latest,
    list: reader.list,
    async get(id) {
      const row = await reader.row(id)
      return row && toCard(row)
    },
    ...deciding,
    standing: createStanding({ db, audit, onMove }),
    open,
    claim,
    refuse: (id, refusal) => end(id, 'approved', { ...refusal, status: 'failed' }, 'refused'),
    finish: (id, how) => end(id, 'running', how, how.status),

    leaseMs,
    async renew(id) {
      if (!isCardId(id)) return false
      const running = and(eq(cards.id, id), eq(cards.status, 'running'))
      return (
        (
          await db.orm
            .update(cards)
            .set({ leaseUntil: inMs(leaseMs) })
            .where(running)
            .returning(ID)
        ).length === 1
      )
    },
    async result(id) {
      const sealed = await reader.sealedResult(id)
      return sealed === undefined ? undefined : seal.open(sealed)
    },
    async delivered(id) {
      if (!isCardId(id)) return false
      const undelivered = and(eq(cards.id, id), inArray(cards.status, [...TOLD]), isNull(cards.deliveredAt))
      return (await db.orm.update(cards).set({ deliveredAt: clock }).where(undelivered).returning(ID)).length === 1
    },

    wait: async (id, options) => (isCardId(id) ? waiting.wait(id, options) : undefined),
    waiting: waiting.waiting,
    sweep: sweeping.sweep,
    onEvent(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      waiting.close()
      listeners.clear()
      const stop = await listening
      await Promise.all([sweeping.close(), stop()])
    },
  }
}
