/**
 * From a declaration to the tools that exist: which of a connector's tools register for a brand here, and why the rest do not.
 * Pure; whether there are credentials, circumstances and bodies comes in.
 * @module
 */
import type { SwitchName, Switches } from '../policy/switches.ts'
import type { Tool } from '../policy/words.ts'
import type { Withheld } from './connector.ts'
import { CIRCUMSTANCES, type Circumstance, type Need } from './declaration.ts'
import { type DeclaredConnector, type DeclaredTool, NO_BODY } from './define.ts'

/** What a deployment and a brand have, as far as registration asks. */
export interface Surroundings {
  readonly switches: Readonly<Partial<Switches>>
  readonly has: (circumstance: Circumstance) => boolean
  /** Whose credentials the brand would use for a connector; undefined: none, for the reason given. */
  readonly credentials: (slug: string) => { readonly source: string | undefined; readonly reason: string }
  /** Whether the gateway can carry out a tool. */
  readonly hasBody: (tool: DeclaredTool) => boolean
}

/** Where no declared tool has a body yet, so that nothing else is asked. */
export const NO_BODIES: Surroundings = {
  switches: {},
  has: () => false,
  credentials: () => ({ source: undefined, reason: '' }),
  hasBody: () => false,
}

/** What becomes of a declared connector. */
export interface Standing {
  readonly tools: readonly Tool[]
  readonly withheld: readonly Withheld[]
}

/** A declared connector of which nothing is registered, as a list of connectors shows it. */
export interface DeclaredRow {
  readonly slug: string
  readonly title: string
  readonly detail: string
  readonly withheld: readonly Withheld[]
}

/**
 * The declared connectors that register nothing, each tool with the reason. `taken` holds the slugs of connectors that
 * are there: an operator's upstream of the same name stands in for a declaration.
 */
export function declaredRows(
  catalogue: readonly DeclaredConnector[],
  taken: ReadonlySet<string>,
  around: Surroundings,
): DeclaredRow[] {
  return catalogue
    .filter(({ slug }) => !taken.has(slug))
    .map((connector) => ({ connector, standing: standingOf(connector, around) }))
    .filter(({ standing }) => standing.tools.length === 0)
    .map(({ connector, standing: { withheld } }) => {
      const reasons = new Set(withheld.map(({ tool, reason }) => reason.replace(tool, 'Each tool')))
      const detail = reasons.size === 1 ? [...reasons].join() : 'Each tool says why it is not registered.'
      return { slug: connector.slug, title: connector.title, detail, withheld }
    })
}

/** Which tools of a connector register, and why each other does not (seed 001, filter 1). */
export function standingOf(connector: DeclaredConnector, around: Surroundings): Standing {
  const tools: Tool[] = []
  const withheld: Withheld[] = []
  for (const declared of connector.tools) {
    const why = whyNot(connector, declared, around)
    if (why === undefined) tools.push(toolFrom(connector, declared, around.switches))
    else withheld.push({ tool: declared.name, ...why })
  }
  return { tools, withheld }
}

/** A declared tool as policy sees it. `switches` say whether one that refuses is off. */
export function toolFrom(
  { beside }: DeclaredConnector,
  declared: DeclaredTool,
  switches: Surroundings['switches'],
): Tool {
  const { name, connector, access, grantable, ask, withoutChannel, approvalsOff } = declared
  const { optIn, joint, ridesOn, standing, delegationDepth, needs } = declared
  const off = needs.find((need) => 'switch' in need && need.otherwise === 'refuses' && !isMet(need, switches))
  return {
    name,
    connector,
    access,
    grantable,
    ask: false,
    asks: ask,
    ...(withoutChannel !== undefined && { withoutChannel }),
    ...(approvalsOff !== undefined && { approvalsOff }),
    ...(off !== undefined && 'switch' in off && { switchedOff: off.switch }),
    ...(optIn !== undefined && { optIn }),
    ...(beside !== undefined && { beside }),
    ...(joint !== undefined && { joint }),
    ...(ridesOn !== undefined && { ridesOn }),
    ...(standing === true && { standing }),
    ...(delegationDepth !== undefined && { delegationDepth }),
  }
}

function whyNot(
  { title, credentials }: DeclaredConnector,
  tool: DeclaredTool,
  around: Surroundings,
): Omit<Withheld, 'tool'> | undefined {
  const no = (reason: string) => ({ code: 'unknown_tool' as const, reason })
  if (around.hasBody(tool) !== true) return no(`${tool.name} is ${NO_BODY}.${waitsFor(tool)}`)
  if (credentials === 'brand') {
    const { source, reason } = around.credentials(tool.connector)
    if (source === undefined) return no(`${title} has no credentials: ${reason}`)
  }
  for (const need of tool.needs) {
    if ('circumstance' in need) {
      if (around.has(need.circumstance) !== true)
        return no(`${tool.name} exists when ${CIRCUMSTANCES[need.circumstance]}.`)
    } else if (need.otherwise !== 'refuses' && !isMet(need, around.switches)) {
      return { code: 'switched_off', reason: `${tool.name} exists when ${need.switch} is ${need.is ?? 'on'}.` }
    }
  }
  const approvalsOff = around.switches.REQUIRE_WRITE_APPROVAL === false
  if (approvalsOff && tool.withoutChannel === 'absent' && tool.approvalsOff !== 'runs') {
    return { code: 'switched_off', reason: `${tool.name} asks a person, and REQUIRE_WRITE_APPROVAL is off.` }
  }
  return undefined
}

/** A switch that nobody read counts as off, but for the one that keeps approvals on. */
function isMet(need: Extract<Need, { switch: SwitchName }>, switches: Surroundings['switches']): boolean {
  const on = switches[need.switch] ?? need.switch === 'REQUIRE_WRITE_APPROVAL'
  return need.is === 'off' ? on === false : on === true
}

/** What a joint tool without a body waits for. */
function waitsFor({ joint }: DeclaredTool): string {
  if (joint === undefined) return ''
  return ` It joins ${joint.slice(0, -1).join(', ')} and ${joint.at(-1)}, and waits until all of them are built.`
}
