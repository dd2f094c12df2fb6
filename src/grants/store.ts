/**
 * Profiles and goal grants as rows. Owner of the tables coworkers and goal_grants.
 * Each change names the version it was made from, and is on the record in the same transaction.
 * @module
 */
import { createHash } from 'node:crypto'
import type { Audit } from '../audit/audit.ts'
import type { Database, Tx } from '../db/connect.ts'
import { and, asc, eq, type SQL, sql } from '../db/drizzle.ts'
import { coworkers, goalGrants } from '../db/schema.ts'
import type { Grant } from '../policy/words.ts'
import type { Profile } from './profile.ts'

/** A profile as it stands. */
export interface StoredProfile extends Profile {
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A goal agent's grant as it stands. */
export interface StoredGrant {
  readonly brand: string
  readonly grant: Grant
  readonly version: number
  readonly updatedAt: Date
}

/** What came of a change: `conflict` where the version is not the one that stands (`undefined` for none). */
export type Saved<T> = { readonly ok: true; readonly now: T } | { readonly ok: false; readonly conflict: T | undefined }

/** What a change is made from, and by whom. Without a version it makes something new. */
export interface Change {
  readonly version: number | undefined
  readonly by: string
}

/** Saves a profile. */
export function saveProfile(audit: Audit, profile: Profile, { version, by }: Change): Promise<Saved<StoredProfile>> {
  const { brand, id, name, role, tools, grant, limits } = profile
  const values = { name, role, profile: JSON.stringify({ tools, grant, limits }) }
  return audit.transaction(async (tx, record) => {
    const written =
      version === undefined
        ? await tx
            .insert(coworkers)
            .values({ brand, id, ...values, version: NEXT })
            .onConflictDoNothing()
            .returning()
        : await tx
            .update(coworkers)
            .set({ ...values, version: NEXT, updatedAt: sql`now()` })
            .where(and(isProfile(brand, id), eq(coworkers.version, version)))
            .returning()
    if (written[0] === undefined) return { ok: false, conflict: await readProfile(tx, brand, id) }
    const now = toProfile(written[0])
    record({ ...about(now), by, reason: `${version === undefined ? 'created' : 'changed'}: ${inWords(now)}` })
    return { ok: true, now }
  })
}

/** Removes a profile, in the given version or in any. Its live sessions stay until they end or are revoked. */
export function removeProfile(
  audit: Audit,
  { brand, id }: Pick<Profile, 'brand' | 'id'>,
  { version, by }: Change,
): Promise<Saved<StoredProfile>> {
  return audit.transaction(async (tx, record) => {
    const wanted =
      version === undefined ? isProfile(brand, id) : and(isProfile(brand, id), eq(coworkers.version, version))
    const removed = await tx.delete(coworkers).where(wanted).returning()
    if (removed[0] === undefined) return { ok: false, conflict: await readProfile(tx, brand, id) }
    const now = toProfile(removed[0])
    record({ ...about(now), by, reason: 'removed' })
    return { ok: true, now }
  })
}

/** The profile of this id. */
export function findProfile(db: Database, brand: string, id: string): Promise<StoredProfile | undefined> {
  return readProfile(db.orm, brand, id)
}

/** By brand and id. `cursor` is the `brand/id` of the last one of the page before. */
export async function listProfiles(
  db: Database,
  {
    brand,
    limit,
    cursor,
  }: { readonly brand?: string | undefined; readonly limit: number; readonly cursor?: string | undefined },
): Promise<{ readonly items: readonly StoredProfile[]; readonly nextCursor: string | undefined }> {
  const wanted: SQL[] = []
  if (brand !== undefined) wanted.push(eq(coworkers.brand, brand))
  if (cursor !== undefined) {
    const [, after = '', id = ''] = /^([^/]*)\/(.*)$/.exec(cursor) ?? []
    wanted.push(sql`(${coworkers.brand}, ${coworkers.id}) > (${after}, ${id})`)
  }
  const found = await db.orm
    .select()
    .from(coworkers)
    .where(and(...wanted))
    .orderBy(asc(coworkers.brand), asc(coworkers.id))
    .limit(limit + 1)
  const items = found.slice(0, limit).map(toProfile)
  const last = items.at(-1)
  return { items, nextCursor: found.length > limit && last !== undefined ? `${last.brand}/${last.id}` : undefined }
}

/** Saves what a brand's goal agent is granted. */
export function saveGoalGrant(
  audit: Audit,
  brand: string,
  grant: Grant,
  { version, by }: Change,
): Promise<Saved<StoredGrant>> {
  const granted = JSON.stringify(grant)
  return audit.transaction(async (tx, record) => {
    const written =
      version === undefined
        ? await tx.insert(goalGrants).values({ brand, granted, version: NEXT }).onConflictDoNothing().returning()
        : await tx
            .update(goalGrants)
            .set({ granted, version: NEXT, updatedAt: sql`now()` })
            .where(and(eq(goalGrants.brand, brand), eq(goalGrants.version, version)))
            .returning()
    if (written[0] === undefined) return { ok: false, conflict: await readGoalGrant(tx, brand) }
    const now = toGrant(written[0])
    const reason = `goal agent: ${grantInWords(grant)}`
    record({ kind: 'grant.changed', brand, subject: 'goal-agent', role: 'goal-agent', by, reason, ...mark(granted) })
    return { ok: true, now }
  })
}

/** What a brand's goal agent is granted; undefined when nobody ever said. */
export function findGoalGrant(db: Database, brand: string): Promise<StoredGrant | undefined> {
  return readGoalGrant(db.orm, brand)
}

const NEXT = sql<number>`nextval('grant_versions')`

const isProfile = (brand: string, id: string) => and(eq(coworkers.brand, brand), eq(coworkers.id, id))

async function readProfile(tx: Tx, brand: string, id: string): Promise<StoredProfile | undefined> {
  const found = await tx.select().from(coworkers).where(isProfile(brand, id))
  return found[0] && toProfile(found[0])
}

async function readGoalGrant(tx: Tx, brand: string): Promise<StoredGrant | undefined> {
  const found = await tx.select().from(goalGrants).where(eq(goalGrants.brand, brand))
  return found[0] && toGrant(found[0])
}

/** The JSON columns hold what `saveProfile` and `saveGoalGrant` wrote, so their types are known. */
function toProfile({ profile, ...row }: typeof coworkers.$inferSelect): StoredProfile {
  return { ...row, ...(JSON.parse(profile) as Pick<Profile, 'tools' | 'grant' | 'limits'>) }
}

function toGrant({ granted, ...row }: typeof goalGrants.$inferSelect): StoredGrant {
  return { ...row, grant: JSON.parse(granted) as Grant }
}

function about(profile: StoredProfile) {
  const { brand, id, role, tools, grant, limits } = profile
  return { kind: 'grant.changed', brand, subject: id, role, ...mark(JSON.stringify({ tools, grant, limits })) } as const
}

/** A mark of what was saved, so that the record shows whether two versions are alike. */
const mark = (text: string) => ({ fingerprint: createHash('sha256').update(text).digest('hex') })

const inWords = ({ version, tools, grant }: StoredProfile) =>
  `version ${version}; ${tools.length} tools; ${grantInWords(grant)}`

function grantInWords({ connectors, skills, allowance }: Grant): string {
  const list = (words: readonly string[]) => words.join(', ') || 'none'
  return `connectors ${list(connectors)}; skills ${list(skills)}; allowance ${JSON.stringify(allowance)}`
}
