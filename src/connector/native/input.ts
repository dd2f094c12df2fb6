/**
 * Arguments against a tool's input: a sentence for each that is wrong, before anything leaves.
 * @module
 */
import { z } from 'zod'
import { nearest } from '../../policy/nearest.ts'

/** The input as JSON Schema, as clients are shown it; arguments with a default are not required. */
export function schemaOf(input: z.ZodObject): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'throw' })
  return schema
}

export type Read = { readonly ok: true; readonly args: unknown } | { readonly ok: false; readonly because: string }

/** Reads the `arguments` of a call. Never throws. */
export function readInput(input: z.ZodObject, argumentsText: string | undefined): Read {
  let value: unknown
  try {
    value = JSON.parse(argumentsText ?? '{}')
  } catch {
    return { ok: false, because: 'The arguments are no JSON object.' }
  }
  const read = input.safeParse(value)
  if (read.success) return { ok: true, args: read.data }
  const known = Object.keys(input.shape)
  const sentences = read.error.issues.flatMap((issue) => sentencesOf(issue, known, value))
  return { ok: false, because: [...new Set(sentences)].slice(0, MOST).join(' ') }
}

const MOST = 20

function sentencesOf(issue: z.core.$ZodIssue, known: readonly string[], value: unknown): string[] {
  const at = pathText(issue.path)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const meant = issue.path.length === 0 ? nearest(key, known) : undefined
      const named = `${at === '' ? '' : `${at}.`}${key}`.slice(0, 80)
      if (issue.path.length > 0) return `"${named}" is not a field here.`
      const list = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`
      return `"${named}" is not an argument of this tool${meant === undefined ? `; ${list}` : `; did you mean "${meant}"`}.`
    })
  }
  const said = issue.message.replace(/^Invalid (?:input|option|string): /, '').replace(/[.]$/, '')
  if (issue.path.length > 0 && memberAt(value, issue.path) === undefined) {
    const wanted = issue.code === 'invalid_type' && said.startsWith('expected ') ? `${issue.expected} expected` : said
    return [`"${at}" is missing; ${wanted}.`]
  }
  return [at === '' ? `${said}.` : `"${at}": ${said}.`]
}

function memberAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown> | null | undefined)?.[part], value)
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  )
}
