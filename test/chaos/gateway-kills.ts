/**
 * C1: gateways are killed at random moments and at named points while cards are parked, approved and run.
 * @module
 */
import { pause } from '../support/replica.ts'
import { type Deployment, kill, type Member, restart } from './deployment.ts'
import type { Load } from './load.ts'
import type { Random } from './random.ts'
import { type Point, POINTS, type UpstreamPoint } from './traps.ts'

/** A kill and the calls it met on their way, where that is known. */
export interface Kill {
  readonly point: Point | 'at random' | 'both at random'
  readonly replica: string
  readonly calls: readonly number[]
}

/** How long a trap waits for a call of its replica. */
const TRAP_MS = 6_000
/** How long calls are held before a commit; the gateway's own statements give up after 1.5 s. */
const HELD_MS = 1_000

/** Kills `count` times, each time one or both replicas, and starts again what it killed. */
export async function killGateways(
  where: Deployment,
  load: Load,
  random: Random,
  count: number,
  say: (line: string) => void,
): Promise<Kill[]> {
  const kills: Kill[] = []
  const points: Point[] = []
  while (kills.length < count) {
    await pause(random.between(100, 1_000))
    const victim = random.pick(where.replicas)
    if (kills.length % 2 === 1) {
      if (points.length === 0) points.push(...shuffled(random, POINTS))
      const point = points.pop()!
      const calls = await killAt(where, load, random, victim, point)
      kills.push({ point: calls === undefined ? 'at random' : point, replica: victim.name, calls: calls ?? [] })
    } else if (random.next() < 0.2) {
      await Promise.all(where.replicas.map(kill))
      kills.push({ point: 'both at random', replica: 'both', calls: [] })
    } else {
      await kill(victim)
      kills.push({ point: 'at random', replica: victim.name, calls: [] })
    }
    await Promise.all(where.replicas.filter(({ upSince }) => upSince === undefined).map(restart))
    const { point, replica, calls } = kills.at(-1)!
    const met = calls.length === 0 ? '' : `, call ${calls.join(', ')}`
    say(`kill ${kills.length} of ${count}: ${replica} ${point}${met}; ${where.ledgers.executions.length} executions`)
  }
  return kills
}

/** Kills the replica at a named point; the calls it met, or undefined where none came to that point in time. */
function killAt(
  where: Deployment,
  load: Load,
  random: Random,
  victim: Member,
  point: Point,
): Promise<number[] | undefined> {
  if (point === 'before claim') return beforeClaim(where, load, random, victim)
  if (point === 'in a transaction') return inTransaction(where, victim)
  return atUpstream(where, victim, point)
}

async function atUpstream({ traps }: Deployment, victim: Member, point: UpstreamPoint): Promise<number[] | undefined> {
  let gone: Promise<void> | undefined
  const killed = Promise.withResolvers<void>()
  const once = (): Promise<void> => {
    gone ??= kill(victim).then(killed.resolve)
    return gone
  }
  const n = await traps.set({ point, replica: victim.name, kill: once }, TRAP_MS)
  if (n === undefined) await once()
  await killed.promise
  return n === undefined ? undefined : [n]
}

/** The gateway of waiting callers is frozen, so that it cannot claim; their cards are approved elsewhere; it dies. */
async function beforeClaim(
  { observer, replicas }: Deployment,
  load: Load,
  random: Random,
  victim: Member,
): Promise<number[] | undefined> {
  const waiting = await observer.sql`select id, arguments from cards where status = 'pending' limit 200`
  const chosen = Array.from({ length: Math.min(5, waiting.length) }, () => random.pick(waiting))
  victim.signal('SIGSTOP')
  const other = victim === replicas[0] ? 1 : 0
  await Promise.all([...new Set(chosen)].map(({ id }) => load.approve(id, other)))
  await kill(victim)
  return chosen.length === 0 ? undefined : [...new Set(chosen)].map((card) => JSON.parse(card.arguments).n)
}

/** No record can be written for a moment, so whatever move a gateway is making is cut before its commit. */
async function inTransaction({ observer }: Deployment, victim: Member): Promise<number[] | undefined> {
  const held = await observer.holdRecord()
  const met = await held.blocked(HELD_MS)
  await kill(victim)
  await held.release()
  return met ? [] : undefined
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
