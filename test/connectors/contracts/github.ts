/**
 * GitHub's contract: the operations its connector uses, cut from the vendor's published OpenAPI document (`github.json`,
 * with its source, licence and digest; written by refresh-github.ts), and answers made from it.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openapi } from '../contract.ts'

type Schema = Readonly<Record<string, any>>
const document = JSON.parse(readFileSync(join(import.meta.dirname, 'github.json'), 'utf8')) as Schema

export const githubContract = openapi(document)

/** The smallest answer of a named schema, with members of one's own laid over it. */
export function like(name: string, own: object = {}): any {
  const schema = document.components.schemas[name]
  if (schema === undefined) throw new Error(`GitHub's contract has no schema ${name}.`)
  return laid(smallest(schema), own)
}

function laid(under: any, over: any): any {
  if (over === null || typeof over !== 'object' || Array.isArray(over) || under === null || typeof under !== 'object')
    return over
  return Object.fromEntries([
    ...Object.entries(under),
    ...Object.entries(over).map(([key, value]) => [key, key in under ? laid(under[key], value) : value]),
  ])
}

const TEXTS: Readonly<Record<string, string>> = {
  uri: 'https://github.example/x',
  email: 'mona@github.example',
  'date-time': '2026-01-31T00:00:00Z',
}

/** What is required and nothing more; null where null will do. */
function smallest(schema: Schema): any {
  if (schema.$ref !== undefined) {
    const named = schema.$ref.split('/').slice(1) as string[]
    return smallest(named.reduce((at: Schema, key) => at[key], document))
  }
  if (schema.nullable === true) return null
  if (schema.enum !== undefined) return schema.enum[0]
  const [one] = schema.oneOf ?? schema.anyOf ?? []
  const parts = [...(schema.allOf ?? []), ...(one === undefined ? [] : [one])].map(smallest)
  if (parts.length > 0) return typeof parts[0] === 'object' ? Object.assign({}, ...parts) : parts[0]
  if (schema.type === 'array') return []
  if (schema.type === 'boolean') return false
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'string') return TEXTS[schema.format ?? ''] ?? 'x'
  const required: string[] = schema.required ?? []
  return Object.fromEntries(required.map((key) => [key, smallest(schema.properties?.[key] ?? {})]))
}
