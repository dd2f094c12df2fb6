/**
 * The per-run figures of a session: how much it may use, how much of that it handed on to its children, and what it
 * used once that is known. Owner of the table session_figures.
 * @module
 */
import type { Database, Tx } from '../db/connect.ts'
import { rows } from '../db/connect.ts'
import { and, eq, sql } from '../db/drizzle.ts'
import { sessionFigures } from '../db/schema.ts'
import type { Session } from '../policy/words.ts'

/** The figure of a run's own dollars; the others are called as `figureName` says. */
export const RUN_USD = 'runUsd'

/** Amounts by figure: `runUsd`, `firecrawl.perRunCredits`, … */
export type Figures = Readonly<Record<string, number>>

/** What an allowance's per-run figure is called. */
export const figureName = (connector: string, figure: string): string => `${connector}.${figure}`

/** Every per-run figure that a session states. */
export function figuresOf({ grant, limits }: Pick<Session, 'grant' | 'limits'>): Figures {
  const figures: Record<string, number> = {}
  if (limits.runUsd !== undefined) figures[RUN_USD] = limits.runUsd
  for (const [connector, allowance] of Object.entries(grant.allowance)) {
    for (const [figure, most] of Object.entries(allowance)) {
      if (figure.startsWith('perRun')) figures[figureName(connector, figure)] = most
    }
  }
  return figures
}

/** Writes the figures of a session down; those that are known stay as they are. */
export async function keepFigures(tx: Tx, session: Pick<Session, 'id' | 'grant' | 'limits'>): Promise<void> {
  const kept = Object.entries(figuresOf(session)).map(([figure, most]) => ({
    sessionId: session.id,
    figure,
    most: String(most),
  }))
  if (kept.length > 0) await tx.insert(sessionFigures).values(kept).onConflictDoNothing()
}

/** What a session has left to hand on, by figure. */
export async function remainingOf(db: Database, session: Pick<Session, 'id' | 'grant' | 'limits'>): Promise<Figures> {
  const found = await db.orm
    .select({ figure: sessionFigures.figure, left: left })
    .from(sessionFigures)
    .where(eq(sessionFigures.sessionId, session.id))
  const known = Object.fromEntries(found.map(({ figure, left }) => [figure, Math.max(0, Number(left))]))
  return { ...figuresOf(session), ...known }
}

/** Takes figures out of what a session has left: all of them and true, or false, and the transaction must not commit. */
export async function carve(tx: Tx, from: string, figures: Figures): Promise<boolean> {
  for (const [figure, amount] of Object.entries(figures)) {
    const taken = await tx
      .update(sessionFigures)
      .set({ carved: sql`${sessionFigures.carved} + ${String(amount)}::numeric` })
      .where(
        and(
          eq(sessionFigures.sessionId, from),
          eq(sessionFigures.figure, figure),
          sql`${left} >= ${String(amount)}::numeric`,
        ),
      )
      .returning({ figure: sessionFigures.figure })
    if (taken.length === 0) return false
  }
  return true
}

/** Notes what a run cost, and gives the parent back what its child did not use. */
export async function settleUsd(tx: Tx, session: { id: string; parent: string | null }, usd: string): Promise<void> {
  const settled = await tx
    .update(sessionFigures)
    .set({ spent: sql`${usd}::numeric` })
    .where(and(eq(sessionFigures.sessionId, session.id), eq(sessionFigures.figure, RUN_USD)))
    .returning({ back: sql<string>`greatest(0, ${left})::text` })
  if (session.parent === null || settled[0] === undefined) return
  await tx
    .update(sessionFigures)
    .set({ carved: sql`greatest(0, ${sessionFigures.carved} - ${settled[0].back}::numeric)` })
    .where(and(eq(sessionFigures.sessionId, session.parent), eq(sessionFigures.figure, RUN_USD)))
}

/** Gives a parent back what its child, which is over, left free of the figures that its calls are billed to. */
export async function giveBack(tx: Tx, { id, parent }: { id: string; parent: string | null }): Promise<void> {
  if (parent === null) return
  await tx.execute(sql`
    with free as (
      select figure, ${left} as back from session_figures
      where session_id = ${id} and figure <> ${RUN_USD} and ${left} > 0 for update
    ), child as (
      update session_figures set returned = returned + free.back from free
      where session_id = ${id} and session_figures.figure = free.figure
    )
    update session_figures set carved = greatest(0, carved - free.back) from free
    where session_id = ${parent} and session_figures.figure = free.figure`)
}

/** What was used today of one figure, as a decimal, and whether `more` still keeps within `most`. */
export interface DayUse {
  readonly used: string
  readonly fits: boolean
}

/**
 * The day's use of a figure over the runs of one profile, or of one role where there is no profile (seed 001,
 * "Allowance"): a live run counts whole, one that ended today at what it and its children used, or whole if unknown.
 * The day is UTC's.
 */
export async function dayUse(
  tx: Tx,
  whose: { readonly brand: string; readonly role: string; readonly coworker: string | undefined },
  { figure, more, most }: { readonly figure: string; readonly more: number; readonly most: number },
): Promise<DayUse> {
  const found = rows<DayUse>(
    await tx.execute(sql`
      with runs as (
        select id, least(revoked_at, ended_at, expires_at) as over from sessions
        where brand = ${whose.brand} and expires_at >= ${TODAY} and parent is null and ${sameRuns(whose)}
      ), day as (
        select coalesce(sum(case when over > now() or (spent is null and reserved = 0) then greatest(most, ${USED})
          else ${USED} end), 0) as used
        from runs join session_figures on session_id = id
        where over >= ${TODAY} and figure = ${figure}
      )
      select used::text as used, used + ${String(more)}::numeric <= ${String(most)}::numeric as fits from day`),
  )
  return found[0] ?? { used: 'unknown', fits: false }
}

/** Which sessions are runs of the same: of the profile, or of the role where there is none. */
export const sameRuns = ({ role, coworker }: { readonly role: string; readonly coworker: string | undefined }) =>
  coworker === undefined ? sql`coworker is null and role = ${role}` : sql`coworker = ${coworker}`

const TODAY = sql`(date_trunc('day', now() at time zone 'utc') at time zone 'utc')`

/** Booked, reserved and handed on. */
const USED = sql`coalesce(session_figures.spent, 0) + session_figures.reserved + session_figures.carved`

/** What of a figure is free. */
export const left = sql<string>`(session_figures.most - session_figures.returned - (${USED}))`
