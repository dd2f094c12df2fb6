/**
 * Arguments that a modern upstream wants repeated in HTTP headers: `x-mcp-header` in a tool's schema (SEP-2243).
 * Only ever `Mcp-Param-…`, so no argument can set a header that means something else.
 * @module
 */
import { members, parse, type Span } from '../../json.ts'
import type { RegisteredTool } from '../connector.ts'
import { headerValue } from './envelope.ts'

const ANNOTATION = 'x-mcp-header'

/** One argument that goes into a header. */
export interface Mirrored {
  /** Where the argument stands. */
  readonly path: readonly string[]
  /** The header's name, in lower case. */
  readonly header: string
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const SINGLE = new Set<unknown>(['string', 'integer', 'boolean'])

/** Keywords with one schema or a list of them, and keywords with schemas by name. Annotations below them are invalid. */
const SCHEMAS = [
  'items',
  'prefixItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
]
const NAMED_SCHEMAS = ['patternProperties', 'dependentSchemas', '$defs', 'definitions']

/**
 * What an input schema wants mirrored. A sentence when it asks for it in a way the protocol forbids; a client must not
 * use such a tool at all (2026-07-28, "Schema Extension").
 */
export function mirroredBy(schema: unknown): readonly Mirrored[] | string {
  const found = new Map<string, Mirrored>()
  return visit(schema, [], true, found) ?? [...found.values()]
}

/** Looks through one schema; returns what is wrong, if anything is. */
function visit(
  node: unknown,
  path: readonly string[],
  reached: boolean,
  found: Map<string, Mirrored>,
): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined
  const schema = node as Record<string, unknown>
  const name = schema[ANNOTATION]
  if (name !== undefined) {
    if (!reached || path.length === 0) return `Its inputSchema has ${ANNOTATION} where no single argument stands.`
    if (typeof name !== 'string' || !TOKEN.test(name))
      return `Its inputSchema has an ${ANNOTATION} that is no header name.`
    if (!SINGLE.has(schema.type))
      return `Its inputSchema has ${ANNOTATION} on something else than a string, integer or boolean.`
    const header = `mcp-param-${name.toLowerCase()}`
    if (found.has(header)) return `Its inputSchema has the same ${ANNOTATION} twice.`
    found.set(header, { path, header })
  }
  for (const [key, child] of entries(schema.properties)) {
    const wrong = visit(child, [...path, key], reached, found)
    if (wrong !== undefined) return wrong
  }
  const others = [
    ...SCHEMAS.flatMap((key) => schema[key]),
    ...NAMED_SCHEMAS.flatMap((key) => entries(schema[key]).map(([, child]) => child)),
  ]
  for (const child of others) {
    const wrong = visit(child, path, false, found)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

const entries = (value: unknown): Array<[string, unknown]> =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []

/** Gives the headers of one call, names and values in turn; most tools have none. */
export type Mirror = (tool: RegisteredTool, argumentsText: string | undefined) => readonly string[]

const NONE: readonly never[] = []

/** Makes the function; what it read of a tool's schema it keeps as long as the tool. */
export function createMirror(): Mirror {
  const known = new WeakMap<RegisteredTool, readonly Mirrored[]>()
  return (tool, argumentsText) => {
    let mirrored = known.get(tool)
    if (mirrored === undefined) {
      mirrored = ofTool(tool)
      known.set(tool, mirrored)
    }
    return mirrored.length === 0 || argumentsText === undefined ? NONE : headersFor(mirrored, argumentsText)
  }
}

function ofTool(tool: RegisteredTool): readonly Mirrored[] {
  const { modern } = tool.definition
  if (!modern.includes(ANNOTATION)) return NONE
  const { inputSchema } = parse(`{"name":""${modern}}`) as { inputSchema?: unknown }
  const mirrored = mirroredBy(inputSchema)
  return typeof mirrored === 'string' ? NONE : mirrored
}

function headersFor(mirrored: readonly Mirrored[], argumentsText: string): string[] {
  const headers: string[] = []
  for (const { path, header } of mirrored) {
    const value = textAt(argumentsText, path)
    if (value !== undefined) headers.push(header, headerValue(value))
  }
  return headers
}

/** The string, number or boolean at a path, as header text; undefined for anything else. */
function textAt(text: string, path: readonly string[]): string | undefined {
  let span: Span | undefined = { start: 0, end: text.length }
  for (const key of path) {
    span = members(text, span.start)?.get(key)
    if (span === undefined) return undefined
  }
  const value = parse(text.slice(span.start, span.end))
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value)
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined
}
