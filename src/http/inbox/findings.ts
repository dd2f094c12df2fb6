/**
 * What a person should notice in the arguments of a card before saying yes. Pure.
 * @module
 */
import { REDACTED } from '../../policy/redact.ts'
import { code, lookalike, nameOf, spelt, WORDS } from './letters.ts'
import { BACKSLASH, HIDDEN, pointOf } from './marks.ts'

/** Something in the arguments that a person should know before saying yes. */
export interface Finding {
  readonly kind: 'hidden' | 'lookalike' | 'cut' | 'unreadable' | 'secret'
  /** Where, as in `to[0].name`; empty for the whole. */
  readonly at: string
  readonly says: string
}

const CUT = /… \[cut: (\d+) characters in all\]$/
const UNREADABLE = '[unreadable]'
/** The gravest first. */
const KINDS: readonly Finding['kind'][] = ['cut', 'unreadable', 'lookalike', 'hidden', 'secret']
const MOST = 12

/** What is cut, deceiving or hidden in a card's arguments, in this order; the last line says how many more there are. */
export function findings(value: unknown): readonly Finding[] {
  const found: Finding[] = []
  walk(value, '', found)
  found.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
  if (found.length <= MOST) return found
  const more = found.length - MOST
  return [...found.slice(0, MOST), { kind: 'hidden', at: '', says: `${more} more places like these.` }]
}

function walk(value: unknown, at: string, found: Finding[]): void {
  if (typeof value === 'string') return look(value, at, found)
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) walk(item, `${at}[${index}]`, found)
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    look(key, `a name in ${at || 'the arguments'}`, found)
    walk(item, at === '' ? key : `${at}.${key}`, found)
  }
}

function look(text: string, at: string, found: Finding[]): void {
  const counts = new Map<string, number>()
  for (const { 0: whole, 1: hex } of text.matchAll(HIDDEN)) {
    if (whole.startsWith('…')) continue
    const point = pointOf(whole, hex)
    if (point === BACKSLASH) continue
    const name = spelt(point) === undefined ? `${nameOf(point)} ${code(point)}` : 'tag character'
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  if (counts.size > 0) {
    const says = [...counts].slice(0, 4).map(([name, times]) => `${name}${times > 1 ? ` (${times} times)` : ''}`)
    found.push({
      kind: 'hidden',
      at,
      says: `Does not show by itself: ${says.join(', ')}${counts.size > 4 ? ', and more' : ''}.`,
    })
  }
  const twins = new Set<string>()
  for (const { 0: word } of text.replace(HIDDEN, ' ').matchAll(WORDS)) {
    if (twins.size >= 3) break
    const why = lookalike(word, text)
    if (why !== undefined) twins.add(`“${word}” ${why}.`)
  }
  for (const says of twins) found.push({ kind: 'lookalike', at, says })
  const all = CUT.exec(text)?.[1]
  if (all !== undefined) {
    const says = `Only the beginning is shown, of ${Number(all).toLocaleString('en-GB')} characters; all of them are sent.`
    found.push({ kind: 'cut', at, says })
  }
  if (text.includes(REDACTED)) {
    found.push({
      kind: 'secret',
      at,
      says: 'Looks like a secret, so it is not shown. It is sent as the caller wrote it.',
    })
  }
  if (text === UNREADABLE) found.push({ kind: 'unreadable', at, says: 'This part cannot be read, so it is not shown.' })
}
