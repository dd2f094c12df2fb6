/**
 * Which known word somebody probably meant, so that a refusal of a misspelt one can say how to mend it.
 * Only ever used in messages: no decision reads it.
 * @module
 */

/** The known word nearest to `written` (case ignored), when it is near enough to be a slip of the hand. */
export function nearest(written: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.min(3, Math.floor(written.length / 3) + 1)
  for (const word of known) {
    if (Math.abs(word.length - written.length) >= least) continue
    const far = distance(written.toLowerCase(), word.toLowerCase())
    if (far < least) {
      best = word
      least = far
    }
  }
  return best
}

/** Edits (insert, drop, change, swap of neighbours) that turn `a` into `b`. */
export function distance(a: string, b: string): number {
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      let least = Math.min(above[j]! + 1, row[j - 1]! + 1, change)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, before[j - 2]! + 1)
      row.push(least)
    }
    before = above
    above = row
  }
  return above[b.length]!
}
