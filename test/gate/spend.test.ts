/** Calls that spend: what an allowance lets through, what a person is asked, and what is booked in the end. */
import { randomUUID } from 'node:crypto'
import Big from 'big.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rows } from '../../src/db/connect.ts'
import { sql } from '../../src/db/drizzle.ts'
import type { Outcome } from '../../src/gate/outcome.ts'
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
const codeOf = (outcome: Outcome) => (outcome.kind === 'refused' ? outcome.code : outcome.kind)
const cardIn = (outcome: Outcome) => {
  if (!('card' in outcome) || outcome.card === undefined) throw new Error(`No card: ${JSON.stringify(outcome)}`)
  return outcome.card
}

describe('an unattended session', () => {
  test('spends within its allowance, and is refused beyond it with what is left, and nothing leaves', async () => {
    const session = await shop.session(UNATTENDED, 25)
    expect(await shop.call(session, { price: 20, actual: 12.5 })).toMatchObject({
      kind: 'answered',
      spend: { cost: { unit: 'credits', amount: '12.5' }, left: '12.5' },
    })
    const before = shop.ran.length
    expect(await shop.call(session, { price: 12.6 })).toMatchObject({
      kind: 'refused',
      code: 'allowance_exhausted',
      message: expect.stringContaining('12.5 are left'),
      spend: { cost: { unit: 'credits', amount: '12.6' }, left: '12.5' },
    })
    expect(shop.ran).toHaveLength(before)
    expect(codeOf(await shop.call(session, { price: '12.5' }))).toBe('answered')
    expect(await balanceOf(database.db, session.id)).toEqual({
      figure: { reserved: '0', spent: '25', most: '25' },
      ledger: { held: '0', booked: '25' },
    })
  })

  test('of twenty calls at once gets as many as it can pay', async () => {
    const session = await shop.session(UNATTENDED, 5)
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => shop.call(session, { price: 1 })))
    expect(outcomes.map(codeOf).sort()).toEqual([
      ...Array.from({ length: 15 }, () => 'allowance_exhausted'),
      ...Array.from({ length: 5 }, () => 'answered'),
    ])
  })

  test('books what it came to above the estimate, and shows it', async () => {
    const session = await shop.session(UNATTENDED, 10)
    expect(await shop.call(session, { price: 2, actual: 11.5 })).toMatchObject({
      spend: { cost: { amount: '11.5' }, left: '-1.5' },
    })
    expect(codeOf(await shop.call(session, { price: 0 }))).toBe('allowance_exhausted')
  })

  test.each([
    ['a call that did not run gives its reservation back', { end: 'refuses' }, '0', '0', 'released'],
    ['an unknown outcome keeps the whole reservation', { end: 'is lost' }, '4', '0', 'unknown'],
    ['an error of the far side is booked at the estimate', { end: 'errs' }, '0', '4', 'settled'],
    ['an answer that does not say is booked at the estimate', {}, '0', '4', 'settled'],
    ['an answer that says nonsense is booked at the estimate', { actual: -3 }, '0', '4', 'settled'],
  ] as const)('%s', async (_, wish, held, booked, state) => {
    const session = await shop.session(UNATTENDED, 10)
    await shop.call(session, { price: 4, ...wish })
    expect(await balanceOf(database.db, session.id)).toEqual({
      figure: { reserved: held, spent: booked, most: '10' },
      ledger: { held, booked },
    })
    expect(await statesOf(database.db, session.id)).toEqual([state])
  })

  test('has no threshold but its allowance, and without one nothing', async () => {
    expect(codeOf(await shop.call(await shop.session(UNATTENDED, 1000), { price: 900 }))).toBe('answered')
    expect(codeOf(await shop.call(await shop.session(UNATTENDED), { price: 0.01 }))).toBe('allowance_exhausted')
  })

  test.each([[null], [-1], ['ten'], [{}], [true], ['1e21'], [2 ** 63], ['NaN'], [undefined], [1e21], ['']])(
    'a price of %j runs nothing unasked',
    async (price) => {
      const session = await shop.session(UNATTENDED, 1e12)
      const before = shop.ran.length
      expect(codeOf(await shop.call(session, { price } as unknown as Wish))).toBe('approval_required')
      expect(shop.ran).toHaveLength(before)
      expect(await statesOf(database.db, session.id)).toEqual([])
    },
  )

  test.each([
    [0.1, '0.1'],
    [1e-9, '0.000000001'],
    ['10', '10'],
    ['1e-9', '0.000000001'],
  ])('a price of %j is booked exactly', async (price, amount) => {
    const session = await shop.session(UNATTENDED, 10)
    for (let i = 0; i < 3; i++) await shop.call(session, { price, end: i < 2 ? 'errs' : 'refuses' })
    const first = amount === '10' ? '10' : new Big(amount).times(2).toFixed()
    expect((await balanceOf(database.db, session.id)).figure).toEqual({ reserved: '0', spent: first, most: '10' })
  })

  test('a call of a dead session or with arguments that are refused reserves nothing', async () => {
    const session = await shop.session(UNATTENDED, 10)
    expect(codeOf(await shop.call({ ...session, expiresAt: 0 }, { price: 1 }))).toBe('session_revoked')
    expect(await statesOf(database.db, session.id)).toEqual([])
  })

  test('the record of each call carries its cost', async () => {
    const session = await shop.session(UNATTENDED, 10)
    await shop.call(session, { price: 4, actual: 3 })
    await expect
      .poll(async () => {
        const found = await database.db.orm.execute(
          sql`select kind, entry from audit where session_id = ${session.id} and kind like 'call.%' order by at, seq`,
        )
        return rows<{ kind: string; entry: string }>(found).map(({ kind, entry }) => [kind, JSON.parse(entry).cost])
      })
      .toEqual([
        ['call.started', { unit: 'credits', amount: '4' }],
        ['call.ended', { unit: 'credits', amount: '3' }],
      ])
  })
})

describe('a session with a person', () => {
  test('runs up to the threshold and asks above it', async () => {
    const session = await shop.session(ATTENDED)
    expect(codeOf(await shop.call(session, { price: 10, mark: 'at the threshold' }))).toBe('answered')
    const asked = await shop.call(session, { price: 10.01, mark: 'above it' })
    expect(cardIn(asked)).toMatchObject({ status: 'pending', cost: { unit: 'credits', amount: '10.01' } })
    expect(cardIn(asked).rules.map(({ rule }) => rule)).toEqual(['over-threshold'])
    expect(shop.ran).not.toContain('above it')
    expect(await statesOf(database.db, session.id)).toEqual(['settled', 'open'])
  })

  test('with nobody to ask refuses above the threshold', async () => {
    const session = await shop.session({ ...ATTENDED, channel: 'none' })
    expect(codeOf(await shop.call(session, { price: 10.01 }))).toBe('over_threshold')
    expect(codeOf(await shop.call(session, { price: 10 }))).toBe('answered')
  })

  const ends = [
    ['denied', async (id: string) => void (await shop.cards.deny(id, ann)), 'released', '0', '0'],
    ['withdrawn', async (id: string) => void (await shop.cards.withdraw(id, ann)), 'released', '0', '0'],
    ['approved and not run yet', async (id: string) => void (await shop.cards.approve(id, ann)), 'open', '20', '0'],
    [
      'approved and refused when decided again',
      async (id: string) => {
        await shop.cards.approve(id, ann)
        await shop.cards.refuse(id, { code: 'session_revoked' })
      },
      'released',
      '0',
      '0',
    ],
    [
      'left running until its outcome was unknown',
      async (id: string) => {
        await shop.cards.approve(id, ann)
        await shop.cards.claim(id, randomUUID())
        await shop.cards.finish(id, { status: 'unknown', code: 'outcome_unknown' })
      },
      'unknown',
      '20',
      '0',
    ],
    [
      'found to have happened',
      async (id: string) => {
        await shop.cards.approve(id, ann)
        await shop.cards.claim(id, randomUUID())
        await shop.cards.finish(id, { status: 'unknown', code: 'outcome_unknown' })
        await shop.cards.settle(id, ann, 'happened')
      },
      'settled',
      '0',
      '20',
    ],
    [
      'found not to have happened',
      async (id: string) => {
        await shop.cards.approve(id, ann)
        await shop.cards.claim(id, randomUUID())
        await shop.cards.finish(id, { status: 'unknown', code: 'outcome_unknown' })
        await shop.cards.settle(id, ann, 'did_not')
      },
      'released',
      '0',
      '0',
    ],
  ] as const
  test.each(ends)('a card that is %s moves its money in the same step', async (_, move, state, held, booked) => {
    const session = await shop.session(ATTENDED, 50)
    const card = cardIn(await shop.call(session, { price: 20 }))
    expect((await balanceOf(database.db, session.id)).figure).toEqual({ reserved: '20', spent: '0', most: '50' })
    await move(card.id)
    expect(await balanceOf(database.db, session.id)).toEqual({
      figure: { reserved: held, spent: booked, most: '50' },
      ledger: { held, booked },
    })
    expect(await statesOf(database.db, session.id)).toEqual([state])
  })

  test('a card that expires gives its reservation back', async () => {
    const hasty = replicaOn(database.db, { timeoutMs: 30 })
    const session = await hasty.session(ATTENDED, 50)
    cardIn(await hasty.call(session, { price: 20 }))
    await expect
      .poll(async () => {
        await hasty.cards.sweep()
        return statesOf(database.db, session.id)
      })
      .toEqual(['released'])
    await hasty.close()
  })

  test('an approved call runs once and is booked at what it came to', async () => {
    const session = await shop.session(ATTENDED, 50)
    const wish = { price: 20, actual: '17.5', mark: 'approved' }
    await shop.cards.approve(cardIn(await shop.call(session, wish)).id, ann)
    expect(await shop.call(session, wish)).toMatchObject({
      kind: 'answered',
      spend: { cost: { amount: '17.5' }, left: '32.5' },
      card: { status: 'done', outcome: { cost: { unit: 'credits', amount: '17.5' } } },
    })
    expect(shop.ran.filter((mark) => mark === 'approved')).toHaveLength(1)
  })

  test('what goes beyond the allowance is offered as a card whose yes raises it by what lacks', async () => {
    const session = await shop.session(ATTENDED, 9)
    const wish = { price: 10, actual: 0, mark: 'beyond' }
    const card = cardIn(await shop.call(session, wish))
    expect(card.rules.map(({ rule }) => rule)).toEqual(['over-allowance'])
    expect(card.rules[0]?.because).toContain('9 are left')
    expect((await balanceOf(database.db, session.id)).figure).toEqual({ reserved: '0', spent: '0', most: '9' })
    await shop.cards.approve(card.id, ann)
    expect((await balanceOf(database.db, session.id)).figure).toEqual({ reserved: '10', spent: '0', most: '10' })
    await shop.gate.runApproved((await shop.cards.get(card.id))!, session)
    expect((await balanceOf(database.db, session.id)).figure).toEqual({ reserved: '0', spent: '0', most: '10' })
    // By now it would be covered; the caller who comes for the outcome gets it, and nothing runs again.
    expect(codeOf(await shop.call(session, wish))).toBe('answered')
    expect(shop.ran.filter((mark) => mark === 'beyond')).toHaveLength(1)
  })

  test('a denial of what goes beyond the allowance changes nothing', async () => {
    const session = await shop.session(ATTENDED, 9)
    await shop.cards.deny(cardIn(await shop.call(session, { price: 10 })).id, ann)
    expect(await balanceOf(database.db, session.id)).toEqual({
      figure: { reserved: '0', spent: '0', most: '9' },
      ledger: { held: '0', booked: '0' },
    })
  })

  test('an approval that stands does not raise an allowance by itself', async () => {
    const session = await shop.session(ATTENDED, 45)
    const wish = { price: 20, mark: 'again' }
    await shop.cards.approve(cardIn(await shop.call(session, wish)).id, ann, { scope: 'session' })
    for (let i = 0; i < 2; i++) {
      const outcome = await shop.call(session, wish)
      expect(codeOf(outcome)).toBe('answered')
      await shop.cards.delivered(cardIn(outcome).id)
    }
    const third = cardIn(await shop.call(session, wish))
    expect(third).toMatchObject({ status: 'pending' })
    expect(third.rules.map(({ rule }) => rule)).toEqual(['over-threshold', 'over-allowance'])
  })
})
