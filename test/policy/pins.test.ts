/** Which tools of an upstream are open, from what is pinned and what it lists; and what of a listing is written down. */
import { describe, expect, test } from 'vitest'
import { isIdle, judge, type ListedTool, MOST_FRESH, type Pin, type Pins, plan } from '../../src/policy/pins.ts'

const listed = (tool: string, digest = `${tool} 1`, body = `body of ${digest}`): ListedTool => ({
  tool,
  digest,
  body: () => body,
})
const pin = (digest: string | undefined, more: Partial<Pin> = {}): Pin => ({
  digest,
  body: digest === undefined ? undefined : `body of ${digest}`,
  intact: true,
  seen: undefined,
  ...more,
})
const pins = (entries: Record<string, Pin>): Pins => new Map(Object.entries(entries))

describe('the guard', () => {
  const CASES: [name: string, pins: Pins, listed: ListedTool, verdict: object][] = [
    ['opens a tool that is as it was accepted', pins({ a: pin('a 1') }), listed('a'), { state: 'open' }],
    ['closes everything before the first discovery is written down', undefined, listed('a'), { state: 'undiscovered' }],
    ['closes a tool whose digest differs', pins({ a: pin('a 1') }), listed('a', 'a 2'), { state: 'changed' }],
    [
      'closes a tool that another replica saw changed, though it looks as accepted here',
      pins({ a: pin('a 1', { seen: 'a 2' }) }),
      listed('a'),
      { state: 'changed' },
    ],
    ['closes a tool that has no pin', pins({ b: pin('b 1') }), listed('a'), { state: 'new' }],
    ['closes every tool where all pins are gone', pins({}), listed('a'), { state: 'new' }],
    [
      'closes a tool that was seen and never accepted',
      pins({ a: pin(undefined, { seen: 'a 1' }) }),
      listed('a'),
      { state: 'new' },
    ],
    [
      'closes a tool whose pin does not hash to its digest',
      pins({ a: pin('a 1', { intact: false }) }),
      listed('a'),
      { state: 'corrupt' },
    ],
    [
      'closes a tool whose pin lost its digest',
      pins({ a: pin(undefined, { intact: false }) }),
      listed('a'),
      { state: 'corrupt' },
    ],
    [
      'calls a new tool with the body of one that is gone what it is, and closes it',
      pins({ old: pin('old 1', { body: 'same' }) }),
      listed('a', 'a 1', 'same'),
      { state: 'new', renamedFrom: 'old' },
    ],
    [
      'does not take a corrupt pin for what a tool was before',
      pins({ old: pin('old 1', { body: 'same', intact: false }) }),
      listed('a', 'a 1', 'same'),
      { state: 'new' },
    ],
  ]
  test.each(CASES)('%s', (_name, kept, tool, verdict) => {
    expect(judge(kept, [tool]).get(tool.tool)).toEqual(verdict)
  })

  test('does not call a tool renamed while the one with its body is still there', () => {
    const kept = pins({ old: pin('old 1', { body: 'same' }) })
    expect(judge(kept, [listed('old', 'old 1', 'same'), listed('a', 'a 1', 'same')]).get('a')).toEqual({ state: 'new' })
  })

  test('opens what comes back as it was accepted', () => {
    const kept = pins({ a: pin('a 1') })
    expect(judge(kept, [listed('a', 'a 2')]).get('a')?.state).toBe('changed')
    expect(judge(kept, [listed('a')]).get('a')?.state).toBe('open')
  })

  test('never opens anything but an intact pin of the very digest with nothing else seen', () => {
    for (const digest of ['a 1', 'a 2', undefined]) {
      for (const intact of [true, false]) {
        for (const seen of [undefined, 'a 1', 'a 2']) {
          const open = judge(pins({ a: pin(digest, { intact, seen }) }), [listed('a')]).get('a')?.state === 'open'
          expect(open).toBe(digest === 'a 1' && intact && seen === undefined)
        }
      }
    }
  })
})

describe('what of a listing is written down', () => {
  const NONE = { first: false, accepted: [], changed: [], fresh: [], back: [], vanished: [] }
  const asBefore = (...tools: ListedTool[]) => new Map(tools.map(({ tool, digest }) => [tool, digest]))
  const CASES: [string, Pins, ListedTool[], ReadonlyMap<string, string> | undefined, 'open' | 'closed', object][] = [
    ['a first listing is a first discovery', undefined, [listed('a')], undefined, 'closed', { first: true }],
    ['an empty first listing is none', undefined, [], undefined, 'closed', {}],
    ['nothing, where all is as accepted', pins({ a: pin('a 1') }), [listed('a')], undefined, 'closed', {}],
    ['a change', pins({ a: pin('a 1') }), [listed('a', 'a 2')], asBefore(listed('a')), 'closed', { changed: ['a'] }],
    [
      'a change, where new tools are open too',
      pins({ a: pin('a 1') }),
      [listed('a', 'a 2')],
      undefined,
      'open',
      { changed: ['a'] },
    ],
    [
      'a change once',
      pins({ a: pin('a 1', { seen: 'a 2' }) }),
      [listed('a', 'a 2')],
      asBefore(listed('a', 'a 2')),
      'closed',
      {},
    ],
    [
      'a change that is still there though another replica saw the tool back',
      pins({ a: pin('a 1') }),
      [listed('a', 'a 2')],
      asBefore(listed('a', 'a 2')),
      'closed',
      { changed: ['a'] },
    ],
    [
      'no tug of war between two replicas that see two changes',
      pins({ a: pin('a 1', { seen: 'a 3' }) }),
      [listed('a', 'a 2')],
      asBefore(listed('a', 'a 2')),
      'closed',
      {},
    ],
    [
      'a tool that changed back here',
      pins({ a: pin('a 1', { seen: 'a 2' }) }),
      [listed('a')],
      asBefore(listed('a', 'a 2')),
      'closed',
      { back: ['a'] },
    ],
    [
      'no way back on the word of a replica that never saw the change',
      pins({ a: pin('a 1', { seen: 'a 2' }) }),
      [listed('a')],
      asBefore(listed('a')),
      'closed',
      {},
    ],
    [
      'the way back at a first listing',
      pins({ a: pin('a 1', { seen: 'a 2' }) }),
      [listed('a')],
      undefined,
      'closed',
      { back: ['a'] },
    ],
    ['a new tool', pins({ a: pin('a 1') }), [listed('a'), listed('b')], undefined, 'closed', { fresh: ['b'] }],
    [
      'a new tool as accepted, where the operator wants that',
      pins({}),
      [listed('b')],
      undefined,
      'open',
      { accepted: ['b'] },
    ],
    [
      'a new tool that is gone again',
      pins({ b: pin(undefined, { seen: 'b 1' }) }),
      [],
      undefined,
      'closed',
      { vanished: ['b'] },
    ],
    [
      'nothing of a corrupt pin',
      pins({ a: pin('a 1', { intact: false }) }),
      [listed('a', 'a 2')],
      undefined,
      'open',
      {},
    ],
  ]
  test.each(CASES)('%s', (_name, kept, tools, earlier, newTools, more) => {
    const made = plan(kept, tools, earlier, newTools)
    expect(made).toEqual({ ...NONE, ...more })
    expect(isIdle(made)).toBe(Object.keys(more).length === 0)
  })

  test('only so many new tools, however many an upstream makes up', () => {
    const many = Array.from({ length: MOST_FRESH + 50 }, (_, i) => listed(`t${i}`))
    expect(plan(pins({}), many, undefined, 'closed').fresh).toHaveLength(MOST_FRESH)
    const kept = Object.fromEntries(
      many.slice(0, MOST_FRESH).map(({ tool, digest }) => [tool, pin(undefined, { seen: digest })]),
    )
    expect(plan(pins(kept), many, undefined, 'closed').fresh).toEqual([])
  })
})
