/**
 * The view: registry ∩ ceiling for one session, compiled once. `tools/list` prints it and `tools/call` looks it up:
 * the same object (design, section 2). What it does not hold cannot be called.
 * @module
 */
import type { Holding } from './decide.ts'
import { covers, split } from './names.ts'
import { type RoutineHolding, type RoutinePolicy, type RoutineWord, routineHolds } from './routines.ts'
import type { Reason, Session, Tool } from './words.ts'

export interface View<T extends Tool = Tool> {
  /** Changes when, and only when, what the session may call or how it is described changes. */
  readonly hash: string
  /** Sorted by canonical name. */
  readonly tools: readonly T[]
  /** Canonical name → the tool, for those held. */
  readonly byName: ReadonlyMap<string, T>
  readonly builtins: readonly string[]
  /** Bare name → the built-in as a tool of its harness, for those held. It is listed nowhere; its harness asks about it. */
  readonly builtinTools: ReadonlyMap<string, T>
  /** Why each tool of the registry that is not held is not. */
  readonly refused: ReadonlyMap<string, readonly Reason[]>
  /** Of those, the ones that are not registered for this session at all; the rest are outside its ceiling. */
  readonly absent: ReadonlySet<string>
  /** Of a session of a routine: how the calls of each tool it holds go. */
  readonly routine?: ReadonlyMap<string, RoutineWord>
}

/** What goes into a view besides the session: the brand's tools and the deployment's built-ins. */
export interface Supply<T extends Tool> {
  readonly tools: readonly T[]
  readonly builtins: readonly string[]
  /** The built-ins as tools, by bare name, where a harness can ask about them. */
  readonly builtinTools?: ReadonlyMap<string, T>
  /** A mark of a tool's definition, so that the hash follows it. */
  readonly mark: (tool: T) => string
  readonly hash: (text: string) => string
  /** The routine that the session works for, as it is now. */
  readonly routine?: RoutinePolicy | undefined
}

/** Compiles the view of one session over what exists for its brand. */
export function compileView<T extends Tool>(session: Session, supply: Supply<T>): View<T> {
  const byName = new Map<string, T>()
  const refused = new Map<string, readonly Reason[]>()
  const absent = new Set<string>()
  const words = new Map<string, RoutineWord>()
  const sorted = [...supply.tools].sort((a, b) => (a.name < b.name ? -1 : 1))
  const live = new Set(sorted.map(({ connector }) => connector))
  const builtins = supply.builtins.filter((name) => holdsBuiltin(session, name))
  for (const tool of sorted) {
    const routine = routineHolds(session, tool, supply.mark(tool), supply.routine)
    const holding = tool.decidesBuiltins === true ? holdsPrompt(session, builtins) : holds(session, tool, live, routine)
    if (holding.held && session.routine !== undefined) words.set(tool.name, 'word' in routine ? routine.word : 'asks')
    if (holding.held) byName.set(tool.name, tool)
    else refused.set(tool.name, holding.reasons)
    if (!holding.held && holding.filter === 'registration') absent.add(tool.name)
  }
  const tools = [...byName.values()]
  const builtinTools = new Map([...(supply.builtinTools ?? [])].filter(([name]) => builtins.includes(name)))
  const mark = (tool: T): string =>
    `${tool.name} ${tool.access} ${gateOf(tool)}${words.get(tool.name) ?? ''} ${supply.mark(tool)}`
  const marks = [...tools.map(mark), ...builtins, ...[...builtinTools.values()].map(mark)]
  const own = session.routine === undefined ? {} : { routine: words }
  return { hash: supply.hash(marks.join('\n')), tools, byName, builtins, builtinTools, refused, absent, ...own }
}

/** What the gate does with its calls, as far as the tool itself says; a change of it is a change of the view. */
const gateOf = ({ ask, asks, switchedOff }: Tool): string => [ask, asks, switchedOff].filter(isSaid).join(',')
const isSaid = (word: unknown): boolean => word !== undefined

const NOTHING_LIVE: ReadonlySet<string> = new Set()
const NO_ROUTINE: RoutineHolding = { because: 'No routine gives it.' }

/**
 * Whether a session may hold a tool: role, then route, then the token's own ceiling; each can only take away
 * (seed 001, "How a session's tools are decided", filter 2). `live` names the connectors that have a tool for the brand
 * right now; a tool that stands on others is not held without it.
 */
export function holds(
  session: Session,
  tool: Tool,
  live: ReadonlySet<string> = NOTHING_LIVE,
  routine: RoutineHolding = NO_ROUTINE,
): Holding {
  if (tool.withoutChannel === 'absent' && session.channel !== 'inbox') {
    return missing('no-channel', `${tool.name} asks a person, and is not registered for a session with no one to ask.`)
  }
  const byRole = roleHolds(session, tool, live, routine)
  if (!byRole.held) return byRole
  if (!routeKeeps(session, tool.name)) {
    return no('route', `The ${session.route.name} route does not keep ${tool.name}.`)
  }
  if (!session.ceiling.some((pattern) => covers(pattern, tool.name))) {
    return no('ceiling', `The session's ceiling does not list ${tool.name}.`)
  }
  return byRole
}

/** Whether any tool of a connector could be in the session's view, for saying that the connector is away. */
export function reaches(session: Session, connector: string): boolean {
  const { role, route, grant, ceiling } = session
  const named = (pattern: string): boolean => split(pattern)?.connector === connector
  const byRole =
    role.holds.some(named) ||
    (grant.skills.length > 0 && role.withSkills?.some(named) === true) ||
    role.connectors === 'every' ||
    role.connectors === 'routine' ||
    (role.connectors === 'granted' && grant.connectors.includes(connector))
  const byRoute = route.keeps === 'everything' || route.connectors === true || route.keeps.some(named)
  return byRole && byRoute && ceiling.some(named)
}

function roleHolds(session: Session, tool: Tool, live: ReadonlySet<string>, routine: RoutineHolding): Holding {
  const { role, grant } = session
  if (role.holds.some((pattern) => covers(pattern, tool.name))) {
    return yes('role-holds', `The role ${role.name} lists ${tool.name}.`)
  }
  if (role.withSkills?.some((pattern) => covers(pattern, tool.name)) === true) {
    return grant.skills.length > 0
      ? yes('skill', `The grant names a skill, and the role ${role.name} lists ${tool.name} with skills.`)
      : no('no-skill', `The role ${role.name} holds ${tool.name} only when its grant names a skill.`)
  }
  if (tool.ridesOn !== undefined) return skillBrings(session, tool, tool.ridesOn)
  switch (role.connectors) {
    case 'every':
      if (tool.optIn !== undefined) {
        return no('by-name-only', `${tool.name} goes only to a profile with a grant that asks for it by name.`)
      }
      return yes('every-connector', `The role ${role.name} holds every tool of every connector the brand has.`)
    case 'granted':
      return grantGives(session, tool, live)
    case 'routine':
      if (!('word' in routine)) return no('routine', routine.because)
      return yes(`routine-${routine.word}`, ROUTINE_WORDS[routine.word])
    case 'none':
      return no('role', `The role ${role.name} holds no tool of ${tool.connector}.`)
    default:
      return no('role', `The role ${role.name} says nothing this gateway knows about connectors.`)
  }
}

const ROUTINE_WORDS: Readonly<Record<RoutineWord, string>> = {
  asks: 'The routine has it enabled.',
  automatic: 'The routine lets it run unattended.',
}

/** The read table of a granted connector, its joint tools, and its opt-in tools (seed 001, "Specialist coworker run", 1 to 3). */
function grantGives({ role, grant, ceiling }: Session, tool: Tool, live: ReadonlySet<string>): Holding {
  const { name, connector, beside, joint = [] } = tool
  const ungranted = [beside ?? connector, ...joint].find((slug) => !grant.connectors.includes(slug))
  if (ungranted !== undefined) return no('not-granted', `No grant names ${ungranted}, which ${name} needs.`)
  const away = [...(beside === undefined ? [] : [beside]), ...joint].find((slug) => !live.has(slug))
  if (away !== undefined) return missing('not-live', `${name} needs ${away}, which has no tool here right now.`)
  if (tool.grantable !== true || tool.access === 'write') {
    return no('not-grantable', `${name} is not in the read table, so no grant can give it.`)
  }
  if (tool.optIn !== undefined && (role.given !== 'asked' || !ceiling.includes(name))) {
    return no('by-name-only', `${name} goes only to a profile with a grant that asks for it by name.`)
  }
  return yes('granted', `A person granted ${beside ?? connector}, and ${name} is in the read table.`)
}

/** Tools that ride on one skill (seed 001, "Specialist coworker run", 5), for a role that skills are for. */
function skillBrings({ role, grant, limits }: Session, tool: Tool, skill: string): Holding {
  if (role.connectors !== 'granted' || role.withSkills === undefined) {
    return no('role', `The role ${role.name} is given no skill, and ${tool.name} comes with ${skill}.`)
  }
  if (!grant.skills.includes(skill))
    return no('no-skill', `The grant does not name ${skill}, which brings ${tool.name}.`)
  const { delegationDepth: needed = 0 } = tool
  const left = limits.delegationDepth ?? 0
  if (!(left >= needed))
    return no('depth', `${tool.name} needs a delegation depth of ${needed}; this session has ${left}.`)
  return yes('skill', `The grant names ${skill}, which brings ${tool.name}.`)
}

/** A route that keeps no connectors keeps a connector's tool only by name. */
function routeKeeps({ route }: Session, name: string): boolean {
  if (route.keeps === 'everything') return true
  return (
    route.keeps.some((pattern) => covers(pattern, name)) || (route.connectors === true && split(name) !== undefined)
  )
}

function holdsBuiltin(session: Session, name: string): boolean {
  return session.role.builtins.includes(name) && routeKeeps(session, name) && session.ceiling.includes(name)
}

/**
 * The permission prompt rides on the built-ins it decides, so no ceiling need name it. Where nobody can be asked it could
 * only refuse, and is absent.
 */
function holdsPrompt({ role, channel }: Session, builtins: readonly string[]): Holding {
  if (role.permissionPrompt !== true) return no('no-prompt', `The role ${role.name} has no permission prompt.`)
  if (channel !== 'inbox') return missing('no-channel', 'A permission prompt needs somebody to ask.')
  if (builtins.length === 0) return no('no-builtins', 'The session holds no built-in that could be asked about.')
  return yes('builtins', `The role ${role.name} lets its harness ask about the built-ins the session holds.`)
}

const yes = (rule: string, because: string): Holding => ({ held: true, reasons: [{ rule, because }] })
const no = (rule: string, because: string): Holding => ({ held: false, reasons: [{ rule, because }] })
const missing = (rule: string, because: string): Holding => ({
  ...no(rule, because),
  held: false,
  filter: 'registration',
})
