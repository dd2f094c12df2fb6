/** C5: between a yes and the run anything may change. What changed does not run; the same call in another spelling does. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bindingOf, type Card, type Opened } from '../../src/approvals/cards.ts'
import type { Answer, Connector, RegisteredTool } from '../../src/connector/connector.ts'
import { createRegistry } from '../../src/connector/registry.ts'
import { type AgainParts, decideAgain } from '../../src/gate/again.ts'
import { fingerprint } from '../../src/gate/facts.ts'
import { type Asked, createGate, type GateParts } from '../../src/gate/gate.ts'
import type { Outcome } from '../../src/gate/outcome.ts'
import { costOf } from '../../src/gate/price.ts'
import { createSender } from '../../src/gate/send.ts'
import { createViews } from '../../src/gate/views.ts'
import type { Session } from '../../src/policy/words.ts'
import { createRevocations, type Revocations } from '../../src/session/revocation.ts'
import { freshRoom, type Room } from '../approvals/world.ts'
import { quiet } from '../support/database.ts'
import { paying } from '../support/spend.ts'
import { routes, sessionOf } from './sessions.ts'

const NAME = 'mcp__up__pay'

const pay: RegisteredTool = {
  name: NAME,
  connector: 'up',
  access: 'spend',
  ask: true,
  grantable: false,
  cost: { unit: 'credits', argument: 'n' },
  upstreamName: 'pay',
  ownName: 'pay',
  title: 'Pay',
  description: undefined,
  definition: { legacy: '', modern: '' },
  digest: 'definition 1',
  upstream: 'far side 1',
}

/** What may be different by the time of the run, and what is then said. */
interface World {
  tool: RegisteredTool | undefined
  session: Session
  argumentsText: string
  extraText: string
  dead: boolean
  approvalsOn: boolean
  later: number
}
type Change = readonly [what: string, code: string, change: (world: World) => void]

const spoilt = (text: string, seed: number): string => {
  const value = JSON.parse(text)
  const [key = 'n'] = Object.keys(value)
  return JSON.stringify([{ ...value, [key]: [value[key], seed] }, { ...value, [`x${seed}`]: seed }, {}][seed % 3])
}

const CHANGES = fc.nat(1_000_000).chain((n) =>
  fc.constantFrom<Change>(
    [
      'arguments',
      'definition_changed',
      (world) => Object.assign(world, { argumentsText: spoilt(world.argumentsText, n) }),
    ],
    [
      'members beside them',
      'definition_changed',
      (world) => Object.assign(world, { extraText: `"task":{"ttl":${n}}` }),
    ],
    [
      'definition',
      'definition_changed',
      (world) => Object.assign(world, { tool: { ...pay, digest: `definition ${n + 2}` } }),
    ],
    [
      'upstream',
      'definition_changed',
      (world) => Object.assign(world, { tool: { ...pay, upstream: `far side ${n + 2}` } }),
    ],
    [
      'price',
      'definition_changed',
      (world) => Object.assign(world, { tool: { ...pay, cost: { unit: 'credits', amount: `${n + 1_000}` } } }),
    ],
    [
      'unit',
      'definition_changed',
      (world) => Object.assign(world, { tool: { ...pay, cost: { unit: 'usd', argument: 'n' } } }),
    ],
    ['tool', 'unknown_tool', (world) => Object.assign(world, { tool: { ...pay, name: `mcp__up__pay${n}` } })],
    ['that there is a tool', 'unknown_tool', (world) => Object.assign(world, { tool: undefined })],
    [
      'ceiling',
      'unknown_tool',
      (world) => Object.assign(world, { session: narrowed(world, { ceiling: [`mcp__up__p${n}`] }) }),
    ],
    [
      'role',
      'unknown_tool',
      (world) =>
        Object.assign(world, {
          session: narrowed(world, { role: { ...world.session.role, connectors: 'none', holds: [] } }),
        }),
    ],
    [
      'route',
      'unknown_tool',
      (world) => Object.assign(world, { session: narrowed(world, { route: routes.get('read-only')! }) }),
    ],
    [
      'channel',
      'approval_required',
      (world) => Object.assign(world, { session: narrowed(world, { channel: 'none' }) }),
    ],
    ['that approvals are on', 'approval_required', (world) => Object.assign(world, { approvalsOn: false })],
    ['a switch', 'switched_off', (world) => Object.assign(world, { tool: { ...pay, switchedOff: 'ALLOW_PAY' } })],
    ['that the session lives', 'session_revoked', (world) => Object.assign(world, { dead: true })],
    ['that its token does', 'session_revoked', (world) => Object.assign(world, { later: 700_000 + n })],
  ),
)
const narrowed = ({ session }: World, more: Partial<Session>): Session => ({
  ...session,
  viewKey: randomUUID(),
  ...more,
})

const anyArguments = fc.record(
  { n: fc.nat(1_000), to: fc.string(), more: fc.jsonValue({ maxDepth: 2 }) },
  { requiredKeys: ['n'] },
)

function connectorOf(tool: RegisteredTool | undefined, reached: string[] = []): Connector {
  const tools = tool === undefined ? [] : [tool]
  return {
    slug: 'up',
    title: 'Up',
    serves: () => true,
    state: () => ({ state: 'ready', detail: '' }),
    tools: () => tools,
    withheld: () => [],
    call(call) {
      reached.push(call.argumentsText ?? '')
      const answer: Answer = { kind: 'result', members: '"content":[]', metaText: '', isError: false }
      return { answer: Promise.resolve(answer), cancel() {} }
    },
    close: async () => {},
  }
}

function worldOf(argumentsText: string): World {
  return { tool: pay, session: sessionOf(), argumentsText, extraText: '', dead: false, approvalsOn: true, later: 0 }
}

function partsOf(world: World): AgainParts {
  const registry = createRegistry([connectorOf(world.tool)])
  return {
    registry,
    views: createViews(registry, []),
    revocations: { isDead: () => world.dead } as unknown as Revocations,
    approvalsOn: world.approvalsOn,
    now: () => Date.now() + world.later,
  }
}

/** An approved card for the arguments as the person saw them, with what the row holds by the time of the run. */
function opened(approved: string, world: World): Opened {
  const cost = costOf(pay, approved)
  const bound = { tool: NAME, connector: 'up', digest: pay.digest, upstream: pay.upstream }
  const card = { ...bound, fingerprint: fingerprint(pay, approved, ''), ...(cost === undefined ? {} : { cost }) }
  const { argumentsText, extraText } = world
  return { card: card as Card, argumentsText, extraText, metaText: '' }
}

const codeOf = (refusal: Outcome | undefined): string | undefined =>
  refusal?.kind === 'refused' ? refusal.code : refusal?.kind

test('of a thousand random changes between a yes and the run, none runs, and each says what it was', () => {
  fc.assert(
    fc.property(anyArguments, CHANGES, (args, [what, code, change]) => {
      const world = worldOf(JSON.stringify(args))
      change(world)
      const again = decideAgain(partsOf(world), opened(JSON.stringify(args), world), world.session)
      expect([what, codeOf(again.refusal)]).toEqual([what, code])
    }),
    { numRuns: 1_000 },
  )
})

/** The same value with other blanks, and its keys the other way round. */
function respelled(value: unknown, blank: string): string {
  if (Array.isArray(value)) return `[${value.map((one) => blank + respelled(one, blank)).join(',')}${blank}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const turned = Object.entries(value).reverse()
  return `{${turned.map(([key, one]) => `${blank}${JSON.stringify(key)}${blank}:${respelled(one, blank)}`).join(',')}${blank}}`
}

test('of a thousand calls spelled otherwise and otherwise equal, each runs', () => {
  fc.assert(
    fc.property(anyArguments, fc.constantFrom('', ' ', '\n\t'), (args, blank) => {
      const world = worldOf(respelled(JSON.parse(JSON.stringify(args)), blank))
      const again = decideAgain(partsOf(world), opened(JSON.stringify(args), world), world.session)
      expect(again.refusal).toBeUndefined()
    }),
    { numRuns: 1_000 },
  )
})

describe('through the gate', () => {
  let room: Room
  let revocations: Revocations
  beforeAll(async () => {
    room = await freshRoom()
    revocations = createRevocations({ db: room.db, log: quiet })
  })
  afterAll(async () => {
    await revocations.close()
    await room.close()
  })
  let reached: string[]
  beforeEach(() => {
    reached = []
  })

  function gateOf(tool: RegisteredTool) {
    const registry = createRegistry([connectorOf(tool, reached)])
    const parts: GateParts = {
      views: createViews(registry, []),
      registry,
      sender: createSender(registry),
      cards: room.cards,
      audit: room.audit,
      revocations,
      approvalsOn: true,
      waitMs: 0,
      now: Date.now,
      observe: () => {},
      ...paying(room.db, room.audit),
    }
    const gate = createGate(parts)
    const ask = (session: Session, argumentsText: string): Promise<Outcome> => {
      const asked: Asked = {
        session,
        written: 'up__pay',
        name: NAME,
        tool,
        argumentsText,
        extraText: '',
        metaText: '',
        elicitation: { form: false, url: false },
        onProgress: undefined,
        ask: async () => new Map(),
        onHold: () => {},
      }
      return gate.call(asked).outcome
    }
    return { ask, runApproved: gate.runApproved }
  }

  const cardIn = (outcome: Outcome): Card => {
    if (!('card' in outcome) || outcome.card === undefined) throw new Error(JSON.stringify(outcome))
    return outcome.card
  }
  const ann = { by: 'ann' }

  test('a card shows what the call costs, and runs once for the same call in another spelling', async () => {
    const { ask } = gateOf(pay)
    const session = sessionOf()
    const card = cardIn(await ask(session, '{"n":3,"to":"x"}'))
    expect(card).toMatchObject({ status: 'pending', cost: { unit: 'credits', amount: '3' }, upstream: 'far side 1' })
    await room.cards.approve(card.id, ann)
    expect((await ask(session, '{ "to":"x", "n":3 }')).kind).toBe('answered')
    expect(reached).toEqual(['{"n":3,"to":"x"}'])
  })

  test.each([
    ['definition', { digest: 'definition 2' }],
    ['upstream', { upstream: 'far side 2' }],
    ['price', { cost: { unit: 'credits', amount: '9' } }],
  ])('with another %s the call is a new card, and the old approval runs nothing', async (_what, change) => {
    const session = sessionOf()
    const old = cardIn(await gateOf(pay).ask(session, '{"n":3}'))
    const changed = gateOf({ ...pay, ...change })
    const fresh = cardIn(await changed.ask(session, '{"n":3}'))
    expect(fresh.id).not.toBe(old.id)
    await room.cards.approve(old.id, ann)
    await changed.runApproved((await room.cards.get(old.id)) as Card, session)
    expect(await room.cards.get(old.id)).toMatchObject({ status: 'failed', outcome: { code: 'definition_changed' } })
    expect(reached).toEqual([])
    expect((await room.cards.get(fresh.id))?.status).toBe('pending')
  })

  test('of a session that is gone the card fails, and nothing runs', async () => {
    const { ask, runApproved } = gateOf(pay)
    const card = cardIn(await ask(sessionOf(), '{"n":3}'))
    await room.cards.approve(card.id, ann)
    await runApproved((await room.cards.get(card.id)) as Card, undefined)
    expect(await room.cards.get(card.id)).toMatchObject({ status: 'failed', outcome: { code: 'session_revoked' } })
    expect(reached).toEqual([])
  })

  test('a yes for the session lets the next equal call run at once, and an unlike one ask', async () => {
    const { ask } = gateOf(pay)
    const session = sessionOf()
    const card = cardIn(await ask(session, '{"n":1}'))
    await room.cards.approve(card.id, ann, { scope: 'session' })
    for (let n = 0; n < 3; n++) {
      const outcome = await ask(session, '{"n":1}')
      expect(outcome.kind).toBe('answered')
      await room.cards.delivered(cardIn(outcome).id)
    }
    expect((await ask(session, '{"n":2}')).kind).toBe('pending')
    expect((await ask(sessionOf(), '{"n":1}')).kind).toBe('pending')
    expect(reached).toEqual(['{"n":1}', '{"n":1}', '{"n":1}'])
  })

  test('a call that runs longer than a lease keeps it, and ends as it ends', async () => {
    const slow: Connector = {
      ...connectorOf(pay),
      call: () => ({
        answer: new Promise((resolve) => {
          const answer: Answer = { kind: 'result', members: '"content":[]', metaText: '', isError: false }
          setTimeout(resolve, 2_500, answer)
        }),
        cancel() {},
      }),
    }
    const cards = room.also({ leaseMs: 1_200 })
    const registry = createRegistry([slow])
    const real = {
      views: createViews(registry, []),
      registry,
      sender: createSender(registry),
      cards,
      audit: room.audit,
      ...paying(room.db, room.audit),
    }
    const gate = createGate({ ...real, revocations, approvalsOn: true, waitMs: 0, now: Date.now, observe: () => {} })
    const session = sessionOf()
    const card = cardIn(await gateOf(pay).ask(session, '{"n":1}'))
    await cards.approve(card.id, ann)
    await gate.runApproved((await cards.get(card.id)) as Card, session)
    expect(await cards.get(card.id)).toMatchObject({ status: 'done' })
  })

  test('what a person settled is told to the caller who comes for it', async () => {
    const { ask } = gateOf(pay)
    for (const [what, says] of [
      ['happened', /did happen/],
      ['did_not', /did not happen/],
    ] as const) {
      const session = sessionOf()
      const card = cardIn(await ask(session, '{"n":1}'))
      await room.cards.approve(card.id, ann)
      await room.cards.claim(card.id, randomUUID())
      await room.cards.finish(card.id, { status: 'unknown', code: 'outcome_unknown' })
      await room.cards.settle(card.id, ann, what)
      expect(await ask(session, '{"n":1}')).toMatchObject({ kind: 'refused', message: expect.stringMatching(says) })
    }
    expect(reached).toEqual([])
  })

  test('a session that asked as often as it may is told so', async () => {
    const few = room.also({ mostEver: 1 })
    const registry = createRegistry([connectorOf(pay, reached)])
    const real = {
      views: createViews(registry, []),
      registry,
      sender: createSender(registry),
      cards: few,
      audit: room.audit,
      ...paying(room.db, room.audit),
    }
    const gate = createGate({ ...real, revocations, approvalsOn: true, waitMs: 0, now: Date.now, observe: () => {} })
    const session = sessionOf()
    const asked = { session, written: 'up__pay', name: NAME, tool: pay, extraText: '', metaText: '' }
    const rest = {
      elicitation: { form: false, url: false },
      onProgress: undefined,
      ask: async () => new Map(),
      onHold: () => {},
    }
    expect((await gate.call({ ...asked, ...rest, argumentsText: '{"n":1}' }).outcome).kind).toBe('pending')
    expect(await gate.call({ ...asked, ...rest, argumentsText: '{"n":2}' }).outcome).toMatchObject({
      kind: 'refused',
      code: 'session_limit',
      message: expect.stringMatching(/as often as a session may/),
    })
  })
})

test('what a card is bound to is its call, the definition, the far side and the price', () => {
  const call = { tool: pay, fingerprint: 'f', cost: { unit: 'usd', amount: '1' } }
  const all = [
    call,
    { ...call, fingerprint: 'g' },
    { ...call, tool: { ...pay, digest: 'x' } },
    { ...call, tool: { ...pay, upstream: 'x' } },
    { ...call, cost: { unit: 'usd', amount: '2' } },
    { ...call, cost: { unit: 'eur', amount: '1' } },
    { ...call, cost: undefined },
  ]
  expect(new Set(all.map(bindingOf)).size).toBe(all.length)
})
