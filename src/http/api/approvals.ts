/**
 * Cards over REST: listed, decided, and told of as they move.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Card, Decided } from '../../approvals/cards.ts'
import { brokenRules, notFound, problem } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import { cardEvents } from './events.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './schemas.ts'

const BY = 'operator'

const eventsRoute = createRoute({
  method: 'get',
  path: '/v1/approvals/events',
  summary: 'Server-sent events: created, decided, finished; the data is the card',
  request: { query: z.strictObject({ brand: requests.filter }) },
  responses: {
    ...answers(200, 'A stream that stays open.', z.unknown(), 422),
    200: { description: 'A stream that stays open.', content: { 'text/event-stream': { schema: z.string() } } },
  },
})

const listRoute = createRoute({
  method: 'get',
  path: '/v1/approvals',
  summary: 'List cards, newest first',
  request: {
    query: z.strictObject({
      status: z.enum(schemas.CARD_STATUSES).optional(),
      brand: requests.filter,
      sessionId: requests.filter,
      ...requests.page,
    }),
  },
  responses: answers(200, 'Cards.', schemas.listOf(schemas.card), 422, 503),
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/approvals/{id}',
  summary: 'Show a card',
  request: { params: requests.id },
  responses: answers(200, 'The card.', schemas.card, 404, 503),
})

const approveRoute = createRoute({
  method: 'post',
  path: '/v1/approvals/{id}/approve',
  summary: 'Approve exactly this call, once',
  request: { params: requests.id, body: body(requests.approveBody, false) },
  responses: answers(200, 'The approved card.', schemas.card, 404, 409, 422, 503),
})

const denyRoute = createRoute({
  method: 'post',
  path: '/v1/approvals/{id}/deny',
  summary: 'Deny this call',
  request: { params: requests.id, body: body(requests.denyBody, false) },
  responses: answers(200, 'The denied card.', schemas.card, 404, 409, 422, 503),
})

/** Adds the routes. */
export function addApprovals(app: OpenAPIHono, parts: ApiParts): void {
  const { cards, closing } = parts

  app.openapi(eventsRoute, (c) => cardEvents(c, cards, c.req.valid('query').brand, closing))

  app.openapi(listRoute, async (c) => {
    try {
      const found = await cards.list(requests.given(c.req.valid('query')))
      return answer(schemas.listOf(schemas.card), {
        items: found.items.map(shown),
        nextCursor: found.nextCursor ?? null,
      })
    } catch (error) {
      if (error instanceof RangeError) return brokenRules([{ path: 'cursor', rule: 'cursor', detail: error.message }])
      throw error
    }
  })

  app.openapi(showRoute, async (c) => {
    const card = await cards.get(c.req.valid('param').id)
    return card === undefined ? noCard(c.req.valid('param').id) : answer(schemas.card, shown(card))
  })

  app.openapi(approveRoute, async (c) => {
    const { scope = 'once', note } = c.req.valid('json')
    if (scope !== 'once') {
      const detail = `The scope ${JSON.stringify(scope.slice(0, 40))} is not offered; approve with "once", or leave scope out.`
      return brokenRules([{ path: 'scope', rule: 'scope_not_offered', detail }])
    }
    const { id } = c.req.valid('param')
    return decided(await cards.approve(id, { by: BY, ...(note === undefined ? {} : { note }) }), id)
  })

  app.openapi(denyRoute, async (c) => {
    const { note } = c.req.valid('json')
    const { id } = c.req.valid('param')
    return decided(await cards.deny(id, { by: BY, ...(note === undefined ? {} : { note }) }), id)
  })
}

function decided(result: Decided, id: string): Response {
  if (result.ok) return answer(schemas.card, shown(result.card))
  if (result.problem === 'not_found') return noCard(id)
  const { card } = result
  if (result.problem === 'expired') {
    const detail = `Nobody decided before ${card.expiresAt}, so the call was denied. It did not run.`
    return problem(409, 'approval_expired', detail, { card: shown(card) })
  }
  const who = card.decidedBy === undefined ? '' : ` by ${card.decidedBy} at ${card.decidedAt}`
  const word = card.status === 'denied' || card.status === 'withdrawn' ? card.status : 'approved'
  return problem(409, 'already_decided', `This call was ${word}${who}; a decision stands.`, { card: shown(card) })
}

/** Members that people may see; nothing that a later field might bring goes out by itself. */
export function shown(card: Card): z.input<typeof schemas.card> {
  return { ...card, rules: card.rules.map(({ rule, because }) => ({ rule, because })) }
}

const noCard = (id: string) => notFound(`There is no card ${JSON.stringify(id)}; GET /v1/approvals lists them.`)
