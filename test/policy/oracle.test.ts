/**
 * The gateway against the oracle: what a session holds and what its calls meet, over the shipped policies and catalogue.
 * `ORACLE_RUNS=1000000` makes it long; the seed is printed, and `ORACLE_SEED` repeats a run.
 */
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { connectors as catalogue } from '../../connectors/index.ts'
import { type Surroundings, standingOf, toolFrom } from '../../src/connector/declared.ts'
import { decide } from '../../src/policy/decide.ts'
import { compileView, holds } from '../../src/policy/view.ts'
import type { Session, Tool } from '../../src/policy/words.ts'
import { policies as shipped } from '../catalogue/world.ts'
import { ALL_NAMES, answer, type Foreign, isGiven, type Situation, type Who } from './oracle.ts'

const RUNS = Number(process.env.ORACLE_RUNS ?? 10_000)
const SEED = Number(process.env.ORACLE_SEED ?? Date.now() % 2 ** 31)
vi.setConfig({ testTimeout: 60_000 + RUNS * 20 })

const policies = shipped()
const slugs = catalogue.map(({ slug }) => slug)
const FOREIGN_NAMES = ['mcp__files__read', 'mcp__files__write', 'mcp__files_extra__read', 'mcp__shop__buy']
const WHO: readonly Who[] = ['person-chat', 'inbound-email', 'coworker', 'specialist', 'goal-agent', 'goal-reviewer']

interface Case {
  readonly situation: Situation
  readonly tools: readonly Tool[]
}

/** Everything but bodies is there, or not, at random; `*` declarations stand for nothing until a server offers something. */
const world = fc
  .record({
    connected: fc.subarray(slugs),
    missing: fc.subarray(['e2b', 'goals-engine', 'brand-has-skill', 'brand-has-coworker', 'figma-offered']),
    approvals: fc.boolean(),
    githubWrites: fc.boolean(),
    shopifyWrites: fc.boolean(),
    switches: fc.boolean(),
  })
  .map(({ connected, missing, approvals, githubWrites, shopifyWrites, switches: on }) => {
    const around: Surroundings = {
      switches: {
        REQUIRE_WRITE_APPROVAL: approvals,
        GITHUB_ALLOW_WRITES: githubWrites,
        SHOPIFY_ALLOW_WRITES: shopifyWrites,
        AGENTMAIL_ALLOW_SENDS: on,
        RAILWAY_ALLOW_REDEPLOY: on,
        RAILWAY_ALLOW_VARIABLE_VALUES: !on,
        SANDBOX_ALLOW_BROWSER: on,
        BROWSERBASE_PERSISTENT_LOGINS: on,
        SANDBOX_EGRESS: false,
      },
      has: (circumstance) => !missing.includes(circumstance),
      credentials: (slug) => ({ source: connected.includes(slug) ? 'own' : undefined, reason: '' }),
      hasBody: ({ ownName }) => ownName !== '*',
    }
    return { around, approvals, githubWrites, shopifyWrites }
  })

const grantable = ['shopify', 'dataforseo', 'searchconsole', 'github', 'agentmail', 'cloudflare', 'writer', 'files']
const foreign: fc.Arbitrary<Foreign> = fc.record({
  name: fc.constantFrom(...FOREIGN_NAMES),
  access: fc.constantFrom('read', 'write'),
  ask: fc.boolean(),
  grantable: fc.boolean(),
})
const asked = fc.oneof(
  { weight: 2, arbitrary: fc.constant([...ALL_NAMES, ...FOREIGN_NAMES]) },
  {
    weight: 1,
    arbitrary: fc.constant([...ALL_NAMES.filter((name) => !name.startsWith('mcp__')), ...slugs.map(whole)]),
  },
  { weight: 3, arbitrary: fc.subarray([...ALL_NAMES, ...FOREIGN_NAMES, ...[...slugs, 'files', 'shop'].map(whole)]) },
)

const anyCase: fc.Arbitrary<Case> = fc
  .record({
    world,
    who: fc.constantFrom(...WHO, 'person-chat', 'specialist', 'specialist', 'goal-agent'),
    readOnlyRoute: fc.nat(5).map((n) => n === 0),
    asks: asked,
    granted: fc.oneof(fc.subarray([...grantable, 'files_extra']), fc.constant(grantable)),
    skills: fc.subarray(['seo-method', 'humanizer']),
    depth: fc.nat(2),
    channel: fc.boolean(),
    foreign: fc.uniqueArray(foreign, { selector: ({ name }) => name, maxLength: 4 }),
  })
  .map(({ world: { around, ...switches }, foreign: given, ...rest }) => {
    const declared = catalogue.flatMap((connector) => standingOf(connector, around).tools)
    const situation: Situation = {
      ...rest,
      ...switches,
      channel: rest.channel && rest.who === 'person-chat',
      built: declared.map(({ name }) => name),
      foreign: given,
    }
    return { situation, tools: [...declared, ...given.map((one) => ({ ...one, connector: one.name.split('__')[1]! }))] }
  })

function whole(slug: string): string {
  return `mcp__${slug}__*`
}

function sessionOf(s: Situation): Session {
  return {
    id: 's',
    issuer: 'i',
    subject: 'u',
    brand: 'acme',
    role: policies.roles.get(s.who)!,
    route: policies.routes.get(s.readOnlyRoute ? 'read-only' : 'standard')!,
    ceiling: s.asks,
    grant: { connectors: s.granted, skills: s.skills, allowance: {} },
    channel: s.channel ? 'inbox' : 'none',
    limits: { delegationDepth: s.depth },
    issuedAt: 0,
    expiresAt: 1,
    viewKey: 'k',
  }
}

const viewOf = (session: Session, tools: readonly Tool[]) =>
  compileView(session, { tools, builtins: policies.builtins, mark: () => '', hash: (text) => text })

/** Asks the slow `expect` only when there is something to show. */
function same(found: string, wanted: string): void {
  if (found !== wanted) expect(found).toBe(wanted)
}

function within(names: readonly string[], wider: ReadonlySet<string>): void {
  same(names.filter((name) => !wider.has(name)).join(' '), '')
}

/** What the gateway answers, in the oracle's words. Spending is metered and within what runs unasked. */
function gateway(session: Session, tool: Tool, live: ReadonlySet<string>, approvalsOn: boolean, mutates: boolean) {
  const decision = decide(
    { tool, fingerprint: 'f', mutates, cost: 'within' },
    {
      sessionLive: true,
      holding: holds(session, tool, live),
      approvalsOn,
      channel: session.channel,
      approvedFingerprint: undefined,
    },
  )
  if (decision.effect !== 'deny') return decision.effect === 'allow' ? 'runs' : 'asks'
  return decision.code === 'unknown_tool' ? 'not there' : 'refuses'
}

describe(`the gateway and the oracle (seed ${SEED})`, () => {
  test('every tool of the catalogue is in the oracle, and none besides', () => {
    const declared = catalogue
      .flatMap(({ tools }) => tools.map(({ name }) => name))
      .filter((name) => !name.endsWith('*'))
    expect(ALL_NAMES.filter((name) => name.startsWith('mcp__')).sort()).toEqual(declared.sort())
    expect(ALL_NAMES.filter((name) => !name.startsWith('mcp__')).sort()).toEqual([...policies.builtins].sort())
  })

  test(`agree on what is held and what each call meets, in ${RUNS} cases`, () => {
    fc.assert(
      fc.property(anyCase, fc.boolean(), ({ situation, tools }, mutation) => {
        const session = sessionOf(situation)
        const view = viewOf(session, tools)
        const names = [...ALL_NAMES, ...situation.foreign.map(({ name }) => name)]
        const given = names.filter((name) => isGiven(name, situation)).sort()
        same([...view.builtins, ...view.tools.map(({ name }) => name)].sort().join(' '), given.join(' '))
        const live = new Set(tools.map(({ connector }) => connector))
        for (const tool of tools) {
          const found = gateway(session, tool, live, situation.approvals, mutation)
          same(`${tool.name} ${found}`, `${tool.name} ${answer(tool.name, situation, mutation)}`)
        }
      }),
      { numRuns: RUNS, seed: SEED },
    )
  })
})

describe(`laws (seed ${SEED})`, () => {
  const names = (situation: Situation, tools: readonly Tool[]) => {
    const { tools: held, builtins } = viewOf(sessionOf(situation), tools)
    return [...builtins, ...held.map(({ name }) => name)]
  }
  const drop = <T>(list: readonly T[], at: number) => list.filter((_, i) => i !== at % Math.max(1, list.length))

  test('asking for less, granting less, a lower depth or a narrower route never adds a tool', () => {
    fc.assert(
      fc.property(anyCase, fc.nat(), ({ situation: s, tools }, at) => {
        // Seven narrower ones of each.
        const before = new Set(names(s, tools))
        const narrower: Situation[] = [
          { ...s, asks: drop(s.asks, at) },
          { ...s, granted: drop(s.granted, at) },
          { ...s, skills: drop(s.skills, at) },
          { ...s, depth: 0 },
          { ...s, readOnlyRoute: true },
          { ...s, channel: false },
        ]
        for (const less of narrower) within(names(less, tools), before)
        within(names(s, drop(tools, at)), before)
      }),
      { numRuns: Math.ceil(RUNS / 7), seed: SEED },
    )
  })

  test('a plain coworker never holds what the same person’s chat does not', () => {
    fc.assert(
      fc.property(anyCase, ({ situation: s, tools }) => {
        const chat = new Set(names({ ...s, who: 'person-chat', channel: true, approvals: true }, tools))
        within(names({ ...s, who: 'coworker', channel: false }, tools), chat)
      }),
      { numRuns: Math.min(RUNS, 1_000), seed: SEED },
    )
  })

  test('the order of names, grants, skills and tools changes nothing', () => {
    fc.assert(
      fc.property(anyCase, fc.nat(100), ({ situation: s, tools }, at) => {
        const turned = {
          ...s,
          asks: [...s.asks].reverse(),
          granted: [...s.granted].reverse(),
          skills: [...s.skills].reverse(),
        }
        const { hash } = viewOf(sessionOf(s), tools)
        same(viewOf(sessionOf(turned), [...tools].reverse()).hash, hash)
        same(viewOf(sessionOf(turned), [...tools.slice(at), ...tools.slice(0, at)]).hash, hash)
      }),
      { numRuns: Math.ceil(RUNS / 2), seed: SEED },
    )
  })

  test('a deny beats everything: no approval and no switch lets a call run that is not held or whose session is over', () => {
    fc.assert(
      fc.property(anyCase, fc.boolean(), ({ situation: s, tools }, sessionLive) => {
        const session = sessionOf(s)
        const live = new Set(tools.map(({ connector }) => connector))
        for (const tool of tools) {
          const holding = holds(session, tool, live)
          const decision = decide(
            { tool, fingerprint: 'f', mutates: false, cost: 'within' },
            { sessionLive, holding, approvalsOn: s.approvals, channel: 'inbox', approvedFingerprint: 'f' },
          )
          const off = tool.switchedOff !== undefined && tool.asks === 'always'
          if (!holding.held || !sessionLive || off) same(`${tool.name} ${decision.effect}`, `${tool.name} deny`)
        }
      }),
      { numRuns: Math.ceil(RUNS / 5), seed: SEED },
    )
  })

  test('no grant and no profile ever gives a write to a session with nobody to ask, but for its own notes and files', () => {
    const own = /^mcp__(memory|project|seo)__/
    fc.assert(
      fc.property(anyCase, ({ situation: s, tools }) => {
        if (s.who === 'person-chat' || s.who === 'inbound-email') return
        const { tools: held } = viewOf(sessionOf(s), tools)
        const writes = held.filter(({ name, access }) => access === 'write' && !own.test(name))
        same(writes.map(({ name }) => name).join(' '), '')
      }),
      { numRuns: Math.min(RUNS, 2_000), seed: SEED },
    )
  })

  test('a wildcard declaration gives its facts to whatever the server offers', () => {
    const contentsquare = catalogue.find(({ slug }) => slug === 'contentsquare')!
    expect(toolFrom(contentsquare, contentsquare.tools[0]!, {})).toMatchObject({ asks: 'never', grantable: false })
  })
})
