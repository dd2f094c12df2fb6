/**
 * The figures as Markdown: ratios first, since they hold on other machines too.
 * @module
 */
import { cpus, release, totalmem, type } from 'node:os'
import { type Approvals, DIRECT } from './approve.ts'
import type { Idle } from './idle.ts'
import { quantile, type Slice } from './load.ts'
import { type Rows, SCENARIOS } from './measure.ts'

export interface Figures {
  readonly machine: string
  /** Cores that other programs used, median over all slices. */
  readonly foreignCores: number
  readonly rows: ReadonlyMap<string, Rows>
  readonly idle: ReadonlyMap<string, Idle>
  readonly approvals: Approvals
}

type Field = 'perSecond' | 'p50' | 'p99' | 'cpuMicros'

interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** Where the bench ran. */
export function machine(): string {
  const processors = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  const day = new Date().toISOString().slice(0, 10)
  return `${processors.length} cores (${processors[0]?.model.trim()}), ${memory} GiB, ${type()} ${release()}, Node ${process.version}, ${day}`
}

/** The spread of a figure's ratio to another target's, formed round by round; undefined where one was not measured. */
export function ratio(rows: Rows | undefined, name: string, base: string, field: Field): Spread | undefined {
  const [own, other] = [rows?.get(name), rows?.get(base)]
  if (own === undefined || other === undefined) return undefined
  return spread(own.map((slice, round) => slice[field] / (other[round]?.[field] ?? Number.NaN)))
}

function spread(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).sort()
  const middle = (quantile(sorted, 0.5) + (sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN)) / 2
  return { median: middle, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}

const median = (slices: readonly Slice[] | undefined, value: (slice: Slice) => number): number =>
  spread((slices ?? []).map(value)).median

const figure = (value: number): string =>
  !Number.isFinite(value)
    ? '–'
    : value === 0
      ? '0'
      : value >= 100
        ? Math.round(value).toString()
        : value.toPrecision(value >= 1 ? 3 : 2)

const show = (found: Spread | undefined, name: string, base: string): string =>
  name === base
    ? '1'
    : found === undefined
      ? '–'
      : `${figure(found.median)} (${figure(found.min)}–${figure(found.max)})`

const heading = (title: string): string => `**${title[0]?.toUpperCase()}${title.slice(1)}**`

const table = (head: readonly string[], lines: readonly (readonly string[])[]): string =>
  [head, head.map((_, i) => (i === 0 ? '---' : '--:')), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** The whole report. */
export function report(figures: Figures): string {
  const { rows, idle } = figures
  const sections = SCENARIOS.flatMap(({ key, title }) => {
    const measured = rows.get(key)
    return measured === undefined ? [] : [heading(title), '', loadTable(measured), '']
  })
  return [
    `Measured on ${figures.machine}. Median of rounds, with (least–greatest). Upstream, gateways, database and load share`,
    `these cores; other programs used ${figure(figures.foreignCores)} of a core meanwhile. Ratios mean more than absolute figures.`,
    '',
    ...sections,
    heading('memory, resident after garbage collection'),
    '',
    table(
      ['target', 'at start, MiB', 'KiB per idle session', 'with an open GET stream each'],
      [...idle].map(([name, { atStart, perSession, perSessionWithStream }]) => [
        name,
        figure(atStart / 1024),
        figure(Math.max(0, perSession)),
        figure(Math.max(0, perSessionWithStream)),
      ]),
    ),
    '',
    heading('approve to run'),
    '',
    approvalTable(figures.approvals),
    '',
    heading('goals, for tollgate on PostgreSQL'),
    '',
    goals(figures),
  ].join('\n')
}

function loadTable(rows: Rows): string {
  const head = ['target', '÷ direct', '÷ floor', '÷ naive', 'CPU × floor', 'p50 × floor', 'p99 × floor']
  const absolute = ['per second', 'p50, ms', 'p99, ms', 'CPU, µs each', 'database CPU, µs each']
  const lines = [...rows].map(([name, slices]) => {
    const against = (base: string, field: Field) => show(ratio(rows, name, base, field), name, base)
    return [
      name,
      against('direct', 'perSecond'),
      against('floor', 'perSecond'),
      against('naive', 'perSecond'),
      against('floor', 'cpuMicros'),
      against('floor', 'p50'),
      against('floor', 'p99'),
      figure(median(slices, (slice) => slice.perSecond)),
      figure(median(slices, (slice) => slice.p50)),
      figure(median(slices, (slice) => slice.p99)),
      figure(median(slices, (slice) => slice.cpuMicros)),
      figure(median(slices, (slice) => slice.databaseMicros || Number.NaN)),
    ]
  })
  return table([...head, ...absolute], lines)
}

/** From a person's click to the upstream, beside what a post and a notice alone take. */
function approvalTable(approvals: Approvals): string {
  const sorted = new Map([...approvals].map(([name, took]) => [name, Float64Array.from(took).sort()]))
  const base = sorted.get(DIRECT) ?? []
  const lines = [...sorted].map(([name, took]) => [
    name,
    figure(quantile(took, 0.5) / quantile(base, 0.5)),
    figure(quantile(took, 0.5)),
    figure(quantile(took, 0.99)),
  ])
  return table(['what', 'p50 × a post', 'p50, ms', 'p99, ms'], lines)
}

/** What the gateway is to reach, and what it reached. */
function goals({ rows, idle }: Figures): string {
  const name = 'tollgate on PostgreSQL'
  const of = (scenario: string, base: string, field: Field): number =>
    ratio(rows.get(scenario), name, base, field)?.median ?? Number.NaN
  const single = rows.get('calls-1')
  const added = spread((single?.get(name) ?? []).map(({ p50 }, i) => p50 - (single?.get('direct')?.[i]?.p50 ?? 0)))
  const own = idle.get('tollgate')
  const list: [string, number, 'least' | 'most', number, number][] = [
    ['calls a second ÷ floor, 16 at once', of('calls-16', 'floor', 'perSecond'), 'least', 0.4, 0.6],
    ['calls a second ÷ direct, 16 at once', of('calls-16', 'direct', 'perSecond'), 'least', 0.2, 0.35],
    ['calls a second ÷ naive, 16 at once', of('calls-16', 'naive', 'perSecond'), 'least', 7, 12],
    ['CPU per call × floor, 16 at once', of('calls-16', 'floor', 'cpuMicros'), 'most', 2.5, 1.7],
    ['p50 × floor, 16 at once', of('calls-16', 'floor', 'p50'), 'most', 2, 1.3],
    ['p99 × floor, 16 at once', of('calls-16', 'floor', 'p99'), 'most', 2.5, 1.3],
    ['p50 added to direct, one at a time, ms', added.median, 'most', 0.35, 0.2],
    ['tools/list of 500 ÷ direct', of('list-500', 'direct', 'perSecond'), 'least', 1, 5],
    ['sessions opened ÷ floor', of('open', 'floor', 'perSecond'), 'least', 1, 2],
    ['KiB per idle session', own?.perSession ?? Number.NaN, 'most', 8, 2],
    ['KiB per idle session with a GET stream', own?.perSessionWithStream ?? Number.NaN, 'most', 40, 20],
    ['MiB at start', (own?.atStart ?? Number.NaN) / 1024, 'most', 120, 80],
  ]
  const lines = list.map(([what, value, bound, must, aim]) => {
    const holds = (limit: number): boolean => (bound === 'least' ? value >= limit : value <= limit)
    const sign = bound === 'least' ? '≥' : '≤'
    return [
      what,
      figure(value),
      `${sign} ${must}`,
      `${sign} ${aim}`,
      !Number.isFinite(value) ? '–' : holds(aim) ? 'aim' : holds(must) ? 'must' : '**missed**',
    ]
  })
  return table(['what', 'measured', 'must', 'aim', 'reached'], lines)
}
