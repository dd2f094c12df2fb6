/**
 * What `check` finds: each upstream's tools with the reason for their access, and what a session of each role would hold
 * that asks for everything and is granted every connector.
 * @module
 */
import type { Config } from '../config/config.ts'
import type { ServerEntry } from '../config/servers.ts'
import type { ConnectorState, Withheld } from '../connector/connector.ts'
import { createAccess } from '../connector/mcp/access.ts'
import { slugFor } from '../connector/mcp/names.ts'
import type { Registry } from '../connector/registry.ts'
import { meterOf } from '../gate/price.ts'
import { createViews } from '../gate/views.ts'
import { decide } from '../policy/decide.ts'
import { split } from '../policy/names.ts'
import type { Access, Code, Limits, Role } from '../policy/words.ts'
import { toSession } from '../session/claims.ts'
import { planSession } from '../session/issue.ts'

export interface ConnectorReport {
  readonly slug: string
  readonly state: ConnectorState['state']
  readonly detail: string
  readonly tools: readonly {
    readonly name: string
    readonly access: Access
    readonly ask: boolean
    readonly grantable: boolean
    /** The entry of `tools` in the configuration that decided, or that there is none. */
    readonly because: string
  }[]
  readonly withheld: readonly Withheld[]
  /** Names and patterns under `tools` that fit no tool the upstream offers. */
  readonly unmatched: readonly string[]
}

/** One report for each upstream that was connected to, and for each native connector of the host's credentials. */
export function reportConnectors(
  { servers, ownerBrand }: { readonly servers: readonly ServerEntry[]; readonly ownerBrand: string },
  registry: Registry,
): ConnectorReport[] {
  const all = registry.all()
  const native = registry.connectors(ownerBrand).filter((connector) => !all.includes(connector))
  return [...all, ...native].map((connector) => {
    const rules = servers.find(({ name }) => slugFor(name) === connector.slug)?.tools ?? {}
    const offered = connector.tools()
    const isReady = connector.state().state === 'ready'
    return {
      slug: connector.slug,
      ...connector.state(),
      tools: offered.map(({ name, upstreamName, access, ask, grantable }) => ({
        name,
        access,
        ask,
        grantable,
        because: native.includes(connector) ? 'as its connector declares' : reason(Object.keys(rules), upstreamName),
      })),
      withheld: [...connector.withheld(), ...(connector.left?.() ?? [])],
      unmatched: isReady
        ? Object.keys(rules).filter((pattern) => !offered.some((tool) => fits(pattern, tool.upstreamName)))
        : [],
    }
  })
}

function reason(patterns: readonly string[], name: string): string {
  if (patterns.includes(name)) return `tools.${name}`
  const fitting = patterns.filter((pattern) => fits(pattern, name))
  return fitting.length === 0 ? 'not classified, so it counts as write' : `tools: ${fitting.join(', ')}`
}

/** Whether a pattern classifies a name; asked of the very matcher that classifies. */
function fits(pattern: string, name: string): boolean {
  return createAccess({ [pattern]: 'read' })(name).access === 'read'
}

export interface RoleReport {
  readonly name: string
  readonly describes: string
  readonly asksPerson: boolean
  readonly given: Role['given']
  readonly connectors: Role['connectors']
  readonly limits: Limits
  readonly limitsAre: NonNullable<Role['limitsAre']>
  readonly builtins: readonly string[]
  /** Tools that the role lists by name, and whether their connector exists here. */
  readonly platform: readonly {
    readonly connector: string
    readonly here: boolean
    readonly names: readonly string[]
  }[]
  readonly tools: readonly {
    readonly name: string
    readonly access: Access
    readonly effect: 'allow' | 'ask' | 'deny'
    readonly code?: Code
  }[]
}

/** What the fullest session of each role holds, for the owner's brand. */
export function reportRoles(config: Config, registry: Registry): RoleReport[] {
  const views = createViews(registry, config.builtins, config.builtinAccess)
  return [...config.roles.values()].map((role) => {
    const session = fullest(role, config, registry)
    const view = session === undefined ? undefined : views.of(session)
    const tools = (view?.tools ?? []).map((tool) => {
      const decision = decide(
        { tool, fingerprint: '', ...(meterOf(tool) && { cost: 'within' as const }) },
        {
          sessionLive: true,
          holding: { held: true, reasons: [] },
          approvalsOn: config.switches.REQUIRE_WRITE_APPROVAL,
          channel: session?.channel ?? 'none',
          approvedFingerprint: undefined,
        },
      )
      const code = decision.effect === 'deny' ? { code: decision.code } : {}
      return { name: tool.name, access: tool.access, effect: decision.effect, ...code }
    })
    const { name, describes, asksPerson, given, connectors, limits, limitsAre = 'most' } = role
    const builtins = view?.builtins ?? []
    const platform = platformOf(role, registry, config.ownerBrand)
    return { name, describes, asksPerson, given, connectors, limits, limitsAre, builtins, platform, tools }
  })
}

function fullest(role: Role, config: Config, registry: Registry) {
  const connectors = registry.connectors(config.ownerBrand).map(({ slug }) => slug)
  const request = {
    role: role.name,
    ...(role.given === 'asked' ? { tools: [...role.builtins, ...role.holds] } : {}),
    ...(role.connectors === 'granted' ? { grant: { connectors } } : {}),
  }
  const supply = { ...config, connectors: () => connectors, tool: () => undefined }
  const planned = planSession(request, supply, { id: 'check', resource: config.resource, now: 0 })
  const session = planned.ok ? toSession(planned.claims, config) : undefined
  return typeof session === 'string' ? undefined : session
}

function platformOf(role: Role, registry: Registry, brand: string): RoleReport['platform'] {
  const here = new Set(registry.connectors(brand).map(({ slug }) => slug))
  const names = new Map<string, string[]>()
  for (const name of [...role.holds, ...(role.withSkills ?? [])]) {
    const parts = split(name)
    if (parts === undefined) continue
    names.set(parts.connector, [...(names.get(parts.connector) ?? []), parts.tool])
  }
  return [...names].map(([connector, listed]) => ({ connector, here: here.has(connector), names: listed }))
}
