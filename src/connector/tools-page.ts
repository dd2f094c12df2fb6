/**
 * `docs/tools.md`, written from the data: what each role is given and what each connector holds.
 * @module
 */
import type { Preset } from '../policy/presets.ts'
import { SWITCHES } from '../policy/switches.ts'
import type { Role, Route } from '../policy/words.ts'
import { CIRCUMSTANCES, type Evidence, type Left, type Need, type Records } from './declaration.ts'
import type { DeclaredConnector, DeclaredTool } from './define.ts'

export interface PageParts {
  readonly roles: readonly Role[]
  /** The read-only route. */
  readonly readOnly: Route
  /** Built-ins that stay under a sandbox. */
  readonly inSandbox: readonly string[]
  readonly catalogue: readonly DeclaredConnector[]
  readonly presets: readonly Preset[]
  readonly harnesses: Records
}

/** The whole page, as Markdown. */
export function toolsPage(parts: PageParts): string {
  const { roles, catalogue, presets } = parts
  const kind = (wanted: string) => catalogue.filter((one) => one.kind === wanted).map((one) => server(one, roles))
  return `${[
    '# Tools, by role and by connector',
    'Generated from `policies/` and `connectors/` by `npm run docs`; a test keeps it equal to them.',
    [
      'A tool that is listed here exists in a session only where its connector is there for the brand, the session may',
      'hold it, and it has a body in this release; `tollgate check` prints what is there now.',
    ].join('\n'),
    '## Roles',
    rolesTable(roles),
    '### Built-in tools',
    builtinsTable(parts),
    ...roles.map((role) => roleText(role, catalogue)),
    routeText(parts.readOnly),
    '## Platform servers',
    ...kind('platform'),
    '## Environment servers',
    ...kind('environment'),
    '## Connectors',
    ...kind('connector'),
    '## The read table',
    'All that a person can grant to a specialist or the goal agent.',
    readTable(catalogue),
    '## Presets',
    presetsTable(presets),
    '## Operator switches',
    table(
      ['Variable', 'Effect', 'Read as'],
      SWITCHES.map(({ name, effect, reading }) => [code(name), effect, READINGS[reading]]),
    ),
    '## Measured and reasoned',
    'From the system these tools were described in, not from this gateway.',
    '### Measured',
    evidence([parts.harnesses, ...catalogue].flatMap(({ captured }) => captured ?? [])),
    '### Reasoned, never exercised',
    evidence([parts.harnesses, ...catalogue].flatMap(({ unverified }) => unverified ?? [])),
  ].join('\n\n')}\n`
}

const READINGS = {
  'exactly-true': 'on: exactly `true`',
  'true-1-yes': 'on: `true`, `1` or `yes`',
  '1-true': 'on: `1` or `true`',
  'unless-false-0-no': 'on unless `false`, `0` or `no`',
  'open-any-case': 'on: `open`, any case',
  'any-value': 'on: any value',
  'any-text': 'any text that is not blank',
  milliseconds: 'whole milliseconds; 300000 when unset; `0` denies at once',
} as const

function rolesTable(roles: readonly Role[]): string {
  const which = {
    every: 'every one the brand has',
    granted: 'read table of granted ones',
    routine: 'what its routine says',
    none: 'none',
  }
  return table(
    ['Role', 'Built-ins', 'Tools by name', 'Connectors', 'Given', 'Asks a person'],
    roles.map((role) => [
      role.title,
      String(role.builtins.length),
      String(role.holds.length + (role.withSkills?.length ?? 0)),
      which[role.connectors],
      role.given === 'all' ? 'all of it' : 'what the profile asks for',
      role.asksPerson ? 'yes' : 'no one to ask',
    ]),
  )
}

function builtinsTable({ roles, readOnly, inSandbox }: PageParts): string {
  const names = [...new Set(roles.flatMap(({ builtins }) => builtins))]
  const mark = (role: Role, name: string) =>
    role.builtins.includes(name) ? (role.given === 'all' ? 'yes' : 'if asked for') : 'no'
  return table(
    ['Built-in', ...roles.map(({ title }) => title), 'Read-only route', 'Under a sandbox'],
    names.map((name) => [
      code(name),
      ...roles.map((role) => mark(role, name)),
      readOnly.keeps.includes(name) ? 'stays' : 'gone',
      inSandbox.includes(name) ? 'stays' : 'gone',
    ]),
  )
}

function roleText(role: Role, catalogue: readonly DeclaredConnector[]): string {
  const named = (names: readonly string[]) => names.map(code).join(', ') || 'none'
  const limits = Object.entries(role.limits).map(([name, most]) => `${name} ${most}`)
  const granted = catalogue.filter(({ tools }) => tools.some((tool) => reach(role, tool).startsWith('granted')))
  const titles = granted.map(({ title }) => title).join(', ')
  return paragraphs([
    `### ${role.title}`,
    role.describes,
    bullets([
      `Built-ins: ${named(role.builtins)}`,
      `By name: ${named(role.holds)}`,
      role.withSkills && `With a skill: ${named(role.withSkills)}`,
      role.connectors === 'every' && 'Every tool of every connector the brand has, but opt-in and skill-borne ones',
      titles !== '' && `Can be granted: ${titles} ([read table](#the-read-table))`,
      limits.length > 0 && `Limits (${role.limitsAre === 'usual' ? 'usual' : 'at most'}): ${limits.join(', ')}`,
    ]),
  ])
}

function routeText(route: Route): string {
  const kept = route.keeps === 'everything' ? 'everything' : route.keeps.map(code).join(', ')
  return paragraphs(['### Read-only route', route.describes, bullets([`Of what the role holds it keeps: ${kept}`])])
}

/** How a role comes to a tool; '' when it does not. */
function reach(role: Role, tool: DeclaredTool): string {
  if (role.holds.includes(tool.name)) return 'holds'
  if (role.withSkills?.includes(tool.name)) return 'with a skill'
  if (tool.ridesOn !== undefined) return role.withSkills === undefined ? '' : 'with its skill'
  if (tool.optIn) return role.connectors === 'granted' && role.given === 'asked' ? 'granted, by name' : ''
  if (role.connectors === 'every') return 'holds'
  return role.connectors === 'granted' && tool.grantable ? 'granted' : ''
}

function server(one: DeclaredConnector, roles: readonly Role[]): string {
  return paragraphs([
    `### ${one.title}`,
    `${code(one.slug)}. ${one.when}`,
    one.billing &&
      `Bills in ${one.billing.unit}; an allowance states ${code(one.billing.perRun)} and ${code(one.billing.perDay)}.`,
    one.notes?.join(' '),
    table(
      ['Tool', 'Access', 'Asks a person', 'Needs', 'Roles', 'Note'],
      one.tools.map((tool) => [
        code(tool.name),
        tool.proposes ? 'read (a proposal, kept in the project folder)' : tool.access,
        asking(tool),
        needing(tool),
        whose(tool, roles),
        tool.note ?? '',
      ]),
    ),
    one.refused && left('Refused in code:', one.refused),
    one.withheld && left('Not built:', one.withheld),
  ])
}

function asking(tool: DeclaredTool): string {
  const words = {
    never: 'no',
    always: 'every call',
    mutations: 'each mutation',
    'above-threshold': 'above a threshold',
  }
  const without = tool.withoutChannel === undefined ? '' : `; with no one to ask ${tool.withoutChannel}`
  const off = tool.approvalsOff === undefined ? '' : '; runs when approvals are off'
  return `${words[tool.ask]}${without}${off}`
}

function needing(tool: DeclaredTool): string {
  const need = (one: Need) => {
    if ('circumstance' in one) return CIRCUMSTANCES[one.circumstance]
    return `${code(one.switch)} ${one.is ?? 'on'}, else ${one.otherwise}`
  }
  const joint = tool.joint && [`${tool.joint.map(code).join(', ')} granted and live`]
  const skill = tool.ridesOn && [`the skill ${code(tool.ridesOn)}`]
  const depth = tool.delegationDepth && [`${code('maxDelegationDepth')} of at least ${tool.delegationDepth}`]
  return [...tool.needs.map(need), ...(joint || []), ...(skill || []), ...(depth || [])].join('; ')
}

function whose(tool: DeclaredTool, roles: readonly Role[]): string {
  return roles
    .flatMap((role) => {
      const how = reach(role, tool)
      return how === '' ? [] : [how === 'holds' ? role.title : `${role.title} (${how})`]
    })
    .join(', ')
}

function readTable(catalogue: readonly DeclaredConnector[]): string {
  const names = (tools: readonly DeclaredTool[]) => tools.map(({ name }) => code(name)).join(', ')
  const vendors = catalogue.filter(({ kind, tools }) => kind === 'connector' && tools.some(({ ridesOn }) => !ridesOn))
  return table(
    ['Connector', 'Grantable', 'Never grantable'],
    vendors.map(({ title, tools }) => [
      title,
      names(tools.filter(({ grantable }) => grantable)) || 'none',
      names(tools.filter(({ grantable }) => !grantable)) || 'none',
    ]),
  )
}

function presetsTable(presets: readonly Preset[]): string {
  const figures = (of: Readonly<Record<string, number>> = {}) =>
    Object.entries(of).map(([name, amount]) => `${name} ${amount}`)
  return table(
    ['Preset', 'Asks for', 'Connectors', 'Skills', 'Limits'],
    presets.map(({ title, builtins, tools, grant, withDataSkills, limits }) => [
      title,
      [...builtins, ...tools].map(code).join(', '),
      grant.connectors.map((slug) => [code(slug), ...figures(grant.allowance[slug])].join(' ')).join(', '),
      grant.skills
        .map((skill) => `${code(skill)}${withDataSkills.includes(skill) ? ' and its data skills' : ''}`)
        .join(', '),
      figures(limits).join(', '),
    ]),
  )
}

const code = (text: string): string => `\`${text}\``
const paragraphs = (parts: readonly (string | false | undefined)[]): string => parts.filter(Boolean).join('\n\n')
const bullets = (parts: readonly (string | false | undefined)[]): string =>
  parts
    .filter(Boolean)
    .map((part) => `- ${part}`)
    .join('\n')
const left = (head: string, list: readonly Left[]): string =>
  paragraphs([head, bullets(list.map(({ what, why }) => `${what}: ${why}`))])

function evidence(list: readonly Evidence[]): string {
  return table(
    ['What', 'Record'],
    list.map(({ what, records }) => [what, records.map(code).join(', ') || 'not recorded']),
  )
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [row(head), row(head.map(() => '-')), ...rows.map(row)].join('\n')
}
