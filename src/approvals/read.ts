/**
 * Reading cards: one, the one a caller may join or collect, and pages of them.
 * @module
 */
import { and, desc, eq, inArray, isNull, or, type SQL, sql } from '../db/drizzle.ts'
import type { Database } from '../db/connect.ts'
import { cards } from '../db/schema.ts'
import { type Card, type CardRow, type CardStatus, OPEN, TOLD, toCard } from './show.ts'

export interface CardQuery {
  readonly status?: CardStatus
  readonly brand?: string
  readonly sessionId?: string
  readonly limit: number
  readonly cursor?: string
}

export interface CardPage {
  readonly items: readonly Card[]
  readonly nextCursor: string | undefined
}

export interface CardReader {
  row(id: string): Promise<CardRow | undefined>
  cards(ids: readonly string[]): Promise<Card[]>
  statuses(ids: readonly string[]): Promise<{ id: string; status: string }[]>
  open(sessionId: string, fingerprint: string): Promise<Card | undefined>
  latest(sessionId: string, fingerprint: string): Promise<Card | undefined>
  list(query: CardQuery): Promise<CardPage>
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const CURSOR = /^(\d{4,6}-[0-9: .+-]{10,40})\|([0-9a-f-]{36})$/i
const MOST_ITEMS = 200

/** Whether a text can be a card's id at all; the database refuses anything else with an error. */
export function isCardId(id: string): boolean {
  return UUID.test(id)
}

/** Builds the reader. It only reads; every change is in cards.ts. */
export function createReader(db: Database): CardReader {
  const sameCall = (sessionId: string, fingerprint: string) =>
    and(eq(cards.sessionId, sessionId), eq(cards.fingerprint, fingerprint))
  const first = (rows: CardRow[]): Card | undefined => (rows[0] === undefined ? undefined : toCard(rows[0]))

  return {
    async row(id) {
      if (!isCardId(id)) return undefined
      return (await db.orm.select().from(cards).where(eq(cards.id, id)))[0]
    },

    async cards(ids) {
      return (
        await db.orm
          .select()
          .from(cards)
          .where(inArray(cards.id, [...ids]))
      ).map(toCard)
    },

    statuses(ids) {
      return db.orm
        .select({ id: cards.id, status: cards.status })
        .from(cards)
        .where(inArray(cards.id, [...ids]))
    },

    async open(sessionId, fingerprint) {
      const open = and(sameCall(sessionId, fingerprint), inArray(cards.status, [...OPEN]))
      return first(await db.orm.select().from(cards).where(open))
    },

    async latest(sessionId, fingerprint) {
      const uncollected = and(inArray(cards.status, [...TOLD]), isNull(cards.deliveredAt))
      const found = await db.orm
        .select()
        .from(cards)
        .where(and(sameCall(sessionId, fingerprint), or(inArray(cards.status, [...OPEN]), uncollected)))
        .orderBy(sql`${cards.endedAt} is null desc`, desc(cards.endedAt), desc(cards.id))
        .limit(1)
      return first(found)
    },

    async list({ status, brand, sessionId, limit, cursor }) {
      const most = limit >= 1 ? Math.min(Math.trunc(limit), MOST_ITEMS) : 1
      const found = await db.orm
        .select({ row: cards, at: sql<string>`${cards.createdAt}::text` })
        .from(cards)
        .where(
          and(
            status === undefined ? undefined : eq(cards.status, status),
            brand === undefined ? undefined : eq(cards.brand, brand),
            sessionId === undefined ? undefined : eq(cards.sessionId, sessionId),
            cursor === undefined ? undefined : after(cursor),
          ),
        )
        .orderBy(desc(cards.createdAt), desc(cards.id))
        .limit(most + 1)
      const page = found.slice(0, most)
      const last = found.length > most ? page.at(-1) : undefined
      return {
        items: page.map(({ row }) => toCard(row)),
        nextCursor: last && Buffer.from(`${last.at}|${last.row.id}`).toString('base64url'),
      }
    },
  }
}

/** What stands after a cursor, newest first. The time goes as text, since a Date would drop its microseconds. */
function after(cursor: string): SQL {
  const [, at, id] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (at === undefined || id === undefined || !isCardId(id)) {
    throw new RangeError(
      'This cursor is not one that a list of approvals gave out. Leave it away to start at the newest.',
    )
  }
  return sql`(${cards.createdAt}, ${cards.id}) < (${at}::timestamptz, ${id}::uuid)`
}
