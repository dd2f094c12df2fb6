/**
 * What an approval is bound to: the session and, as one hash, the call, the tool's definition, the far side and the price.
 * With any of it changed the same call is another card.
 * @module
 */
import { hash } from 'node:crypto'
import type { RegisteredTool } from '../connector/connector.ts'

/** What a call costs, as a person is shown it; `amount` is a decimal. */
export interface CardCost {
  readonly unit: string
  readonly amount: string
}

/** SHA-256 (hex) of all that a card is bound to besides its session. */
export function bindingOf(call: {
  readonly tool: Pick<RegisteredTool, 'digest' | 'upstream'>
  readonly fingerprint: string
  readonly cost?: CardCost | undefined
}): string {
  const { tool, fingerprint, cost } = call
  const bound = [fingerprint, tool.digest, tool.upstream, cost?.unit ?? null, cost?.amount ?? null]
  return hash('sha256', JSON.stringify(bound), 'hex')
}

/** A cost as it is kept in a row. */
export const costText = (cost: CardCost | undefined): string | null =>
  cost === undefined ? null : JSON.stringify({ unit: cost.unit, amount: cost.amount })

/** A cost as it was kept. */
export const costFrom = (text: string | null): CardCost | undefined =>
  text === null ? undefined : (JSON.parse(text) as CardCost)

/** Whether two costs are the same; no cost is one too. */
export function sameCost(a: CardCost | undefined, b: CardCost | undefined): boolean {
  return a?.unit === b?.unit && a?.amount === b?.amount
}
