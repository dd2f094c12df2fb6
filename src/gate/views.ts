/**
 * Compiled views, built once per kind of session and registry state and shared by all doors.
 * A call looks its tool up in the very object that the list was printed from.
 * @module
 */
import { createHash } from 'node:crypto'
import type { RegisteredTool } from '../connector/connector.ts'
import type { Registry } from '../connector/registry.ts'
import type { RoutinePolicy } from '../policy/routines.ts'
import { compileView, type View } from '../policy/view.ts'
import type { Session } from '../policy/words.ts'
import { builtinTools, PERMISSION_PROMPT } from './harness-tools.ts'

export type ToolView = View<RegisteredTool>

export interface Views {
  /** The session's view as of now; the same object until the registry changed. */
  of(session: Session): ToolView
}

/** Routines as they are now. */
export interface RoutinesNow {
  of(id: string): RoutinePolicy | undefined
  /** Changes with every change of any of them. */
  generation(): number
}

const MOST_VIEWS = 2_000

/**
 * Builds the cache of views over a registry. Equal `viewKey`s of equal delegation depth share one view.
 * `access` says what each built-in does; without it there is no harness that could ask about them.
 */
export function createViews(
  registry: Registry,
  builtins: readonly string[],
  access?: Readonly<Record<string, 'read' | 'write'>>,
  routines?: RoutinesNow,
): Views {
  const asked = access === undefined ? {} : { builtinTools: builtinTools(builtins, access) }
  const prompts = access === undefined ? [] : [PERMISSION_PROMPT]
  const shared = new Map<
    string,
    { tools: readonly RegisteredTool[]; routine: RoutinePolicy | undefined; view: ToolView }
  >()
  const own = new WeakMap<Session, { generation: string | number; view: ToolView }>()

  function compile(session: Session): ToolView {
    const tools = registry.tools(session.brand)
    const key = `${session.viewKey} ${session.limits.delegationDepth ?? 0}`
    const kept = shared.get(key)
    const routine = session.routine && routines?.of(session.routine.id)
    if (kept?.tools === tools && kept.routine === routine) return kept.view
    const supply = { tools: [...tools, ...prompts], builtins, ...asked }
    const view = compileView(session, { ...supply, mark: (tool) => tool.digest, hash, routine })
    shared.delete(key)
    shared.set(key, { tools, routine, view })
    if (shared.size > MOST_VIEWS) shared.delete(shared.keys().next().value as string)
    return view
  }

  return {
    of(session) {
      const tools = registry.generation()
      const generation = session.routine === undefined ? tools : `${tools} ${routines?.generation()}`
      const kept = own.get(session)
      if (kept?.generation === generation) return kept.view
      const view = compile(session)
      own.set(session, { generation, view })
      return view
    },
  }
}

/** The tool a session holds under a canonical name, or a built-in under its bare one. */
export const heldTool = (view: ToolView, name: string): RegisteredTool | undefined =>
  view.byName.get(name) ?? view.builtinTools.get(name)

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
