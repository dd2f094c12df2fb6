/**
 * Showing the person at the client's end the way to a card's page, by URL elicitation, where the client declared it and
 * the role's `terminalDecides` allows it. Whatever the client answers decides nothing: `accept` says that the page was
 * opened, and the page lets nobody decide who has not signed in. The address holds the card's id and nothing else.
 * @module
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Card } from '../../approvals/cards.ts'
import type { Question } from '../../connector/connector.ts'
import type { Era } from './lists.ts'

/** The address of a card's page. */
export const cardUrl = (inboxUrl: string, { id }: Pick<Card, 'id'>): string => `${inboxUrl}/cards/${id}`

/** The question that shows the page. 2025-11-25 wants an id to say later that it is over. */
export function pageQuestion(inboxUrl: string, card: Card, era: Era): Question {
  const message =
    `Tollgate, the gateway, holds a call until a person decides: ${card.summary} ` +
    'Open the page and sign in to approve or deny it. Opening it decides nothing.'
  const url = cardUrl(inboxUrl, card)
  const params = { mode: 'url', message, url, ...(era === 'legacy' && { elicitationId: card.id }) }
  return { key: 'dev.tollgate/card', paramsText: JSON.stringify(params) }
}

/** The notice that a page shown to a 2025-11-25 client has done its work. */
export const pageDone = (cardId: string): string =>
  `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"${cardId}"}}`

export interface CardPages {
  /** True once for each card: a person is not shown the same page at every retry. */
  offer(cardId: string): boolean
  /** The request state a modern client comes back with. It is good on every replica, and for this very call. */
  state(binding: string): string
  /** Whether a request state says that the page of this call was shown. It allows nothing but not to show it again. */
  isState(state: string, binding: string): boolean
}

const MOST_REMEMBERED = 10_000

/** Builds the pages over a key all replicas share. */
export function createCardPages(key: Buffer): CardPages {
  const offered = new Set<string>()
  const state = (binding: string): string => `page.${createHmac('sha256', key).update(binding).digest('base64url')}`

  return {
    offer(cardId) {
      if (offered.has(cardId)) return false
      offered.add(cardId)
      if (offered.size > MOST_REMEMBERED) offered.delete(offered.values().next().value as string)
      return true
    },
    state,
    isState(given, binding) {
      const [left, right] = [Buffer.from(given), Buffer.from(state(binding))]
      return left.length === right.length && timingSafeEqual(left, right)
    },
  }
}
