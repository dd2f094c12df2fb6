/**
 * One tool definition of an upstream, turned into a registered tool by spans of its text: unknown members, numbers and
 * key order survive. A schema is looked at on its outside only, never compiled.
 * @module
 */
import { createHash } from 'node:crypto'
import { canonicalText, check, join, members, parse, type Span } from '../../json.ts'
import { isReservedMeta } from '../../policy/meta.ts'
import { canonical } from '../../policy/names.ts'
import type { RegisteredTool } from '../connector.ts'
import type { Standing } from './access.ts'
import { mirroredBy } from './mirror.ts'
import { fitName, NAME_LIMIT } from './names.ts'

/** Largest definition that is passed on (bytes), and how deep it may nest. */
const LARGEST = 1024 * 1024
const BOUNDS = { depth: 100, values: 200_000 }

/** A definition that is not registered. `name` is what it calls itself, where it does. */
export interface Dropped {
  readonly name: string | undefined
  readonly reason: string
}

interface Definition {
  readonly title?: unknown
  readonly description?: unknown
  readonly annotations?: { readonly title?: unknown } | null
  readonly inputSchema?: unknown
}

export type Defined = { readonly tool: RegisteredTool } | { readonly dropped: Dropped }

/** Makes a registered tool of a definition's text. Never throws. */
export function define(text: string, slug: string, standingOf: (name: string) => Standing, upstream: string): Defined {
  const name = nameIn(text)
  const drop = (reason: string): Defined => ({ dropped: { name, reason } })
  if (name === undefined || name === '') return drop('The definition has no name.')
  if (Buffer.byteLength(text) > LARGEST) return drop('The definition is larger than 1 MiB.')
  try {
    check(text, BOUNDS)
  } catch (error) {
    return drop(`The definition cannot be read. ${(error as Error).message.replace('The body', 'It')}`)
  }
  const schemas = schemasOf(text)
  if (typeof schemas === 'string') return drop(schemas)
  const value = parse(text) as Definition
  const mirrored = mirroredBy(value.inputSchema)
  if (typeof mirrored === 'string') return drop(mirrored)
  return {
    tool: {
      name: canonical(slug, fitName(name, NAME_LIMIT - 2 - slug.length)),
      ownName: fitName(name, NAME_LIMIT),
      upstreamName: name,
      connector: slug,
      ...standingOf(name),
      title: stringOr(value.title) ?? stringOr(value.annotations?.title),
      description: stringOr(value.description),
      definition: { legacy: withSchema(text, schemas.legacy), modern: withSchema(text, schemas.modern) },
      digest: createHash('sha256').update(canonicalText(text)).digest('hex'),
      source: text,
      upstream,
    },
  }
}

const stringOr = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function nameIn(text: string): string | undefined {
  const { name } = (parse(text) ?? {}) as { name?: unknown }
  return stringOr(name)
}

interface Schemas {
  readonly legacy: string
  readonly modern: string
}

/**
 * The input schema as it goes out in each era, or why the tool cannot.
 * Strict clients reject a whole list over one schema whose root does not say `"type":"object"`; 2026-07-28 lets a root
 * say it through other keywords.
 */
function schemasOf(text: string): Schemas | string {
  const span = members(text)?.get('inputSchema')
  if (span === undefined) return both('{"type":"object"}')
  const written = text.slice(span.start, span.end)
  if (written === 'true') return both('{"type":"object"}')
  const root = members(written)
  if (root === undefined) return `Its inputSchema is ${written.slice(0, 20)}, which is no JSON Schema of an object.`
  const typeSpan = root.get('type')
  if (typeSpan === undefined) {
    const typed = withType(written, root)
    return ['anyOf', 'oneOf', 'allOf', '$ref', 'if'].some((keyword) => root.has(keyword))
      ? { modern: written, legacy: typed }
      : both(typed)
  }
  const type = parse(written.slice(typeSpan.start, typeSpan.end))
  if (type === 'object') return both(written)
  if (Array.isArray(type) && type.includes('object')) return { modern: written, legacy: withType(written, root) }
  return `Its inputSchema is of type ${JSON.stringify(type).slice(0, 60)}; arguments of a tool are an object.`
}

const both = (schema: string): Schemas => ({ legacy: schema, modern: schema })

function withType(schema: string, root: NonNullable<ReturnType<typeof members>>): string {
  const rest = join(schema, root, (key) => key === 'type')
  return `{"type":"object"${rest === '' ? '' : `,${rest}`}}`
}

/** The members after `name` as they go out: the input schema in its place, `_meta` without keys no upstream may forge. */
function withSchema(text: string, schema: string): string {
  const spans = members(text) ?? new Map<string, Span>()
  let out = ''
  for (const [key, { start, end }] of spans) {
    if (key === 'name') continue
    const own = text.slice(start, end)
    const value = key === 'inputSchema' ? schema : key === '_meta' ? passedMeta(own) : own
    out += `,${JSON.stringify(key)}:${value}`
  }
  return spans.has('inputSchema') ? out : `${out},"inputSchema":${schema}`
}

function passedMeta(text: string): string {
  const meta = members(text)
  return meta !== undefined && [...meta.keys()].some(isReservedMeta) ? `{${join(text, meta, isReservedMeta)}}` : text
}
