/**
 * Definitions of tools as cards were made with them, by digest, so that a person is shown what changed since the last yes.
 * Owner of the table tool_definitions.
 * @module
 */
import type { RegisteredTool } from '../connector/connector.ts'
import type { Database, Tx } from '../db/connect.ts'
import { and, desc, eq, inArray, isNotNull, isNull, lt, ne } from '../db/drizzle.ts'
import { cards, toolDefinitions } from '../db/schema.ts'
import { type Card, shownText } from './show.ts'

/** What a person last said yes to, and what a card was made with: JSON for people. */
export interface DefinitionChange {
  readonly former: string
  readonly now: string
}

const LONGEST = 20_000
const YES = ['approved', 'running', 'done', 'failed', 'unknown'] as const

/** Keeps what a tool says of itself, once for each digest. */
export async function keepDefinition(tx: Tx, tool: RegisteredTool): Promise<void> {
  await tx
    .insert(toolDefinitions)
    .values({ digest: tool.digest, definition: definitionText(tool) })
    .onConflictDoNothing()
}

/** How the definition on a card differs from that on the last card of the tool and brand that a person approved; undefined when it does not. */
export async function definitionChange(db: Database, card: Card): Promise<DefinitionChange | undefined> {
  const before = card.decidedAt === undefined ? undefined : lt(cards.decidedAt, new Date(card.decidedAt))
  const approved = and(inArray(cards.status, [...YES]), isNull(cards.standing), isNotNull(cards.decidedAt), before)
  const [last] = await db.orm
    .select({ digest: cards.digest })
    .from(cards)
    .where(and(eq(cards.brand, card.brand), eq(cards.tool, card.tool), ne(cards.id, card.id), approved))
    .orderBy(desc(cards.decidedAt))
    .limit(1)
  if (last === undefined || last.digest === card.digest) return undefined
  const found = await db.orm
    .select()
    .from(toolDefinitions)
    .where(inArray(toolDefinitions.digest, [last.digest, card.digest]))
  const textOf = (digest: string) => found.find((each) => each.digest === digest)?.definition
  const [former, now] = [textOf(last.digest), textOf(card.digest)]
  return former === undefined || now === undefined ? undefined : { former, now }
}

/** All of a definition, its texts fit to be shown. */
export function definitionText(tool: Pick<RegisteredTool, 'ownName' | 'definition'>): string {
  const whole = `{"name":${JSON.stringify(tool.ownName)}${tool.definition.modern}}`
  try {
    const text = JSON.stringify(shown(JSON.parse(whole)))
    return text.length <= LONGEST ? text : shownText(text, LONGEST)
  } catch {
    return shownText(whole, LONGEST)
  }
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return shownText(value, 4_000)
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [shownText(key, 200), shown(each)]))
}
