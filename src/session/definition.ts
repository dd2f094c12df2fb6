/**
 * Agent definitions of seed 003: `toolNames` with native names and `server/tool` names, `mcpServers` beside it.
 * Pure. A definition only ever names; what it does not name is not given, and what its names do not match is reported.
 * @module
 */
import { z } from 'zod'
import { normalise, split } from '../policy/names.ts'
import { nearest } from '../policy/nearest.ts'
import type { Role } from '../policy/words.ts'

/**
 * As much of a definition as decides about tools; prompts, models and the like are passed over. Of `mcpServers` only the
 * names matter: the gateway's own connectors answer, and no command or address of a definition is ever used.
 */
export const agentDefinition = z.object({
  toolNames: z.array(z.string().max(200)).max(1000).nullish(),
  mcpServers: z.record(z.string().max(200), z.unknown()).nullish(),
})

/** A definition of the right types. */
export type AgentDefinition = z.output<typeof agentDefinition>

/** What names can lead to, for one brand. */
export interface DefinitionWords {
  readonly brand: string
  /** The deployment's built-ins. */
  readonly builtins: readonly string[]
  /** The slugs of the brand's connectors, ready or not. */
  readonly connectors: readonly string[]
  /** Roles list the host app's own servers, such as memory and project. */
  readonly roles: ReadonlyMap<string, Role>
}

/** A name that gives nothing, as it was written, and why. */
export interface Unmatched {
  readonly tool: string
  readonly code: 'unknown_tool'
  readonly reason: string
}

/**
 * The tools that a definition asks for, as canonical names and each once, and the names that lead nowhere. A missing or
 * empty `toolNames` asks for nothing (seed 003, "Defining Agent-Level Permissions"), whatever `mcpServers` says.
 */
export function toolsOfDefinition(
  { toolNames, mcpServers }: AgentDefinition,
  words: DefinitionWords,
): { readonly tools: readonly string[]; readonly unmatched: readonly Unmatched[] } {
  const servers = mcpServers === undefined ? undefined : Object.keys(mcpServers ?? {})
  const tools = new Set<string>()
  const unmatched = new Map<string, string>()
  for (const written of toolNames ?? []) {
    const found = lookUp(written, servers, words)
    if ('name' in found) tools.add(found.name)
    else unmatched.set(written, found.reason)
  }
  for (const server of servers ?? []) {
    if ((toolNames ?? []).some((written) => serverOf(written) === server)) continue
    unmatched.set(`${server}/*`, `mcpServers names ${quoted(server)}, and toolNames no tool of it, so none is given.`)
  }
  const rows = [...unmatched].map(([tool, reason]): Unmatched => ({ tool, code: 'unknown_tool', reason }))
  return { tools: [...tools], unmatched: rows }
}

/**
 * Claims whose ceiling holds nothing but what the definition named: what a grant or a role would add by itself is left
 * out, since a definition is a complete list.
 */
export function narrowToDefinition<T extends { readonly ceiling: readonly string[] }>(
  claims: T,
  tools: readonly string[],
): T {
  return { ...claims, ceiling: claims.ceiling.filter((name) => tools.includes(name)) }
}

function lookUp(
  written: string,
  servers: readonly string[] | undefined,
  { brand, builtins, connectors, roles }: DefinitionWords,
): { readonly name: string } | { readonly reason: string } {
  const name = normalise(written)
  const parts = name === undefined ? undefined : split(name)
  if (name === undefined || (parts === undefined && !builtins.includes(name))) {
    const meant = nearest(written, builtins)
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
    const known = builtins.length === 0 ? 'it has no built-ins' : `its built-ins are ${builtins.join(', ')}`
    return {
      reason: `${quoted(written)} is no native tool of this deployment; ${known}. A connector's tool is server/tool.${hint}`,
    }
  }
  if (parts === undefined) return { name }
  if (parts.tool === '*') {
    return { reason: `A definition names single tools; list those of ${parts.connector} that it needs.` }
  }
  if (connectors.includes(parts.connector)) {
    if (servers === undefined || servers.includes(parts.connector)) return { name }
    return { reason: `The definition's mcpServers does not name ${parts.connector}; add it there.` }
  }
  if (isListed(parts.connector, roles)) return { name }
  const meant = nearest(parts.connector, connectors)
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
  const known = connectors.length === 0 ? 'it has none' : `it has ${connectors.join(', ')}`
  return { reason: `There is no connector ${parts.connector} for the brand ${brand}; ${known}.${hint}` }
}

/** Whether a role lists tools of this server: the host app's own, which no definition needs to name as a server. */
const isListed = (slug: string, roles: ReadonlyMap<string, Role>): boolean =>
  [...roles.values()].some((role) =>
    [...role.holds, ...(role.withSkills ?? [])].some((name) => split(name)?.connector === slug),
  )

/** The server part of a name, also of one that leads nowhere. */
function serverOf(written: string): string | undefined {
  const name = normalise(written)
  return (name === undefined ? undefined : split(name)?.connector) ?? /^([^/]+)\//.exec(written)?.[1]
}

/** A text of somebody else's in a sentence of ours, cut short. */
const quoted = (text: string): string => JSON.stringify(text.slice(0, 80))
