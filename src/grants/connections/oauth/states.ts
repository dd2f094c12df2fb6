/**
 * Consents that were begun: what a browser brings back is good once, for ten minutes, for one connection. Owner of the
 * table oauth_states; a row is found by the hash of the state alone, so a dump of the table opens nothing.
 * @module
 */
import { createHash } from 'node:crypto'
import type { Plan, Server } from '../../../connector/oauth/words.ts'
import type { Database } from '../../../db/connect.ts'
import { and, eq, sql } from '../../../db/drizzle.ts'
import { oauthStates } from '../../../db/schema.ts'
import type { Seal } from '../../../db/seal.ts'
import type { Where } from '../rows.ts'
import { openAt, sealFor } from './consents.ts'

export const STATE_SECONDS = 600
/** Most consents that wait at once for one connection; a further one ends the one that would end first. */
const MOST = 5

/** A consent on its way. */
export interface Begun extends Where {
  /** The connection's mark then. */
  readonly identity: string
  readonly by: string
  readonly plan: Plan & { readonly server: Server }
  readonly verifier: string
  readonly redirectUri: string
}

const keyOf = (state: string): string => createHash('sha256').update(state).digest('hex')

/** Keeps one. Answers until when it is good. */
export async function keepState(db: Database, seal: Seal, state: string, begun: Begun): Promise<Date> {
  const { brand, slug, identity, by, ...rest } = begun
  const sealed = await sealFor(seal, begun, rest)
  return db.transaction(async (tx) => {
    await tx.execute(sql`
      delete from oauth_states where expires_at < now() or state in (
        select state from oauth_states where brand = ${brand} and slug = ${slug}
        order by expires_at desc offset ${MOST - 1})`)
    const expiresAt = sql`now() + make_interval(secs => ${STATE_SECONDS})`
    const [row] = await tx
      .insert(oauthStates)
      .values({ state: keyOf(state), brand, slug, identity, sealed, begunBy: by, expiresAt })
      .returning()
    if (row === undefined) throw new Error('A row that was put in did not come back.')
    return row.expiresAt
  })
}

/** Takes one, once; undefined for a state that never was, was taken, or is too old. Throws Unsealable. */
export async function takeState(db: Database, seal: Seal, state: string): Promise<Begun | undefined> {
  const [row] = await db.orm
    .delete(oauthStates)
    .where(eq(oauthStates.state, keyOf(state)))
    .returning({
      brand: oauthStates.brand,
      slug: oauthStates.slug,
      identity: oauthStates.identity,
      sealed: oauthStates.sealed,
      by: oauthStates.begunBy,
      isGood: sql<boolean>`expires_at > now()`,
    })
  if (row === undefined || row.isGood !== true) return undefined
  const { brand, slug, identity, by } = row
  const rest = await openAt<Pick<Begun, 'plan' | 'verifier' | 'redirectUri'>>(seal, row, row.sealed)
  return { brand, slug, identity, by, ...rest }
}

/** Forgets what was begun for a connection. */
export async function dropStates(tx: Pick<Database['orm'], 'delete'>, { brand, slug }: Where): Promise<void> {
  await tx.delete(oauthStates).where(and(eq(oauthStates.brand, brand), eq(oauthStates.slug, slug)))
}
