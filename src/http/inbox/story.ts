/**
 * What happened to a card, in the order it happened.
 * @module
 */
import { html } from 'hono/html'
import type { Card } from '../../approvals/cards.ts'
import type { Html } from './frame.ts'
import { marked } from './marks.ts'
import { moment } from './pieces.ts'
import { clock, meaningOf } from './words.ts'

const VIA = { rest: 'over REST', inbox: 'in the inbox', cli: 'on the command line' } as const
const SCOPES = { once: 'for this one call', session: 'for this session', always: 'for the brand' } as const

/** The steps, with who took them and what they said. */
export function story(card: Card): Html {
  const meaning = meaningOf(card)
  const decided = card.status === 'denied' ? 'Denied' : card.status === 'withdrawn' ? 'Withdrawn' : 'Approved'
  const steps: (readonly [string, string | undefined])[] = [
    ['Asked', card.createdAt],
    [`${decided}${how(card)}`, card.decidedAt],
    ['Started', card.startedAt],
    ['Ended', card.endedAt === card.decidedAt ? undefined : card.endedAt],
  ]
  return html`<div class="story">
${meaning && html`<p>${meaning}</p>`}
<ol>${steps.map(([words, at]) => at !== undefined && html`<li>${words}, ${moment(at, clock(at))}</li>`)}</ol>
${card.note && html`<p class="note">${marked(card.note)}</p>`}
</div>`
}

function how(card: Card): string {
  const by = card.decidedBy === undefined ? '' : ` by ${card.decidedBy}`
  const via = card.decidedVia === undefined ? '' : ` ${VIA[card.decidedVia]}`
  const scope = card.scope === undefined || card.scope === 'once' ? '' : ` ${SCOPES[card.scope]}`
  return `${by}${via}${scope}`
}
