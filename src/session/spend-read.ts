/**
 * Reading the spend ledger: its rows, and their sums by connector, session or day.
 * @module
 */
import { type Database, rows } from '../db/connect.ts'
import { and, eq, type SQL, sql } from '../db/drizzle.ts'
import { type SpendState, spend } from '../db/schema.ts'

/** A row of the ledger; decimals as text. */
export interface SpendRow {
  readonly id: string
  readonly card: string | null
  readonly attempt: string | null
  readonly brand: string
  readonly sessionId: string
  readonly role: string
  readonly tool: string
  readonly connector: string
  readonly unit: string
  readonly reserved: string
  readonly toppedUp: string
  readonly settled: string | null
  readonly state: SpendState
  readonly createdAt: Date
  readonly endedAt: Date | null
  /** In UTC, by the database's clock when it was reserved: each row is of exactly one day. */
  readonly day: string
}

export interface SpendFilter {
  readonly brand?: string | undefined
  readonly connector?: string | undefined
  readonly session?: string | undefined
  /** YYYY-MM-DD. */
  readonly day?: string | undefined
  readonly state?: SpendState | undefined
}

const DAY = sql<string>`to_char(${spend.createdAt} at time zone 'utc', 'YYYY-MM-DD')`

function filtered({ brand, connector, session, day, state }: SpendFilter): (SQL | undefined)[] {
  const from = sql`(${day}::date)::timestamp at time zone 'utc'`
  const until = sql`(${day}::date + 1)::timestamp at time zone 'utc'`
  return [
    brand === undefined ? undefined : eq(spend.brand, brand),
    connector === undefined ? undefined : eq(spend.connector, connector),
    session === undefined ? undefined : eq(spend.sessionId, session),
    day === undefined ? undefined : sql`${spend.createdAt} >= ${from} and ${spend.createdAt} < ${until}`,
    state === undefined ? undefined : eq(spend.state, state),
  ]
}

/** Newest first. `cursor` is the id of the last row of the page before; an unknown one gives an empty page. */
export async function listSpend(
  db: Database,
  { limit, cursor, ...filter }: SpendFilter & { readonly limit: number; readonly cursor?: string | undefined },
): Promise<{ readonly items: readonly SpendRow[]; readonly nextCursor: string | undefined }> {
  const wanted = filtered(filter)
  if (cursor !== undefined) {
    wanted.push(
      sql`(${spend.createdAt}, ${spend.id}) < (select created_at, id from spend where id::text = ${cursor.toLowerCase()})`,
    )
  }
  const found = await db.orm
    .select({ ...columns, day: DAY })
    .from(spend)
    .where(and(...wanted))
    .orderBy(sql`${spend.createdAt} desc, ${spend.id} desc`)
    .limit(limit + 1)
  const items = found.slice(0, limit)
  return { items, nextCursor: found.length > limit ? items.at(-1)?.id : undefined }
}

const columns = {
  id: spend.id,
  card: spend.card,
  attempt: spend.attempt,
  brand: spend.brand,
  sessionId: spend.sessionId,
  role: spend.role,
  tool: spend.tool,
  connector: spend.connector,
  unit: spend.unit,
  reserved: sql<string>`trim_scale(${spend.reserved})::text`,
  toppedUp: sql<string>`trim_scale(${spend.toppedUp})::text`,
  settled: sql<string | null>`trim_scale(${spend.settled})::text`,
  state: spend.state,
  createdAt: spend.createdAt,
  endedAt: spend.endedAt,
}

export const TOTALS_BY = ['connector', 'session', 'day'] as const
export type TotalsBy = (typeof TOTALS_BY)[number]

/** The sums of a group, in one unit. What is open or unknown counts at its whole reservation. */
export interface SpendTotal {
  readonly key: string
  readonly brand: string
  readonly unit: string
  readonly calls: number
  readonly settled: string
  readonly open: string
  readonly unknown: string
}

const KEYS = { connector: sql`connector`, session: sql`session_id`, day: DAY } as const

/** Sums per connector, session or day, and brand and unit: days newest first, the others by their latest call. */
export async function sumSpend(
  db: Database,
  by: TotalsBy,
  { limit, ...filter }: SpendFilter & { readonly limit: number },
): Promise<readonly SpendTotal[]> {
  const wanted = and(...filtered(filter))
  return rows<SpendTotal>(
    await db.orm.execute(sql`
      select ${KEYS[by]} as key, brand, unit, count(*) filter (where state <> 'released')::int as calls,
        trim_scale(coalesce(sum(settled), 0))::text as settled,
        trim_scale(coalesce(sum(reserved) filter (where state = 'open'), 0))::text as open,
        trim_scale(coalesce(sum(reserved) filter (where state = 'unknown'), 0))::text as unknown
      from ${spend} ${wanted === undefined ? sql`` : sql`where ${wanted}`}
      group by 1, 2, 3 order by max(created_at) desc, 1, 2, 3 limit ${limit}`),
  )
}
