/**
 * A brand's own daily figure for the goal reviewer (seed 001, "Goal reviewer"); of it and the operator's the smaller holds.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { findDayCap, saveDayCap, smallerCap } from '../../session/day-caps.ts'
import { answer, answers, body } from './answer.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'

const ROLE = 'goal-reviewer'
const BY = 'operator'

const figure = z.number().min(0).openapi({ description: 'US dollars a day; 0 lets no review run.' })

const shown = z
  .object({
    brand: z.string(),
    perDayUsd: figure.nullable().openapi({ description: "The brand's own figure." }),
    deploymentPerDayUsd: figure.nullable(),
    holds: figure.nullable().openapi({ description: 'The smaller of the two.' }),
  })
  .openapi('GoalReviewer')

const showRoute = createRoute({
  method: 'get',
  path: '/v1/goals/reviewer',
  summary: "Show what a brand's goal reviews may cost in a day",
  request: { query: z.strictObject({ brand: requests.filter }) },
  responses: answers(200, 'The figures.', shown, 422, 503),
})

const saveRoute = createRoute({
  method: 'put',
  path: '/v1/goals/reviewer',
  summary: "Set a brand's own figure for a day of goal reviews",
  request: { body: body(z.strictObject({ brand: requests.filter, perDayUsd: figure })) },
  responses: answers(200, 'The figures.', shown, 422, 503),
})

/** Adds the routes. */
export function addGoalReviewer(app: OpenAPIHono, { db, audit, caps, ownerBrand }: ApiParts): void {
  const figures = (brand: string, own: number | undefined) => {
    const deployment = caps.dayUsd?.[ROLE]
    const holds = smallerCap(deployment, own) ?? null
    return answer(shown, { brand, perDayUsd: own ?? null, deploymentPerDayUsd: deployment ?? null, holds })
  }

  app.openapi(showRoute, async (c) => {
    const { brand = ownerBrand } = c.req.valid('query')
    return figures(brand, await findDayCap(db.orm, brand, ROLE))
  })

  app.openapi(saveRoute, async (c) => {
    const { brand = ownerBrand, perDayUsd: usd } = c.req.valid('json')
    await saveDayCap(audit, { brand, role: ROLE, usd }, BY)
    return figures(brand, usd)
  })
}
