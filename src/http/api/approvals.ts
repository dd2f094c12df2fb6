/**
 * Cards over REST: listed, shown, and told of as they move. The operator sees all, an approver those of one brand.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { CARD_STATUSES, type Card } from '../../approvals/cards.ts'
import { normalise } from '../../policy/names.ts'
import { sees } from '../person.ts'
import { brokenRules } from '../problem.ts'
import { answer, answers } from './answer.ts'
import * as cardSchemas from './card-schemas.ts'
import { brandFor, noCard, PEOPLE, shown } from './card-view.ts'
import { addDecisions } from './decisions.ts'
import { cardEvents } from './events.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './schemas.ts'
import { addStanding } from './standing.ts'

const status = z.enum(CARD_STATUSES)

const eventsRoute = createRoute({
  method: 'get',
  path: '/v1/approvals/events',
  summary: 'Server-sent events: created, decided, finished, settled; the data is the card',
  security: PEOPLE,
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
  security: PEOPLE,
  request: {
    query: z.strictObject({
      status: z
        .union([status, z.array(status).max(CARD_STATUSES.length)])
        .optional()
        .openapi({ description: 'Any of these; may be given several times.' }),
      brand: requests.filter,
      role: requests.filter,
      tool: requests.filter,
      sessionId: requests.filter,
      order: z.enum(['newest', 'oldest']).optional().openapi({ description: 'Which comes first.' }),
      ...requests.page,
    }),
  },
  responses: answers(200, 'Cards.', schemas.listOf(cardSchemas.card), 422, 503),
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/approvals/{id}',
  summary: 'Show a card',
  security: PEOPLE,
  request: { params: requests.id },
  responses: answers(200, 'The card.', cardSchemas.card, 404, 503),
})

/** Adds the routes. */
export function addApprovals(app: OpenAPIHono, parts: ApiParts): void {
  const { cards, approvers, closing } = parts

  app.openapi(eventsRoute, (c) => {
    const person = c.get('person')
    const { brand } = c.req.valid('query')
    const reader = {
      sees: (card: Card) => sees(person, card.brand) && (brand === undefined || card.brand === brand),
      alive: async () => person.kind === 'operator' || (await approvers.find(person.id)) !== undefined,
    }
    return cardEvents(c, cards, reader, closing)
  })
  addStanding(app, parts)

  app.openapi(listRoute, async (c) => {
    const { status: wanted, tool, brand: asked, ...query } = c.req.valid('query')
    const brand = brandFor(c.get('person'), asked)
    if (brand === null) return answer(schemas.listOf(cardSchemas.card), { items: [], nextCursor: null })
    const more = {
      brand,
      tool: tool === undefined ? undefined : (normalise(tool) ?? tool),
      statuses: wanted === undefined ? undefined : [wanted].flat(),
    }
    try {
      const found = await cards.list(requests.given({ ...query, ...more }))
      return answer(schemas.listOf(cardSchemas.card), {
        items: found.items.map(shown),
        nextCursor: found.nextCursor ?? null,
      })
    } catch (error) {
      if (error instanceof RangeError) return brokenRules([{ path: 'cursor', rule: 'cursor', detail: error.message }])
      throw error
    }
  })

  app.openapi(showRoute, async (c) => {
    const { id } = c.req.valid('param')
    const card = await cards.get(id)
    return card !== undefined && sees(c.get('person'), card.brand) ? answer(cardSchemas.card, shown(card)) : noCard(id)
  })

  addDecisions(app, parts)
}
