/**
 * Grants that go by themselves: what a person let in is not there any more, or was discovered anew (seed 002).
 * @module
 */
import type { Tx } from '../../db/connect.ts'
import { and, asc, eq, inArray, ne, type SQL } from '../../db/drizzle.ts'
import { routines, routineTools } from '../../db/schema.ts'
import { type Routine, updateRoutine } from './rows.ts'

/** Which grants go: of some tools of a connector, or of all of them. */
export interface Gone {
  readonly connector: string
  /** Undefined: of every brand. */
  readonly brand: string | undefined
  /** Canonical names; undefined: every tool. */
  readonly tools: readonly string[] | undefined
  readonly because: string
}

/**
 * Takes the tools from every routine that holds them and returns those routines to draft. Routines are locked in the order
 * of their ids, each by its own next version, so that a person who changes one at the same time comes before or after.
 */
export async function clearTools(
  tx: Tx,
  { connector, brand, tools, because }: Gone,
  by: string,
): Promise<(Routine & { readonly cleared: readonly string[] })[]> {
  const one: (SQL | undefined)[] = [eq(routineTools.connector, connector), ne(routineTools.state, 'disabled')]
  if (tools !== undefined) one.push(inArray(routineTools.tool, [...tools]))
  if (brand !== undefined) one.push(eq(routines.brand, brand))
  const holders = await tx
    .selectDistinct({ id: routineTools.routine })
    .from(routineTools)
    .innerJoin(routines, eq(routines.id, routineTools.routine))
    .where(and(...one))
    .orderBy(asc(routineTools.routine))
  const sent: (Routine & { readonly cleared: readonly string[] })[] = []
  for (const { id } of holders) {
    await tx.select({ id: routines.id }).from(routines).where(eq(routines.id, id)).for('update')
    const own = [
      eq(routineTools.routine, id),
      eq(routineTools.connector, connector),
      ne(routineTools.state, 'disabled'),
    ]
    if (tools !== undefined) own.push(inArray(routineTools.tool, [...tools]))
    const gone = await tx
      .update(routineTools)
      .set({ state: 'disabled', cleared: because })
      .where(and(...own))
      .returning({ tool: routineTools.tool })
    if (gone.length === 0) continue
    const names = gone.map(({ tool }) => tool).sort()
    const what = `${because}: ${names.join(', ')}`
    const draft = { state: 'draft', stateBecause: what.slice(0, 1000) } as const
    const routine = await updateRoutine(tx, { id, version: undefined }, draft, by, what)
    if (routine !== undefined) sent.push({ ...routine, cleared: names })
  }
  return sent
}
