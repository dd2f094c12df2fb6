/**
 * Writing down what a listing adds to the pins: the first discovery as a whole, then what changed, what is new and what is
 * as it was again. Each is one transaction with its audit rows and whatever follows from it.
 * @module
 */
import type { Audit, AuditEntry } from '../../audit/audit.ts'
import type { RegisteredTool } from '../../connector/connector.ts'
import type { Tx } from '../../db/connect.ts'
import { diffDefinitions, diffSummary } from '../../policy/definition-diff.ts'
import { isIdle, type Plan, type Pins, plan } from '../../policy/pins.ts'
import { type Guarded, listedTool } from './guard.ts'
import {
  acceptAll,
  type Definition,
  definitionOf,
  forgetFresh,
  lockSet,
  noteBack,
  noteSeen,
  type PinSet,
  toolPart,
} from './rows.ts'

/** Something that became of a tool. `changed` and `new` are closed until somebody accepts them. */
export interface PinChange {
  readonly kind: 'changed' | 'new' | 'back' | 'accepted'
  /** Its part of the name, and the canonical one. */
  readonly tool: string
  readonly name: string
  /** Of the definition as it is now. */
  readonly digest: string
  /** Which fields differ from what was accepted; never what stands in them. */
  readonly summary: string
  readonly renamedFrom?: string
}

/** What follows from changes, inside their transaction. */
export type OnPinChange = (
  tx: Tx,
  record: (entry: AuditEntry) => void,
  set: PinSet,
  changes: readonly PinChange[],
) => Promise<void>

export interface RecordParts {
  readonly audit: Audit
  readonly pinsOf: (set: PinSet) => Pins
  readonly refresh: () => Promise<boolean>
  readonly onChange: OnPinChange
  /** Told after a transaction, for metrics. */
  readonly observe: (kind: PinChange['kind'], count: number) => void
}

/** Tools of one transaction. */
const AT_ONCE = 100
const MOST_TRIES = 3
const NEW_ONES = 'newTools: open'

/** The set was removed or made by another meanwhile. */
class Overtaken extends Error {}

/** Builds what a guard calls after each listing. Throws what the database says. */
export function createRecord(
  parts: RecordParts,
): (guarded: Guarded, before: ReadonlyMap<string, string> | undefined) => Promise<void> {
  const { audit, pinsOf, refresh, onChange, observe } = parts

  async function record(guarded: Guarded, before: ReadonlyMap<string, string> | undefined): Promise<void> {
    const { set } = guarded
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const tools = guarded.listed()
      const todo = plan(pinsOf(set), tools.map(listedTool), before, guarded.newTools)
      if (isIdle(todo)) return
      try {
        if (todo.first) await discovered(set, tools)
        else await differ(guarded, tools, todo)
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error
      }
      await refresh()
    }
  }

  async function discovered(set: PinSet, tools: readonly RegisteredTool[]): Promise<void> {
    const all = tools.map(definitionOf)
    await audit.transaction(async (tx, write) => {
      const { made } = await lockSet(tx, set)
      if (!made) throw new Overtaken()
      await acceptAll(tx, set, all, 'first discovery')
      write({ ...about(set), kind: 'tool.pinned', by: 'first discovery', reason: countOf(all.length) })
    })
  }

  async function differ(guarded: Guarded, tools: readonly RegisteredTool[], todo: Plan): Promise<void> {
    const byPart = new Map(tools.map((tool) => [toolPart(tool), tool]))
    const { accepted, changed, fresh, back, vanished } = todo
    const work = [
      ...changed.map((tool) => ({ tool, kind: 'changed' as const })),
      ...fresh.map((tool) => ({ tool, kind: 'new' as const })),
      ...accepted.map((tool) => ({ tool, kind: 'accepted' as const })),
      ...back.map((tool) => ({ tool, kind: 'back' as const })),
    ]
    for (let i = 0; i < Math.max(work.length, 1); i += AT_ONCE) {
      const some = work.slice(i, i + AT_ONCE).flatMap(({ tool, kind }) => {
        const found = byPart.get(tool)
        return found === undefined ? [] : [{ kind, name: found.name, definition: definitionOf(found) }]
      })
      const changes = await audit.transaction((tx, write) => inOne(tx, write, guarded, some, i === 0 ? vanished : []))
      for (const { kind } of changes) observe(kind, 1)
    }
  }

  async function inOne(
    tx: Tx,
    write: (entry: AuditEntry) => void,
    guarded: Guarded,
    some: readonly { kind: PinChange['kind']; name: string; definition: Definition }[],
    vanished: readonly string[],
  ): Promise<readonly PinChange[]> {
    const { set } = guarded
    const { made } = await lockSet(tx, set)
    if (made) throw new Overtaken()
    await forgetFresh(tx, set, vanished)
    const of = (...kinds: PinChange['kind'][]) =>
      some.filter(({ kind }) => kinds.includes(kind)).map(({ definition }) => definition)
    const now = of('accepted')
    await acceptAll(tx, set, now, NEW_ONES)
    const seen = await noteSeen(tx, set, of('changed', 'new'))
    const back = await noteBack(tx, set, of('back'))
    const took = new Set([...now.map(({ tool }) => tool), ...seen.keys(), ...back.keys()])
    const changes = some
      .filter(({ definition }) => took.has(definition.tool))
      .map(({ kind, name, definition: { tool, digest, text } }): PinChange => {
        const { renamedFrom } = guarded.verdict(tool) ?? {}
        const former = seen.get(tool)?.definition
        const summary = former == null ? '' : diffSummary(diffDefinitions(former, text))
        return { kind, tool, name, digest, summary, ...(renamedFrom === undefined ? {} : { renamedFrom }) }
      })
    for (const change of changes) {
      const { kind, name, digest } = change
      const by = kind === 'accepted' ? { by: NEW_ONES } : {}
      const type = kind === 'accepted' ? 'tool.accepted' : 'tool.changed'
      write({ ...about(set), kind: type, tool: name, shown: digest, reason: reasonOf(change), ...by })
    }
    if (changes.length > 0) await onChange(tx, write, set, changes)
    return changes
  }

  return record
}

/** What an audit row says of a set. */
export const about = ({ scope, connector }: PinSet): Pick<AuditEntry, 'brand' | 'connector'> => ({
  brand: scope,
  connector,
})

const countOf = (count: number): string => `${count} ${count === 1 ? 'tool' : 'tools'} accepted as found`

function reasonOf({ kind, summary, renamedFrom }: PinChange): string {
  switch (kind) {
    case 'changed':
      return `definition changed: ${summary}`
    case 'back':
      return 'as it was accepted again'
    case 'accepted':
      return 'new, and new tools are open here'
    default:
      return renamedFrom === undefined ? 'new' : `new, with the body of ${renamedFrom}`
  }
}
