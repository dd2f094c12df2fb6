/**
 * The statements on the table `audit`, which this room alone writes. There is no update and no delete among them.
 * @module
 */
import { sql } from '../db/drizzle.ts'
import { type Orm, rows as rowsOf } from '../db/connect.ts'
import { COLUMNS, type Head, type Row } from './entry.ts'

/** Inserts all rows in one statement, however many. */
export async function insertRows(orm: Orm, writer: string, rows: readonly Row[]): Promise<void> {
  const list = (of: (row: Row) => string | null) => sql`${sql.param(rows.map(of))}::text[]`
  const copies = COLUMNS.map((column) => list(({ columns }) => columns[column]))
  await orm.execute(sql`
    insert into audit (writer, seq, at, kind, attempt, brand, session_id, tool, code, card, entry, prev, hash)
    select ${writer}::uuid, seq::bigint, at::timestamptz, kind, attempt, brand, session_id, tool, code, card, entry, prev, hash
    from unnest(${list(({ seq }) => String(seq))}, ${list(({ at }) => at)}, ${sql.join(copies, sql`, `)},
      ${list(({ entry }) => entry)}, ${list(({ prev }) => prev)}, ${list(({ hash }) => hash)})
      as new (seq, at, kind, attempt, brand, session_id, tool, code, card, entry, prev, hash)`)
}

/** The last row of a writer's chain; undefined when it has none. */
export async function readHead(orm: Orm, writer: string): Promise<Head | undefined> {
  const found = await orm.execute(
    sql`select seq::float8 as seq, hash from audit where writer = ${writer} order by audit.seq desc limit 1`,
  )
  return rowsOf<Head>(found)[0]
}
