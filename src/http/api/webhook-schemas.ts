/**
 * What the webhook routes take and answer.
 * @module
 */
import { z } from '@hono/zod-openapi'
import { EVENTS, EVERY_BRAND, FORMATS, TEST_EVENT } from '../../approvals/webhooks/words.ts'
import { DELIVERY_STATUSES } from '../../db/schema.ts'
import { strict } from '../../policy/data-file.ts'

const time = z.iso.datetime()
const event = z.enum(EVENTS)

/** A brand, or `*`. */
const brand = z.string().regex(/^(?:\*|[A-Za-z0-9][A-Za-z0-9._-]{0,63})$/, 'expected a brand, or "*" for every brand')

/** What a new webhook is asked to be. */
export const webhookBody = strict({
  url: z.string().min(1).max(2_000).openapi({
    description: 'Where to send, over https; hosts inside need the operator’s word in the configuration file.',
    example: 'https://app.example/hooks/tollgate',
  }),
  brand: brand
    .optional()
    .openapi({ description: `Whose events; the owner's brand when left away, "${EVERY_BRAND}" for every brand.` }),
  events: z.array(event).min(1).optional().openapi({ description: 'Every event of cards when left away.' }),
  format: z.enum(FORMATS).default('json'),
}).openapi('WebhookRequest')

/** How long the secret before a new one signs too. */
export const rotateBody = strict({
  keepOldSeconds: z.int().min(0).max(604_800).default(86_400).openapi({
    description: 'How long the old secret signs too: 0 to seven days.',
  }),
})

/** A webhook as lists show it. */
export const webhook = z
  .object({
    id: z.uuid(),
    url: z.string().openapi({ description: 'Without what may be a secret in it.' }),
    brand: z.string(),
    events: z.array(event).readonly(),
    format: z.enum(FORMATS),
    createdAt: time,
    failures: z.int().openapi({ description: 'Attempts that failed since the last that did not.' }),
    oldSecretUntil: time.optional(),
    pausedAt: time.optional(),
    pausedBecause: z.string().optional(),
  })
  .openapi('Webhook')

/** A webhook with its signing secret. */
export const webhookSecret = webhook
  .extend({ secret: z.string().openapi({ description: 'Shown now and never again.', example: 'whsec_…' }) })
  .openapi('WebhookWithSecret')

/** One event on its way to one webhook. */
export const delivery = z
  .object({
    id: z.uuid().openapi({ description: 'The webhook-id header, the same at every attempt.' }),
    webhookId: z.uuid(),
    event: z.string().openapi({ description: `An event, or ${TEST_EVENT}.` }),
    brand: z.string(),
    card: z.string().optional(),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.int(),
    createdAt: time,
    nextAttemptAt: time.optional(),
    triedAt: time.optional(),
    endedAt: time.optional(),
    answer: z.int().optional().openapi({ description: 'HTTP status of the last attempt.' }),
    problem: z.string().optional().openapi({ description: 'Why the last attempt failed.' }),
  })
  .openapi('WebhookDelivery')

/** What deliveries are narrowed by. */
export const deliveryStatus = z.enum(DELIVERY_STATUSES).optional()
