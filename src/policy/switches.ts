/**
 * The operator's switches (seed 001, "Operator switches"): what each does and which exact text turns it on.
 * None can be changed from inside a session or set per brand.
 * @module
 */

/** How the text of a variable is read. All but `open-any-case` compare case and blanks exactly. */
export type Reading =
  | 'exactly-true'
  | 'true-1-yes'
  | '1-true'
  | 'unless-false-0-no'
  | 'open-any-case'
  | 'any-value'
  | 'any-text'
  | 'milliseconds'

export interface Switch {
  readonly name: string
  readonly effect: string
  readonly reading: Reading
  /** What holds when the variable is unset or empty. */
  readonly default: boolean | number | string
}

/** Every switch, in the seed's order. `any-value` answers whether there is one (it is a secret), `any-text` the text. */
export const SWITCHES = [
  {
    name: 'REQUIRE_WRITE_APPROVAL',
    effect: 'Per-call approvals for gated tools',
    reading: 'unless-false-0-no',
    default: true,
  },
  {
    name: 'APPROVAL_TIMEOUT_MS',
    effect: 'How long a pending approval waits before it denies',
    reading: 'milliseconds',
    default: 300_000,
  },
  { name: 'SHOPIFY_ALLOW_WRITES', effect: 'Allows Shopify mutations', reading: 'true-1-yes', default: false },
  {
    name: 'GITHUB_ALLOW_WRITES',
    effect: 'Lets the four GitHub write tools act',
    reading: 'true-1-yes',
    default: false,
  },
  { name: 'AGENTMAIL_ALLOW_SENDS', effect: 'Registers the four send tools', reading: 'exactly-true', default: false },
  {
    name: 'RAILWAY_ALLOW_VARIABLE_VALUES',
    effect: 'Registers mcp__railway__railway_reveal_variables',
    reading: 'true-1-yes',
    default: false,
  },
  {
    name: 'RAILWAY_ALLOW_REDEPLOY',
    effect: 'Registers mcp__railway__railway_redeploy',
    reading: 'true-1-yes',
    default: false,
  },
  {
    name: 'SANDBOX_ALLOW_BROWSER',
    effect: 'Registers the browser tools under E2B',
    reading: 'exactly-true',
    default: false,
  },
  {
    name: 'BROWSERBASE_PERSISTENT_LOGINS',
    effect: 'Registers the browser login tools',
    reading: 'exactly-true',
    default: false,
  },
  {
    name: 'SANDBOX_EGRESS',
    effect: 'Opens the sandbox to the whole internet but for private ranges',
    reading: 'open-any-case',
    default: false,
  },
  {
    name: 'SANDBOX_EGRESS_ALLOWLIST',
    effect: 'Replaces the default list of sites the sandbox reaches',
    reading: 'any-text',
    default: '',
  },
  { name: 'HARNESS_LOOP_ENABLED', effect: 'Makes the loop harness exist', reading: '1-true', default: false },
  { name: 'HARNESS_HERMES_ENABLED', effect: 'Makes the Hermes harness exist', reading: '1-true', default: false },
  { name: 'HARNESS_MCP_BRIDGE_ENABLED', effect: 'Opens the bridge Hermes needs', reading: '1-true', default: false },
  {
    name: 'AGENTMAIL_WEBHOOK_URL_SECRET',
    effect: 'Makes the inbound email route exist',
    reading: 'any-value',
    default: false,
  },
] as const satisfies readonly Switch[]

type Read<R extends Reading> = R extends 'milliseconds' ? number : R extends 'any-text' ? string : boolean
type Known = (typeof SWITCHES)[number]
export type SwitchName = Known['name']
export type Switches = { readonly [S in Known as S['name']]: Read<S['reading']> }

/** The longest wait a timer can hold: 2^31 − 1 ms, some 24 days. */
const LONGEST_MS = 2_147_483_647
const ON: Partial<Record<Reading, readonly string[]>> = {
  'exactly-true': ['true'],
  'true-1-yes': ['true', '1', 'yes'],
  '1-true': ['1', 'true'],
}
const OFF = ['false', '0', 'no', 'off']

/**
 * Reads every switch. A text that is neither a known "on" nor a known "off" leaves the switch on its safe side
 * (off; approvals on; the default wait) and is reported.
 */
export function readSwitches(env: Readonly<Record<string, string | undefined>>): {
  readonly switches: Switches
  readonly problems: string[]
} {
  const problems: string[] = []
  const read = SWITCHES.map((known): [string, boolean | number | string] => {
    const text = env[known.name] ?? ''
    return [known.name, text === '' ? known.default : readOne(known, text, (problem) => problems.push(problem))]
  })
  return { switches: Object.fromEntries(read) as Switches, problems }
}

function readOne(known: Switch, text: string, report: (problem: string) => void): boolean | number | string {
  const shown = `${known.name} is ${JSON.stringify(text.slice(0, 40))}`
  switch (known.reading) {
    case 'exactly-true':
    case 'true-1-yes':
    case '1-true': {
      const on = ON[known.reading] ?? []
      if (on.includes(text)) return true
      if (!OFF.includes(text))
        report(`${shown}: only ${on.length === 1 ? 'exactly ' : ''}${either(on)} turns it on, so it is off.`)
      return false
    }
    case 'unless-false-0-no': {
      const off = ['false', '0', 'no']
      if (off.includes(text)) return false
      if (!['true', '1', 'yes', 'on'].includes(text)) report(`${shown}: only ${either(off)} turns it off, so it is on.`)
      return true
    }
    case 'open-any-case': {
      const word = text.toLowerCase()
      if (word === 'open') return true
      if (word !== 'allowlist') report(`${shown}: only "open" (any case) opens the sandbox, so the allowlist holds.`)
      return false
    }
    case 'any-value':
      return true
    case 'any-text':
      if (text.trim() !== '') return text
      report(`${known.name} holds only blanks, so it changes nothing.`)
      return known.default
    case 'milliseconds': {
      const ms = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
      if (ms >= 0 && ms <= LONGEST_MS) return ms
      report(
        `${shown}: write a whole number of milliseconds from 0 (denies at once) to ${LONGEST_MS}; ${known.default} holds.`,
      )
      return known.default
    }
  }
}

const either = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(' or ')
