/**
 * How a card looks to people and to REST: secrets redacted, hidden characters visible, cuts marked.
 * What runs is elsewhere, sealed; nothing here is ever sent to an upstream.
 * @module
 */
import { hash } from 'node:crypto'
import type { RegisteredTool } from '../connector/connector.ts'
import { getTableColumns } from '../db/drizzle.ts'
import { type CardStatus, cards, type DECIDED_VIA, type SCOPES, type SETTLED } from '../db/schema.ts'
import { members, parseExact } from '../json.ts'
import { redactJson, redactText, visible } from '../policy/redact.ts'
import type { Access, Code, Reason } from '../policy/words.ts'
import { type CardCost, costFrom } from './binding.ts'

const { sealedArguments: _arguments, sealedResult: _result, ...shownColumns } = getTableColumns(cards)
/** All columns but the sealed ones, which may be megabytes and are read where they are opened. */
export const SHOWN = shownColumns

/** A row without what is sealed. */
export type CardRow = Omit<typeof cards.$inferSelect, 'sealedArguments' | 'sealedResult'>

/** States in which a card still leads somewhere: one per session and fingerprint. */
export const OPEN = ['pending', 'approved', 'running'] as const
/** States that end in something the caller is told, once. */
export const TOLD = ['done', 'failed', 'unknown', 'denied', 'expired'] as const
export type { CardStatus } from '../db/schema.ts'

/** What became of a call, as far as people are shown it. */
export interface CardOutcome {
  readonly code: Code | 'ok'
  readonly isError?: boolean
  readonly [more: string]: unknown
}

/** One parked call that waits for a person (design, section 5). Times are ISO 8601 in UTC. */
export interface Card {
  readonly id: string
  readonly brand: string
  readonly sessionId: string
  readonly role: string
  /** Canonical name. */
  readonly tool: string
  readonly connector: string
  readonly title: string
  /** One sentence for people, at most 300 characters. */
  readonly summary: string
  /** As shown. Numbers too long for a double are raw JSON values, which `JSON.stringify` writes out unchanged. */
  readonly arguments: unknown
  /** Over the tool and the arguments that will run. */
  readonly fingerprint: string
  /** Of the tool's definition when the card was made. */
  readonly digest: string
  readonly access: Access
  readonly rules: readonly Reason[]
  readonly status: CardStatus
  readonly createdAt: string
  readonly expiresAt: string
  readonly decidedAt?: string
  readonly decidedBy?: string
  readonly note?: string
  readonly startedAt?: string
  readonly endedAt?: string
  readonly outcome?: CardOutcome
  /** Which far side it would go to, as a digest. */
  readonly upstream: string
  readonly cost?: CardCost
  /** Digest of what a person is shown (`shownDigest`). */
  readonly shown: string
  /** How far a yes may go. */
  readonly scopes: readonly (typeof SCOPES)[number][]
  /** How far the yes went. */
  readonly scope?: (typeof SCOPES)[number]
  readonly decidedVia?: (typeof DECIDED_VIA)[number]
  readonly decidedAddress?: string
  /** The standing approval that let it run without a question. */
  readonly standing?: string
  /** What a person found out about an outcome that was unknown. */
  readonly settled?: (typeof SETTLED)[number]
  readonly settledAt?: string
  readonly settledBy?: string
}

/** A row as people see it; sealed columns stay behind. */
export function toCard(row: CardRow): Card {
  return {
    id: row.id,
    brand: row.brand,
    sessionId: row.sessionId,
    role: row.role,
    tool: row.tool,
    connector: row.connector,
    title: row.title,
    summary: row.summary,
    arguments: parseExact(row.arguments),
    fingerprint: row.fingerprint,
    digest: row.digest,
    access: row.access,
    rules: JSON.parse(row.rules) as Reason[],
    status: row.status,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    ...(row.decidedAt === null ? {} : { decidedAt: row.decidedAt.toISOString() }),
    ...(row.decidedBy === null ? {} : { decidedBy: row.decidedBy }),
    ...(row.note === null ? {} : { note: row.note }),
    ...(row.startedAt === null ? {} : { startedAt: row.startedAt.toISOString() }),
    ...(row.endedAt === null ? {} : { endedAt: row.endedAt.toISOString() }),
    ...(row.outcome === null ? {} : { outcome: JSON.parse(row.outcome) as CardOutcome }),
    upstream: row.upstream,
    ...(row.cost === null ? {} : { cost: costFrom(row.cost) as CardCost }),
    shown: row.shown,
    scopes: row.alwaysOffered ? ['once', 'session', 'always'] : ['once', 'session'],
    ...(row.scope === null ? {} : { scope: row.scope }),
    ...(row.decidedVia === null ? {} : { decidedVia: row.decidedVia }),
    ...(row.decidedAddress === null ? {} : { decidedAddress: row.decidedAddress }),
    ...(row.standing === null ? {} : { standing: row.standing }),
    ...(row.settled === null ? {} : { settled: row.settled }),
    ...(row.settledAt === null ? {} : { settledAt: row.settledAt.toISOString() }),
    ...(row.settledBy === null ? {} : { settledBy: row.settledBy }),
  }
}

/** What a person decides on. */
export type Shown = Pick<
  Card,
  'tool' | 'title' | 'summary' | 'arguments' | 'cost' | 'rules' | 'fingerprint' | 'digest' | 'upstream'
>

/** SHA-256 (hex) over what a person is shown of a call, and over what will run: two cards that differ in any of it differ here. */
export function shownDigest(card: Shown): string {
  const { tool, title, summary, cost, rules, fingerprint, digest, upstream } = card
  const price = cost === undefined ? null : [cost.unit, cost.amount]
  const why = rules.map(({ rule, because }) => [rule, because])
  const seen = [tool, title, summary, card.arguments, price, why, fingerprint, digest, upstream]
  return hash('sha256', JSON.stringify(seen), 'hex')
}

const LONGEST_STRING = 4_000
const LONGEST_ARGUMENTS = 200_000
const LONGEST_WHEN_CUT = 20_000
const LONGEST_SUMMARY = 300
const LONGEST_TITLE = 100

/**
 * The arguments as JSON text for a card: redacted, hidden characters visible, long strings cut with a mark.
 * Arguments that are too long even so become one string with their beginning and their length.
 */
export function shownArguments(argumentsText: string | undefined): string {
  const shown = redactJson(argumentsText ?? '{}', shownString)
  if (shown.length <= LONGEST_ARGUMENTS) return shown
  return JSON.stringify(cut(shown, LONGEST_WHEN_CUT))
}

/** What an outcome shows: never more than a few lines, and no secret. */
export function shownOutcome(outcome: CardOutcome): string {
  return redactJson(JSON.stringify(outcome), shownString)
}

/** A person's words or a name, fit to be kept in a row and shown anywhere. */
export function shownText(text: string, longest = 2_000): string {
  // Looked at a good deal beyond the cut: no half of a secret stays before it.
  const safe = redactText(text.slice(0, longest * 2))
  return visible(safe.length <= longest && text.length <= longest * 2 ? safe : cut(safe, longest, text.length))
}

const shownString = (text: string): string => shownText(text, LONGEST_STRING)

/** What a card is called: the tool's title, or its own name. */
export function titleOf(tool: RegisteredTool): string {
  return line(redactText(tool.title ?? tool.ownName), LONGEST_TITLE)
}

/** One sentence for people: what would be done, where, and with up to three short arguments. */
export function summarise(tool: RegisteredTool, argumentsText: string | undefined): string {
  const own = tool.summary?.(argumentsText)
  if (own !== undefined) return line(redactText(own.slice(0, LONGEST_SUMMARY * 8)), LONGEST_SUMMARY)
  const shown = redactJson(argumentsText ?? '{}', (text) => redactText(text.slice(0, LONGEST_SUMMARY * 2)))
  const found = shown.startsWith('{') ? [...(members(shown) ?? [])] : []
  const parts: string[] = []
  for (const [key, { start, end }] of found) {
    if (parts.length === 3) break
    const value = brief(shown.slice(start, end))
    if (value !== undefined) parts.push(`${line(key, 24)} ${value}`)
  }
  const rest = found.length - parts.length
  if (rest > 0) parts.push(parts.length === 0 ? `${rest} argument${rest === 1 ? '' : 's'}` : `${rest} more`)
  const listed = parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
  const withArguments = listed === '' ? '' : ` with ${listed}`
  const sentence = `${titleOf(tool)} on ${line(tool.connector, 40)}${withArguments}`
  return sentence.length < LONGEST_SUMMARY ? `${sentence}.` : `${whole(sentence, LONGEST_SUMMARY - 2)}….`
}

/** A value short enough for a sentence; undefined for objects, arrays and empty ones. */
function brief(raw: string): string | undefined {
  if (raw.startsWith('{') || raw.startsWith('[')) return undefined
  if (!raw.startsWith('"')) return raw.length <= 40 ? raw : `${raw.slice(0, 39)}…`
  const text = JSON.parse(raw) as string
  return text === '' ? undefined : `"${line(text, 50).replaceAll('"', '\\u{22}')}"`
}

/** On one line, every blank a single space, hidden characters visible, at most `longest` characters. */
function line(text: string, longest: number): string {
  const flat = visible(
    text
      .slice(0, longest * 8)
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return flat.length <= longest ? flat : `${whole(flat, longest - 1)}…`
}

/** The first characters and a mark that says how many there were. */
function cut(text: string, longest: number, length = text.length): string {
  return `${whole(text, longest)}… [cut: ${length} characters in all]`
}

/** The first `length` code units, or one less where that would split a pair. */
function whole(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
