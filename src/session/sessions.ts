/**
 * Sessions as rows: begun, listed, revoked, ended. Owner of the table sessions.
 * A session dies once, and all that descend from it die with it: the first revocation and the first end stand, and every
 * replica is told in the same transaction.
 * @module
 */
import { and, desc, eq, inArray, isNull, type SQL, sql } from '../db/drizzle.ts'
import type { Audit } from '../audit/audit.ts'
import type { Database, Tx } from '../db/connect.ts'
import { tell } from '../db/events.ts'
import { sessions } from '../db/schema.ts'
import type { Session } from '../policy/words.ts'
import type { SessionClaims } from './claims.ts'
import { giveBack, keepFigures, settleUsd } from './figures.ts'

/** A session as it was recorded. `reportedUsd` is a decimal, as text. */
export interface StoredSession {
  readonly id: string
  readonly issuer: string
  readonly subject: string
  readonly brand: string
  readonly role: string
  readonly route: string
  readonly claims: SessionClaims
  readonly issuedAt: Date
  readonly expiresAt: Date
  readonly createdAt: Date
  readonly revokedAt: Date | null
  readonly endedAt: Date | null
  readonly reportedUsd: string | null
  /** The session that delegated it. */
  readonly parent: string | null
  /** The profile it is a run of. */
  readonly coworker: string | null
  readonly retryOf: string | null
  readonly attempt: number
  /** By the database's clock. */
  readonly state: 'live' | 'expired' | 'ended' | 'revoked'
}

/** What makes a session a run of something; a session without it stands alone. */
export interface RunFacts {
  readonly parent?: string | undefined
  readonly coworker?: string | undefined
  readonly retryOf?: string | undefined
  readonly attempt?: number | undefined
  /** Names of the tools and built-ins it holds when it is issued. */
  readonly registered?: readonly string[] | undefined
}

/**
 * Writes a session down, or lengthens the recorded life of a live one whose token was renewed. Says whether it is new,
 * known, or dead; a dead one stays as it is.
 */
export async function recordSession(
  tx: Tx,
  session: Session,
  claims: SessionClaims,
  { parent, coworker, retryOf, attempt, registered }: RunFacts = {},
): Promise<'new' | 'known' | 'dead'> {
  const expiresAt = new Date(session.expiresAt)
  const written = await tx
    .insert(sessions)
    .values({
      id: session.id,
      issuer: session.issuer,
      subject: session.subject,
      brand: session.brand,
      role: session.role.name,
      route: session.route.name,
      claims: JSON.stringify(claims),
      issuedAt: new Date(session.issuedAt),
      expiresAt,
      parent,
      coworker,
      retryOf,
      attempt,
      registered: registered && JSON.stringify(registered),
    })
    .onConflictDoUpdate({
      target: sessions.id,
      set: { expiresAt: sql`greatest(${sessions.expiresAt}, excluded.expires_at)` },
      setWhere: live,
    })
    // xmax is 0 only in a row that this very statement inserted.
    .returning({ isNew: sql<boolean>`xmax = 0` })
  return written[0] === undefined ? 'dead' : written[0].isNew ? 'new' : 'known'
}

/** Records a session with its audit row in one transaction. `by` is who issued it: the operator, or a host app. */
export function beginSession(
  audit: Audit,
  session: Session,
  claims: SessionClaims,
  by: string,
): Promise<'new' | 'known' | 'dead'> {
  return audit.transaction(async (tx, record) => {
    const found = await recordSession(tx, session, claims)
    if (found === 'new') {
      await keepFigures(tx, session)
      record({ kind: 'session.issued', ...about(session), role: session.role.name, by })
    }
    return found
  })
}

/** Newest first. `cursor` is the id of the last session of the page before; an unknown one gives an empty page. */
export async function listSessions(
  db: Database,
  { brand, limit, cursor }: { readonly brand?: string; readonly limit: number; readonly cursor?: string },
): Promise<{ readonly items: readonly StoredSession[]; readonly nextCursor: string | undefined }> {
  const wanted: SQL[] = []
  if (brand !== undefined) wanted.push(eq(sessions.brand, brand))
  if (cursor !== undefined) {
    wanted.push(
      sql`(${sessions.createdAt}, ${sessions.id}) < (select created_at, id from sessions where id = ${cursor})`,
    )
  }
  const found = await db.orm
    .select(columns)
    .from(sessions)
    .where(and(...wanted))
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(limit + 1)
  const items = found.slice(0, limit).map(toStored)
  return { items, nextCursor: found.length > limit ? items.at(-1)?.id : undefined }
}

/** The session of this id, whatever became of it. */
export async function findSession(db: Database, id: string): Promise<StoredSession | undefined> {
  const found = await db.orm.select(columns).from(sessions).where(eq(sessions.id, id))
  return found[0] && toStored(found[0])
}

/** Revokes a session once and tells every replica. Returns the row as it stands, undefined when there is none. */
export function revokeSession(
  audit: Audit,
  id: string,
  { by, reason }: { readonly by: string; readonly reason?: string },
): Promise<StoredSession | undefined> {
  return audit.transaction(async (tx, record) => {
    const changed = await tx
      .update(sessions)
      .set({ revokedAt: sql`now()` })
      .where(and(eq(sessions.id, id), isNull(sessions.revokedAt)))
      .returning(columns)
    const found = await settle(tx, id, changed, (session) =>
      record({ kind: 'session.revoked', ...about(session), by, ...(reason === undefined ? {} : { reason }) }),
    )
    if (changed[0] !== undefined) {
      await giveBack(tx, changed[0])
      await fell(tx, id, { revokedAt: sql`now()` }, (session) =>
        record({ kind: 'session.revoked', ...about(session), by, reason: `Its parent ${session.parent} was revoked.` }),
      )
    }
    return found
  })
}

/**
 * Ends a session once, with what its run cost as the host reports it (US dollars, a decimal as text).
 * Returns the row as it stands, undefined when there is none. Throws for a figure that is no decimal.
 */
export function endSession(
  audit: Audit,
  id: string,
  { by, usd }: { readonly by: string; readonly usd?: string },
): Promise<StoredSession | undefined> {
  if (usd !== undefined && !/^\d{1,12}(\.\d{1,12})?$/.test(usd)) throw new Error('usd must be a decimal such as 0.25.')
  return audit.transaction(async (tx, record) => {
    const changed = await tx
      .update(sessions)
      .set({ endedAt: sql`now()`, reportedUsd: usd ?? null })
      .where(and(eq(sessions.id, id), isNull(sessions.endedAt)))
      .returning(columns)
    const found = await settle(tx, id, changed, (session) =>
      record({
        kind: 'session.ended',
        ...about(session),
        by,
        ...(usd === undefined ? {} : { cost: { unit: 'usd', amount: usd } }),
      }),
    )
    if (changed[0] !== undefined) {
      if (usd !== undefined) await settleUsd(tx, changed[0], usd)
      await giveBack(tx, changed[0])
      await fell(tx, id, { endedAt: sql`now()` }, (session) =>
        record({ kind: 'session.ended', ...about(session), by, reason: `Its parent ${session.parent} ended.` }),
      )
    }
    return found
  })
}

const live = sql`${sessions.revokedAt} is null and ${sessions.endedAt} is null`

const columns = {
  id: sessions.id,
  issuer: sessions.issuer,
  subject: sessions.subject,
  brand: sessions.brand,
  role: sessions.role,
  route: sessions.route,
  claims: sessions.claims,
  issuedAt: sessions.issuedAt,
  expiresAt: sessions.expiresAt,
  createdAt: sessions.createdAt,
  revokedAt: sessions.revokedAt,
  endedAt: sessions.endedAt,
  reportedUsd: sessions.reportedUsd,
  parent: sessions.parent,
  coworker: sessions.coworker,
  retryOf: sessions.retryOf,
  attempt: sessions.attempt,
  state: sql<StoredSession['state']>`case when ${sessions.revokedAt} is not null then 'revoked'
    when ${sessions.endedAt} is not null then 'ended' when ${sessions.expiresAt} <= now() then 'expired' else 'live' end`,
}

type Row = Omit<StoredSession, 'claims'> & { readonly claims: string }

/** The claims column holds what `recordSession` wrote, so its type is known. */
const toStored = (row: Row): StoredSession => ({ ...row, claims: JSON.parse(row.claims) as SessionClaims })

const about = ({ id, brand, subject }: { id: string; brand: string; subject: string }) => ({
  sessionId: id,
  brand,
  subject,
})

/**
 * Kills all that descend from a session that was just killed in this transaction. Level by level, each in a statement of
 * its own: whoever delegates holds the row of the parent, so behind a locked parent no child is missed.
 */
async function fell(
  tx: Tx,
  id: string,
  death: { readonly revokedAt: SQL } | { readonly endedAt: SQL },
  write: (session: StoredSession) => void,
): Promise<void> {
  let parents = [id]
  while (parents.length > 0) {
    const killed = await tx
      .update(sessions)
      .set(death)
      .where(and(inArray(sessions.parent, parents), live))
      .returning(columns)
    for (const row of killed) {
      await tell(tx, { kind: 'session', id: row.id })
      write(toStored(row))
    }
    parents = killed.map((row) => row.id)
  }
}

/** Tells of a change and writes it down; where nothing changed, reads the row that stands. */
async function settle(
  tx: Tx,
  id: string,
  changed: readonly Row[],
  write: (session: StoredSession) => void,
): Promise<StoredSession | undefined> {
  if (changed[0] === undefined) {
    const found = await tx.select(columns).from(sessions).where(eq(sessions.id, id))
    return found[0] && toStored(found[0])
  }
  const session = toStored(changed[0])
  await tell(tx, { kind: 'session', id })
  write(session)
  return session
}
