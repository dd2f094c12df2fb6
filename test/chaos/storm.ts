/**
 * C1 and C2 in one shape: load on two replicas, faults, quiet, and the checker.
 * @module
 */
import type { PostgresServer } from '../support/postgres.ts'
import { eventually, pause } from '../support/replica.ts'
import { judge, type Law, readTables } from './checker.ts'
import { deploy, type Deployment } from './deployment.ts'
import type { Kill } from './gateway-kills.ts'
import { judgeMoney, PAID } from './money.ts'
import { type Load, startLoad } from './load.ts'
import type { Random } from './random.ts'
import type { Figure, Results } from './report.ts'
import { watchStuck } from './watch.ts'

/** Short, so that a run shows what becomes of cards whose gateway died. */
const LEASE_MS = 8_000
/** A sweep comes every second. */
const SWEPT_MS = 3_000
/** How long an approved card may wait for a gateway that carries it out. */
const LYING_MS = 10_000
const DRAIN_MS = 180_000

export interface Storm {
  readonly title: string
  readonly database: string
  readonly inFlight: number
  readonly perSecond: number
  readonly faults: (where: Deployment, load: Load) => Promise<{ kills: Kill[]; laws: Law[]; figures: Figure[] }>
}

/** Runs it on a database of its own. */
export async function runStorm(
  server: PostgresServer,
  random: Random,
  { title, database, inFlight, perSecond, faults }: Storm,
  say: (line: string) => void,
): Promise<Results> {
  const env = {
    TOLLGATE_APPROVAL_LEASE_MS: String(LEASE_MS),
    TOLLGATE_APPROVAL_WAIT_MS: '20000',
    APPROVAL_TIMEOUT_MS: '3600000',
    TOLLGATE_LOG: 'warn',
  }
  const where = await deploy(server, database, env, PAID)
  try {
    const began = performance.now()
    const load = await startLoad(where, random, { inFlight, perSecond, denials: 0.1 })
    await load.full()
    say(`${inFlight} calls wait on two replicas`)
    const watch = watchStuck(where, say)
    const { kills, laws, figures } = await faults(where, load)
    say('no more faults; the third party decides what is left')
    const left = await load.drain(DRAIN_MS)
    await pause(LEASE_MS + SWEPT_MS)
    const { overdue, lying } = await watch.stop()
    const seconds = (performance.now() - began) / 1_000
    const shown = await shownUnknown(where)
    const quiet = await settled(where)
    const verified = await verify(where)
    const tables = await readTables(where)
    const { calls, executions, decisions } = where.ledgers
    const status = (name: string): number => tables.cards.filter((card) => card.status === name).length
    return {
      title,
      laws: [
        ...judge(where, tables, kills, left),
        ...(await judgeMoney(where)),
        ...laws,
        {
          law: 'no card runs on past its lease',
          broken: overdue > SWEPT_MS ? [`one by ${Math.round(overdue)} ms`] : [],
        },
        { law: 'no approved card is left lying', broken: lying > LYING_MS ? [`one for ${Math.round(lying)} ms`] : [] },
        {
          law: 'every unknown outcome is shown to a person',
          broken: shown === status('unknown') ? [] : [`${shown} of ${status('unknown')} are listed`],
        },
        { law: 'all that was recorded is written in the end', broken: quiet },
        { law: 'the chains of all processes verify', broken: verified },
        { law: 'no process complained of an error nobody caught', broken: uncaught(where) },
      ],
      figures: [
        { what: 'seconds', value: Math.round(seconds), unit: '' },
        { what: 'calls', value: calls.size, unit: '' },
        { what: 'requests sent', value: sum([...calls.values()].map(({ sent }) => sent)), unit: '' },
        { what: 'requests cut', value: sum([...calls.values()].map(({ cut }) => cut)), unit: '' },
        { what: 'cards', value: tables.cards.length, unit: '' },
        { what: 'decisions sent', value: decisions.length, unit: '' },
        { what: 'decisions acknowledged', value: decisions.filter((one) => one.status === 200).length, unit: '' },
        { what: 'executions', value: executions.length, unit: '' },
        {
          what: 'executions whose record was looked up as they ran',
          value: executions.filter(({ seen }) => seen !== undefined).length,
          unit: '',
        },
        ...['done', 'unknown', 'failed', 'denied'].map((name) => ({
          what: `cards ${name}`,
          value: status(name),
          unit: '' as const,
        })),
        { what: 'longest past its lease', value: overdue, unit: 'ms' },
        { what: 'longest approved and not yet claimed', value: lying, unit: 'ms' },
        ...figures,
      ],
    }
  } finally {
    await where.close()
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** How many cards a person who looks for unknown outcomes is shown. */
async function shownUnknown({ replicas }: Deployment): Promise<number> {
  let shown = 0
  for (let cursor = ''; ; ) {
    const ask = () => replicas[1].api('GET', `/v1/approvals?status=unknown&limit=200${cursor}`)
    const { body } = await eventually(ask, ({ status }) => status === 200, 30_000)
    shown += body.items.length
    if (typeof body.nextCursor !== 'string') return shown
    cursor = `&cursor=${body.nextCursor}`
  }
}

/** Waits until no row comes any more; says so where rows still come after a minute. */
async function settled({ observer: { sql } }: Deployment): Promise<string[]> {
  let last = -1
  const still = async (): Promise<boolean> => {
    const [row] = await sql`select count(*)::int as count from audit`
    const same = row!.count === last
    last = row!.count
    await pause(1_500)
    return same
  }
  return eventually(still, Boolean, 60_000).then(
    () => [],
    () => ['rows still come'],
  )
}

async function verify({ replicas }: Deployment): Promise<string[]> {
  const ask = () => replicas[0].api('GET', '/v1/audit/verify')
  const { body } = await eventually(ask, ({ status }) => status === 200, 60_000)
  return body.ok === true ? [] : body.problems.map((problem: unknown) => JSON.stringify(problem))
}

function uncaught({ replicas }: Deployment): string[] {
  return replicas.flatMap((replica) => {
    const found = /^.*(Unhandled|uncaught).*$/im.exec(replica.output())
    return found === null ? [] : [`${replica.name}: ${found[0].slice(0, 300)}`]
  })
}
