import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { readAudit } from '../../src/audit/read.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { connect, type Database } from '../../src/db/connect.ts'
import { migrate } from '../../src/db/migrate.ts'
import { freshPostgres, quiet } from '../support/database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'

test('two replicas writing five thousand records each leave two whole chains, in few statements', async () => {
  const { db, url, close } = await freshPostgres()
  const second = await connect({ url, folder: '', log: quiet })
  try {
    const writing = [db, second].map(async (each, w) => {
      const audit = createAudit({ db: each, log: quiet, batchMs: 5 })
      for (let i = 0; i < 5000; i++) {
        audit.record({ kind: 'call.ended', attempt: `${w}.${i}`, brand: 'acme', code: 'ok', outcome: 'done' })
        if (i % 100 === 0) await audit.commit({ kind: 'call.started', attempt: `${w}.${i}` })
        if (i % 250 === 0) await audit.transaction(async (_tx, record) => record({ kind: 'card.created', card: 'c' }))
      }
      await audit.close()
    })
    await Promise.all(writing)
    expect(await verifyAudit(db)).toEqual({ writers: 2, rows: 2 * (5000 + 50 + 20), problems: [] })
  } finally {
    await second.close()
    await close()
  }
})

/** What follows stops and kills a server of its own. */
let server: PostgresServer
let db: Database
beforeAll(async () => {
  server = await startPostgres()
  db = await connect({ url: `${server.url}/postgres`, folder: '', log: quiet, limitMs: 1000 })
  await migrate(db)
})
afterAll(async () => {
  await db.close()
  await server.stop()
})

test('a write that went unanswered is neither lost nor doubled when the database goes on', async () => {
  const audit = createAudit({ db, log: quiet, batchMs: 1 })
  await audit.commit({ kind: 'call.started', attempt: 'first' })
  for (let round = 0; round < 3; round++) {
    await server.pause()
    audit.record({ kind: 'call.ended', attempt: `asleep${round}` })
    const change = audit.transaction(async (tx, record) => {
      record({ kind: 'card.created', card: `c${round}` })
      await tx.execute(sql`select 1`)
    })
    await expect(change).rejects.toThrow('did not answer')
    await server.resume()
    await vi.waitFor(() => audit.commit({ kind: 'call.ended', attempt: `awake${round}` }), { timeout: 10_000 })
  }
  await audit.close()
  const { items } = await readAudit(db, { limit: 500 })
  for (let round = 0; round < 3; round++) {
    expect(items.filter(({ attempt }) => attempt === `asleep${round}`)).toHaveLength(1)
  }
  expect((await verifyAudit(db)).problems).toEqual([])
}, 60_000)

test('a transaction whose commit went unanswered has both its change and its row, or neither', async () => {
  await db.orm.execute(sql`create table if not exists marks (mark text)`)
  const audit = createAudit({ db, log: quiet, batchMs: 1 })
  const marks: string[] = []
  for (let round = 0; round < 4; round++) {
    const mark = `mark${round}`
    marks.push(mark)
    const timer = setTimeout(() => void server.pause(), round * 3)
    await audit
      .transaction(async (tx, record) => {
        await tx.execute(sql`insert into marks values (${mark})`)
        record({ kind: 'card.decided', card: mark })
        if (round % 2 === 0) await server.pause()
      })
      .catch(() => {})
    clearTimeout(timer)
    await server.resume()
    await vi.waitFor(() => audit.commit({ kind: 'call.ended', attempt: `after ${mark}` }), { timeout: 10_000 })
  }
  await audit.close()
  const { items } = await readAudit(db, { kind: 'card.decided', limit: 500 })
  const kept = (await db.orm.execute(sql`select mark from marks`)) as unknown as Array<{ mark: string }>
  expect(items.map(({ card }) => card).sort()).toEqual(kept.map(({ mark }) => mark).sort())
  expect((await verifyAudit(db)).problems).toEqual([])
}, 60_000)

test('no committed entry is lost when the server is killed, and the chain goes on without a gap', async () => {
  const audit = createAudit({ db, log: quiet, batchMs: 1 })
  const committed: string[] = []
  let stop = false
  const load = Array.from({ length: 8 }, async (_, worker) => {
    for (let i = 0; !stop; i++) {
      const attempt = `k${worker}.${i}`
      await audit.commit({ kind: 'call.started', attempt }).then(
        () => committed.push(attempt),
        () => new Promise((resolve) => setTimeout(resolve, 5)),
      )
    }
  })
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    const before = committed.length
    await server.kill()
    await server.start()
    await vi.waitFor(() => expect(committed.length).toBeGreaterThan(before + 8), { timeout: 10_000 })
  }
  stop = true
  await Promise.all(load)
  await audit.close()
  const found = (await db.orm.execute(sql`select attempt from audit where attempt like 'k%'`)) as unknown as Array<{
    attempt: string
  }>
  const stored = found.map(({ attempt }) => attempt)
  expect(new Set(stored).size).toBe(stored.length)
  const missing = committed.filter((attempt) => !stored.includes(attempt))
  expect(missing).toEqual([])
  expect((await verifyAudit(db)).problems).toEqual([])
}, 60_000)
