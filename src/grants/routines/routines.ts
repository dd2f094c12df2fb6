/**
 * Routines: made, changed, made ready, and sent back to draft. Each change is one transaction with its audit row, made from
 * the version that its author saw or refused whole.
 * @module
 */
import { randomBytes } from 'node:crypto'
import type { Audit, AuditEntry } from '../../audit/audit.ts'
import type { RegisteredTool } from '../../connector/connector.ts'
import type { Database, Tx } from '../../db/connect.ts'
import { changeProblem, type Refusal, readyProblem, type RoutinePolicy, type ToolState } from '../../policy/routines.ts'
import { holdAccepted } from '../pins/rows.ts'
import { toolPart } from '../pins/rows.ts'
import { clearTools, type Gone } from './clear.ts'
import { createRoutinePicture } from './picture.ts'
import * as rows from './rows.ts'

export type { Gone } from './clear.ts'
export type { Allowance, Routine, RoutineChange, RoutineDraft, StoredTool } from './rows.ts'
type Routine = rows.Routine

export interface RoutineParts {
  readonly db: Database
  readonly audit: Audit
  readonly log: Parameters<typeof createRoutinePicture>[0]['log']
  /** Whether a supervised call of the tool under this definition is on the routine's traces. */
  readonly proven: (
    tx: Tx,
    of: { readonly routine: string; readonly tool: string; readonly digest: string },
  ) => Promise<boolean>
  /** Told after a routine changed. */
  readonly changed: () => void
  readonly pollMs?: number
}

/** Another version stands by now: what it is, and what happened since. */
export interface Conflict {
  readonly now: Routine
  readonly since: readonly rows.RoutineChange[]
}

/** What came of a change. Where it is not ok, nothing changed. */
export type Done =
  | { readonly ok: true; readonly routine: Routine }
  | { readonly ok: false; readonly problem: 'not_found' }
  | { readonly ok: false; readonly problem: 'name_taken' }
  | { readonly ok: false; readonly problem: 'conflict'; readonly conflict: Conflict }
  | { readonly ok: false; readonly problem: 'refused'; readonly refusal: Refusal }

/** What a person wants of a tool. */
export interface Wanted {
  readonly tool: RegisteredTool
  /** Whether it is open; a closed one is given with its name and digest all the same. */
  readonly open: boolean
  readonly to: ToolState
  readonly confirm: string | undefined
  readonly version: number | undefined
}

export interface Routines {
  /** A routine as this replica knows it: the same object until it changed. */
  of(id: string): RoutinePolicy | undefined
  generation(): number
  refresh(): Promise<void>
  create(brand: string, draft: rows.RoutineDraft, by: string): Promise<Done>
  /** Changes what a person writes of a routine. Tools of connections that it leaves are disabled. */
  change(id: string, version: number, draft: Partial<rows.RoutineDraft>, by: string): Promise<Done>
  remove(id: string, version: number | undefined, by: string): Promise<Done>
  setTool(id: string, wanted: Wanted, by: string): Promise<Done>
  /** `digestOf`: of a tool as it is now, where it is open. */
  ready(
    id: string,
    version: number | undefined,
    digestOf: (tool: string) => string | undefined,
    by: string,
  ): Promise<Done>
  /** Clears grants inside a transaction, such as that of a changed definition; says which routines went back to draft. */
  clear(tx: Tx, record: (entry: AuditEntry) => void, gone: Gone, by: string): Promise<readonly Routine[]>
  /** Clears what was granted of a whole connection: its tools were discovered anew (seed 002). */
  rediscovered(of: Pick<Gone, 'connector' | 'brand'>, by: string): Promise<readonly Routine[]>
  find(id: string): Promise<Routine | undefined>
  tools(id: string): Promise<readonly rows.StoredTool[]>
  list: (query: Parameters<typeof rows.listRoutines>[1]) => ReturnType<typeof rows.listRoutines>
  close(): Promise<void>
}

/** Thrown inside a transaction that must leave nothing behind. */
class Unchanged extends Error {
  readonly done: Done
  constructor(done: Done) {
    super('unchanged')
    this.done = done
  }
}

const NOT_FOUND: Done = { ok: false, problem: 'not_found' }

/** Reads all routines and keeps up with them. */
export async function createRoutines(parts: RoutineParts): Promise<Routines> {
  const { db, audit } = parts
  const picture = await createRoutinePicture(parts)

  /** One change: all of it, or nothing. */
  async function attempt(work: (tx: Tx, record: (entry: AuditEntry) => void) => Promise<Routine>): Promise<Done> {
    try {
      const routine = await audit.transaction(work)
      await picture.refresh()
      return { ok: true, routine }
    } catch (error) {
      if (error instanceof Unchanged) return error.done
      throw error
    }
  }

  /** Locks the routine in the version that a change was made from. Throws Unchanged where that is not the one that stands. */
  async function standing(tx: Tx, id: string, version: number | undefined): Promise<Routine> {
    const now = await rows.lockRoutine(tx, id)
    if (now === undefined) throw new Unchanged(NOT_FOUND)
    if (version === undefined || now.version === version) return now
    const conflict = { now, since: await rows.readChanges(tx, id, version) }
    throw new Unchanged({ ok: false, problem: 'conflict', conflict })
  }

  /** Writes the next version of a routine that was just read. Throws Unchanged where somebody was quicker. */
  async function next(
    tx: Tx,
    before: Routine,
    ...[set, by, what]: [Parameters<typeof rows.updateRoutine>[2], string, string]
  ) {
    const changed = await rows.updateRoutine(tx, before, set, by, what)
    return changed ?? (await standing(tx, before.id, before.version))
  }

  async function clear(tx: Tx, record: (entry: AuditEntry) => void, gone: Gone, by: string) {
    const sent = await clearTools(tx, gone, by)
    for (const routine of sent) record(changedRow(routine, by, `back to draft; ${routine.stateBecause ?? ''}`))
    return sent
  }

  return {
    of: picture.of,
    generation: picture.generation,
    refresh: picture.refresh,
    close: picture.close,
    find: (id) => rows.readRoutine(db.orm, id),
    tools: (id) => rows.readTools(db.orm, id),
    list: (query) => rows.listRoutines(db, query),
    clear,
    create: (brand, draft, by) =>
      attempt(async (tx, record) => {
        const id = `rt_${randomBytes(9).toString('base64url')}`
        const made = await rows.insertRoutine(tx, id, brand, draft, by)
        if (made === undefined) throw new Unchanged({ ok: false, problem: 'name_taken' })
        record(changedRow(made, by, `created: ${draft.name}`))
        return made
      }),
    change: (id, version, draft, by) =>
      attempt(async (tx, record) => {
        const before = await standing(tx, id, version)
        const now = { ...before, ...draft }
        const fields = (['name', 'description', 'channel', 'connections', 'allowance'] as const).filter(
          (field) => JSON.stringify(before[field]) !== JSON.stringify(now[field]),
        )
        if (fields.length === 0) return before
        const what = `changed ${fields.join(', ')}`
        const after = await next(tx, before, rows.draftColumns(now), by, what)
        await rows.dropTools(tx, after)
        record(changedRow(after, by, what))
        return after
      }),
    remove: (id, version, by) =>
      attempt(async (tx, record) => {
        const before = await standing(tx, id, version)
        const gone = (await rows.deleteRoutine(tx, id, before.version)) ?? (await standing(tx, id, before.version))
        record(changedRow(gone, by, 'removed'))
        return gone
      }),
    setTool: (id, { tool, open, to, confirm, version }, by) =>
      attempt(async (tx, record) => {
        const { name, connector, digest } = tool
        const known = await rows.readRoutine(tx, id)
        if (known === undefined) throw new Unchanged(NOT_FOUND)
        // Locked before the routine, as a changed definition does: whoever is second sees what the first did.
        let isOpen = open
        for (const scope of ['*', known.brand]) {
          isOpen = (await holdAccepted(tx, { scope, connector }, toolPart(tool), digest)) && isOpen
        }
        const seen = await standing(tx, id, version)
        const what = `${name}: ${to}`
        const after = await next(tx, seen, {}, by, what)
        const stands = (await rows.readTools(tx, id)).find((one) => one.tool === name)
        const from = stands?.digest === digest ? stands.state : 'disabled'
        if (from === to && (stands?.cleared ?? null) === null) throw new Unchanged({ ok: true, routine: seen })
        const proven = to === 'automatic' && (await parts.proven(tx, { routine: id, tool: name, digest }))
        const refusal = changeProblem(seen, { tool: name, to, from, confirm, open: isOpen, proven })
        if (refusal !== undefined) throw new Unchanged({ ok: false, problem: 'refused', refusal })
        await rows.putTool(tx, after, { tool: name, connector, state: to, digest, setBy: by })
        record({ ...changedRow(after, by, what), tool: name, connector, shown: digest })
        return after
      }),
    ready: (id, version, digestOf, by) =>
      attempt(async (tx, record) => {
        const before = await standing(tx, id, version)
        if (before.state === 'ready') return before
        const after = await next(tx, before, { state: 'ready', stateBecause: null }, by, 'ready')
        const held = (await rows.readTools(tx, id)).flatMap(({ tool, state, digest, since }) =>
          state === 'disabled' ? [] : [[tool, { state, digest, since }] as const],
        )
        const refusal = readyProblem({ name: before.name, tools: new Map(held) }, digestOf)
        if (refusal !== undefined) throw new Unchanged({ ok: false, problem: 'refused', refusal })
        record(changedRow(after, by, 'ready'))
        return after
      }),
    async rediscovered({ connector, brand }, by) {
      const gone = { connector, brand, tools: undefined, because: `${connector} was discovered anew` }
      const sent = await audit.transaction((tx, record) => clear(tx, record, gone, by))
      if (sent.length > 0) await picture.refresh()
      return sent
    },
  }
}

const changedRow = ({ id, brand, version }: Routine, by: string, what: string): AuditEntry => ({
  kind: 'routine.changed',
  routine: id,
  brand,
  by,
  reason: `version ${version}; ${what}`,
})
