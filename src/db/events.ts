/**
 * What replicas tell each other through the database: ids and words only, never content. A notification is a hint to
 * read again; whoever missed one is told `listening` and reads what it missed.
 * @module
 */
import { sql } from './drizzle.ts'
import type { Tx } from './orm.ts'

export type DbEvent =
  /** A session was revoked or ended. */
  | { readonly kind: 'session'; readonly id: string }
  /** A card has a new status. */
  | { readonly kind: 'card'; readonly id: string; readonly status: string }
  /** The signing keys changed. */
  | { readonly kind: 'keys' }
  /** A connection was made, changed, shared or removed. */
  | { readonly kind: 'connection' }
  /** What is accepted or seen of an upstream's tools changed. */
  | { readonly kind: 'pins' }
  /** A routine or a tool of it changed. */
  | { readonly kind: 'routines' }
  /** Something is to be sent to a webhook. */
  | { readonly kind: 'webhook' }
  /** This process hears again, after a gap it must make up for by reading. Never sent between processes. */
  | { readonly kind: 'listening' }

/** The channel of LISTEN and NOTIFY. */
export const CHANNEL = 'tollgate'

/** Tells all replicas when, and only if, the transaction commits. */
export async function tell(tx: Tx, event: Exclude<DbEvent, { kind: 'listening' }>): Promise<void> {
  await tx.execute(sql`select pg_notify(${CHANNEL}, ${JSON.stringify(event)})`)
}

/** Reads a notification; undefined for anything this program does not know, such as a newer replica's. */
export function readEvent(payload: string): DbEvent | undefined {
  let event: Record<string, unknown>
  try {
    event = JSON.parse(payload) ?? {}
  } catch {
    return undefined
  }
  const { kind, id, status } = event
  if (kind === 'keys' || kind === 'webhook' || kind === 'connection' || kind === 'pins' || kind === 'routines') {
    return { kind }
  }
  if (kind === 'session' && typeof id === 'string') return { kind, id }
  if (kind === 'card' && typeof id === 'string' && typeof status === 'string') return { kind, id, status }
  return undefined
}

/** One listener among those of a database. */
export interface Ear {
  tell(event: DbEvent): void
  remove(): void
}

/** Listeners of one database: told in order, and one that throws does not keep the others from hearing. */
export function createEars(complain: (error: unknown) => void) {
  const ears = new Set<Ear>()
  return {
    add(heard: (event: DbEvent) => void): Ear {
      const ear: Ear = {
        tell(event) {
          try {
            heard(event)
          } catch (error) {
            complain(error)
          }
        },
        remove: () => ears.delete(ear),
      }
      ears.add(ear)
      return ear
    },
    size: () => ears.size,
    clear: () => ears.clear(),
    tellAll(event: DbEvent): void {
      for (const ear of [...ears]) ear.tell(event)
    },
  }
}
export type Ears = ReturnType<typeof createEars>
