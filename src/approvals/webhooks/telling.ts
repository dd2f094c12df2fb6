/**
 * Webhooks whole: what other rooms put events into, what the operator keeps, and the sender between them.
 * @module
 */
import type { Log } from '../../db/log.ts'
import { type AttemptParts, createAttempts } from './attempt.ts'
import { createOutbox, type Outbox, type OutboxParts } from './outbox.ts'
import { createWebhookSender, type SenderParts } from './sender.ts'
import { createWebhooks, type Webhooks, type WebhooksParts } from './webhooks.ts'

export type TellingParts = OutboxParts &
  AttemptParts &
  Omit<WebhooksParts, 'sender'> &
  Omit<SenderParts, 'attempts'> & { readonly log: Log }

export interface Telling {
  readonly outbox: Outbox
  readonly webhooks: Webhooks
  /** Stops sending; what was not sent yet is sent by another replica, or after the next start. */
  close(): Promise<void>
}

/** Builds it and starts sending. */
export function createTelling(parts: TellingParts): Telling {
  const sender = createWebhookSender({ ...parts, attempts: createAttempts(parts) })
  return {
    outbox: createOutbox(parts),
    webhooks: createWebhooks({ ...parts, sender }),
    close: sender.close,
  }
}
