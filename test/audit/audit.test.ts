import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Audit, type AuditEntry, AuditUnavailable, createAudit } from '../../src/audit/audit.ts'
import { readAudit, UnknownCursor } from '../../src/audit/read.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { rows } from '../../src/db/connect.ts'
import { signingKeys } from '../../src/db/schema.ts'
import { freshDatabase, quiet, type TestDatabase } from '../support/database.ts'

let world: TestDatabase
let audit: Audit
beforeEach(async () => {
  world = await freshDatabase()
  audit = createAudit({ db: world.db, log: quiet })
})
afterEach(async () => {
  await audit.close()
  await world.close()
})

const ended = (attempt: string): AuditEntry => ({
  kind: 'call.ended',
  attempt,
  brand: 'acme',
  sessionId: 's1',
  tool: 'mcp__files__read',
  code: 'ok',
  outcome: 'done',
  rules: ['role', 'ceiling'],
  durationMs: 12,
})
const count = async () =>
  rows<{ n: number }>(await world.db.orm.execute(sql`select count(*)::int as n from audit`))[0]!.n
const sound = async (writers: number, expected: number) =>
  expect(await verifyAudit(world.db)).toEqual({ writers, rows: expected, problems: [] })

test('recorded entries are written together within moments, in order', async () => {
  for (let i = 0; i < 2500; i++) audit.record(ended(`a${i}`))
  await vi.waitFor(async () => expect(await count()).toBe(2500), { timeout: 10_000 })
  const { items } = await readAudit(world.db, { limit: 3 })
  expect(items.map(({ attempt, seq }) => [attempt, seq])).toContainEqual(['a2499', 2500])
  await sound(1, 2500)
})

test('a committed entry, and every one recorded before it, is in the table when commit resolves', async () => {
  audit.record(ended('before'))
  await audit.commit({ ...ended('started'), kind: 'call.started' })
  expect(await count()).toBe(2)
  await Promise.all(Array.from({ length: 50 }, (_, i) => audit.commit(ended(`c${i}`))))
  expect(await count()).toBe(52)
  await sound(1, 52)
})

test('an entry comes back as it was recorded, and fields nobody declared are left out', async () => {
  const whole: AuditEntry = {
    ...ended('a1'),
    subject: 'user-1',
    role: 'coworker',
    connector: 'files',
    view: 'v',
    fingerprint: 'f',
    card: 'c',
    by: 'ann',
    reason: 'because\nof "this" \u001b[31m',
    bytes: 5,
    cost: { unit: 'credits', amount: '0.10' },
  }
  await audit.commit({ ...whole, token: 'SECRET' } as AuditEntry)
  const { items, nextCursor } = await readAudit(world.db, { limit: 10 })
  expect(items).toEqual([{ ...whole, writer: audit.writer, seq: 1, at: expect.stringMatching(/^\d{4}-.*Z$/) }])
  expect(nextCursor).toBeUndefined()
})

test('text that a database cannot hold, or could not index, does not stop the record', async () => {
  const odd = ['nul \0', 'half \ud800', 'x'.repeat(100_000), '', '\u{1f511}'.repeat(300)]
  for (const text of odd) audit.record({ ...ended(text), tool: text, brand: text, sessionId: text })
  await audit.commit(ended('last'))
  await sound(1, odd.length + 1)
  const { items } = await readAudit(world.db, { limit: 10 })
  expect(items.map(({ tool }) => tool)).toContain('nul \0')
})

test('a change and its rows are kept together or not at all, and a rollback leaves no gap', async () => {
  const key = { kid: 'k', publicJwk: '{}', sealedPrivate: 's', state: 'active' as const }
  await audit.commit(ended('a'))
  const broken = audit.transaction(async (tx, record) => {
    await tx.insert(signingKeys).values(key)
    record({ kind: 'keys.rotated', by: 'nobody' })
    throw new Error('changed my mind')
  })
  await expect(broken).rejects.toThrow('changed my mind')
  const result = await audit.transaction(async (tx, record) => {
    await tx.insert(signingKeys).values(key)
    record({ kind: 'keys.rotated', by: 'ann' })
    record({ kind: 'keys.rotated', by: 'bob' })
    return 7
  })
  expect(result).toBe(7)
  await audit.commit(ended('b'))
  expect(await world.db.orm.select().from(signingKeys)).toHaveLength(1)
  const { items } = await readAudit(world.db, { kind: 'keys.rotated', limit: 10 })
  expect(items.map(({ by }) => by)).toEqual(['bob', 'ann'])
  await sound(1, 4)
})

test('batches, commits and transactions of two writers at once leave two whole chains', async () => {
  const other = createAudit({ db: world.db, log: quiet, batchMs: 1 })
  const work = [audit, other].flatMap((each, w) =>
    Array.from({ length: 40 }, async (_, i) => {
      each.record(ended(`r${w}.${i}`))
      await each.commit(ended(`c${w}.${i}`))
      await each.transaction(async (_tx, record) => record(ended(`t${w}.${i}`)))
    }),
  )
  await Promise.all(work)
  await other.close()
  await audit.close()
  await sound(2, 240)
})

test('a full queue refuses at once and says so', async () => {
  const narrow = createAudit({ db: world.db, log: quiet, queueLimit: 3 })
  for (let i = 0; i < 3; i++) narrow.record(ended(`a${i}`))
  expect(() => narrow.record(ended('one too many'))).toThrow(AuditUnavailable)
  await expect(narrow.commit(ended('one too many'))).rejects.toThrow(AuditUnavailable)
  await narrow.close()
  expect(await count()).toBe(3)
})

test('closing writes what waits, and nothing is taken after', async () => {
  audit.record(ended('a'))
  await audit.close()
  expect(await count()).toBe(1)
  expect(() => audit.record(ended('b'))).toThrow(AuditUnavailable)
  expect(audit.healthy()).toBe(false)
})

test('a record that cannot be written keeps its entries, becomes unhealthy, and heals without a gap or a double', async () => {
  await world.db.orm.execute(sql`alter table audit rename to audit_away`)
  audit.record(ended('kept'))
  await expect(audit.commit(ended('too late'))).rejects.toThrow('not written within 2000 ms')
  await vi.waitFor(() => expect(audit.healthy()).toBe(false), { timeout: 10_000 })
  audit.record(ended('meanwhile'))
  await world.db.orm.execute(sql`alter table audit_away rename to audit`)
  await vi.waitFor(() => expect(audit.healthy()).toBe(true), { timeout: 10_000 })
  await audit.commit(ended('after'))
  const { items } = await readAudit(world.db, { limit: 10 })
  expect(items.filter(({ attempt }) => attempt === 'meanwhile')).toHaveLength(1)
  expect(items.filter(({ attempt }) => attempt === 'kept')).toHaveLength(1)
  await sound(1, items.length)
})

test('a row somebody else put at the end of a chain is not built upon', async () => {
  await audit.commit(ended('a'))
  await world.db.orm.execute(sql`
    insert into audit select writer, 2, at, kind, attempt, brand, session_id, tool, code, card, entry, prev, hash from audit`)
  await audit.commit(ended('b'))
  const { problems, writers } = await verifyAudit(world.db)
  expect(writers).toBe(2)
  expect(problems.every(({ seq, writer }) => seq === 2 && writer !== audit.writer)).toBe(true)
  expect(problems.length).toBeGreaterThan(0)
})

test('pages go through the whole record once, newest first, by every filter', async () => {
  for (let i = 0; i < 25; i++) audit.record({ ...ended(`a${i}`), brand: i % 2 === 0 ? 'even' : 'odd' })
  await audit.commit(ended('last'))
  const seen: number[] = []
  let cursor: string | undefined
  do {
    const page = await readAudit(world.db, { brand: 'even', limit: 4, cursor })
    seen.push(...page.items.map(({ seq }) => seq))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  expect(seen).toEqual([25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1])
  for (const filter of [{ sessionId: 's1' }, { tool: 'mcp__files__read' }, { kind: 'call.ended' }]) {
    expect((await readAudit(world.db, { ...filter, limit: 500 })).items).toHaveLength(26)
  }
  expect((await readAudit(world.db, { attempt: 'a7', limit: 500 })).items).toHaveLength(1)
  await expect(readAudit(world.db, { limit: 1, cursor: 'abc' })).rejects.toThrow(UnknownCursor)
})
