/**
 * Approvals that stand: what a person once said yes to for more than one call, and how to take it back.
 * @module
 */
import { html } from 'hono/html'
import type { StandingApproval, StandingPage, StandingState } from '../../approvals/standing.ts'
import { type Filters, queryOf } from './filters.ts'
import type { Frame, Html, Show } from './frame.ts'
import { marked } from './marks.ts'
import { fact, moment } from './pieces.ts'
import { ago, clock, left } from './words.ts'

const STATES = {
  live: ['Stands', 'yes'],
  revoked: ['Revoked', 'no'],
  ended: ['Its session is over', 'open'],
  expired: ['Expired', 'open'],
  used_up: ['Used up', 'open'],
} as const satisfies Record<StandingState, readonly [string, 'open' | 'yes' | 'no']>

/** The page. */
export function standingPage(
  show: Show,
  facts: { readonly filters: Filters; readonly found: StandingPage; readonly told?: string },
): Frame {
  const { base, signed } = show
  const { items, nextCursor } = facts.found
  const at = `${base}/standing`
  return {
    title: 'Standing approvals',
    signed,
    at: 'standing',
    body: html`<h1>Standing approvals</h1>
<p class="quiet">Calls that run without a question, because a person said so. A changed tool or another far side asks again.</p>
${facts.told && html`<p class="notice" role="status">${facts.told}</p>`}
${
  items.length === 0
    ? html`<p class="empty">None stands. Every call that needs a person asks one.</p>`
    : html`<ul class="cards">${items.map((each) => standing(each, show))}</ul>`
}
${nextCursor && html`<p class="next"><a href="${at}${queryOf(facts.filters, signed.person, { after: nextCursor })}">Older ones</a></p>`}`,
  }
}

function standing(each: StandingApproval, show: Show): Html {
  const { base, signed, now } = show
  const [word, tone] = STATES[each.state]
  return html`<li><article class="card" aria-labelledby="t-${each.id}">
<div class="head"><h2 id="t-${each.id}">${marked(each.title)}</h2><span class="badge ${tone}">${word}</span></div>
<p class="summary">${each.similar === undefined ? 'Exactly this' : 'Calls like this'}: ${marked(each.summary)}</p>
${each.note && html`<p class="note">${marked(each.note)}</p>`}
<dl>
${fact('Tool', html`<code>${each.tool}</code>`, 'long')}
${fact('For', each.sessionId === undefined ? html`Every session of ${each.brand}` : html`One session of ${each.brand}, <code>${each.sessionId}</code>`, 'long')}
${each.similar && fact('May vary', html`${Object.entries(each.similar).map(([name, pattern]) => html`<p><code>${marked(name)}</code> ${varies(pattern)}</p>`)}`, 'wide')}
${fact('Used', html`${each.used} ${each.used === 1 ? 'time' : 'times'}${each.left !== undefined && html`, ${each.left} left`}`)}
${each.expiresAt && fact('Until', html`${moment(each.expiresAt, clock(each.expiresAt))}${each.state === 'live' && html`, ${left(each.expiresAt, now)}`}`)}
${fact('Given', html`by ${each.createdBy}, ${moment(each.createdAt, ago(each.createdAt, now))}, on <a href="${base}/cards/${each.card}">this card</a>`, 'wide')}
${each.revokedAt && fact('Taken back', html`by ${each.revokedBy}, ${moment(each.revokedAt, ago(each.revokedAt, now))}`, 'wide')}
</dl>
${
  each.state === 'live' &&
  html`<form method="post" action="${base}/standing/${each.id}/revoke" class="decide">
<input type="hidden" name="csrf" value="${signed.csrf}">
<div class="buttons"><button class="no">Revoke<span class="unseen"> ${each.title}</span></button></div>
</form>`
}
</article></li>`
}

const varies = (pattern: string | { readonly max: number }): Html =>
  typeof pattern === 'string'
    ? html`begins with <code>${marked(pattern.replace(/\*$/, ''))}</code>`
    : html`at most ${pattern.max}`
