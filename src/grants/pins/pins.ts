/**
 * Pins: every MCP upstream of this process behind its guard, and what a person may do about a tool that is closed. The
 * definitions of native connectors are the product's own code, and are not pinned.
 * @module
 */
import type { Audit } from '../../audit/audit.ts'
import type { Connector } from '../../connector/connector.ts'
import type { Database } from '../../db/connect.ts'
import type { Log } from '../../db/log.ts'
import { diffDefinitions, diffSummary } from '../../policy/definition-diff.ts'
import { type Guarded, guardConnector, type NewTools, type Told } from './guard.ts'
import { createPicture } from './picture.ts'
import { readSet } from './read.ts'
import { about, createRecord, type OnPinChange, type PinChange } from './record.ts'
import {
  acceptAll,
  bodyOf,
  type Definition,
  definitionOf,
  lockSet,
  type PinSet,
  removeSet,
  type StoredPin,
  toolPart,
} from './rows.ts'

export type { Guarded, NewTools, Told } from './guard.ts'
export type { OnPinChange, PinChange } from './record.ts'
export { definitionOf, type PinSet, type StoredPin, toolPart } from './rows.ts'

export interface PinParts {
  readonly db: Database
  readonly audit: Audit
  readonly log: Log
  readonly onChange: OnPinChange
  /** Told after a change was written, for metrics. */
  readonly observe?: (kind: PinChange['kind'], count: number) => void
  readonly pollMs?: number
}

/** `changed`: another definition is there by now; `now` is its digest, where one is. */
export type Accepted =
  | { readonly ok: true }
  | { readonly ok: false; readonly problem: 'not_found' | 'undiscovered' }
  | { readonly ok: false; readonly problem: 'changed'; readonly now: string }

export interface PinsOfUpstreams {
  /** A connector with a guard before it. `changed` is told when its tools, its state or what is withheld changed. */
  guard(
    what: { readonly scope: string; readonly newTools: NewTools },
    make: (told: Told) => Connector,
    changed: () => void,
  ): Connector
  /** The guard of a connector; undefined for one without. */
  of(connector: Connector): Guarded | undefined
  /** Pins with their texts, from the database. */
  read(set: PinSet): Promise<{ readonly pinnedAt: Date; readonly pins: readonly StoredPin[] } | undefined>
  /** Accepts a tool as the digest says, and nothing else. */
  accept(guarded: Guarded, tool: string, digest: string, by: string): Promise<Accepted>
  /** Forgets an upstream that is gone, so that the next of its name is discovered anew. */
  forget(set: PinSet, by: string): Promise<void>
  /** Reads every pin again, now. */
  refresh(): Promise<boolean>
  close(): Promise<void>
}

/** Reads all pins and keeps up with them. */
export async function createPins(parts: PinParts): Promise<PinsOfUpstreams> {
  const { db, audit, log, onChange, observe = () => {} } = parts
  const guards = new Map<Guarded, () => void>()
  const byConnector = new WeakMap<Connector, Guarded>()
  const picture = await createPicture({
    db,
    log,
    ...(parts.pollMs !== undefined && { pollMs: parts.pollMs }),
    changed() {
      for (const [guarded, changed] of guards) {
        if (guarded.judge()) changed()
        guarded.look()
      }
    },
  })
  const record = createRecord({ audit, pinsOf: picture.of, refresh: picture.refresh, onChange, observe })

  /** The definition that a digest names: as this replica lists it, or as another saw it. */
  function named(
    guarded: Guarded,
    tool: string,
    digest: string,
    stored: StoredPin | undefined,
  ): Definition | undefined {
    const listed = guarded.listed().find((one) => toolPart(one) === tool)
    if (listed?.digest === digest) return definitionOf(listed)
    const text = stored?.seenDigest === digest ? stored.seenDefinition : null
    return text === null ? undefined : { tool, digest, text, body: bodyOf(text) }
  }

  return {
    guard(what, make, changed) {
      const guarded = guardConnector({ ...what, pinsOf: picture.of, record, log }, make, changed)
      guards.set(guarded, changed)
      const close = guarded.connector.close
      const connector: Connector = {
        ...guarded.connector,
        async close() {
          guards.delete(guarded)
          await close()
        },
      }
      byConnector.set(connector, guarded)
      return connector
    },
    of: (connector) => byConnector.get(connector),
    read: (set) => readSet(db, set),
    async accept(guarded, tool, digest, by) {
      const { set } = guarded
      const before = await readSet(db, set)
      if (before === undefined) return { ok: false, problem: 'undiscovered' }
      const stored = before.pins.find((pin) => pin.tool === tool)
      const definition = named(guarded, tool, digest, stored)
      if (definition === undefined) {
        const listed = guarded.listed().find((one) => toolPart(one) === tool)?.digest
        const now = listed ?? stored?.seenDigest ?? stored?.digest ?? undefined
        return now === undefined ? { ok: false, problem: 'not_found' } : { ok: false, problem: 'changed', now }
      }
      const name = `mcp__${set.connector}__${tool}`
      const diff = diffDefinitions(stored?.definition ?? undefined, definition.text)
      const was =
        stored?.digest == null ? 'new' : stored.digest === digest ? 'as it was accepted before' : diffSummary(diff)
      const done = await audit
        .transaction(async (tx, write) => {
          const { made } = await lockSet(tx, set)
          // Removed meanwhile: what comes next is a first discovery, and no single tool of it.
          if (made) throw new Removed()
          await acceptAll(tx, set, [definition], by)
          write({ ...about(set), kind: 'tool.accepted', tool: name, by, shown: digest, reason: was })
          return true
        })
        .catch((error: unknown) => {
          if (error instanceof Removed) return false
          throw error
        })
      if (!done) return { ok: false, problem: 'undiscovered' }
      observe('accepted', 1)
      await picture.refresh()
      return { ok: true }
    },
    async forget(set, by) {
      await audit.transaction(async (tx, write) => {
        if (await removeSet(tx, set))
          write({ ...about(set), kind: 'tool.changed', by, reason: 'the upstream is gone; its pins are forgotten' })
      })
      await picture.refresh(true)
    },
    refresh: () => picture.refresh(true),
    async close() {
      guards.clear()
      await picture.close()
    },
  }
}

class Removed extends Error {}
