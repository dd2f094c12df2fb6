/**
 * `npm run chaos`: gateways and PostgreSQL are killed under load, and three ledgers are matched afterwards; waking and
 * crowding are measured. Exits with 1 when a law is broken; goals in milliseconds are shown and fail nothing.
 *
 *   npm run chaos -- [--only kills,database,waking,crowd] [--kills 50] [--database-kills 20] [--cards 500] [--rate 12] [--seed N]
 * @module
 */
import { parseArgs } from 'node:util'
import { startPostgres } from '../support/postgres.ts'
import { runCrowd } from './crowd.ts'
import { killDatabase } from './database-kills.ts'
import { killGateways } from './gateway-kills.ts'
import { type Random, seeded } from './random.ts'
import { quantile, type Results, show } from './report.ts'
import { runStorm } from './storm.ts'
import { runWaking } from './waking.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'kills,database,waking,crowd' },
    kills: { type: 'string', default: '50' },
    'database-kills': { type: 'string', default: '20' },
    cards: { type: 'string', default: '500' },
    rate: { type: 'string', default: '12' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
/** Gateways come back this long after PostgreSQL does, at most. */
const BACK_MS = 5_000

const began = performance.now()
const say = (line: string): void => console.log(`[${Math.round((performance.now() - began) / 1_000)} s] ${line}`)
const only = options.only.split(',')
const load = { inFlight: Number(options.cards), perSecond: Number(options.rate) }
say(`seed ${options.seed}`)
// Leaving this way takes the gateways along; PostgreSQL goes by itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const server = await startPostgres()

const parts: Record<string, (random: Random) => Promise<Results>> = {
  kills(random) {
    const count = Number(options.kills)
    return runStorm(
      server,
      random,
      {
        title: `${count} kills of a gateway`,
        database: 'chaos_kills',
        ...load,
        async faults(where, driven) {
          const kills = await killGateways(where, driven, random, count, say)
          const points = Map.groupBy(kills, ({ point }) => point)
          const figures = [...points].map(([point, { length }]) => ({
            what: `kills ${point}`,
            value: length,
            unit: '' as const,
          }))
          return { kills, laws: [], figures }
        },
      },
      say,
    )
  },
  database(random) {
    const count = Number(options['database-kills'])
    return runStorm(
      server,
      random,
      {
        title: `${count} kills of PostgreSQL`,
        database: 'chaos_database',
        ...load,
        async faults(where) {
          const pids = where.replicas.map((replica) => replica.pid())
          const back = await killDatabase(server, where, random, count, say)
          const alive = where.replicas.every((replica, i) => replica.pid() === pids[i])
          return {
            kills: [],
            laws: [
              { law: 'both gateways live on', broken: alive ? [] : ['one was started again'] },
              {
                law: `both serve ${BACK_MS / 1_000} s after PostgreSQL does`,
                broken: back.filter((ms) => ms > BACK_MS).map((ms) => `${Math.round(ms)} ms`),
              },
            ],
            figures: [
              { what: 'serving again, median', value: quantile(back, 0.5), unit: 'ms' },
              { what: 'serving again, worst', value: Math.max(...back), unit: 'ms', goal: BACK_MS },
            ],
          }
        },
      },
      say,
    )
  },
  waking: (random) => runWaking(server, random, say),
  crowd: () => runCrowd(server, say),
}

let passed = 0
let failed = 0
const reports: string[] = []
try {
  for (const [name, run] of Object.entries(parts)) {
    if (!only.includes(name)) continue
    say(name)
    // Each part draws from a generator of its own, so that one alone repeats what it did among the others.
    const results = await run(seeded(Number(options.seed)))
    for (const { broken } of results.laws) broken.length === 0 ? passed++ : failed++
    reports.push(show(results))
    console.log(reports.at(-1))
  }
} catch (problem) {
  failed++
  console.error(problem)
} finally {
  await server.stop()
}
if (reports.length > 1) console.log(reports.join('\n'))
console.log(`\nseed ${options.seed}\n${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
