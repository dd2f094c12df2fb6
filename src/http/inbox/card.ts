/**
 * One card as a person reads it: who asks, what will happen, why somebody has to look, and the buttons.
 * @module
 */
import { html } from 'hono/html'
import type { Card } from '../../approvals/cards.ts'
import { wholeArguments } from './arguments.ts'
import { settleForm, wholeForm } from './decide.ts'
import { definitionChange } from './definition.ts'
import { type About, bindings, longFacts } from './facts.ts'
import type { Frame, Html, Show } from './frame.ts'
import { marked } from './marks.ts'
import { badge, expiry, moment } from './pieces.ts'
import { story } from './story.ts'
import { ago } from './words.ts'

/** What the page of a card shows besides it. */
export interface Beside extends About {
  /** The tool's definition now and when a person last said yes to it, where the two differ. */
  readonly definition?: { readonly former: string; readonly now: string }
  /** The tool is defined otherwise since the card was made. */
  readonly stale: boolean
  /** Why a decision was not taken. */
  readonly problem?: Html
}

/** The page of one card. */
export function cardPage(card: Card, show: Show, beside: Beside): Frame {
  const { definition, problem, stale } = beside
  const waits = card.status === 'pending'
  return {
    title: card.title,
    signed: show.signed,
    now: show.now,
    events: `${show.base}/events?card=${card.id}`,
    body: html`<div class="titled crumb"><p><a href="${show.base}">Inbox</a></p><a href="${show.base}/cards/${card.id}">Refresh</a></div>
${problem}
<article class="card" aria-labelledby="title" data-card="${card.id}" data-status="${card.status}">
<div class="head">
<h1 id="title">${marked(card.title)}</h1>
${waits ? expiry(card, show.now) : badge(card)}
</div>
<p class="summary">${marked(card.summary)}</p>
${waits ? html`<p class="quiet small">Asked ${moment(card.createdAt, ago(card.createdAt, show.now))}. It runs only if you approve.</p>` : story(card)}
${card.status === 'unknown' && settleForm(card, show)}
${stale && html`<p class="warning">The tool’s definition changed since this was asked, so it will not run even if you approve. The caller has to ask again.</p>`}
${definition && definitionChange(definition.former, definition.now)}
${wholeArguments(card)}
${longFacts(card, beside)}
${bindings(card)}
${waits && wholeForm(card, show)}
</article>`,
  }
}
