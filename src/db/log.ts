/**
 * What the rooms need of a logger: the shape of pino, so that pino fits and a test can hand in its own.
 * @module
 */

/** One line: fields for machines, a sentence for people. Never a secret in either. */
export type LogLine = (fields: object, message: string) => void

export interface Log {
  readonly debug: LogLine
  readonly info: LogLine
  readonly warn: LogLine
  readonly error: LogLine
}
