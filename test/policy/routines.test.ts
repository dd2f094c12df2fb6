/**
 * Seed 002, sentence by sentence, as pure rules.
 */
import { describe, expect, test } from 'vitest'
import { type Call, decide, type Facts } from '../../src/policy/decide.ts'
import {
  type Change,
  changeProblem,
  confirmationOf,
  readyProblem,
  type RoutinePolicy,
  routineHolds,
  TOOL_STATES,
} from '../../src/policy/routines.ts'
import type { SessionRoutine, Tool } from '../../src/policy/words.ts'

const SEND = 'mcp__github__send'
const LOOK = 'mcp__github__look'
const audit = { name: 'Audit' }
const wish = (change: Partial<Change>): Change => ({
  tool: SEND,
  to: 'automatic',
  from: 'enabled',
  confirm: confirmationOf(audit, SEND),
  open: true,
  proven: true,
  ...change,
})
const code = (change: Partial<Change>) => changeProblem(audit, wish(change))?.code

const policy = (more: Partial<RoutinePolicy> = {}): RoutinePolicy => ({
  id: 'rt_1',
  brand: 'acme',
  name: 'Audit',
  version: 7,
  state: 'ready',
  connections: ['github'],
  tools: new Map([
    [SEND, { state: 'automatic', digest: 'd1', since: 5 }],
    [LOOK, { state: 'enabled', digest: 'd1', since: 5 }],
  ]),
  ...more,
})
const session = (routine: Partial<SessionRoutine> = {}, brand = 'acme') => ({
  brand,
  routine: { id: 'rt_1', version: 7, supervised: false, ...routine },
})
const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  connector: 'github',
  access: 'write',
  ask: false,
  grantable: false,
  ...more,
})
const word = (name: string, digest = 'd1', routine: RoutinePolicy | undefined = policy(), who = session()) => {
  const found = routineHolds(who, tool(name), digest, routine)
  return 'word' in found ? found.word : 'held back'
}

const facts = (more: Partial<Facts> = {}): Facts => ({
  sessionLive: true,
  holding: { held: true, reasons: [] },
  approvalsOn: true,
  channel: 'none',
  approvedFingerprint: undefined,
  routine: 'automatic',
  ...more,
})
const effect = (call: Partial<Call>, more: Partial<Facts> = {}) => {
  const decision = decide({ tool: tool(SEND), fingerprint: 'f', ...call }, facts(more))
  return decision.effect === 'deny' ? decision.code : decision.effect
}

describe('two independent grants rather than one switch, and three states', () => {
  test.each(TOOL_STATES.flatMap((from) => TOOL_STATES.map((to) => [from, to] as const)))(
    'from %s to %s, with everything that may be asked for',
    (from, to) => {
      const expected = from === 'disabled' && to === 'automatic' ? 'automatic_on_disabled_tool' : undefined
      expect(code({ from, to })).toBe(expected)
    },
  )

  test('automatic execution cannot be granted to a disabled tool: the combination is rejected outright', () => {
    for (const more of [{}, { proven: false }, { confirm: undefined }]) {
      expect(changeProblem(audit, wish({ from: 'disabled', ...more }))).toMatchObject({
        status: 422,
        code: 'automatic_on_disabled_tool',
      })
    }
  })

  test('enabling is a decision about capability: it needs no confirmation and no trace', () => {
    expect(code({ to: 'enabled', from: 'disabled', confirm: undefined, proven: false })).toBeUndefined()
  })

  test('taking away is always possible, whatever became of the tool', () => {
    for (const from of TOOL_STATES) {
      expect(code({ to: 'disabled', from, open: false, proven: false, confirm: undefined })).toBeUndefined()
    }
  })

  test('enabling says that the capability is relevant, so a person decides each call, a read too', () => {
    const read = tool(LOOK, { access: 'read' })
    expect(effect({ tool: read }, { routine: 'asks', channel: 'inbox' })).toBe('ask')
    expect(effect({ tool: read }, { routine: 'asks' })).toBe('approval_required')
    expect(effect({ tool: read }, { routine: 'asks', channel: 'inbox', approvedFingerprint: 'f' })).toBe('allow')
  })

  test('automatic says that it may happen while nobody is watching, and the decision says so', () => {
    for (const asks of [undefined, 'always', 'mutations'] as const) {
      expect(effect({ tool: tool(SEND, asks && { asks }), mutates: true })).toBe('allow')
    }
    const { reasons } = decide({ tool: tool(SEND), fingerprint: 'f' }, facts())
    expect(reasons.map(({ rule }) => rule)).toContain('routine-automatic')
  })

  test('automatic execution is granted after a trace was read: without a supervised call there is none', () => {
    expect(changeProblem(audit, wish({ proven: false }))).toMatchObject({
      status: 409,
      code: 'automatic_tool_proof_required',
    })
  })

  test('a word nobody knows gives nothing', () => {
    expect(effect({}, { routine: 'Automatic' as never })).toBe('approval_required')
    expect(code({ open: 'yes' as never })).toBe('definition_changed')
    expect(code({ proven: 1 as never })).toBe('automatic_tool_proof_required')
  })
})

describe('automatic never overrides', () => {
  test.each([
    ['a session that is dead', {}, { sessionLive: false }, 'session_revoked'],
    ['a view without the tool', {}, { holding: { held: false, reasons: [] } }, 'unknown_tool'],
    [
      'arguments that the tool refuses',
      { refused: { code: 'forbidden_arguments', because: 'no' } },
      {},
      'forbidden_arguments',
    ],
    ['a switch of the operator', { tool: tool(SEND, { switchedOff: 'SOME_SWITCH' }) }, {}, 'switched_off'],
    ['the operator’s own ask', { tool: tool(SEND, { ask: true }) }, {}, 'approval_required'],
    ['an allowance that is used up', {}, { left: { covers: false, because: 'none left' } }, 'allowance_exhausted'],
    [
      'the threshold',
      { tool: tool(SEND, { access: 'spend', asks: 'above-threshold' }), cost: 'above' },
      {},
      'over_threshold',
    ],
    ['a cost nobody knows', { tool: tool(SEND, { access: 'spend' }) }, {}, 'approval_required'],
    ['a call that comes again and again', {}, { repeated: 'again' }, 'approval_required'],
  ] as [string, Partial<Call>, Partial<Facts>, string][])('%s', (_, call, more, expected) => {
    expect(effect(call, more)).toBe(expected)
  })

  test('the breaker parks a card where there is a person, and their yes lets the call run', () => {
    expect(effect({}, { repeated: 'again', channel: 'inbox' })).toBe('ask')
    expect(effect({}, { repeated: 'again', channel: 'inbox', approvedFingerprint: 'f' })).toBe('allow')
  })
})

describe('confirmation', () => {
  test('it names the tool and states that it may read or change connected data', () => {
    expect(confirmationOf(audit, SEND)).toContain(SEND)
    expect(confirmationOf(audit, SEND)).toContain('may read or change connected data')
  })

  test('without it there is 409 automatic_tool_confirmation_required, with the exact sentence', () => {
    const refusal = changeProblem(audit, wish({ confirm: undefined }))
    expect(refusal).toMatchObject({
      status: 409,
      code: 'automatic_tool_confirmation_required',
      confirm: confirmationOf(audit, SEND),
    })
    expect(changeProblem(audit, wish({ confirm: undefined, proven: false }))?.code).toBe(refusal?.code)
  })

  test('it cannot be set once and forgotten for every tool: no other sentence will do', () => {
    const sentence = confirmationOf(audit, SEND)
    const others = [
      '',
      'yes',
      'true',
      '*',
      sentence.toLowerCase(),
      ` ${sentence}`,
      sentence.replace(SEND, 'mcp__github__*'),
    ]
    for (const confirm of [...others, confirmationOf(audit, LOOK), confirmationOf({ name: 'Other' }, SEND)]) {
      expect(code({ confirm })).toBe('automatic_tool_confirmation_required')
    }
  })
})

test('annotations are context, not authorization: a change has no place for them', () => {
  const said = { ...wish({ confirm: undefined, proven: false }), annotations: { readOnlyHint: true } }
  expect(changeProblem(audit, said)?.code).toBe('automatic_tool_confirmation_required')
  const lying = { ...tool(SEND), annotations: { readOnlyHint: true } }
  expect(effect({ tool: lying }, { routine: 'asks' })).toBe('approval_required')
})

describe('scope is per routine', () => {
  test('tool policies belong to a routine, not to a connection: another routine’s word gives nothing', () => {
    expect(word(SEND)).toBe('automatic')
    expect(word(SEND, 'd1', policy({ id: 'rt_2' }))).toBe('held back')
    expect(word(SEND, 'd1', policy({ brand: 'other' }))).toBe('held back')
    expect(word(SEND, 'd1', policy({ connections: ['gitlab'] }))).toBe('held back')
  })

  test('nothing is shared implicitly: a tool that nobody spoke of is disabled', () => {
    expect(word('mcp__github__new')).toBe('held back')
    expect(routineHolds({ brand: 'acme' }, tool(SEND), 'd1', policy())).not.toHaveProperty('word')
  })
})

describe('rediscovery resets approvals', () => {
  test('a tool whose definition changed is not the one that was let in', () => {
    expect(word(SEND, 'd2')).toBe('held back')
    expect(code({ open: false })).toBe('definition_changed')
    expect(code({ to: 'enabled', from: 'disabled', open: false })).toBe('definition_changed')
  })

  test('a routine that returned to draft runs nothing unattended, and asks about everything with a person present', () => {
    const draft = policy({ state: 'draft' })
    expect(word(SEND, 'd1', draft)).toBe('held back')
    expect(word(SEND, 'd1', draft, session({ supervised: true }))).toBe('asks')
    expect(word(SEND, 'd1', policy(), session({ supervised: true }))).toBe('automatic')
  })

  test('a routine is ready only where a tool is enabled as it is now', () => {
    expect(readyProblem(policy(), () => 'd1')).toBeUndefined()
    expect(readyProblem(policy(), () => 'd2')).toMatchObject({ status: 422, code: 'nothing_enabled' })
    expect(readyProblem(policy({ tools: new Map() }), () => 'd1')).toMatchObject({ code: 'nothing_enabled' })
    expect(readyProblem(policy(), () => undefined)).toMatchObject({ code: 'nothing_enabled' })
  })
})

test('a live session is narrowed by what comes later, and never widened', () => {
  expect(
    word(SEND, 'd1', policy({ version: 9, tools: new Map([[SEND, { state: 'automatic', digest: 'd1', since: 9 }]]) })),
  ).toBe('asks')
  expect(word(SEND, 'd1', policy({ version: 9, tools: new Map() }))).toBe('held back')
  expect(word(SEND, 'd1', policy({ version: 6 }))).toBe('held back')
  expect(routineHolds(session(), tool(SEND), 'd1', undefined)).not.toHaveProperty('word')
})

describe('why a tool is held back is said', () => {
  const why = (name: string, routine: RoutinePolicy | undefined = policy(), who: object = session(), digest = 'd1') => {
    const found = routineHolds(who as ReturnType<typeof session>, tool(name), digest, routine)
    return 'word' in found ? found.word : found.because
  }

  test.each<[string, string]>([
    [why(SEND, policy(), { brand: 'acme' }), 'The session works for no routine.'],
    [why(SEND, policy({ id: 'rt_2' })), 'The routine rt_1 is not there any more.'],
    [why(SEND, policy(), session({}, 'other')), 'The routine rt_1 is not there any more.'],
    [why(SEND, policy({ version: 6 })), 'The routine "Audit" is not known here in version 7 yet.'],
    [why(SEND, policy({ state: 'draft' })), 'The routine "Audit" is a draft, so nothing of it runs unattended.'],
    [why('mcp__github__gone'), 'The routine "Audit" has mcp__github__gone disabled.'],
    [why(SEND, policy({ connections: [] })), `The routine "Audit" has ${SEND} disabled.`],
    [
      why(SEND, policy(), session(), 'd2'),
      `The routine "Audit" let ${SEND} in under another definition than it has now.`,
    ],
  ])('%s', (said, expected) => {
    expect(said).toBe(expected)
  })

  test('an enabled tool of a ready routine asks, and automatic counts from the very version it was given in', () => {
    expect([
      why(LOOK),
      why(SEND, policy(), session({ version: 5 })),
      why(SEND, policy(), session({ version: 4 })),
    ]).toEqual(['asks', 'automatic', 'asks'])
  })

  test('every refusal of a change says what to do', () => {
    const detail = (change: Partial<Change>) => changeProblem(audit, wish(change))?.detail
    expect(detail({ open: false })).toMatch(/accept it first/)
    expect(detail({ from: 'disabled' })).toMatch(/enable it first, and grant automatic once you have read a trace/)
    expect(detail({ confirm: 'yes' })).toMatch(/Send confirm with exactly this sentence/)
    expect(detail({ proven: false })).toMatch(/Start a supervised session/)
    expect(detail({ to: 'enabled', from: 'enabled', open: false })).toBeUndefined()
    expect(readyProblem(policy({ tools: new Map() }), () => undefined)?.detail).toMatch(/could do nothing/)
  })
})
