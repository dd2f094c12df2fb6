/**
 * Routines as rows, on two replicas of one database, and what races with them.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Audit, createAudit } from '../../src/audit/audit.ts'
import type { RegisteredTool } from '../../src/connector/connector.ts'
import { acceptAll, lockSet, noteSeen } from '../../src/grants/pins/rows.ts'
import { createRoutines, type Routines } from '../../src/grants/routines/routines.ts'
import { createTraces, isProven } from '../../src/gate/traces.ts'
import { refused } from '../../src/gate/outcome.ts'
import { confirmationOf } from '../../src/policy/routines.ts'
import type { Session } from '../../src/policy/words.ts'
import { freshDatabase, quiet, type TestDatabase } from '../support/database.ts'

let world: TestDatabase
let audit: Audit
let audits: Audit[]
let one: Routines
let two: Routines
let changes = 0

beforeEach(async () => {
  world = await freshDatabase()
  audits = [1, 2].map(() => createAudit({ db: world.db, log: quiet }))
  audit = audits[0]!
  const parts = { db: world.db, log: quiet, proven: async () => true, changed: () => changes++, pollMs: 50 }
  one = await createRoutines({ ...parts, audit })
  two = await createRoutines({ ...parts, audit: audits[1]! })
})
afterEach(async () => {
  await Promise.all([one.close(), two.close()])
  await Promise.all(audits.map((each) => each.close()))
  await world.close()
})

const DIGEST = 'd'.repeat(64)
const tool = (name: string, digest = DIGEST) =>
  ({ name: `mcp__up__${name}`, connector: 'up', digest }) as RegisteredTool
const draft = { name: 'Triage', description: '', channel: 'none', connections: ['up'], allowance: {} } as const
const want = (name: string, to: 'enabled' | 'automatic' | 'disabled', version?: number) => ({
  tool: tool(name),
  open: true,
  to,
  confirm: confirmationOf(draft, `mcp__up__${name}`),
  version,
})

async function made(brand = 'acme') {
  const done = await one.create(brand, draft, 'Ann')
  if (!done.ok) throw new Error(done.problem)
  return done.routine
}

/** What a listing does that shows another definition of `send`. */
const changed = () =>
  audit.transaction(async (tx, record) => {
    const set = { scope: 'acme', connector: 'up' }
    await lockSet(tx, set)
    await noteSeen(tx, set, [{ tool: 'send', digest: 'e'.repeat(64), text: '{}', body: 'b' }])
    return one.clear(
      tx,
      record,
      { connector: 'up', brand: 'acme', tools: ['mcp__up__send'], because: 'definition changed' },
      'definition changed',
    )
  })

/** What the first discovery does. */
const pinned = () =>
  audit.transaction(async (tx) => {
    const set = { scope: 'acme', connector: 'up' }
    await lockSet(tx, set)
    await acceptAll(tx, set, [{ tool: 'send', digest: DIGEST, text: '{"name":"send"}', body: 'b' }], 'first discovery')
  })

test('what one replica changes, another knows at once, and a removed routine is gone there too', async () => {
  const { id } = await made()
  await one.setTool(id, want('send', 'enabled'), 'Ann')
  await vi.waitFor(() => expect(two.of(id)?.tools.get('mcp__up__send')?.state).toBe('enabled'), 1_000)
  const before = two.of(id)
  await two.refresh()
  expect(two.of(id)).toBe(before)
  await one.remove(id, undefined, 'Ann')
  await vi.waitFor(() => expect(two.of(id)).toBeUndefined(), 1_000)
})

test('of many who change one routine from the same version exactly one does, and the others hear what it was', async () => {
  const { id, version } = await made()
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const done = await Promise.all(
    names.map((name, i) => (i % 2 ? one : two).setTool(id, want(name, 'enabled', version), name)),
  )
  expect(done.filter(({ ok }) => ok)).toHaveLength(1)
  const winner = names[done.findIndex(({ ok }) => ok)]!
  for (const each of done.filter(({ ok }) => !ok)) {
    expect(each).toMatchObject({
      problem: 'conflict',
      conflict: { since: [{ by: winner, what: `mcp__up__${winner}: enabled` }] },
    })
  }
  expect(await one.tools(id)).toHaveLength(1)
})

test('changes without a version all happen, one after the other', async () => {
  const { id } = await made()
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const done = await Promise.all(names.map((name, i) => (i % 2 ? one : two).setTool(id, want(name, 'enabled'), 'Ann')))
  expect(done.every(({ ok }) => ok)).toBe(true)
  expect((await one.tools(id)).map(({ state }) => state)).toEqual(names.map(() => 'enabled'))
})

test('a definition that changes while somebody grants automatic leaves no grant behind, whoever was first', async () => {
  await pinned()
  const { id } = await made()
  await one.setTool(id, want('send', 'enabled'), 'Ann')
  const [granted] = await Promise.all([two.setTool(id, want('send', 'automatic'), 'Ann'), changed()])
  const [stands] = await one.tools(id)
  expect(stands).toMatchObject({ state: 'disabled', cleared: 'definition changed' })
  expect(await one.find(id)).toMatchObject({ state: 'draft', stateBecause: 'definition changed: mcp__up__send' })
  if (!granted.ok) expect(granted).toMatchObject({ problem: 'refused', refusal: { code: 'definition_changed' } })
  // Not before somebody accepts it as it is now, whatever a replica still lists.
  const again = await two.setTool(id, want('send', 'enabled'), 'Ann')
  expect(again).toMatchObject({ ok: false, refusal: { code: 'definition_changed' } })
})

test('a change of a definition reaches the routines of its brand alone', async () => {
  await pinned()
  const own = await made()
  const other = await made('other')
  for (const { id } of [own, other]) {
    await one.setTool(id, want('send', 'enabled'), 'Ann')
    expect(await one.ready(id, undefined, () => DIGEST, 'Ann')).toMatchObject({ ok: true })
  }
  expect((await changed()).map(({ id }) => id)).toEqual([own.id])
  expect(await one.find(other.id)).toMatchObject({ state: 'ready' })
})

test('a transaction that fails after it cleared grants has cleared none', async () => {
  await pinned()
  const { id } = await made()
  await one.setTool(id, want('send', 'enabled'), 'Ann')
  const gone = { connector: 'up', brand: undefined, tools: undefined, because: 'tried' }
  const failing = audit.transaction(async (tx, record) => {
    await one.clear(tx, record, gone, 'nobody')
    throw new Error('after all')
  })
  await expect(failing).rejects.toThrow('after all')
  expect(await one.tools(id)).toMatchObject([{ state: 'enabled', cleared: null }])
})

test('tools of a connection that a routine leaves are disabled, and stay so when it comes back', async () => {
  const { id } = await made()
  await one.setTool(id, want('send', 'enabled'), 'Ann')
  const version = (await one.find(id))!.version
  const left = await one.change(id, version, { connections: [] }, 'Ann')
  if (!left.ok) throw new Error(left.problem)
  await one.change(id, left.routine.version, { connections: ['up'] }, 'Ann')
  expect(await one.tools(id)).toEqual([])
})

test('a proof is a supervised call that was answered, of this very definition, in this very routine', async () => {
  const traces = createTraces(world.db)
  const session = (routine: string, supervised: boolean) =>
    ({ id: `s ${routine} ${supervised}`, brand: 'acme', routine: { id: routine, version: 1, supervised } }) as Session
  const begin = (routine: string, supervised: boolean, digest = DIGEST) =>
    traces.begin({
      session: session(routine, supervised),
      tool: 'mcp__up__send',
      digest,
      fingerprint: 'f',
      argumentsText: '{}',
    })
  const answered = { kind: 'answered', answer: { kind: 'result', members: '', metaText: '', isError: false } } as const
  const proven = (routine: string, digest = DIGEST) =>
    isProven(world.db.orm, { routine, tool: 'mcp__up__send', digest })

  await traces.end((await begin('rt_1', false)).id, answered)
  await traces.end((await begin('rt_2', true)).id, answered)
  await traces.end((await begin('rt_1', true, 'old')).id, answered)
  await traces.end((await begin('rt_1', true)).id, { kind: 'answered', answer: { ...answered.answer, isError: true } })
  await traces.end((await begin('rt_1', true)).id, refused('approval_denied', 'no'))
  await begin('rt_1', true)
  expect(await proven('rt_1')).toBe(false)
  await traces.end((await begin('rt_1', true)).id, answered)
  expect(await proven('rt_1')).toBe(true)
  expect(await proven('rt_1', 'new')).toBe(false)
})

test('a trace shows arguments as cards do: no secret in them', async () => {
  const traces = createTraces(world.db)
  const session = { id: 's', brand: 'acme', routine: { id: 'rt', version: 1, supervised: true } } as Session
  const argumentsText = '{"password":"hunter2","note":"Bearer abcdefghijklmnopqrstuvwxyz0123456789"}'
  await traces.begin({ session, tool: 'mcp__up__send', digest: DIGEST, fingerprint: 'f', argumentsText })
  const [trace] = await traces.ofSession('s', { limit: 1 })
  expect(trace?.arguments).not.toMatch(/hunter2|abcdefghijklmnop/)
})
