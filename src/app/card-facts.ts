/**
 * What a card's page says besides the card: who asks, what is left to spend, and the tool as it is now.
 * @module
 */
import type { Card } from '../approvals/cards.ts'
import type { Registry } from '../connector/registry.ts'
import type { Database } from '../db/connect.ts'
import { findSession } from '../session/sessions.ts'
import { leftOf } from '../session/spend-left.ts'

/** What is left of the allowance that a card with a cost is paid from. */
export async function allowancesOf(db: Database, { id, sessionId, connector, cost }: Card) {
  const found = cost && (await leftOf(db, sessionId, connector, cost.unit, id))
  return found === undefined
    ? []
    : [{ per: 'run' as const, unit: cost?.unit ?? '', left: found.left, most: found.most }]
}

/** The tool of a card as it is now. */
export function toolOf(registry: Registry, { brand, connector, tool }: Card) {
  const found = registry.find(connector, brand)
  const closed = found?.closed?.().map((one) => one.tool) ?? []
  return [...(found?.tools() ?? []), ...closed].find(({ name }) => name === tool)
}

/** Who holds a session, as far as its record says. */
export async function askerOf(db: Database, id: string) {
  const stored = await findSession(db, id)
  if (stored === undefined) return undefined
  const { subject, coworker, parent } = stored
  return { subject, ...(coworker === null ? {} : { coworker }), ...(parent === null ? {} : { parent }) }
}
