/**
 * The arguments of a card, exactly, with nothing invisible in them, and above them what a person should notice.
 * @module
 */
import { html } from 'hono/html'
import type { Card } from '../../approvals/cards.ts'
import { type Finding, findings } from './findings.ts'
import type { Html } from './frame.ts'
import { marked, markedJson } from './marks.ts'

const MOST_LINES = 12
const MOST_CHARACTERS = 900

/** Whether a list can show all of it at a glance; if not, the card is decided on its own page. */
export function isPlain(card: Card): boolean {
  const text = textOf(card)
  return text.length <= MOST_CHARACTERS && linesOf(text) <= MOST_LINES && findings(card.arguments).length === 0
}

/** All of the arguments, with what was found in them. */
export function wholeArguments(card: Pick<Card, 'id' | 'arguments'>): Html {
  const found = findings(card.arguments)
  return html`${found.length > 0 && warning(found)}
<section class="arguments" aria-labelledby="a-${card.id}">
<h2 id="a-${card.id}">Arguments</h2>
<pre class="whole" tabindex="0" role="group" aria-labelledby="a-${card.id}">${markedJson(textOf(card))}</pre>
</section>`
}

/** Their beginning, for a list. */
export function briefArguments(card: Card): Html {
  const text = textOf(card)
  const lines = text.split('\n').slice(0, MOST_LINES).join('\n')
  const brief = whole(lines.slice(0, MOST_CHARACTERS))
  return html`<div class="arguments">
<h4 id="a-${card.id}">Arguments${brief.length < text.length && html`, the beginning`}</h4>
<pre tabindex="0" role="group" aria-labelledby="a-${card.id}">${markedJson(brief)}${brief.length < text.length && html`<span class="more"> …</span>`}</pre>
</div>`
}

/** One line that says what kinds of thing were found, for a list. */
export function notices(card: Card): string | undefined {
  const kinds = new Set(findings(card.arguments).map(({ kind }) => kind))
  const said = [
    kinds.has('hidden') && 'hidden characters',
    kinds.has('lookalike') && 'letters that look like others',
    kinds.has('cut') && 'more than is shown',
    kinds.has('secret') && 'a secret that is not shown',
    kinds.has('unreadable') && 'a part that cannot be read',
  ].filter((words) => words !== false)
  return said.length === 0 ? undefined : `The arguments hold ${said.join(', ')}.`
}

function warning(found: readonly Finding[]): Html {
  return html`<section class="warning" aria-label="Look twice">
<h2>Look twice</h2>
<ul>${found.map(({ at, says }) => html`<li>${at !== '' && html`<code>${marked(at)}</code> `}${marked(says)}</li>`)}</ul>
</section>`
}

const textOf = (card: Pick<Card, 'arguments'>): string => JSON.stringify(card.arguments, null, 2)
/** With the line breaks within strings, which the page shows too. */
const linesOf = (text: string): number => text.split(/\n|\\n/).length
/** Not cut in the middle of a mark or of a character. */
const whole = (text: string): string => text.replace(/(\\{1,2}(u(\{[0-9a-f]{0,6})?)?|[\ud800-\udbff])$/, '')
