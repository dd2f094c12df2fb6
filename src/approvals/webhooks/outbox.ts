/**
 * The outbox: an event becomes one row for each webhook that wants it, in the transaction of what it tells of. So an
 * event is told of if, and only if, it took place; who is told, and how slowly, holds nobody up.
 * @module
 */
import { rows, type Tx } from '../../db/connect.ts'
import { sql } from '../../db/drizzle.ts'
import { CHANNEL } from '../../db/events.ts'
import { webhookDeliveries, webhooks } from '../../db/schema.ts'
import type { Seal } from '../../db/seal.ts'
import type { Card } from '../show.ts'
import { EVERY_BRAND, type WebhookEvent } from './words.ts'

/** How a card moved, as `CardsParts.onMove` says it. */
export type Moved = 'created' | 'decided' | 'finished' | 'settled'

/** Something to tell. `data` is what the receiver gets as such, as JSON. */
export interface OutboxEvent {
  readonly event: WebhookEvent
  readonly brand: string
  readonly data: object
  readonly card?: string
}

export interface Outbox {
  /** For `createCards`: tells of a move in its transaction. */
  onMove(tx: Tx, card: Card, moved: Moved): Promise<void>
  /** Tells of anything else. Throws what the database says, which ends the transaction. */
  tell(tx: Tx, event: OutboxEvent): Promise<void>
  /** As `tell`, to the webhooks of some brands, or (`*`) of each, and to those of every brand. */
  tellBrands(tx: Tx, event: Omit<OutboxEvent, 'brand'>, brands: readonly string[] | '*'): Promise<void>
  /**
   * As `tell`, for data that is the receiver's alone, such as a session's token: kept sealed, sent to webhooks of format
   * `json` only, and shown to nobody. The webhook must be of this very brand: one of every brand gets none of it.
   * Says whether anybody is told.
   */
  tellSealed(tx: Tx, event: OutboxEvent): Promise<boolean>
}

export interface OutboxParts {
  readonly seal: Seal
  /** The page where people decide; a card's own page is below it. */
  readonly inboxUrl: string
}

/** Of a card, what webhooks are told: what people see, and nothing that a later member might bring by itself. */
const MEMBERS: ReadonlySet<string> = new Set([
  'id',
  'brand',
  'sessionId',
  'role',
  'tool',
  'connector',
  'title',
  'summary',
  'arguments',
  'fingerprint',
  'digest',
  'access',
  'cost',
  'rules',
  'status',
  'createdAt',
  'expiresAt',
  'decidedAt',
  'decidedBy',
  'decidedVia',
  'scope',
  'standing',
  'note',
  'startedAt',
  'endedAt',
  'outcome',
  'settled',
  'settledAt',
  'settledBy',
  'shown',
])

/** What the move is called. A card whose outcome is unknown did not finish: a person has yet to settle it. */
export function eventOf(card: Pick<Card, 'status'>, moved: Moved): WebhookEvent {
  return moved === 'finished' && card.status === 'unknown' ? 'card.unknown' : `card.${moved}`
}

/** The card as people see it, with the address of its page. */
export function toldOf(card: Card, inboxUrl: string): object {
  const seen = Object.entries(card).filter(([name]) => MEMBERS.has(name))
  return { ...Object.fromEntries(seen), url: `${inboxUrl}/cards/${card.id}` }
}

/** Builds the outbox. It only writes rows; sender.ts sends them. */
export function createOutbox({ seal, inboxUrl }: OutboxParts): Outbox {
  return {
    async onMove(tx, card, moved) {
      // A card that was decided as it was made waits for nobody; its decision or its end is told.
      if (moved === 'created' && card.status !== 'pending') return
      const event = eventOf(card, moved)
      await put(tx, { event, brand: card.brand, card: card.id }, toldOf(card, inboxUrl))
    },
    tell: (tx, event) => put(tx, event, event.data),
    async tellBrands(tx, { event, data, card }, brands) {
      const listed = sql`select jsonb_array_elements_text(${JSON.stringify([brands, EVERY_BRAND].flat())}::text::jsonb)`
      const of = brands === '*' ? sql`true` : sql`brand in (${listed})`
      const row = { event, brand: null, card: card ?? null, data: JSON.stringify(data), sealed: null }
      await insert(tx, row, sql`${of} and ${asksFor(event)}`)
    },
    async tellSealed(tx, { event, brand, data, card }) {
      const sealed = await seal.seal(JSON.stringify(data))
      const wants = sql`brand = ${brand} and format = 'json' and ${asksFor(event)}`
      return insert(tx, { event, brand, card: card ?? null, data: null, sealed }, wants)
    },
  }
}

async function put(tx: Tx, { event, brand, card }: Omit<OutboxEvent, 'data'>, data: object): Promise<void> {
  const wants = sql`brand in (${brand}, ${EVERY_BRAND}) and ${asksFor(event)}`
  await insert(tx, { event, brand, card: card ?? null, data: JSON.stringify(data), sealed: null }, wants)
}

const asksFor = (event: string) => sql`events::jsonb @> to_jsonb(${event}::text)`

interface Row {
  readonly event: string
  /** Null: the webhook's own. */
  readonly brand: string | null
  readonly card: string | null
  readonly data: string | null
  readonly sealed: string | null
}

/** One statement: a row for each webhook that wants it, and a notice where there is one; says whether there is. */
async function insert(
  tx: Tx,
  { event, brand, card, data, sealed }: Row,
  wants: ReturnType<typeof sql>,
): Promise<boolean> {
  const told = await tx.execute(sql`
    with put as (
      insert into ${webhookDeliveries} (id, webhook, event, brand, card, data, sealed_data)
      select gen_random_uuid(), id, ${event}::text, coalesce(${brand}::text, brand), ${card}::uuid, ${data}::text, ${sealed}::text
      from ${webhooks} where paused_at is null and ${wants}
      returning id
    )
    select pg_notify(${CHANNEL}, '{"kind":"webhook"}') from put limit 1`)
  return rows(told).length > 0
}
