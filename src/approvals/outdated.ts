/**
 * Cards of tools whose definition changed: what a person would say yes to is not what is there any more, so calls that
 * did not start are taken back.
 * @module
 */
import type { AuditEntry } from '../audit/audit.ts'
import type { Tx } from '../db/connect.ts'
import { and, eq, inArray, type SQL } from '../db/drizzle.ts'
import { tell } from '../db/events.ts'
import { cards } from '../db/schema.ts'
import type { OnMove } from './decider.ts'
import { payingFor } from './money.ts'
import { about, clock } from './moves.ts'
import { SHOWN, toCard } from './show.ts'

/** Who takes such cards back, as the card and the audit name them. */
export const CHANGED_DEFINITION = 'definition changed'

export interface Outdated {
  readonly connector: string
  /** Undefined: of every brand. */
  readonly brand: string | undefined
  readonly tools: readonly { readonly name: string; readonly digest: string }[]
}

/**
 * Withdraws, in the transaction that notes the change, every pending or approved card of these tools that was parked on
 * another definition than the one now seen. How many.
 */
export async function withdrawOutdated(
  tx: Tx,
  record: (entry: AuditEntry) => void,
  { connector, brand, tools }: Outdated,
  told?: OnMove,
): Promise<number> {
  if (tools.length === 0) return 0
  const onMove = payingFor(told)
  const seen = new Map(tools.map(({ name, digest }) => [name, digest]))
  const ofBrand: SQL | undefined = brand === undefined ? undefined : eq(cards.brand, brand)
  const concerned = and(
    eq(cards.connector, connector),
    ofBrand,
    inArray(cards.tool, [...seen.keys()]),
    inArray(cards.status, ['pending', 'approved']),
  )
  const waiting = await tx
    .select({ id: cards.id, tool: cards.tool, digest: cards.digest })
    .from(cards)
    .where(concerned)
    .orderBy(cards.sessionId, cards.connector, cards.id)
    .for('update')
  const old = waiting.filter(({ tool, digest }) => seen.get(tool) !== digest)
  for (const { id } of old) {
    const [row] = await tx
      .update(cards)
      .set({ status: 'withdrawn', decidedBy: CHANGED_DEFINITION, decidedAt: clock, endedAt: clock })
      .where(and(eq(cards.id, id), inArray(cards.status, ['pending', 'approved'])))
      .returning(SHOWN)
    if (row === undefined) continue
    record({ ...about(row), kind: 'card.decided', by: CHANGED_DEFINITION, ...SAYS })
    await tell(tx, { kind: 'card', id, status: 'withdrawn' })
    await onMove(tx, toCard(row), 'decided')
  }
  return old.length
}

const SAYS = {
  code: 'definition_changed',
  outcome: 'refused',
  reason: 'withdrawn: the definition of its tool changed',
} as const
