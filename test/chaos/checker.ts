/**
 * The checker: matches what clients, approvers and the upstream wrote down with the gateway's own tables. Each law names
 * what breaks it; a run is good when nothing does.
 * @module
 */
import type { Deployment } from './deployment.ts'
import type { Kill } from './gateway-kills.ts'
import type { Execution, LogicalCall } from './ledgers.ts'

export interface Law {
  readonly law: string
  /** What broke it, in words. */
  readonly broken: readonly string[]
}

/** What the gateway's tables say at the end. */
export interface Tables {
  readonly cards: readonly CardRow[]
  readonly audit: readonly AuditRow[]
}

interface CardRow {
  readonly id: string
  readonly n: number
  readonly status: string
  readonly decidedBy: string | null
  readonly decidedAt: number | null
}

interface AuditRow {
  readonly writer: string
  readonly kind: string
  readonly at: number
  readonly attempt: string | null
  readonly card: string | null
  readonly code: string | null
}

/** Reads the tables once all is quiet. */
export async function readTables({ observer: { sql } }: Deployment): Promise<Tables> {
  const cards =
    await sql`select id, arguments, status, decided_by, decided_at::text from cards where tool = 'mcp__up__act'`
  const audit = await sql`select writer, kind, at::text, attempt, card, code from audit`
  return {
    cards: cards.map((row) => ({
      id: row.id,
      n: JSON.parse(row.arguments).n,
      status: row.status,
      decidedBy: row.decided_by,
      decidedAt: row.decided_at === null ? null : Date.parse(row.decided_at),
    })),
    audit: audit.map((row) => ({ ...(row as unknown as AuditRow), at: Date.parse(row.at) })),
  }
}

/** Statuses in which nothing is owed any more. */
const ENDED = new Set(['done', 'failed', 'unknown', 'denied', 'expired', 'withdrawn'])

/** Every law of cards, held to one run. `left`: calls that were still without an answer when the run ended. */
export function judge(where: Deployment, tables: Tables, kills: readonly Kill[], left: readonly LogicalCall[]): Law[] {
  const { calls, executions, decisions } = where.ledgers
  const { cards, audit } = tables
  const cardOf = new Map(cards.map((card) => [card.id, card]))
  const cardsOf = Map.groupBy(cards, ({ n }) => n)
  const ranOf = Map.groupBy(executions, ({ n }) => n)
  const rowsOf = Map.groupBy(audit, ({ card }) => card)
  const rows = (card: string, kind: string) => (rowsOf.get(card) ?? []).filter((row) => row.kind === kind)
  const approved = decisions.filter(({ verb }) => verb === 'approve')
  const firstAsked = new Map<string, number>()
  for (const { card, at } of approved) firstAsked.set(card, Math.min(at, firstAsked.get(card) ?? at))
  const all = [...calls.values()]

  /** What an execution lacked: its approval and its record must both have been there, and asked for, before it. */
  function unapproved({ n, at, seen }: Execution): string[] {
    const own = cardsOf.get(n) ?? []
    const asked = own.some(({ id }) => (firstAsked.get(id) ?? Number.POSITIVE_INFINITY) <= at)
    const decided = own.some(({ decidedAt, decidedBy }) => decidedBy !== null && decidedAt !== null && decidedAt <= at)
    return asked && decided && (seen === undefined || seen.approvals > 0) ? [] : [`call ${n}: ${JSON.stringify(seen)}`]
  }
  function unrecorded({ n, at, seen }: Execution): string[] {
    const started = (cardsOf.get(n) ?? []).flatMap(({ id }) => rows(id, 'call.started'))
    const before = started.some((row) => row.at <= at)
    return before && (seen === undefined || (seen.started > 0 && seen.running > 0))
      ? []
      : [`call ${n}: ${JSON.stringify(seen)}`]
  }

  return [
    {
      law: 'no card is lost',
      broken: all.flatMap((call) => [
        ...[...call.cards].filter((id) => !cardOf.has(id)).map((id) => `call ${call.n}: card ${id} is gone`),
        ...(cardsOf.has(call.n) || call.sent === call.cut ? [] : [`call ${call.n} has no card`]),
      ]),
    },
    {
      law: 'no call runs twice',
      broken: [...ranOf].flatMap(([n, ran]) => (ran.length > 1 ? [`call ${n} ran ${ran.length} times`] : [])),
    },
    {
      law: 'a call has a second card only where the first did not run',
      broken: [...cardsOf].flatMap(([n, own]) =>
        own.length > 1 && own.filter(({ status }) => status !== 'failed').length > 1
          ? [`call ${n}: ${own.map(({ id, status }) => `${id} ${status}`).join(', ')}`]
          : [],
      ),
    },
    { law: 'nothing runs without an approval that came before', broken: executions.flatMap(unapproved) },
    { law: 'nothing runs without a started row before it', broken: executions.flatMap(unrecorded) },
    {
      law: 'what was denied never ran',
      broken: cards.flatMap(({ id, n, status }) =>
        status === 'denied' && rows(id, 'call.started').length > 0 ? [`call ${n}`] : [],
      ),
    },
    {
      law: 'no card is stuck',
      broken: cards.filter(({ status }) => !ENDED.has(status)).map(({ id, n, status }) => `call ${n}: ${id} ${status}`),
    },
    {
      law: 'every acknowledged approval is kept',
      broken: approved.flatMap(({ card, status }) => {
        if (status !== 200) return []
        const kept = cardOf.get(card)
        const ran = kept !== undefined && ['done', 'failed', 'unknown'].includes(kept.status)
        return ran && rows(card, 'card.decided').some(({ code }) => code === 'ok') ? [] : [`${card}: ${kept?.status}`]
      }),
    },
    { law: 'every call got an answer', broken: left.map(({ n, sent, cut }) => `call ${n}: sent ${sent}, cut ${cut}`) },
    {
      law: 'every answer is that of the one execution, or says what else became of it',
      broken: all.flatMap(misanswered),
    },
    {
      law: 'a call cut between send and record ends unknown',
      broken: kills
        .filter(({ point }) => point === 'after claim' || point === 'after send' || point === 'before commit')
        .flatMap(({ point, calls: [n] }) => {
          const statuses = (cardsOf.get(n!) ?? []).map(({ status }) => status)
          const ran = ranOf.get(n!)?.length ?? 0
          const good = statuses.includes('unknown') && ran === (point === 'after claim' ? 0 : 1)
          return good ? [] : [`call ${n}, killed ${point}: ${statuses.join()}, ran ${ran} times`]
        }),
    },
    {
      law: 'a card has each of its rows once',
      broken: cards.flatMap(({ id, n, status }) => {
        const counts = ['card.created', 'card.decided', 'call.started', 'card.ended'].map(
          (kind) => rows(id, kind).length,
        )
        const [created, decided, started, ended] = counts as [number, number, number, number]
        const owed = ['done', 'failed', 'unknown'].includes(status) ? 1 : 0
        return created === 1 && decided <= 1 && started <= 1 && ended >= owed && ended <= 1
          ? []
          : [`call ${n}, ${status}: ${counts.join(' ')}`]
      }),
    },
    { law: 'every attempt has one terminal row where its process lived', broken: oddAttempts(where, audit) },
  ]

  function misanswered({ n, end }: LogicalCall): string[] {
    if (end === undefined) return []
    const statuses = (cardsOf.get(n) ?? []).map(({ status }) => status)
    const nonces = (ranOf.get(n) ?? []).map(({ nonce }) => nonce)
    const right =
      (end.code === 'ok' && nonces.includes(end.text)) ||
      (end.code === 'approval_denied' && statuses.includes('denied') && nonces.length === 0) ||
      (end.code === 'outcome_unknown' && statuses.includes('unknown'))
    return right ? [] : [`call ${n}: ${end.code} (${statuses.join()}) ${end.text.slice(0, 200)}`]
  }
}

/** The last rows of a process that was killed may never have been written, if they were due within this time of it. */
const UNWRITTEN_MS = 15_000

function oddAttempts({ replicas }: Deployment, audit: readonly AuditRow[]): string[] {
  const killed = replicas.flatMap((replica) => replica.killed)
  const lastRow = new Map<string, number>()
  for (const { writer, at } of audit) lastRow.set(writer, Math.max(at, lastRow.get(writer) ?? 0))
  const died = (writer: string): boolean =>
    killed.some((at) => at >= lastRow.get(writer)! && at - lastRow.get(writer)! < UNWRITTEN_MS)
  const tried = Map.groupBy(
    audit.filter(({ attempt }) => attempt !== null),
    ({ attempt }) => attempt,
  )
  return [...tried].flatMap(([attempt, rows]) => {
    const ends = rows.filter(({ kind }) => kind === 'call.ended').length
    const excused = ends === 0 && rows.some(({ writer }) => died(writer))
    return ends === 1 || excused ? [] : [`${attempt}: ${rows.map(({ kind }) => kind).join(' ')}`]
  })
}
