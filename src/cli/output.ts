/**
 * What commands print: aligned plain text for people, one JSON document for machines, a sentence when something is wrong.
 * @module
 */

/** Where a command reads and writes. */
export interface Io {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: Out
  readonly stderr: Out
  /** Aborted when a command that would go on for ever is to end. Without it, Ctrl-C does that. */
  readonly signal?: AbortSignal
}

export interface Out {
  write(text: string): unknown
  readonly isTTY?: boolean
}

/** A command that cannot do what it was asked; the message says how to mend it. `facts` go out with `--json`. */
export class CliError extends Error {
  override name = 'CliError'
  readonly facts: Readonly<Record<string, unknown>>
  constructor(message: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.facts = facts
  }
}

/** One JSON document. */
export function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`)
}

/** Lines of text. */
export function print(io: Io, ...lines: readonly string[]): void {
  for (const line of lines) io.stdout.write(`${line}\n`)
}

/** Rows under their headings, two blanks apart; the last column is as wide as it is. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows.map((row) => row.map(plain))]
  const widths = headings.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)))
  return all
    .map((row) =>
      row
        .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Text on one line without control characters, which could move a terminal's cursor. */
export function plain(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
}

/** The time to the second, as people read it. */
export function when(iso: string | undefined): string {
  return iso === undefined ? '' : `${iso.slice(0, 19).replace('T', ' ')}Z`
}
