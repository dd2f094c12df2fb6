/**
 * Standing approvals over REST: listed, and taken back.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { normalise } from '../../policy/names.ts'
import { brokenRules, notFound, problem } from '../problem.ts'
import { answer, answers } from './answer.ts'
import * as cardSchemas from './card-schemas.ts'
import { brandFor, PEOPLE, shownStanding } from './card-view.ts'
import { deciding } from './decisions.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './schemas.ts'

const listRoute = createRoute({
  method: 'get',
  path: '/v1/approvals/standing',
  summary: 'List approvals for more than one call, newest first',
  security: PEOPLE,
  request: {
    query: z.strictObject({
      brand: requests.filter,
      sessionId: requests.filter,
      tool: requests.filter,
      state: z.enum(cardSchemas.STANDING_STATES).optional(),
      ...requests.page,
    }),
  },
  responses: answers(200, 'Standing approvals.', schemas.listOf(cardSchemas.standing), 422, 503),
})

const revokeRoute = createRoute({
  method: 'delete',
  path: '/v1/approvals/standing/{id}',
  summary: 'Take a standing approval back, with the calls it let through that did not start yet',
  security: PEOPLE,
  request: { params: requests.id },
  responses: answers(200, 'The revoked approval.', cardSchemas.standing, 404, 409, 503),
})

/** Adds the routes. */
export function addStanding(app: OpenAPIHono, { cards }: ApiParts): void {
  app.openapi(listRoute, async (c) => {
    const { brand: asked, tool, ...query } = c.req.valid('query')
    const brand = brandFor(c.get('person'), asked)
    if (brand === null) return answer(schemas.listOf(cardSchemas.standing), { items: [], nextCursor: null })
    const more = { brand, tool: tool === undefined ? undefined : (normalise(tool) ?? tool) }
    try {
      const { items, nextCursor } = await cards.standing.list(requests.given({ ...query, ...more }))
      return answer(schemas.listOf(cardSchemas.standing), {
        items: items.map(shownStanding),
        nextCursor: nextCursor ?? null,
      })
    } catch (error) {
      if (error instanceof RangeError) return brokenRules([{ path: 'cursor', rule: 'cursor', detail: error.message }])
      throw error
    }
  })

  app.openapi(revokeRoute, async (c) => {
    const { id } = c.req.valid('param')
    const result = await cards.standing.revoke(id, deciding(c))
    if (result.ok) return answer(cardSchemas.standing, shownStanding(result.standing))
    if (result.problem === 'not_found') {
      return notFound(`There is no standing approval ${JSON.stringify(id)}; GET /v1/approvals/standing lists them.`)
    }
    const { revokedBy, revokedAt } = result.standing
    const detail = `This approval was taken back by ${revokedBy} at ${revokedAt} already.`
    return problem(409, 'already_revoked', detail, { standing: shownStanding(result.standing) })
  })
}
