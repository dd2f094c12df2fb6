/**
 * Webhooks as their operator keeps them: registered, tried, paused, given new secrets and removed. Each change is in the
 * record. What is sent, and when, is in sender.ts.
 * @module
 */
import type { Audit, AuditEntry } from '../../audit/audit.ts'
import type { Database, Tx } from '../../db/connect.ts'
import { and, count, eq, isNotNull, isNull, ne, type PgUpdateSetSource, type SQL, sql } from '../../db/drizzle.ts'
import { tell } from '../../db/events.ts'
import { webhookDeliveries, webhooks } from '../../db/schema.ts'
import type { Seal } from '../../db/seal.ts'
import { clock } from '../moves.ts'
import { isId } from '../paging.ts'
import { type Resolver, refusalOf, shownUrl, type WebhookRules } from './address.ts'
import { newSecret } from './body.ts'
import { claimOne } from './claim.ts'
import { findWebhook, listDeliveries, listWebhooks, type Page, type PageQuery, toDelivery, toWebhook } from './rows.ts'
import type { Sender } from './sender.ts'
import {
  type Delivery,
  type DeliveryStatus,
  type Format,
  TEST_EVENT,
  type Webhook,
  type WebhookEvent,
} from './words.ts'

export interface Wanted {
  readonly url: string
  /** `*`: every brand. */
  readonly brand: string
  readonly events: readonly WebhookEvent[]
  readonly format: Format
}

/** A webhook with its signing secret, which is shown this once. */
export type Shown = { readonly webhook: Webhook; readonly secret: string }

export type Added =
  | ({ readonly ok: true } & Shown)
  | { readonly ok: false; readonly rule: 'address' | 'too_many'; readonly detail: string }

export type Redelivered =
  | { readonly ok: true; readonly delivery: Delivery }
  | { readonly ok: false; readonly problem: 'not_found' | 'waiting' }

export interface Webhooks {
  /** Registers one; a refusal says how to mend it. */
  add(wanted: Wanted, by: string): Promise<Added>
  get(id: string): Promise<Webhook | undefined>
  list(query: PageQuery & { readonly brand?: string }): Promise<Page<Webhook>>
  /** Removes it with all that was to be sent to it. */
  remove(id: string, by: string): Promise<Webhook | undefined>
  /** A new secret; the old one signs too for so long. */
  rotateSecret(id: string, keepOldSeconds: number, by: string): Promise<Shown | undefined>
  /** Stops telling it; what waits, waits on. */
  pause(id: string, by: string): Promise<Webhook | undefined>
  /** Tells it again, also of what waited. */
  resume(id: string, by: string): Promise<Webhook | undefined>
  /** Sends a test now, paused or not, and once; how it went. */
  test(id: string): Promise<Delivery | undefined>
  /** What it was told; undefined when there is no such webhook. */
  deliveries(id: string, query: PageQuery & { readonly status?: DeliveryStatus }): Promise<Page<Delivery> | undefined>
  /** Sends once more what was delivered or given up, under the same id. */
  redeliver(id: string, delivery: string, by: string): Promise<Redelivered>
}

export interface WebhooksParts {
  readonly db: Database
  readonly audit: Audit
  readonly seal: Seal
  readonly sender: Pick<Sender, 'deliver'>
  readonly rules: WebhookRules
  readonly newId: () => string
  readonly resolver?: Resolver
  /** Most webhooks in all: each event costs a row for each. */
  readonly most?: number
}

const MOST = 100

/** Builds the room's front. */
export function createWebhooks(parts: WebhooksParts): Webhooks {
  const { db, audit, seal, sender, newId, most = MOST } = parts

  /** One conditional update with its record; undefined where it finds nothing to change. */
  function change(
    id: string,
    set: PgUpdateSetSource<typeof webhooks>,
    where: SQL | undefined,
    says: { by: string; reason: string },
    also: (tx: Tx) => Promise<void> = async () => {},
  ): Promise<Webhook | undefined> {
    return audit.transaction(async (tx, record) => {
      const [row] = await tx
        .update(webhooks)
        .set(set)
        .where(and(eq(webhooks.id, id), where))
        .returning()
      if (row === undefined) return undefined
      const webhook = toWebhook(row)
      record({ ...about(webhook), ...says })
      await also(tx)
      return webhook
    })
  }

  return {
    async add({ url, brand, events, format }, by) {
      const refusal = await refusalOf(url, parts.rules, parts.resolver)
      if (refusal !== undefined) return { ok: false, rule: 'address', detail: refusal }
      const secret = newSecret()
      const [sealedUrl, sealedSecret] = await Promise.all([seal.seal(new URL(url).href), seal.seal(secret)])
      return audit.transaction(async (tx, record) => {
        const [held] = await tx.select({ all: count() }).from(webhooks)
        if (!(held !== undefined && held.all < most)) {
          const detail = `There are ${most} webhooks, which is the most; delete one that nobody needs.`
          return { ok: false, rule: 'too_many', detail }
        }
        const values = { id: newId(), brand, sealedUrl, shownUrl: shownUrl(url), format, sealedSecret }
        const [row] = await tx
          .insert(webhooks)
          .values({ ...values, events: JSON.stringify([...new Set(events)]) })
          .returning()
        const webhook = toWebhook(row!)
        record({ ...about(webhook), by, reason: `added: ${webhook.format} to ${webhook.url} of ${events.join(', ')}` })
        return { ok: true, webhook, secret }
      })
    },

    get: (id) => findWebhook(db, id),
    list: (query) => listWebhooks(db, query),

    async remove(id, by) {
      if (!isId(id)) return undefined
      return audit.transaction(async (tx, record) => {
        const [row] = await tx.delete(webhooks).where(eq(webhooks.id, id)).returning()
        if (row === undefined) return undefined
        await tx.delete(webhookDeliveries).where(eq(webhookDeliveries.webhook, id))
        const webhook = toWebhook(row)
        record({ ...about(webhook), by, reason: `removed: ${webhook.url}` })
        return webhook
      })
    },

    async rotateSecret(id, keepOldSeconds, by) {
      if (!isId(id)) return undefined
      const secret = newSecret()
      const until = sql`case when ${keepOldSeconds}::int > 0 then ${clock} + ${keepOldSeconds}::int * interval '1 second' end`
      const set = {
        sealedSecret: await seal.seal(secret),
        sealedOldSecret: sql`${webhooks.sealedSecret}`,
        oldSecretUntil: until,
      }
      const webhook = await change(id, set, undefined, {
        by,
        reason: `new secret; the old one signs for ${keepOldSeconds} s more`,
      })
      return webhook && { webhook, secret }
    },

    async pause(id, by) {
      if (!isId(id)) return undefined
      const set = { pausedAt: clock, pausedBecause: `The ${by} paused it.` }
      return (await change(id, set, isNull(webhooks.pausedAt), { by, reason: 'paused' })) ?? findWebhook(db, id)
    },

    async resume(id, by) {
      if (!isId(id)) return undefined
      const set = { pausedAt: null, pausedBecause: null, failures: 0 }
      const wake = (tx: Tx) => tell(tx, { kind: 'webhook' })
      const says = { by, reason: 'resumed' }
      return (await change(id, set, isNotNull(webhooks.pausedAt), says, wake)) ?? findWebhook(db, id)
    },

    async test(id) {
      if ((await findWebhook(db, id)) === undefined) return undefined
      const data = JSON.stringify({ webhook: id, says: 'Tollgate can reach you.' })
      const claimed = await db.transaction(async (tx) => {
        const row = { id: newId(), webhook: id, event: TEST_EVENT, brand: '', data }
        await tx.insert(webhookDeliveries).values(row)
        return claimOne(tx, row.id)
      })
      if (claimed === undefined) return undefined
      await sender.deliver(claimed, true)
      const [row] = await db.orm.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, claimed.id))
      return row && toDelivery(row)
    },

    async deliveries(id, query) {
      return (await findWebhook(db, id)) && listDeliveries(db, id, query)
    },

    async redeliver(id, delivery, by) {
      if (!isId(id) || !isId(delivery)) return { ok: false, problem: 'not_found' }
      const named = and(eq(webhookDeliveries.id, delivery), eq(webhookDeliveries.webhook, id))
      return audit.transaction(async (tx, record) => {
        const set = { status: 'waiting', attempts: 0, dueAt: clock, endedAt: null } as const
        const [row] = await tx
          .update(webhookDeliveries)
          .set(set)
          .where(and(named, ne(webhookDeliveries.status, 'waiting')))
          .returning()
        if (row !== undefined) {
          await tell(tx, { kind: 'webhook' })
          record({ kind: 'webhook.changed', subject: id, by, reason: `sent once more: ${row.event} ${row.id}` })
          return { ok: true, delivery: toDelivery(row) }
        }
        const [waits] = await tx.select({ id: webhookDeliveries.id }).from(webhookDeliveries).where(named)
        return { ok: false, problem: waits === undefined ? 'not_found' : 'waiting' }
      })
    },
  }
}

function about({ id, brand }: Webhook): Pick<AuditEntry, 'brand' | 'subject'> & { readonly kind: 'webhook.changed' } {
  return { kind: 'webhook.changed', subject: id, ...(brand === '*' ? {} : { brand }) }
}
