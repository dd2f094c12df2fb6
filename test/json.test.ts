import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalText, check, elements, join, members, parse, parseExact, UnreadableJson } from '../src/json.ts'

const BOUNDS = { depth: 20, values: 1000 }

describe('check', () => {
  test.each([
    ['a key named twice', '{"a":1,"a":2}'],
    ['a key named twice deep inside', '{"x":[{"a":{"b":1,"b":1}}]}'],
    ['a key named twice, once escaped', '{"name":1,"n\\u0061me":2}'],
    ['a key named twice among twenty', `{${Array.from({ length: 20 }, (_, i) => `"k${i}":0`).join()},"k3":1}`],
    ['nesting beyond the bound', `${'['.repeat(21)}${']'.repeat(21)}`],
    ['more values than the bound', `[${'1,'.repeat(1001)}1]`],
    ['an open string', '{"a":"b'],
    ['a trailing comma', '[1,]'],
    ['two texts', '{}{}'],
    ['nothing', ''],
    ['a closing bracket too many', '{}}'],
  ])('refuses %s', (_name, text) => {
    expect(() => check(text, BOUNDS)).toThrow(UnreadableJson)
  })

  test('takes equal keys in different objects, and strings that look like structure', () => {
    expect(check('[{"a":1},{"a":"{\\"a\\":[[["}]', BOUNDS)).toEqual([{ a: 1 }, { a: '{"a":[[[' }])
  })

  test('a million levels are refused before anything recurses into them', () => {
    expect(() => check('['.repeat(1_000_000), BOUNDS)).toThrow(UnreadableJson)
  })
})

describe('members and elements', () => {
  test('spans give back every member of any object as it was written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 2, '\t'), (object, indent) => {
        const text = JSON.stringify(object, undefined, indent)
        const found = members(text)
        const back = Object.fromEntries(
          [...(found ?? [])].map(([key, { start, end }]) => [key, parse(text.slice(start, end))]),
        )
        expect(back).toEqual(JSON.parse(text))
      }),
    )
  })

  test('spans give back every element of any array', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (array) => {
        const text = JSON.stringify(array, undefined, 1)
        expect(elements(text)?.map(({ start, end }) => parse(text.slice(start, end)))).toEqual(JSON.parse(text))
      }),
    )
  })

  test('numbers keep their digits when members are joined again', () => {
    const text = '{ "big": 9007199254740993, "one": 1.0, "drop": 1, "huge": 1e400, "zero": -0 }'
    expect(join(text, members(text) ?? new Map(), (key) => key === 'drop')).toBe(
      '"big":9007199254740993,"one":1.0,"huge":1e400,"zero":-0',
    )
  })

  test('what is no object has no members', () => {
    expect(members('[1]')).toBeUndefined()
    expect(elements('{"a":1}')).toBeUndefined()
  })
})

describe('canonicalText', () => {
  test('is the same for any order of keys and any blanks', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const shuffled = JSON.stringify(reversed(value), undefined, 3)
        expect(canonicalText(shuffled)).toBe(canonicalText(JSON.stringify(value)))
      }),
    )
  })

  test.each([
    ['9007199254740993', '9007199254740992'],
    ['1', '1.0'],
    ['0', '-0'],
    ['1e400', '1e401'],
    ['"1"', '1'],
    ['null', '{}'],
  ])('tells %s from %s', (a, b) => {
    expect(canonicalText(`{"x":${a}}`)).not.toBe(canonicalText(`{"x":${b}}`))
  })

  test('a key called __proto__ is a key like any other', () => {
    expect(canonicalText('{"b":1,"__proto__":{"a":2}}')).toBe('{"__proto__":{"a":2},"b":1}')
  })
})

test('parseExact keeps what a double cannot', () => {
  expect(JSON.stringify(parseExact('{"id":12345678901234567890,"n":0.5}'))).toBe('{"id":12345678901234567890,"n":0.5}')
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  )
}
