/**
 * The decision on a call, and why, with nothing done.
 * @module
 */
import { createRoute, type OpenAPIHono, type z } from '@hono/zod-openapi'
import { normalise, split } from '../../policy/names.ts'
import type { Session } from '../../policy/words.ts'
import { readClaims, toSession } from '../../session/claims.ts'
import { findSession } from '../../session/sessions.ts'
import { brokenRules, notFound } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './schemas.ts'
import { withheldFrom } from './session-view.ts'

type Explained = z.input<typeof schemas.explained>

const explainRoute = createRoute({
  method: 'post',
  path: '/v1/explain',
  summary: 'Say what would become of a call, and why, without doing anything',
  request: { body: body(requests.explainBody) },
  responses: answers(200, 'The decision.', schemas.explained, 404, 422, 503),
})

/** Adds the route. */
export function addExplain(app: OpenAPIHono, parts: ApiParts): void {
  app.openapi(explainRoute, async (c) => {
    const asked = c.req.valid('json')
    const session = await sessionOf(asked, parts)
    if (session instanceof Response) return session
    const text = asked.arguments === undefined ? undefined : JSON.stringify(asked.arguments)
    await parts.revocations.ensureFresh()
    return answer(schemas.explained, explain(session, asked.tool, text, parts))
  })
}

async function sessionOf(
  { session: id, claims }: z.output<typeof requests.explainBody>,
  parts: ApiParts,
): Promise<Session | Response> {
  if ((id === undefined) === (claims === undefined)) {
    return brokenRules([{ rule: 'session_or_claims', detail: 'Give either "session", an id, or "claims".' }])
  }
  if (id !== undefined) {
    const stored = await findSession(parts.db, id)
    if (stored === undefined) return notFound(`There is no session ${JSON.stringify(id)}; GET /v1/sessions lists them.`)
    const session = toSession(stored.claims, parts, stored.id)
    return typeof session === 'string' ? brokenRules([{ path: 'session', rule: 'claims', detail: session }]) : session
  }
  const now = Math.floor(parts.now() / 1000)
  const asksPerson = parts.roles.get(claims?.role ?? '')?.asksPerson === true
  const made = {
    approval: { channel: asksPerson ? 'inbox' : 'none' },
    jti: 'not-issued',
    iss: parts.resource,
    aud: parts.resource,
    brand: parts.ownerBrand,
    ...requests.given(claims ?? {}),
    iat: now,
    exp: now + 60,
  }
  const read = readClaims(made)
  const session = 'problem' in read ? read.problem : toSession(read.claims, parts, `not-issued ${made.jti}`)
  return typeof session === 'string' ? brokenRules([{ path: 'claims', rule: 'claims', detail: session }]) : session
}

/** The gate's own decision for a tool that exists; for anything else, why there is none. */
function explain(session: Session, written: string, argumentsText: string | undefined, parts: ApiParts): Explained {
  const name = normalise(written)
  const no = (tool: string, rule: string, because: string): Explained => ({
    tool,
    effect: 'deny',
    code: 'unknown_tool',
    reasons: [{ rule, because }],
  })
  const exact = 'Write mcp__connector__tool, or a built-in such as Read.'
  if (name === undefined || name.endsWith('__*')) {
    return no(written, 'name', `${JSON.stringify(written.slice(0, 80))} is not the name of one tool. ${exact}`)
  }
  const view = parts.views.of(session)
  const tool = parts.registry.tools(session.brand).find((known) => known.name === name)
  if (tool !== undefined) {
    const decision = parts.gate.explain(session, tool, argumentsText)
    return { tool: name, access: tool.access, ...decision, reasons: [...decision.reasons] }
  }
  if (split(name) === undefined && view.builtins.includes(name)) {
    return {
      tool: name,
      effect: 'allow',
      reasons: [{ rule: 'builtin', because: `The session holds ${name}; the harness itself runs it.` }],
    }
  }
  const lookedFor = withheldFrom({ ...session, ceiling: [...session.ceiling, name] }, view, parts)
  const listed = session.ceiling.includes(name) ? '' : ` The session's ceiling does not list it either.`
  const row =
    lookedFor.find((one) => one.tool === name) ??
    lookedFor.find((one) => one.tool === `mcp__${split(name)?.connector}__*`)
  const because = row?.reason ?? `No tool of this name exists for the brand ${session.brand}.`
  return { ...no(name, 'registry', `${because}${listed}`), ...(row === undefined ? {} : { code: row.code }) }
}
