/**
 * C10: ten thousand cards of one session do not slow another session's approvals, and are capped.
 * Two deployments stand side by side, one empty and one crowded, and are measured in turn.
 * @module
 */
import type { PostgresServer } from '../support/postgres.ts'
import { decisionOf, eventually } from '../support/replica.ts'
import { deploy, type Deployment } from './deployment.ts'
import { quantile, type Results } from './report.ts'

const CARDS = 10_000
const OPEN = 100
const ROUNDS = 10
const PER_ROUND = 15
const MOST_RATIO = 2

/** Measures both. */
export async function runCrowd(server: PostgresServer, say: (line: string) => void): Promise<Results> {
  const env = { TOLLGATE_APPROVAL_WAIT_MS: '20000', APPROVAL_TIMEOUT_MS: '3600000', TOLLGATE_LOG: 'warn' }
  const empty = await deploy(server, 'chaos_empty', env)
  const crowded = await deploy(server, 'chaos_crowded', env).catch(async (problem: unknown) => {
    await empty.close()
    throw problem
  })
  try {
    const token = await crowd(crowded)
    say(`one session has ${CARDS} cards`)
    const lanes = await Promise.all([empty, crowded].map(lane))
    for (const one of lanes) await one.round()
    for (const one of lanes) one.took.length = 0
    for (let round = 0; round < ROUNDS; round++) {
      for (const one of round % 2 ? lanes.toReversed() : lanes) await one.round()
    }
    const [alone, beside] = lanes.map(({ took }) => took) as [number[], number[]]
    const more = await crowded.replicas[0].call(token, 'up__act', { n: -1 })
    const said = decisionOf(more).code
    const ratio = (share: number): number => quantile(beside, share) / quantile(alone, share)
    return {
      title: `${CARDS} cards of one session beside another's approvals`,
      laws: [
        {
          law: 'the session that has them gets no more',
          broken: said === 'session_limit' ? [] : [`it was told ${said}`],
        },
      ],
      figures: [
        { what: 'call to answer through one approval, alone, p50', value: quantile(alone, 0.5), unit: 'ms' },
        { what: 'the same beside the crowd, p50', value: quantile(beside, 0.5), unit: 'ms' },
        { what: 'ratio of p50', value: ratio(0.5), unit: '×', goal: MOST_RATIO },
        { what: 'ratio of p90', value: ratio(0.9), unit: '×', goal: MOST_RATIO },
      ],
    }
  } finally {
    await Promise.all([empty.close(), crowded.close()])
  }
}

/** Gives a session its cards: one through the front door, the rest as copies of its row, a hundred of them open. */
async function crowd({ replicas, observer: { sql } }: Deployment): Promise<string> {
  const { id, token } = await replicas[0].issue()
  void replicas[0].call(token, 'up__act', { n: 0 }).catch(() => {})
  const cards = () => sql`select * from cards where session_id = ${id}`
  const [card] = await eventually(cards, ({ length }) => length === 1)
  const columns = Object.keys(card!).filter(
    (name) => !['id', 'fingerprint', 'binding', 'status', 'ended_at'].includes(name),
  )
  const copied = columns.map((name) => `"${name}"`).join(', ')
  await sql.unsafe(`insert into cards (id, fingerprint, status, ended_at, binding, ${copied})
    select gen_random_uuid(), md5(n::text), case when n < ${OPEN} then 'pending' else 'denied' end,
      case when n < ${OPEN} then null else now() end, md5(n || ' '), ${copied}
    from cards, generate_series(1, ${CARDS - 1}) n where session_id = '${id}'`)
  await sql`update session_cards set made = ${CARDS} where session_id = ${id}`
  await sql`analyze cards`
  return token
}

interface Lane {
  readonly took: number[]
  round(): Promise<void>
}

/** A session that has call after call approved, one at a time. */
async function lane({ replicas: [one, other] }: Deployment): Promise<Lane> {
  const { id, token } = await one.issue()
  const took: number[] = []
  let n = 0
  return {
    took,
    async round() {
      for (let i = 0; i < PER_ROUND; i++) {
        const from = performance.now()
        const answer = one.call(token, 'up__act', { n: ++n })
        const list = () => other.api('GET', `/v1/approvals?status=pending&sessionId=${id}`)
        const { body } = await eventually(list, ({ body }) => body.items.length === 1)
        await other.api('POST', `/v1/approvals/${body.items[0].id}/approve`, {})
        const said = await answer
        if (decisionOf(said).code !== undefined) throw new Error(`An approved call was answered ${said.text}`)
        took.push(performance.now() - from)
      }
    },
  }
}
