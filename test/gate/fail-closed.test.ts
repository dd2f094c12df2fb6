/** A3: whatever breaks or is not known, no call reaches the upstream and no name is added to a list. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AuditUnavailable } from '../../src/audit/audit.ts'
import { DatabaseUnavailable } from '../../src/db/errors.ts'
import type { Answer, Connector, RegisteredTool } from '../../src/connector/connector.ts'
import { createRegistry, type Registry } from '../../src/connector/registry.ts'
import { type Asked, createGate, type GateParts } from '../../src/gate/gate.ts'
import { createSender } from '../../src/gate/send.ts'
import { createViews } from '../../src/gate/views.ts'
import type { Role, Session } from '../../src/policy/words.ts'
import { createRevocations, type Revocations } from '../../src/session/revocation.ts'
import { freshRoom, type Room } from '../approvals/world.ts'
import { quiet } from '../support/database.ts'
import { paying } from '../support/spend.ts'
import { policies } from '../catalogue/world.ts'

const { roles, routes } = policies()

const tool = (name: string, more: Partial<RegisteredTool> = {}): RegisteredTool => ({
  name: `mcp__up__${name}`,
  connector: 'up',
  access: 'read',
  ask: false,
  grantable: true,
  upstreamName: name,
  ownName: name,
  title: undefined,
  description: undefined,
  definition: { legacy: '', modern: '' },
  digest: `digest of ${name}`,
  upstream: 'far side',
  ...more,
})
const TOOLS = [tool('look'), tool('change', { access: 'write' }), tool('note', { access: 'write', asks: 'never' })]

let room: Room
let revocations: Revocations
let reached: string[] = []

/** An upstream that counts what reaches it. */
const up = (tools: readonly RegisteredTool[]): Connector => ({
  slug: 'up',
  title: 'Up',
  serves: () => true,
  state: () => ({ state: 'ready', detail: '' }),
  tools: () => tools,
  withheld: () => [],
  call(call) {
    reached.push(call.tool.name)
    const answer: Answer = { kind: 'result', members: '"content":[]', metaText: '', isError: false }
    return { answer: Promise.resolve(answer), cancel() {} }
  },
  close: async () => {},
})

beforeAll(async () => {
  room = await freshRoom()
  revocations = createRevocations({ db: room.db, log: quiet })
})
afterAll(async () => {
  await revocations?.close()
  await room?.close()
})
beforeEach(() => {
  reached = []
})

const session = (more: Partial<Session> = {}): Session => ({
  id: `s_${Math.random()}`,
  issuer: 'i',
  subject: 'u',
  brand: 'default',
  role: roles.get('person-chat')!,
  route: routes.get('standard')!,
  ceiling: ['mcp__up__*'],
  grant: { connectors: [], skills: [], allowance: {} },
  channel: 'inbox',
  limits: {},
  issuedAt: 0,
  expiresAt: Date.now() + 60_000,
  viewKey: `k_${Math.random()}`,
  ...more,
})

interface Injection {
  /** The tool that is called; `look` when nothing is said. */
  readonly calls?: string
  readonly tools?: readonly RegisteredTool[]
  readonly session?: Partial<Session>
  readonly argumentsText?: string
  /** What breaks, over the real parts. */
  readonly parts?: (real: GateParts) => Partial<GateParts>
  readonly registry?: (real: Registry) => Registry
}

function partsOf({ tools = TOOLS, parts = () => ({}), registry: broken = (real) => real }: Injection): GateParts {
  const registry = broken(createRegistry([up(tools)]))
  const real: GateParts = {
    views: createViews(registry, []),
    registry,
    sender: createSender(registry),
    cards: room.cards,
    audit: room.audit,
    revocations,
    approvalsOn: true,
    waitMs: 20,
    now: Date.now,
    observe: () => {},
    ...paying(room.db, room.audit),
  }
  return { ...real, ...parts(real) }
}

/** Calls a tool as a door does that has looked it up; the code, `pending`, `thrown`, or `answered`. */
async function knock(injection: Injection): Promise<string> {
  const parts = partsOf(injection)
  const caller = session(injection.session)
  const name = `mcp__up__${injection.calls ?? 'look'}`
  const asked: Asked = {
    session: caller,
    written: name.slice(5),
    name,
    tool: (injection.tools ?? TOOLS).find((one) => one.name === name),
    argumentsText: injection.argumentsText ?? '{}',
    extraText: '',
    metaText: '',
    elicitation: { form: false, url: false },
    onProgress: undefined,
    ask: async () => new Map(),
    onHold: () => {},
  }
  try {
    const outcome = await createGate(parts).call(asked).outcome
    return outcome.kind === 'refused' ? outcome.code : outcome.kind
  } catch {
    return 'thrown'
  }
}

const broken = (): never => {
  throw new Error('injected')
}
const rejects = (problem: Error) => () => Promise.reject(problem)
const role = (more: object): Role => ({ ...roles.get('person-chat')!, holds: [], ...more })

const INJECTIONS: Record<string, Injection & { wanted: string }> = {
  'what is known of dead sessions is old and cannot be renewed': {
    parts: () => ({ revocations: { ...revocations, fresh: () => false, ensureFresh: rejects(new Error('injected')) } }),
    wanted: 'internal',
  },
  'asking whether what is known is fresh throws': {
    parts: () => ({ revocations: { ...revocations, fresh: broken } }),
    wanted: 'internal',
  },
  'asking whether a session is dead throws': {
    parts: () => ({ revocations: { ...revocations, isDead: broken } }),
    wanted: 'thrown',
  },
  'the session is dead': {
    parts: () => ({ revocations: { ...revocations, isDead: () => true } }),
    wanted: 'session_revoked',
  },
  'the records are not being written': {
    parts: ({ audit }) => ({ audit: { ...audit, healthy: () => false } }),
    wanted: 'internal',
  },
  'asking whether records are being written throws': {
    parts: ({ audit }) => ({ audit: { ...audit, healthy: broken } }),
    wanted: 'internal',
  },
  'the intent of a write that asks nobody cannot be written': {
    calls: 'note',
    parts: ({ audit }) => ({ audit: { ...audit, commit: rejects(new AuditUnavailable('injected')) } }),
    wanted: 'internal',
  },
  'the session dies while the intent of a write is written': {
    calls: 'note',
    parts: ({ audit }) => {
      let dead = false
      const commit: typeof audit.commit = async (entry) => {
        await audit.commit(entry)
        dead = true
      }
      return { audit: { ...audit, commit }, revocations: { ...revocations, isDead: () => dead } }
    },
    wanted: 'session_revoked',
  },
  'compiling the view throws': { parts: () => ({ views: { of: broken } }), wanted: 'thrown' },
  'reading the registry throws': { registry: (real) => ({ ...real, tools: broken }), wanted: 'thrown' },
  'the connector is gone': { registry: (real) => ({ ...real, find: () => undefined }), wanted: 'upstream_unavailable' },
  'the tool looked up is not the one of the view': {
    registry: (real) => ({ ...real, tools: (brand) => real.tools(brand).map((one) => ({ ...one })) }),
    wanted: 'unknown_tool',
  },
  'a cards table that cannot be read': {
    calls: 'change',
    parts: ({ cards }) => ({ cards: { ...cards, latest: rejects(new DatabaseUnavailable('injected')) } }),
    wanted: 'internal',
  },
  'a card that cannot be parked': {
    calls: 'change',
    parts: ({ cards }) => ({ cards: { ...cards, park: rejects(new DatabaseUnavailable('injected')) } }),
    wanted: 'internal',
  },
  'too many cards': {
    calls: 'change',
    parts: ({ cards }) => ({ cards: { ...cards, park: async () => ({ ok: false, problem: 'too_many' }) as never } }),
    wanted: 'session_limit',
  },
  'a card that is gone while its call waits': {
    calls: 'change',
    parts: ({ cards }) => ({ cards: { ...cards, wait: async () => undefined } }),
    wanted: 'internal',
  },
  'waiting for a card throws': {
    calls: 'change',
    parts: ({ cards }) => ({ cards: { ...cards, wait: rejects(new Error('injected')) } }),
    wanted: 'thrown',
  },
  'approvals are neither on nor off': {
    calls: 'change',
    parts: () => ({ approvalsOn: undefined as never }),
    wanted: 'approval_required',
  },
  'a clock that is no number': { parts: () => ({ now: () => Number.NaN }), wanted: 'session_revoked' },
  'an expiry that is no number': { session: { expiresAt: Number.NaN }, wanted: 'session_revoked' },
  'a channel nobody knows': { calls: 'change', session: { channel: 'pager' as never }, wanted: 'approval_required' },
  'a role that says nothing known of connectors': {
    session: { role: role({ connectors: 'all' }) },
    wanted: 'unknown_tool',
  },
  'no role at all': { session: { role: undefined as never }, wanted: 'thrown' },
  'a route that keeps a word nobody knows': {
    session: { route: { ...routes.get('standard')!, keeps: [], connectors: 'yes' as never } },
    wanted: 'unknown_tool',
  },
  'a ceiling of the wrong type': { session: { ceiling: undefined as never }, wanted: 'thrown' },
  'a ceiling that is a text': { session: { ceiling: 'mcp__up__look' as never }, wanted: 'thrown' },
  'an access word nobody knows': { tools: [tool('look', { access: 'peek' as never })], wanted: 'unknown_tool' },
  'a word for asking that nobody knows': { tools: [tool('look', { asks: 'maybe' as never })], wanted: 'pending' },
  'a tool that does not say whether it asks': { tools: [tool('look', { ask: undefined as never })], wanted: 'pending' },
  'arguments that are no JSON': { argumentsText: '{"a":', wanted: 'thrown' },
}

describe('fail closed', () => {
  test('the control: without an injection a read and a reviewed write run, and another write waits', async () => {
    expect(await knock({})).toBe('answered')
    expect(await knock({ calls: 'note' })).toBe('answered')
    expect(await knock({ calls: 'change' })).toBe('pending')
    expect(reached).toEqual(['mcp__up__look', 'mcp__up__note'])
  })

  test.each(Object.entries(INJECTIONS))('%s: nothing reaches the upstream', async (_name, { wanted, ...injection }) => {
    expect(await knock(injection)).toBe(wanted)
    expect(reached).toEqual([])
  })

  const blind = Object.entries(INJECTIONS).filter(([, { session: given = {} }]) =>
    ['role', 'route', 'ceiling'].some((part) => part in given),
  )
  test.each(blind)('%s: no name is listed', (_name, injection) => {
    const { views } = partsOf(injection)
    let listed: unknown[] = []
    try {
      listed = [...views.of(session(injection.session)).tools]
    } catch {
      // No view, so no list.
    }
    expect(listed).toEqual([])
  })
})
