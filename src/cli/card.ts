/**
 * A card as the command line shows it.
 * @module
 */
import { plain, when } from './output.ts'

/** As `GET /v1/approvals/:id` answers it. */
export interface Card {
  readonly id: string
  readonly brand: string
  readonly sessionId: string
  readonly role: string
  readonly tool: string
  readonly title: string
  readonly summary: string
  readonly arguments: unknown
  readonly status: string
  readonly rules: readonly { readonly because: string }[]
  readonly createdAt: string
  readonly expiresAt: string
  readonly shown: string
  readonly cost?: { readonly unit: string; readonly amount: string }
  readonly scopes: readonly string[]
  readonly scope?: string
  readonly decidedAt?: string
  readonly decidedBy?: string
  readonly decidedVia?: string
  readonly note?: string
  readonly endedAt?: string
  readonly outcome?: { readonly code: string }
  readonly settled?: string
  readonly settledBy?: string
}

/** All that a person decides on, line by line, and what became of it. */
export function cardText(card: Card): string[] {
  const { decidedBy, decidedVia, decidedAt, note, cost, settled, settledBy, outcome, scope } = card
  const far = scope === undefined || scope === 'once' ? '' : `, ${scope}`
  const via = decidedVia === undefined ? '' : ` over ${decidedVia}`
  return [
    card.summary,
    '',
    `Card:      ${card.id}`,
    `Status:    ${card.status}`,
    `Tool:      ${card.tool}`,
    `Asked by:  ${card.role}, session ${card.sessionId}, brand ${card.brand}`,
    `Waits:     ${when(card.createdAt)} until ${when(card.expiresAt)}`,
    ...(cost === undefined ? [] : [`Costs:     ${cost.amount} ${cost.unit}`]),
    ...(decidedBy === undefined
      ? []
      : [`Decided:   by ${decidedBy}${via}, ${when(decidedAt)}${far}${note ? `: ${note}` : ''}`]),
    ...(outcome === undefined ? [] : [`Outcome:   ${outcome.code}`]),
    ...(settled === undefined
      ? []
      : [`Settled:   by ${settledBy}: it ${settled === 'happened' ? 'happened' : 'did not happen'}`]),
    `Why:       ${card.rules.map(({ because }) => because).join(' ')}`,
    `Scopes:    ${card.scopes.join(', ')}`,
    `Shown:     ${card.shown}`,
    `Arguments: ${JSON.stringify(card.arguments)}`,
  ].map(plain)
}
