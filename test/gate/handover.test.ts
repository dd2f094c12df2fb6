/** The approval of a built-in waits for its harness: nobody else carries it out, and it does not wait for ever. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Gate } from '../../src/gate/gate.ts'
import { builtinTools } from '../../src/gate/harness-tools.ts'
import { startRunner } from '../../src/gate/runner.ts'
import { call, tool } from '../approvals/calls.ts'
import { freshRoom, type Room, until } from '../approvals/world.ts'
import { quiet } from '../support/database.ts'

let room: Room
beforeAll(async () => {
  room = await freshRoom()
})
afterAll(() => room?.close())

const bash = builtinTools(['Bash'], { Bash: 'write' }).get('Bash')!

/** A runner whose gate only notes what it is given. */
function runner(handoverMs?: number): string[] {
  const ran: string[] = []
  const gate = { runApproved: async ({ id }: { id: string }) => void ran.push(id) } as unknown as Gate
  const more = handoverMs === undefined ? {} : { handoverMs }
  const parts = { cards: room.cards, gate, log: quiet, sessionOf: async () => undefined, graceMs: 10, pollMs: 20 }
  onTestFinished(startRunner({ ...parts, ...more }))
  return ran
}

async function approved(which = bash): Promise<string> {
  const parked = await room.cards.park(call({ tool: which }))
  if (!parked.ok) throw new Error(parked.problem)
  const decided = await room.cards.approve(parked.card.id, { by: 'Ann' })
  expect(decided.ok).toBe(true)
  return parked.card.id
}

test('the runner carries out an upstream’s call, and leaves a built-in to its harness', async () => {
  const ran = runner()
  const builtin = await approved()
  const upstreams = await approved(tool)
  await until(() => ran.includes(upstreams))
  await until(() => ran.filter((id) => id === upstreams).length > 2)
  expect(ran).not.toContain(builtin)
  expect((await room.cards.get(builtin))?.status).toBe('approved')
})

test('an approval that no harness came for in time is void', async () => {
  const id = await approved()
  const ran = runner(0)
  await until(async () => (await room.cards.get(id))?.status === 'failed')
  expect((await room.cards.get(id))?.outcome).toMatchObject({ code: 'approval_expired' })
  expect(ran).not.toContain(id)
})
