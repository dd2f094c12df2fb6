/**
 * Approvals that stand, as people see them and take them back.
 * @module
 */
import { and, eq, isNull } from '../db/drizzle.ts'
import type { Audit } from '../audit/audit.ts'
import type { Database, Tx } from '../db/connect.ts'
import { cards, standingApprovals } from '../db/schema.ts'
import { type Decider, deciderText, type OnMove } from './decider.ts'
import { about, clock, move } from './moves.ts'
import { after, inOrder, isId, pageOf, taken, timeOf } from './paging.ts'
import { toCard } from './show.ts'
import { ofStanding, STATE, type StandingApproval, type StandingState, toStanding } from './standing-row.ts'

export { STANDING_STATES, type StandingApproval, type StandingState } from './standing-row.ts'

export interface StandingQuery {
  readonly brand?: string
  readonly sessionId?: string
  readonly tool?: string
  readonly state?: StandingState
  readonly limit: number
  readonly cursor?: string
}

export interface StandingPage {
  readonly items: readonly StandingApproval[]
  readonly nextCursor: string | undefined
}

export type Revoked =
  | { readonly ok: true; readonly standing: StandingApproval }
  | { readonly ok: false; readonly problem: 'not_found'; readonly standing?: never }
  | { readonly ok: false; readonly problem: 'already_revoked'; readonly standing: StandingApproval }

export interface Standing {
  get(id: string): Promise<StandingApproval | undefined>
  /** Newest first. Throws RangeError for a cursor that no list gave out. */
  list(query: StandingQuery): Promise<StandingPage>
  /** Takes it back, with the calls it let through that did not start yet. Only of the decider's brand, where they have one. */
  revoke(id: string, decider: Decider): Promise<Revoked>
}

export interface StandingParts {
  readonly db: Database
  readonly audit: Audit
  readonly onMove: OnMove | undefined
}

/** Builds what people see and do of standing approvals. */
export function createStanding({ db, audit, onMove }: StandingParts): Standing {
  async function get(id: string, orm: Tx = db.orm): Promise<StandingApproval | undefined> {
    if (!isId(id)) return undefined
    const found = await orm
      .select({ row: standingApprovals, state: STATE })
      .from(standingApprovals)
      .where(eq(standingApprovals.id, id))
    return found[0] && toStanding(found[0].row, found[0].state)
  }

  return {
    get,

    async list({ brand, sessionId, tool, state, limit, cursor }) {
      const most = taken(limit)
      const found = await db.orm
        .select({ row: standingApprovals, at: timeOf(standingApprovals), state: STATE })
        .from(standingApprovals)
        .where(
          and(
            brand === undefined ? undefined : eq(standingApprovals.brand, brand),
            sessionId === undefined ? undefined : eq(standingApprovals.sessionId, sessionId),
            tool === undefined ? undefined : eq(standingApprovals.tool, tool),
            state === undefined ? undefined : eq(STATE, state),
            cursor === undefined ? undefined : after(standingApprovals, cursor, 'newest', 'standing approvals'),
          ),
        )
        .orderBy(...inOrder(standingApprovals, 'newest'))
        .limit(most + 1)
      const { nextCursor } = pageOf(found, most)
      return { items: found.slice(0, most).map(({ row, state }) => toStanding(row, state)), nextCursor }
    },

    async revoke(id, decider) {
      if (!isId(id)) return { ok: false, problem: 'not_found' }
      const { by, via, address, note } = deciderText(decider)
      const ofBrand = decider.brand === undefined ? undefined : eq(standingApprovals.brand, decider.brand)
      return audit.transaction<Revoked>(async (tx, record) => {
        const [row] = await tx
          .update(standingApprovals)
          .set({ revokedAt: clock, revokedBy: by })
          .where(and(eq(standingApprovals.id, id), isNull(standingApprovals.revokedAt), ofBrand))
          .returning()
        if (row === undefined) {
          const standing = await get(id, tx)
          const hidden = standing === undefined || (decider.brand !== undefined && standing.brand !== decider.brand)
          return hidden ? { ok: false, problem: 'not_found' } : { ok: false, problem: 'already_revoked', standing }
        }
        record({ ...ofStanding(row), kind: 'standing.revoked', by, via, address, reason: note })
        for (const card of await waitingOf(tx, id)) {
          const taken = { status: 'withdrawn', endedAt: clock } as const
          const moved = await move(tx, card.id, ['approved'], taken)
          if (moved === undefined) continue
          const says = { kind: 'card.ended', code: 'approval_denied', outcome: 'refused', reason: TAKEN_BACK } as const
          record({ ...about(moved), ...says, by, standing: id })
          await onMove?.(tx, toCard(moved), 'finished')
        }
        return { ok: true, standing: toStanding(row, 'revoked') }
      })
    },
  }
}

const TAKEN_BACK = 'the standing approval was revoked'

/** Cards it let through that did not start yet. */
function waitingOf(tx: Tx, id: string): Promise<{ id: string }[]> {
  return tx
    .select({ id: cards.id })
    .from(cards)
    .where(and(eq(cards.standing, id), eq(cards.status, 'approved')))
}
