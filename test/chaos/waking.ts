/**
 * C9: a thousand callers wait at two replicas for a person; how soon a decision reaches its caller, at a pace, in a
 * burst, and while the connections that hear of decisions are killed.
 * @module
 */
import type { PostgresServer } from '../support/postgres.ts'
import { decisionOf, type Doors, eventually, pause } from '../support/replica.ts'
import { deploy, type Deployment } from './deployment.ts'
import type { Random } from './random.ts'
import { type Figure, quantile, type Results } from './report.ts'

const WAITING = 1_000
const PER_SESSION = 100
const PER_SECOND = 50
/** Connections of the burst, as in its baseline. */
const AT_ONCE = 20
const LISTENER_KILLS = 20

const GOALS = { paced: 150, burst: 2_000, deaf: 3_000 }

/** One caller that waits; times are readings of performance.now(). */
interface Waiting {
  readonly card: string
  clicked?: number
  acknowledged?: number
  answered?: number
  code?: string
}

/** The three measurements, each with callers of its own. */
export async function runWaking(server: PostgresServer, random: Random, say: (line: string) => void): Promise<Results> {
  const env = { TOLLGATE_APPROVAL_WAIT_MS: '600000', APPROVAL_TIMEOUT_MS: '3600000', TOLLGATE_LOG: 'warn' }
  const where = await deploy(server, 'chaos_waking', env)
  try {
    const parts = [
      { name: `${PER_SECOND} decisions a second`, goal: { p99: GOALS.paced }, drive: paced(random, PER_SECOND) },
      { name: `a burst of ${WAITING}`, goal: { p99: GOALS.burst }, drive: burst(random) },
      {
        name: `listening killed ${LISTENER_KILLS} times`,
        goal: { worst: GOALS.deaf },
        drive: deaf(random),
      },
    ]
    const laws = []
    const figures: Figure[] = []
    for (const { name, goal, drive } of parts) {
      const all = await park(where)
      say(`${all.length} callers wait; ${name}`)
      await drive(where, all)
      const told = () => all.every(({ answered }) => answered !== undefined)
      await eventually(told, Boolean, 60_000).catch(() => {})
      const missed = all.filter(({ answered, code }) => answered === undefined || code !== 'approval_denied')
      laws.push({
        law: `${name}: every caller is told`,
        broken: missed.map(({ card, code }) => `${card}: ${code ?? 'no answer'}`),
      })
      const took = (from: 'clicked' | 'acknowledged') =>
        all.flatMap((one) => (one.answered === undefined ? [] : [Math.max(0, one.answered - one[from]!)]))
      figures.push(
        { what: `${name}: click to caller, p50`, value: quantile(took('clicked'), 0.5), unit: 'ms' },
        { what: `${name}: click to caller, p99`, value: quantile(took('clicked'), 0.99), unit: 'ms', ...at(goal.p99) },
        { what: `${name}: click to caller, worst`, value: Math.max(...took('clicked')), unit: 'ms', ...at(goal.worst) },
        { what: `${name}: acknowledged to caller, p99`, value: quantile(took('acknowledged'), 0.99), unit: 'ms' },
      )
      say(name)
    }
    return { title: `${WAITING} callers wait at two replicas`, laws, figures }
  } finally {
    await where.close()
  }
}

const at = (goal: number | undefined): { goal?: number } => (goal === undefined ? {} : { goal })

/** Parks a thousand calls, half on each replica, and hands them out once all wait. */
async function park({ replicas, observer: { sql } }: Deployment): Promise<Waiting[]> {
  const found: Waiting[] = []
  for (let s = 0; s < WAITING / PER_SESSION; s++) {
    const { id, token } = await replicas[s % 2]!.issue()
    const byCall = new Map<number, Promise<{ code: string | undefined; at: number }>>()
    for (let n = 0; n < PER_SESSION; n++) {
      const answer = ask(replicas[n % 2]!, token, n).catch((problem: unknown) => String(problem))
      byCall.set(
        n,
        answer.then((code) => ({ code, at: performance.now() })),
      )
    }
    const rows = await eventually(
      () => sql`select id, arguments from cards where session_id = ${id}`,
      ({ length }) => length === PER_SESSION,
      60_000,
    )
    for (const row of rows) {
      const one: Waiting = { card: row.id }
      void byCall.get(JSON.parse(row.arguments).n)?.then(({ code, at }) => {
        one.answered = at
        if (code !== undefined) one.code = code
      })
      found.push(one)
    }
  }
  await pause(1_000)
  return found
}

/** The code that a call is answered with; one that was not parked, the machine being busy, is sent again. */
async function ask(replica: Doors, token: string, n: number): Promise<string | undefined> {
  for (;;) {
    const { code } = decisionOf(await replica.call(token, 'up__act', { n }))
    if (code !== 'internal') return code
  }
}

/** Denies a card, through either replica: a denial reaches its caller and nobody else. */
async function decide({ replicas }: Deployment, random: Random, one: Waiting): Promise<void> {
  one.clicked = performance.now()
  await random.pick(replicas).api('POST', `/v1/approvals/${one.card}/deny`, {})
  one.acknowledged = performance.now()
}

type Drive = (where: Deployment, all: readonly Waiting[]) => Promise<void>

/** So many a second, whatever the earlier ones take. */
function paced(random: Random, perSecond: number): Drive {
  return async (where, all) => {
    const began = performance.now()
    const sent = all.map(async (one, i) => {
      await pause(Math.max(0, (i * 1_000) / perSecond - (performance.now() - began)))
      await decide(where, random, one)
    })
    await Promise.all(sent)
  }
}

/** All of them, over so many connections at once. */
function burst(random: Random): Drive {
  return async (where, all) => {
    const left = [...all]
    const work = async (): Promise<void> => {
      for (let one = left.pop(); one !== undefined; one = left.pop()) await decide(where, random, one)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  }
}

/** At the same pace, while the connections that listen are ended one after another. */
function deaf(random: Random): Drive {
  return async (where, all) => {
    const deciding = paced(random, PER_SECOND)(where, all)
    const everyMs = ((all.length / PER_SECOND) * 1_000) / (LISTENER_KILLS + 1)
    for (let i = 0; i < LISTENER_KILLS; i++) {
      await pause(everyMs)
      await where.observer.sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'tollgate'
        and query in ('listen tollgate', 'select 1')`
    }
    await deciding
  }
}
