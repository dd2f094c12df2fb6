import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fitName, slugFor } from '../../src/connector/mcp/names.ts'
import { SLUG } from '../../src/policy/names.ts'

describe('a tool name', () => {
  test('that is clean and short stays as it is', () => {
    for (const name of ['read', 'read_file', 'a-b', 'A1', '_', 'x'.repeat(64)]) expect(fitName(name, 64)).toBe(name)
  })

  test('of the same letters after cleaning stays apart', () => {
    const names = ['a.b', 'a/b', 'a b', 'a_b', 'а.b', 'a.b ', '']
    expect(new Set(names.map((name) => fitName(name, 64))).size).toBe(names.length)
  })

  test('cannot pose as the fitted form of another', () => {
    const fitted = fitName('a.b', 64)
    expect(fitName(fitted, 64)).not.toBe(fitted)
  })

  test('always fits and is always clean', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.integer({ min: 30, max: 64 }), (name, most) => {
        expect(fitName(name, most)).toMatch(/^[A-Za-z0-9_-]+$/)
        expect(fitName(name, most).length).toBeLessThanOrEqual(most)
        expect(fitName(name, most)).toBe(fitName(name, most))
      }),
    )
  })

  test('is distinct among 2,000 that are equal in their first 60 characters', () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `${'n'.repeat(60)}_${i}`)
    expect(new Set(names.map((name) => fitName(name, 30))).size).toBe(2_000)
  })
})

describe('a slug', () => {
  test('is always one, and tells servers apart', () => {
    const names = [
      'web',
      'web_scraper',
      'foo.bar',
      'foo/bar',
      'foo_bar',
      'foo__bar',
      '_x',
      'x_',
      '',
      'ü',
      '-a',
      'n'.repeat(90),
    ]
    const slugs = names.map(slugFor)
    for (const slug of slugs) {
      expect(slug).toMatch(SLUG)
      expect(slug.length).toBeLessThanOrEqual(32)
    }
    expect(new Set(slugs).size).toBe(names.length)
    expect(slugs.slice(0, 2)).toEqual(['web', 'web_scraper'])
  })
})
