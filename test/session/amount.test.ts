/** D4: amounts are exact, or they are none. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { statedMeter } from '../../src/connector/meter.ts'
import { amountOf, isWithin, sumOf } from '../../src/session/amount.ts'

const PLACES = 18
/** A decimal text in units of 10^-18, by digits alone. */
function units(text: string): bigint {
  const [whole = '0', part = ''] = text.split('.')
  return BigInt(whole) * 10n ** BigInt(PLACES) + BigInt(part.padEnd(PLACES, '0'))
}
function text(amount: bigint): string {
  const digits = String(amount).padStart(PLACES + 1, '0')
  const part = digits.slice(-PLACES).replace(/0+$/, '')
  return part === '' ? digits.slice(0, -PLACES) : `${digits.slice(0, -PLACES)}.${part}`
}

const decimals = fc
  .tuple(
    fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }),
    fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }),
    fc.integer({ min: 0, max: 18 }),
  )
  .map(([whole, part, places]) =>
    text(whole * 10n ** 18n + (part / 10n ** BigInt(18 - places)) * 10n ** BigInt(18 - places)),
  )

describe('an amount', () => {
  test('of 100,000 random ones each is kept exactly, and sums are those of whole numbers', () => {
    fc.assert(
      fc.property(fc.array(decimals, { minLength: 1, maxLength: 8 }), (amounts) => {
        for (const amount of amounts) if (amountOf(amount) !== amount) return false
        return sumOf(amounts) === text(amounts.reduce((sum, amount) => sum + units(amount), 0n))
      }),
      { numRuns: 100_000 },
    )
  })

  test('is within another exactly where it is no larger', () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => isWithin(a, b) === units(a) <= units(b)),
      { numRuns: 10_000 },
    )
  })

  test.each([
    [0.1, '0.1'],
    [0, '0'],
    ['0', '0'],
    [-0, '0'],
    [1e-9, '0.000000001'],
    ['1e-9', '0.000000001'],
    ['10', '10'],
    ['010', '10'],
    ['1.50', '1.5'],
    [0.1 + 0.2, '0.30000000000000004'],
  ])('%j is %s', (value, amount) => {
    expect(amountOf(value)).toBe(amount)
  })

  test.each([
    [1e21],
    ['1e21'],
    [2 ** 63],
    ['9223372036854775808'],
    [1e15],
    ['1e-19'],
    [Number.NaN],
    ['NaN'],
    [Number.POSITIVE_INFINITY],
    [-0.01],
    ['-1'],
    [null],
    [undefined],
    [''],
    [' 1'],
    ['1 '],
    ['1,5'],
    ['0x10'],
    ['1'.repeat(65)],
    [true],
    [{}],
    [[1]],
    [10n],
  ])('%o is none', (value) => {
    expect(amountOf(value)).toBeUndefined()
    expect(isWithin(value as never, '5')).toBe(false)
    expect(isWithin('5', value as never)).toBe(false)
  })
})

describe('the meter of a stated cost', () => {
  const meter = statedMeter({ unit: 'usd', argument: 'budget', actual: 'structuredContent.tasks.1.cost' })
  const result = (cost: string) =>
    `"content":[],"structuredContent":{"tasks":[{"cost":9},{"note":"}","cost": ${cost} }]}`

  test.each([
    ['{"budget":0.1}', '0.1'],
    ['{"a":[1,{"budget":7}],"budget":"10"}', '10'],
    ['{"budget":123456789012345.123456789012345678}', '123456789012345.123456789012345678'],
  ])('reads %s without rounding', (given, amount) => {
    expect(meter.estimate(given)).toEqual({ unit: 'usd', amount })
  })

  test.each([
    ['{}'],
    [undefined],
    ['{"budget":null}'],
    ['{"budget":-1}'],
    ['{"budget":1e21}'],
    ['{"budget":{}}'],
    ['[]'],
    ['{"budget":""}'],
    ['{"budget":true}'],
    ['no JSON'],
  ])('knows no price in %s', (given) => {
    expect(meter.estimate(given)).toBeUndefined()
  })

  test('reads the actual from its place in the result, to the last digit', () => {
    expect(meter.actual(result('0.0105'))).toEqual({ unit: 'usd', amount: '0.0105' })
    expect(meter.actual(result('0.123456789012345678'))).toEqual({ unit: 'usd', amount: '0.123456789012345678' })
  })

  test.each([
    [result('null')],
    [result('-1')],
    [result('"much"')],
    [result('{}')],
    ['"content":[]'],
    ['"structuredContent":{"tasks":{}}'],
    [''],
  ])('knows no actual in %s', (members) => {
    expect(meter.actual(members)).toBeUndefined()
  })
})
