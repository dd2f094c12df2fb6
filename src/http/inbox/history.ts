/**
 * Every card that waits no more, with its outcome, newest first.
 * @module
 */
import { html } from 'hono/html'
import type { CardPage } from '../../approvals/cards.ts'
import { type Filters, filterForm, queryOf } from './filters.ts'
import type { Frame, Show } from './frame.ts'
import { endedCard } from './waiting.ts'

/** The page. */
export function historyPage(show: Show, facts: { readonly filters: Filters; readonly ended: CardPage }): Frame {
  const { base, signed } = show
  const { filters, ended } = facts
  const { items, nextCursor } = ended
  const at = `${base}/history`
  return {
    title: 'History',
    signed,
    at: 'history',
    body: html`<h1>History</h1>
${filterForm({ at, filters, person: signed.person, seen: items })}
${
  items.length === 0
    ? html`<p class="empty">Nothing was decided yet.</p>`
    : html`<ul class="decided">${items.map((card) => endedCard(card, show))}</ul>`
}
${nextCursor && html`<p class="next"><a href="${at}${queryOf(filters, signed.person, { after: nextCursor })}">Older ones</a></p>`}`,
  }
}
