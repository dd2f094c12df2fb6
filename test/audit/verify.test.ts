import { type SQL, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { freshDatabase, quiet, type TestDatabase } from '../support/database.ts'

/** Twelve rows of one writer and twelve of another, kept aside so that each tampering starts from the same record. */
const ROWS = 12
let world: TestDatabase
const writers: string[] = []

beforeAll(async () => {
  world = await freshDatabase()
  for (const brand of ['acme', 'beta']) {
    const audit = createAudit({ db: world.db, log: quiet })
    writers.push(audit.writer)
    for (let i = 0; i < ROWS; i++) {
      audit.record({
        kind: 'call.ended',
        attempt: `${brand}${i}`,
        brand,
        sessionId: 's',
        tool: 't',
        code: 'ok',
        card: 'c',
      })
    }
    await audit.close()
  }
  await world.db.orm.execute(sql`create table audit_copy as select * from audit`)
})
afterAll(async () => {
  await world.db.orm.execute(sql`drop table audit_copy`)
  await world.close()
})

/** What somebody with the table in their hands might do to row `seq` (never the first or the last) of a writer. */
const TAMPERINGS = {
  'edit of the entry': (w: string, seq: number) =>
    sql`update audit set entry = replace(entry, '"code":"ok"', '"code":"ko"') where writer = ${w} and seq = ${String(seq)}::bigint`,
  'edit of the entry with its hash made anew': (w: string, seq: number) =>
    sql`update audit set entry = entry || ' ', hash = encode(sha256(convert_to(prev || entry || ' ', 'UTF8')), 'hex')
      where writer = ${w} and seq = ${String(seq)}::bigint`,
  'edit of a hash': (w: string, seq: number) =>
    sql`update audit set hash = md5(hash) || md5(hash) where writer = ${w} and seq = ${String(seq)}::bigint`,
  'edit of the time, by a microsecond': (w: string, seq: number) =>
    sql`update audit set at = at + interval '1 microsecond' where writer = ${w} and seq = ${String(seq)}::bigint`,
  ...Object.fromEntries(
    ['kind', 'attempt', 'brand', 'session_id', 'tool', 'code', 'card'].flatMap((column) => [
      [
        `edit of the column ${column}`,
        (w: string, seq: number) =>
          sql`update audit set ${sql.raw(column)} = 'other' where writer = ${w} and seq = ${String(seq)}::bigint`,
      ],
    ]),
  ),
  'emptying of a column': (w: string, seq: number) =>
    sql`update audit set brand = null where writer = ${w} and seq = ${String(seq)}::bigint`,
  'deletion in the middle': (w: string, seq: number) =>
    sql`delete from audit where writer = ${w} and seq = ${String(seq)}::bigint`,
  'deletion with the rest moved up': (w: string, seq: number) => [
    sql`delete from audit where writer = ${w} and seq = ${String(seq)}::bigint`,
    sql`update audit set seq = seq + 999 where writer = ${w} and seq > ${String(seq)}::bigint`,
    sql`update audit set seq = seq - 1000 where writer = ${w} and seq > 999`,
  ],
  'two rows in each other’s place': (w: string, seq: number) =>
    sql`update audit a set at = b.at, kind = b.kind, attempt = b.attempt, entry = b.entry, prev = b.prev, hash = b.hash
      from audit_copy b where a.writer = ${w} and b.writer = ${w} and a.seq in (${String(seq)}::bigint, ${String(seq + 1)}::bigint)
      and b.seq = ${String(2 * seq + 1)}::bigint - a.seq`,
  'a row of another writer put in': (w: string, seq: number) =>
    sql`update audit a set at = b.at, kind = b.kind, attempt = b.attempt, brand = b.brand, entry = b.entry, prev = b.prev, hash = b.hash
      from audit_copy b where a.writer = ${w} and a.seq = ${String(seq)}::bigint and b.writer <> ${w} and b.seq = a.seq`,
  'a copy put in at the end': (w: string, seq: number) =>
    sql`insert into audit select writer, ${ROWS + 1}, at, kind, attempt, brand, session_id, tool, code, card, entry, prev, hash
      from audit_copy where writer = ${w} and seq = ${String(seq)}::bigint`,
} satisfies Record<string, (writer: string, seq: number) => SQL | SQL[]>

async function tamper(name: string, writer: string, seq: number): Promise<void> {
  const statements: Record<string, (writer: string, seq: number) => SQL | SQL[]> = TAMPERINGS
  for (const statement of [statements[name]!(writer, seq)].flat()) await world.db.orm.execute(statement)
}

async function restore(): Promise<void> {
  await world.db.orm.execute(sql`truncate audit`)
  await world.db.orm.execute(sql`insert into audit select * from audit_copy`)
}

test('an untouched record has no problems', async () => {
  await restore()
  expect(await verifyAudit(world.db)).toEqual({ writers: 2, rows: 2 * ROWS, problems: [] })
})

test.for(Object.keys(TAMPERINGS))('%s shows', async (name) => {
  await restore()
  await tamper(name, writers[0]!, 7)
  const { problems } = await verifyAudit(world.db)
  expect(problems.length).toBeGreaterThan(0)
  expect(problems.every(({ writer }) => writer === writers[0])).toBe(true)
})

test('a hundred random tamperings all show', async () => {
  const tampering = fc.tuple(
    fc.constantFrom(...Object.keys(TAMPERINGS)),
    fc.constantFrom(0, 1),
    fc.integer({ min: 2, max: ROWS - 1 }),
  )
  await fc.assert(
    fc.asyncProperty(tampering, async ([name, writer, seq]) => {
      await restore()
      await tamper(name, writers[writer]!, seq)
      expect((await verifyAudit(world.db)).problems.length).toBeGreaterThan(0)
    }),
    { numRuns: 100 },
  )
}, 60_000)
