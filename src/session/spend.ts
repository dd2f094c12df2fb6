/**
 * The moves of the spend ledger: an amount is reserved before a call leaves, then settled at what it came to or released.
 * Each move is a guarded update, so that of any number at once none passes what is left and none is booked twice.
 * Writes the tables spend and, for what is reserved and spent, session_figures.
 * @module
 */
import { rows, type Tx } from '../db/connect.ts'
import { and, eq, sql } from '../db/drizzle.ts'
import { sessionFigures, spend } from '../db/schema.ts'
import { figureName, left } from './figures.ts'

/** What a call is about to cost, and whose. `id` is a UUID: of the card, or of the attempt where nobody was asked. */
export interface ToReserve {
  readonly id: string
  readonly card: boolean
  readonly attempt?: string | undefined
  readonly brand: string
  readonly sessionId: string
  readonly role: string
  readonly tool: string
  readonly connector: string
  readonly unit: string
  /** A decimal: the most the call comes to. */
  readonly amount: string
  /** How long the outcome may stay open before it counts as unknown, where no card has a lease; in milliseconds. */
  readonly leaseMs?: number | undefined
}

/** What became of an amount. */
export interface Booked {
  readonly unit: string
  readonly reserved: string
  /** Null where nothing is booked. */
  readonly settled: string | null
  /** What the session's figure has left; null without one. */
  readonly left: string | null
}

const FIGURES: Readonly<Record<string, string>> = { credits: 'perRunCredits', usd: 'perRunUsd' }

/** The per-run figure that a connector's bills in a unit are taken from; undefined for a unit that no allowance can state. */
export function runFigure(connector: string, unit: string): string | undefined {
  const figure = Object.hasOwn(FIGURES, unit) ? FIGURES[unit] : undefined
  return figure === undefined ? undefined : figureName(connector, figure)
}

/**
 * Reserves the amount of a call. `limited`: an allowance limits the session, so that it must be covered by what is left of
 * its figure; false, and nothing is reserved, where it is not, or where no figure is in this unit.
 */
export async function reserve(tx: Tx, wanted: ToReserve, limited: boolean): Promise<boolean> {
  const figure = limited ? runFigure(wanted.connector, wanted.unit) : undefined
  if (limited) {
    if (figure === undefined) return false
    const taken = await tx
      .update(sessionFigures)
      .set({ reserved: sql`${sessionFigures.reserved} + ${wanted.amount}::numeric` })
      .where(and(isFigure(wanted.sessionId, figure), sql`${left} >= ${wanted.amount}::numeric`))
      .returning({ figure: sessionFigures.figure })
    if (taken.length !== 1) return false
  }
  await tx.insert(spend).values(rowOf(wanted, figure))
  return true
}

/**
 * Reserves what a person said yes to, unless it is reserved already: where the session's figure does not cover it, the
 * figure is raised by what lacks. Call it in the transaction that holds the card.
 */
export async function reserveApproved(tx: Tx, wanted: ToReserve): Promise<void> {
  const known = await tx.select({ id: spend.id }).from(spend).where(eq(spend.id, wanted.id))
  if (known.length > 0) return
  const figure = runFigure(wanted.connector, wanted.unit)
  const found = rows<{ lacks: string }>(
    figure === undefined
      ? []
      : await tx.execute(sql`select greatest(0, ${wanted.amount}::numeric - ${left})::text as lacks from session_figures
          where session_id = ${wanted.sessionId} and figure = ${figure} for update`),
  )
  const lacks = found[0]?.lacks
  if (figure === undefined || lacks === undefined) {
    await tx.insert(spend).values(rowOf(wanted, undefined))
    return
  }
  await tx
    .update(sessionFigures)
    .set({
      most: sql`${sessionFigures.most} + ${lacks}::numeric`,
      reserved: sql`${sessionFigures.reserved} + ${wanted.amount}::numeric`,
    })
    .where(isFigure(wanted.sessionId, figure))
  await tx.insert(spend).values({ ...rowOf(wanted, figure), toppedUp: lacks })
}

/**
 * Books what a call came to, above the estimate too; without a figure the whole reservation. Undefined where it was booked
 * or released before. One statement, so it may stand alone.
 */
export function settle(orm: Tx, id: string, actual?: string): Promise<Booked | undefined> {
  return end(orm, id, sql`state = 'settled', settled = coalesce(${actual ?? null}::numeric, reserved)`)
}

/** Gives back what was reserved for a call that did not happen. As `settle`. */
export function release(orm: Tx, id: string): Promise<Booked | undefined> {
  return end(orm, id, sql`state = 'released'`)
}

async function end(orm: Tx, id: string, change: ReturnType<typeof sql>): Promise<Booked | undefined> {
  const found = rows<Booked>(
    await orm.execute(sql`
      with ended as (
        update spend set ${change}, ended_at = clock_timestamp()
        where id = ${id}::uuid and state in ('open', 'unknown')
        returning session_id, figure, unit, reserved, settled
      ), kept as (
        update session_figures set reserved = session_figures.reserved - ended.reserved,
          spent = case when ended.settled is null then spent else coalesce(spent, 0) + ended.settled end
        from ended where session_figures.session_id = ended.session_id and session_figures.figure = ended.figure
        returning ${left} as free
      )
      select unit, trim_scale(reserved)::text as reserved, trim_scale(settled)::text as settled,
        (select trim_scale(free)::text from kept) as "left" from ended`),
  )
  return found[0]
}

/** Marks what may have been billed and may not: the whole reservation stays. */
export async function keepUnknown(orm: Tx, id: string): Promise<void> {
  await orm
    .update(spend)
    .set({ state: 'unknown', endedAt: sql`clock_timestamp()` })
    .where(and(eq(spend.id, id), eq(spend.state, 'open')))
}

const isFigure = (sessionId: string, figure: string) =>
  and(eq(sessionFigures.sessionId, sessionId), eq(sessionFigures.figure, figure))

function rowOf({ card, amount, leaseMs, ...wanted }: ToReserve, figure: string | undefined) {
  const lease = sql<Date>`clock_timestamp() + ${leaseMs ?? 0}::float8 * interval '1 millisecond'`
  return {
    ...wanted,
    card: card ? wanted.id : null,
    figure: figure ?? null,
    reserved: amount,
    leaseUntil: card ? null : lease,
  }
}
