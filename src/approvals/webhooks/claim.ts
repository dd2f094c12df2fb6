/**
 * Deliveries as the sender moves them: claimed for one attempt, then delivered, due again or given up. A claim is only a
 * later due time, so what a lost process had claimed comes due by itself: at least once, under the same id.
 * @module
 */
import { type Database, rows, type Tx } from '../../db/connect.ts'
import { and, eq, isNull, ne, sql } from '../../db/drizzle.ts'
import { webhookDeliveries, webhooks } from '../../db/schema.ts'
import { clock, inMs } from '../moves.ts'
import type { Format } from './words.ts'

/** Longer than an attempt can take, with room to record it (ms). */
export const LEASE_MS = 30_000
/** Most deliveries of one webhook that one process tries at once: one that hangs holds up only itself. */
const AT_ONCE_EACH = 4

/** A delivery for one attempt, with all that the attempt needs. */
export interface Claimed {
  readonly id: string
  readonly webhook: string
  readonly event: string
  /** This attempt's number, from 1. */
  readonly attempts: number
  readonly createdAt: string
  readonly data: string | null
  readonly sealedData: string | null
  readonly format: Format
  readonly sealedUrl: string
  readonly sealedSecret: string
  /** While it signs, too. */
  readonly sealedOldSecret: string | null
}

/** What `claim` and the test of a webhook read. */
export const CLAIMED = sql`d.id, d.webhook, d.event, d.attempts, d.created_at as "createdAt", d.data,
  d.sealed_data as "sealedData", w.format, w.sealed_url as "sealedUrl", w.sealed_secret as "sealedSecret",
  case when w.old_secret_until > now() then w.sealed_old_secret end as "sealedOldSecret"`

/** Claims up to `most` due deliveries of webhooks that are neither paused nor `busy`. No other process gets the same. */
export async function claim(db: Database, most: number, busy: readonly string[]): Promise<Claimed[]> {
  return rows<Claimed>(
    await db.orm.execute(sql`
      with due as materialized (
        select d.id from ${webhooks} w cross join lateral (
          select id, due_at from ${webhookDeliveries}
          where webhook = w.id and status = 'waiting' and due_at <= now()
          order by due_at limit ${AT_ONCE_EACH} for update skip locked
        ) d
        where w.paused_at is null and w.id::text not in (select json_array_elements_text(${JSON.stringify(busy)}::text::json))
        order by d.due_at limit ${most}
      )
      update ${webhookDeliveries} d
      set attempts = d.attempts + 1, tried_at = ${clock}, due_at = ${inMs(LEASE_MS)}
      from ${webhooks} w where d.id in (select id from due) and w.id = d.webhook
      returning ${CLAIMED}`),
  )
}

/** Claims one delivery of any webhook, paused or not; undefined where it does not wait, or another has it. */
export async function claimOne(tx: Tx, id: string): Promise<Claimed | undefined> {
  const found = await tx.execute(sql`
    update ${webhookDeliveries} d set attempts = d.attempts + 1, tried_at = ${clock}, due_at = ${inMs(LEASE_MS)}
    from ${webhooks} w
    where d.id = ${id}::uuid and d.status = 'waiting' and d.due_at <= ${clock} and w.id = d.webhook
    returning ${CLAIMED}`)
  return rows<Claimed>(found)[0]
}

/** What became of an attempt. */
export interface Attempted {
  /** HTTP status, where there was an answer. */
  readonly answer?: number | undefined
  /** Why it failed; undefined when the receiver has it. */
  readonly problem?: string | undefined
  /** When to try again (ms from now); undefined: never. */
  readonly againInMs?: number | undefined
}

/** Records an attempt, unless its lease ran out and it is another's now. True when it was recorded. */
export function recordAttempt(db: Database, claimed: Claimed, how: Attempted): Promise<boolean> {
  return db.transaction((tx) => record(tx, claimed, how))
}

async function record(tx: Tx, { id, webhook, attempts }: Claimed, how: Attempted): Promise<boolean> {
  const { answer = null, problem, againInMs } = how
  const again = problem !== undefined && againInMs !== undefined
  const moved = await tx
    .update(webhookDeliveries)
    .set({
      answer,
      problem: problem ?? null,
      ...(again
        ? { dueAt: inMs(againInMs) }
        : { status: problem === undefined ? 'delivered' : 'given_up', endedAt: clock }),
    })
    .where(
      and(
        eq(webhookDeliveries.id, id),
        eq(webhookDeliveries.attempts, attempts),
        eq(webhookDeliveries.status, 'waiting'),
      ),
    )
    .returning({ id: webhookDeliveries.id })
  if (moved.length === 0) return false
  const failures = problem === undefined ? 0 : sql`${webhooks.failures} + 1`
  await tx
    .update(webhooks)
    .set({ failures })
    .where(problem === undefined ? and(eq(webhooks.id, webhook), ne(webhooks.failures, 0)) : eq(webhooks.id, webhook))
  return true
}

/** The receiver wants no more (410): pauses its webhook and gives up what waits for it. True when it was not paused. */
export async function pauseForGood(tx: Tx, claimed: Claimed, answer: number, problem: string): Promise<boolean> {
  await record(tx, claimed, { answer, problem })
  const paused = await tx
    .update(webhooks)
    .set({ pausedAt: clock, pausedBecause: problem })
    .where(and(eq(webhooks.id, claimed.webhook), isNull(webhooks.pausedAt)))
    .returning({ id: webhooks.id })
  await tx
    .update(webhookDeliveries)
    .set({ status: 'given_up', endedAt: clock, problem })
    .where(and(eq(webhookDeliveries.webhook, claimed.webhook), eq(webhookDeliveries.status, 'waiting')))
  return paused.length === 1
}

/** Gives an attempt back that was cut off because this process stops: due at once, for any other, and not counted. */
export async function giveBack(db: Database, { id, attempts }: Claimed): Promise<void> {
  await db.orm
    .update(webhookDeliveries)
    .set({ dueAt: clock, attempts: attempts - 1 })
    .where(and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.attempts, attempts)))
}

/**
 * Removes deliveries that ended 30 days ago and those of webhooks that are gone, and gives up what a paused webhook kept
 * waiting for two days. A thousand rows at a time.
 */
export async function prune(db: Database): Promise<void> {
  await db.orm.execute(sql`
    update ${webhookDeliveries} set status = 'given_up', ended_at = ${clock}, problem = 'The webhook was paused for two days.'
    where status = 'waiting' and due_at < now() - interval '2 days'`)
  await db.orm.execute(sql`
    delete from ${webhookDeliveries} where id in (
      select id from ${webhookDeliveries} d
      where ended_at < now() - interval '30 days' or not exists (select from ${webhooks} w where w.id = d.webhook)
      limit 1000)`)
}
