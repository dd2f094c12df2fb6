/**
 * The decision on a call, and why, with nothing done: the answer, the filter and the rule that gave it, the cost.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { RegisteredTool } from '../../connector/connector.ts'
import { HARNESS } from '../../gate/harness-tools.ts'
import { normalise, split } from '../../policy/names.ts'
import { holds } from '../../policy/view.ts'
import type { Decision, Filter, Reason, Session } from '../../policy/words.ts'
import { readClaims, toSession } from '../../session/claims.ts'
import { findSession } from '../../session/sessions.ts'
import { brokenRules, notFound } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import { cost, costOf } from './cost.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './schemas.ts'
import { withheldFrom } from './session-view.ts'
import { addWhatIf } from './what-if.ts'

/** The filters a call passes in their order (seed 001, "How a session's tools are decided"), after the session's own life. */
export const filters = z.enum(['session', 'registration', 'ceiling', 'gate'])

const explained = z
  .object({
    ...schemas.explained.shape,
    filter: filters.openapi({ description: 'The filter that decided.' }),
    rule: z.string().openapi({ description: 'The rule that decided, the last of reasons.' }),
    cost: cost.optional().openapi({ description: 'For a tool that is there.' }),
  })
  .openapi('Decision')

type Explained = z.input<typeof explained>

const explainRoute = createRoute({
  method: 'post',
  path: '/v1/explain',
  summary: 'Say what would become of a call, and why, without doing anything',
  request: { body: body(requests.explainBody) },
  responses: answers(200, 'The decision.', explained, 404, 422, 503),
})

/** Adds the routes. */
export function addExplain(app: OpenAPIHono, parts: ApiParts): void {
  app.openapi(explainRoute, async (c) => {
    const asked = c.req.valid('json')
    const session = await sessionOf(asked, parts)
    if (session instanceof Response) return session
    await parts.revocations.ensureFresh()
    return answer(explained, await explain(session, asked.tool, asked.arguments, parts))
  })
  addWhatIf(app, parts)
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
async function explain(
  session: Session,
  written: string,
  given: Readonly<Record<string, unknown>> | undefined,
  parts: ApiParts,
): Promise<Explained> {
  const name = normalise(written)
  const exact = 'Write mcp__connector__tool, or a built-in such as Read.'
  if (name === undefined || name.endsWith('__*')) {
    const because = `${JSON.stringify(written.slice(0, 80))} is not the name of one tool. ${exact}`
    return no(written, 'registration', { rule: 'name', because })
  }
  const tools = parts.registry.tools(session.brand)
  const view = parts.views.of(session)
  const asked = session.role.permissionPrompt === true ? view.builtinTools.get(name) : undefined
  const tool = tools.find((known) => known.name === name) ?? view.byName.get(name) ?? asked
  if (tool !== undefined) return decided(session, tool, tools, given, parts)
  if (split(name) === undefined && view.builtins.includes(name)) {
    const because = `The session holds ${name}; the harness itself runs it.`
    return { tool: name, effect: 'allow', filter: 'ceiling', rule: 'builtin', reasons: [{ rule: 'builtin', because }] }
  }
  const lookedFor = withheldFrom({ ...session, ceiling: [...session.ceiling, name] }, view, parts)
  const listed = session.ceiling.includes(name) ? '' : ` The session's ceiling does not list it either.`
  const row =
    lookedFor.find((one) => one.tool === name) ??
    lookedFor.find((one) => one.tool === `mcp__${split(name)?.connector}__*`)
  const because = row?.reason ?? `No tool of this name exists for the brand ${session.brand}.`
  const filter = parts.builtins.includes(name) ? 'ceiling' : 'registration'
  return {
    ...no(name, filter, { rule: 'registry', because: `${because}${listed}` }),
    ...(row === undefined ? {} : { code: row.code }),
  }
}

async function decided(
  session: Session,
  tool: RegisteredTool,
  tools: readonly RegisteredTool[],
  given: Readonly<Record<string, unknown>> | undefined,
  { gate }: ApiParts,
): Promise<Explained> {
  const argumentsText = given === undefined ? undefined : JSON.stringify(given)
  const price = await gate.price(session, tool, argumentsText)
  // Of no call in particular it is said what becomes of one that keeps within what runs unasked.
  const decision = gate.explain(session, tool, argumentsText, given === undefined && !price?.cost ? undefined : price)
  const reasons = reasonsOf(decision, session, tool, tools)
  return {
    tool: tool.name,
    access: tool.access,
    effect: decision.effect,
    ...(decision.effect === 'deny' ? { code: decision.code } : {}),
    filter: decision.filter,
    rule: reasons.at(-1)?.rule ?? decision.filter,
    reasons,
    cost: costOf(tool, price),
  }
}

/** The decision's own reasons. What runs without any runs because the session holds it, so that is said. */
function reasonsOf(
  { reasons }: Decision,
  session: Session,
  tool: RegisteredTool,
  tools: readonly RegisteredTool[],
): Reason[] {
  if (reasons.length > 0) return [...reasons]
  if (tool.connector === HARNESS) {
    return [{ rule: 'builtin', because: `The session holds ${tool.ownName}, which its harness may run unasked.` }]
  }
  return [...holds(session, tool, new Set(tools.map(({ connector }) => connector))).reasons]
}

const no = (tool: string, filter: Filter, reason: Reason): Explained => ({
  tool,
  effect: 'deny',
  code: 'unknown_tool',
  filter,
  rule: reason.rule,
  reasons: [reason],
})
