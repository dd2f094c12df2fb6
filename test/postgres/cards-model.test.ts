/** C4: random sequences of commands against a model. More of them with `npm run test:cards`. */
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Approving, Cards, CardStatus, Decided } from '../../src/approvals/cards.ts'
import { rows } from '../../src/db/connect.ts'
import { CARD_STATUSES } from '../../src/db/schema.ts'
import { call } from '../approvals/calls.ts'
import { emptyModel, lapse, latest, type Model, move, newest, open, park, revoke } from '../approvals/model.ts'
import { type Room, roomOn } from '../approvals/world.ts'
import { freshPostgres } from '../support/database.ts'

const RUNS = Number(process.env.CARD_RUNS ?? 300)
const CALLS = 2
const by = { by: 'ann' }
const times = { timeoutMs: 3_600_000, leaseMs: 3_600_000 }

/** The real side of one sequence: one session, whose gateway can be replaced by another. */
interface World {
  cards: Cards
  readonly asked: ReturnType<typeof call>[]
}

let room: Room
beforeAll(async () => {
  const database = await freshPostgres()
  // Times are set by hand here.
  room = roomOn(database.db, times, database.close)
})
afterAll(() => room.close())

type Command = fc.AsyncCommand<Model, World>
const command = (name: string, call: number, run: (model: Model, world: World) => Promise<void>): Command => ({
  check: () => true,
  run,
  toString: () => `${name} ${call}`,
})

/** A command that moves the newest card of a call: both sides must agree on whether it may, and on where it ends. */
function moving(
  name: string,
  n: number,
  from: readonly CardStatus[],
  to: CardStatus,
  real: (cards: Cards, id: string) => Promise<unknown>,
): Command {
  return command(name, n, async (model, { cards }) => {
    const card = newest(model, n)
    const id = card?.id ?? randomUUID()
    const moved = await real(cards, id)
    expect(moved !== undefined && (moved as { ok?: boolean }).ok !== false).toBe(move(model, n, from, to))
    expect((await cards.get(id))?.status).toBe(card?.status)
  })
}

/** A yes for more than once. */
const standing = (name: string, n: number, how: Approving): Command =>
  command(name, n, async (model, { cards }) => {
    const decided = await cards.approve(newest(model, n)?.id ?? randomUUID(), by, how)
    expect(decided.ok).toBe(move(model, n, ['pending'], 'approved'))
    if (!decided.ok) return
    const { id } = decided.standing ?? { id: '' }
    const [covered, left] =
      how.similar === undefined ? [n, Number.POSITIVE_INFINITY] : (['all', how.similar.count] as const)
    model.standing.push({ id, call: covered, left, revoked: false })
  })

const over = (id: string) => sql`
  update cards set expires_at = now() - interval '1 second', lease_until = now() - interval '1 second' where id = ${id}`

/** Every command on one call. */
const commandsOn = (n: number): Command[] => [
  command('park', n, async (model, { cards, asked }) => {
    const same = asked[n] as ReturnType<typeof call>
    const parked = await Promise.all([cards.park(same), cards.park(same)])
    const [first, second] = parked.map((one) => (one.ok ? one : undefined))
    expect(second?.card.id).toBe(first?.card.id)
    const joined = parked.filter((one) => one.ok && one.joined).length
    const card = open(model, n)
    expect(joined).toBe(card === undefined ? 1 : 2)
    const id = first?.card.id ?? ''
    expect(id).toBe(card?.id ?? park(model, n, id).id)
    expect((await cards.get(id))?.status).toBe(open(model, n)?.status)
  }),
  moving('approve', n, ['pending'], 'approved', (cards, id) => cards.approve(id, by)),
  standing('approve for the session', n, { scope: 'session' }),
  standing('approve like ones', n, {
    scope: 'session',
    similar: { arguments: { path: 'docs/*' }, count: 2, ttlSeconds: 600 },
  }),
  moving('deny', n, ['pending'], 'denied', (cards, id) => cards.deny(id, by)),
  moving('withdraw', n, ['pending', 'approved'], 'withdrawn', (cards, id) => cards.withdraw(id, by)),
  moving('claim', n, ['approved'], 'running', async (cards, id) => {
    const claims = await Promise.all([cards.claim(id, randomUUID()), cards.claim(id, randomUUID())])
    expect(claims.every((claim) => claim !== undefined)).toBe(false)
    return claims.find((claim) => claim !== undefined)
  }),
  moving('refuse', n, ['approved'], 'failed', (cards, id) => cards.refuse(id, { code: 'session_revoked' })),
  moving('finish', n, ['running'], 'done', (cards, id) => cards.finish(id, { status: 'done', code: 'ok' })),
  moving('cut', n, ['running'], 'unknown', (cards, id) =>
    cards.finish(id, { status: 'unknown', code: 'outcome_unknown' }),
  ),
  moving('settle as happened', n, ['unknown'], 'done', (cards, id) => cards.settle(id, by, 'happened')),
  moving('settle as not', n, ['unknown'], 'failed', (cards, id) => cards.settle(id, by, 'did_not')),
  command('decide at once', n, async (model, { cards }) => {
    const card = newest(model, n)
    const id = card?.id ?? randomUUID()
    const decided = await Promise.all<Decided>([cards.approve(id, by), cards.deny(id, by), cards.approve(id, by)])
    const won = decided.filter(({ ok }) => ok)
    const to = won[0]?.card?.status ?? 'approved'
    expect(won.length).toBe(move(model, n, ['pending'], to) ? 1 : 0)
  }),
  command('look', n, async (model, { cards, asked }) => {
    const found = await cards.latest(asked[n]?.session.id ?? '', asked[n]?.fingerprint ?? '')
    expect(found?.id).toBe(latest(model, n)?.id)
  }),
  command('collect', n, async (model, { cards }) => {
    const card = latest(model, n)
    const collectable = card !== undefined && card !== open(model, n)
    expect(await cards.delivered(card?.id ?? randomUUID())).toBe(collectable)
    if (collectable) card.delivered = true
  }),
  command('approve late', n, async (model, { cards }) => {
    const card = newest(model, n)
    if (card?.status !== 'pending') return
    await room.db.orm.execute(over(card.id))
    expect(await cards.approve(card.id, by)).toMatchObject({ ok: false, problem: 'expired' })
    lapse(model, n)
  }),
  command('pass time', n, async (model, { cards }) => {
    const card = newest(model, n)
    if (card === undefined) return
    await room.db.orm.execute(over(card.id))
    // The room sweeps by itself each second: nothing may depend on when.
    await cards.sweep()
    lapse(model, n)
  }),
  command('take the last standing approval back', n, async (model, { cards }) => {
    const last = model.standing.at(-1 - n)
    const revoked = await cards.standing.revoke(last?.id ?? randomUUID(), by)
    expect(revoked.ok).toBe(revoke(model, last))
  }),
  command('crash', n, async (_model, world) => {
    await world.cards.close()
    world.cards = room.also(times)
  }),
  command('end the session', n, async (model, { asked }) => {
    await room.db.orm.execute(sql`update sessions set revoked_at = now() where id = ${asked[0]?.session.id}`)
    model.sessionOver = true
  }),
]

/** What leads on from where a card stands, so that sequences get somewhere. */
const LEADS: Record<CardStatus | 'none', string[]> = {
  none: ['park'],
  pending: ['approve', 'approve for the session', 'approve like ones', 'deny', 'decide at once', 'pass time'],
  approved: ['claim', 'claim', 'claim', 'take the last standing approval back', 'withdraw'],
  running: ['finish', 'finish', 'cut', 'cut', 'pass time'],
  unknown: ['settle as happened', 'settle as not', 'collect'],
  ...{
    done: ['park', 'collect'],
    failed: ['park', 'collect'],
    denied: ['park'],
    expired: ['park'],
    withdrawn: ['park'],
  },
}
const COMMANDS = Array.from({ length: CALLS }, (_, n) => commandsOn(n))

/** Mostly a command that leads on from where its card stands by then, else any. */
const anyCommand = fc.tuple(fc.nat(CALLS - 1), fc.nat(2), fc.nat(119)).map(([n, wild, pick]): Command => {
  return command(`step ${wild} ${pick}`, n, async (model, world) => {
    const commands = COMMANDS[n] as Command[]
    const leads = LEADS[newest(model, n)?.status ?? 'none']
    const wanted = wild === 0 ? undefined : `${leads[pick % leads.length]} ${n}`
    const chosen = commands.find((one) => String(one) === wanted) ?? (commands[pick % commands.length] as Command)
    trail.push(String(chosen))
    await chosen.run(model, world)
  })
})
/** What the sequence under way did, since its commands choose as they go. */
let trail: string[] = []

test('random sequences of commands end as a model says, and no card runs twice', {
  timeout: RUNS * 1_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands([anyCommand], { maxCommands: 16, size: 'max' }), async (sequence) => {
      const sessionId = randomUUID()
      await room.db.orm.execute(sql`
        insert into sessions (id, issuer, subject, brand, role, route, claims, issued_at, expires_at)
        values (${sessionId}, 'i', 's', 'acme', 'person-chat', 'standard', '{}', now(), now() + interval '1 hour')`)
      const asked = Array.from({ length: CALLS }, (_, n) =>
        call({ sessionId, argumentsText: `{"path":"docs/${n}","mode":"w"}` }),
      )
      const model = emptyModel(CALLS)
      const world = { cards: room.also(times), asked }
      trail = []
      try {
        await fc.asyncModelRun(() => ({ model, real: world }), sequence)
        for (const card of model.calls.flat()) expect((await world.cards.get(card.id))?.status).toBe(card.status)
      } catch (problem) {
        throw new Error(`After: ${trail.join(', ')}.`, { cause: problem })
      } finally {
        await world.cards.close()
      }
    }),
    { numRuns: RUNS, interruptAfterTimeLimit: RUNS * 900 },
  )
  const twice = sql`select card from audit where kind = 'call.started' group by card having count(*) > 1`
  expect(rows(await room.db.orm.execute(twice))).toEqual([])
  // Sequences that come nowhere would prove nothing.
  const reached = rows<{ what: string }>(
    await room.db.orm.execute(sql`
      select status as what from cards union select settled from cards where settled is not null
      union select 'let through' from cards where standing is not null and status = 'done'
      union select 'taken back' from cards where standing is not null and status = 'withdrawn'`),
  )
  const wanted = [...CARD_STATUSES, 'happened', 'did_not', 'let through', 'taken back']
  expect(reached.map(({ what }) => what).sort()).toEqual(wanted.sort())
})
