/**
 * Paths of a vendor's API. A tool writes one as a template, and nothing of an argument can leave its segment.
 * @module
 */
import { Refusal } from './failure.ts'

/** A path below the connector's base URL, made by `path` alone. */
export interface Path {
  readonly made: string
}

/**
 * `path\`/repos/${owner}/${repo}/contents/${file.split('/')}\``: each value is one segment, percent-encoded; of a list
 * each element is one. Throws Refusal (`invalid_arguments`) for an empty segment, "." and "..", and for control characters.
 */
export function path(literal: TemplateStringsArray, ...values: (string | number | readonly string[])[]): Path {
  return { made: literal.reduce((made, part, i) => made + segments(values[i - 1]) + part, '') }
}

function segments(value: string | number | readonly string[] | undefined): string {
  if (value === undefined) return ''
  return (Array.isArray(value) ? (value as string[]) : [String(value)]).map(segment).join('/')
}

function segment(text: string): string {
  // Some servers read "." and ".." after decoding, so encoding them would not help.
  if (text === '' || text === '.' || text === '..' || /\p{Cc}|\p{Cs}/u.test(text))
    throw new Refusal(
      'invalid_arguments',
      'A part of a name or path is empty, "." or "..", or holds control characters.',
    )
  return encodeURIComponent(text)
}

/** Query values; a list becomes the same name several times, undefined nothing. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** `?a=1&b=2`, or ''. */
export function queryText(query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one))
  }
  return search.size === 0 ? '' : `?${search.toString().replaceAll('+', '%20')}`
}
