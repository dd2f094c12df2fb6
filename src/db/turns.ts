/**
 * One at a time, first come first served, within this process.
 * @module
 */

/** Runs each work when the one before it has ended, however it ended. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve()
  return function alone<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work)
    turn = mine.catch(() => {})
    return mine
  }
}
