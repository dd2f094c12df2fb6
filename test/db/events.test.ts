import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type DbEvent, rows } from '../../src/db/connect.ts'
import { DatabaseRefused, isDuplicate } from '../../src/db/errors.ts'
import { tell } from '../../src/db/events.ts'
import { signingKeys } from '../../src/db/schema.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

let world: TestDatabase
beforeEach(async () => {
  world = await freshDatabase()
})
afterEach(() => world.close())

const key = (kid: string) => ({ kid, publicJwk: '{}', sealedPrivate: 'SEALED-SECRET', state: 'verifying' as const })

test('what a transaction tells is heard once it commits, and never when it rolls back', async () => {
  const heard: DbEvent[] = []
  const stop = await world.db.listen((event) => heard.push(event))
  await world.db
    .transaction(async (tx) => {
      await tell(tx, { kind: 'card', id: 'lost', status: 'denied' })
      throw new Error('changed my mind')
    })
    .catch(() => {})
  await world.db.transaction(async (tx) => {
    await tell(tx, { kind: 'session', id: 's1' })
    await tell(tx, { kind: 'card', id: 'c1', status: 'approved' })
    await tell(tx, { kind: 'keys' })
  })
  await vi.waitFor(() => expect(heard).toHaveLength(4))
  expect(heard).toEqual([
    { kind: 'listening' },
    { kind: 'session', id: 's1' },
    { kind: 'card', id: 'c1', status: 'approved' },
    { kind: 'keys' },
  ])
  await stop()
  await world.db.transaction((tx) => tell(tx, { kind: 'keys' }))
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(heard).toHaveLength(4)
})

test('a listener that throws does not keep the next one from hearing, nor does a message nobody knows', async () => {
  const heard: string[] = []
  const stopFirst = await world.db.listen(() => {
    throw new Error('clumsy')
  })
  const stopSecond = await world.db.listen((event) => heard.push(event.kind))
  await world.db.orm.execute(
    sql`select pg_notify('tollgate', '{"kind":"tomorrow"}'), pg_notify('tollgate', 'not json')`,
  )
  await world.db.transaction((tx) => tell(tx, { kind: 'keys' }))
  await vi.waitFor(() => expect(heard).toEqual(['listening', 'keys']))
  await stopFirst()
  await stopSecond()
})

test('a transaction that throws leaves nothing behind, and one whose query failed does too, caught or not', async () => {
  const thrown = world.db.transaction(async (tx) => {
    await tx.insert(signingKeys).values(key('a'))
    throw new Error('changed my mind')
  })
  await expect(thrown).rejects.toThrow('changed my mind')
  const swallowed = world.db.transaction(async (tx) => {
    await tx.insert(signingKeys).values(key('b'))
    await tx
      .insert(signingKeys)
      .values(key('b'))
      .catch(() => {})
  })
  await expect(swallowed).rejects.toSatisfy((error) => isDuplicate(error, 'signing_keys_pkey'))
  expect(await world.db.orm.select().from(signingKeys)).toEqual([])
})

test('a query left running when its transaction ended is refused, not run outside it', async () => {
  let late: (() => Promise<unknown>) | undefined
  await world.db.transaction(async (tx) => {
    late = async () => tx.insert(signingKeys).values(key('late'))
  })
  await expect(late!()).rejects.toThrow('has ended')
  expect(await world.db.orm.select().from(signingKeys)).toEqual([])
})

test('an error from the database tells neither the row nor the parameters', async () => {
  const bad = { ...key('x'), publicJwk: null as unknown as string }
  const error = await Promise.resolve(world.db.orm.insert(signingKeys).values(bad)).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(DatabaseRefused)
  const refused = error as DatabaseRefused & Record<string, unknown>
  expect(refused.code).toBe('23502')
  const all = Object.getOwnPropertyNames(refused).map((name) => String(refused[name]))
  expect(all.join('\n')).not.toContain('SEALED-SECRET')
})

test('rows look the same on both databases', async () => {
  const result = await world.db.orm.execute(
    sql`select 1::int as i, 2::bigint as b, 1.50::numeric as n, true as t, null as z,
      '2026-01-02 03:04:05.678+00'::timestamptz as at, to_json(${sql.param(['a"', 'b,\\', null])}::text[]) as list`,
  )
  expect(rows(result).map((row) => ({ ...(row as object) }))).toEqual([
    { i: 1, b: '2', n: '1.50', t: true, z: null, at: '2026-01-02 03:04:05.678+00', list: ['a"', 'b,\\', null] },
  ])
})
