/**
 * The types of the official client, dataforseo-client 2.1.7 (MIT), as judges: its declaration files are read, and a value is
 * held to them. All of its types are open; here they are closed, since what they do not name is a mistake of ours.
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Judge } from '../contract.ts'

const require = createRequire(import.meta.url)
/** Where the client's CommonJS build is. */
export const CLIENT = dirname(require.resolve('dataforseo-client'))
const MODELS = join(CLIENT, '..', 'esm', 'models')

interface Field {
  readonly type: string
  readonly required: boolean
}
interface Type {
  readonly parent: string | undefined
  readonly fields: Readonly<Record<string, Field>>
}
interface File {
  readonly types: ReadonlyMap<string, Type>
  /** Names from other files. */
  readonly imports: ReadonlyMap<string, string>
}

const files = new Map<string, File>()

function fileOf(name: string): File {
  const known = files.get(name)
  if (known !== undefined) return known
  const text = readFileSync(join(MODELS, `${name}.d.ts`), 'utf8')
  const types = [...text.matchAll(/^export interface I(\w+)(?: extends I(\w+))? \{\n([\s\S]*?)^\}/gm)].map(
    ([, own = '', parent, inside = '']) => [own, { parent, fields: fieldsIn(inside) }] as const,
  )
  const imports = [...text.matchAll(/^import \{ ([^}]+) \} from "\.\/(\w+)"/gm)].flatMap(([, names = '', from = '']) =>
    names.split(', ').map((one) => [one.trim(), from] as const),
  )
  const file = { types: new Map(types), imports: new Map(imports) }
  files.set(name, file)
  return file
}

function fieldsIn(text: string): Record<string, Field> {
  const found = text.matchAll(
    /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)?^ {4}(\w+)\?: (\{[\s\S]*?^ {4}\}|[^;{]+) \| undefined;/gm,
  )
  return Object.fromEntries(
    [...found].map(([, said = '', name = '', type = '']) => [
      name,
      { type: type.trim(), required: said.includes('**required field**') },
    ]),
  )
}

/** The fields of a type, its parents' and, where it stands for several kinds of items, theirs. */
function fieldsOf(name: string, inFile: string): { fields: Record<string, Field>; from: string } {
  const from = fileOf(inFile).types.has(name) ? inFile : (fileOf(inFile).imports.get(name) ?? name)
  const { types, imports } = fileOf(from)
  const own = types.get(name)
  if (own === undefined) throw new Error(`The client has no type ${name} in ${from}.`)
  const parent = own.parent
  const above =
    parent === undefined ? {} : fieldsOf(parent, types.has(parent) ? from : (imports.get(parent) ?? parent)).fields
  const below = [...types.values()].filter((one) => one.parent === name).map(({ fields }) => fields)
  return { fields: Object.assign({}, above, ...below, own.fields), from }
}

/** `nulls`: an answer may say null for what it does not know; a request may not. */
function problems(type: string, inFile: string, value: unknown, at: string, nulls: boolean): string[] {
  if (value === null) return nulls ? [] : [`${at} is null.`]
  if (type === 'any' || /^\{\s*\}$/.test(type)) return []
  if (['string', 'number', 'boolean'].includes(type)) return typeof value === type ? [] : [`${at} is no ${type}.`]
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) return [`${at} is no list.`]
    return value.flatMap((one, i) => problems(type.slice(0, -2), inFile, one, `${at}[${i}]`, nulls))
  }
  if (typeof value !== 'object' || Array.isArray(value)) return [`${at} is no object.`]
  const each = /^\{\s*\[key: string\]: ([\w[\]]+);\s*\}$/.exec(type)?.[1]
  if (each !== undefined)
    return Object.entries(value).flatMap(([key, one]) => problems(each, inFile, one, `${at}.${key}`, nulls))
  const { fields, from } = fieldsOf(type, inFile)
  const missing = Object.entries(fields).filter(([name, { required }]) => required && !nulls && !(name in value))
  return [
    ...missing.map(([name]) => `${at}.${name} is missing.`),
    ...Object.entries(value).flatMap(([name, one]) => {
      const field = fields[name]
      return field === undefined
        ? [`${at}.${name} is not in ${type}.`]
        : problems(field.type, from, one, `${at}.${name}`, nulls)
    }),
  ]
}

/** Holds an answer to a type of the client. */
export const answerOf =
  (type: string): Judge =>
  (value) =>
    problems(type, type, value, '', true)

/** Holds a request to one task of a type; `besides` are fields that the vendor documents and the client lacks. */
export const taskOf =
  (type: string, besides: readonly string[] = []): Judge =>
  (value) => {
    if (!Array.isArray(value) || value.length !== 1) return ['It is no list of one task.']
    const task = Object.fromEntries(Object.entries(value[0] as object).filter(([name]) => !besides.includes(name)))
    return problems(type, type, task, '', false)
  }
