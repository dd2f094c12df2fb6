import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Approving, Card, Decider, StandingApproval } from '../../src/approvals/cards.ts'
import type { ToPark } from '../../src/approvals/park.ts'
import { readAudit } from '../../src/audit/read.ts'
import { call, sessionOf, tool } from './calls.ts'
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
const free = { ...tool, standing: true } as const

async function park(asked: ToPark): Promise<Card> {
  const parked = await room.cards.park(asked)
  if (!parked.ok) throw new Error(parked.problem)
  return parked.card
}

/** The same call again, which is another card once the one before has ended. */
const again = (asked: ToPark, more: Partial<ToPark> = {}): ToPark => ({ ...asked, attempt: randomUUID(), ...more })
const other = (asked: ToPark, args: unknown): ToPark =>
  again(asked, { argumentsText: JSON.stringify(args), fingerprint: randomUUID() })

async function run(card: Card): Promise<boolean> {
  const claimed = await room.cards.claim(card.id, randomUUID())
  await room.cards.finish(card.id, { status: 'done', code: 'ok' })
  await room.cards.delivered(card.id)
  return claimed !== undefined
}

async function stand(asked: ToPark, how: Approving): Promise<StandingApproval> {
  const card = await park(asked)
  const decided = await room.cards.approve(card.id, ann, how)
  if (!decided.ok || decided.standing === undefined) throw new Error(JSON.stringify(decided))
  expect(decided.card.scope).toBe(how.scope)
  await run(card)
  return decided.standing
}

describe('a yes for once', () => {
  test('stands for nothing more', async () => {
    const asked = call()
    const card = await park(asked)
    expect(await room.cards.approve(card.id, ann)).toMatchObject({ ok: true, card: { scope: 'once' } })
    await run(card)
    expect((await park(again(asked))).status).toBe('pending')
  })
})

describe('a yes for the session', () => {
  test('lets exactly this call run as often as this session asks, each on a card of its own', async () => {
    const asked = call()
    const standing = await stand(asked, { scope: 'session' })
    const seen = new Set<string>()
    for (let n = 0; n < 3; n++) {
      const card = await park(again(asked))
      expect(card).toMatchObject({
        status: 'approved',
        decidedBy: `standing approval ${standing.id}`,
        standing: standing.id,
        scope: 'session',
      })
      expect(told.filter((line) => line.startsWith(card.id))).toEqual([
        `${card.id} created approved`,
        `${card.id} decided approved`,
      ])
      expect(await run(card)).toBe(true)
      expect(await room.cards.claim(card.id, randomUUID())).toBeUndefined()
      seen.add(card.id)
    }
    expect(seen.size).toBe(3)
    expect(await room.cards.standing.get(standing.id)).toMatchObject({ used: 3, state: 'live' })
    for (const no of [
      other(asked, { path: 'b.txt' }),
      again(asked, { session: sessionOf(randomUUID()) }),
      again(asked, { session: { ...asked.session, brand: 'other' } }),
      again(asked, { tool: { ...tool, name: 'mcp__files__other' }, fingerprint: randomUUID() }),
      again(asked, { tool: { ...tool, digest: 'e'.repeat(64) } }),
      again(asked, { tool: { ...tool, upstream: 'e'.repeat(64) } }),
      again(asked, { cost: { unit: 'usd', amount: '1' } }),
    ])
      expect((await park(no)).status).toBe('pending')
  })

  test('is recorded: who gave it, and which one let each call through', async () => {
    const asked = call()
    const standing = await stand(asked, { scope: 'session' })
    const card = await park(again(asked))
    const { items } = await readAudit(room.db, { limit: 500 })
    expect(items.find((row) => row.kind === 'standing.created' && row.standing === standing.id)).toMatchObject({
      by: ann.by,
      via: 'inbox',
      address: '192.0.2.7',
      scope: 'session',
      card: standing.card,
      reason: 'exactly this call',
    })
    const own = items.filter((row) => row.card === card.id).reverse()
    expect(own.map(({ kind }) => kind)).toEqual(['card.created', 'card.decided'])
    expect(own[1]).toMatchObject({ by: `standing approval ${standing.id}`, standing: standing.id, code: 'ok' })
  })

  test.each(['revoked_at', 'ended_at'])('ends with it (%s)', async (column) => {
    const asked = call()
    const { id } = asked.session
    await room.db.orm.execute(sql`
      insert into sessions (id, issuer, subject, brand, role, route, claims, issued_at, expires_at)
      values (${id}, 'i', 's', 'acme', 'person-chat', 'standard', '{}', now(), now() + interval '1 hour')`)
    const standing = await stand(asked, { scope: 'session' })
    expect((await room.cards.standing.get(standing.id))?.state).toBe('live')
    await room.db.orm.execute(sql`update sessions set ${sql.raw(column)} = now() where id = ${id}`)
    expect((await room.cards.standing.get(standing.id))?.state).toBe('ended')
    expect((await park(again(asked))).status).toBe('pending')
  })
})

describe('a yes for always', () => {
  test('is only to be had where the tool’s declaration offers it', async () => {
    const card = await park(call())
    expect(card.scopes).toEqual(['once', 'session'])
    expect(await room.cards.approve(card.id, ann, { scope: 'always' })).toMatchObject({
      ok: false,
      problem: 'scope_not_offered',
      card: { status: 'pending' },
      details: [expect.stringMatching(/not declared/)],
    })
    expect((await park(call({ tool: free }))).scopes).toEqual(['once', 'session', 'always'])
  })

  test('lets every session of the brand run it, until it is taken back or the declaration offers it no more', async () => {
    const asked = call({ tool: free })
    const standing = await stand(asked, { scope: 'always' })
    const elsewhere = () => again(asked, { session: sessionOf(randomUUID()) })
    expect((await park(elsewhere())).status).toBe('approved')
    expect((await park({ ...elsewhere(), session: { ...sessionOf(randomUUID()), brand: 'other' } })).status).toBe(
      'pending',
    )
    expect((await park({ ...elsewhere(), tool })).status).toBe('pending')
    expect(await room.cards.standing.revoke(standing.id, ann)).toMatchObject({
      ok: true,
      standing: { state: 'revoked' },
    })
    expect((await park(elsewhere())).status).toBe('pending')
  })
})

describe('similar calls', () => {
  const like = { arguments: { path: 'docs/*' }, count: 2, ttlSeconds: 3_600 }
  const first = () => call({ argumentsText: '{"path":"docs/a.txt","mode":"w"}' })

  test('run within the pattern, as often as it says and no more', async () => {
    const asked = first()
    const standing = await stand(asked, { scope: 'session', similar: like })
    expect(standing).toMatchObject({ similar: { path: 'docs/*' }, left: 2, used: 0, state: 'live' })
    expect((await park(other(asked, { path: 'src/a.txt', mode: 'w' }))).status).toBe('pending')
    expect((await park(other(asked, { path: 'docs/b.txt', mode: 'a' }))).status).toBe('pending')
    expect((await park(other(asked, { path: 'docs/b.txt', mode: 'w' }))).status).toBe('approved')
    expect((await park(other(asked, { mode: 'w', path: 'docs/c.txt' }))).status).toBe('approved')
    expect(await room.cards.standing.get(standing.id)).toMatchObject({ left: 0, used: 2, state: 'used_up' })
    expect((await park(other(asked, { path: 'docs/d.txt', mode: 'w' }))).status).toBe('pending')
  })

  test('run until it ends, by the database’s clock', async () => {
    const asked = first()
    const { id } = await stand(asked, { scope: 'session', similar: like })
    await room.db.orm.execute(sql`update standing_approvals set expires_at = now() where id = ${id}`)
    expect((await room.cards.standing.get(id))?.state).toBe('expired')
    expect((await park(other(asked, { path: 'docs/b.txt', mode: 'w' }))).status).toBe('pending')
  })

  test('joined by an equal one that is open take nothing from the count', async () => {
    const asked = first()
    const { id } = await stand(asked, { scope: 'session', similar: like })
    const next = other(asked, { path: 'docs/b.txt', mode: 'w' })
    await Promise.all(Array.from({ length: 5 }, () => park(again(next))))
    expect(await room.cards.standing.get(id)).toMatchObject({ left: 1, used: 1 })
  })

  test.each<[why: string, how: Approving]>([
    ['for once', { similar: like }],
    ['beyond its own call', { scope: 'session', similar: { ...like, arguments: { path: 'src/*' } } }],
    ['for everything', { scope: 'session', similar: { ...like, arguments: { path: '*' } } }],
    ['too often', { scope: 'session', similar: { ...like, count: 101 } }],
    ['for too long', { scope: 'session', similar: { ...like, ttlSeconds: 86_401 } }],
  ])('are refused %s, and the card waits on', async (_why, how) => {
    const { id } = await park(first())
    const refused = await room.cards.approve(id, ann, how)
    expect(refused).toMatchObject({ ok: false, problem: 'bad_pattern', card: { status: 'pending' } })
    expect(refused.ok === false && 'details' in refused && refused.details?.join('')).not.toBe('')
  })

  test('cannot be written down without an end or a count, whatever the program says', async () => {
    for (const column of ['left_over', 'expires_at', 'rest']) {
      const { id } = await stand(first(), { scope: 'session', similar: like })
      const unbound = sql`update standing_approvals set ${sql.raw(column)} = null where id = ${id}`
      await expect(room.db.orm.execute(unbound)).rejects.toThrow(/check/)
    }
  })
})

describe('taking one back', () => {
  test('is for whoever may decide its brand, and once', async () => {
    const { id } = await stand(call(), { scope: 'session' })
    expect(await room.cards.standing.revoke(id, { by: 'Bob', brand: 'other' })).toEqual({
      ok: false,
      problem: 'not_found',
    })
    expect(await room.cards.standing.revoke('x', ann)).toEqual({ ok: false, problem: 'not_found' })
    expect(await room.cards.standing.revoke(id, ann)).toMatchObject({ ok: true, standing: { revokedBy: ann.by } })
    expect(await room.cards.standing.revoke(id, ann)).toMatchObject({ ok: false, problem: 'already_revoked' })
    const { items } = await readAudit(room.db, { kind: 'standing.revoked', limit: 500 })
    expect(items.filter((row) => row.standing === id)).toHaveLength(1)
  })

  test('takes back what it let through and has not started; what runs ends as it ends', async () => {
    const like = { arguments: { path: 'a*' }, count: 5, ttlSeconds: 60 }
    const asked = call()
    const { id } = await stand(asked, { scope: 'session', similar: like })
    const waiting = await park(other(asked, { path: 'a1' }))
    const running = await park(other(asked, { path: 'a2' }))
    await room.cards.claim(running.id, randomUUID())
    await room.cards.standing.revoke(id, ann)
    expect(await room.cards.get(waiting.id)).toMatchObject({ status: 'withdrawn' })
    expect(await room.cards.claim(waiting.id, randomUUID())).toBeUndefined()
    expect(await room.cards.get(running.id)).toMatchObject({ status: 'running' })
    expect(told.filter((line) => line.startsWith(waiting.id)).at(-1)).toBe(`${waiting.id} finished withdrawn`)
  })
})

test('standing approvals are listed newest first, by brand, session, tool and state, in pages', async () => {
  const asked = call()
  const made: string[] = []
  for (let n = 0; n < 5; n++) made.push((await stand(other(asked, { path: `${n}` }), { scope: 'session' })).id)
  const sessionId = asked.session.id
  const ids = async (more: object) =>
    (await room.cards.standing.list({ sessionId, limit: 10, ...more })).items.map(({ id }) => id)
  expect(await ids({})).toEqual(made.toReversed())
  expect(await ids({ brand: 'other' })).toEqual([])
  expect(await ids({ tool: tool.name })).toHaveLength(5)
  await room.cards.standing.revoke(made[0] as string, ann)
  expect(await ids({ state: 'live' })).toEqual(made.slice(1).toReversed())
  expect(await ids({ state: 'revoked' })).toEqual([made[0]])
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await room.cards.standing.list({ sessionId, limit: 2, ...(cursor === undefined ? {} : { cursor }) })
    seen.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  expect(seen).toEqual(made.toReversed())
  await expect(room.cards.standing.list({ limit: 1, cursor: 'x' })).rejects.toThrow(RangeError)
})
