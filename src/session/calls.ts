/**
 * How many calls a session may still make, over all replicas. A replica takes blocks of calls from the session's record
 * and counts them down in memory: the figure is never passed, and a replica that ends loses at most the rest of a block.
 * @module
 */
import type { Database } from '../db/connect.ts'
import { and, eq, lt, sql } from '../db/drizzle.ts'
import { sessions } from '../db/schema.ts'

/** Into how many blocks a session's calls are divided at most. */
const BLOCKS = 50

/** Sessions whose counts are kept; of one that is pushed out, the rest of its block is lost. */
const KEPT = 10_000

export interface CallCounts {
  /**
   * Takes one call of a session: whether there was one left. At once while a block lasts.
   * Rejects when the database cannot be asked; then nothing may be let through.
   */
  take(sessionId: string): boolean | Promise<boolean>
  /** Forgets a session that is dead. */
  forget(sessionId: string): void
}

interface Block {
  left: number
  /** No further block is to be had. */
  last: boolean
  asking: Promise<void> | undefined
}

/** Counts up to `most` calls for each session. */
export function createCallCounts(db: Database, most: number): CallCounts {
  const size = Math.max(1, Math.ceil(most / BLOCKS))
  const blocks = Math.ceil(most / size)
  const kept = new Map<string, Block>()

  return {
    take(id) {
      const block = kept.get(id)
      if (block !== undefined && block.left > 0) return spend(block)
      return block?.last === true ? false : takeLater(id)
    },
    forget: (id) => void kept.delete(id),
  }

  async function takeLater(id: string): Promise<boolean> {
    const block = kept.get(id) ?? { left: 0, last: false, asking: undefined }
    if (!kept.has(id) && kept.size >= KEPT) kept.delete(kept.keys().next().value as string)
    kept.set(id, block)
    // Those who asked for the same block may have used it up by the time one of them comes to it.
    while (block.left === 0 && !block.last) {
      block.asking ??= refill(id, block).finally(() => {
        block.asking = undefined
      })
      await block.asking
    }
    return spend(block)
  }

  async function refill(id: string, block: Block): Promise<void> {
    const taken = await db.orm
      .update(sessions)
      .set({ callBlocks: sql`${sessions.callBlocks} + 1` })
      .where(and(eq(sessions.id, id), lt(sessions.callBlocks, blocks)))
      .returning({ number: sessions.callBlocks })
    const number = taken[0]?.number
    block.last = number === undefined || number >= blocks
    if (number !== undefined) block.left = number < blocks ? size : most - size * (blocks - 1)
  }
}

function spend(block: Block): boolean {
  if (!(block.left > 0)) return false
  block.left--
  return true
}
