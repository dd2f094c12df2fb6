/**
 * Cards: the state machine of calls that wait for a person. Every move is one conditional update by the database's clock
 * that returns the row, in one transaction with its audit row and its notice. No row back means that someone was first.
 * @module
 */
import { and, eq, inArray, isNull, lte, sql } from '../db/drizzle.ts'
import type { Audit, AuditEntry } from '../audit/audit.ts'
import type { Database } from '../db/connect.ts'
import type { DbEvent } from '../db/events.ts'
import type { Log } from '../db/log.ts'
import { cards } from '../db/schema.ts'
import type { Seal } from '../db/seal.ts'
import type { Code } from '../policy/words.ts'
import { about, clock, EXPIRED, inMs, move } from './moves.ts'
import { createPark, type Parked, type ToPark } from './park.ts'
import { type CardPage, type CardQuery, createReader, isCardId } from './read.ts'
import { type Card, type CardOutcome, type CardStatus, shownOutcome, shownText, TOLD, toCard } from './show.ts'
import { createSweep } from './sweep.ts'
import { createWaiting, type WaitOptions } from './wait.ts'

export type { Parked, ToPark } from './park.ts'
export type { CardPage, CardQuery } from './read.ts'
export type { Card, CardOutcome, CardStatus } from './show.ts'
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
  /** How often waited cards are looked at where no notice came. */
  readonly pollMs?: number
}

export interface Decider {
  /** Who decides, as the audit and the card name them. */
  readonly by: string
  readonly note?: string
}

/** A decision, or why there is none; the card then says who was first. */
export type Decided =
  | { readonly ok: true; readonly card: Card }
  | { readonly ok: false; readonly problem: 'not_found'; readonly card?: never }
  | { readonly ok: false; readonly problem: 'already_decided' | 'expired'; readonly card: Card }

export interface Claimed {
  readonly card: Card
  readonly argumentsText: string | undefined
  readonly extraText: string
  readonly metaText: string
}

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
  /** The open card of a call, else the newest ended one whose outcome nobody collected. */
  latest(sessionId: string, fingerprint: string): Promise<Card | undefined>
  get(id: string): Promise<Card | undefined>
  /** Newest first. Throws RangeError for a cursor that no list gave out. */
  list(query: CardQuery): Promise<CardPage>
  approve(id: string, decider: Decider): Promise<Decided>
  deny(id: string, decider: Decider): Promise<Decided>
  /** Takes back a call that did not start yet, approved or not. */
  withdraw(id: string, decider: Decider): Promise<Decided>
  /** approved → running, once. `more` goes into the started row. Undefined when another was first. */
  claim(id: string, attempt: string, more?: Partial<AuditEntry>): Promise<Claimed | undefined>
  /** approved → failed: decided again and refused, so it never ran. Undefined when another was first. */
  refuse(id: string, refusal: { readonly code: Code; readonly outcome?: CardOutcome }): Promise<Card | undefined>
  /** running → its end. Undefined when it is not running (its lease ended, for one). */
  finish(id: string, end: Finish): Promise<Card | undefined>
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
const POLL_MS = 1_000
const ID = { id: cards.id }

/** What the audit row of a person's move says. */
const SAYS = {
  approved: { code: 'ok' },
  denied: { code: 'approval_denied', outcome: 'refused' },
  withdrawn: { code: 'approval_denied', outcome: 'refused', reason: 'withdrawn' },
} as const satisfies Partial<Record<CardStatus, Partial<AuditEntry>>>

/** Builds the room, starts its clock and listens; `close` stops both. */
export function createCards(parts: CardsParts): Cards {
  const { db, audit, seal, timeoutMs, leaseMs, log, newId, mostOpen = MOST_OPEN, pollMs = POLL_MS } = parts
  const reader = createReader(db)
  const waiting = createWaiting({ read: reader.cards, statuses: reader.statuses, pollMs })
  const sweeping = createSweep({ db, audit, log })
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

  /** A person's move out of one of `from`, in time. Where it comes too late, the card expires now and not at the next sweep. */
  async function decide(id: string, from: CardStatus[], to: keyof typeof SAYS, decider: Decider): Promise<Decided> {
    if (!isCardId(id)) return { ok: false, problem: 'not_found' }
    const by = shownText(decider.by, 200)
    const note = decider.note === undefined ? null : shownText(decider.note)
    const ended = to === 'approved' ? {} : { endedAt: clock }
    const inTime = sql`(${cards.status} <> 'pending' or ${cards.expiresAt} > ${clock})`
    return audit.transaction(async (tx, record) => {
      const decision = { status: to, decidedAt: clock, decidedBy: by, note, ...ended }
      const row = await move(tx, id, from, decision, inTime)
      if (row !== undefined) {
        record({ ...about(row), kind: 'card.decided', by, ...(note === null ? {} : { reason: note }), ...SAYS[to] })
        return { ok: true, card: toCard(row) }
      }
      const late = await move(tx, id, ['pending'], { status: 'expired', endedAt: clock }, lte(cards.expiresAt, clock))
      if (late !== undefined) record({ ...about(late), ...EXPIRED })
      const [seen] = late === undefined ? await tx.select().from(cards).where(eq(cards.id, id)) : [late]
      if (seen === undefined) return { ok: false, problem: 'not_found' }
      return { ok: false, problem: seen.status === 'expired' ? 'expired' : 'already_decided', card: toCard(seen) }
    })
  }

  async function claim(id: string, attempt: string, more: Partial<AuditEntry> = {}): Promise<Claimed | undefined> {
    const kept = await reader.row(id)
    if (kept?.status !== 'approved') return undefined
    // Opened before the move: a card whose seal this process cannot open is not taken from one that can.
    const { argumentsText, extraText, metaText } = JSON.parse(await seal.open(kept.sealedArguments)) as ToPark
    const running = { status: 'running', startedAt: clock, leaseUntil: inMs(leaseMs) } as const
    const row = await audit.transaction(async (tx, record) => {
      const moved = await move(tx, id, ['approved'], running)
      if (moved !== undefined) record({ ...about(moved), ...more, kind: 'call.started', attempt })
      return moved
    })
    return row && { card: toCard(row), argumentsText, extraText, metaText }
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
      if (moved !== undefined) record({ ...about(moved), kind: 'card.ended', code, outcome: word })
      return moved
    })
    return row && toCard(row)
  }

  return {
    park: createPark({ reader, audit, seal, timeoutMs, newId, mostOpen }),
    latest: reader.latest,
    list: reader.list,
    async get(id) {
      const row = await reader.row(id)
      return row && toCard(row)
    },
    approve: (id, decider) => decide(id, ['pending'], 'approved', decider),
    deny: (id, decider) => decide(id, ['pending'], 'denied', decider),
    withdraw: (id, decider) => decide(id, ['pending', 'approved'], 'withdrawn', decider),
    claim,
    refuse: (id, refusal) => end(id, 'approved', { ...refusal, status: 'failed' }, 'refused'),
    finish: (id, how) => end(id, 'running', how, how.status),

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
      const sealed = (await reader.row(id))?.sealedResult
      return sealed ? seal.open(sealed) : undefined
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
