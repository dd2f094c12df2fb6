/**
 * Cards, webhooks and the sender over a fresh database, and a receiver.
 * @module
 */
import { randomUUID } from 'node:crypto'
import type { Cards } from '../../../src/approvals/cards.ts'
import { createTelling, type Telling, type TellingParts } from '../../../src/approvals/webhooks/telling.ts'
import type { Shown, Wanted } from '../../../src/approvals/webhooks/webhooks.ts'
import { CARD_EVENTS, type Delivery } from '../../../src/approvals/webhooks/words.ts'
import { createAudit } from '../../../src/audit/audit.ts'
import { type Database, rows } from '../../../src/db/connect.ts'
import { sql } from '../../../src/db/drizzle.ts'
import { createSeal } from '../../../src/db/seal.ts'
import { freshDatabase, quiet } from '../../support/database.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { call } from '../calls.ts'
import { roomOn } from '../world.ts'

export const INBOX = 'https://gateway.example/inbox'
export const seal = createSeal('a secret of at least thirty-two characters')

export interface World extends Telling {
  readonly db: Database
  readonly cards: Cards
  readonly receiver: Receiver
  /** The same cards with another time to wait for a person. */
  waitingFor(timeoutMs: number): Cards
  /** Registers a webhook to the receiver. */
  hook(more?: Partial<Wanted>): Promise<Shown>
  /** Parks a call; the id of its card. */
  park(more?: Parameters<typeof call>[0]): Promise<string>
  /** Every delivery of a webhook, newest first. */
  deliveries(id: string): Promise<readonly Delivery[]>
  /** Lets the time of every pause go by. */
  later(): Promise<void>
  count(from: string): Promise<number>
}

/** The parts of `createTelling` over a database. */
export function partsOn(db: Database, more: Partial<TellingParts> = {}): TellingParts {
  return {
    db,
    audit: createAudit({ db, log: quiet }),
    seal,
    log: quiet,
    rules: { allowPrivate: true, hosts: [] },
    inboxUrl: INBOX,
    userAgent: 'tollgate/test',
    newId: randomUUID,
    pollMs: 50,
    ...more,
  }
}

/** A world; close it when done. */
export async function createWorld(more: Partial<TellingParts> = {}): Promise<World> {
  const database = await freshDatabase()
  const receiver = await startReceiver()
  const parts = partsOn(database.db, more)
  const telling = createTelling(parts)
  const room = roomOn(database.db, { onMove: telling.outbox.onMove }, database.close)
  return {
    ...telling,
    db: database.db,
    cards: room.cards,
    receiver,
    waitingFor: (timeoutMs) => room.also({ timeoutMs, onMove: telling.outbox.onMove }),
    async hook(wanted = {}) {
      const standard = { url: `${receiver.url}/hook`, brand: 'acme', events: CARD_EVENTS, format: 'json' } as const
      const added = await telling.webhooks.add({ ...standard, ...wanted }, 'operator')
      if (!added.ok) throw new Error(added.detail)
      return added
    },
    async park(asked) {
      const parked = await room.cards.park(call(asked))
      if (!parked.ok) throw new Error(parked.problem)
      return parked.card.id
    },
    deliveries: async (id) => (await telling.webhooks.deliveries(id, { limit: 200 }))?.items ?? [],
    async later() {
      await database.db.orm.execute(
        sql`update webhook_deliveries set due_at = now() where status = 'waiting' and tried_at < now()`,
      )
    },
    async count(from) {
      return rows(await database.db.orm.execute(sql`select 1 ${sql.raw(from)}`)).length
    },
    async close() {
      await telling.close()
      await parts.audit.close()
      await room.close()
      await receiver.close()
    },
  }
}
