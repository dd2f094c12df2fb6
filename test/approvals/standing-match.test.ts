import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Asking,
  covers,
  type Pattern,
  restOf,
  type Similar,
  similarProblems,
  type Terms,
} from '../../src/approvals/standing-match.ts'

const tool = { name: 'mcp__files__write_file', digest: 'd1', upstream: 'u1', standing: true } as const

function asking(args: unknown, more: Partial<Asking> = {}): Asking {
  const argumentsText = typeof args === 'string' ? args : JSON.stringify(args)
  const rest = { fingerprint: argumentsText, extraText: '', cost: undefined }
  return { brand: 'acme', sessionId: 's1', tool, argumentsText, ...rest, ...more }
}

/** The approval that a yes to this call would leave, for the session unless told otherwise. */
function terms(call: Asking, vary?: Record<string, Pattern>, more: Partial<Terms> = {}): Terms {
  const { brand, sessionId, cost } = call
  const bound = { brand, sessionId, tool: call.tool.name, digest: call.tool.digest, upstream: call.tool.upstream, cost }
  const which =
    vary === undefined
      ? { fingerprint: call.fingerprint, similar: null }
      : { fingerprint: null, similar: { arguments: vary, rest: restOf(call, Object.keys(vary)) } }
  return { ...bound, ...which, ...more }
}

const card = asking({ path: 'docs/a.txt', size: 3, mode: 'w' })

describe('an approval of exactly this call', () => {
  test.each<[what: string, call: Asking, covered: boolean]>([
    ['the same call', card, true],
    ['another call', asking({ path: 'docs/b.txt' }), false],
    ['another session', { ...card, sessionId: 's2' }, false],
    ['another brand', { ...card, brand: 'other' }, false],
    ['another tool', { ...card, tool: { ...tool, name: 'mcp__files__delete' } }, false],
    ['a changed definition', { ...card, tool: { ...tool, digest: 'd2' } }, false],
    ['another upstream', { ...card, tool: { ...tool, upstream: 'u2' } }, false],
    ['another price', { ...card, cost: { unit: 'usd', amount: '1' } }, false],
  ])('of a session: %s', (_what, call, covered) => {
    expect(covers(terms(card), call)).toBe(covered)
  })

  test.each<[what: string, call: Asking, covered: boolean]>([
    ['any session of the brand', { ...card, sessionId: 's9' }, true],
    ['a session of another brand', { ...card, brand: 'other' }, false],
    [
      'once the declaration offers it no more',
      { ...card, tool: { name: tool.name, digest: 'd1', upstream: 'u1' } },
      false,
    ],
  ])('for always: %s', (_what, call, covered) => {
    expect(covers(terms(card, undefined, { sessionId: null }), call)).toBe(covered)
  })

  test('of a card that knew no upstream covers nothing', () => {
    const call = { ...card, tool: { ...tool, upstream: '' } }
    expect(covers(terms(call), call)).toBe(false)
  })
})

describe('similar calls', () => {
  const base = { path: 'docs/a.txt', size: 3, mode: 'w' }
  const yes = terms(card, { path: 'docs/*', size: { max: 10 } })
  test.each<[what: string, args: unknown, covered: boolean]>([
    ['the call itself', base, true],
    ['in another order', { mode: 'w', size: 3, path: 'docs/a.txt' }, true],
    ['within both patterns', { ...base, path: 'docs/deep/b.md', size: 10 }, true],
    ['with blanks and a plain decimal', '{ "mode":"w", "path":"docs/", "size": 9.5 }', true],
    ['beside the prefix', { ...base, path: 'doc/a.txt' }, false],
    ['out of the prefix again', { ...base, path: 'docs/../etc/passwd' }, false],
    ['out of it encoded', { ...base, path: 'docs/%2E%2e/etc' }, false],
    ['out of it with a backslash', { ...base, path: 'docs/..\\etc' }, false],
    ['with a character nobody sees', { ...base, path: 'docs/a\u202etxt' }, false],
    ['with a NUL', { ...base, path: 'docs/a\0' }, false],
    ['with half a pair', '{"mode":"w","path":"docs/\\ud800","size":3}', false],
    ['above the number', { ...base, size: 10.1 }, false],
    ['below nothing', { ...base, size: -1 }, false],
    ['a number that a double rounds', '{"mode":"w","path":"docs/a","size":10.00000000000000000001}', false],
    ['a number too large for any', '{"mode":"w","path":"docs/a","size":1e999}', false],
    ['a number as text', { ...base, size: '3' }, false],
    ['text as a number', { ...base, path: 3 }, false],
    ['text in a list', { ...base, path: ['docs/a'] }, false],
    ['without the argument', { size: 3, mode: 'w' }, false],
    ['another argument changed', { ...base, mode: 'a' }, false],
    ['another argument added', { ...base, force: true }, false],
    ['another argument spelled otherwise', '{"mode":"w","path":"docs/a","size":3,"n":1.0}', false],
    ['no arguments', '{}', false],
    ['a list', '[]', false],
    ['no JSON', '{"path"', false],
    ['a key twice', '{"mode":"w","path":"docs/a","path":"/etc","size":3}', false],
  ])('%s', (_what, args, covered) => {
    expect(covers(yes, asking(args))).toBe(covered)
  })

  test('with more members beside the arguments are others', () => {
    expect(covers(yes, asking(base, { extraText: '"task":{}' }))).toBe(false)
  })

  test.each([
    ['1', '1', true],
    ['1', '0.5', true],
    ['1', '1.000000001', false],
    ['1', 'NaN', false],
    ['1', undefined, false],
    [undefined, '1', false],
  ])('of a card that costs %s cover a call that costs %s: %s', (most, amount, covered) => {
    const cost = (of: string | undefined) => (of === undefined ? undefined : { unit: 'usd', amount: of })
    const call = { ...card, cost: cost(amount) }
    expect(covers(terms({ ...card, cost: cost(most) }, { size: { max: 10 } }), call)).toBe(covered)
  })

  test('never widen: whatever covers a call keeps every argument that is not named', () => {
    const value = fc.oneof(fc.string({ maxLength: 6 }), fc.integer({ min: -5, max: 20 }), fc.boolean())
    const args = fc.record({ path: value, size: value, mode: value, more: value }, { requiredKeys: [] })
    fc.assert(
      fc.property(args, (tried) => {
        if (!covers(yes, asking(tried))) return
        expect(Object.keys(tried).sort()).toEqual(['mode', 'path', 'size'])
        expect(tried.mode).toBe('w')
        expect(String(tried.path).startsWith('docs/')).toBe(true)
        expect(Number(tried.size)).toBeLessThanOrEqual(10)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a pattern is refused', () => {
  const good: Similar = { arguments: { path: 'docs/*' }, count: 5, ttlSeconds: 3_600 }
  const of = (
    similar: Similar,
    scope: 'session' | 'always' = 'session',
    args: unknown = { path: 'docs/a', url: 'https://a.example/x', n: 3 },
  ) => similarProblems(similar, scope, asking(args)).join(' ')

  test('not where it is good', () => {
    expect(of(good)).toBe('')
    expect(of({ ...good, ttlSeconds: 30 * 86_400 }, 'always')).toBe('')
    expect(of({ ...good, arguments: { url: 'https://a.example/*', n: { max: 3 } } })).toBe('')
  })

  test.each<[why: string, similar: Similar, says: RegExp]>([
    ['for nothing', { ...good, arguments: {} }, /at least one argument/],
    ['for everything', { ...good, arguments: { path: '*' } }, /before the "\*"/],
    ['for blanks', { ...good, arguments: { path: ' *' } }, /before the "\*"/],
    ['without its star', { ...good, arguments: { path: 'docs/a' } }, /one "\*", at its end/],
    ['with two stars', { ...good, arguments: { path: 'd*s/*' } }, /one "\*", at its end/],
    ['that is open towards other hosts', { ...good, arguments: { url: 'https://a.example*' } }, /end the host/],
    ['for every address', { ...good, arguments: { url: 'https://*' } }, /end the host/],
    ['that does not cover its own call', { ...good, arguments: { path: 'src/*' } }, /must cover/],
    ['for an argument that is not there', { ...good, arguments: { other: 'x*' } }, /must cover/],
    ['below its own call', { ...good, arguments: { n: { max: 2 } } }, /must cover/],
    [
      'without an end to a number',
      { ...good, arguments: { n: { max: Number.POSITIVE_INFINITY } } },
      /"max" is a number/,
    ],
    ['of another kind', { ...good, arguments: { n: { min: 1 } as unknown as Pattern } }, /"max" and nothing else/],
    ['that is nothing', { ...good, arguments: { n: null as unknown as Pattern } }, /a pattern is/],
    ['that would keep a secret', { ...good, arguments: { token: 'docs/*' } }, /secret/],
    ['no times', { ...good, count: 0 }, /"count"/],
    ['too many times', { ...good, count: 101 }, /"count"/],
    ['half a time', { ...good, count: 1.5 }, /"count"/],
    ['without end', { ...good, ttlSeconds: Number.NaN }, /"ttlSeconds"/],
    ['for longer than a day in a session', { ...good, ttlSeconds: 86_401 }, /"ttlSeconds"/],
  ])('%s', (_why, similar, says) => {
    expect(of(similar)).toMatch(says)
  })
})
