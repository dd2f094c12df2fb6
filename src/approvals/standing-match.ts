/**
 * Whether an approval that stands covers a call. Pure; time, count and revocation are the database's to say.
 * A covered call is the approved one, or like it within a pattern that a person wrote. What cannot be read is not covered.
 * @module
 */
import { hash } from 'node:crypto'
import Big from 'big.js'
import { canonicalText, join, members, type Span } from '../json.ts'
import { isSecretName, redactText } from '../policy/redact.ts'
import { type CardCost, sameCost } from './binding.ts'

export type Scope = 'once' | 'session' | 'always'

/** How far one argument may vary: text with one `*` at its end, or a number from 0 to `max`. */
export type Pattern = string | { readonly max: number }

/** Calls like the approved one: the named arguments within their patterns, every other argument equal. */
export interface Similar {
  readonly arguments: Readonly<Record<string, Pattern>>
  /** How many further calls, 1 to 100. */
  readonly count: number
  /** How long, in seconds: at most a day for a session, 30 days for always. */
  readonly ttlSeconds: number
}

/** What a standing approval is bound to. */
export interface Terms {
  readonly brand: string
  /** Null: every session of the brand. */
  readonly sessionId: string | null
  readonly tool: string
  readonly digest: string
  readonly upstream: string
  readonly cost: CardCost | undefined
  /** Of exactly one call; null where `similar` says which. */
  readonly fingerprint: string | null
  readonly similar: { readonly arguments: Readonly<Record<string, Pattern>>; readonly rest: string } | null
}

/** A call that somebody is to be asked about. */
export interface Asking {
  readonly brand: string
  readonly sessionId: string
  readonly tool: {
    readonly name: string
    readonly digest: string
    readonly upstream: string
    readonly standing?: true
  }
  readonly fingerprint: string
  readonly argumentsText: string | undefined
  readonly extraText: string
  readonly cost: CardCost | undefined
}

const MOST_NAMES = 20
const MOST_COUNT = 100
const MOST_TTL_S = { session: 24 * 3_600, always: 30 * 24 * 3_600 } as const

/** Whether the approval covers the call. */
export function covers(terms: Terms, call: Asking): boolean {
  const { tool } = call
  if (terms.brand !== call.brand || terms.tool !== tool.name) return false
  if (terms.sessionId === null ? tool.standing !== true : terms.sessionId !== call.sessionId) return false
  if (terms.digest !== tool.digest || terms.upstream !== tool.upstream || tool.upstream === '') return false
  if (terms.similar === null) return terms.fingerprint === call.fingerprint && sameCost(terms.cost, call.cost)
  if (!costsNoMore(call.cost, terms.cost)) return false
  const names = Object.keys(terms.similar.arguments)
  if (names.length === 0) return false
  try {
    const found = argumentsOf(call.argumentsText)
    if (found === undefined) return false
    const within = names.every((name) => fits(terms.similar?.arguments[name], valueIn(found, name)))
    return within && restOf(call, names) === terms.similar.rest
  } catch {
    return false
  }
}

/** What is wrong with a pattern for the call it was written at, in sentences; none when it may stand. */
export function similarProblems(
  similar: Similar,
  scope: 'session' | 'always',
  call: Pick<Asking, 'argumentsText'>,
): string[] {
  const problems: string[] = []
  const names = Object.keys(similar.arguments)
  if (names.length === 0) problems.push('Name at least one argument that may vary, or leave "similar" out.')
  if (names.length > MOST_NAMES) problems.push(`Name at most ${MOST_NAMES} arguments.`)
  if (!isCount(similar.count, MOST_COUNT)) problems.push(`"count" is a whole number from 1 to ${MOST_COUNT}.`)
  const most = MOST_TTL_S[scope]
  if (!isCount(similar.ttlSeconds, most)) problems.push(`"ttlSeconds" is a whole number from 1 to ${most}.`)
  const found = argumentsOf(call.argumentsText)
  for (const name of names) {
    const pattern = similar.arguments[name]
    const problem = patternProblem(pattern) ?? secretProblem(name, pattern)
    if (problem !== undefined) problems.push(`${JSON.stringify(name)}: ${problem}`)
    else if (found === undefined || !fits(pattern, valueIn(found, name))) {
      problems.push(`${JSON.stringify(name)}: the pattern must cover the value of this very call.`)
    }
  }
  return problems
}

/** SHA-256 (hex) over the tool and every argument but the named ones, in canonical form. */
export function restOf(
  {
    tool,
    argumentsText = '{}',
    extraText,
  }: Pick<Asking, 'argumentsText' | 'extraText'> & {
    readonly tool: { readonly name: string }
  },
  names: readonly string[],
): string {
  const kept = join(argumentsText, members(argumentsText) ?? new Map(), (name) => names.includes(name))
  return hash('sha256', `${tool.name}\n${canonicalText(`{${kept}}`)}\n${canonicalText(`{${extraText}}`)}`, 'hex')
}

/** A similar call never costs more than the one a person saw. */
function costsNoMore(cost: CardCost | undefined, most: CardCost | undefined): boolean {
  if (cost === undefined || most === undefined) return cost === most
  try {
    return cost.unit === most.unit && new Big(cost.amount).lte(most.amount)
  } catch {
    return false
  }
}

interface Found {
  readonly text: string
  readonly spans: ReadonlyMap<string, Span>
}

function argumentsOf(text = '{}'): Found | undefined {
  const spans = members(text)
  return spans && { text, spans }
}

function valueIn({ text, spans }: Found, name: string): string | undefined {
  const span = spans.get(name)
  return span && text.slice(span.start, span.end)
}

const isCount = (value: number, most: number): boolean => Number.isInteger(value) && value >= 1 && value <= most

/** An address whose host could go on: `https://example.com*` would cover `https://example.com.evil.example`. */
const OPEN_HOST = /^(https?|wss?|ftp|file):\/*$|^[a-z][a-z0-9+.-]*:\/\/[^/?#]*$/i

function patternProblem(pattern: unknown): string | undefined {
  if (typeof pattern === 'string') {
    const prefix = pattern.slice(0, -1)
    if (!pattern.endsWith('*') || prefix.includes('*')) return 'text has one "*", at its end, as in "docs/*".'
    if (prefix.trim() === '') return 'something must stand before the "*": an approval is never for everything.'
    if (OPEN_HOST.test(prefix)) return 'end the host with "/", or it would cover other hosts too.'
    return undefined
  }
  if (pattern === null || typeof pattern !== 'object') return 'a pattern is text ending in "*", or {"max": number}.'
  const { max, ...more } = pattern as Record<string, unknown>
  if (Object.keys(more).length > 0) return 'a number has "max" and nothing else.'
  return typeof max === 'number' && Number.isFinite(max) && max >= 0 ? undefined : '"max" is a number, 0 or more.'
}

/** A pattern is kept and shown as it is written. */
function secretProblem(name: string, pattern: unknown): string | undefined {
  const secret = isSecretName(name) || (typeof pattern === 'string' && redactText(pattern) !== pattern)
  return secret ? 'this looks like a secret, and a pattern is kept readable.' : undefined
}

/** Ways out of a folder or an address, and what a person cannot see. */
const LEADS_AWAY = /\.\.|[\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|%(2e|2f|5c|00)/iu
/** Numbers that a double holds as they are written. */
const PLAIN_NUMBER = /^(0|[1-9]\d{0,14})(\.\d{1,9})?$/

function fits(pattern: Pattern | undefined, raw: string | undefined): boolean {
  if (raw === undefined || pattern === undefined || patternProblem(pattern) !== undefined) return false
  if (typeof pattern !== 'string') return PLAIN_NUMBER.test(raw) && Number(raw) <= pattern.max
  if (!raw.startsWith('"')) return false
  const value = JSON.parse(raw) as string
  const prefix = pattern.slice(0, -1)
  return value.startsWith(prefix) && !LEADS_AWAY.test(value.slice(prefix.length))
}
