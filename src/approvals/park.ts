/**
 * Parking a call: one open card per session and fingerprint, however many ask at once, and so many per session.
 * @module
 */
import { and, count, eq, inArray, lt, sql } from '../db/drizzle.ts'
import type { Audit } from '../audit/audit.ts'
import type { RegisteredTool } from '../connector/connector.ts'
import type { Database, Tx } from '../db/connect.ts'
import { tell } from '../db/events.ts'
import { keepDefinition } from './definitions.ts'
import { cards, sessionCards } from '../db/schema.ts'
import type { Seal } from '../db/seal.ts'
import { parseExact } from '../json.ts'
import type { Reason, Session } from '../policy/words.ts'
import { bindingOf, type CardCost, costText } from './binding.ts'
import type { OnMove } from './decider.ts'
import { type Paying, reserveForCard } from './money.ts'
import { about, clock, EXPIRED, inMs } from './moves.ts'
import type { CardReader } from './read.ts'
import {
  type Card,
  type CardRow,
  OPEN,
  SHOWN,
  shownArguments,
  shownDigest,
  summarise,
  titleOf,
  toCard,
} from './show.ts'
import { covering, take } from './standing-use.ts'

/** A call that a person must decide. The texts are kept sealed and given back byte for byte when the call is claimed. */
export interface ToPark {
  readonly session: Session
  readonly tool: RegisteredTool
  readonly fingerprint: string
  readonly argumentsText: string | undefined
  readonly extraText: string
  readonly metaText: string
  readonly reasons: readonly Reason[]
  readonly viewHash: string
  readonly attempt: string
  /** What it costs, where that is known. Part of what an approval is bound to. */
  readonly cost?: CardCost | undefined
  /** How its cost is paid; `unlimited` when left away. */
  readonly paying?: Paying | undefined
}

/**
 * `joined`: the card was there already. `too_many`: the session has as many open cards as it may have.
 * `too_many_ever`: it made as many as a session may make. `short`: its allowance does not cover the cost any more.
 */
export type Parked =
  | { readonly ok: true; readonly card: Card; readonly joined: boolean }
  | { readonly ok: false; readonly problem: 'too_many' | 'too_many_ever' | 'short' }

export interface ParkParts {
  readonly db: Database
  readonly reader: CardReader
  readonly audit: Audit
  readonly seal: Seal
  /** How long a card waits for a person. 0 or nonsense: it has expired when it is made. */
  readonly timeoutMs: number
  readonly newId: () => string
  readonly mostOpen: number
  readonly mostEver: number
  readonly onMove: OnMove | undefined
}

/** Thrown inside the transaction of a card that cannot be made, so that nothing of it stays. */
class Unmade extends Error {
  readonly because: 'open' | 'full' | 'spent' | 'short'
  constructor(because: Unmade['because']) {
    super(because)
    this.because = because
  }
}

/** Builds `park`. */
export function createPark(parts: ParkParts): (call: ToPark) => Promise<Parked> {
  return async function park(call) {
    const { argumentsText, extraText, metaText, session, tool, fingerprint, cost } = call
    const asking = { brand: session.brand, sessionId: session.id, tool, fingerprint, argumentsText, extraText, cost }
    const sealed = await parts.seal.seal(JSON.stringify({ argumentsText, extraText, metaText }))
    for (;;) {
      const standing = await covering(parts.db.orm, asking)
      const row = await insert(parts, call, sealed, standing).catch((problem: unknown) => {
        if (problem instanceof Unmade) return problem.because
        throw problem
      })
      if (typeof row !== 'string') return { ok: true, card: toCard(row), joined: false }
      const open = await parts.reader.open(session.id, bindingOf(call))
      if (open !== undefined) return { ok: true, card: open, joined: true }
      if (row !== 'open') return { ok: false, problem: PROBLEMS[row] }
      // The open card ended between the two statements, so the way is free now.
    }
  }
}

const PROBLEMS = { full: 'too_many', spent: 'too_many_ever', short: 'short' } as const

/** The new card with its records. Throws Unmade: the same call is open, the session is full, or its allowance is short. */
function insert(
  parts: ParkParts,
  call: ToPark,
  sealedArguments: string,
  standing: readonly string[],
): Promise<CardRow> {
  const { session, reasons, attempt, paying = 'unlimited' } = call
  const atOnce = !(parts.timeoutMs > 0)
  return parts.audit.transaction(async (tx, record) => {
    await countOne(tx, session.id, parts)
    const [made] = await tx
      .insert(cards)
      .values({
        id: parts.newId(),
        ...rowOf(call),
        sealedArguments,
        status: atOnce ? 'expired' : 'pending',
        expiresAt: inMs(atOnce ? 0 : parts.timeoutMs),
        ...(atOnce ? { endedAt: clock } : {}),
      })
      .onConflictDoNothing({
        target: [cards.sessionId, cards.binding],
        where: sql`status in ('pending', 'approved', 'running')`,
      })
      .returning(SHOWN)
    if (made === undefined) throw new Unmade('open')
    await keepDefinition(tx, call.tool)
    const rules = reasons.map(({ rule }) => rule)
    const asked = { attempt, subject: session.subject, view: call.viewHash, rules }
    record({ ...about(made), ...asked, kind: 'card.created', shown: made.shown })
    if (!atOnce && !(await reserveForCard(tx, made, attempt, paying))) throw new Unmade('short')
    // What goes beyond the allowance is a person's to say each time.
    const covered = atOnce || paying === 'beyond' ? undefined : await coveredBy(tx, made, standing)
    const row = covered ?? made
    if (atOnce) record({ ...about(row), ...EXPIRED })
    if (covered !== undefined) {
      const { decidedBy, scope, standing: id } = covered
      const says = { by: decidedBy ?? undefined, scope: scope ?? undefined, standing: id ?? undefined }
      record({ ...about(row), kind: 'card.decided', code: 'ok', ...says })
    }
    await tell(tx, { kind: 'card', id: row.id, status: row.status })
    await parts.onMove?.(tx, toCard(row), 'created')
    if (row.status !== 'pending') await parts.onMove?.(tx, toCard(row), atOnce ? 'finished' : 'decided')
    return row
  })
}

/**
 * Counts one card more of a session, and holds its others back until this one is made or not: so the caps are exact, and
 * cost the same however many cards there are.
 */
async function countOne(tx: Tx, sessionId: string, { mostOpen, mostEver }: ParkParts): Promise<void> {
  const [counted] = await tx
    .insert(sessionCards)
    .values({ sessionId, made: 1 })
    .onConflictDoUpdate({
      target: sessionCards.sessionId,
      set: { made: sql`${sessionCards.made} + 1` },
      setWhere: lt(sessionCards.made, mostEver),
    })
    .returning({ made: sessionCards.made })
  if (!(counted !== undefined && counted.made <= mostEver)) throw new Unmade('spent')
  const held = and(eq(cards.sessionId, sessionId), inArray(cards.status, [...OPEN]))
  const [now] = await tx.select({ open: count() }).from(cards).where(held)
  if (!(now !== undefined && now.open < mostOpen)) throw new Unmade('full')
}

/** What a row says of the call. */
function rowOf(call: ToPark) {
  const { session, tool, reasons, fingerprint, cost } = call
  const shown = {
    tool: tool.name,
    title: titleOf(tool),
    summary: summarise(tool, call.argumentsText),
    fingerprint,
    digest: tool.digest,
    upstream: tool.upstream,
  }
  const args = shownArguments(call.argumentsText)
  const seen = { ...shown, arguments: parseExact(args), rules: reasons, ...(cost === undefined ? {} : { cost }) }
  return {
    ...shown,
    brand: session.brand,
    sessionId: session.id,
    role: session.role.name,
    connector: tool.connector,
    arguments: args,
    access: tool.access,
    rules: JSON.stringify(reasons),
    cost: costText(cost),
    binding: bindingOf(call),
    shown: shownDigest(seen),
    alwaysOffered: tool.standing === true,
  }
}

/** The card as approved, where one of these standing approvals still has a call left; it is then taken from its count. */
async function coveredBy(tx: Tx, made: CardRow, ids: readonly string[]): Promise<CardRow | undefined> {
  const standing = await take(tx, ids)
  if (standing === undefined) return undefined
  const decision = { decidedAt: clock, decidedBy: `standing approval ${standing.id}` }
  const [row] = await tx
    .update(cards)
    .set({ status: 'approved', ...decision, scope: standing.scope, standing: standing.id })
    .where(eq(cards.id, made.id))
    .returning(SHOWN)
  return row
}
