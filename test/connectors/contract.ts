/**
 * A vendor's contract as a stand-in applies it: operations by method and templated path, what a request may be, and what
 * an answer of each status looks like. Read from a slice of an OpenAPI document, or written as functions.
 * @module
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** What is wrong with a value: JSON paths and rules, never the value itself. Empty: nothing. */
export type Judge = (value: unknown) => string[]

export interface Operation {
  readonly method: string
  /** As in `/repos/{owner}/{repo}`. */
  readonly path: string
  readonly pathParameters?: Judge
  readonly query?: Judge
  /** Of the JSON (or form) body; without it there is none. */
  readonly body?: Judge
  /** By status; `default` for all others. */
  readonly answers: Readonly<Record<string, Judge>>
}

export type Contract = readonly Operation[]

type Schema = Record<string, unknown>
interface Document {
  readonly paths: Record<string, Record<string, unknown>>
  readonly components?: Schema
}
interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

/**
 * Reads a slice of an OpenAPI 3 document. Request schemas are closed, since the documents do not say so themselves: a
 * member that the contract does not name is a mistake of ours.
 */
export function openapi(document: unknown): Contract {
  const doc = document as Document
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })
  const loose = new Ajv2020({ strict: false, allErrors: true, coerceTypes: 'array' })
  for (const one of [ajv, loose]) (addFormats as unknown as (to: object) => void)(one)
  const whole = (schema: unknown): Schema => modern(inlined(schema as Schema, doc, [])) as Schema
  return Object.entries(doc.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => /^(get|put|post|patch|delete)$/.test(method))
      .map(([method, written]): Operation => {
        const operation = written as { parameters?: Schema[]; requestBody?: Schema; responses: Record<string, Schema> }
        const given = [...((item.parameters ?? []) as Schema[]), ...(operation.parameters ?? [])]
        const parameters = given.map((one) => whole(one) as unknown as Parameter)
        const body = contentOf(whole(operation.requestBody ?? {}))
        return {
          method: method.toUpperCase(),
          path,
          pathParameters: judge(loose, objectOf(parameters, 'path')),
          query: judge(loose, objectOf(parameters, 'query')),
          ...(body !== undefined && { body: judge(ajv, closed(body)) }),
          answers: Object.fromEntries(
            Object.entries(operation.responses).map(([status, response]) => [
              status,
              judge(ajv, contentOf(whole(response)) ?? true),
            ]),
          ),
        }
      }),
  )
}

function judge(ajv: Ajv2020, schema: Schema | boolean): Judge {
  // Compiled when it is needed: most tests use a few of many.
  let check: ReturnType<Ajv2020['compile']> | undefined
  return (value) => {
    check ??= ajv.compile(schema)
    if (check(value)) return []
    return (check.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
    )
  }
}

function objectOf(parameters: readonly Parameter[], where: string): Schema {
  const these = parameters.filter((one) => one.in === where)
  return {
    type: 'object',
    properties: Object.fromEntries(these.map(({ name, schema }) => [name, schema])),
    required: these.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  }
}

function contentOf({ content }: Schema): Schema | undefined {
  const types = (content ?? {}) as Record<string, { schema?: Schema }>
  const found = Object.entries(types).find(([type]) => /json|x-www-form-urlencoded/.test(type))
  return found === undefined ? undefined : (found[1].schema ?? {})
}

/** References replaced by what they name; one that names itself within becomes anything. */
function inlined(value: unknown, doc: Document, within: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => inlined(one, doc, within))
  if (value === null || typeof value !== 'object') return value
  const { $ref } = value as { $ref?: unknown }
  if (typeof $ref === 'string') {
    if (within.includes($ref)) return {}
    const target = $ref
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((at, part) => (at as Schema)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')], doc)
    if (target === undefined) throw new Error(`The contract's slice lacks ${$ref}.`)
    return inlined(target, doc, [...within, $ref])
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inlined(one, doc, within)]))
}

/** OpenAPI 3.0's `nullable` in the words of JSON Schema 2020-12; what is no keyword of a schema is dropped. */
function modern(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(modern)
  if (value === null || typeof value !== 'object') return value
  const { nullable, example, examples, discriminator, xml, externalDocs, ...rest } = value as Schema
  const made = Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, modern(one)]))
  for (const edge of ['exclusiveMinimum', 'exclusiveMaximum']) {
    if (typeof made[edge] === 'boolean') delete made[edge]
  }
  if (nullable !== true) return made
  if (typeof made.type !== 'string') return { anyOf: [made, { type: 'null' }] }
  return { ...made, type: [made.type, 'null'], ...(Array.isArray(made.enum) && { enum: [...made.enum, null] }) }
}

/** Objects take no member that they do not name. `open`: part of a larger schema that does the closing. */
function closed(schema: Schema | boolean, open = false): Schema | boolean {
  if (typeof schema === 'boolean') return schema
  const made: Schema = { ...schema }
  const parts = ['allOf', 'anyOf', 'oneOf'].filter((key) => Array.isArray(made[key]))
  for (const key of parts) made[key] = (made[key] as Schema[]).map((one) => closed(one, true))
  if (made.properties !== undefined) {
    made.properties = Object.fromEntries(
      Object.entries(made.properties as Record<string, Schema>).map(([name, one]) => [name, closed(one)]),
    )
  }
  if (made.items !== undefined) made.items = closed(made.items as Schema)
  if (made.additionalProperties !== undefined && typeof made.additionalProperties === 'object') {
    made.additionalProperties = closed(made.additionalProperties as Schema)
  }
  const isObject = made.properties !== undefined || parts.some((key) => (made[key] as Schema[]).some(isObjectLike))
  if (!open && isObject && made.additionalProperties === undefined) made.unevaluatedProperties = false
  return made
}

const isObjectLike = (one: Schema): boolean =>
  one.properties !== undefined ||
  one.type === 'object' ||
  ['allOf', 'anyOf', 'oneOf'].some((key) => Array.isArray(one[key]) && (one[key] as Schema[]).some(isObjectLike))
