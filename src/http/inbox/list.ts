/**
 * The inbox itself: what waits, newest first, and what was decided last.
 * @module
 */
import { html } from 'hono/html'
import type { Card, CardPage } from '../../approvals/cards.ts'
import { badge, moment, waitingCard } from './card.ts'
import type { Frame, Html, Show } from './frame.ts'
import { ago, decisionOf, meaningOf } from './words.ts'

/** The page. `justNow` is the card this person decided a moment ago. */
export function listPage(
  facts: Show & { readonly waiting: CardPage; readonly decided: readonly Card[]; readonly justNow?: Card },
): Frame {
  const { signed, base, waiting, decided, justNow } = facts
  const { items, nextCursor } = waiting
  const count = `${items.length}${nextCursor === undefined ? '' : '+'}`
  return {
    title: items.length === 0 ? 'Inbox' : `(${count}) Inbox`,
    signed,
    here: base,
    watches: items.length === 0,
    body: html`<h1>Inbox</h1>
${justNow && notice(justNow, base)}
<section aria-labelledby="waiting">
<h2 id="waiting">Waiting <span class="count">${count}</span></h2>
${
  items.length === 0
    ? html`<p class="empty">Nothing waits for you. A call that needs a person appears here.</p>`
    : html`<ul class="cards">${items.map((card) => waitingCard(card, facts))}</ul>`
}
${nextCursor && html`<p><a href="${base}?after=${encodeURIComponent(nextCursor)}">Older ones that wait</a></p>`}
</section>
${
  decided.length > 0 &&
  html`<section aria-labelledby="decided">
<h2 id="decided">Recently decided</h2>
<ul class="decided">${decided.map((card) => decidedCard(card, facts))}</ul>
</section>`
}`,
  }
}

function notice(card: Card, base: string): Html | undefined {
  if (card.status === 'pending') return undefined
  return html`<p class="notice" role="status"><a href="${base}/cards/${card.id}">${card.title}</a>: ${decisionOf(card)}</p>`
}

function decidedCard(card: Card, { base, now }: Show): Html {
  const at = card.decidedAt ?? card.endedAt ?? card.createdAt
  const meaning = meaningOf(card)
  return html`<li>
<div class="head"><a href="${base}/cards/${card.id}">${card.title}</a>${badge(card)}</div>
<p>${card.summary}</p>
${meaning && html`<p>${meaning}</p>`}
${card.note && html`<p class="note">${card.note}</p>`}
<p class="quiet small">${card.decidedBy && `${card.decidedBy}, `}${moment(at, ago(at, now))} · ${card.role} of ${card.brand}</p>
</li>`
}
