import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Call, decide, type Facts, mayAsk } from '../../src/policy/decide.ts'
import { CODES, type Decision, type Tool } from '../../src/policy/words.ts'

/** Fewer where each of many mutants is judged. */
const RUNS = Number(process.env.POLICY_RUNS ?? 10_000)

const tool = (more: Partial<Tool> = {}): Tool => ({
  name: 'mcp__files__read_file',
  connector: 'files',
  access: 'read',
  ask: false,
  grantable: false,
  ...more,
})
const held = { held: true, reasons: [{ rule: 'role-holds', because: 'The role lists it.' }] } as const
const facts = (more: Partial<Facts> = {}): Facts => ({
  sessionLive: true,
  holding: held,
  approvalsOn: true,
  channel: 'inbox',
  approvedFingerprint: undefined,
  ...more,
})
const SHORT = { covers: false, because: 'It costs 5, and 4 are left.' }
const of = (what: Partial<Tool>, more: Partial<Facts> = {}) =>
  decide({ tool: tool(what), fingerprint: 'f1' }, facts(more))

describe('one decision', () => {
  const cases: Record<string, [Partial<Tool>, Partial<Facts>, string, string?]> = {
    'a read inside the view runs': [{}, {}, 'allow', 'role-holds'],
    'a read needs no one to ask': [{}, { channel: 'none' }, 'allow'],
    'a write asks': [{ access: 'write' }, {}, 'ask', 'write-asks'],
    'a spend asks': [{ access: 'spend' }, {}, 'ask', 'spend-asks'],
    'a read that the operator wants asked asks': [{ ask: true }, {}, 'ask', 'tool-asks'],
    'a write with no one to ask is refused before anything leaves': [
      { access: 'write' },
      { channel: 'none' },
      'approval_required',
      'no-channel',
    ],
    'a write is refused where approvals are switched off, and does not run unasked': [
      { access: 'write' },
      { approvalsOn: false },
      'approval_required',
    ],
    'an approval of this call lets it run': [{ access: 'write' }, { approvedFingerprint: 'f1' }, 'allow', 'approved'],
    'an approval of another call does not': [{ access: 'write' }, { approvedFingerprint: 'f2' }, 'ask'],
    'an approval does not get round a missing channel': [
      { access: 'write' },
      { approvedFingerprint: 'f1', channel: 'none' },
      'approval_required',
    ],
    'an approval does not get round the view': [
      { access: 'write' },
      { approvedFingerprint: 'f1', holding: { held: false, reasons: [] } },
      'unknown_tool',
    ],
    'an approval does not get round a revoked session': [
      { access: 'write' },
      { approvedFingerprint: 'f1', sessionLive: false },
      'session_revoked',
    ],
    'a tool outside the view is unknown': [{}, { holding: { held: false, reasons: [] } }, 'unknown_tool'],
    'a dead session is told so before anything else': [
      {},
      { sessionLive: false, holding: { held: false, reasons: [] } },
      'session_revoked',
    ],
    'an access word nobody knows is refused': [{ access: 'admin' as never }, {}, 'unknown_tool', 'access'],
    'a channel nobody knows is no channel': [{ access: 'write' }, { channel: 'pager' as never }, 'approval_required'],
    'a fact that is missing refuses': [{}, { sessionLive: undefined as never }, 'session_revoked'],
  }
  test.each(Object.entries(cases))('%s', (_name, [what, more, wanted, rule]) => {
    const decision = of(what, more)
    expect(decision.effect === 'deny' ? decision.code : decision.effect).toBe(wanted)
    if (rule !== undefined) expect(decision.reasons.map((reason) => reason.rule)).toContain(rule)
  })
})

describe('a tool whose connector declares when it asks', () => {
  const call = (what: Partial<Tool>, said: Partial<Call> = {}, more: Partial<Facts> = {}) => {
    const decision = decide({ tool: tool(what), fingerprint: 'f1', ...said }, facts(more))
    return [decision.effect === 'deny' ? decision.code : decision.effect, decision.filter]
  }
  const cases: Record<string, [Partial<Tool>, Partial<Call>, Partial<Facts>, string, string]> = {
    'a write that never asks runs': [{ access: 'write', asks: 'never' }, {}, {}, 'allow', 'gate'],
    'and asks where the operator wants it': [{ access: 'write', asks: 'never', ask: true }, {}, {}, 'ask', 'gate'],
    'one that always asks asks': [{ access: 'write', asks: 'always' }, {}, {}, 'ask', 'gate'],
    'arguments that change nothing run': [{ asks: 'mutations' }, { mutates: false }, {}, 'allow', 'gate'],
    'arguments that change something ask': [{ asks: 'mutations' }, { mutates: true }, {}, 'ask', 'gate'],
    'arguments nobody read ask': [{ asks: 'mutations' }, {}, {}, 'ask', 'gate'],
    'a cost within what runs unasked runs': [{ asks: 'above-threshold' }, { cost: 'within' }, {}, 'allow', 'gate'],
    'a cost above it asks': [{ asks: 'above-threshold' }, { cost: 'above' }, {}, 'ask', 'gate'],
    'a cost nobody metered asks': [{ asks: 'above-threshold' }, {}, {}, 'ask', 'gate'],
    'a cost above it is refused as that where nobody can be asked': [
      { asks: 'above-threshold' },
      { cost: 'above' },
      { channel: 'none' },
      'over_threshold',
      'gate',
    ],
    'a cost that the allowance covers runs': [
      { asks: 'above-threshold' },
      { cost: 'within' },
      { channel: 'none', left: { covers: true, because: 'Enough.' } },
      'allow',
      'gate',
    ],
    'one that it does not cover asks, within the threshold too': [
      { asks: 'above-threshold' },
      { cost: 'within' },
      { left: SHORT },
      'ask',
      'gate',
    ],
    'or is refused as that where nobody can be asked': [
      { asks: 'above-threshold' },
      { cost: 'above' },
      { channel: 'none', left: SHORT },
      'allowance_exhausted',
      'gate',
    ],
    'and where approvals are switched off': [
      { asks: 'above-threshold' },
      { cost: 'within' },
      { approvalsOn: false, left: SHORT },
      'allowance_exhausted',
      'gate',
    ],
    'a cost nobody metered is refused for want of a person, whatever is left': [
      { asks: 'above-threshold' },
      {},
      { channel: 'none', left: SHORT },
      'approval_required',
      'gate',
    ],
    'a person’s yes lets a call run that the allowance does not cover': [
      { asks: 'above-threshold' },
      { cost: 'within' },
      { approvedFingerprint: 'f1', left: SHORT },
      'allow',
      'gate',
    ],
    'a word nobody knows asks, even for a read': [{ asks: 'maybe' as never }, {}, {}, 'ask', 'gate'],
    'a switch that is off refuses, approved or not': [
      { access: 'write', asks: 'always', switchedOff: 'GITHUB_ALLOW_WRITES' },
      {},
      { approvedFingerprint: 'f1' },
      'switched_off',
      'gate',
    ],
    'a switch that is off leaves reads alone': [
      { asks: 'mutations', switchedOff: 'SHOPIFY_ALLOW_WRITES' },
      { mutates: false },
      {},
      'allow',
      'gate',
    ],
    'standing instructions run where approvals are off': [
      { access: 'write', asks: 'always', approvalsOff: 'runs' },
      {},
      { approvalsOn: false },
      'allow',
      'gate',
    ],
    'and no tool that does not say so': [
      { access: 'write', asks: 'always' },
      {},
      { approvalsOn: false },
      'approval_required',
      'gate',
    ],
    'and nowhere else': [{ access: 'write', asks: 'always', approvalsOff: 'runs' }, {}, {}, 'ask', 'gate'],
    'nor where nobody knows whether they are off': [
      { access: 'write', asks: 'always', approvalsOff: 'runs' },
      {},
      { approvalsOn: undefined as never },
      'approval_required',
      'gate',
    ],
    'the filter is the one that kept it back': [
      {},
      {},
      { holding: { held: false, filter: 'registration', reasons: [] } },
      'unknown_tool',
      'registration',
    ],
    'which is the ceiling when nothing is said': [
      {},
      {},
      { holding: { held: false, reasons: [] } },
      'unknown_tool',
      'ceiling',
    ],
    'or the session itself': [{}, {}, { sessionLive: false }, 'session_revoked', 'session'],
  }
  test.each(Object.entries(cases))('%s', (_name, [what, said, more, wanted, filter]) => {
    expect(call(what, said, more)).toEqual([wanted, filter])
  })

  test('a call without a fingerprint is not the one that nobody approved', () => {
    expect(call({ access: 'write' }, { fingerprint: undefined as never })).toEqual(['ask', 'gate'])
  })

  test('over the threshold is said in other words than unmetered', () => {
    const rules = (cost?: 'above') =>
      decide({ tool: tool({ asks: 'above-threshold' }), fingerprint: 'f1', cost }, facts()).reasons.map(
        ({ rule }) => rule,
      )
    expect([rules('above'), rules()]).toEqual([['over-threshold'], ['spend-asks']])
  })
})

describe('what a person reads of a decision', () => {
  const ask = (rule: string, because: string): Decision => ({
    effect: 'ask',
    filter: 'gate',
    reasons: [{ rule, because }],
  })
  const writes = { rule: 'write-asks', because: 'This tool may change something, so a person decides.' }
  const outside = { rule: 'ceiling', because: 'The ceiling does not list it.' }
  const cases: Record<string, [Partial<Tool>, Partial<Call>, Partial<Facts>, Decision]> = {
    'a session that is over': [
      {},
      {},
      { sessionLive: false },
      {
        effect: 'deny',
        code: 'session_revoked',
        filter: 'session',
        reasons: [{ rule: 'session', because: 'This session was revoked, ended or has expired.' }],
      },
    ],
    'a tool outside the view, for the reasons the view gives': [
      {},
      {},
      { holding: { held: false, reasons: [outside] } },
      { effect: 'deny', code: 'unknown_tool', filter: 'ceiling', reasons: [outside] },
    ],
    'a tool without a word that is known': [
      { access: 'admin' as never },
      {},
      {},
      {
        effect: 'deny',
        code: 'unknown_tool',
        filter: 'registration',
        reasons: [{ rule: 'access', because: 'The tool has no access word this gateway knows.' }],
      },
    ],
    'a switch that is off': [
      { access: 'write', switchedOff: 'GITHUB_ALLOW_WRITES' },
      {},
      {},
      {
        effect: 'deny',
        code: 'switched_off',
        filter: 'gate',
        reasons: [
          {
            rule: 'switch',
            because: "The operator's switch GITHUB_ALLOW_WRITES is off, so this is refused whoever would approve it.",
          },
        ],
      },
    ],
    'a call with no one to ask, and why it asks': [
      { access: 'write' },
      {},
      { channel: 'none' },
      {
        effect: 'deny',
        code: 'approval_required',
        filter: 'gate',
        reasons: [
          writes,
          { rule: 'no-channel', because: 'A person must decide this call, and this session has no one to ask.' },
        ],
      },
    ],
    'a call that was approved, and why it asked': [
      { access: 'write' },
      {},
      { approvedFingerprint: 'f1' },
      {
        effect: 'allow',
        filter: 'gate',
        reasons: [writes, { rule: 'approved', because: 'A person approved exactly this call.' }],
      },
    ],
    'a call that runs unasked, for the reasons the view gives': [
      {},
      {},
      {},
      { effect: 'allow', filter: 'gate', reasons: held.reasons },
    ],
    'a write': [{ access: 'write' }, {}, {}, ask(writes.rule, writes.because)],
    'a spend': [{ access: 'spend' }, {}, {}, ask('spend-asks', 'This tool spends money, so a person decides.')],
    'a tool that the operator wants asked': [
      { ask: true },
      {},
      {},
      ask('tool-asks', 'The operator wants a person to decide every call of this tool.'),
    ],
    'a tool that always asks': [
      { asks: 'always' },
      {},
      {},
      ask('always-asks', 'A person decides every call of this tool.'),
    ],
    'arguments that may change something': [
      { asks: 'mutations' },
      { mutates: true },
      {},
      ask('mutation-asks', 'These arguments may change something, so a person decides.'),
    ],
    'a cost above what runs unasked': [
      { asks: 'above-threshold' },
      { cost: 'above' },
      {},
      ask('over-threshold', 'This call costs more than runs unasked, so a person decides.'),
    ],
    'a cost that the allowance does not cover': [
      { asks: 'above-threshold' },
      { cost: 'within' },
      { left: SHORT },
      ask('over-allowance', SHORT.because),
    ],
    'a cost that nobody metered': [
      { asks: 'above-threshold' },
      {},
      {},
      ask('spend-asks', 'Nobody metered what this call costs, so a person decides.'),
    ],
    'a word about asking that nobody knows': [
      { asks: 'maybe' as never },
      {},
      {},
      ask('unknown-asks', 'Nobody knows when this tool asks, so a person decides.'),
    ],
  }
  test.each(Object.entries(cases))('%s', (_name, [what, said, more, wanted]) => {
    expect(decide({ tool: tool(what), fingerprint: 'f1', ...said }, facts(more))).toEqual(wanted)
  })

  test('every reason to ask is told, the operator’s first', () => {
    expect(of({ ask: true, access: 'write' }).reasons.map(({ rule }) => rule)).toEqual(['tool-asks', 'write-asks'])
  })
})

describe('arguments that the tool itself refuses', () => {
  const refused = { code: 'forbidden_arguments', because: 'Not to the default branch.' } as const
  const decided = (what: Partial<Tool>, more: Partial<Facts> = {}) =>
    decide({ tool: tool(what), fingerprint: 'f1', refused }, facts(more))
  const no = {
    effect: 'deny',
    code: 'forbidden_arguments',
    filter: 'gate',
    reasons: [{ rule: 'arguments', because: refused.because }],
  }

  test('are refused before a switch, and before anybody is asked or found missing', () => {
    expect(decided({ access: 'write' })).toEqual(no)
    expect(decided({ access: 'write', switchedOff: 'GITHUB_ALLOW_WRITES' })).toEqual(no)
    expect(decided({ access: 'write' }, { channel: 'none' })).toEqual(no)
    expect(decided({ access: 'read' })).toEqual(no)
  })

  test('are refused even where a person approved exactly this call', () => {
    expect(decided({ access: 'write' }, { approvedFingerprint: 'f1' })).toEqual(no)
  })

  test('say nothing to a session that is dead or does not hold the tool', () => {
    expect(decided({}, { sessionLive: false })).toMatchObject({ code: 'session_revoked' })
    expect(decided({}, { holding: { held: false, reasons: [] } })).toMatchObject({ code: 'unknown_tool', reasons: [] })
  })
})

describe('whether a call of a tool can be parked', () => {
  const cases: Record<string, [Partial<Tool>, boolean]> = {
    'a read cannot': [{}, false],
    'a write can': [{ access: 'write' }, true],
    'a spend can': [{ access: 'spend' }, true],
    'a write that never asks cannot': [{ access: 'write', asks: 'never' }, false],
    'a read that the operator wants asked can': [{ ask: true }, true],
    'a read whose arguments may change something can': [{ asks: 'mutations' }, true],
    'a read whose cost may lie above the threshold can': [{ asks: 'above-threshold' }, true],
    'one that runs only where approvals are off can': [{ asks: 'always', approvalsOff: 'runs' }, true],
  }
  test.each(Object.entries(cases))('%s', (_name, [what, wanted]) => {
    expect(mayAsk(tool(what))).toBe(wanted)
  })
})

describe('any decision', () => {
  const anyTool = fc.record({
    name: fc.constantFrom('mcp__files__read_file', 'mcp__files__write_file'),
    connector: fc.constant('files'),
    access: fc.constantFrom('read', 'write', 'spend', 'READ', '', 'destroy') as fc.Arbitrary<Tool['access']>,
    ask: fc.boolean(),
    grantable: fc.boolean(),
    asks: fc.constantFrom(undefined as never, 'above-threshold' as const),
  })
  const anyFacts: fc.Arbitrary<Facts> = fc.record({
    sessionLive: fc.constantFrom(true, false, undefined as never, 'yes' as never),
    holding: fc.constantFrom(held, { held: false, reasons: [] } as const, { held: 1, reasons: [] } as never),
    approvalsOn: fc.constantFrom(true, false, undefined as never),
    channel: fc.constantFrom('inbox', 'none', '' as never),
    approvedFingerprint: fc.constantFrom(undefined, 'f1', 'f2', ''),
    left: fc.constantFrom(undefined, { covers: true, because: '' }, SHORT, { covers: 'yes', because: '' } as never),
  })

  const anyCost = fc.constantFrom(undefined, 'within' as const, 'above' as const, 'free' as never)

  /** The rules again, written from the design without looking at the code. */
  function oracle({ tool: { access, ask, asks }, fingerprint, cost }: Call, given: Facts): string {
    const alive = given.sessionLive === true
    const inView = given.holding.held === true
    const known = access === 'read' || access === 'write' || access === 'spend'
    const metered = asks === 'above-threshold'
    const above = metered && cost === 'above'
    const short = given.left !== undefined && given.left.covers !== true
    const person = ask || (metered ? cost !== 'within' && !above : access === 'write' || access === 'spend')
    const gated = person || above || short
    const reachable = given.approvalsOn === true && given.channel === 'inbox'
    if (!alive) return 'session_revoked'
    if (!inView || !known) return 'unknown_tool'
    if (gated && !reachable) return person ? 'approval_required' : short ? 'allowance_exhausted' : 'over_threshold'
    if (gated && given.approvedFingerprint !== fingerprint) return 'ask'
    return 'allow'
  }

  test('agrees with a second reading of the rules, in 10,000 cases', () => {
    fc.assert(
      fc.property(anyTool, anyFacts, fc.constantFrom('f1', 'f2'), anyCost, (what, given, fingerprint, cost) => {
        const decision = decide({ tool: what, fingerprint, cost }, given)
        expect(decision.effect === 'deny' ? decision.code : decision.effect).toBe(
          oracle({ tool: what, fingerprint, cost }, given),
        )
      }),
      { numRuns: RUNS },
    )
  })

  test('always has a reason or a refusal from the closed list', () => {
    fc.assert(
      fc.property(anyTool, anyFacts, (what, given) => {
        const decision = decide({ tool: what, fingerprint: 'f1' }, given)
        if (decision.effect === 'deny') expect(CODES).toContain(decision.code)
        else expect(decision.reasons.length).toBeGreaterThan(0)
      }),
    )
  })
})
