/**
 * Compiled views, built once per kind of session and registry state and shared by all doors.
 * A call looks its tool up in the very object that the list was printed from.
 * @module
 */
import { createHash } from 'node:crypto'
import type { RegisteredTool } from '../connector/connector.ts'
import type { Registry } from '../connector/registry.ts'
import { compileView, type View } from '../policy/view.ts'
import type { Session } from '../policy/words.ts'

export type ToolView = View<RegisteredTool>

export interface Views {
  /** The session's view as of now; the same object until the registry changed. */
  of(session: Session): ToolView
}

const MOST_VIEWS = 2_000

/** Builds the cache of views over a registry. Equal `viewKey`s of equal delegation depth share one view. */
export function createViews(registry: Registry, builtins: readonly string[]): Views {
  const shared = new Map<string, { tools: readonly RegisteredTool[]; view: ToolView }>()
  const own = new WeakMap<Session, { generation: number; view: ToolView }>()

  function compile(session: Session): ToolView {
    const tools = registry.tools(session.brand)
    const key = `${session.viewKey} ${session.limits.delegationDepth ?? 0}`
    const kept = shared.get(key)
    if (kept?.tools === tools) return kept.view
    const view = compileView(session, { tools, builtins, mark: (tool) => tool.digest, hash })
    shared.delete(key)
    shared.set(key, { tools, view })
    if (shared.size > MOST_VIEWS) shared.delete(shared.keys().next().value as string)
    return view
  }

  return {
    of(session) {
      const generation = registry.generation()
      const kept = own.get(session)
      if (kept?.generation === generation) return kept.view
      const view = compile(session)
      own.set(session, { generation, view })
      return view
    },
  }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
