/**
 * What a card costs follows its card: reserved in the transaction that parks it or in that of the yes which goes beyond
 * the allowance, released or booked in that of its end.
 * @module
 */
import type { Tx } from '../db/connect.ts'
import { keepUnknown, release, reserve, reserveApproved, settle, type ToReserve } from '../session/spend.ts'
import { type CardCost, costFrom } from './binding.ts'
import type { OnMove } from './decider.ts'
import type { Card, CardRow } from './show.ts'

/** How a card is paid. `beyond`: the allowance does not cover it, so that a yes raises it. */
export type Paying = 'allowance' | 'beyond' | 'unlimited'

/** Reserves what a card that was just made costs; false where the session's allowance does not cover it any more. */
export async function reserveForCard(tx: Tx, row: CardRow, attempt: string, paying: Paying): Promise<boolean> {
  const cost = costFrom(row.cost)
  if (cost === undefined || paying === 'beyond') return true
  return reserve(tx, toReserve(row, cost, attempt), paying === 'allowance')
}

/** `onMove` with the money moved before it, in the same transaction. A card that costs nothing asks nothing of the ledger. */
export function payingFor(onMove: OnMove | undefined): OnMove {
  return async (tx, card, moved) => {
    if (card.cost !== undefined) await pay(tx, card, card.cost, moved)
    await onMove?.(tx, card, moved)
  }
}

async function pay(tx: Tx, card: Card, cost: CardCost, moved: Parameters<OnMove>[2]): Promise<void> {
  switch (card.status) {
    case 'approved':
      if (moved === 'decided') await reserveApproved(tx, toReserve(card, cost))
      break
    case 'denied':
    case 'expired':
    case 'withdrawn':
    case 'failed':
      await release(tx, card.id)
      break
    case 'done':
      await settle(tx, card.id, actualOf(card, cost))
      break
    case 'unknown':
      await keepUnknown(tx, card.id)
  }
}

/** What the call came to, as its run noted it; undefined where it did not, or in another unit. */
function actualOf({ outcome }: Card, { unit }: CardCost): string | undefined {
  const actual = outcome?.cost as CardCost | undefined
  return actual?.unit === unit ? actual.amount : undefined
}

function toReserve(row: Card | CardRow, { unit, amount }: CardCost, attempt?: string): ToReserve {
  const { id, brand, sessionId, role, tool, connector } = row
  return { id, card: true, attempt, brand, sessionId, role, tool, connector, unit, amount }
}
