/**
 * `defineConnector` turns a declaration into a frozen plain object, or throws with everything that is wrong with it.
 * Nothing runs: a tool without a body is never registered (see `declaredOnly`).
 * @module
 */
import { canonical, SLUG, split } from '../policy/names.ts'
import { SWITCHES } from '../policy/switches.ts'
import type { Withheld } from './connector.ts'
import type { Body } from './native/body.ts'
import { isSecret } from './native/values.ts'
import {
  ASKS,
  CIRCUMSTANCES,
  type Declaration,
  KINDS,
  type Need,
  type ToolDeclaration,
  type ToolFacts,
} from './declaration.ts'

/** A tool as declared, under its canonical name. */
export interface DeclaredTool extends ToolDeclaration {
  /** Canonical: `mcp__<connector>__<tool>`, or `mcp__<connector>__*`. */
  readonly name: string
  readonly ownName: string
  readonly connector: string
  /** All that must hold: what the connector needs, then what the tool needs. */
  readonly needs: readonly Need[]
}

export interface DeclaredConnector extends Declaration {
  readonly tools: readonly DeclaredTool[]
}

/** The same facts for several tools, to write a table row as one. */
export function each(names: string, facts: ToolFacts): ToolDeclaration[] {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => ({ name, ...facts }))
}

/** A vendor's tool that reads, asks nobody and can be granted: most of them. */
export const GRANTABLE_READ: ToolFacts = { access: 'read', grantable: true, ask: 'never' }

/** Checks a declaration and freezes it. Throws an error that names every broken rule. */
export function defineConnector(declaration: Declaration): DeclaredConnector {
  const problems = [
    ...connectorProblems(declaration),
    ...declaration.tools.flatMap((tool) => toolProblems(declaration, tool)),
  ]
  if (problems.length > 0) throw new Error(`connector "${declaration.slug}": ${problems.join(' ')}`)
  const tools = declaration.tools.map((tool) => ({
    ...tool,
    name: canonical(declaration.slug, tool.name),
    ownName: tool.name,
    connector: declaration.slug,
    needs: [...(declaration.needs ?? []), ...(tool.needs ?? [])],
  }))
  return freeze({ ...declaration, tools })
}

/** Checks what connectors say of each other (`beside`, `joint`, one slug each) and freezes the list. */
export function defineCatalogue(connectors: readonly DeclaredConnector[]): readonly DeclaredConnector[] {
  const known = new Set<string>()
  const problems: string[] = []
  for (const { slug } of connectors) {
    if (known.has(slug)) problems.push(`"${slug}" is defined twice; keep one.`)
    known.add(slug)
  }
  for (const { slug, beside, tools } of connectors) {
    for (const other of [...(beside === undefined ? [] : [beside]), ...tools.flatMap(({ joint }) => joint ?? [])]) {
      if (!known.has(other)) problems.push(`"${slug}" names the connector "${other}", which is not in the list.`)
    }
  }
  if (problems.length > 0) throw new Error(problems.join(' '))
  return Object.freeze([...connectors])
}

/** What a grant can name: connectors with a read table, every tool, and the two figures of each that bills. */
export function grantWords(catalogue: readonly DeclaredConnector[]): {
  readonly connectors: readonly string[]
  readonly tools: readonly string[]
  readonly figures: Readonly<Record<string, readonly [perRun: string, perDay: string]>>
} {
  return {
    connectors: catalogue
      .filter(({ beside, tools }) => beside === undefined && tools.some(({ grantable }) => grantable))
      .map(({ slug }) => slug),
    tools: catalogue.flatMap(({ tools }) => tools.map(({ name }) => name)),
    figures: Object.fromEntries(
      catalogue.flatMap(({ slug, billing }) =>
        billing === undefined ? [] : [[slug, [billing.perRun, billing.perDay]]],
      ),
    ),
  }
}

/** Why a declared tool is not registered. */
export const NO_BODY = 'declared; its body comes with a later release'

/** Every tool of a declared connector as a withheld one, with the reason. */
export function declaredOnly(connector: DeclaredConnector): Withheld[] {
  return connector.tools.map(({ name }) => ({ tool: name, code: 'unknown_tool', reason: `${name} is ${NO_BODY}.` }))
}

const CONNECTOR_FIELDS =
  'slug title kind credentials connection when needs beside billing tools withheld refused notes captured unverified'
const TOOL_FIELDS =
  'name access grantable ask withoutChannel approvalsOff needs optIn joint ridesOn delegationDepth standing proposes note body'
const ACCESS = ['read', 'write', 'spend']

function connectorProblems(one: Declaration): string[] {
  const { slug, kind, billing, tools } = one
  const names = tools.map(({ name }) => name)
  const spends = tools.some(({ access }) => access === 'spend')
  return said([
    [SLUG.test(slug), 'a slug is letters, digits, "-" and single "_", as in "searchconsole".'],
    [one.title.trim() !== '' && one.when.trim() !== '', '"title" and "when" are words for people; fill them in.'],
    [KINDS.includes(kind), `"kind" is one of ${KINDS.join(', ')}.`],
    [['brand', 'none'].includes(one.credentials), '"credentials" is "brand" or "none".'],
    [tools.length > 0, 'a connector has at least one tool.'],
    [new Set(names).size === names.length, `a tool stands twice: ${repeated(names).join(', ')}.`],
    [!names.includes('*') || names.length === 1, '"*" stands for every tool, so no other can stand beside it.'],
    [spends === (billing !== undefined), 'a connector with a "spend" tool says its "billing", and no other does.'],
    [billing === undefined || billing.perRun !== billing.perDay, 'the two figures of "billing" have different names.'],
    [
      [...(one.withheld ?? []), ...(one.refused ?? [])].every(({ what, why }) => what && why),
      'what is left out says why.',
    ],
    ...connectionRules(one),
    ...unknown(one, CONNECTOR_FIELDS),
    ...needProblems(one.needs ?? []),
  ])
}

function toolProblems(one: Declaration, tool: ToolDeclaration): string[] {
  const { access, ask, joint } = tool
  const asks = ask === 'always' || ask === 'mutations'
  const vendor = one.kind === 'connector'
  const unasked = vendor && access === 'write' && ask === 'never'
  return said([
    [split(canonical(one.slug, tool.name)) !== undefined, 'is not a tool name: letters, digits, "_" and "-", or "*".'],
    [ACCESS.includes(access), `"access" is one of ${ACCESS.join(', ')}.`],
    [ASKS.includes(ask), `"ask" is one of ${ASKS.join(', ')}.`],
    [typeof tool.grantable === 'boolean', '"grantable" is true or false.'],
    [!tool.grantable || access !== 'write', 'a write is never grantable; make it a proposal or take "grantable" away.'],
    [!tool.grantable || !asks, 'a grantable tool asks nobody: who holds a grant has nobody to ask.'],
    [!tool.grantable || vendor, 'only a tool of a connector can be granted.'],
    [!asks || access === 'write', 'what asks for its effect is a "write".'],
    [(ask === 'above-threshold') === (access === 'spend'), '"above-threshold" and "spend" go together.'],
    [(ask !== 'never') === (tool.withoutChannel !== undefined), 'say "withoutChannel" where it asks, and only there.'],
    [
      ask === 'always' || tool.withoutChannel !== 'absent',
      'a tool that also runs unasked cannot be absent for asking.',
    ],
    [
      tool.approvalsOff === undefined || (!vendor && ask === 'always'),
      '"approvalsOff" is for platform tools that ask.',
    ],
    [
      joint === undefined || (joint.length > 1 && joint.includes(one.slug)),
      '"joint" lists its own connector and others.',
    ],
    [
      tool.optIn === undefined || one.beside !== undefined,
      'an opt-in tool stands "beside" a connector that is granted.',
    ],
    [tool.ridesOn === undefined || !tool.grantable, 'a tool that rides on a skill is not granted with a connector.'],
    [tool.standing === undefined || ask !== 'never', 'only what asks a person can have an approval that stands.'],
    [tool.proposes === undefined || access === 'read', 'a proposal commits nothing, so its access is "read".'],
    [!unasked || tool.note !== undefined, 'a write that asks nobody says why in "note".'],
    ...(tool.body === undefined ? [] : bodyRules(tool, tool.body)),
    ...unknown(tool, TOOL_FIELDS),
    ...needProblems(tool.needs ?? []),
  ]).map((problem) => `${tool.name}: ${problem}`)
}

function connectionRules({ credentials, connection, tools }: Declaration): Rule[] {
  const hasBody = tools.some(({ body }) => body !== undefined)
  if (connection === undefined)
    return [[!hasBody, 'a tool with a body needs a "connection": how its vendor is reached.']]
  const { fields, baseUrl, oauth } = connection
  return [
    [credentials === 'brand', 'a "connection" is for credentials of the "brand".'],
    [oauth !== undefined || Object.values(fields).some(isSecret), 'a connection has at least one secret field.'],
    [
      oauth === undefined || fields[oauth.clientId]?.secret === false,
      '"oauth.clientId" names a field that is no secret ("secret: false").',
    ],
    [
      oauth?.clientSecret === undefined || (oauth.clientSecret in fields && isSecret(fields[oauth.clientSecret])),
      '"oauth.clientSecret" names a secret field.',
    ],
    [oauth === undefined || !('accessToken' in fields), 'with "oauth", no field is called "accessToken".'],
    [
      typeof baseUrl === 'function' || /^https:\/\/[^?#]*[^/?#]$/.test(baseUrl),
      '"baseUrl" is https, with no slash, query or fragment at its end.',
    ],
    [
      Object.values(fields).every(({ title }) => title.trim() !== ''),
      'each field of a connection says in "title" what it is.',
    ],
  ]
}

/** What the facts of a tool owe its body, and the reverse. */
function bodyRules({ name, access, ask }: ToolDeclaration, { title, description, input, mutates, cost }: Body): Rule[] {
  return [
    [name !== '*', 'a body carries out one tool, so it cannot stand under "*".'],
    [title.trim() !== '' && description.trim() !== '', 'a body says in "title" and "description" what it does.'],
    [isStrict(input), '"input" is a z.strictObject, so that no argument goes unread.'],
    [(ask === 'mutations') === (mutates !== undefined), 'say "mutates" where it asks for mutations, and only there.'],
    [(access === 'spend') === (cost !== undefined), 'say "cost" where it spends, and only there.'],
  ]
}

/** Whether an object schema refuses members it does not name. */
const isStrict = (input: Body['input']): boolean => input.def.catchall?._zod.def.type === 'never'

type Rule = readonly [holds: boolean, problem: string]

const said = (rules: readonly Rule[]): string[] =>
  rules.filter(([holds]) => holds !== true).map(([, problem]) => problem)

function needProblems(needs: readonly Need[]): Rule[] {
  return needs.map((need): Rule => {
    if ('circumstance' in need) {
      return [Object.hasOwn(CIRCUMSTANCES, need.circumstance), `no circumstance is called "${need.circumstance}".`]
    }
    const known = SWITCHES.some(({ name }) => name === need.switch)
    return [
      known && ['absent', 'refuses'].includes(need.otherwise),
      `no switch is called "${need.switch}", or no effect.`,
    ]
  })
}

function unknown(one: object, fields: string): Rule[] {
  const strange = Object.keys(one).filter((key) => !fields.split(' ').includes(key))
  return strange.map((key): Rule => [false, `"${key}" is not a field here; known: ${fields}.`])
}

const repeated = (names: readonly string[]): string[] => names.filter((name, i) => names.indexOf(name) !== i)

function freeze<T>(value: T): T {
  // What is no plain object or list (a schema) keeps its own state.
  const plain = Array.isArray(value) || (value !== null && Object.getPrototypeOf(value) === Object.prototype)
  if (plain) Object.values(Object.freeze(value)).forEach(freeze)
  return value
}
