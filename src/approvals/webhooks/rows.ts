/**
 * Rows of webhooks and deliveries as people see them, and pages of them.
 * @module
 */
import type { Database } from '../../db/connect.ts'
import { and, eq, type SQL } from '../../db/drizzle.ts'
import { webhookDeliveries, webhooks } from '../../db/schema.ts'
import { after, inOrder, isId, pageOf, taken, timeOf } from '../paging.ts'
import type { Delivery, DeliveryStatus, Webhook, WebhookEvent } from './words.ts'

/** Which page of a list, newest first. */
export interface PageQuery {
  readonly limit: number
  readonly cursor?: string
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | undefined
}

type WebhookRow = typeof webhooks.$inferSelect
type DeliveryRow = typeof webhookDeliveries.$inferSelect

/** A row as people see it; the sealed columns stay behind. */
export function toWebhook(row: WebhookRow): Webhook {
  const { oldSecretUntil: until } = row
  return {
    id: row.id,
    url: row.shownUrl,
    brand: row.brand,
    events: JSON.parse(row.events) as WebhookEvent[],
    format: row.format,
    createdAt: row.createdAt.toISOString(),
    failures: row.failures,
    ...(until === null ? {} : { oldSecretUntil: until.toISOString() }),
    ...(row.pausedAt === null ? {} : { pausedAt: row.pausedAt.toISOString() }),
    ...(row.pausedBecause === null ? {} : { pausedBecause: row.pausedBecause }),
  }
}

/** A row as people see it; the body stays behind. */
export function toDelivery(row: Omit<DeliveryRow, 'data' | 'sealedData'>): Delivery {
  return {
    id: row.id,
    webhookId: row.webhook,
    event: row.event,
    brand: row.brand,
    ...(row.card === null ? {} : { card: row.card }),
    status: row.status,
    attempts: row.attempts,
    createdAt: row.createdAt.toISOString(),
    ...(row.status === 'waiting' ? { nextAttemptAt: row.dueAt.toISOString() } : {}),
    ...(row.triedAt === null ? {} : { triedAt: row.triedAt.toISOString() }),
    ...(row.endedAt === null ? {} : { endedAt: row.endedAt.toISOString() }),
    ...(row.answer === null ? {} : { answer: row.answer }),
    ...(row.problem === null ? {} : { problem: row.problem }),
  }
}

/** The webhook of this id, for `toWebhook`. */
export async function findWebhook(db: Database, id: string): Promise<Webhook | undefined> {
  if (!isId(id)) return undefined
  const [row] = await db.orm.select().from(webhooks).where(eq(webhooks.id, id))
  return row && toWebhook(row)
}

/** Newest first. Throws RangeError for a cursor that no list gave out. */
export async function listWebhooks(
  db: Database,
  { brand, limit, cursor }: PageQuery & { readonly brand?: string },
): Promise<Page<Webhook>> {
  const wanted: (SQL | undefined)[] = [
    brand === undefined ? undefined : eq(webhooks.brand, brand),
    cursor === undefined ? undefined : after(webhooks, cursor, 'newest', 'webhooks'),
  ]
  const most = taken(limit)
  const found = await db.orm
    .select({ row: webhooks, at: timeOf(webhooks) })
    .from(webhooks)
    .where(and(...wanted))
    .orderBy(...inOrder(webhooks, 'newest'))
    .limit(most + 1)
  const { rows, nextCursor } = pageOf(found, most)
  return { items: rows.map(toWebhook), nextCursor }
}

/** What a webhook was told or is to be told, newest first. Throws RangeError for a cursor that no list gave out. */
export async function listDeliveries(
  db: Database,
  webhook: string,
  { status, limit, cursor }: PageQuery & { readonly status?: DeliveryStatus },
): Promise<Page<Delivery>> {
  const wanted: (SQL | undefined)[] = [
    eq(webhookDeliveries.webhook, webhook),
    status === undefined ? undefined : eq(webhookDeliveries.status, status),
    cursor === undefined ? undefined : after(webhookDeliveries, cursor, 'newest', 'deliveries'),
  ]
  const most = taken(limit)
  const found = await db.orm
    .select({ row: webhookDeliveries, at: timeOf(webhookDeliveries) })
    .from(webhookDeliveries)
    .where(and(...wanted))
    .orderBy(...inOrder(webhookDeliveries, 'newest'))
    .limit(most + 1)
  const { rows, nextCursor } = pageOf(found, most)
  return { items: rows.map(toDelivery), nextCursor }
}
