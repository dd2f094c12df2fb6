/**
 * What a run came to: laws that held or did not, and figures beside their goals.
 * @module
 */
import type { Law } from './checker.ts'

export interface Figure {
  readonly what: string
  readonly value: number
  readonly unit: '' | 'ms' | '×'
  /** At most this; a goal that is missed is shown and fails nothing, since it depends on the machine. */
  readonly goal?: number
}

export interface Results {
  readonly title: string
  readonly laws: readonly Law[]
  readonly figures: readonly Figure[]
}

const number = (value: number): string =>
  Number.isInteger(value) || value >= 100 ? Math.round(value).toString() : value.toPrecision(2)

/** The value below which this share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

/** The table of one part, and what broke each law that was broken. */
export function show({ title, laws, figures }: Results): string {
  const rows = figures.map(({ what, value, unit, goal }) => {
    const reached = goal === undefined ? '' : value <= goal ? 'reached' : 'missed'
    return [
      what,
      `${number(value)} ${unit}`.trim(),
      goal === undefined ? '' : `≤ ${number(goal)} ${unit}`.trim(),
      reached,
    ]
  })
  const kept = laws.map(({ law, broken }) => [
    law,
    `${broken.length} broken`,
    '0',
    broken.length === 0 ? 'held' : 'BROKEN',
  ])
  const all = [['what', 'figure', 'goal', ''], ...kept, ...rows]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((cells) => cells[column]!.length)))
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  ')
  const why = laws
    .filter(({ broken }) => broken.length > 0)
    .map(
      ({ law, broken }) =>
        `${law}:\n${broken
          .slice(0, 10)
          .map((one) => `  ${one}`)
          .join('\n')}`,
    )
  return [``, title, ...all.map(line), ...why].join('\n')
}
