/** A call whose tool is described otherwise by now: taken back while it waits, and stopped though it was claimed. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Card } from '../../src/approvals/cards.ts'
import { CHANGED_DEFINITION, type Outdated, withdrawOutdated } from '../../src/approvals/outdated.ts'
import type { Connector, RegisteredTool } from '../../src/connector/connector.ts'
import { createRegistry } from '../../src/connector/registry.ts'
import { createGate, type GateParts } from '../../src/gate/gate.ts'
import type { Outcome } from '../../src/gate/outcome.ts'
import { createSender } from '../../src/gate/send.ts'
import { createViews } from '../../src/gate/views.ts'
import type { Session } from '../../src/policy/words.ts'
import { createRevocations, type Revocations } from '../../src/session/revocation.ts'
import { freshRoom, type Room, until } from '../approvals/world.ts'
import { quiet } from '../support/database.ts'
import { paying } from '../support/spend.ts'
import { sessionOf } from './sessions.ts'

const toolOf = (name: string, more: Partial<RegisteredTool> = {}): RegisteredTool => ({
  name: `mcp__up__${name}`,
  connector: 'up',
  access: 'write',
  ask: false,
  grantable: false,
  upstreamName: name,
  ownName: name,
  title: undefined,
  description: undefined,
  definition: { legacy: '', modern: '' },
  digest: `${name} 1`,
  upstream: 'far side',
  ...more,
})

let room: Room
let revocations: Revocations
let tools: readonly RegisteredTool[]
let reached: string[]
beforeAll(async () => {
  room = await freshRoom()
  revocations = createRevocations({ db: room.db, log: quiet })
})
afterAll(async () => {
  await revocations.close()
  await room.close()
})
beforeEach(() => {
  tools = [toolOf('send'), toolOf('post')]
  reached = []
})

const connector: Connector = {
  slug: 'up',
  title: 'up',
  serves: () => true,
  state: () => ({ state: 'ready', detail: '' }),
  tools: () => tools,
  withheld: () => [],
  call({ tool }) {
    reached.push(tool.name)
    return {
      answer: Promise.resolve({ kind: 'result', members: '"content":[]', metaText: '', isError: false }),
      cancel() {},
    }
  },
  close: async () => {},
}

function gateWith(cards = room.cards, waitMs = 0) {
  const registry = createRegistry([connector])
  const parts: GateParts = {
    views: createViews(registry, []),
    registry,
    sender: createSender(registry),
    cards,
    audit: room.audit,
    revocations,
    approvalsOn: true,
    waitMs,
    now: Date.now,
    observe: () => {},
    ...paying(room.db, room.audit),
  }
  const gate = createGate(parts)
  const ask = (session: Session, name: string): Promise<Outcome> =>
    gate.call({
      session,
      written: `up__${name}`,
      name: `mcp__up__${name}`,
      tool: tools.find(({ ownName }) => ownName === name),
      argumentsText: '{"n":1}',
      extraText: '',
      metaText: '',
      elicitation: { form: false, url: false },
      onProgress: undefined,
      ask: async () => new Map(),
      onHold: () => {},
    }).outcome
  return { registry, gate, ask }
}

async function park(session: Session, name: string): Promise<Card> {
  const outcome = await gateWith().ask(session, name)
  if (outcome.kind !== 'pending') throw new Error(JSON.stringify(outcome))
  return outcome.card
}
const withdraw = (outdated: Outdated) =>
  room.audit.transaction((tx, record) => withdrawOutdated(tx, record, outdated, async () => {}))
const statusOf = async ({ id }: Card) => (await room.cards.get(id))?.status
const changed = [{ name: 'mcp__up__send', digest: 'send 2' }]

test('what waits for the old definition is withdrawn, approved or not, and nothing else is', async () => {
  const pending = await park(sessionOf(), 'send')
  const approved = await park(sessionOf(), 'send')
  await room.cards.approve(approved.id, { by: 'ann' })
  const running = await park(sessionOf(), 'send')
  await room.cards.approve(running.id, { by: 'ann' })
  await room.cards.claim(running.id, randomUUID())
  const other = await park(sessionOf(), 'post')
  const strange = await park(sessionOf({ brand: 'other' }), 'send')
  tools = [toolOf('send', { digest: 'send 2' })]
  const fresh = await park(sessionOf(), 'send')
  expect(await withdraw({ connector: 'up', brand: 'default', tools: changed })).toBe(2)
  const all = [pending, approved, running, other, strange, fresh]
  expect(await Promise.all(all.map(statusOf))).toEqual([
    'withdrawn',
    'withdrawn',
    'running',
    'pending',
    'pending',
    'pending',
  ])
  expect(await room.cards.get(approved.id)).toMatchObject({ decidedBy: CHANGED_DEFINITION })
  expect(await withdraw({ connector: 'up', brand: undefined, tools: changed })).toBe(1)
  expect(await statusOf(strange)).toBe('withdrawn')
})

test('a caller who waits is told at once that the definition changed', async () => {
  const { ask } = gateWith(room.cards, 10_000)
  const session = sessionOf()
  const waiting = ask(session, 'send')
  const card = async () => (await room.cards.list({ sessionId: session.id, limit: 1 })).items[0]
  await until(async () => (await card())?.status === 'pending')
  await withdraw({ connector: 'up', brand: undefined, tools: changed })
  expect(await waiting).toMatchObject({ kind: 'refused', code: 'definition_changed' })
  expect(reached).toEqual([])
})

test('a definition that changes while the approved call is being claimed stops it before it leaves', async () => {
  const card = await park(sessionOf(), 'send')
  const session = sessionOf({ id: card.sessionId })
  await room.cards.approve(card.id, { by: 'ann' })
  const { gate, registry } = gateWith({
    ...room.cards,
    async claim(...how) {
      const claimed = await room.cards.claim(...how)
      tools = [toolOf('send', { digest: 'send 2' })]
      registry.changed()
      return claimed
    },
  })
  await gate.runApproved((await room.cards.get(card.id)) as Card, session)
  expect(await room.cards.get(card.id)).toMatchObject({ status: 'failed', outcome: { code: 'definition_changed' } })
  expect(reached).toEqual([])
})
