/**
 * What changed between two texts, line by line.
 * @module
 */

/** A line that stayed, went or came. */
export interface Line {
  readonly kind: 'same' | 'gone' | 'new'
  readonly text: string
}

const MOST_LINES = 600

/** The lines of both in order, by their longest common subsequence; undefined where the texts are too long to compare. */
export function diff(before: string, after: string): readonly Line[] | undefined {
  const [a, b] = [before.split('\n'), after.split('\n')]
  if (a.length > MOST_LINES || b.length > MOST_LINES) return undefined
  const width = b.length + 1
  const longest = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [old, young] = [a[i], b[j]]
    if (i < a.length && j < b.length && old === young) {
      lines.push({ kind: 'same', text: old ?? '' })
      i++
      j++
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'gone', text: old ?? '' })
      i++
    } else {
      lines.push({ kind: 'new', text: young ?? '' })
      j++
    }
  }
  return lines
}

/** The changed lines with two unchanged ones around them; `undefined` stands for lines left out. */
export function around(lines: readonly Line[], context = 2): readonly (Line | undefined)[] {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ kind }) => kind !== 'same'),
  )
  const shown: (Line | undefined)[] = []
  lines.forEach((line, at) => {
    if (near[at]) shown.push(line)
    else if (at === 0 || near[at - 1]) shown.push(undefined)
  })
  return shown
}
