/**
 * Pages of rows by when they were made, whichever comes first.
 * @module
 */
import { type AnyPgColumn, asc, desc, type SQL, sql } from '../db/drizzle.ts'

export type Order = 'newest' | 'oldest'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const CURSOR = /^(\d{4,6}-[0-9: .+-]{10,40})\|([0-9a-f-]{36})$/i
const MOST_ITEMS = 200

/** Whether a text can be the id of a row at all; the database refuses anything else with an error. */
export const isId = (id: string): boolean => UUID.test(id)

/** A limit as it is taken: 1 to 200. */
export const taken = (limit: number): number => (limit >= 1 ? Math.min(Math.trunc(limit), MOST_ITEMS) : 1)

/** The columns that order a table. */
export interface Place {
  readonly createdAt: AnyPgColumn
  readonly id: AnyPgColumn
}

/** The time of a row as text, for its cursor: a Date would drop its microseconds. */
export const timeOf = ({ createdAt }: Place): SQL<string> => sql<string>`${createdAt}::text`

export function inOrder({ createdAt, id }: Place, order: Order): [SQL, SQL] {
  const by = order === 'oldest' ? asc : desc
  return [by(createdAt), by(id)]
}

/** What stands after a cursor in that order. Throws RangeError for one that no list gave out; `list` names it. */
export function after({ createdAt, id }: Place, cursor: string, order: Order, list: string): SQL {
  const [, at, last] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (at === undefined || last === undefined || !isId(last)) {
    throw new RangeError(
      `This cursor is not one that a list of ${list} gave out. Leave it away to start at the ${order}.`,
    )
  }
  const than = order === 'oldest' ? sql`>` : sql`<`
  return sql`(${createdAt}, ${id}) ${than} (${at}::timestamptz, ${last}::uuid)`
}

/** One page of rows read one beyond it, and the cursor of the next. */
export function pageOf<T extends { readonly at: string; readonly row: { readonly id: string } }>(
  found: readonly T[],
  most: number,
): { readonly rows: readonly T['row'][]; readonly nextCursor: string | undefined } {
  const page = found.slice(0, most)
  const last = found.length > most ? page.at(-1) : undefined
  return {
    rows: page.map(({ row }) => row),
    nextCursor: last && Buffer.from(`${last.at}|${last.row.id}`).toString('base64url'),
  }
}
