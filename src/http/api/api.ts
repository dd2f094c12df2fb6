/**
 * The REST API: one set of schemas that validates what comes in and makes the OpenAPI document.
 * Every `/v1` route needs the admin key, or an approver token at the cards; whatever else is asked for gets a JSON problem, never a page.
 * @module
 */
import { OpenAPIHono, type z } from '@hono/zod-openapi'
import type { Context, Next } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import { AuditUnavailable } from '../../audit/audit.ts'
import { DatabaseUnavailable } from '../../db/errors.ts'
import { check, UnreadableJson } from '../../json.ts'
import { APPROVER } from '../../session/approvers.ts'
import { RevocationsUnknown } from '../../session/revocation.ts'
import { type BrokenRule, brokenRules, notFound, problem } from '../problem.ts'
import { createAdmit } from './admit.ts'
import { addApprovals } from './approvals.ts'
import { addApprovers } from './approvers.ts'
import { addConnections } from './connections.ts'
import { addCoworkers } from './coworkers.ts'
import { addDelegate } from './delegate.ts'
import { addExplain } from './explain.ts'
import { addInbound } from './inbound.ts'
import { addGoalReviewer } from './goal-reviewer.ts'
import { addOpen } from './open.ts'
import type { ApiParts } from './parts.ts'
import { addRecords } from './records.ts'
import { addRoutines } from './routines.ts'
import { addSessions } from './sessions.ts'
import { addSpend } from './spend.ts'
import { addTools } from './tools.ts'
import { addTraces } from './traces.ts'
import { addWebhooks } from './webhooks.ts'

export type { ApiParts } from './parts.ts'

const MOST_BYTES = 1_048_576
const BOUNDS = { depth: 64, values: 100_000 }

/** Builds the app. */
export function createApi(parts: ApiParts): OpenAPIHono {
  const app = new OpenAPIHono({
    defaultHook: (result) => (result.success ? undefined : brokenRules(result.error.issues.flatMap(rulesOf))),
  })
  app.use('/v1/*', createAdmit(parts))
  app.use(
    '/v1/*',
    bodyLimit({
      maxSize: MOST_BYTES,
      onError: () => problem(413, 'body_too_large', `The body is larger than ${MOST_BYTES} bytes.`),
    }),
  )
  app.use('/v1/*', checkBody)
  addSessions(app, parts)
  addDelegate(app, parts, parts.caps)
  addCoworkers(app, parts)
  addGoalReviewer(app, parts)
  addExplain(app, parts)
  addApprovals(app, parts)
  addApprovers(app, parts)
  addWebhooks(app, parts)
  addConnections(app, parts)
  addTools(app, parts)
  addInbound(app, parts)
  addRoutines(app, parts)
  addTraces(app, parts)
  addSpend(app, parts)
  addRecords(app, parts)
  addOpen(app, parts)
  app.openAPIRegistry.registerComponent('securitySchemes', 'admin', { type: 'http', scheme: 'bearer' })
  app.openAPIRegistry.registerComponent('securitySchemes', 'approver', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: APPROVER.typ,
    description: 'A token of POST /v1/approvers: the cards of one brand, and nothing else.',
  })
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Tollgate', version: '1', description: 'Sessions, approvals and the audit of an MCP gateway.' },
    security: [{ admin: [] }],
  })
  app.get('/v1/openapi.json', (c) => c.json(document))
  refuseOtherMethods(app)
  app.notFound((c) =>
    notFound(`There is nothing at ${c.req.path.slice(0, 200)}; GET /v1/openapi.json lists what there is.`),
  )
  app.onError((error) => failed(error, parts))
  return app
}

/** A known path under another method is 405 with the methods it has, not 404. */
function refuseOtherMethods(app: OpenAPIHono): void {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of app.routes) {
    if (method === 'ALL') continue
    methods.set(path, (methods.get(path) ?? new Set()).add(method))
  }
  for (const [path, known] of methods) {
    const allow = [...known].sort().join(', ')
    app.all(path, (c) =>
      problem(405, 'method_not_allowed', `${c.req.method} means nothing here; use ${allow}.`, {}, { allow }),
    )
  }
}

/** A body must be JSON, say so, and have one meaning (RFC 7493: no key twice). */
async function checkBody(c: Context, next: Next): Promise<Response | undefined> {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
    const text = await c.req.text()
    const type = c.req.header('content-type') ?? ''
    const isJson = /^application\/json *(;|$)/i.test(type)
    if (text !== '' && !isJson) {
      return problem(415, 'not_json', 'Send the body as JSON, with Content-Type: application/json.')
    }
    if (text === '' && isJson) {
      return problem(400, 'malformed_json', 'The body is empty; send {} or leave out Content-Type.')
    }
    if (text !== '') {
      try {
        check(text, BOUNDS)
      } catch (error) {
        if (error instanceof UnreadableJson) return problem(400, 'malformed_json', error.message)
        throw error
      }
    }
  }
  await next()
  return undefined
}

/** What a schema refused, one rule for each field. */
function rulesOf(issue: z.core.$ZodIssue): BrokenRule[] {
  const path = pathText(issue.path)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const at = pathText([...issue.path, key])
      const detail =
        issue.message.includes('; known: ') && issue.keys.length === 1 ? issue.message : `"${key}" is not a field here.`
      return { path: at, rule: 'unknown_field', detail }
    })
  }
  const said = issue.message.replace(/^Invalid (?:input|option): /, '')
  const isMissing = issue.code === 'invalid_type' && said.endsWith('received undefined')
  const what = path === '' ? 'The body' : path
  const detail = isMissing ? `${what} is missing; ${issue.expected} expected.` : `${what}: ${said}.`
  return [{ ...(path === '' ? {} : { path }), rule: isMissing ? 'missing' : issue.code, detail }]
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  )
}

function failed(error: unknown, { log }: ApiParts): Response {
  if (error instanceof HTTPException && error.status < 500) {
    return problem(error.status, error.status === 400 ? 'malformed_json' : 'refused', `${error.message}.`)
  }
  if (
    error instanceof AuditUnavailable ||
    error instanceof RevocationsUnknown ||
    error instanceof DatabaseUnavailable
  ) {
    const detail =
      'The gateway cannot reach its database. Look in a few seconds whether the change was made, and send it again if not.'
    return problem(503, 'unavailable', detail, {}, { 'retry-after': '2' })
  }
  log.error({ err: error }, 'a REST request failed')
  return problem(500, 'internal', 'The gateway failed inside; its log says why.')
}
