/**
 * Reading cards: one, the one a caller may join or collect, and pages of them.
 * @module
 */
import { and, desc, eq, inArray, isNull, or, type SQL, sql } from '../db/drizzle.ts'
import type { Database } from '../db/connect.ts'
import { cards } from '../db/schema.ts'
import { after, inOrder, isId, type Order, pageOf, taken, timeOf } from './paging.ts'
import { type Card, type CardRow, type CardStatus, OPEN, SHOWN, TOLD, toCard } from './show.ts'

export interface CardQuery {
  readonly status?: CardStatus
  /** Any of these. */
  readonly statuses?: readonly CardStatus[]
  readonly brand?: string
  readonly sessionId?: string
  readonly role?: string
  /** Canonical name. */
  readonly tool?: string
  /** `newest` first when left away. */
  readonly order?: Order
  readonly limit: number
  /** Of the page before, in the same order. */
  readonly cursor?: string
}

export interface CardPage {
  readonly items: readonly Card[]
  readonly nextCursor: string | undefined
}

/** What is kept sealed of a card, beside its row. */
export interface SealedRow {
  readonly row: CardRow
  readonly sealedArguments: string
}

export interface CardReader {
  row(id: string): Promise<CardRow | undefined>
  sealed(id: string): Promise<SealedRow | undefined>
  sealedResult(id: string): Promise<string | undefined>
  cards(ids: readonly string[]): Promise<Card[]>
  statuses(ids: readonly string[]): Promise<{ id: string; status: string }[]>
  open(sessionId: string, binding: string): Promise<Card | undefined>
  latest(sessionId: string, fingerprint: string, binding?: string): Promise<Card | undefined>
  list(query: CardQuery): Promise<CardPage>
}

/** Whether a text can be a card's id at all; the database refuses anything else with an error. */
export const isCardId = isId

/** Builds the reader. It only reads; every change is in cards.ts. */
export function createReader(db: Database): CardReader {
  const first = (rows: CardRow[]): Card | undefined => (rows[0] === undefined ? undefined : toCard(rows[0]))
  const isOpen = inArray(cards.status, [...OPEN])

  return {
    async row(id) {
      if (!isCardId(id)) return undefined
      return (await db.orm.select(SHOWN).from(cards).where(eq(cards.id, id)))[0]
    },

    async sealed(id) {
      if (!isCardId(id)) return undefined
      const what = { row: SHOWN, sealedArguments: cards.sealedArguments }
      return (await db.orm.select(what).from(cards).where(eq(cards.id, id)))[0]
    },

    async sealedResult(id) {
      if (!isCardId(id)) return undefined
      const what = { sealed: cards.sealedResult }
      return (await db.orm.select(what).from(cards).where(eq(cards.id, id)))[0]?.sealed ?? undefined
    },

    async cards(ids) {
      const found = db.orm
        .select(SHOWN)
        .from(cards)
        .where(inArray(cards.id, [...ids]))
      return (await found).map(toCard)
    },

    statuses(ids) {
      return db.orm
        .select({ id: cards.id, status: cards.status })
        .from(cards)
        .where(inArray(cards.id, [...ids]))
    },

    async open(sessionId, binding) {
      const same = and(eq(cards.sessionId, sessionId), eq(cards.binding, binding), isOpen)
      return first(await db.orm.select(SHOWN).from(cards).where(same))
    },

    async latest(sessionId, fingerprint, binding) {
      const joinable = binding === undefined ? isOpen : and(isOpen, eq(cards.binding, binding))
      const uncollected = and(inArray(cards.status, [...TOLD]), isNull(cards.deliveredAt))
      const same = and(eq(cards.sessionId, sessionId), eq(cards.fingerprint, fingerprint))
      const found = await db.orm
        .select(SHOWN)
        .from(cards)
        .where(and(same, or(joinable, uncollected)))
        .orderBy(sql`${cards.endedAt} is null desc`, desc(cards.endedAt), desc(cards.id))
        .limit(1)
      return first(found)
    },

    async list(query) {
      const { limit, cursor, order = 'newest' } = query
      const most = taken(limit)
      const found = await db.orm
        .select({ row: SHOWN, at: timeOf(cards) })
        .from(cards)
        .where(and(...filters(query), cursor === undefined ? undefined : after(cards, cursor, order, 'approvals')))
        .orderBy(...inOrder(cards, order))
        .limit(most + 1)
      const { rows, nextCursor } = pageOf(found, most)
      return { items: rows.map(toCard), nextCursor }
    },
  }
}

function filters({ status, statuses, brand, sessionId, role, tool }: CardQuery): (SQL | undefined)[] {
  return [
    status === undefined ? undefined : eq(cards.status, status),
    statuses === undefined ? undefined : inArray(cards.status, [...statuses]),
    brand === undefined ? undefined : eq(cards.brand, brand),
    sessionId === undefined ? undefined : eq(cards.sessionId, sessionId),
    role === undefined ? undefined : eq(cards.role, role),
    tool === undefined ? undefined : eq(cards.tool, tool),
  ]
}
