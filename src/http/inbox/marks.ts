/**
 * A card's text as HTML in which nothing is invisible: hidden characters are named where they stand, and
 * look-alikes marked.
 * @module
 */
import { html } from 'hono/html'
import type { Html } from './frame.ts'
import { code, lookalike, nameOf, spelt, WORDS } from './letters.ts'

/** How a hidden character stands in a text that a card shows, and in JSON of such a text; with spaces that are none. */
export const HIDDEN =
  /\\u\{([0-9a-f]{1,6})\}|… \[cut: \d+ characters in all\](?="|$)|[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g
const IN_JSON =
  /\\\\u\{([0-9a-f]{1,6})\}|… \[cut: \d+ characters in all\](?="|$)|[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]|\\\\|\\n/g
/** Stands escaped only where a caller wrote what would look like a mark of ours. */
export const BACKSLASH = 0x5c

/** A text of a card. */
export const marked = (text: string): Html => render(text, HIDDEN)

/**
 * Indented JSON of a card. A line break in a string is followed by one on the page, and the text stands as a block beside
 * its name, so that a long one can be read.
 */
export function markedJson(text: string): Html {
  const lines = text.split('\n').map((line) => {
    const [, head, string, tail] = STRING_LINE.exec(line) ?? []
    if (string === undefined || !BREAK.test(string)) return render(line, IN_JSON)
    return html`${render(head ?? '', IN_JSON)}<span class="text">${render(string, IN_JSON)}</span>${tail}`
  })
  return html`${lines.map((line, at) => (at === 0 ? line : html`\n${line}`))}`
}

const STRING_LINE = /^(\s*(?:"(?:[^"\\]|\\.)*": )?)("(?:[^"\\]|\\.)*")(,?)$/
const BREAK = /^"(?:[^"\\]|\\[^n])*\\n/

function render(text: string, hidden: RegExp): Html {
  const parts: Html[] = []
  let done = 0
  let points: number[] = []
  const close = () => {
    if (points.length > 0) parts.push(named(points))
    points = []
  }
  for (const match of text.matchAll(hidden)) {
    const { 0: found, 1: hex, index } = match
    const isBreak = found === '\\n'
    const isCut = found.startsWith('…')
    if (found === '\\\\') continue
    if (index > done || isBreak || isCut) close()
    if (index > done) parts.push(plain(text.slice(done, index)))
    done = index + found.length
    if (isBreak) parts.push(html`<span class="break">\\n</span>\n`)
    else if (isCut) parts.push(html`<mark class="hidden">${found}</mark>`)
    else if (pointOf(found, hex) === BACKSLASH) {
      close()
      parts.push(html`\\`)
    } else points.push(pointOf(found, hex))
  }
  close()
  parts.push(plain(text.slice(done)))
  return html`${parts}`
}

/** The code point of a match of `HIDDEN`, from its escape or from itself. */
export const pointOf = (found: string, hex: string | undefined): number =>
  hex === undefined ? (found.codePointAt(0) ?? 0) : Number.parseInt(hex, 16)

/** Neighbours are told together: a hidden sentence in tag characters is shown as what it spells. */
function named(points: readonly number[]): Html {
  const letters = points.map(spelt)
  const words = letters.every((letter) => letter !== undefined)
    ? `${points.length} tag characters, spelling “${letters.join('')}”`
    : points.length <= 3
      ? points.map((point) => `${code(point)} ${nameOf(point)}`).join(' · ')
      : `${points.length} hidden characters, ${code(points[0] ?? 0)} ${nameOf(points[0] ?? 0)} first`
  return html`<mark class="hidden">${words}</mark>`
}

function plain(text: string): Html {
  const parts: Html[] = []
  let done = 0
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    const why = lookalike(word, text)
    if (why === undefined) continue
    parts.push(html`${text.slice(done, index)}<mark class="twin" title="${`This ${why}.`}">${word}</mark>`)
    done = index + word.length
  }
  return html`${parts}${text.slice(done)}`
}
