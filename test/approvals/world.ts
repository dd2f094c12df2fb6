/**
 * What a test of the cards needs: a database and the room on it.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { type Cards, type CardsParts, createCards } from '../../src/approvals/cards.ts'
import { type Audit, createAudit } from '../../src/audit/audit.ts'
import type { Database } from '../../src/db/connect.ts'
import { createSeal } from '../../src/db/seal.ts'
import { freshDatabase, quiet } from '../support/database.ts'

const SECRET = 'a secret of at least thirty-two characters'

export interface Room {
  readonly db: Database
  readonly audit: Audit
  readonly cards: Cards
  /** The same room again over the same database, with other times; what is not said is as in `cards`. */
  also(parts: Partial<CardsParts>): Cards
  close(): Promise<void>
}

/** The room over an open database. */
export function roomOn(db: Database, parts: Partial<CardsParts>, closed: () => Promise<void>): Room {
  const audit = createAudit({ db, log: quiet })
  const seal = createSeal(SECRET)
  const opened: Cards[] = []
  const also = (other: Partial<CardsParts>): Cards => {
    const cards = createCards({
      db,
      audit,
      seal,
      timeoutMs: 60_000,
      leaseMs: 60_000,
      log: quiet,
      newId: randomUUID,
      ...parts,
      ...other,
    })
    opened.push(cards)
    return cards
  }
  return {
    db,
    audit,
    cards: also(parts),
    also,
    async close() {
      for (const cards of opened) await cards.close()
      await audit.close()
      await closed()
    },
  }
}

/** A room over a fresh database of its own. */
export async function freshRoom(parts: Partial<CardsParts> = {}): Promise<Room> {
  const database = await freshDatabase()
  return roomOn(database.db, parts, database.close)
}

/** Waits until `done` says so, or throws after `mostMs`. */
export async function until(done: () => Promise<boolean> | boolean, mostMs = 5_000): Promise<void> {
  const end = performance.now() + mostMs
  while (!(await done())) {
    if (performance.now() > end) throw new Error(`It did not happen within ${mostMs} ms.`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
