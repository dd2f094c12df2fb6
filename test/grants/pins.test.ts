/**
 * Pins over one database: first discoveries that race, replicas that must agree, and rows that somebody tampered with.
 */
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type Audit, createAudit } from '../../src/audit/audit.ts'
import type { Connector } from '../../src/connector/connector.ts'
import { createMcpConnector } from '../../src/connector/mcp/upstream.ts'
import { createPins, type PinChange, type PinsOfUpstreams } from '../../src/grants/pins/pins.ts'
import { toolStates } from '../../src/grants/pins/view.ts'
import { eq, sql } from '../../src/db/drizzle.ts'
import { pinSets, toolPins } from '../../src/db/schema.ts'
import { entryOf, until, upstream } from '../support/connectors.ts'
import { freshDatabase, quiet, type TestDatabase } from '../support/database.ts'
import { tool, type Upstream } from '../support/upstream.ts'

let world: TestDatabase
let audit: Audit
beforeEach(async () => {
  world = await freshDatabase()
  audit = createAudit({ db: world.db, log: quiet })
})
afterEach(async () => {
  await audit.close()
  await world.close()
})

interface Replica {
  readonly pins: PinsOfUpstreams
  readonly connector: Connector
  readonly told: PinChange[]
  /** Names of open tools. */
  open(): string[]
  states(): Promise<Record<string, string>>
  accept(name: string): ReturnType<PinsOfUpstreams['accept']>
}

/** A replica of the gateway with one upstream, polling rarely so that what it knows came by notice. */
async function replica(up: Upstream, { newTools = 'closed' as 'open' | 'closed', scope = '*' } = {}): Promise<Replica> {
  const told: PinChange[] = []
  const pins = await createPins({
    db: world.db,
    audit,
    log: quiet,
    onChange: async (_tx, _record, _set, changes) => void told.push(...changes),
    pollMs: 60_000,
  })
  const connector = pins.guard(
    { scope, newTools },
    (says) =>
      createMcpConnector(entryOf(up.url), {
        log: quiet,
        warden: undefined as never,
        clientInfo: { name: 'tollgate', version: '0' },
        ...says,
      }),
    () => {},
  )
  const close = async () => {
    await connector.close()
    await pins.close()
  }
  onTestFinished(close)
  const guarded = pins.of(connector)!
  return {
    pins,
    connector,
    told,
    open: () => connector.tools().map(({ ownName }) => ownName),
    states: async () => Object.fromEntries((await toolStates(pins, guarded)).map((one) => [one.tool, one.state])),
    async accept(name) {
      const found = (await toolStates(pins, guarded)).find((one) => one.tool === name)
      return pins.accept(guarded, name, found?.seen?.digest ?? '', 'ann')
    },
  }
}

const ready = (...all: Replica[]) => until(() => all.every(({ connector }) => connector.state().state === 'ready'))
const rowsOf = (kind: string) =>
  world.db.orm.execute(sql`select entry from audit where kind = ${kind}`) as Promise<{ entry: string }[]>
const A = tool('a')
const B = tool('b')
const changedA = tool('a', { description: 'Now it does more.' })

test('nothing is shown before it is written down', async () => {
  const up = await upstream({ tools: [A, B] })
  const one = await replica(up)
  const seen = new Set<string>()
  await until(() => {
    seen.add(`${one.connector.state().state} ${one.open().length}`)
    return one.open().length === 2
  })
  expect([...seen].filter((state) => /ready 0|connecting 2/.test(state))).toEqual([])
  expect(await world.db.orm.select({ tool: toolPins.tool }).from(toolPins)).toHaveLength(2)
})

test('two replicas that discover at once, and see different lists, make one set of pins', async () => {
  const [left, right] = [await upstream({ tools: [A, B] }), await upstream({ tools: [A, tool('c')] })]
  const both = await Promise.all([replica(left), replica(right)])
  await ready(...both)
  await until(() => both.every(({ told }) => told.length <= 1) && both.some(({ told }) => told.length === 1))
  expect(await world.db.orm.select().from(pinSets)).toHaveLength(1)
  const accepted = await world.db.orm
    .select({ tool: toolPins.tool })
    .from(toolPins)
    .where(eq(toolPins.acceptedBy, 'first discovery'))
  expect([
    ['a', 'b'],
    ['a', 'c'],
  ]).toContainEqual(accepted.map((row) => row.tool).sort())
  expect(await rowsOf('tool.pinned')).toHaveLength(1)
  expect(both.map((each) => each.open().length).sort()).toEqual([1, 2])
})

test('what one replica sees changed is closed on the other within a second, and opens again on both', async () => {
  const [left, right] = [await upstream({ tools: [A, B] }), await upstream({ tools: [A, B], tellsChanges: false })]
  const [one, other] = [await replica(left), await replica(right)]
  await ready(one, other)
  await until(() => left.listeners() === 1)
  await new Promise((resolve) => setTimeout(resolve, 500))
  left.setTools([changedA, B])
  left.notifyChanged()
  await until(() => one.open().join() === 'b', 2_000)
  await until(() => other.open().join() === 'b', 1_000)
  expect((await other.states()).a).toBe('changed')
  expect(one.told.map(({ kind, name, summary }) => [kind, name, summary])).toEqual([
    ['changed', 'mcp__up__a', 'description'],
  ])
  expect(other.told).toEqual([])
  // The other reads its own list again, which is as accepted; that opens nothing.
  await until(() => right.of('tools/list').length >= 2)
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(other.open()).toEqual(['b'])
  left.setTools([A, B])
  left.notifyChanged()
  await until(() => [one, other].every((each) => each.open().join() === 'a,b'), 2_000)
  expect(one.told.map(({ kind }) => kind)).toEqual(['changed', 'back'])
})

test('what a person accepts on one replica is open on the other, where that sees the same', async () => {
  const up = await upstream({ tools: [A] })
  const [one, other] = [await replica(up), await replica(up)]
  await ready(one, other)
  up.setTools([changedA])
  await Promise.all([one.connector.discover?.(), other.connector.discover?.()])
  expect([one.open(), other.open()]).toEqual([[], []])
  expect([...one.told, ...other.told]).toHaveLength(1)
  expect(await one.accept('a')).toEqual({ ok: true })
  await until(() => [one, other].every((each) => each.open().join() === 'a'), 1_000)
  expect((await rowsOf('tool.accepted')).map(({ entry }) => JSON.parse(entry).by)).toEqual(['ann'])
})

test('a person cannot accept what is another definition by now', async () => {
  const up = await upstream({ tools: [A] })
  const one = await replica(up)
  await ready(one)
  up.setTools([changedA])
  await one.connector.discover?.()
  const guarded = one.pins.of(one.connector)!
  const [seen] = await toolStates(one.pins, guarded)
  up.setTools([tool('a', { description: 'And now something else.' })])
  await one.connector.discover?.()
  const [now] = await toolStates(one.pins, guarded)
  expect(await one.pins.accept(guarded, 'a', seen!.seen!.digest, 'ann')).toEqual({
    ok: false,
    problem: 'changed',
    now: now!.seen!.digest,
  })
  expect(one.open()).toEqual([])
})

test.each([
  [
    'its text was edited',
    (tx: any) => tx.update(toolPins).set({ definition: '{"name":"a","x":1}' }).where(eq(toolPins.tool, 'a')),
    'corrupt',
  ],
  [
    'its text is gone',
    (tx: any) => tx.update(toolPins).set({ definition: null }).where(eq(toolPins.tool, 'a')),
    'corrupt',
  ],
  [
    'its digest is gone',
    (tx: any) => tx.update(toolPins).set({ digest: null }).where(eq(toolPins.tool, 'a')),
    'corrupt',
  ],
  [
    'its digest is another',
    (tx: any) =>
      tx
        .update(toolPins)
        .set({ digest: 'f'.repeat(64) })
        .where(eq(toolPins.tool, 'a')),
    'corrupt',
  ],
  ['the row is gone', (tx: any) => tx.delete(toolPins).where(eq(toolPins.tool, 'a')), 'new'],
])('a pin closes its tool when %s, until somebody accepts it', async (_what, tamper, state) => {
  const up = await upstream({ tools: [A, B] })
  const one = await replica(up)
  await ready(one)
  await tamper(world.db.orm)
  await one.pins.refresh()
  expect(one.open()).toEqual(['b'])
  expect((await one.states()).a).toBe(state)
  await one.connector.discover?.()
  expect(one.open()).toEqual(['b'])
  expect(await one.accept('a')).toEqual({ ok: true })
  expect(one.open()).toEqual(['a', 'b'])
})

test('all pins of an upstream gone close all of it, and do not make its next list a first discovery', async () => {
  const up = await upstream({ tools: [A, B] })
  const one = await replica(up)
  await ready(one)
  await world.db.orm.delete(toolPins)
  await one.pins.refresh()
  await one.connector.discover?.()
  expect(one.open()).toEqual([])
})

test('an upstream that was removed is discovered anew', async () => {
  const up = await upstream({ tools: [A] })
  const one = await replica(up, { scope: 'acme' })
  await ready(one)
  up.setTools([changedA])
  await one.connector.discover?.()
  expect(one.open()).toEqual([])
  await one.pins.forget({ scope: 'acme', connector: 'up' }, 'operator')
  await until(() => one.open().join() === 'a')
  expect((await rowsOf('tool.pinned')).length).toBe(2)
})

test('new tools open by themselves only where that is wanted, and each is on the record', async () => {
  const up = await upstream({ tools: [A] })
  const one = await replica(up, { newTools: 'open' })
  await ready(one)
  up.setTools([changedA, B])
  await one.connector.discover?.()
  expect(one.open()).toEqual(['b'])
  expect((await rowsOf('tool.accepted')).map(({ entry }) => JSON.parse(entry).by)).toEqual(['newTools: open'])
})

test('what cannot be written down is closed all the same, and written down later', async () => {
  const up = await upstream({ tools: [A, B] })
  const one = await replica(up)
  await ready(one)
  await until(() => up.listeners() === 1)
  await world.db.orm.execute(sql`alter table tool_pins rename to tool_pins_away`)
  try {
    up.setTools([changedA, B])
    up.notifyChanged()
    await until(() => one.open().join() === 'b', 2_000)
    expect(one.told).toEqual([])
  } finally {
    await world.db.orm.execute(sql`alter table tool_pins_away rename to tool_pins`)
  }
  await until(() => one.told.length === 1, 4_000)
  expect(one.open()).toEqual(['b'])
})
