/**
 * Pins read back: for people with their texts, and for the guard without.
 * @module
 */
import { type Database, rows } from '../../db/connect.ts'
import { and, eq, or, sql } from '../../db/drizzle.ts'
import { pinSets, toolPins } from '../../db/schema.ts'
import type { Pin } from '../../policy/pins.ts'
import { ofSet, type PinSet, STORED, type StoredPin } from './rows.ts'

/** All pins of a set with their texts, sorted by tool; undefined before its first discovery. */
export async function readSet(
  db: Database,
  set: PinSet,
): Promise<{ readonly pinnedAt: Date; readonly pins: readonly StoredPin[] } | undefined> {
  const one = and(eq(pinSets.scope, set.scope), eq(pinSets.connector, set.connector))
  const [found] = await db.orm.select({ pinnedAt: pinSets.pinnedAt }).from(pinSets).where(one)
  if (found === undefined) return undefined
  const pins = await db.orm.select(STORED).from(toolPins).where(ofSet(set)).orderBy(toolPins.tool)
  return { pinnedAt: found.pinnedAt, pins }
}

/** Sets with their versions: all, or those that changed in the last seconds. */
export async function readVersions(
  db: Database,
  seconds: number | undefined,
): Promise<(PinSet & { readonly version: number })[]> {
  const { scope, connector, version } = pinSets
  const since =
    seconds === undefined ? undefined : sql`${pinSets.changedAt} > now() - make_interval(secs => ${seconds})`
  return db.orm.select({ scope, connector, version }).from(pinSets).where(since)
}

/** What the guard needs of some sets. The database itself says whether each kept definition is what its digest says. */
export async function readPins(db: Database, sets: readonly PinSet[]): Promise<(PinSet & Pin & { tool: string })[]> {
  if (sets.length === 0) return []
  const found = rows<
    PinSet & { tool: string; digest: string | null; body: string | null; intact: boolean; seen: string | null }
  >(
    await db.orm.execute(sql`
      select scope, connector, tool, digest, body, seen_digest as seen, case
        when digest is null then definition is null
        else coalesce(encode(sha256(convert_to(definition, 'UTF8')), 'hex') = digest, false) end as intact
      from ${toolPins} where ${or(...sets.map(ofSet))}`),
  )
  return found.map(({ digest, body, seen, ...rest }) => {
    return { ...rest, digest: digest ?? undefined, body: body ?? undefined, seen: seen ?? undefined }
  })
}
