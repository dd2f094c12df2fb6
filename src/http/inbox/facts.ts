/**
 * What a person is told of a call before the buttons: who asks, what happens, what it costs, and why somebody has to look.
 * @module
 */
import { html } from 'hono/html'
import type { Card } from '../../approvals/cards.ts'
import type { Html } from './frame.ts'
import { marked } from './marks.ts'
import { fact, moment } from './pieces.ts'
import { ago, EFFECTS } from './words.ts'

/** Who holds the session of a card. */
export interface Asker {
  readonly subject: string
  /** The profile it is a run of. */
  readonly coworker?: string
  /** The session that delegated it. */
  readonly parent?: string
}

/** What is left of one allowance that a card would be paid from; decimals as text. */
export interface Allowance {
  readonly per: 'run' | 'day'
  readonly unit: string
  readonly left: string
  readonly most: string
}

/** What stands beside the card itself. */
export interface About {
  readonly asker?: Asker
  readonly allowances?: readonly Allowance[]
  /** Where all of a routine's run can be read. */
  readonly trace?: string
}

/** The facts in short, for a list. */
export function shortFacts(card: Card, now: number): Html {
  return html`<dl>
${fact('Tool', html`<code>${card.tool}</code>`, 'long')}
${fact('Effect', html`${EFFECTS[card.access]}`)}
${fact('Asked by', html`${card.role} of ${card.brand}, ${moment(card.createdAt, ago(card.createdAt, now))}<br><span class="quiet small">Session <code>${card.sessionId}</code></span>`, 'long')}
${card.cost && fact('Cost', html`${card.cost.amount} ${card.cost.unit}`)}
${fact('Why it waits', why(card), card.cost === undefined ? 'long' : 'wide')}
</dl>`
}

/** All of them, for the card's own page. */
export function longFacts(card: Card, { asker, allowances = [], trace }: About): Html {
  return html`<dl>
${fact('Tool', html`<code>${card.tool}</code>`, 'long')}
${fact('Effect', html`${EFFECTS[card.access]}`)}
${fact('Asked by', html`${card.role} of ${card.brand}`)}
${asker?.coworker && fact('Coworker', html`${marked(asker.coworker)}`)}
${asker && fact('Started by', html`${marked(asker.subject)}`)}
${card.cost && fact('Cost', cost(card.cost, allowances), 'wide')}
${fact('Why it waits', why(card), 'wide')}
${fact('Session', html`<code>${card.sessionId}</code>${asker?.parent && html` <span class="quiet small">delegated by <code>${asker.parent}</code></span>`}${trace && html` <a href="${trace}">Trace of this run</a>`}`, 'wide')}
</dl>`
}

const why = (card: Card): Html => html`${card.rules.map(({ because }) => html`<p>${marked(because)}</p>`)}`

function cost({ amount, unit }: NonNullable<Card['cost']>, allowances: readonly Allowance[]): Html {
  return html`<p><strong>${amount} ${unit}</strong></p>
${allowances.map(
  ({ per, left, most, unit: of }) =>
    html`<p>${left} of ${most} ${of} left ${per === 'run' ? 'in this run' : 'today'}</p>`,
)}`
}

/** What binds the yes to this call: digests that a second person can compare. */
export function bindings(card: Card): Html {
  return html`<details class="bindings">
<summary>What a yes is bound to</summary>
<dl>
${fact('Call (tool and exact arguments)', html`<code>${card.fingerprint}</code>`, 'wide')}
${fact('Definition of the tool', html`<code>${card.digest}</code>`, 'wide')}
${fact('What this page shows', html`<code>${card.shown}</code>`, 'wide')}
${card.upstream && fact('Far side', html`<code>${marked(card.upstream)}</code>`, 'wide')}
${fact('Card', html`<code>${card.id}</code>`, 'wide')}
</dl>
</details>`
}
