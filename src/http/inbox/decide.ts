/**
 * The forms with which a person decides. Each carries the sign-in's own token and the digest of what the page shows.
 * @module
 */
import { html } from 'hono/html'
import type { Card } from '../../approvals/cards.ts'
import { REDACTED } from '../../policy/redact.ts'
import type { Html, Show } from './frame.ts'
import { marked } from './marks.ts'

const LONGEST_NOTE = 2_000

/** Yes once or no, for a list. `back` is the query of the page it stands on. */
export function shortForm(card: Card, show: Show, back = ''): Html {
  const at = `${show.base}/cards/${card.id}`
  return html`<form method="post" action="${at}/deny" class="decide">
${hidden(card, show, back)}
${noteField(card)}
<div class="buttons">
<button class="yes" formaction="${at}/approve">Approve once<span class="unseen"> ${card.title}</span></button>
<button class="no">Deny<span class="unseen"> ${card.title}</span></button>
<a href="${at}">More choices<span class="unseen"> for ${card.title}</span></a>
</div>
</form>`
}

/** Denying is what the form does by itself; only the Approve button sends it elsewhere. */
export function wholeForm(card: Card, show: Show): Html {
  const at = `${show.base}/cards/${card.id}`
  return html`<form method="post" action="${at}/deny" class="decide">
${hidden(card, show)}
<fieldset class="scopes">
<legend>If you approve, how far does your yes go?</legend>
${choice('once', 'This call, once', 'The same call later asks again.', true)}
${choice('session', 'This very call, as often as this session asks', 'Until the session ends. Any other argument asks again.')}
${card.scopes.includes('always') && choice('always', `This very call, in every session of ${card.brand}`, 'Until somebody revokes it under Standing approvals.')}
${similar(card)}
</fieldset>
${noteField(card)}
<div class="buttons">
<button class="yes" formaction="${at}/approve">Approve</button>
<button class="no">Deny</button>
</div>
</form>`
}

/** For a call whose outcome nobody knows: what a person found at the far side. */
export function settleForm(card: Card, show: Show): Html {
  return html`<form method="post" action="${show.base}/cards/${card.id}/settle" class="decide">
${hidden(card, show)}
<h2>Did it happen?</h2>
<p>Look at the far side, then say what you found. Nothing is run by your answer.</p>
<div class="buttons">
<button name="outcome" value="happened">It happened</button>
<button name="outcome" value="did_not">It did not happen</button>
</div>
</form>`
}

const hidden = (card: Card, { signed }: Show, back = ''): Html =>
  html`<input type="hidden" name="csrf" value="${signed.csrf}"><input type="hidden" name="shown" value="${card.shown}">${back !== '' && html`<input type="hidden" name="back" value="${back}">`}`

const noteField = (card: Card): Html => html`<div class="notes">
<label for="n-${card.id}">Note <span class="quiet">(optional; the caller reads it with a no)</span></label>
<textarea id="n-${card.id}" name="note" rows="1" maxlength="${LONGEST_NOTE}"></textarea>
</div>`

function choice(value: string, words: string, more: string, checked = false): Html {
  const id = `scope-${value}`
  return html`<div class="choice"><input type="radio" id="${id}" name="scope" value="${value}" aria-describedby="${id}-more"${checked && html` checked`}>
<label for="${id}">${words}</label><p id="${id}-more" class="quiet small">${more}</p></div>`
}

/** An argument that may vary within a pattern, and how a person is shown it. */
interface Varying {
  readonly name: string
  readonly now: string
  readonly isNumber: boolean
}

/** Top-level texts and numbers that the page shows whole. */
function varying(card: Card): readonly Varying[] {
  const given = card.arguments
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return []
  return Object.entries(given).flatMap(([name, value]): Varying[] => {
    if (typeof value === 'number') return [{ name, now: String(value), isNumber: true }]
    const shows =
      typeof value === 'string' && value !== '' && value !== REDACTED && !/\\u\{|… \[cut: /.test(name + value)
    return shows ? [{ name, now: value, isNumber: false }] : []
  })
}

/** Calls like this one: one argument may vary within bounds, for so many calls and hours. Never everything. */
function similar(card: Card): Html {
  const names = varying(card)
  if (names.length === 0) return html``
  return html`${choice('similar', 'Calls like this one', 'One argument may vary within bounds that you set; all others must be as shown.')}
<div class="similar">
<div><label for="vary">Argument that may vary</label>
<select id="vary" name="vary">${names.map(({ name, now, isNumber }) => html`<option value="${name}">${name}: ${isNumber ? 'a number' : 'text'}, now ${brief(now)}</option>`)}</select></div>
<div><label for="within">It must begin with (text), or be at most (number)</label>
<input id="within" name="within" value="${suggested(names[0])}" autocomplete="off" autocapitalize="none" spellcheck="false"></div>
<div class="row">
<div><label for="count">Calls, at most</label><input id="count" name="count" type="number" min="1" max="100" value="5"></div>
<div><label for="hours">Hours, at most</label><input id="hours" name="hours" type="number" min="1" max="${card.scopes.includes('always') ? 720 : 24}" value="1"></div>
</div>
${
  card.scopes.includes('always') &&
  html`<div><label for="reach">For</label><select id="reach" name="reach"><option value="session">this session (24 hours at most)</option><option value="always">every session of ${card.brand} (30 days at most)</option></select></div>`
}
</div>`
}

const brief = (text: string): string => (text.length <= 40 ? text : `${text.slice(0, 39)}…`)

/** The folder of a path or an address; of anything else nothing, so that a person has to say it. */
function suggested(first: Varying | undefined): string {
  if (first === undefined) return ''
  if (first.isNumber) return first.now
  const folder = /^.{1,200}\//.exec(first.now)?.[0] ?? ''
  return /^[a-z][a-z0-9+.-]*:\/{1,2}$/i.test(folder) ? '' : folder
}

/** What a person may read of why a decision was not taken. */
export const problemBox = (problem: string, details: readonly string[] = []): Html =>
  html`<div class="notice no" role="alert"><p>${problem}</p>${details.length > 0 && html`<ul>${details.map((detail) => html`<li>${marked(detail)}</li>`)}</ul>`}</div>`
