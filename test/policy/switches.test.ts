import { describe, expect, it } from 'vitest'
import { readSwitches, SWITCHES, type SwitchName } from '../../src/policy/switches.ts'

/** Seed 001, "Operator switches": the name and what counts as on, typed here on its own. */
const SEED: Array<[SwitchName, string]> = [
  ['REQUIRE_WRITE_APPROVAL', 'unless-false-0-no'],
  ['APPROVAL_TIMEOUT_MS', 'milliseconds'],
  ['SHOPIFY_ALLOW_WRITES', 'true-1-yes'],
  ['GITHUB_ALLOW_WRITES', 'true-1-yes'],
  ['AGENTMAIL_ALLOW_SENDS', 'exactly-true'],
  ['RAILWAY_ALLOW_VARIABLE_VALUES', 'true-1-yes'],
  ['RAILWAY_ALLOW_REDEPLOY', 'true-1-yes'],
  ['SANDBOX_ALLOW_BROWSER', 'exactly-true'],
  ['BROWSERBASE_PERSISTENT_LOGINS', 'exactly-true'],
  ['SANDBOX_EGRESS', 'open-any-case'],
  ['SANDBOX_EGRESS_ALLOWLIST', 'any-text'],
  ['HARNESS_LOOP_ENABLED', '1-true'],
  ['HARNESS_HERMES_ENABLED', '1-true'],
  ['HARNESS_MCP_BRIDGE_ENABLED', '1-true'],
  ['AGENTMAIL_WEBHOOK_URL_SECRET', 'any-value'],
]

const read = (name: SwitchName, text: string) => {
  const { switches, problems } = readSwitches({ [name]: text })
  return [switches[name], problems.length] as const
}

describe('the operator switches', () => {
  it('are those of the seed, each with its reading', () => {
    expect(SWITCHES.map(({ name, reading }) => [name, reading])).toEqual(SEED)
  })

  it('unset, stand on their safe side and report nothing', () => {
    for (const env of [{}, Object.fromEntries(SEED.map(([name]) => [name, '']))]) {
      const { switches, problems } = readSwitches(env)
      const { REQUIRE_WRITE_APPROVAL, APPROVAL_TIMEOUT_MS, SANDBOX_EGRESS_ALLOWLIST, ...others } = switches
      expect([REQUIRE_WRITE_APPROVAL, APPROVAL_TIMEOUT_MS, SANDBOX_EGRESS_ALLOWLIST]).toEqual([true, 300_000, ''])
      expect(Object.values(others)).toEqual(Array(12).fill(false))
      expect(problems).toEqual([])
    }
  })

  /** [reading, text, value, reported] */
  const cases: Array<[string, string, boolean, boolean]> = [
    ['exactly-true', 'true', true, false],
    ...['1', 'yes', 'True', 'TRUE', 'true ', ' true', 'on', '"true"', 'ture'].map(
      (text): [string, string, boolean, boolean] => ['exactly-true', text, false, true],
    ),
    ...['false', '0', 'no', 'off'].map((text): [string, string, boolean, boolean] => [
      'exactly-true',
      text,
      false,
      false,
    ]),
    ...['true', '1', 'yes'].map((text): [string, string, boolean, boolean] => ['true-1-yes', text, true, false]),
    ...['True', 'YES', 'on', 'y', '2', '1 ', 'enabled'].map((text): [string, string, boolean, boolean] => [
      'true-1-yes',
      text,
      false,
      true,
    ]),
    ...['false', '0', 'no', 'off'].map((text): [string, string, boolean, boolean] => [
      'true-1-yes',
      text,
      false,
      false,
    ]),
    ...['true', '1'].map((text): [string, string, boolean, boolean] => ['1-true', text, true, false]),
    ...['yes', 'True', 'on', '01'].map((text): [string, string, boolean, boolean] => ['1-true', text, false, true]),
    ...['false', '0', 'no'].map((text): [string, string, boolean, boolean] => [
      'unless-false-0-no',
      text,
      false,
      false,
    ]),
    ...['true', '1', 'yes', 'on'].map((text): [string, string, boolean, boolean] => [
      'unless-false-0-no',
      text,
      true,
      false,
    ]),
    ...['False', 'NO', 'off', 'fasle', ' 0', 'n'].map((text): [string, string, boolean, boolean] => [
      'unless-false-0-no',
      text,
      true,
      true,
    ]),
    ...['open', 'OPEN', 'Open'].map((text): [string, string, boolean, boolean] => ['open-any-case', text, true, false]),
    ['open-any-case', 'allowlist', false, false],
    ...['opne', 'true', 'open ', '1'].map((text): [string, string, boolean, boolean] => [
      'open-any-case',
      text,
      false,
      true,
    ]),
    ...['x', 'false', '0', ' '].map((text): [string, string, boolean, boolean] => ['any-value', text, true, false]),
  ]
  const named = cases.flatMap(([reading, text, value, reported]) =>
    SEED.filter(([, one]) => one === reading).map(([name]): [SwitchName, string, boolean, boolean] => [
      name,
      text,
      value,
      reported,
    ]),
  )

  it.each(named)('%s=%j is %s (reported: %s)', (name, text, value, reported) => {
    expect(read(name, text)).toEqual([value, reported ? 1 : 0])
  })

  it.each([
    ['0', 0, 0],
    ['1500', 1500, 0],
    ['2147483647', 2_147_483_647, 0],
    ['2147483648', 300_000, 1],
    ['-1', 300_000, 1],
    ['1e3', 300_000, 1],
    ['5 minutes', 300_000, 1],
    ['1.5', 300_000, 1],
    ['NaN', 300_000, 1],
    ['Infinity', 300_000, 1],
    ['99999999999999999999', 300_000, 1],
  ])('APPROVAL_TIMEOUT_MS=%j waits %d ms', (text, ms, reported) => {
    expect(read('APPROVAL_TIMEOUT_MS', text)).toEqual([ms, reported])
  })

  it('SANDBOX_EGRESS_ALLOWLIST keeps its text, unless it is blank', () => {
    expect(read('SANDBOX_EGRESS_ALLOWLIST', 'a.example,*.b.example')).toEqual(['a.example,*.b.example', 0])
    expect(read('SANDBOX_EGRESS_ALLOWLIST', '  ')).toEqual(['', 1])
  })

  it('a report says what would have turned the switch, and never a secret', () => {
    expect(readSwitches({ AGENTMAIL_ALLOW_SENDS: 'True' }).problems).toEqual([
      'AGENTMAIL_ALLOW_SENDS is "True": only exactly "true" turns it on, so it is off.',
    ])
    expect(readSwitches({ GITHUB_ALLOW_WRITES: 'on' }).problems).toEqual([
      'GITHUB_ALLOW_WRITES is "on": only "true" or "1" or "yes" turns it on, so it is off.',
    ])
    expect(JSON.stringify(readSwitches({ AGENTMAIL_WEBHOOK_URL_SECRET: 'hush-hush' }))).not.toContain('hush-hush')
  })
})
