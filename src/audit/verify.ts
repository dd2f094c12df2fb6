/**
 * Checks every row of the record against its chain.
 * What it cannot see: rows missing at the very end of a chain whose process has ended, and a record that somebody with
 * the right to write the table has made anew from start to end.
 * @module
 */
import { sql } from '../db/drizzle.ts'
import { type Database, rows as rowsOf } from '../db/connect.ts'
import { COLUMNS, type Columns, columnsOf, GENESIS, type Head, hashOf } from './entry.ts'

export interface AuditProblem {
  readonly writer: string
  readonly seq: number
  /** A sentence. */
  readonly problem: string
}

export interface AuditReport {
  readonly writers: number
  readonly rows: number
  /** The first thousand. */
  readonly problems: readonly AuditProblem[]
}

interface Stored extends Head, Columns {
  readonly writer: string
  readonly at: string
  readonly entry: string
  readonly prev: string
}

const PAGE_ROWS = 1000
const MAX_PROBLEMS = 1000
const NIL = '00000000-0000-0000-0000-000000000000'

/** Reads the whole record, a page at a time. */
export async function verifyAudit(db: Database): Promise<AuditReport> {
  const problems: AuditProblem[] = []
  let writers = 0
  let rows = 0
  let last: Head & { writer: string } = { writer: NIL, ...GENESIS }
  for (;;) {
    const page = await readPage(db, last.writer, last.seq)
    for (const row of page) {
      if (row.writer !== last.writer) {
        writers++
        last = { writer: row.writer, ...GENESIS }
      }
      for (const problem of problemsOf(row, last)) {
        if (problems.length < MAX_PROBLEMS) problems.push({ writer: row.writer, seq: row.seq, problem })
      }
      last = row
    }
    rows += page.length
    if (page.length < PAGE_ROWS) return { writers, rows, problems }
  }
}

async function readPage(db: Database, writer: string, seq: number): Promise<Stored[]> {
  const found = await db.orm.execute(sql`
    select writer::text as writer, seq::float8 as seq, entry, prev, hash,
      to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
      kind, attempt, brand, session_id as "sessionId", tool, code, card
    from audit where (audit.writer, audit.seq) > (${writer}::uuid, ${String(seq)}::bigint)
    order by audit.writer, audit.seq limit ${PAGE_ROWS}`)
  return rowsOf<Stored>(found)
}

/** What is wrong with a row that should follow `before`. */
function problemsOf(row: Stored, before: Head): string[] {
  const problems: string[] = []
  if (row.seq !== before.seq + 1) problems.push(`Rows are missing: row ${before.seq + 1} should come here.`)
  if (row.prev !== before.hash)
    problems.push('It does not follow the row before it: one was edited, removed, inserted or moved.')
  if (hashOf(row.prev, row.entry) !== row.hash) problems.push('Its hash is not that of its entry: it was edited.')
  for (const column of differing(row))
    problems.push(`Its column ${column} differs from its entry: one of them was edited.`)
  return problems
}

function differing(row: Stored): string[] {
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(row.entry) ?? {}
  } catch {
    return ['entry']
  }
  const copies = columnsOf(entry)
  const columns: string[] = COLUMNS.filter((column) => copies[column] !== row[column])
  if (entry.writer !== row.writer) columns.push('writer')
  if (entry.seq !== row.seq) columns.push('seq')
  // Recorded to the millisecond, so the microseconds of the column are zeros.
  if (typeof entry.at !== 'string' || entry.at.replace('Z', '000Z') !== row.at) columns.push('at')
  return columns
}
