/**
 * The two ways a database says no. Both carry nothing of the row or the parameters, so they are safe to log
 * (the drivers' own errors quote whole rows in `detail`).
 * @module
 */

/** The database answered, and the answer was an error. Nothing of the transaction was kept. */
export class DatabaseRefused extends Error {
  override name = 'DatabaseRefused'
  /** SQLSTATE, five characters: https://www.postgresql.org/docs/current/errcodes-appendix.html */
  readonly code: string
  readonly constraint: string | undefined

  constructor(message: string, code: string, constraint: string | undefined) {
    super(message)
    this.code = code
    this.constraint = constraint
  }
}

/** The database could not be asked, or did not answer in time. Whether it did the work is unknown. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/** Whether an insert or update met a row that was there first; `constraint` narrows it to one unique index. */
export function isDuplicate(error: unknown, constraint?: string): boolean {
  if (!(error instanceof DatabaseRefused) || error.code !== '23505') return false
  return constraint === undefined || error.constraint === constraint
}

/** SQLSTATE classes that say the server is going, gone, out of room or out of time, whatever the statement was. */
const NOT_ABOUT_THE_STATEMENT = /^(08|53|57|58)/
/** The server gave a statement up because it took too long: it lives, and so does the connection. */
const GAVE_UP = '57014'

/** Whether the connection is as good as before, although there was no answer. */
export function gaveUp(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === GAVE_UP
}

/** Levels a driver's error. */
export function asDatabaseError(error: unknown): DatabaseRefused | DatabaseUnavailable {
  if (error instanceof DatabaseRefused || error instanceof DatabaseUnavailable) return error
  const { code, errno, message, constraint_name, constraint } = (error ?? {}) as Record<string, unknown>
  // EPIPE, a socket's error, looks like an SQLSTATE.
  const fromServer = errno === undefined && typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)
  if (fromServer && !NOT_ABOUT_THE_STATEMENT.test(code)) {
    const name = constraint_name ?? constraint
    return new DatabaseRefused(String(message), code, typeof name === 'string' ? name : undefined)
  }
  if (code === GAVE_UP) {
    return new DatabaseUnavailable('The database took too long to answer. Check whether it is overloaded or locked.')
  }
  const reason = typeof code === 'string' ? code : error instanceof Error ? error.name : 'unknown'
  return new DatabaseUnavailable(
    `The database cannot be reached (${reason}). Check that it runs and that DATABASE_URL is right.`,
  )
}
