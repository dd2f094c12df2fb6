/** D3: whatever becomes of calls, the balance is that of a model; and limits within limits hold as the smallest. */
import { randomUUID } from 'node:crypto'
import Big from 'big.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rows } from '../../src/db/connect.ts'
import { sql } from '../../src/db/drizzle.ts'
import { judge } from '../../src/gate/price.ts'
import { decide } from '../../src/policy/decide.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { ATTENDED, balanceOf, type Replica, replicaOn, statesOf, UNATTENDED, type Wish } from './spend-world.ts'

let database: TestDatabase
let shop: Replica
beforeAll(async () => {
  database = await freshDatabase()
  shop = replicaOn(database.db)
})
afterAll(async () => {
  await shop.close()
  await database.close()
})

const ann = { by: 'Ann' }

describe('the ledger', () => {
  test('after a thousand random ends the balance is that of a model', async () => {
    const model = { held: new Big(0), booked: new Big(0) }
    const session = await shop.session(ATTENDED, 100_000)
    const wishes = fc.record({
      price: fc.integer({ min: 1, max: 3_000 }).map((n) => new Big(n).div(100).toFixed()),
      actual: fc.option(fc.integer({ min: 0, max: 4_000 }).map((n) => new Big(n).div(100).toFixed())),
      end: fc.constantFrom<NonNullable<Wish['end']>>('answers', 'answers', 'refuses', 'is lost', 'errs'),
      person: fc.constantFrom('approves', 'denies', 'withdraws', 'leaves it', 'loses it'),
    })
    for (const { price, actual, end, person } of fc.sample(wishes, { seed: 7, numRuns: RUNS })) {
      const wish: Wish = { price, end, mark: randomUUID(), ...(actual === null ? {} : { actual }) }
      const outcome = await shop.call(session, wish)
      const booked = end === 'answers' && actual !== null ? actual : price
      const gone = end === 'is lost' ? 'held' : end === 'refuses' ? undefined : 'booked'
      const ended = () => {
        if (gone !== undefined) model[gone] = model[gone].plus(gone === 'booked' ? booked : price)
      }
      if (outcome.kind !== 'pending') {
        ended()
        continue
      }
      const { id } = outcome.card
      switch (person) {
        case 'approves':
          await shop.cards.approve(id, ann)
          await shop.call(session, wish)
          ended()
          break
        case 'denies':
          await shop.cards.deny(id, ann)
          break
        case 'withdraws':
          await shop.cards.withdraw(id, ann)
          break
        case 'leaves it':
          // A session may have a hundred open cards, so it is left for a moment only.
          expect(await statesOf(database.db, session.id)).toContain('open')
          await shop.cards.deny(id, ann)
          break
        case 'loses it':
          await shop.cards.approve(id, ann)
          await shop.cards.claim(id, randomUUID())
          await shop.cards.finish(id, { status: 'unknown', code: 'outcome_unknown' })
          model.held = model.held.plus(price)
      }
    }
    const said = { held: model.held.toFixed(), booked: model.booked.toFixed() }
    expect(await balanceOf(database.db, session.id)).toEqual({
      figure: { reserved: said.held, spent: said.booked, most: '100000' },
      ledger: said,
    })
  }, 120_000)

  test('counts as unknown what outran its lease, keeps the reservation, and takes a late answer', async () => {
    const session = await shop.session(UNATTENDED, 10)
    const id = randomUUID()
    const { brand, role } = session
    const who = { brand, sessionId: session.id, role: role.name, tool: 'mcp__shop__pay', connector: 'shop' }
    const started = { kind: 'call.started', attempt: id, brand, sessionId: session.id } as const
    const wanted = { id, card: false, attempt: id, ...who, unit: 'credits', amount: '6', leaseMs: 0 }
    expect(await shop.ledger.begin(wanted, true, started)).toBe(true)
    expect(await shop.ledger.sweep()).toBe(1)
    expect(await shop.ledger.sweep()).toBe(0)
    expect(await balanceOf(database.db, session.id)).toEqual({
      figure: { reserved: '6', spent: '0', most: '10' },
      ledger: { held: '6', booked: '0' },
    })
    const found = await database.db.orm.execute(
      sql`select entry from audit where attempt = ${id} and kind = 'spend.unknown'`,
    )
    expect(rows<{ entry: string }>(found).map(({ entry }) => JSON.parse(entry).cost)).toEqual([
      { unit: 'credits', amount: '6' },
    ])
    expect(await shop.ledger.end(id, { is: 'done', actual: '5' })).toMatchObject({ settled: '5', left: '5' })
    expect(await shop.ledger.end(id, { is: 'done', actual: '5' })).toBeUndefined()
    expect((await balanceOf(database.db, session.id)).figure).toEqual({ reserved: '0', spent: '5', most: '10' })
  })
})

test('nested limits hold as the smallest of them: 10,000 pure cases', () => {
  const cents = fc.integer({ min: 0, max: 400 })
  const money = (n: number) => new Big(n).div(100).toFixed()
  const role = (asksPerson: boolean) => ({ asksPerson }) as Parameters<typeof judge>[0]['role']
  const tool = { name: 'mcp__shop__pay', connector: 'shop', access: 'spend', ask: false, grantable: true } as const
  fc.assert(
    fc.property(
      fc.record({
        price: cents,
        threshold: cents,
        most: cents,
        used: cents,
        limited: fc.boolean(),
        person: fc.boolean(),
        channel: fc.boolean(),
      }),
      ({ price, threshold, most, used, limited, person, channel }) => {
        const said = (n: number) => (n < 0 ? `-${money(-n)}` : money(n))
        const left = limited
          ? { most: money(most), handedOn: '0', reserved: '0', spent: money(used), left: said(most - used) }
          : undefined
        const session = {
          grant: { connectors: [], skills: [], allowance: limited ? { shop: { perRunCredits: most / 100 } } : {} },
          role: role(person),
          channel: person && channel ? 'inbox' : 'none',
        } as const
        const priced = judge(session, tool, { unit: 'credits', amount: money(price) }, left, () => money(threshold))
        const { effect } = decide(
          { tool: { ...tool, asks: 'above-threshold' }, fingerprint: 'f', cost: priced.level },
          {
            sessionLive: true,
            holding: { held: true, reasons: [] },
            approvalsOn: true,
            channel: session.channel,
            approvedFingerprint: undefined,
            left: priced.left,
          },
        )
        const allowance = limited ? most - used : person ? Number.POSITIVE_INFINITY : -1
        const unwatched = session.channel === 'none' && (limited || !person)
        const smallest = Math.min(allowance, unwatched ? Number.POSITIVE_INFINITY : threshold)
        return effect === (price <= smallest ? 'allow' : session.channel === 'inbox' ? 'ask' : 'deny')
      },
    ),
    { numRuns: 10_000 },
  )
})

/** In the suite fewer, since each is some calls on a real database; `npm run test:spend` has them all. */
const RUNS = Number(process.env.SPEND_RUNS ?? 100)
