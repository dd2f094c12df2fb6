/**
 * A person's moves: yes, no, taken back, and what really happened. Each is one conditional update that also says of whose
 * brand and of which sight; where it finds nothing, the row tells why.
 * @module
 */
import { and, eq, lte, type SQL, sql } from '../db/drizzle.ts'
import type { Audit, AuditEntry } from '../audit/audit.ts'
import type { Tx } from '../db/connect.ts'
import { cards } from '../db/schema.ts'
import type { Seal } from '../db/seal.ts'
import { type Approving, type Decided, type Decider, deciderText, type OnMove, type Settled } from './decider.ts'
import { about, type CardChange, clock, EXPIRED, move } from './moves.ts'
import type { ToPark } from './park.ts'
import { type CardReader, isCardId } from './read.ts'
import { type CardRow, type CardStatus, SHOWN, shownOutcome, toCard } from './show.ts'
import { similarProblems } from './standing-match.ts'
import { type Grant, grant } from './standing-use.ts'

export interface DecideParts {
  readonly audit: Audit
  readonly seal: Seal
  readonly reader: CardReader
  readonly newId: () => string
  readonly onMove: OnMove | undefined
}

/** What the audit row of a person's move says. */
const SAYS = {
  approved: { code: 'ok' },
  denied: { code: 'approval_denied', outcome: 'refused' },
  withdrawn: { code: 'approval_denied', outcome: 'refused', reason: 'withdrawn' },
} as const satisfies Partial<Record<CardStatus, Partial<AuditEntry>>>

export interface Deciding {
  approve(id: string, decider: Decider, how?: Approving): Promise<Decided>
  deny(id: string, decider: Decider): Promise<Decided>
  withdraw(id: string, decider: Decider): Promise<Decided>
  settle(id: string, decider: Decider, what: Settled): Promise<Decided>
}

/** Builds the moves of people. */
export function createDeciding(parts: DecideParts): Deciding {
  const { audit, reader, newId, onMove } = parts

  /** A move out of one of `from`, in time. Where it comes too late, the card expires now and not at the next sweep. */
  function decide(id: string, from: CardStatus[], to: keyof typeof SAYS, decider: Decider, given?: Grant) {
    const { by, note = null, via = null, address = null } = deciderText(decider)
    const ended = to === 'approved' ? { scope: given?.scope ?? ('once' as const) } : { endedAt: clock }
    const decision = { decidedAt: clock, decidedBy: by, decidedVia: via, decidedAddress: address, note }
    const inTime = sql`(${cards.status} <> 'pending' or ${cards.expiresAt} > ${clock})`
    return audit.transaction<Decided>(async (tx, record) => {
      const row = await move(tx, id, from, { status: to, ...decision, ...ended }, and(inTime, ofDecider(decider)))
      if (row === undefined) return why(tx, id, from, decider, record)
      const reason = note === null ? {} : { reason: note }
      const scope = to === 'approved' ? { scope: given?.scope ?? 'once', standing: given?.id } : {}
      record({ ...about(row), kind: 'card.decided', ...whoIn(row, decider), ...reason, ...SAYS[to], ...scope })
      const standing = given && (await grant(tx, row, given, decider))
      if (standing !== undefined) {
        const what = { scope: standing.scope, standing: standing.id, reason: wordsOf(standing) }
        record({ ...about(row), kind: 'standing.created', ...whoIn(row, decider), ...what })
      }
      const card = toCard(row)
      await onMove?.(tx, card, 'decided')
      return { ok: true, card, ...(standing === undefined ? {} : { standing }) }
    })
  }

  /** Why nothing moved, as the row stands in this very transaction. */
  async function why(
    tx: Tx,
    id: string,
    from: CardStatus[],
    decider: Decider,
    record: (entry: AuditEntry) => void,
  ): Promise<Decided> {
    let [seen] = await tx.select(SHOWN).from(cards).where(eq(cards.id, id))
    if (seen === undefined || hidden(seen, decider)) return NOT_FOUND
    if (seen.status === 'pending') {
      const late = await move(tx, id, ['pending'], { status: 'expired', endedAt: clock }, lte(cards.expiresAt, clock))
      if (late !== undefined) {
        record({ ...about(late), ...EXPIRED })
        await onMove?.(tx, toCard(late), 'finished')
        seen = late
      }
    }
    const card = toCard(seen)
    if (seen.status === 'expired') return { ok: false, problem: 'expired', card }
    return { ok: false, problem: from.includes(seen.status) ? 'changed' : 'already_decided', card }
  }

  async function approve(id: string, decider: Decider, { scope = 'once', similar }: Approving = {}): Promise<Decided> {
    if (!isCardId(id)) return NOT_FOUND
    if (scope === 'once' && similar === undefined) return decide(id, ['pending'], 'approved', decider)
    const kept = await reader.sealed(id)
    if (kept === undefined || hidden(kept.row, decider)) return NOT_FOUND
    const card = toCard(kept.row)
    if (kept.row.status !== 'pending') return decide(id, ['pending'], 'approved', decider)
    if (!card.scopes.includes(scope)) {
      const details = [`${card.tool} is not declared as one whose approval may stand for every session of the brand.`]
      return { ok: false, problem: 'scope_not_offered', card, details }
    }
    if (scope === 'once') {
      const details = ['Similar calls need the scope "session" or "always".']
      return { ok: false, problem: 'bad_pattern', card, details }
    }
    const { argumentsText, extraText } = JSON.parse(await parts.seal.open(kept.sealedArguments)) as ToPark
    const details = similar === undefined ? [] : similarProblems(similar, scope, { argumentsText })
    if (details.length > 0) return { ok: false, problem: 'bad_pattern', card, details }
    return decide(id, ['pending'], 'approved', decider, { id: newId(), scope, similar, argumentsText, extraText })
  }

  function settle(id: string, decider: Decider, what: Settled): Promise<Decided> {
    const { by, note } = deciderText(decider)
    return audit.transaction<Decided>(async (tx, record) => {
      const [before] = await tx.select(SHOWN).from(cards).where(eq(cards.id, id)).for('update')
      if (before === undefined || hidden(before, decider)) return NOT_FOUND
      const row = await move(tx, id, ['unknown'], settled(before, what, by), ofDecider(decider))
      if (row === undefined) {
        const problem = before.status === 'unknown' ? 'changed' : before.settled ? 'already_decided' : 'not_unknown'
        return { ok: false, problem, card: toCard(before) }
      }
      const says = what === 'happened' ? ({ code: 'ok', outcome: 'done' } as const) : DID_NOT
      const reason = note === undefined ? what : `${what}: ${note}`
      record({ ...about(row), kind: 'card.settled', ...whoIn(row, decider), ...says, reason })
      await onMove?.(tx, toCard(row), 'settled')
      return { ok: true, card: toCard(row) }
    })
  }

  return {
    approve,
    deny: async (id, decider) => (isCardId(id) ? decide(id, ['pending'], 'denied', decider) : NOT_FOUND),
    withdraw: async (id, decider) =>
      isCardId(id) ? decide(id, ['pending', 'approved'], 'withdrawn', decider) : NOT_FOUND,
    settle: async (id, decider, what) => (isCardId(id) ? settle(id, decider, what) : NOT_FOUND),
  }
}

const NOT_FOUND = { ok: false, problem: 'not_found' } as const
const DID_NOT = { code: 'outcome_unknown', outcome: 'failed' } as const

const ofBrand = ({ brand }: Decider): SQL | undefined => (brand === undefined ? undefined : eq(cards.brand, brand))
const ofDecider = (decider: Decider): SQL | undefined =>
  and(ofBrand(decider), decider.shown === undefined ? undefined : eq(cards.shown, decider.shown))
const hidden = (row: CardRow, { brand }: Decider): boolean => brand !== undefined && row.brand !== brand

/** Who moved a card, from where, and what they were shown. */
function whoIn({ shown }: CardRow, decider: Decider): Partial<AuditEntry> {
  const { by, via, address } = deciderText(decider)
  return { by, via, address, shown }
}

/** The outcome keeps how the call ended, and says what a person found out. */
function settled(row: CardRow, what: Settled, by: string): CardChange {
  const ended = row.outcome === null ? { code: 'outcome_unknown' } : JSON.parse(row.outcome)
  return {
    status: what === 'happened' ? 'done' : 'failed',
    outcome: shownOutcome({ ...ended, settled: what }),
    settled: what,
    settledAt: clock,
    settledBy: by,
  }
}

function wordsOf({ similar, left, expiresAt }: { similar?: object; left?: number; expiresAt?: string }): string {
  if (similar === undefined) return 'exactly this call'
  return `${left} calls like this one until ${expiresAt}: ${JSON.stringify(similar)}`
}
