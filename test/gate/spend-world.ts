/** A gate over a connector that bills what its caller says: real database, cards, audit and ledger; no HTTP. */
import { randomUUID } from 'node:crypto'
import Big from 'big.js'
import type { CardsParts } from '../../src/approvals/cards.ts'
import type { Answer, Connector, RegisteredTool } from '../../src/connector/connector.ts'
import { createRegistry } from '../../src/connector/registry.ts'
import { rows, type Database } from '../../src/db/connect.ts'
import { sql } from '../../src/db/drizzle.ts'
import { createGate } from '../../src/gate/gate.ts'
import type { Outcome } from '../../src/gate/outcome.ts'
import { createSender } from '../../src/gate/send.ts'
import { createViews } from '../../src/gate/views.ts'
import type { Session } from '../../src/policy/words.ts'
import { createRevocations } from '../../src/session/revocation.ts'
import { beginSession } from '../../src/session/sessions.ts'
import { roomOn } from '../approvals/world.ts'
import { policies } from '../catalogue/world.ts'
import { quiet } from '../support/database.ts'
import { paying } from '../support/spend.ts'

const { roles, routes } = policies()

/** What the far side does with a call, as its caller wishes. */
export interface Wish {
  /** The estimate. */
  readonly price: number | string
  /** What it says it came to; left away: it does not say. */
  readonly actual?: number | string
  readonly end?: 'answers' | 'refuses' | 'is lost' | 'errs'
  readonly mark?: string
}

const pay: RegisteredTool = {
  name: 'mcp__shop__pay',
  connector: 'shop',
  access: 'spend',
  ask: false,
  asks: 'above-threshold',
  grantable: true,
  cost: { unit: 'credits', argument: 'price', actual: 'structuredContent.bill.0.credits' },
  upstreamName: 'pay',
  ownName: 'pay',
  title: 'Pay',
  description: undefined,
  definition: { legacy: '', modern: '' },
  digest: 'definition of pay',
  upstream: 'far side',
}

/** Unattended, with an allowance of so many credits a run. */
export const UNATTENDED = { role: 'specialist', channel: 'none' } as const
/** With a person, and no allowance unless one is said. */
export const ATTENDED = { role: 'person-chat', channel: 'inbox' } as const

/** One replica. `tool`: changes of the tool that spends. */
export function replicaOn(db: Database, more: Partial<CardsParts> = {}, tool: Partial<RegisteredTool> = {}) {
  const room = roomOn(db, more, async () => {})
  const revocations = createRevocations({ db, log: quiet })
  const pays = { ...pay, ...tool }
  const ran: string[] = []
  const registry = createRegistry([farSide(pays, ran)])
  const spending = paying(db, room.audit)
  const gate = createGate({
    views: createViews(registry, []),
    registry,
    sender: createSender(registry),
    cards: room.cards,
    audit: room.audit,
    revocations,
    approvalsOn: true,
    waitMs: 0,
    now: Date.now,
    observe: () => {},
    ...spending,
  })
  return {
    gate,
    cards: room.cards,
    audit: room.audit,
    ledger: spending.ledger,
    /** Marks of the calls that reached the far side. */
    ran,
    /** A session on record. */
    async session(who: { role: string; channel: 'none' | 'inbox' }, perRunCredits?: number): Promise<Session> {
      const session = sessionOf(who, perRunCredits)
      await beginSession(room.audit, session, { ...session } as never, 'operator')
      return session
    },
    call: (session: Session, wish: Wish): Promise<Outcome> =>
      gate.call({
        session,
        written: 'shop__pay',
        name: pays.name,
        tool: pays,
        argumentsText: JSON.stringify({ mark: randomUUID(), ...wish }),
        extraText: '',
        metaText: '',
        elicitation: { form: false, url: false },
        onProgress: undefined,
        ask: async () => new Map(),
        onHold: () => {},
      }).outcome,
    async close() {
      await spending.ledger.close()
      await revocations.close()
      await room.close()
    },
  }
}

export type Replica = ReturnType<typeof replicaOn>

function sessionOf({ role, channel }: { role: string; channel: 'none' | 'inbox' }, perRunCredits?: number): Session {
  const allowance = perRunCredits === undefined ? {} : { shop: { perRunCredits, perDayCredits: perRunCredits } }
  return {
    id: `s_${randomUUID()}`,
    issuer: 'i',
    subject: 'u',
    brand: 'acme',
    role: roles.get(role)!,
    route: routes.get('standard')!,
    ceiling: ['mcp__shop__*'],
    grant: { connectors: ['shop'], skills: [], allowance },
    channel,
    limits: {},
    issuedAt: Date.now(),
    expiresAt: Date.now() + 600_000,
    viewKey: randomUUID(),
  }
}

function farSide(tool: RegisteredTool, ran: string[]): Connector {
  const result = (members: string): Answer => ({ kind: 'result', members, metaText: '', isError: false })
  function answerTo(wish: Wish & { mark: string }): Answer {
    ran.push(wish.mark)
    switch (wish.end) {
      case 'refuses':
        return { kind: 'failed', code: 'rate_limited', reason: 'Not now.', ran: 'no' }
      case 'is lost':
        return { kind: 'failed', code: 'outcome_unknown', reason: 'No answer came.', ran: 'maybe' }
      case 'errs':
        return { kind: 'error', errorText: '{"code":-32000,"message":"It broke."}' }
      default: {
        const bill =
          wish.actual === undefined ? '' : `,"structuredContent":{"bill":[{"credits":${JSON.stringify(wish.actual)}}]}`
        return result(`"content":[]${bill}`)
      }
    }
  }
  return {
    slug: 'shop',
    title: 'Shop',
    serves: () => true,
    state: () => ({ state: 'ready', detail: '' }),
    tools: () => [tool],
    withheld: () => [],
    call: (call) => ({ answer: Promise.resolve(answerTo(JSON.parse(call.argumentsText ?? '{}'))), cancel() {} }),
    close: async () => {},
  }
}

/** The balance of a session's figure, and the sums of its rows: what is booked, and what is open or unknown. */
export async function balanceOf(db: Database, sessionId: string) {
  const [figure] = rows<{ reserved: string; spent: string | null; most: string }>(
    await db.orm.execute(sql`select reserved::text, spent::text, most::text from session_figures
      where session_id = ${sessionId} and figure = 'shop.perRunCredits'`),
  )
  const [ledger] = rows<{ held: string; booked: string }>(
    await db.orm.execute(sql`select
      coalesce(sum(reserved) filter (where state in ('open', 'unknown')), 0)::text as held,
      coalesce(sum(settled), 0)::text as booked from spend where session_id = ${sessionId}`),
  )
  const plain = (text: string | null | undefined) => new Big(text ?? 0).toFixed()
  return {
    figure: figure && { reserved: plain(figure.reserved), spent: plain(figure.spent), most: plain(figure.most) },
    ledger: { held: plain(ledger?.held), booked: plain(ledger?.booked) },
  }
}

/** The state of each row of a session, oldest first. */
export async function statesOf(db: Database, sessionId: string): Promise<string[]> {
  const found = await db.orm.execute(
    sql`select state from spend where session_id = ${sessionId} order by created_at, id`,
  )
  return rows<{ state: string }>(found).map(({ state }) => state)
}
