/**
 * Tools that are closed until somebody accepts what they say of themselves: whom that is said to.
 * @module
 */
import type { ClosedTool, Connector, Withheld } from '../connector/connector.ts'
import type { Registry } from '../connector/registry.ts'
import { split } from '../policy/names.ts'
import { holds, reaches } from '../policy/view.ts'
import type { Session } from '../policy/words.ts'

/** A closed tool that the session would hold if it were open; of any other nothing is said, whether it exists or not. */
export function closedFor(registry: Registry, session: Session, name: string): ClosedTool | undefined {
  const slug = split(name)?.connector
  const connector = slug === undefined ? undefined : registry.find(slug, session.brand)
  if (connector?.serves(session.brand) !== true) return undefined
  const found = connector.closed?.().find(({ tool }) => tool.name === name)
  return found !== undefined && holds(session, found.tool).held ? found : undefined
}

/** What of the session's reach is away or closed right now. */
export function withheldFor(registry: Registry, session: Session): readonly Withheld[] {
  if (registry.withheld(session.brand).length === 0) return []
  const near = registry.connectors(session.brand).filter(({ slug }) => reaches(session, slug))
  return near.flatMap((connector) => toldOf(connector, session))
}

function toldOf(connector: Connector, session: Session): readonly Withheld[] {
  const closed = connector.closed?.() ?? []
  if (closed.length === 0) return connector.withheld()
  const outside = new Set(closed.filter(({ tool }) => !holds(session, tool).held).map(({ tool }) => tool.name))
  return connector.withheld().filter(({ tool }) => !outside.has(tool))
}
