/**
 * Pins as rows. Owner of the tables pin_sets and tool_pins. Whoever changes a pin locks its set first, so that replicas
 * take turns and of several that see the same thing one writes it down.
 * @module
 */
import { createHash } from 'node:crypto'
import type { RegisteredTool } from '../../connector/connector.ts'
import type { Tx } from '../../db/connect.ts'
import { and, eq, inArray, isNull, type SQL, sql } from '../../db/drizzle.ts'
import { tell } from '../../db/events.ts'
import { pinSets, toolPins } from '../../db/schema.ts'
import { canonicalText, join, members } from '../../json.ts'

/** Whose pins: of a brand's own connection, or (`*`) of an upstream of the operator's. */
export interface PinSet {
  readonly scope: string
  readonly connector: string
}

/** A definition to be kept. */
export interface Definition {
  readonly tool: string
  readonly digest: string
  /** Canonical. */
  readonly text: string
  readonly body: string
}

/** A pin with its texts. */
export interface StoredPin {
  readonly tool: string
  readonly digest: string | null
  readonly definition: string | null
  readonly acceptedBy: string | null
  readonly acceptedAt: Date | null
  readonly seenDigest: string | null
  readonly seenDefinition: string | null
  readonly seenAt: Date | null
}

/** The part of a canonical name that names the tool in its connector. */
export const toolPart = ({ name, connector }: Pick<RegisteredTool, 'name' | 'connector'>): string =>
  name.slice(`mcp__${connector}__`.length)

/** The definition of an upstream's tool as it is kept. */
export function definitionOf(tool: RegisteredTool): Definition {
  const text = canonicalText(tool.source ?? '{}')
  return { tool: toolPart(tool), digest: tool.digest, text, body: bodyOf(text) }
}

/** Digest (hex) of a canonical definition without its name. */
export function bodyOf(text: string): string {
  const found = members(text)
  return sha256(found === undefined ? text : join(text, found, (key) => key === 'name'))
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Locks a set and tells every replica of it when the transaction commits. `made`: it was not there before. */
export async function lockSet(tx: Tx, { scope, connector }: PinSet): Promise<{ readonly made: boolean }> {
  const [row] = await tx
    .insert(pinSets)
    .values({ scope, connector, version: NEXT })
    .onConflictDoUpdate({
      target: [pinSets.scope, pinSets.connector],
      set: { version: NEXT, changedAt: sql`clock_timestamp()` },
    })
    .returning({ made: sql<boolean>`xmax = 0` })
  await tell(tx, { kind: 'pins' })
  return { made: row?.made === true }
}

const NEXT = sql<number>`nextval('pin_versions')`
const AT_ONCE = 200

/** Accepts definitions as they are, whatever was accepted before. The set is locked. */
export async function acceptAll(tx: Tx, set: PinSet, definitions: readonly Definition[], by: string): Promise<void> {
  for (let i = 0; i < definitions.length; i += AT_ONCE) {
    const values = definitions.slice(i, i + AT_ONCE).map(({ tool, digest, text, body }) => {
      const accepted = { digest, definition: text, body, acceptedBy: by, acceptedAt: sql`clock_timestamp()` }
      return { scope: set.scope, connector: set.connector, tool, ...accepted }
    })
    await tx
      .insert(toolPins)
      .values(values)
      .onConflictDoUpdate({
        target: [toolPins.scope, toolPins.connector, toolPins.tool],
        set: {
          digest: sql`excluded.digest`,
          definition: sql`excluded.definition`,
          body: sql`excluded.body`,
          acceptedBy: sql`excluded.accepted_by`,
          acceptedAt: sql`excluded.accepted_at`,
          ...UNSEEN,
        },
      })
  }
}

const UNSEEN = { seenDigest: null, seenDefinition: null, seenAt: null }

/**
 * Notes what is seen and not accepted. The pins as they were, by tool, of those alone for which it was neither noted nor
 * accepted already. The set is locked.
 */
export async function noteSeen(
  tx: Tx,
  set: PinSet,
  definitions: readonly Definition[],
): Promise<ReadonlyMap<string, StoredPin>> {
  const before = await readSome(tx, set, definitions)
  const news = definitions.filter(({ tool, digest }) => {
    const pin = before.get(tool)
    return pin?.digest !== digest && pin?.seenDigest !== digest
  })
  if (news.length === 0) return new Map()
  const values = news.map(({ tool, digest, text }) => {
    return { ...set, tool, seenDigest: digest, seenDefinition: text, seenAt: sql`clock_timestamp()` }
  })
  await tx
    .insert(toolPins)
    .values(values)
    .onConflictDoUpdate({
      target: [toolPins.scope, toolPins.connector, toolPins.tool],
      set: {
        seenDigest: sql`excluded.seen_digest`,
        seenDefinition: sql`excluded.seen_definition`,
        seenAt: sql`excluded.seen_at`,
      },
    })
  return new Map(news.map(({ tool }) => [tool, before.get(tool) ?? { ...NEVER, tool }]))
}

const NEVER = {
  digest: null,
  definition: null,
  acceptedBy: null,
  acceptedAt: null,
  seenDigest: null,
  seenDefinition: null,
  seenAt: null,
}

/** Forgets what was seen of tools that are as they were accepted again; those of which anything was. The set is locked. */
export async function noteBack(
  tx: Tx,
  set: PinSet,
  definitions: readonly Definition[],
): Promise<ReadonlyMap<string, StoredPin>> {
  const before = await readSome(tx, set, definitions)
  const back = definitions.flatMap(({ tool, digest }) => {
    const pin = before.get(tool)
    return pin?.digest === digest && pin.seenDigest !== null ? [pin] : []
  })
  const tools = back.map(({ tool }) => tool)
  if (tools.length > 0) {
    await tx
      .update(toolPins)
      .set(UNSEEN)
      .where(and(ofSet(set), inArray(toolPins.tool, tools)))
  }
  return new Map(back.map((pin) => [pin.tool, pin]))
}

async function readSome(tx: Tx, set: PinSet, some: readonly Definition[]): Promise<ReadonlyMap<string, StoredPin>> {
  const tools = some.map(({ tool }) => tool)
  if (tools.length === 0) return new Map()
  const found = await tx
    .select(STORED)
    .from(toolPins)
    .where(and(ofSet(set), inArray(toolPins.tool, tools)))
  return new Map(found.map((pin) => [pin.tool, pin]))
}

/** Forgets tools that nobody ever accepted. */
export async function forgetFresh(tx: Tx, set: PinSet, tools: readonly string[]): Promise<void> {
  for (let i = 0; i < tools.length; i += AT_ONCE) {
    const some = inArray(toolPins.tool, tools.slice(i, i + AT_ONCE))
    await tx.delete(toolPins).where(and(ofSet(set), some, isNull(toolPins.digest)))
  }
}

/** Removes a set with all its pins; false where there is none. */
export async function removeSet(tx: Tx, { scope, connector }: PinSet): Promise<boolean> {
  const one = and(eq(pinSets.scope, scope), eq(pinSets.connector, connector))
  const gone = await tx.delete(pinSets).where(one).returning({ connector: pinSets.connector })
  if (gone.length > 0) await tell(tx, { kind: 'pins' })
  return gone.length > 0
}

/** The columns of a stored pin. */
export const STORED = {
  tool: toolPins.tool,
  digest: toolPins.digest,
  definition: toolPins.definition,
  acceptedBy: toolPins.acceptedBy,
  acceptedAt: toolPins.acceptedAt,
  seenDigest: toolPins.seenDigest,
  seenDefinition: toolPins.seenDefinition,
  seenAt: toolPins.seenAt,
}

export const ofSet = ({ scope, connector }: PinSet): SQL | undefined =>
  and(eq(toolPins.scope, scope), eq(toolPins.connector, connector))

/**
 * Whether a tool is as it was accepted, under this digest; the set stays as it is until the transaction ends. Yes where
 * nothing of it is pinned.
 */
export async function holdAccepted(tx: Tx, set: PinSet, tool: string, digest: string): Promise<boolean> {
  const one = and(eq(pinSets.scope, set.scope), eq(pinSets.connector, set.connector))
  const [found] = await tx.select({ connector: pinSets.connector }).from(pinSets).where(one).for('share')
  if (found === undefined) return true
  const [pin] = await tx
    .select(STORED)
    .from(toolPins)
    .where(and(ofSet(set), eq(toolPins.tool, tool)))
  return pin?.digest === digest && pin.seenDigest === null
}
