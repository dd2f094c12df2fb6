/**
 * Routines as rows. Owner of the tables routines, routine_tools and routine_changes. Whoever changes one gives it its next
 * version in the same statement that looks at the one it was made from, and tells every replica.
 * @module
 */
import { type Database, rows, type Tx } from '../../db/connect.ts'
import { and, asc, desc, eq, gt, type SQL, sql } from '../../db/drizzle.ts'
import { tell } from '../../db/events.ts'
import { routineChanges, routines, routineTools } from '../../db/schema.ts'
import type { RoutinePolicy, ToolState } from '../../policy/routines.ts'
import type { Channel } from '../../policy/words.ts'

export type Allowance = Readonly<Record<string, Readonly<Record<string, number>>>>

/** What a person writes of a routine. */
export interface RoutineDraft {
  readonly name: string
  readonly description: string
  /** How its unattended sessions reach a person. */
  readonly channel: Channel
  /** Slugs of the connections it uses. */
  readonly connections: readonly string[]
  /** What one of its runs may spend, per connection. */
  readonly allowance: Allowance
}

/** A tool of a routine that a person, or a change of its definition, said something of. */
export interface StoredTool {
  readonly tool: string
  readonly connector: string
  readonly state: ToolState
  readonly digest: string
  readonly since: number
  readonly setBy: string
  readonly setAt: Date
  readonly cleared: string | null
}

/** A routine as it stands. */
export interface Routine extends RoutineDraft {
  readonly id: string
  readonly brand: string
  readonly state: 'draft' | 'ready'
  readonly stateBecause: string | null
  readonly version: number
  readonly createdAt: Date
  readonly changedAt: Date
}

/** One step of a routine's life. */
export interface RoutineChange {
  readonly version: number
  readonly at: Date
  readonly by: string
  readonly what: string
}

const NEXT = sql<number>`nextval('routine_versions')`
const CHANGED = { version: NEXT, changedAt: sql`clock_timestamp()` }

type Row = typeof routines.$inferSelect

const toRoutine = ({ connections, allowance, ...row }: Row): Routine => ({
  ...row,
  connections: JSON.parse(connections) as string[],
  allowance: JSON.parse(allowance) as Allowance,
})

const columnsOf = ({ name, description, channel, connections, allowance }: RoutineDraft) => ({
  name,
  description,
  channel,
  connections: JSON.stringify(connections),
  allowance: JSON.stringify(allowance),
})

/** A new draft; undefined where the brand has a routine of this name. */
export async function insertRoutine(tx: Tx, id: string, brand: string, draft: RoutineDraft, by: string) {
  const made = await tx
    .insert(routines)
    .values({ id, brand, ...columnsOf(draft), version: NEXT })
    .onConflictDoNothing()
    .returning()
  return made[0] && noted(tx, toRoutine(made[0]), by, 'created')
}

/** Changes a routine in this version and in no other; undefined where it has another one, or is gone. */
export async function updateRoutine(
  tx: Tx,
  { id, version }: { readonly id: string; readonly version: number | undefined },
  set: Partial<ReturnType<typeof columnsOf>> & {
    readonly state?: 'draft' | 'ready'
    readonly stateBecause?: string | null
  },
  by: string,
  what: string,
): Promise<Routine | undefined> {
  const one = version === undefined ? eq(routines.id, id) : and(eq(routines.id, id), eq(routines.version, version))
  const changed = await tx
    .update(routines)
    .set({ ...set, ...CHANGED })
    .where(one)
    .returning()
  return changed[0] && noted(tx, toRoutine(changed[0]), by, what)
}

export const draftColumns = columnsOf

/** Removes a routine with its tools; its traces stay. */
export async function deleteRoutine(tx: Tx, id: string, version: number | undefined): Promise<Routine | undefined> {
  const one = version === undefined ? eq(routines.id, id) : and(eq(routines.id, id), eq(routines.version, version))
  const gone = await tx.delete(routines).where(one).returning()
  if (gone[0] !== undefined) await tell(tx, { kind: 'routines' })
  return gone[0] && toRoutine(gone[0])
}

async function noted(tx: Tx, routine: Routine, by: string, what: string): Promise<Routine> {
  await tx
    .insert(routineChanges)
    .values({ routine: routine.id, version: routine.version, by, what: what.slice(0, 1000) })
  await tell(tx, { kind: 'routines' })
  return routine
}

/** Says how a tool of a routine stands from this version on. */
export async function putTool(
  tx: Tx,
  routine: Routine,
  tool: Omit<StoredTool, 'since' | 'setAt' | 'cleared'>,
): Promise<void> {
  const set = { ...tool, since: routine.version, setAt: sql`clock_timestamp()`, cleared: null }
  await tx
    .insert(routineTools)
    .values({ routine: routine.id, ...set })
    .onConflictDoUpdate({ target: [routineTools.routine, routineTools.tool], set })
}

/** Forgets the tools of connections that a routine does not use any more. */
export async function dropTools(tx: Tx, { id, connections }: Routine): Promise<void> {
  const stays = connections.length === 0 ? undefined : sql`${routineTools.connector} not in ${[...connections]}`
  await tx.delete(routineTools).where(and(eq(routineTools.routine, id), stays))
}

/** A routine that nobody else changes until the transaction ends. */
export async function lockRoutine(tx: Tx, id: string): Promise<Routine | undefined> {
  const found = await tx.select().from(routines).where(eq(routines.id, id)).for('update')
  return found[0] && toRoutine(found[0])
}

export async function readRoutine(tx: Tx, id: string): Promise<Routine | undefined> {
  const found = await tx.select().from(routines).where(eq(routines.id, id))
  return found[0] && toRoutine(found[0])
}

/** What a routine's tools stand at, as far as anybody said something of them. */
export async function readTools(tx: Tx, id: string): Promise<readonly StoredTool[]> {
  const found = await tx.select().from(routineTools).where(eq(routineTools.routine, id)).orderBy(asc(routineTools.tool))
  return found.map(({ routine: _, ...tool }) => tool)
}

/** What happened after a version, oldest first; the last fifty. */
export async function readChanges(tx: Tx, id: string, after: number): Promise<readonly RoutineChange[]> {
  const since = and(eq(routineChanges.routine, id), gt(routineChanges.version, after))
  const found = await tx.select().from(routineChanges).where(since).orderBy(desc(routineChanges.version)).limit(50)
  return found.reverse().map(({ routine: _, ...change }) => change)
}

/** By brand and name. `cursor` is the id of the last one of the page before. */
export async function listRoutines(
  db: Database,
  {
    brand,
    limit,
    cursor,
  }: { readonly brand?: string | undefined; readonly limit: number; readonly cursor?: string | undefined },
): Promise<{ readonly items: readonly Routine[]; readonly nextCursor: string | undefined }> {
  const wanted: SQL[] = []
  if (brand !== undefined) wanted.push(eq(routines.brand, brand))
  if (cursor !== undefined) {
    wanted.push(sql`(${routines.brand}, ${routines.name}) > (select brand, name from routines where id = ${cursor})`)
  }
  const found = await db.orm
    .select()
    .from(routines)
    .where(and(...wanted))
    .orderBy(asc(routines.brand), asc(routines.name))
    .limit(limit + 1)
  const items = found.slice(0, limit).map(toRoutine)
  return { items, nextCursor: found.length > limit ? items.at(-1)?.id : undefined }
}

/** Every routine as policies, or those that changed in the last seconds. One statement, so a routine and its tools agree. */
export async function readPolicies(db: Database, seconds: number | undefined): Promise<RoutinePolicy[]> {
  const since = seconds === undefined ? sql`` : sql`where r.changed_at > now() - make_interval(secs => ${seconds})`
  type Read = Omit<RoutinePolicy, 'connections' | 'tools'> & {
    readonly connections: string
    readonly tools: string | null
  }
  const found = rows<Read>(
    await db.orm.execute(sql`
      select r.id, r.brand, r.name, r.version::float8 as version, r.state, r.connections, (
        select json_agg(json_build_array(t.tool, t.state, t.digest, t.since))::text
        from routine_tools t where t.routine = r.id and t.state <> 'disabled') as tools
      from routines r ${since}`),
  )
  return found.map(({ connections, tools, ...routine }) => ({
    ...routine,
    connections: JSON.parse(connections) as string[],
    tools: new Map(
      (JSON.parse(tools ?? '[]') as [string, 'enabled' | 'automatic', string, number][]).map(
        ([tool, state, digest, at]) => [tool, { state, digest, since: at }],
      ),
    ),
  }))
}

/** Which routines there are. */
export async function readIds(db: Database): Promise<ReadonlySet<string>> {
  return new Set((await db.orm.select({ id: routines.id }).from(routines)).map(({ id }) => id))
}
