import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CardStatus } from '../../src/approvals/cards.ts'
import { call } from './calls.ts'
import { emptyModel, latest, type Model, move, newest, open, sweep } from './model.ts'
import { freshRoom, type Room } from './world.ts'

const CALLS = 3
const by = { by: 'ann' }

/** The real room, for one session. */
interface World {
  readonly room: Room
  readonly asked: ReturnType<typeof call>[]
}

let room: Room
beforeAll(async () => {
  // Times are set by hand here.
  room = await freshRoom({ timeoutMs: 3_600_000, leaseMs: 3_600_000 })
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
  real: (id: string) => Promise<unknown>,
): Command {
  return command(name, n, async (model) => {
    const card = newest(model, n)
    const id = card?.id ?? randomUUID()
    const moved = await real(id)
    expect(moved !== undefined && (moved as { ok?: boolean }).ok !== false).toBe(move(model, n, from, to))
    expect((await room.cards.get(id))?.status).toBe(card?.status)
  })
}

const anyCommand = fc.nat(CALLS - 1).chain((n) =>
  fc.constantFrom<Command>(
    command('park', n, async (model, world) => {
      const parked = await world.room.cards.park(world.asked[n] as ReturnType<typeof call>)
      if (!parked.ok) throw new Error(parked.problem)
      expect(parked.joined ? parked.card.id : undefined).toBe(open(model, n)?.id)
      if (!parked.joined) model.calls[n]?.push({ id: parked.card.id, status: 'pending', over: false, delivered: false })
    }),
    moving('approve', n, ['pending'], 'approved', (id) => room.cards.approve(id, by)),
    moving('deny', n, ['pending'], 'denied', (id) => room.cards.deny(id, by)),
    moving('withdraw', n, ['pending', 'approved'], 'withdrawn', (id) => room.cards.withdraw(id, by)),
    moving('claim', n, ['approved'], 'running', (id) => room.cards.claim(id, randomUUID())),
    moving('refuse', n, ['approved'], 'failed', (id) => room.cards.refuse(id, { code: 'session_revoked' })),
    moving('finish', n, ['running'], 'done', (id) => room.cards.finish(id, { status: 'done', code: 'ok' })),
    moving('cut', n, ['running'], 'unknown', (id) =>
      room.cards.finish(id, { status: 'unknown', code: 'outcome_unknown' }),
    ),
    command('look', n, async (model, { asked }) => {
      const found = await room.cards.latest(asked[n]?.session.id ?? '', asked[n]?.fingerprint ?? '')
      expect(found?.id).toBe(latest(model, n)?.id)
    }),
    command('collect', n, async (model) => {
      const card = latest(model, n)
      const collectable = card !== undefined && card !== open(model, n)
      expect(await room.cards.delivered(card?.id ?? randomUUID())).toBe(collectable)
      if (collectable) card.delivered = true
    }),
    command('approve late', n, async (model) => {
      const card = newest(model, n)
      if (card?.status !== 'pending') return
      card.over = true
      await room.db.orm.execute(sql`update cards set expires_at = now() - interval '1 second' where id = ${card.id}`)
      expect(await room.cards.approve(card.id, by)).toMatchObject({ ok: false, problem: 'expired' })
      expect(move(model, n, ['pending'], 'approved')).toBe(false)
    }),
    command('pass time', n, async (model) => {
      const card = newest(model, n)
      if (card === undefined) return
      card.over = true
      await room.db.orm.execute(sql`
        update cards set expires_at = now() - interval '1 second', lease_until = now() - interval '1 second'
        where id = ${card.id}`)
      // The room sweeps by itself each second: nothing may depend on when.
      await room.cards.sweep()
      sweep(model)
    }),
  ),
)

test('random sequences of commands end as a model says, and no card runs twice', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands([anyCommand], { maxCommands: 12 }), async (commands) => {
      const sessionId = randomUUID()
      const asked = Array.from({ length: CALLS }, () => call({ sessionId }))
      const model = emptyModel(CALLS)
      await fc.asyncModelRun(() => ({ model, real: { room, asked } }), commands)
      for (const card of model.calls.flat()) expect((await room.cards.get(card.id))?.status).toBe(card.status)
      for (const [, runs] of model.runs) expect(runs).toBe(1)
    }),
    { numRuns: 300, interruptAfterTimeLimit: 100_000 },
  )
})
