/**
 * Policy files: the shape of a role, a route and the deployment file, and how they become `Role` and `Route`.
 * A set of files is taken whole or not at all, so that no session runs on half a policy.
 * @module
 */
import { z } from 'zod'
import { type DataFile, problemAt, readData, strict } from './data-file.ts'
import { normalise } from './names.ts'
import type { Limits, Role, Route } from './words.ts'

/** The roles of seed 001, "Roles at a glance"; each must have its file. */
export const ROLES = ['person-chat', 'inbound-email', 'coworker', 'specialist', 'goal-agent', 'goal-reviewer'] as const

/** The route that takes nothing away. It is no file, so that no edit can make it add something. */
export const STANDARD: Route = {
  name: 'standard',
  describes: 'The full tool set of the role.',
  keeps: 'everything',
  connectors: true,
}

const words = z.string().min(1)
const reason = words.describe('Why, in a sentence a reviewer can judge.')
const group = strict({ tools: z.array(z.string()).describe('Names in canonical form.'), reason })
const count = (least: number) => z.int().min(least).optional()

const roleFile = strict({
  role: z.string().regex(/^[a-z][a-z0-9-]*$/, 'a role name is small letters, digits and dashes, as in "person-chat".'),
  title: words,
  describes: words,
  asksPerson: z.boolean().describe('Whether a session of this role may have a person to ask.'),
  terminalDecides: z
    .boolean()
    .optional()
    .describe('Whether the person at the client is shown the page of a waiting card, to sign in and decide there.'),
  permissionPrompt: z
    .boolean()
    .optional()
    .describe('Whether the harness may ask the gateway before it runs a built-in: reads run, writes ask the person.'),
  given: z
    .enum(['all', 'asked'])
    .describe('all: a session that names no tools gets all it may hold; asked: only what it names.'),
  builtins: group.describe('Tools of the harness itself, by their bare name.'),
  holds: z
    .array(group)
    .min(1)
    .describe('Platform and environment tools: mcp__<connector>__<tool>, or mcp__<connector>__*.'),
  withSkills: group.optional().describe('Held only when the grant names at least one skill.'),
  connectors: strict({
    which: z
      .enum(['every', 'granted', 'routine', 'none'])
      .describe('every: all the brand has; granted: the read table of granted ones; routine: what the routine says.'),
    reason,
  }),
  limits: strict({
    are: z
      .enum(['most', 'usual'])
      .describe('most: no session gets more; usual: where a profile states none of its own.'),
    reason,
    runUsd: z.number().min(0).optional(),
    turns: count(1),
    delegationDepth: count(0),
    attempts: count(1),
    concurrentRuns: count(1),
  }),
})

const routeFile = strict({
  route: z.literal(
    'read-only',
    'the only route with a file is "read-only"; "standard" takes nothing away and has none.',
  ),
  describes: words,
  keeps: z.array(group).min(1).describe('What stays; everything else is taken away.'),
  connectors: strict({ kept: z.boolean(), reason }),
})

const deploymentFile = strict({
  deployment: words.describe('A name for people.'),
  builtins: strict({
    ...group.shape,
    access: z
      .record(z.string(), z.enum(['read', 'write']))
      .optional()
      .describe('What each does: a read runs, a write asks a person. One that is not here counts as a write.'),
  }).describe('The built-ins of the harness that any role can get.'),
  sandboxReplaces: group.describe('Built-ins that work on the host, which a sandbox takes away from every role.'),
})

type Group = z.infer<typeof group>
type RoleFile = z.infer<typeof roleFile>
type RouteFile = z.infer<typeof routeFile>

/** What a set of policy files comes to. `builtins` are those any role can get in this environment. */
export interface Policies {
  readonly roles: ReadonlyMap<string, Role>
  readonly routes: ReadonlyMap<string, Route>
  readonly builtins: readonly string[]
  /** What each built-in does, as far as the deployment file says. */
  readonly builtinAccess: Readonly<Record<string, 'read' | 'write'>>
}

export type ReadPolicies =
  | { readonly ok: true; readonly policies: Policies; readonly notices: string[] }
  | { readonly ok: false; readonly problems: string[] }

/**
 * Reads a set of policy files, or says all that is wrong with it.
 * With `sandbox`, the built-ins that work on the host's files are gone from every role (seed 001, built-in table).
 */
export function readPolicies(files: readonly DataFile[], environment: { readonly sandbox: boolean }): ReadPolicies {
  const found = sort(files)
  const problems = found.problems
  const deployment = found.deployments[0]
  if (deployment === undefined)
    problems.push('No policy file says "deployment": add deployment.yaml with the built-ins.')
  for (const name of ROLES) {
    if (!found.roles.some(({ value }) => value.role === name))
      problems.push(`No policy file is for the role "${name}": add ${name}.yaml.`)
  }
  if (found.routes.length === 0) problems.push('No policy file is for the route "read-only": add read-only.yaml.')
  if (problems.length > 0 || deployment === undefined) return { ok: false, problems }

  const replaced = environment.sandbox ? deployment.value.sandboxReplaces.tools : []
  const builtins = deployment.value.builtins.tools.filter((name) => !replaced.includes(name))
  const roles = new Map(found.roles.map(({ value }) => [value.role, toRole(value, builtins)]))
  const routes = new Map<string, Route>([[STANDARD.name, STANDARD]])
  for (const { value } of found.routes) routes.set(value.route, toRoute(value))
  return {
    ok: true,
    policies: { roles, routes, builtins, builtinAccess: deployment.value.builtins.access ?? {} },
    notices: strangers(found.roles, deployment.value.builtins.tools),
  }
}

/** The JSON schema of a policy file, for editors; `policies/role.schema.json` holds it. */
export function policySchema(): unknown {
  return z.toJSONSchema(z.union([roleFile, routeFile, deploymentFile]), { target: 'draft-7', io: 'input' })
}

function toRole(file: RoleFile, offered: readonly string[]): Role {
  const { are, reason: _, ...limits } = file.limits
  return {
    name: file.role,
    title: file.title,
    describes: file.describes,
    asksPerson: file.asksPerson,
    ...(file.terminalDecides === true && { terminalDecides: true as const }),
    ...(file.permissionPrompt === true && { permissionPrompt: true as const }),
    builtins: file.builtins.tools.filter((name) => offered.includes(name)),
    holds: file.holds.flatMap(({ tools }) => tools),
    connectors: file.connectors.which,
    given: file.given,
    ...(file.withSkills && { withSkills: file.withSkills.tools }),
    limits: limits as Limits,
    limitsAre: are,
  }
}

function toRoute(file: RouteFile): Route {
  return {
    name: file.route,
    describes: file.describes,
    keeps: file.keeps.flatMap(({ tools }) => tools),
    connectors: file.connectors.kept,
  }
}

interface Read<T> {
  readonly data: DataFile
  readonly value: T
}

/** Reads each file by what its first field says it is, and refuses a second file for the same thing. */
function sort(files: readonly DataFile[]) {
  const problems: string[] = []
  const roles: Read<RoleFile>[] = []
  const routes: Read<RouteFile>[] = []
  const deployments: Read<z.infer<typeof deploymentFile>>[] = []
  const seen = new Map<string, string>()
  const take = <T>(
    data: DataFile,
    schema: z.ZodType<T>,
    named: (value: T) => string,
    check: (value: T) => string[],
    into: Read<T>[],
  ) => {
    const read = readData(schema, data)
    if (!read.ok) return problems.push(...read.problems)
    problems.push(...check(read.value))
    const name = named(read.value)
    const first = seen.get(name)
    if (first !== undefined) return problems.push(`${data.file}: ${name} is already in ${first}; keep one of them.`)
    seen.set(name, data.file)
    return into.push({ data, value: read.value })
  }
  for (const data of files) {
    const kind = kindOf(data.value)
    // Read by `readPresets`, which needs to know what there is to grant.
    if (kind === 'presets') continue
    if (kind === 'role')
      take(
        data,
        roleFile,
        ({ role }) => `the role "${role}"`,
        (value) => [...roleNames(data, value), ...terminalProblems(data, value), ...promptProblems(data, value)],
        roles,
      )
    else if (kind === 'route')
      take(
        data,
        routeFile,
        ({ route }) => `the route "${route}"`,
        (value) => routeNames(data, value),
        routes,
      )
    else if (kind === 'deployment')
      take(
        data,
        deploymentFile,
        () => 'the deployment',
        (value) => deploymentNames(data, value),
        deployments,
      )
    else
      problems.push(
        `${data.file}: a policy file opens with "role", "route" or "deployment"; this one has none of them.`,
      )
  }
  return { problems, roles, routes, deployments }
}

function kindOf(value: unknown): 'role' | 'route' | 'deployment' | 'presets' | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
  return (['role', 'route', 'deployment', 'presets'] as const).find((kind) => Object.hasOwn(value, kind))
}

function roleNames(data: DataFile, file: RoleFile): string[] {
  const groups = file.holds.map((one, i): [PropertyKey[], Group] => [['holds', i], one])
  if (file.withSkills !== undefined) groups.push([['withSkills'], file.withSkills])
  return [...names(data, [[['builtins'], file.builtins]], 'builtin'), ...names(data, groups, 'tool')]
}

function terminalProblems(data: DataFile, { asksPerson, terminalDecides }: RoleFile): string[] {
  if (asksPerson || terminalDecides !== true) return []
  const problem = 'a role that asks nobody has nothing to show at the terminal: leave it out, or set asksPerson: true.'
  return [problemAt(data, ['terminalDecides'], problem)]
}

function promptProblems(data: DataFile, { asksPerson, permissionPrompt, builtins }: RoleFile): string[] {
  if (permissionPrompt !== true || (asksPerson && builtins.tools.length > 0)) return []
  const problem = asksPerson
    ? 'a role without built-ins has nothing to ask about: leave it out, or list some under "builtins".'
    : 'a role that asks nobody could only refuse its own built-ins: leave it out, or set asksPerson: true.'
  return [problemAt(data, ['permissionPrompt'], problem)]
}

function routeNames(data: DataFile, file: RouteFile): string[] {
  return names(
    data,
    file.keeps.map((one, i): [PropertyKey[], Group] => [['keeps', i], one]),
    'either',
  )
}

function deploymentNames(data: DataFile, file: z.infer<typeof deploymentFile>): string[] {
  return [
    ...names(data, [[['builtins'], file.builtins]], 'builtin'),
    // A built-in that was taken out may keep its word: one edit takes it from every role.
    ...Object.keys(file.builtins.access ?? {}).flatMap((name) => {
      const problem = nameProblem(name, 'builtin')
      return problem === undefined ? [] : [problemAt(data, ['builtins', 'access', name], problem)]
    }),
    ...names(data, [[['sandboxReplaces'], file.sandboxReplaces]], 'builtin'),
  ]
}

/** What is wrong with the names of some groups that form one list. */
function names(
  data: DataFile,
  groups: ReadonlyArray<[PropertyKey[], Group]>,
  kind: 'builtin' | 'tool' | 'either',
): string[] {
  const seen = new Set<string>()
  return groups.flatMap(([path, { tools }]) =>
    tools.flatMap((written, i) => {
      const problem =
        nameProblem(written, kind) ?? (seen.has(written) ? `"${written}" is listed twice; keep one.` : undefined)
      seen.add(written)
      return problem === undefined ? [] : [problemAt(data, [...path, 'tools', i], problem)]
    }),
  )
}

function nameProblem(written: string, kind: 'builtin' | 'tool' | 'either'): string | undefined {
  const right = normalise(written)
  if (right === undefined) {
    return written.includes('*')
      ? `"${written}": "*" stands only for a whole tool part, as in mcp__firecrawl__*.`
      : `"${written}" is not a tool name: write mcp__<connector>__<tool>, or a built-in's own name such as Read.`
  }
  if (right !== written) return `"${written}" is not canonical: write ${right}.`
  const builtin = !right.startsWith('mcp__')
  if (kind === 'builtin' && !builtin) return `${written} is a connector's tool: list it under "holds", not "builtins".`
  if (kind === 'tool' && builtin)
    return `${written} has no connector: list it under "builtins", or write mcp__<connector>__${written}.`
  return undefined
}

/** Built-ins a role lists and the deployment lacks: allowed (taking one from the deployment takes it from all), yet often a slip. */
function strangers(roles: readonly Read<RoleFile>[], offered: readonly string[]): string[] {
  return roles.flatMap(({ data, value }) =>
    value.builtins.tools.flatMap((name, i) =>
      offered.includes(name)
        ? []
        : [problemAt(data, ['builtins', 'tools', i], `the deployment does not offer ${name}, so no session gets it.`)],
    ),
  )
}
