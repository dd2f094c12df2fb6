/** Addresses of inbound mail and what has been seen of it, on a real database. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { rows } from '../../src/db/connect.ts'
import { sql } from '../../src/db/drizzle.ts'
import { createSeal } from '../../src/db/seal.ts'
import { createInboundRoutes } from '../../src/grants/inbound/routes.ts'
import { takeArrival } from '../../src/grants/inbound/seen.ts'
import { freshDatabase, quiet, type TestDatabase } from '../support/database.ts'

const [NEW, OLD] = ['the-secret-of-today-is-long', 'the-secret-before-is-long-too']
const where = { brand: 'acme', slug: 'agentmail' }
let world: TestDatabase
let audit: ReturnType<typeof createAudit>
beforeAll(async () => {
  world = await freshDatabase()
  audit = createAudit({ db: world.db, log: quiet })
})
afterAll(async () => {
  await audit.close()
  await world.close()
})
const routes = (...secrets: [string, string?]) =>
  createInboundRoutes({ db: world.db, audit, seal: createSeal(...secrets), key: new Uint8Array(32) })

test('neither the address nor the signing secret is in the database', async () => {
  const { secret } = await routes(OLD).address(where, 'operator')
  await routes(OLD).sign(where, 'whsec_a-signing-secret', 'operator')
  const dump = JSON.stringify(rows(await world.db.orm.execute(sql`select * from inbound_routes`)))
  expect([dump.includes(secret), dump.includes('a-signing-secret')]).toEqual([false, false])
  expect(await routes(OLD).find(secret)).toEqual({ where, signingSecret: 'whsec_a-signing-secret' })
})

test('a signing secret is sealed anew after the secret changed, and one of another brand does not open here', async () => {
  expect(await routes(NEW, OLD).reseal()).toBe(1)
  expect(await routes(NEW, OLD).reseal()).toBe(0)
  const { secret } = await routes(NEW).address(where, 'operator')
  expect((await routes(NEW).find(secret))?.signingSecret).toBe('whsec_a-signing-secret')
  const other = { ...where, brand: 'other' }
  const { secret: theirs } = await routes(NEW).address(other, 'operator')
  await world.db.orm.execute(sql`update inbound_routes set sealed_secret =
    (select sealed_secret from inbound_routes where brand = 'acme') where brand = 'other'`)
  await expect(routes(NEW).find(theirs)).rejects.toThrow(/belong to another connection/)
})

test('what a transaction took that failed is free again, and is forgotten after 30 days', async () => {
  const arrival = { delivery: 'msg_1', message: ['a@agentmail.to', '<1@mail.example>'] }
  const take = (more: object = {}) =>
    world.db.transaction((tx) => takeArrival(tx, where, { ...arrival, ...more }, 's_1'))
  const failing = world.db.transaction(async (tx) => {
    expect(await takeArrival(tx, where, arrival, 's_0')).toBe(true)
    throw new Error('the session did not start')
  })
  await expect(failing).rejects.toThrow('did not start')
  expect(await take()).toBe(true)
  expect(await take()).toBe(false)
  expect(await take({ delivery: 'msg_2' })).toBe(false)
  expect(await take({ delivery: 'msg_1', message: ['a@agentmail.to', '<2@mail.example>'] })).toBe(false)
  await world.db.orm.execute(sql`update inbound_seen set at = now() - interval '31 days'`)
  expect(await take()).toBe(true)
  const kept = rows(await world.db.orm.execute(sql`select mark from inbound_seen`))
  expect(kept).toHaveLength(2)
  expect(JSON.stringify(kept)).not.toMatch(/msg_|mail\.example/)
})
