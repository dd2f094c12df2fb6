/** D1 and D5: one allowance under many calls at once, over two replicas on one PostgreSQL. */
import Big from 'big.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Database } from '../../src/db/connect.ts'
import type { Outcome } from '../../src/gate/outcome.ts'
import type { Session } from '../../src/policy/words.ts'
import { keepFigures } from '../../src/session/figures.ts'
import { beginForeign } from '../../src/session/runs.ts'
import { balanceOf, type Replica, replicaOn, UNATTENDED } from '../gate/spend-world.ts'
import { made } from '../session/run-world.ts'
import { freshPostgres, quiet, type TestDatabase } from '../support/database.ts'

/** In the suite fewer; `npm run test:spend` has 1,000. */
const ROUNDS = Number(process.env.SPEND_ROUNDS ?? 50)
const CALLS = 200

let database: TestDatabase
let other: Database
let replicas: [Replica, Replica]
beforeAll(async () => {
  const fresh = await freshPostgres()
  database = fresh
  other = await connect({ url: fresh.url, folder: '', log: quiet })
  replicas = [replicaOn(database.db), replicaOn(other)]
})
afterAll(async () => {
  for (const replica of replicas) await replica.close()
  await other.close()
  await database.close()
})

const codeOf = (outcome: Outcome) => (outcome.kind === 'refused' ? outcome.code : outcome.kind)

/** Calls until the answer is about money: a database under load may have no answer in time, and then nothing ran. */
async function insist(n: number, session: Session, price: string): Promise<string> {
  for (;;) {
    const code = codeOf(await replicas[n % 2]!.call(session, { price }))
    if (code !== 'internal') return code
  }
}

test(
  'of two hundred calls of random price at once none exceeds the allowance by a cent, and none is refused that still fits',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const session = await replicas[0].session(UNATTENDED, 10)
      const prices = Array.from({ length: CALLS }, () => new Big(1 + Math.floor(Math.random() * 99)).div(100).toFixed())
      const codes = await Promise.all(prices.map((price, n) => insist(n, session, price)))
      const paid = prices.filter((_, n) => codes[n] === 'answered').reduce((sum, price) => sum.plus(price), new Big(0))
      const refused = prices.filter((_, n) => codes[n] !== 'answered')
      const left = new Big(10).minus(paid)
      expect(new Set(codes).difference(new Set(['answered', 'allowance_exhausted']))).toEqual(new Set())
      expect(left.gte(0), `round ${round}: ${paid.toFixed()} of 10`).toBe(true)
      expect(
        refused.filter((price) => left.gte(price)),
        `round ${round}: ${left.toFixed()} left`,
      ).toEqual([])
      expect(await balanceOf(database.db, session.id)).toEqual({
        figure: { reserved: '0', spent: paid.toFixed(), most: '10' },
        ledger: { held: '0', booked: paid.toFixed() },
      })
    }
  },
  ROUNDS * 10_000,
)

test('the first hundred calls at once of a subject that was never seen keep its cap', async () => {
  const allowance = { shop: { perRunCredits: 10, perDayCredits: 10 } }
  const { session, claims } = made({
    brand: 'strangers',
    role: 'coworker',
    limits: {},
    grant: { connectors: ['shop'], skills: [], allowance },
  })
  const template = await replicas[0].session(UNATTENDED, 10)
  const known: Session = { ...template, id: session.id, brand: session.brand }
  const codes = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => {
      const { audit } = replicas[n % 2]!
      let begun: Awaited<ReturnType<typeof beginForeign>> | undefined
      while (begun === undefined) begun = await beginForeign(audit, { ...session }, claims, {}).catch(() => undefined)
      expect(begun).toBe('live')
      return insist(n, known, '1')
    }),
  )
  expect(codes.filter((code) => code === 'answered')).toHaveLength(10)
  expect((await balanceOf(database.db, session.id)).figure).toEqual({ reserved: '0', spent: '10', most: '10' })
})

test('a load of half the allowance is never refused', async () => {
  const session = await replicas[0].session(UNATTENDED, 300)
  for (let wave = 0; wave < 5; wave++) {
    const codes = await Promise.all(Array.from({ length: 30 }, (_, n) => insist(n, session, '1')))
    expect(new Set(codes)).toEqual(new Set(['answered']))
  }
  await database.db.transaction((tx) => keepFigures(tx, session))
  expect((await balanceOf(database.db, session.id)).figure).toEqual({ reserved: '0', spent: '150', most: '300' })
})
