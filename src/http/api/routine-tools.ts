/**
 * The tools of a routine as a person sees them: all of its connections, however they stand.
 * @module
 */
import type { z } from '@hono/zod-openapi'
import { shownText } from '../../approvals/show.ts'
import type { RegisteredTool } from '../../connector/connector.ts'
import type { Registry } from '../../connector/registry.ts'
import { annotationsOf } from '../../grants/pins/view.ts'
import type { Routine, StoredTool } from '../../grants/routines/routines.ts'
import { isProven } from '../../gate/traces.ts'
import type { ApiParts } from './parts.ts'
import type * as schemas from './routine-schemas.ts'
import { listedAs } from './session-view.ts'

type Shown = z.input<typeof schemas.routineTool>

interface Found {
  readonly tool: RegisteredTool
  readonly open: boolean
  readonly reason?: string
}

/** Every tool that the connections of a routine list, open or closed. */
function listed(registry: Registry, { brand, connections }: Routine): Found[] {
  const own = registry.connectors(brand).filter(({ slug }) => connections.includes(slug))
  return own.flatMap((connector) => [
    ...connector.tools().map((tool) => ({ tool, open: true })),
    ...(connector.closed?.() ?? []).map(({ tool, reason }) => ({ tool, open: false, reason })),
  ])
}

/** A tool of a routine's connections by its canonical name. */
export function findTool(registry: Registry, routine: Routine, name: string): Found | undefined {
  return listed(registry, routine).find(({ tool }) => tool.name === name)
}

/** All tools of a routine, sorted by name; also those it held that are gone. */
export async function showTools(
  { registry, routines, db }: Pick<ApiParts, 'registry' | 'routines' | 'db'>,
  routine: Routine,
): Promise<Shown[]> {
  const stored = new Map((await routines.tools(routine.id)).map((tool) => [tool.tool, tool]))
  const there = listed(registry, routine)
  const items: Shown[] = []
  for (const found of there) {
    const { name, digest } = found.tool
    const proven = await isProven(db.orm, { routine: routine.id, tool: name, digest })
    items.push({ ...shownTool(found, stored.get(name)), proven, traces: tracesOf(routine, name) })
  }
  for (const row of stored.values()) {
    if (there.some(({ tool }) => tool.name === row.tool)) continue
    items.push({ ...goneTool(row), proven: false, traces: tracesOf(routine, row.tool) })
  }
  return items.sort((a, b) => (a.tool < b.tool ? -1 : 1))
}

const tracesOf = ({ id }: Routine, tool: string) => `/v1/routines/${id}/traces?tool=${encodeURIComponent(tool)}`

function shownTool({ tool, open, reason }: Found, row: StoredTool | undefined) {
  const { name, connector, access, title, description, digest } = tool
  const known = row?.digest === digest ? row.state : 'disabled'
  const because = reason ?? row?.cleared ?? (row !== undefined && row.digest !== digest ? CHANGED : undefined)
  return {
    tool: name,
    listedAs: listedAs(name),
    connection: connector,
    state: known,
    definition: open ? ('present' as const) : ('closed' as const),
    ...(because === undefined ? {} : { because }),
    access,
    ...(title === undefined ? {} : { title: shownText(title, 200) }),
    ...(description === undefined ? {} : { description: shownText(description, 4000) }),
    digest,
    serverSays: annotationsOf(tool.source ?? `{"name":${JSON.stringify(tool.ownName)}${tool.definition.modern}}`),
    ...(row === undefined ? {} : { setBy: row.setBy, setAt: row.setAt.toISOString() }),
  }
}

const CHANGED = 'Its definition changed since it was let in.'

const goneTool = ({ tool, connector, digest, setBy, setAt, cleared }: StoredTool) => ({
  tool,
  listedAs: listedAs(tool),
  connection: connector,
  state: 'disabled' as const,
  definition: 'gone' as const,
  because: cleared ?? 'Its connection does not list it right now.',
  access: null,
  digest,
  serverSays: null,
  setBy,
  setAt: setAt.toISOString(),
})
