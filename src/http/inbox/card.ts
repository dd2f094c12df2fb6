/**
 * One card as a person reads it: who asks, what will happen, why somebody has to look, and the two buttons.
 * @module
 */
import { html } from 'hono/html'
import type { Card } from '../../approvals/cards.ts'
import type { Frame, Html, Show } from './frame.ts'
import { ago, clock, EFFECTS, left, meaningOf, stateOf } from './words.ts'

const LONGEST_NOTE = 2_000
const MANY_LINES = 16

/** The page of one card. `problem` says why a decision was not taken. */
export function cardPage(card: Card, show: Show, problem?: string): Frame {
  const isOver = card.status !== 'pending'
  const watches = card.status === 'approved' || card.status === 'running'
  return {
    title: card.title,
    signed: show.signed,
    here: `${show.base}/cards/${card.id}`,
    watches,
    body: html`<p class="crumb"><a href="${show.base}">← Inbox</a></p>
${problem && html`<p class="notice no" role="alert">${problem}</p>`}
<article class="card" aria-labelledby="title">
<div class="head">
<h1 id="title">${card.title}</h1>
${isOver ? badge(card) : timing(card, show.now)}
</div>
${isOver && story(card)}
${facts(card)}
${argumentsOf(card, true)}
${isOver ? html`` : form(card, show)}
</article>`,
  }
}

/** A waiting card in the list. */
export function waitingCard(card: Card, show: Show): Html {
  return html`<li><article class="card" aria-labelledby="t-${card.id}">
<div class="head">
<h3 id="t-${card.id}"><a href="${show.base}/cards/${card.id}">${card.title}</a></h3>
${timing(card, show.now)}
</div>
${facts(card)}
${argumentsOf(card, false)}
${form(card, show)}
</article></li>`
}

/** The state of a card as a small coloured word. */
export function badge(card: Card): Html {
  const { word, tone } = stateOf(card)
  return html`<span class="badge ${tone}">${word}</span>`
}

/** A moment: in words, with the exact time behind it. */
export const moment = (at: string, words: string): Html =>
  html`<time datetime="${at}" title="${clock(at)}">${words}</time>`

function timing(card: Card, now: number): Html {
  return html`<p class="timing">${moment(card.createdAt, ago(card.createdAt, now))} · ${moment(card.expiresAt, left(card, now))}</p>`
}

function facts(card: Card): Html {
  return html`<p class="summary">${card.summary}</p>
<dl>
<div class="long"><dt>Tool</dt><dd><code>${card.tool}</code></dd></div>
<div><dt>Effect</dt><dd>${EFFECTS[card.access]}</dd></div>
<div><dt>Asked by</dt><dd>${card.role} of ${card.brand}</dd></div>
<div class="long"><dt>Session</dt><dd><code>${card.sessionId}</code></dd></div>
<div class="wide"><dt>Why it waits</dt><dd>${card.rules.map(({ because }) => html`<p>${because}</p>`)}</dd></div>
</dl>`
}

/** The arguments as they will be sent, but for what the card hides. Long ones scroll in the list, and say so. */
function argumentsOf(card: Card, whole: boolean): Html {
  const text = JSON.stringify(card.arguments, null, 2)
  const lines = text.split('\n').length
  const long = lines > MANY_LINES && !whole
  return html`<div class="arguments">
<h4 id="a-${card.id}">Arguments${long && `, ${lines} lines`}</h4>
<pre class="${whole ? 'whole' : 'part'}" tabindex="0" role="group" aria-labelledby="a-${card.id}">${text}</pre>
</div>`
}

/** Denying is what the form does by itself; only the Approve button sends it elsewhere. */
function form(card: Card, { base, signed }: Show): Html {
  const at = `${base}/cards/${card.id}`
  return html`<form method="post" action="${at}/deny" class="decide">
<input type="hidden" name="csrf" value="${signed.csrf}">
<label for="n-${card.id}">Note <span class="quiet">(optional; the caller reads it with a no)</span></label>
<textarea id="n-${card.id}" name="note" rows="2" maxlength="${LONGEST_NOTE}"></textarea>
<div class="buttons">
<button class="yes" formaction="${at}/approve">Approve<span class="unseen"> ${card.title}</span></button>
<button class="no">Deny<span class="unseen"> ${card.title}</span></button>
</div>
</form>`
}

/** What happened since, in the order it happened. */
function story(card: Card): Html {
  const meaning = meaningOf(card)
  const steps: (readonly [string, string | undefined])[] = [
    ['Asked', card.createdAt],
    [card.status === 'denied' ? 'Denied' : card.status === 'withdrawn' ? 'Withdrawn' : 'Approved', card.decidedAt],
    ['Started', card.startedAt],
    ['Ended', card.endedAt === card.decidedAt ? undefined : card.endedAt],
  ]
  return html`<div class="story">
${meaning && html`<p>${meaning}</p>`}
<ol>${steps.map(
    ([word, at]) =>
      at !== undefined &&
      html`<li>${word}${at === card.decidedAt && card.decidedBy && ` by ${card.decidedBy}`}, ${moment(at, clock(at))}</li>`,
  )}</ol>
${card.note && html`<p class="note">${card.note}</p>`}
</div>`
}
