import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { connect, type Database, type DbEvent } from '../../src/db/connect.ts'
import { DatabaseUnavailable } from '../../src/db/errors.ts'
import { tell } from '../../src/db/events.ts'
import { quiet } from '../support/database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'

/** A server of its own: these tests stop and kill it. */
let server: PostgresServer
let db: Database
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())
beforeEach(async () => {
  db = await connect({ url: `${server.url}/postgres`, folder: '', log: quiet, limitMs: 1000 })
})
afterEach(() => db.close())

const ask = () => Promise.resolve(db.orm.execute(sql`select ${1}::int as n`))

/** How a question ends, and that it ends within the limit and what a busy machine adds to it. */
async function unanswered(question: () => Promise<unknown>): Promise<void> {
  const start = Date.now()
  await expect(question()).rejects.toThrow(DatabaseUnavailable)
  expect(Date.now() - start).toBeLessThan(2500)
}

test('a stopped server makes queries, transactions and new connections fail in time, and all work again after', async () => {
  await Promise.all(Array.from({ length: 5 }, ask))
  let commits = 0
  await server.pause()
  try {
    await unanswered(ask)
    await unanswered(() => db.transaction((tx) => tx.execute(sql`select 1`)))
    const burst = await Promise.allSettled(Array.from({ length: 40 }, ask))
    expect(burst.every(({ status }) => status === 'rejected')).toBe(true)
  } finally {
    await server.resume()
  }
  await vi.waitFor(ask, { timeout: 5000 })
  for (let i = 0; i < 30; i++) {
    await db.transaction(async (tx) => {
      await tx.execute(sql`select ${i}::int`)
      commits++
    })
  }
  expect(commits).toBe(30)
})

test('a server that is stopped when the commit is sent leaves the outcome unknown, and says so in time', async () => {
  await db.orm.execute(sql`create table if not exists marks (mark text)`)
  const start = Date.now()
  const outcome = db.transaction(async (tx) => {
    await tx.execute(sql`insert into marks values ('maybe')`)
    await server.pause()
  })
  try {
    await expect(outcome).rejects.toThrow(DatabaseUnavailable)
    expect(Date.now() - start).toBeLessThan(3000)
  } finally {
    await server.resume()
  }
})

test('a server killed under load ends no process, and is used again as soon as it is back', async () => {
  let stop = false
  const errors: unknown[] = []
  const load = Array.from({ length: 12 }, async (_, i) => {
    while (!stop) {
      const work = i % 2 === 0 ? ask() : db.transaction((tx) => tx.execute(sql`select pg_sleep(0.01)`))
      await work.catch((error) => errors.push(error))
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 150))
    await server.kill()
    await server.start()
    await vi.waitFor(ask, { timeout: 5000 })
  }
  stop = true
  await Promise.all(load)
  expect(errors.length).toBeGreaterThan(0)
  for (const error of errors) expect(error).toBeInstanceOf(DatabaseUnavailable)
})

test('a connection cut inside a transaction fails it, and nothing of it is kept', async () => {
  await db.orm.execute(sql`create table if not exists marks (mark text)`)
  const cut = db.transaction(async (tx) => {
    await tx.execute(sql`insert into marks values ('half')`)
    const [row] = (await tx.execute(sql`select pg_backend_pid() as pid`)) as unknown as Array<{ pid: number }>
    await db.orm.execute(sql`select pg_terminate_backend(${row!.pid})`)
    await new Promise((resolve) => setTimeout(resolve, 100))
    await tx.execute(sql`insert into marks values ('other half')`)
  })
  await expect(cut).rejects.toThrow(DatabaseUnavailable)
  expect(await db.orm.execute(sql`select * from marks where mark like '%half'`)).toHaveLength(0)
})

test('a lock that is not given makes the server answer before this side gives up on it', async () => {
  await db.orm.execute(sql`create table if not exists held (x int)`)
  await db.transaction(async (tx) => {
    await tx.execute(sql`lock table held`)
    const waiting = Promise.resolve(db.orm.execute(sql`select * from held`))
    await expect(waiting).rejects.toThrow('The database took too long to answer.')
  })
})

test('more callers than connections wait their turn, and are told when it does not come', async () => {
  const narrow = await connect({ url: `${server.url}/postgres`, folder: '', log: quiet, limitMs: 500, size: 2 })
  const query = () => Promise.resolve(narrow.orm.execute(sql`select pg_sleep(0.02)`))
  await Promise.all(Array.from({ length: 20 }, query))
  const hold = () => narrow.transaction(() => new Promise((resolve) => setTimeout(resolve, 900)))
  const held = [hold(), hold()]
  await expect(query()).rejects.toThrow('All 2 database connections were busy')
  await Promise.all(held)
  await query()
  await narrow.close()
})

test('a listener hears again after its connection was terminated, and after the server was killed', async () => {
  const heard: DbEvent[] = []
  const count = (kind: string) => heard.filter((event) => event.kind === kind).length
  const stop = await db.listen((event) => heard.push(event))
  expect(count('listening')).toBe(1)
  await db.orm.execute(sql`
    select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and query ilike 'listen%'`)
  await vi.waitFor(() => expect(count('listening')).toBe(2), { timeout: 5000 })
  await db.transaction((tx) => tell(tx, { kind: 'keys' }))
  await vi.waitFor(() => expect(count('keys')).toBe(1))
  await server.kill()
  await server.start()
  await vi.waitFor(() => expect(count('listening')).toBe(3), { timeout: 5000 })
  await vi.waitFor(() => db.transaction((tx) => tell(tx, { kind: 'keys' })), { timeout: 5000 })
  await vi.waitFor(() => expect(count('keys')).toBe(2))
  await stop()
  const left = () => db.orm.execute(sql`select 1 from pg_stat_activity where query ilike 'listen%'`)
  await vi.waitFor(async () => expect(await left()).toHaveLength(0))
})
