/**
 * Sessions over REST: issued, listed, looked into, revoked, ended.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { readClaims, toSession } from '../../session/claims.ts'
import { endSession, findSession, listSessions, revokeSession, type StoredSession } from '../../session/sessions.ts'
import { allLeft } from '../../session/spend-left.ts'
import { brokenRules, notFound, problem } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import { addIssue } from './issue.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './schemas.ts'
import { describeSession, shownSpend } from './session-view.ts'

const BY = 'operator'

const listRoute = createRoute({
  method: 'get',
  path: '/v1/sessions',
  summary: 'List sessions, newest first',
  request: { query: z.strictObject({ brand: requests.filter, ...requests.page }) },
  responses: answers(200, 'Sessions.', schemas.listOf(schemas.session), 422, 503),
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/sessions/{id}',
  summary: 'Show what a session holds as of now, and why not the rest',
  request: { params: requests.id },
  responses: answers(200, 'The session.', schemas.sessionDetail, 404, 503),
})

const revokeRoute = createRoute({
  method: 'delete',
  path: '/v1/sessions/{id}',
  summary: 'Revoke a session; every replica refuses its token within a second',
  request: { params: requests.id },
  responses: answers(200, 'The revoked session.', schemas.session, 404, 503),
})

const endRoute = createRoute({
  method: 'post',
  path: '/v1/sessions/{id}/end',
  summary: 'End a session, with what its run cost',
  request: { params: requests.id, body: body(requests.endBody, false) },
  responses: answers(200, 'The ended session.', schemas.session, 404, 409, 422, 503),
})

/** Adds the routes. */
export function addSessions(app: OpenAPIHono, parts: ApiParts): void {
  addIssue(app, parts)

  app.openapi(listRoute, async (c) => {
    const { brand, limit, cursor } = c.req.valid('query')
    const found = await listSessions(parts.db, {
      limit,
      ...(brand === undefined ? {} : { brand }),
      ...(cursor === undefined ? {} : { cursor }),
    })
    return answer(schemas.listOf(schemas.session), {
      items: found.items.map(summary),
      nextCursor: found.nextCursor ?? null,
    })
  })

  app.openapi(showRoute, async (c) => {
    const stored = await findSession(parts.db, c.req.valid('param').id)
    if (stored === undefined) return noSession(c.req.valid('param').id)
    return answer(schemas.sessionDetail, {
      ...summary(stored),
      ...detail(stored, parts),
      ...shownSpend(await allLeft(parts.db, stored.id)),
    })
  })

  app.openapi(revokeRoute, async (c) => {
    const row = await revokeSession(parts.audit, c.req.valid('param').id, { by: BY })
    return row === undefined ? noSession(c.req.valid('param').id) : answer(schemas.session, summary(row))
  })

  app.openapi(endRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { usd } = c.req.valid('json')
    const amount = usd === undefined ? undefined : String(usd)
    if (amount !== undefined && !/^\d{1,12}(\.\d{1,12})?$/.test(amount)) {
      const rule = 'usd must be a decimal of at most 12 digits before and after the point, such as "0.25".'
      return brokenRules([{ path: 'usd', rule: 'decimal', detail: rule }])
    }
    const row = await endSession(parts.audit, id, { by: BY, ...(amount === undefined ? {} : { usd: amount }) })
    if (row === undefined) return noSession(id)
    if (amount !== undefined && Number(row.reportedUsd ?? Number.NaN) !== Number(amount)) {
      const cost = row.reportedUsd === null ? 'without a figure' : `at ${row.reportedUsd} US dollars`
      return problem(409, 'already_ended', `The session ended before, ${cost}; the first figure stands.`, {
        session: summary(row),
      })
    }
    return answer(schemas.session, summary(row))
  })
}

function summary(row: StoredSession): z.input<typeof schemas.session> {
  return {
    id: row.id,
    brand: row.brand,
    role: row.role,
    route: row.route,
    subject: row.subject,
    issuer: row.issuer,
    status: row.state,
    createdAt: row.createdAt.toISOString(),
    issuedAt: row.issuedAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    ...(row.revokedAt === null ? {} : { revokedAt: row.revokedAt.toISOString() }),
    ...(row.endedAt === null ? {} : { endedAt: row.endedAt.toISOString() }),
    ...(row.reportedUsd === null ? {} : { reportedUsd: row.reportedUsd }),
    ...(row.parent === null ? {} : { parent: row.parent }),
    ...(row.claims.routine === undefined ? {} : { routine: row.claims.routine }),
    ...(row.coworker === null || row.claims.routine !== undefined ? {} : { coworker: row.coworker }),
    ...(row.retryOf === null ? {} : { retryOf: row.retryOf }),
    attempt: row.attempt,
  }
}

/** Claims that today's policies refuse hold nothing, and the sentence says which rule they break. */
function detail(stored: StoredSession, parts: ApiParts) {
  const { ceiling, grant, approval, limits } = stored.claims
  const read = readClaims(stored.claims)
  const session = 'problem' in read ? read.problem : toSession(read.claims, parts, stored.id)
  const view =
    typeof session === 'string'
      ? { viewHash: '', tools: [], builtins: [], withheld: [], limits, problem: session }
      : describeSession(session, parts)
  return { ceiling, grant, approval, ...view }
}

const noSession = (id: string) => notFound(`There is no session ${JSON.stringify(id)}; GET /v1/sessions lists them.`)
