import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Card, CardStatus } from '../../src/approvals/cards.ts'
import { rows } from '../../src/db/connect.ts'
import { call, tool } from './calls.ts'
import { freshRoom, type Room, until } from './world.ts'

let room: Room
beforeAll(async () => {
  room = await freshRoom()
})
afterAll(() => room.close())

const ann = { by: 'ann' }

async function parked(more: Parameters<typeof call>[0] = {}): Promise<Card> {
  const parked = await room.cards.park(call(more))
  if (!parked.ok) throw new Error(parked.problem)
  return parked.card
}

/** Sets both of a card's times to the past, as if nobody had come for a while. */
async function pass(id: string): Promise<void> {
  await room.db.orm.execute(sql`
    update cards set expires_at = now() - interval '1 second', lease_until = now() - interval '1 second' where id = ${id}`)
}

async function kinds(id: string): Promise<string[]> {
  const found = await room.db.orm.execute(sql`select kind, code from audit where card = ${id} order by seq`)
  return rows<{ kind: string; code: string | null }>(found).map(({ kind, code }) => (code ? `${kind} ${code}` : kind))
}

/** Every way to move a card, by name. */
const MOVES = {
  approve: async (id: string) => (await room.cards.approve(id, ann)).ok,
  deny: async (id: string) => (await room.cards.deny(id, ann)).ok,
  withdraw: async (id: string) => (await room.cards.withdraw(id, ann)).ok,
  claim: async (id: string) => (await room.cards.claim(id, randomUUID())) !== undefined,
  refuse: async (id: string) => (await room.cards.refuse(id, { code: 'session_revoked' })) !== undefined,
  'finish done': async (id: string) => (await room.cards.finish(id, { status: 'done', code: 'ok' })) !== undefined,
  'finish failed': async (id: string) =>
    (await room.cards.finish(id, { status: 'failed', code: 'upstream_unavailable' })) !== undefined,
  'finish unknown': async (id: string) =>
    (await room.cards.finish(id, { status: 'unknown', code: 'outcome_unknown' })) !== undefined,
  'pass time': async (id: string) => {
    await pass(id)
    return (await room.cards.sweep()) > 0
  },
} satisfies Record<string, (id: string) => Promise<boolean>>
type Move = keyof typeof MOVES

/** How a new card gets into each state. */
const WAYS: Record<CardStatus, Move[]> = {
  pending: [],
  approved: ['approve'],
  running: ['approve', 'claim'],
  done: ['approve', 'claim', 'finish done'],
  failed: ['approve', 'claim', 'finish failed'],
  unknown: ['approve', 'claim', 'finish unknown'],
  denied: ['deny'],
  expired: ['pass time'],
  withdrawn: ['withdraw'],
}

/** All that may happen. Nothing else does. */
const LEGAL: Partial<Record<CardStatus, Partial<Record<Move, CardStatus>>>> = {
  pending: { approve: 'approved', deny: 'denied', withdraw: 'withdrawn', 'pass time': 'expired' },
  approved: { claim: 'running', refuse: 'failed', withdraw: 'withdrawn' },
  running: { 'finish done': 'done', 'finish failed': 'failed', 'finish unknown': 'unknown', 'pass time': 'unknown' },
}

describe.each(Object.keys(WAYS) as CardStatus[])('a card that is %s', (from) => {
  test.each(Object.keys(MOVES) as Move[])('answers "%s" as the table of moves says', async (name) => {
    const { id } = await parked()
    for (const way of WAYS[from]) expect(await MOVES[way](id)).toBe(true)
    const before = await room.cards.get(id)
    expect(before?.status).toBe(from)
    const records = await kinds(id)

    const to = LEGAL[from]?.[name]
    expect(await MOVES[name](id)).toBe(to !== undefined)

    const after = await room.cards.get(id)
    expect(after?.status).toBe(to ?? from)
    expect((await kinds(id)).length).toBe(records.length + (to === undefined ? 0 : 1))
    if (to === undefined) expect({ ...after, expiresAt: '' }).toEqual({ ...before, expiresAt: '' })
  })
})

describe('a decision', () => {
  test('that comes second is told who was first', async () => {
    const { id } = await parked()
    await room.cards.approve(id, { by: 'ann', note: 'go on' })
    const second = await room.cards.deny(id, { by: 'bob' })
    expect(second).toMatchObject({
      ok: false,
      problem: 'already_decided',
      card: { status: 'approved', decidedBy: 'ann', note: 'go on' },
    })
  })

  test('on a card that is not there is told so, whatever the id is', async () => {
    for (const id of [randomUUID(), 'x', '', "'; drop table cards; --", '\u0000']) {
      expect(await room.cards.approve(id, ann)).toEqual({ ok: false, problem: 'not_found' })
      expect(await room.cards.get(id)).toBeUndefined()
      expect(await room.cards.claim(id, 'a')).toBeUndefined()
      expect(await room.cards.finish(id, { status: 'done', code: 'ok' })).toBeUndefined()
      expect(await room.cards.delivered(id)).toBe(false)
      expect(await room.cards.renew(id)).toBe(false)
      expect(await room.cards.result(id)).toBeUndefined()
      expect(await room.cards.wait(id, { untilMs: 10 })).toBeUndefined()
    }
  })

  test('after the time is refused even before any sweep, and the card has expired then', async () => {
    const { id } = await parked()
    await pass(id)
    expect(await room.cards.approve(id, ann)).toMatchObject({
      ok: false,
      problem: 'expired',
      card: { status: 'expired' },
    })
    expect(await room.cards.claim(id, randomUUID())).toBeUndefined()
    expect(await kinds(id)).toEqual(['card.created', 'card.ended approval_expired'])
  })

  test('stays with its card for good: every step leaves one record', async () => {
    const { id } = await parked()
    await room.cards.approve(id, ann)
    await room.cards.claim(id, 'attempt-7')
    await room.cards.finish(id, { status: 'done', code: 'ok', outcome: { code: 'ok', isError: false } })
    expect(await kinds(id)).toEqual(['card.created', 'card.decided ok', 'call.started', 'card.ended ok'])
    expect((await room.cards.get(id))?.outcome).toEqual({ code: 'ok', isError: false })
  })
})

describe('time', () => {
  test('ends a card within two seconds of its limit, with nobody asking', async () => {
    const cards = room.also({ timeoutMs: 300 })
    const parked = await cards.park(call())
    const id = parked.ok ? parked.card.id : ''
    const started = performance.now()
    await until(async () => (await room.cards.get(id))?.status === 'expired')
    expect(performance.now() - started).toBeLessThan(2_300)
    expect((await cards.approve(id, ann)).ok).toBe(false)
    expect(await cards.claim(id, randomUUID())).toBeUndefined()
  })

  test.each([0, -1, Number.NaN])('of %s denies at once, and says so in the record', async (timeoutMs) => {
    const cards = room.also({ timeoutMs })
    const asked = call()
    const parked = await cards.park(asked)
    expect(parked).toMatchObject({ ok: true, joined: false, card: { status: 'expired' } })
    const id = parked.ok ? parked.card.id : ''
    expect(await kinds(id)).toEqual(['card.created', 'card.ended approval_expired'])
    expect((await cards.latest(asked.session.id, asked.fingerprint))?.id).toBe(id)
    expect((await cards.approve(id, ann)).ok).toBe(false)
  })

  test('past a lease makes the outcome unknown, and a lease can be renewed', async () => {
    const { id } = await parked()
    await room.cards.approve(id, ann)
    await room.cards.claim(id, randomUUID())
    await pass(id)
    expect(await room.cards.renew(id)).toBe(true)
    expect(await room.cards.sweep()).toBe(0)
    await pass(id)
    await room.cards.sweep()
    expect(await room.cards.get(id)).toMatchObject({ status: 'unknown', outcome: { code: 'outcome_unknown' } })
    expect(await room.cards.claim(id, randomUUID())).toBeUndefined()
    expect(await room.cards.finish(id, { status: 'done', code: 'ok' })).toBeUndefined()
    expect(await room.cards.renew(id)).toBe(false)
  })
})

describe('an equal call', () => {
  test('joins the open card, and other arguments make another', async () => {
    const first = call()
    const one = await room.cards.park(first)
    const two = await room.cards.park({ ...first, attempt: randomUUID() })
    const other = await room.cards.park({ ...first, fingerprint: randomUUID(), argumentsText: '{"path":"b.txt"}' })
    expect(two).toMatchObject({ ok: true, joined: true, card: { id: one.ok && one.card.id } })
    expect(other.ok && other.card.id).not.toBe(one.ok && one.card.id)
    const id = one.ok ? one.card.id : ''
    for (const step of ['approve', 'claim'] as const) {
      await MOVES[step](id)
      expect(await room.cards.park(first)).toMatchObject({ ok: true, joined: true, card: { id } })
    }
  })

  test('of another session is another card', async () => {
    const fingerprint = randomUUID()
    expect((await parked({ fingerprint })).id).not.toBe((await parked({ fingerprint })).id)
  })

  test.each(['done', 'failed', 'unknown', 'denied', 'expired'] as const)(
    'that comes late collects what became of a card that is %s, once',
    async (status) => {
      const asked = call()
      const first = await parked({ ...asked, sessionId: asked.session.id })
      for (const way of WAYS[status]) await MOVES[way](first.id)
      const again = () => room.cards.latest(asked.session.id, asked.fingerprint)
      expect((await again())?.id).toBe(first.id)
      expect((await again())?.id).toBe(first.id)
      expect(await room.cards.delivered(first.id)).toBe(true)
      expect(await room.cards.delivered(first.id)).toBe(false)
      expect(await again()).toBeUndefined()
      const next = await parked({ ...asked, sessionId: asked.session.id })
      expect(next).toMatchObject({ status: 'pending' })
      expect(next.id).not.toBe(first.id)
      expect((await again())?.id).toBe(next.id)
    },
  )

  test('collects the result as it was', async () => {
    const { id } = await parked()
    await room.cards.approve(id, ann)
    await room.cards.claim(id, randomUUID())
    const resultText = '{"n":123456789012345678901234567890,"s":"\\u0000\\ud800"}'
    await room.cards.finish(id, { status: 'done', code: 'ok', resultText })
    expect(await room.cards.result(id)).toBe(resultText)
  })

  test('is not given what was taken back', async () => {
    const asked = call()
    const { id } = await parked({ ...asked, sessionId: asked.session.id })
    await room.cards.withdraw(id, { by: 'the caller' })
    expect(await room.cards.latest(asked.session.id, asked.fingerprint)).toBeUndefined()
  })
})

test('a session has at most so many open cards, may still join those, and slows no other', async () => {
  const cards = room.also({ mostOpen: 3 })
  const sessionId = randomUUID()
  const calls = [1, 2, 3].map(() => call({ sessionId }))
  for (const one of calls) expect((await cards.park(one)).ok).toBe(true)
  expect(await cards.park(call({ sessionId }))).toEqual({ ok: false, problem: 'too_many' })
  const joined = await cards.park(calls[0] ?? call())
  expect(joined).toMatchObject({ ok: true, joined: true })
  expect((await cards.park(call())).ok).toBe(true)
  if (joined.ok) await cards.deny(joined.card.id, ann)
  expect((await cards.park(call({ sessionId }))).ok).toBe(true)
})

describe('what runs', () => {
  test.each([
    ['{"a":"\\u0000","b":"\\ud800 \\udc00\\ud83d"}', '', ''],
    ['{"n":123456789012345678901234567890,"m":1.0,"e":-1E-400}', '"a":1.50', '"x/y":{"b" : 2}'],
    [' { "b" : 1 ,\n "a" : [ ] }', '', ''],
    ['{"s":"\ud800 raw \u0000 \u2028"}', '"\ud800":1', ''],
    [undefined, '', ''],
    [`{"long":"${'é😀'.repeat(100_000)}"}`, '', ''],
  ])('is what the caller sent, byte for byte (%#)', async (argumentsText, extraText, metaText) => {
    const { id } = await parked({ argumentsText, extraText, metaText })
    await room.cards.approve(id, ann)
    const claimed = await room.cards.claim(id, randomUUID())
    expect(claimed?.card.status).toBe('running')
    expect([claimed?.argumentsText, claimed?.extraText, claimed?.metaText]).toEqual([
      argumentsText,
      extraText,
      metaText,
    ])
  })

  test('is shown with its digits', async () => {
    const { id } = await parked({ argumentsText: '{"n":123456789012345678901234567890}' })
    expect(JSON.stringify((await room.cards.get(id))?.arguments)).toBe('{"n":123456789012345678901234567890}')
  })
})

test('no secret is in any row, wherever it came in', async () => {
  const canary = `c4nary${randomUUID().replaceAll('-', '')}`
  const names = [
    'password',
    'apiKey',
    'API_KEY',
    'x-api-key',
    'Authorization',
    'cookie',
    'clientSecret',
    'token',
    'credential',
    'passwd',
  ]
  const shapes = names.flatMap((name) => [
    { [name]: canary },
    { a: { b: [{ [name]: [canary] }] } },
    { url: `https://me:${canary}@example.com/?${name}=${canary}` },
    { header: `${name}: ${canary}` },
  ])
  const text = JSON.stringify({ shapes, ...shapes[0], line: `Bearer ${canary}` })
  const { id } = await parked({
    argumentsText: text,
    extraText: `"token":"${canary}"`,
    metaText: `"x/secret":"${canary}"`,
    tool: { ...tool, title: `Send token=${canary}` },
  })
  await room.cards.approve(id, { by: 'ann', note: `password: ${canary}` })
  await room.cards.claim(id, randomUUID())
  const outcome = { code: 'ok', error: `https://u:${canary}@h/`, password: canary } as const
  await room.cards.finish(id, { status: 'done', code: 'ok', outcome, resultText: `{"text":"${canary}"}` })
  const card = rows<{ row: string }>(
    await room.db.orm.execute(sql`select c::text as row from cards c where id = ${id}`),
  )
  const audit = rows<{ row: string }>(
    await room.db.orm.execute(sql`select a::text as row from audit a where card = ${id}`),
  )
  expect([card.length, audit.length]).toEqual([1, 4])
  for (const { row } of [...card, ...audit]) {
    expect(row).not.toContain(canary)
    expect(row).not.toContain(Buffer.from(canary).toString('base64').slice(0, 30))
  }
  expect((await room.cards.claim(id, 'again'))?.argumentsText).toBeUndefined()
})

describe('a list', () => {
  test('pages without losing or repeating a card, newest first', async () => {
    const sessionId = randomUUID()
    const made: string[] = []
    for (let i = 0; i < 23; i++) made.push((await parked({ sessionId })).id)
    // All of one instant, so that only the id tells them apart.
    await room.db.orm.execute(
      sql`update cards set created_at = '2026-01-01 00:00:00.123456+00' where session_id = ${sessionId}`,
    )
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await room.cards.list({ sessionId, limit: 5, ...(cursor === undefined ? {} : { cursor }) })
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(seen.length).toBe(23)
    expect(new Set(seen)).toEqual(new Set(made))
    expect(seen).toEqual([...seen].sort().reverse())
  })

  test('keeps to status, brand and session', async () => {
    const sessionId = randomUUID()
    const { id } = await parked({ sessionId })
    await parked({ sessionId })
    await room.cards.deny(id, ann)
    const ids = async (more: object) =>
      (await room.cards.list({ sessionId, limit: 10, ...more })).items.map((card) => card.id)
    expect(await ids({ status: 'denied' })).toEqual([id])
    expect((await ids({ status: 'pending' })).length).toBe(1)
    expect((await ids({ brand: 'acme' })).length).toBe(2)
    expect(await ids({ brand: 'other' })).toEqual([])
  })

  test('refuses a cursor it did not give out', async () => {
    for (const cursor of ['x', '', Buffer.from("2026-01-01 00:00:00+00|'; drop").toString('base64url')]) {
      await expect(room.cards.list({ limit: 1, cursor })).rejects.toThrow(RangeError)
    }
  })
})
