/**
 * Options that several commands share.
 * @module
 */
import { type Command, InvalidArgumentError } from 'commander'

/** What every command that talks to a running gateway takes. */
export interface RestOptions {
  readonly url?: string
  readonly json?: true
}

/** A command with `--json`. */
export function local(parent: Command, spec: string, describes: string): Command {
  return parent.command(spec).description(describes).option('--json', 'print one JSON document')
}

/** A command that talks to a running gateway. */
export function remote(parent: Command, spec: string, describes: string): Command {
  return local(parent, spec, describes).option(
    '--url <url>',
    'address of the gateway (default: TOLLGATE_URL, or PORT on this machine)',
  )
}

/** `a,b` or the option given twice: a list without blanks and empty names. */
export function names(text: string, before: readonly string[] = []): readonly string[] {
  return [
    ...before,
    ...text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ]
}

/** A whole number. */
export function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Write a whole number.')
  return Number(text)
}

/** A JSON object. */
export function jsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError(`Write a JSON object, as in '{"path":"a.txt"}'.`)
}
