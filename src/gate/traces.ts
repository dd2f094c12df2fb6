/**
 * Traces: what a person reads before they let a routine run a tool unattended (seed 002). Owner of the table traces. A row
 * is there before its call is decided, so that of equal calls none is missed, on whichever replica.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { shownArguments } from '../approvals/show.ts'
import { type Database, rows, type Tx } from '../db/connect.ts'
import { and, asc, desc, eq, inArray, ne, type SQL, sql } from '../db/drizzle.ts'
import { isDuplicate } from '../db/errors.ts'
import { traces } from '../db/schema.ts'
import type { Code, Session } from '../policy/words.ts'
import type { Outcome } from './outcome.ts'

/** Over how long equal calls are counted. */
export const EQUAL_MINUTES = 10

/** A call of a routine's session. `digest` is of the definition it was called under. */
export type Trace = typeof traces.$inferSelect

export interface Beginning {
  readonly session: Session
  /** Canonical where it can be. */
  readonly tool: string
  readonly digest: string | undefined
  readonly fingerprint: string | undefined
  readonly argumentsText: string | undefined
}

export interface Page {
  readonly limit: number
  /** Id of the last trace of the page before. */
  readonly cursor?: string | undefined
}

export interface Traces {
  /** Notes that a call came in; says how many equal ones the session made lately, this one counted. */
  begin(call: Beginning): Promise<{ readonly id: string; readonly equal: number }>
  /** Notes what came of it. All attempts at one card are one trace. */
  end(id: string, outcome: Outcome): Promise<void>
  /** Notes what came of a card whose caller had left. */
  endCard(card: string, outcome: Outcome): Promise<void>
  ofRoutine(routine: string, page: Page & { readonly tool?: string | undefined }): Promise<readonly Trace[]>
  ofSession(session: string, page: Page): Promise<readonly Trace[]>
}

/** Builds the traces of a database. */
export function createTraces(db: Database): Traces {
  const set = (where: SQL | undefined, values: ReturnType<typeof endOf>) =>
    db.orm
      .update(traces)
      .set({ ...values, ...(values.outcome === 'waiting' ? {} : { endedAt: sql`clock_timestamp()` }) })
      // A caller who comes for a card that ended says nothing new by having waited.
      .where(values.outcome === 'waiting' ? and(where, inArray(traces.outcome, ['running', 'waiting'])) : where)

  return {
    async begin({ session, tool, digest, fingerprint, argumentsText }) {
      const { routine } = session
      if (routine === undefined) throw new Error('Only sessions of routines have traces.')
      const id = randomUUID()
      await db.orm.insert(traces).values({
        id,
        routine: routine.id,
        brand: session.brand,
        sessionId: session.id,
        supervised: routine.supervised,
        tool,
        digest,
        fingerprint,
        arguments: shownArguments(argumentsText),
        decision: 'open',
        outcome: 'running',
      })
      if (fingerprint === undefined) return { id, equal: 1 }
      const [found] = rows<{ equal: number }>(
        await db.orm.execute(sql`select count(*)::int as equal from ${traces} where session_id = ${session.id}
          and fingerprint = ${fingerprint} and started_at > now() - make_interval(mins => ${EQUAL_MINUTES})`),
      )
      return { id, equal: found?.equal ?? Number.POSITIVE_INFINITY }
    },
    async end(id, outcome) {
      const values = endOf(outcome)
      try {
        await set(eq(traces.id, id), values)
      } catch (error) {
        if (!isDuplicate(error) || values.card === undefined) throw error
        await db.orm.delete(traces).where(eq(traces.id, id))
        await set(eq(traces.card, values.card), values)
      }
    },
    async endCard(card, outcome) {
      await set(and(eq(traces.card, card), ne(traces.outcome, 'done')), endOf(outcome))
    },
    ofRoutine(routine, { tool, limit, cursor }) {
      const wanted = [eq(traces.routine, routine)]
      if (tool !== undefined) wanted.push(eq(traces.tool, tool))
      if (cursor !== undefined) {
        wanted.push(sql`(${traces.startedAt}, ${traces.id}) < (select started_at, id from traces where id = ${cursor})`)
      }
      const newest = [desc(traces.startedAt), desc(traces.id)]
      return db.orm
        .select()
        .from(traces)
        .where(and(...wanted))
        .orderBy(...newest)
        .limit(limit)
    },
    ofSession(session, { limit, cursor }) {
      const wanted = [eq(traces.sessionId, session)]
      if (cursor !== undefined) {
        wanted.push(sql`(${traces.startedAt}, ${traces.id}) > (select started_at, id from traces where id = ${cursor})`)
      }
      const oldest = [asc(traces.startedAt), asc(traces.id)]
      return db.orm
        .select()
        .from(traces)
        .where(and(...wanted))
        .orderBy(...oldest)
        .limit(limit)
    },
  }
}

/** Whether a supervised call of a tool under a definition ran in a routine and was answered without an error. */
export async function isProven(
  tx: Tx,
  { routine, tool, digest }: { readonly routine: string; readonly tool: string; readonly digest: string },
): Promise<boolean> {
  const ran = [eq(traces.supervised, true), eq(traces.outcome, 'done')]
  const one = and(eq(traces.routine, routine), eq(traces.tool, tool), eq(traces.digest, digest), ...ran)
  return (await tx.select({ id: traces.id }).from(traces).where(one).limit(1)).length === 1
}

const MAY_HAVE_RUN: readonly Code[] = ['upstream_timeout', 'outcome_unknown']
const FAILED: readonly Code[] = ['upstream_unavailable', 'rate_limited', 'internal']

/** What a trace says of how a call ended. */
function endOf(outcome: Outcome) {
  const card = 'card' in outcome ? outcome.card : undefined
  const cost = ('spend' in outcome ? outcome.spend?.cost : undefined) ?? card?.cost
  const reasons = card?.rules ?? (outcome.kind === 'refused' ? outcome.reasons : [{ rule: 'routine-automatic' }])
  const more = {
    rules: JSON.stringify(reasons.map(({ rule }) => rule)),
    ...(card === undefined ? {} : { card: card.id }),
    ...(cost === undefined ? {} : { cost: JSON.stringify(cost) }),
  }
  const decision = card === undefined ? ('automatic' as const) : ('asked' as const)
  if (outcome.kind === 'pending') return { ...more, decision, outcome: 'waiting' as const, code: 'approval_pending' }
  if (outcome.kind === 'answered') {
    const { answer } = outcome
    const bad = answer.kind === 'error' || answer.isError
    return { ...more, decision, outcome: bad ? ('failed' as const) : ('done' as const), code: 'ok' }
  }
  const { code } = outcome
  if (MAY_HAVE_RUN.includes(code)) return { ...more, decision, outcome: 'unknown' as const, code }
  if (FAILED.includes(code)) return { ...more, decision, outcome: 'failed' as const, code }
  return { ...more, decision: card === undefined ? ('denied' as const) : decision, outcome: 'refused' as const, code }
}
