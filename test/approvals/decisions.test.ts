import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Card, type Decider, shownDigest } from '../../src/approvals/cards.ts'
import { readAudit } from '../../src/audit/read.ts'
import { call, tool } from './calls.ts'
import { freshRoom, type Room } from './world.ts'

let room: Room
const told: string[] = []
beforeAll(async () => {
  room = await freshRoom({
    timeoutMs: 3_600_000,
    onMove: async (_tx, card, moved) => {
      told.push(`${card.id} ${moved} ${card.status}`)
    },
  })
})
afterAll(() => room.close())

const ann: Decider = { by: 'approver Ann', via: 'inbox', address: '192.0.2.7', brand: 'acme' }

async function parked(more: Parameters<typeof call>[0] = {}): Promise<Card> {
  const parked = await room.cards.park(call(more))
  if (!parked.ok) throw new Error(parked.problem)
  return parked.card
}

async function unknown(): Promise<Card> {
  const card = await parked()
  await room.cards.approve(card.id, ann)
  await room.cards.claim(card.id, randomUUID())
  const ended = { status: 'unknown', code: 'upstream_timeout', outcome: { code: 'upstream_timeout' } } as const
  return (await room.cards.finish(card.id, ended)) as Card
}

const records = async (card: string) =>
  (await readAudit(room.db, { limit: 500 })).items.filter((row) => row.card === card).reverse()

describe('a decision says', () => {
  test.each(['approve', 'deny'] as const)(
    'who, when, through which door, from where and on what sight (%s)',
    async (move) => {
      const card = await parked()
      const decided = await room.cards[move](card.id, { ...ann, note: 'fine', shown: card.shown })
      expect(decided).toMatchObject({
        ok: true,
        card: {
          decidedBy: 'approver Ann',
          decidedVia: 'inbox',
          decidedAddress: '192.0.2.7',
          note: 'fine',
          decidedAt: expect.stringMatching(/^\d{4}-/),
          ...(move === 'approve' ? { scope: 'once' } : {}),
        },
      })
      expect((await records(card.id)).at(-1)).toMatchObject({
        kind: 'card.decided',
        by: 'approver Ann',
        via: 'inbox',
        address: '192.0.2.7',
        shown: card.shown,
        reason: 'fine',
      })
    },
  )

  test('no more than may be shown: names and addresses have their secrets and controls taken out', async () => {
    const card = await parked()
    const decided = await room.cards.approve(card.id, { by: 'Ann\u202e', address: 'token=c4naryc4nary\u0000' })
    expect(decided.card?.decidedBy).toMatch(/^Ann[\x20-\x7e]+$/)
    expect(JSON.stringify(await records(card.id))).not.toContain('c4nary')
  })
})

describe('what a person is shown', () => {
  test('has a digest that any change of it changes', async () => {
    const card = await parked({ cost: { unit: 'usd', amount: '2' } })
    expect(card.shown).toBe(shownDigest(card))
    expect((await room.cards.get(card.id))?.shown).toBe(card.shown)
    const others: Partial<Card>[] = [
      { title: 'Other' },
      { summary: 'Other.' },
      { arguments: { path: 'b.txt' } },
      { cost: { unit: 'usd', amount: '20' } },
      { rules: [] },
      { fingerprint: 'f' },
      { digest: 'd' },
      { upstream: 'u' },
      { tool: 'mcp__files__other' },
    ]
    const digests = others.map((other) => shownDigest({ ...card, ...other }))
    expect(new Set([card.shown, ...digests]).size).toBe(others.length + 1)
  })

  test.each(['approve', 'deny', 'withdraw'] as const)(
    'and is not the card as it is: nothing is decided (%s)',
    async (move) => {
      const card = await parked()
      const before = (await records(card.id)).length
      const refused = await room.cards[move](card.id, { ...ann, shown: 'f'.repeat(64) })
      expect(refused).toMatchObject({ ok: false, problem: 'changed', card: { status: 'pending', shown: card.shown } })
      expect((await records(card.id)).length).toBe(before)
      expect((await room.cards[move](card.id, { ...ann, shown: card.shown })).ok).toBe(true)
    },
  )
})

describe('a card of another brand', () => {
  const bob: Decider = { by: 'approver Bob', brand: 'other' }
  test.each(['approve', 'deny', 'withdraw'] as const)('is not there for them (%s)', async (move) => {
    const card = await parked()
    expect(await room.cards[move](card.id, bob)).toEqual({ ok: false, problem: 'not_found' })
    expect(await room.cards.get(card.id)).toMatchObject({ status: 'pending' })
  })

  test('is not there for them when its time is over either, and is left as it is', async () => {
    const { id } = await parked()
    await room.db.orm.execute(sql`update cards set expires_at = now() - interval '1 hour' where id = ${id}`)
    expect(await room.cards.approve(id, bob)).toEqual({ ok: false, problem: 'not_found' })
    expect(await room.cards.approve(id, bob, { scope: 'session' })).toEqual({ ok: false, problem: 'not_found' })
  })

  test('is neither settled nor told apart from none', async () => {
    const { id } = await unknown()
    expect(await room.cards.settle(id, bob, 'happened')).toEqual({ ok: false, problem: 'not_found' })
    expect(await room.cards.settle(randomUUID(), bob, 'happened')).toEqual({ ok: false, problem: 'not_found' })
    expect((await room.cards.get(id))?.status).toBe('unknown')
  })
})

describe('an unknown outcome', () => {
  test.each([
    ['happened', 'done', 'ok', 'done'],
    ['did_not', 'failed', 'outcome_unknown', 'failed'],
  ] as const)('is settled by a person as %s, once, and nothing runs', async (what, status, code, outcome) => {
    const { id } = await unknown()
    const settled = await room.cards.settle(id, { ...ann, note: 'looked at the ledger' }, what)
    expect(settled).toMatchObject({
      ok: true,
      card: { status, settled: what, settledBy: 'approver Ann', outcome: { code: 'upstream_timeout', settled: what } },
    })
    expect(await room.cards.settle(id, ann, 'happened')).toMatchObject({ ok: false, problem: 'already_decided' })
    expect(await room.cards.claim(id, randomUUID())).toBeUndefined()
    expect((await records(id)).at(-1)).toMatchObject({ kind: 'card.settled', code, outcome, via: 'inbox', by: ann.by })
    expect(told.filter((line) => line.startsWith(id)).at(-1)).toBe(`${id} settled ${status}`)
  })

  test('is the only thing that is settled', async () => {
    const { id } = await parked()
    for (const step of ['approve', 'claim'] as const) {
      expect(await room.cards.settle(id, ann, 'did_not')).toMatchObject({ ok: false, problem: 'not_unknown' })
      await (step === 'approve' ? room.cards.approve(id, ann) : room.cards.claim(id, randomUUID()))
    }
    expect(await room.cards.settle(id, ann, 'did_not')).toMatchObject({ ok: false, problem: 'not_unknown' })
    expect(await room.cards.settle('x', ann, 'did_not')).toEqual({ ok: false, problem: 'not_found' })
  })

  test('settled before its caller came is told to that caller', async () => {
    const asked = call()
    const card = await parked({ ...asked, sessionId: asked.session.id })
    await room.cards.approve(card.id, ann)
    await room.cards.claim(card.id, randomUUID())
    await room.cards.finish(card.id, { status: 'unknown', code: 'outcome_unknown' })
    await room.cards.settle(card.id, ann, 'happened')
    expect(await room.cards.latest(asked.session.id, asked.fingerprint)).toMatchObject({
      id: card.id,
      settled: 'happened',
    })
  })
})

describe('a move is told inside its transaction', () => {
  const of = (id: string) => told.filter((line) => line.startsWith(id)).map((line) => line.slice(id.length + 1))

  test('each of them, the sweep’s too', async () => {
    const { id } = await unknown()
    expect(of(id)).toEqual(['created pending', 'decided approved', 'finished unknown'])
    const late = await parked()
    await room.db.orm.execute(sql`update cards set expires_at = now() - interval '1 second' where id = ${late.id}`)
    await room.cards.sweep()
    await expect.poll(() => of(late.id)).toEqual(['created pending', 'finished expired'])
    const taken = await parked()
    await room.cards.withdraw(taken.id, { by: 'the caller' })
    expect(of(taken.id)).toEqual(['created pending', 'decided withdrawn'])
    const refused = await parked()
    await room.cards.approve(refused.id, ann)
    await room.cards.refuse(refused.id, { code: 'session_revoked' })
    expect(of(refused.id)).toEqual(['created pending', 'decided approved', 'finished failed'])
  })

  test('and is undone where telling fails', async () => {
    const deaf = room.also({
      onMove: async () => {
        throw new Error('no room in the outbox')
      },
    })
    const { id } = await parked()
    await expect(deaf.approve(id, ann)).rejects.toThrow('no room in the outbox')
    await expect(deaf.park(call())).rejects.toThrow('no room in the outbox')
    expect(await room.cards.get(id)).toMatchObject({ status: 'pending' })
    expect((await records(id)).map(({ kind }) => kind)).toEqual(['card.created'])
  })
})

describe('a list keeps to', () => {
  test('statuses, role and tool, and goes from the oldest too', async () => {
    const sessionId = randomUUID()
    const one = await parked({ sessionId })
    const two = await parked({ sessionId, tool: { ...tool, name: 'mcp__files__delete' } })
    const three = await parked({ sessionId })
    await room.cards.deny(two.id, ann)
    await room.cards.approve(three.id, ann)
    const ids = async (more: object) =>
      (await room.cards.list({ sessionId, limit: 10, ...more })).items.map(({ id }) => id)
    expect(await ids({ statuses: ['pending', 'denied'] })).toEqual([two.id, one.id])
    expect(await ids({ statuses: [] })).toEqual([])
    expect(await ids({ tool: 'mcp__files__delete' })).toEqual([two.id])
    expect(await ids({ role: 'person-chat', order: 'oldest' })).toEqual([one.id, two.id, three.id])
    expect(await ids({ role: 'coworker' })).toEqual([])
    const first = await room.cards.list({ sessionId, limit: 2, order: 'oldest' })
    const rest = await room.cards.list({ sessionId, limit: 2, order: 'oldest', cursor: first.nextCursor as string })
    expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual([one.id, two.id, three.id])
    expect(rest.nextCursor).toBeUndefined()
  })
})

describe('a session', () => {
  test('makes so many cards ever, open or not, and still joins and collects', async () => {
    const few = room.also({ mostEver: 3 })
    const sessionId = randomUUID()
    const calls = [1, 2, 3].map(() => call({ sessionId }))
    for (const one of calls) {
      const made = await few.park(one)
      if (made.ok && one !== calls[2]) await few.deny(made.card.id, ann)
    }
    expect(await few.park(call({ sessionId }))).toEqual({ ok: false, problem: 'too_many_ever' })
    expect(await few.park(calls[2] as ReturnType<typeof call>)).toMatchObject({ ok: true, joined: true })
    expect((await few.park(call())).ok).toBe(true)
  })

  test('that asks the same call over and over does not use its cards up', async () => {
    const few = room.also({ mostEver: 2 })
    const asked = call()
    for (let n = 0; n < 5; n++) expect((await few.park(asked)).ok).toBe(true)
    expect((await few.park(call({ sessionId: asked.session.id }))).ok).toBe(true)
  })
})

describe('the same call is another card where', () => {
  test.each([
    ['its definition changed', { tool: { ...tool, digest: 'e'.repeat(64) } }],
    ['its upstream changed', { tool: { ...tool, upstream: 'e'.repeat(64) } }],
    ['its price changed', { cost: { unit: 'usd', amount: '2' } }],
  ])('%s', async (_why, changed) => {
    const asked = call()
    const first = await room.cards.park(asked)
    const second = await room.cards.park({ ...asked, ...changed })
    expect(second).toMatchObject({ ok: true, joined: false, card: { status: 'pending' } })
    expect(second.ok && second.card.shown).not.toBe(first.ok && first.card.shown)
  })
})
