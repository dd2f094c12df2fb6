/**
 * The inbox itself: what waits, the one that waits longest first, what nobody knows the outcome of, and what was decided last.
 * @module
 */
import { html } from 'hono/html'
import type { Card, CardPage } from '../../approvals/cards.ts'
import { type Filters, filterForm, queryOf } from './filters.ts'
import type { Frame, Html, Show } from './frame.ts'
import { marked } from './marks.ts'
import { decisionOf } from './words.ts'
import { endedCard, waitingCard } from './waiting.ts'

export interface Listed {
  readonly filters: Filters
  readonly waiting: CardPage
  /** Calls that left and were not answered, for a person to settle. */
  readonly unsettled: readonly Card[]
  readonly decided: readonly Card[]
  /** The card this person decided a moment ago. */
  readonly justNow?: Card
}

/** The page. New cards join at the end, so that nothing moves under a hand that reaches for a button. */
export function listPage(show: Show, listed: Listed): Frame {
  const { base, signed, now } = show
  const { filters, waiting, unsettled, decided, justNow } = listed
  const { items, nextCursor } = waiting
  const count = `${items.length}${nextCursor === undefined ? '' : '+'}`
  const query = queryOf(filters, signed.person)
  const seen = [...items, ...unsettled, ...decided]
  return {
    title: items.length === 0 ? 'Inbox' : `(${count}) Inbox`,
    signed,
    at: 'inbox',
    now,
    events: `${base}/events${query}`,
    body: html`<div class="titled"><h1>Inbox</h1><a href="${base}${query}">Refresh</a></div>
${justNow && notice(justNow, base)}
${filterForm({ at: base, filters, person: signed.person, seen })}
<section aria-labelledby="waiting">
<h2 id="waiting">Waiting <span class="count" id="count">${count}</span></h2>
<p class="empty" id="none"${items.length > 0 && html` hidden`}>Nothing waits for you. A call that needs a person appears here.</p>
<ul class="cards" id="cards">${items.map((card) => waitingCard(card, show, query))}</ul>
${nextCursor && html`<p class="next"><a href="${base}${queryOf(filters, signed.person, { after: nextCursor })}">More that wait</a></p>`}
</section>
${section('unsettled', 'Outcome unknown', unsettled, show)}
${section('decided', 'Decided last', decided, show)}
${decided.length > 0 && html`<p class="next"><a href="${base}/history${query}">All of the history</a></p>`}`,
  }
}

function section(id: string, title: string, cards: readonly Card[], show: Show): Html {
  if (cards.length === 0) return html``
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
<ul class="decided">${cards.map((card) => endedCard(card, show))}</ul>
</section>`
}

function notice(card: Card, base: string): Html | undefined {
  if (card.status === 'pending') return undefined
  return html`<p class="notice" role="status"><a href="${base}/cards/${card.id}">${marked(card.title)}</a>: ${decisionOf(card)}</p>`
}
