/**
 * A card in the list: whole while it waits, one line once it does not.
 * @module
 */
import { html } from 'hono/html'
import type { Card } from '../../approvals/cards.ts'
import { briefArguments, isPlain, notices } from './arguments.ts'
import { shortForm } from './decide.ts'
import { shortFacts } from './facts.ts'
import type { Html, Show } from './frame.ts'
import { marked } from './marks.ts'
import { badge, expiry, moment } from './pieces.ts'
import { ago, decisionOf, meaningOf } from './words.ts'

/**
 * A waiting card. What a glance may miss (hidden or deceiving characters, arguments longer than a list shows) is decided
 * on the card's own page alone.
 */
export function waitingCard(card: Card, show: Show, back = ''): Html {
  if (card.status !== 'pending') return movedCard(card, show)
  const at = `${show.base}/cards/${card.id}`
  const notice = notices(card)
  return html`<li data-card="${card.id}"><article class="card" aria-labelledby="t-${card.id}">
<div class="head">
<h3 id="t-${card.id}"><a href="${at}">${marked(card.title)}</a></h3>
${expiry(card, show.now)}
</div>
<p class="summary">${marked(card.summary)}</p>
${notice && html`<p class="warning">${notice}</p>`}
${briefArguments(card)}
${shortFacts(card, show.now)}
${
  isPlain(card)
    ? shortForm(card, show, back)
    : html`<div class="buttons"><a class="button" href="${at}">Read all and decide<span class="unseen">: ${card.title}</span></a></div>`
}
</article></li>`
}

/** A card that was decided while the list was open. */
function movedCard(card: Card, { base }: Show): Html {
  return html`<li data-card="${card.id}" data-moved><article class="card moved" aria-labelledby="t-${card.id}">
<div class="head"><h3 id="t-${card.id}"><a href="${base}/cards/${card.id}">${marked(card.title)}</a></h3>${badge(card)}</div>
<p>${decisionOf(card)}</p>
</article></li>`
}

/** A card that waits no more, with what became of it. */
export function endedCard(card: Card, { base, now }: Show): Html {
  const at = card.decidedAt ?? card.endedAt ?? card.createdAt
  const meaning = meaningOf(card)
  return html`<li>
<div class="head"><a href="${base}/cards/${card.id}">${marked(card.title)}</a>${badge(card)}</div>
<p>${marked(card.summary)}</p>
${meaning && html`<p>${meaning}</p>`}
${card.note && html`<p class="note">${marked(card.note)}</p>`}
<p class="quiet small">${card.decidedBy && `${card.decidedBy}, `}${moment(at, ago(at, now))} · ${card.role} of ${card.brand}</p>
</li>`
}
