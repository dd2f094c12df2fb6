/**
 * Traces over REST: what sessions of routines did, call by call. The admin key alone opens these routes.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Card } from '../../approvals/cards.ts'
import type { Trace } from '../../gate/traces.ts'
import { normalise } from '../../policy/names.ts'
import { parseExact } from '../../json.ts'
import { answer, answers } from './answer.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './routine-schemas.ts'
import { listOf } from './schemas.ts'

type Parts = Pick<ApiParts, 'traces' | 'cards' | 'inboxUrl'>

const ofRoutine = createRoute({
  method: 'get',
  path: '/v1/routines/{id}/traces',
  summary: 'What the sessions of a routine called, newest first',
  request: { params: requests.id, query: z.strictObject({ tool: requests.filter, ...requests.page }) },
  responses: answers(200, 'Traces.', listOf(schemas.trace), 422, 503),
})

const ofSession = createRoute({
  method: 'get',
  path: '/v1/traces/{id}',
  summary: 'What one session of a routine called, in order',
  request: { params: requests.id, query: z.strictObject(requests.page) },
  responses: answers(200, 'Traces.', listOf(schemas.trace), 422, 503),
})

/** Adds the routes. */
export function addTraces(app: OpenAPIHono, { traces, cards, inboxUrl }: Parts): void {
  async function page(found: readonly Trace[], limit: number): Promise<Response> {
    const items = await Promise.all(found.slice(0, limit).map(shown))
    const more = found.length > limit ? items.at(-1)?.id : undefined
    return answer(listOf(schemas.trace), { items, nextCursor: more ?? null })
  }

  async function shown(trace: Trace): Promise<z.input<typeof schemas.trace>> {
    const card = trace.card === null ? undefined : await cards.get(trace.card)
    const { id, routine, sessionId, supervised, tool, decision, code, cost, digest, startedAt, endedAt } = trace
    return {
      id,
      routine,
      session: sessionId,
      supervised,
      tool,
      arguments: parseExact(trace.arguments),
      decision,
      outcome: trace.outcome === 'waiting' && card !== undefined ? outcomeOf(card) : trace.outcome,
      ...(code === null ? {} : { code }),
      rules: JSON.parse(trace.rules) as string[],
      ...(card === undefined ? {} : { card: cardOf(card, inboxUrl) }),
      ...(cost === null ? {} : { cost: JSON.parse(cost) as { unit: string; amount: string } }),
      ...(digest === null ? {} : { digest }),
      startedAt: startedAt.toISOString(),
      ...(endedAt === null ? {} : { endedAt: endedAt.toISOString() }),
    }
  }

  app.openapi(ofRoutine, async (c) => {
    const { tool, limit, cursor } = c.req.valid('query')
    const name = tool === undefined ? undefined : (normalise(tool) ?? tool)
    return page(await traces.ofRoutine(c.req.valid('param').id, { tool: name, limit: limit + 1, cursor }), limit)
  })

  app.openapi(ofSession, async (c) => {
    const { limit, cursor } = c.req.valid('query')
    return page(await traces.ofSession(c.req.valid('param').id, { limit: limit + 1, cursor }), limit)
  })
}

/** A call whose caller left before its card ended: what the card came to. */
function outcomeOf({ status }: Card): z.input<typeof schemas.trace>['outcome'] {
  switch (status) {
    case 'pending':
    case 'approved':
      return 'waiting'
    case 'denied':
    case 'expired':
    case 'withdrawn':
      return 'refused'
    default:
      return status
  }
}

const cardOf = ({ id, status, decidedBy }: Card, inboxUrl: string) => ({
  id,
  status,
  ...(decidedBy === undefined ? {} : { decidedBy }),
  url: `${inboxUrl}/cards/${id}`,
})
