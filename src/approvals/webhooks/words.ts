/**
 * The words of webhooks: what they can be told of, and in which shapes.
 * @module
 */
import type { DELIVERY_STATUSES } from '../../db/schema.ts'

/** What a webhook is told of when it names nothing. */
export const CARD_EVENTS = ['card.created', 'card.decided', 'card.finished', 'card.unknown', 'card.settled'] as const

/** All that a webhook can ask for by name. */
export const EVENTS = [...CARD_EVENTS, 'session.ready', 'tool.changed', 'connection.needs_consent'] as const
export type WebhookEvent = (typeof EVENTS)[number]

/** What a test sends, to the webhook that is tested and to no other. */
export const TEST_EVENT = 'webhook.test'

export const FORMATS = ['json', 'slack'] as const
export type Format = (typeof FORMATS)[number]

/** In place of a brand: every brand. */
export const EVERY_BRAND = '*'

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** A webhook as people see it. Times are ISO 8601 in UTC. */
export interface Webhook {
  readonly id: string
  /** Without what may be a secret in it. */
  readonly url: string
  /** `*`: every brand. */
  readonly brand: string
  readonly events: readonly WebhookEvent[]
  readonly format: Format
  readonly createdAt: string
  /** Attempts that failed since the last that did not. */
  readonly failures: number
  /** Until when the secret before this one signs too. */
  readonly oldSecretUntil?: string
  readonly pausedAt?: string
  readonly pausedBecause?: string
}

/** One event on its way to one webhook; never its body. */
export interface Delivery {
  /** What the receiver gets as `webhook-id`, the same at every attempt. */
  readonly id: string
  readonly webhookId: string
  readonly event: string
  readonly brand: string
  readonly card?: string
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly createdAt: string
  readonly nextAttemptAt?: string
  readonly triedAt?: string
  readonly endedAt?: string
  /** HTTP status that the last attempt was answered with. */
  readonly answer?: number
  /** Why the last attempt failed. */
  readonly problem?: string
}
