/** Many callers wait at two gateways; each is told, also while the connections that hear of decisions are cut (reliability C9). */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { barePostgres } from '../support/database.ts'
import { decisionOf, eventually, pause, type Replica, startTwo, textOf } from '../support/replica.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const SESSIONS = 4
const PER_SESSION = 20
const CUTS = 5

let upstream: Upstream
let database: { url: string; close(): Promise<void> }
let sql: postgres.Sql
let both: [Replica, Replica]

beforeAll(async () => {
  upstream = await startUpstream()
  database = await barePostgres()
  const mcpServers = { up: { type: 'http', url: upstream.url, tools: { '*': 'read', echo: 'write' } } }
  // Longer than the test: no caller is told by the end of its wait.
  const env = { TOLLGATE_APPROVAL_WAIT_MS: '600000' }
  both = await startTwo({ databaseUrl: database.url, mcpServers, env })
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
}, 120_000)
afterAll(async () => {
  await Promise.all((both ?? []).map((replica) => replica.close()))
  await upstream?.close()
  await sql?.end()
  await database?.close()
})

/** The text an approved call of these arguments is answered with, or the code of any other answer. */
async function ask(replica: Replica, token: string, args: object): Promise<string | undefined> {
  for (;;) {
    const answer = await replica.call(token, 'up__echo', args)
    const { code } = decisionOf(answer)
    // On a machine that is very busy a card may not be parked in time; whoever is told so calls again.
    if (code !== 'internal') return textOf(answer) ?? code
  }
}

/** Parks the same calls for each session, every second one at the other replica; the answers by session and call. */
async function park(): Promise<{ ids: string[]; answers: Promise<string | undefined>[] }> {
  const ids: string[] = []
  const answers: Promise<string | undefined>[] = []
  for (let s = 0; s < SESSIONS; s++) {
    const { id, token } = await both[s % 2]!.issue()
    ids.push(id)
    for (let n = 0; n < PER_SESSION; n++) {
      answers.push(ask(both[n % 2]!, token, { s, n }).catch((problem: unknown) => String(problem)))
    }
    const open = () =>
      sql`select count(*)::int as count from cards where session_id in ${sql(ids)} and status = 'pending'`
    await eventually(open, ([row]) => row!.count === ids.length * PER_SESSION, 30_000)
  }
  return { ids, answers }
}

/** The cards as a person would find them, approved by number of their call where it is even, else denied. */
async function decideAll(ids: readonly string[], gap: () => Promise<unknown>): Promise<void> {
  const cards = await sql`select id, arguments from cards where session_id in ${sql(ids)} order by id`
  for (const [i, { id, arguments: text }] of cards.entries()) {
    const verb = JSON.parse(text).n % 2 === 0 ? 'approve' : 'deny'
    expect((await both[i % 2]!.api('POST', `/v1/approvals/${id}/${verb}`, {})).status).toBe(200)
    await gap()
  }
}

const expected = Array.from({ length: SESSIONS }, (_, s) =>
  Array.from({ length: PER_SESSION }, (_, n) => (n % 2 === 0 ? JSON.stringify({ s, n }) : 'approval_denied')),
).flat()

test(`${SESSIONS * PER_SESSION} waiting callers are each told, whichever replica they and the person are at`, async () => {
  const { ids, answers } = await park()
  await decideAll(ids, () => Promise.resolve())
  expect(await Promise.all(answers)).toEqual(expected)
}, 60_000)

test(`${CUTS} cuts of every listening connection under decisions leave no caller waiting`, async () => {
  const { ids, answers } = await park()
  let decided = 0
  await decideAll(ids, async () => {
    if (++decided % Math.floor((SESSIONS * PER_SESSION) / CUTS) !== 0) return pause(10)
    const cut = await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'tollgate'
      and query in ('listen tollgate', 'select 1')`
    expect(cut.length).toBeGreaterThanOrEqual(1)
  })
  expect(await Promise.all(answers)).toEqual(expected)
  const ran = upstream.ledger.map(({ argumentsText }) => argumentsText)
  expect(new Set(ran).size).toBe(ran.length / 2)
}, 60_000)
