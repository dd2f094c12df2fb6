/**
 * Standing approvals made and used up, each in the transaction of the card's own move. One is taken from the count by one
 * conditional update, while the call is parked as approved.
 * @module
 */
import { and, desc, eq, gt, isNull, or, type SQL, sql } from '../db/drizzle.ts'
import type { Orm, Tx } from '../db/connect.ts'
import { standingApprovals } from '../db/schema.ts'
import { costFrom } from './binding.ts'
import { type Decider, deciderText } from './decider.ts'
import { clock, inMs } from './moves.ts'
import type { CardRow } from './show.ts'
import { type Asking, covers, restOf, type Similar, type Terms } from './standing-match.ts'
import { OVER, type StandingApproval, type StandingRow, toStanding } from './standing-row.ts'

/** More patterns for one tool than these are not looked through; the call asks a person. */
const MOST_LOOKED_AT = 100

/** What a person's yes leaves standing, beside the card. `similar` was found good (standing-match.ts). */
export interface Grant {
  readonly id: string
  readonly scope: 'session' | 'always'
  readonly similar: Similar | undefined
  readonly argumentsText: string | undefined
  readonly extraText: string
}

/** Writes a standing approval down, in the transaction of the yes it comes from. */
export async function grant(tx: Tx, card: CardRow, given: Grant, decider: Decider): Promise<StandingApproval> {
  const { by, via, note } = deciderText(decider)
  const { similar } = given
  const exact = { fingerprint: card.fingerprint, pattern: null, rest: null, leftOver: null, expiresAt: null }
  const [row] = await tx
    .insert(standingApprovals)
    .values({
      id: given.id,
      card: card.id,
      brand: card.brand,
      sessionId: given.scope === 'session' ? card.sessionId : null,
      role: card.role,
      tool: card.tool,
      connector: card.connector,
      title: card.title,
      summary: card.summary,
      digest: card.digest,
      upstream: card.upstream,
      cost: card.cost,
      createdBy: by,
      createdVia: via ?? null,
      note: note ?? null,
      ...(similar === undefined
        ? exact
        : {
            fingerprint: null,
            pattern: JSON.stringify(similar.arguments),
            rest: restOf({ ...given, tool: { name: card.tool } }, Object.keys(similar.arguments)),
            leftOver: similar.count,
            expiresAt: inMs(similar.ttlSeconds * 1_000),
          }),
    })
    .returning()
  return toStanding(row as StandingRow, 'live')
}

/** Those that cover a call as of now, exact ones first. Read before the call is parked; `take` makes sure. */
export async function covering(orm: Orm, call: Asking): Promise<readonly string[]> {
  const found = await orm
    .select()
    .from(standingApprovals)
    .where(and(isLive(), perhaps(call)))
    .orderBy(sql`${standingApprovals.fingerprint} is null`, desc(standingApprovals.createdAt))
    .limit(MOST_LOOKED_AT)
  return found.filter((row) => covers(termsOf(row), call)).map(({ id }) => id)
}

/**
 * Takes one call from the first of these that still has one; which, or none. Conditional, so that of any number at once
 * no more get through than its count says, and none after it was revoked, has expired, or its session is over.
 */
export async function take(tx: Tx, ids: readonly string[]): Promise<StandingApproval | undefined> {
  for (const id of ids) {
    const [used] = await tx
      .update(standingApprovals)
      .set({
        used: sql`${standingApprovals.used} + 1`,
        leftOver: sql`${standingApprovals.leftOver} - 1`,
        lastUsedAt: clock,
      })
      .where(and(eq(standingApprovals.id, id), isLive()))
      .returning()
    if (used !== undefined) return toStanding(used, 'live')
  }
  return undefined
}

const isLive = (): SQL | undefined =>
  and(
    isNull(standingApprovals.revokedAt),
    or(isNull(standingApprovals.expiresAt), gt(standingApprovals.expiresAt, clock)),
    or(isNull(standingApprovals.leftOver), gt(standingApprovals.leftOver, 0)),
    sql`not ${OVER}`,
  )

/** What an index can say beforehand; `covers` judges. */
const perhaps = ({ brand, sessionId, tool, fingerprint }: Asking): SQL | undefined =>
  and(
    eq(standingApprovals.brand, brand),
    eq(standingApprovals.tool, tool.name),
    eq(standingApprovals.digest, tool.digest),
    eq(standingApprovals.upstream, tool.upstream),
    or(isNull(standingApprovals.sessionId), eq(standingApprovals.sessionId, sessionId)),
    or(isNull(standingApprovals.fingerprint), eq(standingApprovals.fingerprint, fingerprint)),
  )

function termsOf(row: StandingRow): Terms {
  const { brand, sessionId, tool, digest, upstream, fingerprint, pattern, rest } = row
  const varies = pattern === null || rest === null ? null : { arguments: JSON.parse(pattern), rest }
  return { brand, sessionId, tool, digest, upstream, cost: costFrom(row.cost), fingerprint, similar: varies }
}
