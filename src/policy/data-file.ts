/**
 * A data file, already parsed, and the sentences that say what is wrong with it and where.
 * A sentence names fields and lines, never a value: a configuration file holds secrets.
 * @module
 */
import { z } from 'zod'
import { nearest } from './nearest.ts'

/** One parsed file. `lineOf` gives the line (from 1) of the field or element a path leads to, where that is known. */
export interface DataFile {
  readonly file: string
  readonly value: unknown
  lineOf(path: readonly PropertyKey[]): number | undefined
}

/** An object that refuses a field it does not know, with a sentence that names those it does. */
export function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownFields(issue.keys as string[], known) : undefined),
  })
}

function unknownFields(keys: readonly string[], known: readonly string[]): string {
  return keys
    .map((key) => {
      const meant = nearest(key, known)
      return `"${key}" is not a field here${meant === undefined ? '' : ` (did you mean "${meant}"?)`}; known: ${known.join(', ')}.`
    })
    .join(' ')
}

/** Reads a file by a schema: its value, or every problem as a sentence with file and line. */
export function readData<T>(
  schema: z.ZodType<T>,
  data: DataFile,
): { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: string[] } {
  const read = schema.safeParse(data.value)
  if (read.success) return { ok: true, value: read.data }
  return { ok: false, problems: read.error.issues.map((issue) => problemAt(data, placeOf(issue), sentence(issue))) }
}

/** One sentence about one place: `person-chat.yaml:12: holds[0].tools[3]: …`. */
export function problemAt(data: DataFile, path: readonly PropertyKey[], message: string): string {
  const line = data.lineOf(path)
  const place = path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  )
  return `${data.file}${line === undefined ? '' : `:${line}`}: ${place === '' ? '' : `${place}: `}${message}`
}

/** An unknown field is named by its own line, not by that of the object it stands in. */
function placeOf(issue: z.core.$ZodIssue): PropertyKey[] {
  return issue.code === 'unrecognized_keys' && issue.keys.length === 1
    ? [...issue.path, issue.keys[0]!]
    : [...issue.path]
}

function sentence(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined'))
    return `is missing; ${issue.expected} expected.`
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message
  return issue.message.replace(/^Invalid (?:input|option|key in record): /, '')
}
