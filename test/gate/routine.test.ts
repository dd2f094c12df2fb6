/**
 * A call of a routine's session before it is decided: what cannot be traced does not run.
 */
import { expect, test, vi } from 'vitest'
import type { RegisteredTool } from '../../src/connector/connector.ts'
import type { GateParts } from '../../src/gate/gate.ts'
import type { Outcome } from '../../src/gate/outcome.ts'
import type { Asked } from '../../src/gate/passing.ts'
import { passTraced } from '../../src/gate/routine.ts'

const session = { id: 's', brand: 'acme', channel: 'inbox', routine: { id: 'rt', version: 1, supervised: false } }
const tool = { name: 'mcp__up__send', connector: 'up', digest: 'd' } as RegisteredTool
const asked = {
  session,
  tool,
  name: tool.name,
  written: 'up__send',
  argumentsText: '{}',
  extraText: '',
} as unknown as Asked
const answered = { kind: 'answered', answer: { kind: 'result', members: '', metaText: '', isError: false } } as Outcome

function world({
  equal = 1,
  latest = undefined as object | undefined,
  traced = true,
  known = true,
  there = true,
} = {}) {
  const traces = {
    begin: () => (traced ? Promise.resolve({ id: 't', equal }) : Promise.reject(new Error('no database'))),
    end: vi.fn(() => Promise.resolve()),
  }
  const cards = { latest: () => (known ? Promise.resolve(latest) : Promise.reject(new Error('no database'))) }
  const parts = { cards, ...(there ? { routines: { traces, equalCalls: 3 } } : {}) } as unknown as GateParts
  const pass = vi.fn((_repeated: string | undefined) => Promise.resolve(answered))
  return { traces, pass, run: () => passTraced(parts, asked, pass) }
}

test.each([
  ['without a place for traces', { there: false }],
  ['when its trace cannot be written', { traced: false }],
  ['when nobody can say whether it is with a person', { known: false }],
])('nothing runs %s', async (_, facts) => {
  const { pass, run } = world(facts)
  expect(await run()).toMatchObject({ kind: 'refused', code: 'internal' })
  expect(pass).not.toHaveBeenCalled()
})

test('a call that waits for a person is theirs, however seldom it came since, so that it runs once', async () => {
  const { pass, run } = world({ latest: {} })
  await run()
  expect(pass).toHaveBeenCalledWith(expect.stringContaining('with a person'))
})

test.each([
  [3, undefined],
  [4, expect.stringContaining('4th time')],
  [Number.POSITIVE_INFINITY, expect.any(String)],
  [Number.NaN, expect.any(String)],
])('of equal calls number %s says %s', async (equal, said) => {
  const { pass, run } = world({ equal })
  await run()
  expect(pass).toHaveBeenCalledWith(said)
})

test('what ran is answered though its trace cannot be ended', async () => {
  const { traces, run } = world()
  traces.end.mockRejectedValue(new Error('no database'))
  expect(await run()).toBe(answered)
})
