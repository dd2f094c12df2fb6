/**
 * Routines (seed 002): two grants per tool. Enabling says that a capability belongs to a responsibility; automatic says
 * that it may happen while nobody watches. Pure; what is not known for certain gives nothing.
 * @module
 */
import type { Session, SessionRoutine, Tool } from './words.ts'

export const TOOL_STATES = ['disabled', 'enabled', 'automatic'] as const
/** `enabled`: each call asks a person. `automatic`: it runs unattended. */
export type ToolState = (typeof TOOL_STATES)[number]

/** What a person let a routine do with one tool. */
export interface RoutineGrant {
  readonly state: 'enabled' | 'automatic'
  /** Of the definition that was let in. */
  readonly digest: string
  /** The routine's version since which it stands like this. */
  readonly since: number
}

/** A routine as it stands. A tool that `tools` does not name is disabled. */
export interface RoutinePolicy {
  readonly id: string
  readonly brand: string
  readonly name: string
  readonly version: number
  readonly state: 'draft' | 'ready'
  readonly connections: readonly string[]
  /** By canonical name. */
  readonly tools: ReadonlyMap<string, RoutineGrant>
}

/** How the calls of a tool go that a session of a routine holds. */
export type RoutineWord = 'asks' | 'automatic'

export type RoutineHolding = { readonly word: RoutineWord } | { readonly because: string }

/**
 * How a session of a routine stands to a tool of this definition digest, with the routine as it is now. What was let in
 * after the session was issued gives it nothing more than it had: automatic counts from the version it was given in.
 */
export function routineHolds(
  session: Pick<Session, 'routine' | 'brand'>,
  tool: Pick<Tool, 'name' | 'connector'>,
  digest: string,
  routine: RoutinePolicy | undefined,
): RoutineHolding {
  const own = session.routine
  if (own === undefined) return { because: 'The session works for no routine.' }
  if (routine === undefined || routine.id !== own.id || routine.brand !== session.brand) {
    return { because: `The routine ${own.id} is not there any more.` }
  }
  const called = `The routine ${JSON.stringify(routine.name)}`
  // This replica has not read what the session was issued from.
  if (!(routine.version >= own.version))
    return { because: `${called} is not known here in version ${own.version} yet.` }
  if (own.supervised !== true && routine.state !== 'ready') {
    return { because: `${called} is a draft, so nothing of it runs unattended.` }
  }
  const grant = routine.connections.includes(tool.connector) ? routine.tools.get(tool.name) : undefined
  if (grant === undefined) return { because: `${called} has ${tool.name} disabled.` }
  if (grant.digest !== digest)
    return { because: `${called} let ${tool.name} in under another definition than it has now.` }
  return { word: isAutomatic(grant, routine, own) ? 'automatic' : 'asks' }
}

/** A draft has yet to be looked at, so in its supervised sessions every call asks. */
const isAutomatic = (grant: RoutineGrant, { state }: RoutinePolicy, { version }: SessionRoutine): boolean =>
  grant.state === 'automatic' && state === 'ready' && grant.since <= version

/** The sentence a person must confirm before a tool runs unattended (seed 002, "Confirmation"). Of one tool, ever. */
export const confirmationOf = (routine: Pick<RoutinePolicy, 'name'>, tool: string): string =>
  `I confirm that ${tool} may read or change connected data while nobody is watching, in the routine ${JSON.stringify(routine.name)}.`

/** What a person wants of one tool of a routine, and the facts it is judged by. */
export interface Change {
  readonly tool: string
  readonly to: ToolState
  /** How it stands now under the definition it has now. */
  readonly from: ToolState
  readonly confirm: string | undefined
  /** Whether the tool is open: listed, and as a person accepted it. */
  readonly open: boolean
  /** Whether a supervised call of it under its present definition is on the routine's traces. */
  readonly proven: boolean
}

export interface Refusal {
  readonly status: 409 | 422
  readonly code: string
  readonly detail: string
  /** The exact sentence to confirm. */
  readonly confirm?: string
}

/** Why a change is refused; undefined when it may be made. Annotations are no part of the question (seed 002). */
export function changeProblem(routine: Pick<RoutinePolicy, 'name'>, change: Change): Refusal | undefined {
  const { tool, to, from } = change
  if (to === 'disabled' || to === from) return undefined
  if (change.open !== true) {
    const detail = `The definition of ${tool} is not accepted as it is now; look at it and accept it first.`
    return { status: 409, code: 'definition_changed', detail }
  }
  if (to === 'enabled') return undefined
  if (from === 'disabled') {
    const detail = `${tool} is disabled in the routine ${JSON.stringify(routine.name)}; enable it first, and grant automatic once you have read a trace.`
    return { status: 422, code: 'automatic_on_disabled_tool', detail }
  }
  const confirm = confirmationOf(routine, tool)
  if (change.confirm !== confirm) {
    const detail = `Automatic execution of ${tool} needs a confirmation of its own: it may read or change connected data while nobody is watching. Send confirm with exactly this sentence: ${confirm}`
    return { status: 409, code: 'automatic_tool_confirmation_required', detail, confirm }
  }
  if (change.proven !== true) {
    const detail = `No supervised call of ${tool} under its present definition is on the traces of this routine. Start a supervised session, let it call the tool, and read the trace.`
    return { status: 409, code: 'automatic_tool_proof_required', detail }
  }
  return undefined
}

/** Why a routine cannot be ready; undefined when it can. */
export function readyProblem(
  routine: Pick<RoutinePolicy, 'name' | 'tools'>,
  digestOf: (tool: string) => string | undefined,
): Refusal | undefined {
  const held = [...routine.tools].filter(([tool, { digest }]) => digestOf(tool) === digest)
  if (held.length > 0) return undefined
  const detail = `The routine ${JSON.stringify(routine.name)} has no tool that is enabled under its present definition, so its sessions could do nothing.`
  return { status: 422, code: 'nothing_enabled', detail }
}
