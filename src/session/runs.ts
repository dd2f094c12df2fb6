/**
 * Sessions that start as runs: counted and written down in one transaction, under a lock of their brand, so that of any
 * number of starts at once no more pass than the limits allow.
 * @module
 */
import type { Audit, AuditEntry } from '../audit/audit.ts'
import { type Database, rows, type Tx } from '../db/connect.ts'
import { sql } from '../db/drizzle.ts'
import type { Session } from '../policy/words.ts'
import type { SessionClaims } from './claims.ts'
import { carve, figuresOf, keepFigures } from './figures.ts'
import type { Broken } from './issue.ts'
import { type Caps, type Earlier, meet, retryProblems, runsAtOnce, startProblems } from './limits.ts'
import { recordSession } from './sessions.ts'
import { liveInBrand, lockBrand, readEarlier, tallyOf } from './tally.ts'

/** The session of a run that is about to start, its token signed and not yet handed out. */
export interface Run {
  readonly session: Session
  readonly claims: SessionClaims
  /** Who issues it: the operator. */
  readonly by: string
  /** Names of the tools and built-ins the session holds as of now. */
  readonly registered: readonly string[]
  /** The profile it is a run of. */
  readonly coworker?: string | undefined
  /** The attempt before this one; its claims must have come through `narrowRetry`. */
  readonly retryOf?: string | undefined
}

/** Begun, or every limit that stands against it (409 `session_limit`). */
export type Begun = { readonly ok: true } | { readonly ok: false; readonly broken: readonly Broken[] }

/** Carries a refusal out of a transaction, which rolls it back. */
class Refused extends Error {
  readonly broken: readonly Broken[]
  constructor(broken: readonly Broken[]) {
    super('refused')
    this.broken = broken
  }
}

/**
 * Starts a run and records it, or says which limits it would pass. Throws when the database cannot be asked.
 * `also` is done first in the same transaction; what it throws ends it.
 */
export function beginRun(audit: Audit, run: Run, caps: Caps, also?: (tx: Tx) => Promise<void>): Promise<Begun> {
  const { session, claims, by, registered, coworker, retryOf } = run
  const whose = { brand: session.brand, role: session.role.name, coworker }
  return attempt(audit, session, by, undefined, async (tx) => {
    await lockBrand(tx, session.brand)
    await also?.(tx)
    const earlier = retryOf === undefined ? undefined : await readEarlier(tx, retryOf)
    const broken = [
      ...(retryOf === undefined ? [] : retryProblems(earlier, whose, session.limits.attempts)),
      ...startProblems(whose.role, runsAtOnce(session, claims, coworker), await tallyOf(tx, run, caps), caps),
    ]
    if (broken.length > 0) throw new Refused(broken)
    const attempt = (earlier?.attempt ?? 0) + 1
    if ((await recordSession(tx, session, claims, { coworker, retryOf, attempt, registered })) !== 'new') throw known()
    await keepFigures(tx, session)
  })
}

/**
 * Starts a child of a live session: its per-run figures are taken out of what the parent has left, in the transaction
 * that records it. `parent` is as `planChild` saw it.
 */
export function beginChild(audit: Audit, parent: Session, run: Omit<Run, 'coworker' | 'retryOf'>, caps: Caps) {
  const { session, claims, by, registered } = run
  return attempt(audit, session, by, `Delegated by ${parent.id}.`, async (tx) => {
    await lockBrand(tx, session.brand)
    const alive = rows<{ coworker: string | null }>(
      await tx.execute(sql`select coworker from sessions where id = ${parent.id}
        and revoked_at is null and ended_at is null and expires_at > now() for no key update`),
    )
    if (alive[0] === undefined) {
      throw new Refused([{ path: 'id', rule: 'parent_dead', detail: 'The parent has ended, so it delegates no more.' }])
    }
    const counted = { liveInBrand: await liveInBrand(tx, session.brand), liveRuns: 0, startedThisHour: 0, day: [] }
    const broken = startProblems(session.role.name, undefined, counted, { ...caps, startsPerHour: undefined })
    if (broken.length > 0) throw new Refused(broken)
    await keepFigures(tx, parent)
    if (!(await carve(tx, parent.id, figuresOf(session)))) {
      const detail = 'The parent has handed on or used up what the child asks for; ask for less.'
      throw new Refused([{ path: 'grant.allowance', rule: 'carved', detail }])
    }
    const facts = { parent: parent.id, coworker: alive[0].coworker ?? undefined, registered }
    if ((await recordSession(tx, session, claims, facts)) !== 'new') throw known()
    await keepFigures(tx, session)
  })
}

/**
 * Records a session that a host app signed, at its first use and again when its token is renewed. A new one keeps the same
 * limits as a run; what stands against it is returned, and the session is not recorded.
 */
export async function beginForeign(
  audit: Audit,
  session: Session,
  claims: SessionClaims,
  caps: Caps,
): Promise<'live' | 'dead' | readonly Broken[]> {
  const run: Run = { session, claims, by: session.issuer, registered: [] }
  try {
    return await audit.transaction(async (tx, record) => {
      const isKnown = async () => (await readEarlier(tx, session.id)) !== undefined
      if (!(await isKnown())) {
        await lockBrand(tx, session.brand)
        const atOnce = runsAtOnce(session, claims, undefined)
        // Another replica may have met the token while this one waited for the lock.
        const broken = (await isKnown())
          ? []
          : startProblems(session.role.name, atOnce, await tallyOf(tx, run, caps), caps)
        if (broken.length > 0) throw new Refused(broken)
      }
      const found = await recordSession(tx, session, claims)
      if (found === 'new') {
        await keepFigures(tx, session)
        record(issuedEntry(session, run.by))
      }
      return found === 'dead' ? 'dead' : 'live'
    })
  } catch (error) {
    if (error instanceof Refused) return error.broken
    throw error
  }
}

/** The session that a request wants to retry, undefined when there is none. */
export async function findEarlier(db: Database, id: string): Promise<Earlier | undefined> {
  return readEarlier(db.orm, id)
}

/**
 * The claims of a retry: of what was asked for, only what the earlier attempt really ran with (seed 001, "Coworker
 * run"). Or why it cannot be its retry. `attempts` is the figure of the run, 1 where it states none.
 */
export function narrowRetry(
  earlier: Earlier | undefined,
  claims: SessionClaims,
  { coworker, attempts }: { readonly coworker?: string | undefined; readonly attempts: number | undefined },
): { readonly ok: true; readonly claims: SessionClaims } | { readonly ok: false; readonly broken: readonly Broken[] } {
  const broken = retryProblems(earlier, { brand: claims.brand, role: claims.role, coworker }, attempts)
  if (earlier === undefined || broken.length > 0) return { ok: false, broken }
  const ceiling = meet(claims.ceiling, earlier.ran)
  if (claims.ceiling.length > 0 && ceiling.length === 0) {
    const detail = 'Nothing that is asked for now was held by the attempt before; start a new run.'
    return { ok: false, broken: [{ path: 'retryOf', rule: 'nothing_to_hold', detail }] }
  }
  return { ok: true, claims: { ...claims, ceiling } }
}

async function attempt(
  audit: Audit,
  session: Session,
  by: string,
  reason: string | undefined,
  work: (tx: Tx) => Promise<void>,
): Promise<Begun> {
  try {
    return await audit.transaction(async (tx, record) => {
      await work(tx)
      record(issuedEntry(session, by, reason))
      return { ok: true }
    })
  } catch (error) {
    if (error instanceof Refused) return { ok: false, broken: error.broken }
    throw error
  }
}

const issuedEntry = ({ id, brand, subject, role }: Session, by: string, reason?: string): AuditEntry => ({
  kind: 'session.issued',
  sessionId: id,
  brand,
  subject,
  role: role.name,
  by,
  reason,
})

const known = () => new Error('A session of this id is known already; ids are random, so this is a bug.')
