/**
 * Which recorded calls of the last days another set of policy files would have decided otherwise. Nothing is changed:
 * the files are read, the sessions of the record are made again under them, and the gate itself is asked.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { type AuditItem, readAudit } from '../../audit/read.ts'
import type { RegisteredTool } from '../../connector/connector.ts'
import { strict } from '../../policy/data-file.ts'
import { normalise } from '../../policy/names.ts'
import { readPolicies } from '../../policy/role-file.ts'
import type { Code, Decision, Session } from '../../policy/words.ts'
import { type Policies, readClaims, toSession } from '../../session/claims.ts'
import { findSession, type StoredSession } from '../../session/sessions.ts'
import { brokenRules } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './schemas.ts'

const DAY_MS = 86_400_000
/** Most rows of the record that one question looks at. */
const MOST_ROWS = 20_000
const PAGE = 500

const whatIfBody = strict({
  files: z
    .array(strict({ name: z.string().min(1).max(300), value: z.unknown() }))
    .min(1)
    .max(200)
    .openapi({ description: 'A whole set of policy files, each parsed.' }),
  days: z.number().positive().max(90).default(3),
  brand: requests.filter,
}).openapi('WhatIfRequest')

const { effect, code } = schemas.explained.shape
const verdict = z.object({ effect, code, rule: z.string().optional(), because: z.string().optional() })

const whatIf = z
  .object({
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    truncated: z
      .boolean()
      .openapi({ description: `Whether there are more than ${MOST_ROWS} calls; the newest count.` }),
    calls: z.number().openapi({ description: 'Calls of that time that a policy decided.' }),
    same: z.number(),
    changed: z.array(
      z.object({
        sessionId: z.string(),
        brand: z.string(),
        role: z.string(),
        tool: z.string(),
        calls: z.number(),
        lastAt: z.iso.datetime(),
        recorded: verdict,
        today: verdict.openapi({ description: 'As the policies in force decide it now.' }),
        whatIf: verdict,
      }),
    ),
    unjudged: z.array(z.object({ tool: z.string(), calls: z.number(), reason: z.string() })),
    notices: z.array(z.string()),
  })
  .openapi('WhatIf')

type Answer = z.input<typeof whatIf>
type Verdict = z.input<typeof verdict>

const whatIfRoute = createRoute({
  method: 'post',
  path: '/v1/explain/what-if',
  summary: 'List recorded calls that other policy files would have decided otherwise, without changing anything',
  request: { body: body(whatIfBody) },
  responses: answers(200, 'What would be otherwise.', whatIf, 422, 503),
})

/** Adds the route. */
export function addWhatIf(app: OpenAPIHono, parts: ApiParts): void {
  app.openapi(whatIfRoute, async (c) => {
    const { files, days, brand } = c.req.valid('json')
    const data = files.map(({ name, value }) => ({ file: name, value, lineOf: () => undefined }))
    // The sandbox takes away built-ins only, and the calls of those are not ours to record.
    const read = readPolicies(data, { sandbox: false })
    if (!read.ok) return brokenRules(read.problems.map((detail) => ({ path: 'files', rule: 'policies', detail })))
    await parts.revocations.ensureFresh()
    const until = parts.now()
    const since = until - days * DAY_MS
    const { groups, truncated } = await recordedCalls(parts, since, brand)
    const span = { since: new Date(since).toISOString(), until: new Date(until).toISOString() }
    return answer(whatIf, {
      ...span,
      truncated,
      ...(await compare(groups, read.policies, parts)),
      notices: read.notices,
    })
  })
}

/** Calls of one session of one tool that were decided alike. */
interface Group {
  readonly sessionId: string
  readonly role: string
  /** As it was called, in canonical form where it has one. */
  readonly tool: string
  readonly recorded: Verdict
  readonly lastAt: string
  calls: number
}

async function recordedCalls({ db }: ApiParts, since: number, brand: string | undefined) {
  const groups = new Map<string, Group>()
  let cursor: string | undefined
  let rows = 0
  do {
    const page = await readAudit(db, { kind: 'call.ended', brand, limit: PAGE, cursor })
    for (const row of page.items) {
      if (!(Date.parse(row.at) >= since)) return { groups: [...groups.values()], truncated: false }
      if (rows++ >= MOST_ROWS) return { groups: [...groups.values()], truncated: true }
      add(groups, row)
    }
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return { groups: [...groups.values()], truncated: false }
}

function add(groups: Map<string, Group>, row: AuditItem): void {
  const recorded = recordedVerdict(row)
  if (recorded === undefined || row.sessionId === undefined || row.tool === undefined) return
  const tool = normalise(row.tool) ?? row.tool
  const key = JSON.stringify([row.sessionId, tool, recorded.effect])
  const group = groups.get(key)
  if (group !== undefined) group.calls++
  else groups.set(key, { sessionId: row.sessionId, role: row.role ?? '', tool, recorded, lastAt: row.at, calls: 1 })
}

const REFUSALS: readonly (Code | 'ok')[] = [
  'unknown_tool',
  'approval_required',
  'switched_off',
  'forbidden_arguments',
  'allowance_exhausted',
  'over_threshold',
]
/** Ends that say nothing of what a policy thought of the call. */
const NO_VERDICT: readonly (Code | 'ok')[] = [
  'session_revoked',
  'session_limit',
  'rate_limited',
  'internal',
  'definition_changed',
]

/** What the gate decided on a call, read off its terminal row; undefined where it was no matter of policy. */
export function recordedVerdict({ code, outcome, card, rules }: Partial<AuditItem>): Verdict | undefined {
  const rule = rules?.at(-1)
  const why = rule === undefined ? {} : { rule }
  if (code === undefined || NO_VERDICT.includes(code)) return undefined
  if (code !== 'ok' && REFUSALS.includes(code)) return { effect: 'deny', code, ...why }
  if (card !== undefined || code.startsWith('approval_')) return { effect: 'ask', ...why }
  // A connector that was away: the call never came to the gate.
  if (code === 'upstream_unavailable' && outcome === 'refused') return undefined
  return { effect: 'allow', ...why }
}

/** Tools whose asking depends on the call; the record holds no arguments, on purpose. */
const BY_THE_CALL: readonly unknown[] = ['mutations', 'above-threshold']

async function compare(groups: readonly Group[], policies: Policies, parts: ApiParts) {
  const run = randomUUID()
  const sessions = new Map<string, StoredSession | undefined>()
  const changed: Answer['changed'] = []
  const unjudged = new Map<string, Answer['unjudged'][number]>()
  let same = 0
  for (const { sessionId, role, tool: name, recorded, lastAt, calls } of groups) {
    const pass = (reason: string): void => {
      const kept = unjudged.get(`${name} ${reason}`) ?? { tool: name, calls: 0, reason }
      unjudged.set(`${name} ${reason}`, { ...kept, calls: kept.calls + calls })
    }
    if (!sessions.has(sessionId)) sessions.set(sessionId, await findSession(parts.db, sessionId))
    const stored = sessions.get(sessionId)
    if (stored === undefined) {
      pass('The session of these calls is not recorded.')
      continue
    }
    const tool = parts.registry.tools(stored.brand).find((known) => known.name === name)
    const judge = (by: Policies, views: string): Verdict => {
      const read = readClaims(stored.claims)
      const session = 'problem' in read ? read.problem : toSession(read.claims, by, stored.id)
      if (typeof session === 'string') return { effect: 'deny', rule: 'claims', because: session }
      if (tool === undefined) return { effect: 'deny', rule: 'registry' }
      return verdictOf(parts.gate.explain(asIfAlive(session, views), tool, undefined))
    }
    const whatIf = judge(policies, `what-if ${run} `)
    if (whatIf.effect === recorded.effect) same += calls
    else if (tool === undefined && whatIf.rule === 'registry') pass('The tool is not registered now.')
    else if (tool !== undefined && isByTheCall(tool, whatIf)) {
      pass('Whether it asks depends on the arguments, which are never recorded.')
    } else {
      const today = judge(parts, '')
      changed.push({ sessionId, brand: stored.brand, role, tool: name, calls, lastAt, recorded, today, whatIf })
    }
  }
  const calls = groups.reduce((sum, group) => sum + group.calls, 0)
  return { calls, same, changed, unjudged: [...unjudged.values()] }
}

const isByTheCall = ({ asks }: RegisteredTool, { rule, code }: Verdict): boolean =>
  BY_THE_CALL.includes(asks) && rule !== 'claims' && code !== 'unknown_tool'

/** As the session was in its life. `views` keeps views under other policies apart from those in force. */
const asIfAlive = (session: Session, views: string): Session => ({
  ...session,
  id: `as-if-alive ${session.id}`,
  expiresAt: Number.MAX_SAFE_INTEGER,
  viewKey: `${views}${session.viewKey}`,
})

function verdictOf(decision: Decision): Verdict {
  const reason = decision.reasons.at(-1)
  return {
    effect: decision.effect,
    ...(decision.effect === 'deny' ? { code: decision.code } : {}),
    ...(reason === undefined ? {} : { rule: reason.rule, because: reason.because }),
  }
}
