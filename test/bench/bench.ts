/**
 * `npm run bench`: what the gateway costs, through its real front door, beside the upstream itself, an authenticated
 * proxy that reads nothing, and a gateway built from the SDK. Exits with 1 when anything failed.
 *
 *   npm run bench -- [--quick] [--json FILE] [--profile FOLDER]
 * @module
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { measureApprovals } from './approve.ts'
import { type Idle, measureIdle } from './idle.ts'
import { drive, quantile, type Slice } from './load.ts'
import { checkAnswers, measureAll, openLane, type Pace, SCENARIOS } from './measure.ts'
import { type Figures, machine, report } from './report.ts'
import { setStage, type Target } from './targets.ts'

const FULL: Pace = {
  rounds: 5,
  sliceMs: 600,
  leadMs: 150,
  firstWarmUpMs: 6_000,
  warmUpMs: 1_200,
  repeatMs: 20_000,
}
const QUICK: Pace = { rounds: 2, sliceMs: 300, leadMs: 100, firstWarmUpMs: 2_500, warmUpMs: 400, repeatMs: 2_000 }
const PROFILE_MS = 15_000
/** Whatever hangs, the bench ends after this long. */
const LONGEST_MS = 8 * 60_000

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    profile: { type: 'string' },
  },
})
if (process.platform !== 'linux') {
  console.error('The bench reads CPU and memory from /proc, so it runs on Linux only.')
  process.exit(1)
}

const began = performance.now()
const say = (line: string): void =>
  console.error(
    `[${Math.round((performance.now() - began) / 1000)
      .toString()
      .padStart(3)} s] ${line}`,
  )
const stage = await setStage(options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`])
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void abandon(`stopped by ${signal}`))
const limit = setTimeout(() => void abandon(`not done after ${LONGEST_MS / 60_000} minutes`), LONGEST_MS)

let abandoned = false
async function abandon(why: string): Promise<never> {
  abandoned = true
  console.error(`The bench was ${why}; it stops what it started.`)
  await stage.strike()
  process.exit(1)
}

async function run(): Promise<Figures> {
  say('starting the upstream, the floor, the naive gateway, PostgreSQL and two gateways')
  const targets: Target[] = [
    await stage.direct(),
    await stage.floor(),
    await stage.naive(),
    await stage.tollgate('PostgreSQL'),
    await stage.tollgate('PGlite'),
  ]
  for (const target of targets) await checkAnswers(target, targets[0]!)
  say('all of them answer alike; measuring')
  const rows = await measureAll(targets, options.quick ? QUICK : FULL, say)
  const idle = new Map<string, Idle>()
  for (const start of [stage.naive, stage.replica]) {
    const target = await start()
    idle.set(target.name, await measureIdle(target, options.quick ? 500 : 1_000))
    say(`memory of ${target.name}`)
  }
  const approvals = await measureApprovals({ rounds: options.quick ? 2 : 6, perRound: options.quick ? 20 : 50 })
  say('approve to run')
  return { machine: machine(), foreignCores: foreign(rows), rows, idle, approvals }
}

const slicesOf = (rows: Figures['rows']): Slice[] =>
  [...rows.values()].flatMap((scenario) => [...scenario.values()].flat())

function foreign(rows: Figures['rows']): number {
  return quantile(Float64Array.from(slicesOf(rows).map(({ foreignCores }) => foreignCores)).sort(), 0.5)
}

function failures({ rows }: Figures): string[] {
  return [...rows].flatMap(([scenario, targets]) =>
    [...targets].flatMap(([name, slices]) => {
      const errors = slices.flatMap((slice) => slice.errors)
      return errors.length === 0 ? [] : [`${scenario}, ${name}: ${errors.length} failed, the first with "${errors[0]}"`]
    }),
  )
}

/** Leaves a CPU profile of the gateway under calls, for Chrome's developer tools, and measures nothing. */
async function profile(): Promise<void> {
  const target = await stage.tollgate('PostgreSQL')
  const { operations } = (await openLane(target, SCENARIOS[0]!))!
  for (let i = 0; i < 3; i++) {
    const { perSecond, cpuMicros, errors } = await drive(operations, PROFILE_MS / 3, target.accounts)
    say(`${Math.round(perSecond)} calls a second, ${Math.round(cpuMicros)} µs of CPU each, ${errors.length} failed`)
  }
}

async function measure(): Promise<void> {
  const figures = await run()
  console.log(report(figures))
  const failed = failures(figures)
  console.log(failed.length === 0 ? '\nNo call failed.' : `\nFAILED:\n${failed.join('\n')}`)
  if (failed.length > 0) process.exitCode = 1
  if (options.json !== undefined) {
    const plain = {
      ...figures,
      rows: nested(figures.rows),
      idle: Object.fromEntries(figures.idle),
      approvals: Object.fromEntries(figures.approvals),
      failed,
    }
    writeFileSync(options.json, `${JSON.stringify(plain, null, 1)}\n`)
  }
}

try {
  await (options.profile === undefined ? measure() : profile())
} catch (problem) {
  // Whatever was under way fails when its processes are stopped.
  if (!abandoned) console.error(problem)
  process.exitCode = 1
} finally {
  clearTimeout(limit)
  await stage.strike()
  say('done')
}

function nested(rows: Figures['rows']): object {
  return Object.fromEntries([...rows].map(([scenario, targets]) => [scenario, Object.fromEntries(targets)]))
}
