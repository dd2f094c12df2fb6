/**
 * How two definitions of a tool differ, field by field, for people: nothing in it is invisible, no secret is shown, and
 * every difference is said even where both sides look the same.
 * @module
 */
import { redactText, visible } from './redact.ts'

/** One field that differs. Texts are fit to be shown; `before` or `now` is missing where the field was or is. */
export interface FieldChange {
  /** As in `description`, `inputSchema.properties.path.type`, `annotations.readOnlyHint`. */
  readonly path: string
  readonly change: 'added' | 'removed' | 'changed'
  readonly before?: string
  readonly now?: string
  /** The text holds characters that a reader does not see; they are written as `\u{…}`. */
  readonly hidden?: true
  /** The field is a hint of the server, which decides nothing here. */
  readonly serverSays?: true
  /** Both sides look the same, since what differs is redacted or cut. */
  readonly unseen?: true
}

export interface DefinitionDiff {
  readonly changes: readonly FieldChange[]
  /** How many more fields differ. */
  readonly more: number
}

const MOST = 200
const LONGEST = 2_000
const BEFORE_CUT = 120

/**
 * Compares two definitions, each JSON text of an object; undefined stands for none. Text that is no JSON is compared as a
 * whole. Never throws.
 */
export function diffDefinitions(before: string | undefined, now: string | undefined): DefinitionDiff {
  const found: FieldChange[] = []
  let count = 0
  const say = (path: string, a: unknown, b: unknown): void => {
    if (count++ < MOST) found.push(changeOf(path, a, b))
  }
  walk('', read(before), read(now), say)
  return { changes: found, more: Math.max(0, count - MOST) }
}

/** The paths that differ, for a record or a message: never what stands there. At most 300 characters. */
export function diffSummary({ changes, more }: DefinitionDiff): string {
  const paths = changes.map(({ path, change }) => (change === 'changed' ? path : `${path} ${change}`))
  let text = ''
  let said = 0
  for (const path of paths) {
    if (text.length + path.length > 250) break
    text += `${said++ === 0 ? '' : ', '}${path}`
  }
  const rest = paths.length - said + more
  return rest === 0 ? text : `${text}${said === 0 ? '' : ' and '}${rest} more field${rest === 1 ? '' : 's'}`
}

function read(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

type Say = (path: string, before: unknown, now: unknown) => void

function walk(path: string, a: unknown, b: unknown, say: Say): void {
  if (isObject(a) && isObject(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      walk(under(path, key), memberOf(a, key), memberOf(b, key), say)
    }
  } else if (Array.isArray(a) && Array.isArray(b) && a.some(isObject) && b.some(isObject)) {
    for (let i = 0; i < Math.max(a.length, b.length); i++) walk(`${path}[${i}]`, a[i], b[i], say)
  } else if (isObject(a ?? b) && (a === undefined || b === undefined) && path === '') {
    for (const [key, value] of Object.entries((a ?? b) as object)) {
      say(under('', key), a === undefined ? undefined : value, b === undefined ? undefined : value)
    }
  } else if (JSON.stringify(a) !== JSON.stringify(b)) say(path, a, b)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const memberOf = (value: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined

/** A name that is none of a plain path stands in quotes, so that it cannot pose as one. */
function under(path: string, key: string): string {
  const plain = /^[A-Za-z0-9_$-]{1,80}$/.test(key)
  const shown = plain ? key : JSON.stringify(shownText(key).slice(0, 100))
  return path === '' ? shown : `${path}.${shown}`
}

function changeOf(path: string, a: unknown, b: unknown): FieldChange {
  const [before, now] = [textOf(a), textOf(b)]
  const change = a === undefined ? 'added' : b === undefined ? 'removed' : 'changed'
  const at = before === undefined || now === undefined ? 0 : common(before, now)
  const [left, right] = [before, now].map((text) => (text === undefined ? undefined : part(text, at)))
  const hidden = [path, before, now].some((text) => text !== undefined && visible(text) !== text) || /\\u\{/.test(path)
  return {
    path,
    change,
    ...(left === undefined ? {} : { before: left }),
    ...(right === undefined ? {} : { now: right }),
    ...(hidden ? { hidden: true } : {}),
    ...(/^annotations(\.|$)/.test(path) ? { serverSays: true } : {}),
    ...(left !== undefined && left === right ? { unseen: true } : {}),
  }
}

const textOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value)

function common(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a[at] === b[at]) at++
  return at
}

/** A long text from a little before the first difference on. */
function part(text: string, at: number): string {
  if (text.length <= LONGEST) return shownText(text)
  const from = Math.max(0, at - BEFORE_CUT)
  const shown = shownText(text.slice(from, from + LONGEST))
  return `${from > 0 ? '… ' : ''}${shown}${from + LONGEST < text.length ? ` … [${text.length} characters in all]` : ''}`
}

const shownText = (text: string): string => visible(redactText(text))
