/**
 * A session hands part of itself on: the child's token, over REST, for whoever holds the admin key.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { strict } from '../../policy/data-file.ts'
import type { Session } from '../../policy/words.ts'
import { type SessionClaims, toSession } from '../../session/claims.ts'
import { planChild } from '../../session/delegate.ts'
import { remainingOf } from '../../session/figures.ts'
import type { Caps } from '../../session/limits.ts'
import { beginChild } from '../../session/runs.ts'
import { findSession, type StoredSession } from '../../session/sessions.ts'
import { untouched } from '../../session/spend-left.ts'
import { UnissuableClaims } from '../../session/token.ts'
import { brokenRules, notFound, problem } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import { configsFor } from './configs.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './schemas.ts'
import { describeSession, shownSpend } from './session-view.ts'

const BY = 'operator'

const { tools, grant, approval, limits, subject, ttlSeconds } = requests.issueBody.shape
/** What a child is asked to be. */
const childBody = strict({ tools, grant, approval, limits, subject, ttlSeconds }).openapi('ChildRequest')
/** A child with its token. */
const child = schemas.issued.extend({ parent: z.string() }).openapi('IssuedChild')

const delegateRoute = createRoute({
  method: 'post',
  path: '/v1/sessions/{id}/delegate',
  summary: 'Issue a child of a live session: narrower, with figures out of its own, and dead when it is',
  request: { params: requests.id, body: body(childBody, false) },
  responses: answers(201, 'The child and its token, which is shown only here.', child, 404, 409, 422, 503),
})

/** Adds the route. `caps` are the operator's figures. */
export function addDelegate(app: OpenAPIHono, parts: ApiParts, caps: Caps): void {
  app.openapi(delegateRoute, async (c) => {
    const { id } = c.req.valid('param')
    const stored = await findSession(parts.db, id)
    if (stored === undefined) {
      return notFound(`There is no session ${JSON.stringify(id)}; GET /v1/sessions lists them.`)
    }
    if (stored.state !== 'live') return dead(stored)
    const parent = toSession(stored.claims, parts, stored.id)
    if (typeof parent === 'string') return brokenRules([{ path: 'id', rule: 'claims', detail: parent }])
    // A renewed foreign token lives on, and its record with it.
    const lasting: Session = { ...parent, expiresAt: stored.expiresAt.getTime() }
    const view = parts.views.of(parent)
    const making = { id: `s_${randomBytes(16).toString('base64url')}`, resource: parts.resource, now: parts.now() }
    const planned = planChild(
      c.req.valid('json'),
      {
        session: lasting,
        remaining: await remainingOf(parts.db, parent),
        holds: (name) => view.byName.has(name) || view.builtins.includes(name),
      },
      making,
    )
    if (!planned.ok) return brokenRules(planned.broken)
    const { claims } = planned
    const session = toSession(claims, parts)
    if (typeof session === 'string') return brokenRules([{ rule: 'claims', detail: session }])
    const own = parts.views.of(session)
    const more = [...own.byName.keys(), ...own.builtins].filter(
      (name) => !view.byName.has(name) && !view.builtins.includes(name),
    )
    if (more.length > 0) {
      const detail = `The parent does not hold ${more.join(', ')} itself; leave it out.`
      return brokenRules([{ path: 'tools', rule: 'above_parent', detail }])
    }
    const token = await sign(parts, claims)
    if (token instanceof Response) return token
    const registered = [...own.byName.keys(), ...own.builtins]
    // Signed before it is recorded and handed out after: a session that could not be written down does not exist.
    const begun = await beginChild(parts.audit, parent, { session, claims, by: BY, registered }, caps)
    if (!begun.ok) return limited(begun.broken)
    const described = describeSession(session, parts)
    const issued = {
      id: session.id,
      parent: parent.id,
      token,
      expiresAt: new Date(session.expiresAt).toISOString(),
      url: parts.resource,
      inbox: parts.inboxUrl,
      brand: session.brand,
      role: session.role.name,
      ...described,
      ...shownSpend(untouched(session)),
      configs: configsFor(parts.resource, described),
    }
    return answer(child, issued, 201)
  })
}

/** 409 with every limit that a start would have passed. */
export function limited(broken: readonly { readonly path: string; readonly rule: string; readonly detail: string }[]) {
  return problem(409, 'session_limit', broken.map(({ detail }) => detail).join(' '), { errors: broken })
}

const dead = ({ state }: StoredSession) =>
  problem(409, 'session_revoked', `The session is ${state}, so it delegates no more; start a new one.`)

async function sign({ tokens }: ApiParts, claims: SessionClaims): Promise<string | Response> {
  try {
    const { iss: _iss, aud: _aud, ...own } = claims
    return await tokens.issue(own)
  } catch (error) {
    if (!(error instanceof UnissuableClaims)) throw error
    return brokenRules([{ rule: 'claims', detail: error.message }])
  }
}
