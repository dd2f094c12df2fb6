/**
 * Reading JSON without losing anything: where each member stands in the text, with bounds and without doubt.
 * `JSON.parse` rounds numbers and drops duplicate keys; a gateway that judges one and sends the other can be fooled
 * (bug bank groups 6 and 8). So envelopes are read as spans of the text, and the spans are sent on.
 * @module
 */

/** Thrown for text this gateway will not read; the message says why. */
export class UnreadableJson extends Error {
  override name = 'UnreadableJson'
}

export interface Bounds {
  /** Deepest nesting of objects and arrays. */
  readonly depth: number
  /** Most values in all. */
  readonly values: number
}

/** Where a member's value stands: `text.slice(start, end)`. */
export interface Span {
  readonly start: number
  readonly end: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const COMMA = 0x2c
const COLON = 0x3a

/**
 * Checks a whole text before it is used: grammar, depth, number of values, and that no object names a key twice
 * (RFC 7493: such a text has no one meaning). Returns the parsed value; throws UnreadableJson.
 */
export function check(text: string, bounds: Bounds): unknown {
  checkShape(text, bounds)
  return parse(text)
}

/** `JSON.parse` with an error this module's callers expect. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UnreadableJson('The body is not JSON.')
  }
}

/** One pass over the text: depth, values and keys. Grammar beyond that is left to `JSON.parse`. */
function checkShape(text: string, bounds: Bounds): void {
  const keys: Array<string[] | Set<string> | undefined> = []
  let depth = 0
  let values = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === QUOTE) {
      const end = stringEnd(text, i)
      const open = depth > 0 ? keys[depth - 1] : undefined
      if (open !== undefined && isKey(text, end)) keys[depth - 1] = addKey(open, keyText(text, i, end))
      i = end - 1
    } else if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      if (depth >= bounds.depth) throw new UnreadableJson(`The body nests deeper than ${bounds.depth} levels.`)
      keys[depth++] = c === OPEN_OBJECT ? [] : undefined
      if (++values > bounds.values) throw new UnreadableJson(`The body holds more than ${bounds.values} values.`)
    } else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) {
      if (--depth < 0) throw new UnreadableJson('The body is not JSON.')
    } else if (c === COMMA && ++values > bounds.values) {
      throw new UnreadableJson(`The body holds more than ${bounds.values} values.`)
    }
  }
}

/** Few keys are compared one by one, which costs less than a Set. */
function addKey(seen: string[] | Set<string>, key: string): string[] | Set<string> {
  if (Array.isArray(seen)) {
    if (seen.includes(key))
      throw new UnreadableJson(`The body names the key ${JSON.stringify(key.slice(0, 64))} twice.`)
    seen.push(key)
    return seen.length > 16 ? new Set(seen) : seen
  }
  if (seen.has(key)) throw new UnreadableJson(`The body names the key ${JSON.stringify(key.slice(0, 64))} twice.`)
  return seen.add(key)
}

function keyText(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1)
  return raw.includes('\\') ? String(parse(text.slice(start, end))) : raw
}

function isKey(text: string, after: number): boolean {
  return text.charCodeAt(skipBlank(text, after)) === COLON
}

function skipBlank(text: string, at: number): number {
  let i = at
  for (;;) {
    const c = text.charCodeAt(i)
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return i
    i++
  }
}

/** The index after the closing quote of the string that opens at `start`. */
function stringEnd(text: string, start: number): number {
  let i = start + 1
  for (;;) {
    const quote = text.indexOf('"', i)
    if (quote < 0) throw new UnreadableJson('The body is not JSON.')
    let slashes = 0
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return quote + 1
    i = quote + 1
  }
}

/** The index after the value that starts at `at` (which must not be blank). The text must have passed `parse`. */
export function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return stringEnd(text, at)
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
    let depth = 0
    for (let i = at; i < text.length; i++) {
      const c = text.charCodeAt(i)
      if (c === QUOTE) i = stringEnd(text, i) - 1
      else if (c === OPEN_OBJECT || c === OPEN_ARRAY) depth++
      else if ((c === CLOSE_OBJECT || c === CLOSE_ARRAY) && --depth === 0) return i + 1
    }
    throw new UnreadableJson('The body is not JSON.')
  }
  let i = at
  while (i < text.length) {
    const c = text.charCodeAt(i)
    if (c === COMMA || c === CLOSE_OBJECT || c === CLOSE_ARRAY || c <= 0x20) break
    i++
  }
  return i
}

/**
 * The members of the object that starts at or after `at`, by key, as spans of their values.
 * The text must have passed `parse`. Undefined when there is no object there. A key given twice throws.
 */
export function members(text: string, at = 0): Map<string, Span> | undefined {
  let i = skipBlank(text, at)
  if (text.charCodeAt(i) !== OPEN_OBJECT) return undefined
  const found = new Map<string, Span>()
  i = skipBlank(text, i + 1)
  while (text.charCodeAt(i) !== CLOSE_OBJECT) {
    const keyEnd = stringEnd(text, i)
    const key = keyText(text, i, keyEnd)
    const start = skipBlank(text, skipBlank(text, keyEnd) + 1)
    const end = valueEnd(text, start)
    if (found.has(key)) throw new UnreadableJson(`The key ${JSON.stringify(key.slice(0, 64))} is given twice.`)
    found.set(key, { start, end })
    i = skipBlank(text, end)
    if (text.charCodeAt(i) === COMMA) i = skipBlank(text, i + 1)
  }
  return found
}

/** The elements of the array that starts at or after `at`; undefined when there is no array there. */
export function elements(text: string, at = 0): Span[] | undefined {
  let i = skipBlank(text, at)
  if (text.charCodeAt(i) !== OPEN_ARRAY) return undefined
  const found: Span[] = []
  i = skipBlank(text, i + 1)
  while (text.charCodeAt(i) !== CLOSE_ARRAY) {
    const end = valueEnd(text, i)
    found.push({ start: i, end })
    i = skipBlank(text, end)
    if (text.charCodeAt(i) === COMMA) i = skipBlank(text, i + 1)
  }
  return found
}

/** The members of an object text, but for those `drop` names, joined again as JSON text without braces. */
export function join(text: string, spans: ReadonlyMap<string, Span>, drop: (key: string) => boolean): string {
  let out = ''
  for (const [key, { start, end }] of spans) {
    if (drop(key)) continue
    out += `${out === '' ? '' : ','}${JSON.stringify(key)}:${text.slice(start, end)}`
  }
  return out
}

/** JSON text of a value, read without rounding: numbers that a double cannot keep stay as they were written. */
export function parseExact(text: string): unknown {
  const reviver = (_key: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' && context.source !== undefined && String(value) !== context.source
      ? rawJson(context.source)
      : value
  return (JSON.parse as (text: string, reviver: unknown) => unknown)(text, reviver)
}

const rawJson = (source: string): object => (JSON as unknown as { rawJSON(source: string): object }).rawJSON(source)
const isRaw = (value: object): boolean => (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value)

/**
 * The one text of a value: keys sorted by code unit, no blanks, numbers as they were written.
 * Two texts that differ in key order or blanks only have the same canonical form; 1 and 1.0 do not.
 */
export function canonicalText(text: string): string {
  return sorted(INEXACT.test(text) ? parseExact(text) : parse(text))
}

/** Text that may hold a number a double changes: 16 digits, a fraction, an exponent, a minus zero. Strings may match too. */
const INEXACT = /(?:^|[:[,])\s*(?:-0|-?\d+[.eE]|-?\d{16})/

function sorted(value: unknown): string {
  if (value === null || typeof value !== 'object' || isRaw(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${sorted(member)}`).join(',')}}`
}
