/**
 * Parking a call: one open card per session and fingerprint, however many ask at once, and so many per session.
 * @module
 */
import { and, count, eq, inArray, sql } from '../db/drizzle.ts'
import type { Audit } from '../audit/audit.ts'
import type { RegisteredTool } from '../connector/connector.ts'
import { tell } from '../db/events.ts'
import { cards } from '../db/schema.ts'
import type { Seal } from '../db/seal.ts'
import type { Reason, Session } from '../policy/words.ts'
import { about, clock, EXPIRED, inMs } from './moves.ts'
import type { CardReader } from './read.ts'
import { type Card, type CardRow, OPEN, shownArguments, summarise, titleOf, toCard } from './show.ts'

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
}

/** `joined`: the card was there already. `too_many`: the session has as many open cards as it may have. */
export type Parked =
  | { readonly ok: true; readonly card: Card; readonly joined: boolean }
  | { readonly ok: false; readonly problem: 'too_many' }

export interface ParkParts {
  readonly reader: CardReader
  readonly audit: Audit
  readonly seal: Seal
  /** How long a card waits for a person. 0 or nonsense: it has expired when it is made. */
  readonly timeoutMs: number
  readonly newId: () => string
  readonly mostOpen: number
}

/** Builds `park`. */
export function createPark(parts: ParkParts): (call: ToPark) => Promise<Parked> {
  return async function park(call) {
    const { argumentsText, extraText, metaText, session, fingerprint } = call
    const sealed = await parts.seal.seal(JSON.stringify({ argumentsText, extraText, metaText }))
    for (;;) {
      const row = await insert(parts, call, sealed)
      if (row !== 'open' && row !== 'full') return { ok: true, card: toCard(row), joined: false }
      const open = await parts.reader.open(session.id, fingerprint)
      if (open !== undefined) return { ok: true, card: open, joined: true }
      if (row === 'full') return { ok: false, problem: 'too_many' }
      // The open card ended between the two statements, so the way is free now.
    }
  }
}

/** The new card with its records, or why there is none: the same call is open, or the session is full. */
function insert(parts: ParkParts, call: ToPark, sealedArguments: string): Promise<CardRow | 'open' | 'full'> {
  const { session, tool, reasons } = call
  const atOnce = !(parts.timeoutMs > 0)
  return parts.audit.transaction(async (tx, record) => {
    const held = and(eq(cards.sessionId, session.id), inArray(cards.status, [...OPEN]))
    const [counted] = await tx.select({ open: count() }).from(cards).where(held)
    if (!(counted !== undefined && counted.open < parts.mostOpen)) return 'full'
    const [row] = await tx
      .insert(cards)
      .values({
        id: parts.newId(),
        brand: session.brand,
        sessionId: session.id,
        role: session.role.name,
        tool: tool.name,
        connector: tool.connector,
        title: titleOf(tool),
        summary: summarise(tool, call.argumentsText),
        arguments: shownArguments(call.argumentsText),
        sealedArguments,
        fingerprint: call.fingerprint,
        digest: tool.digest,
        access: tool.access,
        rules: JSON.stringify(reasons),
        status: atOnce ? 'expired' : 'pending',
        expiresAt: inMs(atOnce ? 0 : parts.timeoutMs),
        ...(atOnce ? { endedAt: clock } : {}),
      })
      .onConflictDoNothing({
        target: [cards.sessionId, cards.fingerprint],
        where: sql`status in ('pending', 'approved', 'running')`,
      })
      .returning()
    if (row === undefined) return 'open'
    const rules = reasons.map(({ rule }) => rule)
    const asked = { attempt: call.attempt, subject: session.subject, view: call.viewHash, rules }
    record({ ...about(row), ...asked, kind: 'card.created' })
    if (atOnce) record({ ...about(row), ...EXPIRED })
    await tell(tx, { kind: 'card', id: row.id, status: row.status })
    return row
  })
}
