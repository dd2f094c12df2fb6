/** Sessions that start as runs, over one or two databases. */
import { type Audit, createAudit } from '../../src/audit/audit.ts'
import { type Database, rows } from '../../src/db/connect.ts'
import { sql } from '../../src/db/drizzle.ts'
import type { Session } from '../../src/policy/words.ts'
import { readClaims, type SessionClaims, toSession } from '../../src/session/claims.ts'
import { planChild, type ChildRequest } from '../../src/session/delegate.ts'
import { remainingOf } from '../../src/session/figures.ts'
import type { Caps } from '../../src/session/limits.ts'
import { beginChild, beginRun, type Begun } from '../../src/session/runs.ts'
import { quiet } from '../support/database.ts'
import { ownClaims, RESOURCE, roles, routes } from './fixtures.ts'

let count = 0

export interface Asked {
  readonly claims?: Record<string, unknown>
  readonly coworker?: string
  readonly retryOf?: string
  readonly registered?: readonly string[]
  readonly caps?: Caps
}

export interface Started {
  readonly session: Session
  readonly claims: SessionClaims
  readonly begun: Begun
}

/** What a gateway's process does with runs. */
export function runsOn(db: Database) {
  const audit: Audit = createAudit({ db, log: quiet })
  return {
    audit,
    /** Starts a run of a coworker, without figures unless the claims say some. */
    async start({ claims: more = {}, coworker, retryOf, registered = ['Read'], caps = {} }: Asked): Promise<Started> {
      const { session, claims } = made({ role: 'coworker', grant: GRANTLESS, limits: {}, ...more })
      const run = { session, claims, by: 'operator', registered, coworker, retryOf }
      return { session, claims, begun: await beginRun(audit, run, caps) }
    },
    /** Delegates as the API does: looks, plans, then begins. */
    async delegate(parent: Session, request: ChildRequest = {}, caps: Caps = {}): Promise<Started> {
      const remaining = await remainingOf(db, parent)
      const making = { id: `s_child_${process.pid}_${count++}`, resource: RESOURCE, now: Date.now() }
      const planned = planChild(request, { session: parent, remaining, holds: () => true }, making)
      if (!planned.ok) throw new Error(JSON.stringify(planned.broken))
      const session = sessionOf(planned.claims)
      const run = { session, claims: planned.claims, by: 'operator', registered: ['Read'] }
      return { session, claims: planned.claims, begun: await beginChild(audit, parent, run, caps) }
    },
    async figures(id: string): Promise<string[]> {
      const found = await db.orm.execute(sql`select figure || ' ' || most || ' ' || carved || ' ' ||
        coalesce(spent::text, '-') as line from session_figures where session_id = ${id} order by figure`)
      return rows<{ line: string }>(found).map(({ line }) => line)
    },
    /** The audit's kinds and reasons about a session. */
    async records(id: string): Promise<string[]> {
      const found = await db.orm.execute(sql`select kind, entry from audit where session_id = ${id} order by at, seq`)
      return rows<{ kind: string; entry: string }>(found).map(({ kind, entry }) =>
        `${kind} ${JSON.parse(entry).reason ?? ''}`.trim(),
      )
    },
  }
}

const GRANTLESS = { connectors: [], skills: [], allowance: {} }

export function made(changes: object): { session: Session; claims: SessionClaims } {
  const now = Math.floor(Date.now() / 1000)
  const jti = `s_run_${process.pid}_${count++}`
  const read = readClaims({ ...ownClaims, iat: now, exp: now + 3600, jti, ...changes })
  if ('problem' in read) throw new Error(read.problem)
  return { session: sessionOf(read.claims), claims: read.claims }
}

function sessionOf(claims: SessionClaims): Session {
  const session = toSession(claims, { roles, routes })
  if (typeof session === 'string') throw new Error(session)
  return session
}

/** The rules against a start; none when it began. */
export const rulesOf = ({ begun }: Started): string[] => (begun.ok ? [] : begun.broken.map(({ rule }) => rule))
