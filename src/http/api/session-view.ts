/**
 * What a session holds right now, and why it does not hold the rest: read from the very view that the MCP doors use.
 * @module
 */
import type { Connector, RegisteredTool, Withheld } from '../../connector/connector.ts'
import type { ToolView } from '../../gate/views.ts'
import { covers, split } from '../../policy/names.ts'
import { nearest } from '../../policy/nearest.ts'
import { reaches } from '../../policy/view.ts'
import type { Decision, Session } from '../../policy/words.ts'
import type { ConnectorLeft } from '../../session/spend-left.ts'
import type { ApiParts } from './parts.ts'

type Parts = Pick<ApiParts, 'views' | 'registry' | 'gate' | 'builtins'>

/** The name under which `/mcp` lists a tool. */
export const listedAs = (name: string): string => name.slice('mcp__'.length)

/** What the session holds and what is kept from it. A dead session is shown as it would be if it lived. */
export function describeSession(session: Session, parts: Parts) {
  const alive: Session = { ...session, id: `as-if-alive ${session.id}`, expiresAt: Number.MAX_SAFE_INTEGER }
  const view = parts.views.of(alive)
  return {
    viewHash: view.hash,
    tools: view.tools.map((tool) => toolRow(tool, parts.gate.explain(alive, tool, undefined))),
    builtins: [...view.builtins],
    withheld: withheldFrom(alive, view, parts),
    limits: session.limits,
  }
}

/** What is left of allowances, where a session has any. */
export const shownSpend = (left: ConnectorLeft[]) => (left.length === 0 ? {} : { spend: left })

function toolRow({ name, access }: RegisteredTool, decision: Decision) {
  const refused = decision.effect === 'deny' ? decision.code : undefined
  return {
    name,
    listedAs: listedAs(name),
    access,
    asks: decision.effect === 'ask' || refused === 'approval_required',
    ...(refused === undefined ? {} : { refuses: refused }),
  }
}

/**
 * Connectors that are away, tools of the ceiling that role, route or grant keep back, and names that lead nowhere;
 * each once, sorted by name.
 */
export function withheldFrom(session: Session, view: ToolView, { registry, builtins }: Parts): Withheld[] {
  const connectors = registry.connectors(session.brand)
  const rows = new Map<string, Withheld>()
  const add = (row: Withheld) => {
    if (!rows.has(row.tool)) rows.set(row.tool, row)
  }
  const left = connectors.flatMap((connector) => connector.left?.() ?? [])
  for (const row of [...registry.withheld(session.brand), ...left]) {
    const slug = split(row.tool)?.connector
    const listed = session.ceiling.some((pattern) => covers(pattern, row.tool) || covers(row.tool, pattern))
    if (slug !== undefined && listed && reaches(session, slug)) add(row)
  }
  for (const [tool, reasons] of view.refused) {
    if (!session.ceiling.some((pattern) => covers(pattern, tool))) continue
    add({ tool, code: 'unknown_tool', reason: reasons.map(({ because }) => because).join(' ') })
  }
  const asked = isDefault(session)
    ? session.ceiling.filter((name) => !session.role.holds.includes(name))
    : session.ceiling
  for (const name of asked) {
    const reason = whyMissing(name, session, view, connectors, builtins)
    if (reason !== undefined) add({ tool: name, ...reason })
  }
  return [...rows.values()].sort((a, b) => (a.tool < b.tool ? -1 : 1))
}

/**
 * Whether the ceiling is what the role gives to a session that names nothing. Of that, platform tools which this
 * deployment does not have are not worth a word; of names that somebody wrote, they are.
 */
function isDefault({ role, ceiling }: Session): boolean {
  return role.given === 'all' && role.holds.every((name) => ceiling.includes(name))
}

function whyMissing(
  name: string,
  session: Session,
  view: ToolView,
  connectors: readonly Connector[],
  builtins: readonly string[],
): Omit<Withheld, 'tool'> | undefined {
  const no = (reason: string) => ({ code: 'unknown_tool' as const, reason })
  const parts = split(name)
  if (parts === undefined) {
    if (view.builtins.includes(name)) return undefined
    if (!builtins.includes(name))
      return no(`This deployment offers no built-in ${name}; it has ${builtins.join(', ')}.`)
    if (!session.role.builtins.includes(name)) return no(`The role ${session.role.name} does not hold ${name}.`)
    return no(`The ${session.route.name} route does not keep ${name}.`)
  }
  if (view.tools.some((tool) => covers(name, tool.name))) return undefined
  const connector = connectors.find(({ slug }) => slug === parts.connector)
  if (connector === undefined) return no(`There is no connector ${parts.connector} for the brand ${session.brand}.`)
  const { state, detail } = connector.state()
  if (state !== 'ready') return { code: 'upstream_unavailable', reason: `${connector.slug} is not ready: ${detail}` }
  if (parts.tool === '*') return no(`The session can hold none of the tools of ${connector.slug}.`)
  const meant = nearest(
    parts.tool,
    connector.tools().map((tool) => split(tool.name)?.tool ?? ''),
  )
  const hint = meant === undefined ? '' : ` Did you mean mcp__${connector.slug}__${meant}?`
  return no(`${connector.slug} offers no tool ${parts.tool}.${hint}`)
}
