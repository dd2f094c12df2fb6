/**
 * Approvers over REST: who may decide the cards of a brand. For the operator only.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { NameTaken, type StoredApprover } from '../../session/approvers.ts'
import { notFound, problem } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import * as cardSchemas from './card-schemas.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './schemas.ts'

const issueRoute = createRoute({
  method: 'post',
  path: '/v1/approvers',
  summary: 'Make an approver of a brand; the token is shown only now, and opens /v1/approvals and the inbox',
  request: { body: body(requests.approverBody) },
  responses: answers(201, 'The approver and the token.', cardSchemas.issuedApprover, 409, 422, 503),
})

const listRoute = createRoute({
  method: 'get',
  path: '/v1/approvers',
  summary: 'List approvers, newest first',
  request: { query: z.strictObject({ brand: requests.filter, ...requests.page }) },
  responses: answers(200, 'Approvers.', schemas.listOf(cardSchemas.approver), 422, 503),
})

const revokeRoute = createRoute({
  method: 'delete',
  path: '/v1/approvers/{id}',
  summary: 'Revoke an approver; the next use of the token is refused, on every replica',
  request: { params: requests.id },
  responses: answers(200, 'The revoked approver.', cardSchemas.approver, 404, 503),
})

/** Adds the routes. */
export function addApprovers(app: OpenAPIHono, { approvers, ownerBrand, inboxUrl }: ApiParts): void {
  app.openapi(issueRoute, async (c) => {
    const { brand = ownerBrand, ...request } = c.req.valid('json')
    try {
      const { approver, token } = await approvers.issue({ ...request, brand })
      return answer(cardSchemas.issuedApprover, { ...shown(approver), token, inbox: inboxUrl }, 201)
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error
      const { id, name, expiresAt } = error.approver
      const detail = `${name} is an approver of ${brand} until ${expiresAt.toISOString()}; revoke ${id} first, or give another name.`
      return problem(409, 'name_taken', detail, { approver: shown(error.approver) })
    }
  })

  app.openapi(listRoute, async (c) => {
    const { items, nextCursor } = await approvers.list(c.req.valid('query'))
    return answer(schemas.listOf(cardSchemas.approver), { items: items.map(shown), nextCursor: nextCursor ?? null })
  })

  app.openapi(revokeRoute, async (c) => {
    const { id } = c.req.valid('param')
    const approver = await approvers.revoke(id)
    if (approver !== undefined) return answer(cardSchemas.approver, shown(approver))
    return notFound(`There is no approver ${JSON.stringify(id)}; GET /v1/approvers lists them.`)
  })
}

function shown(row: StoredApprover): z.input<typeof cardSchemas.approver> {
  return {
    id: row.id,
    brand: row.brand,
    name: row.name,
    status: row.state,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.createdBy,
    expiresAt: row.expiresAt.toISOString(),
    ...(row.revokedAt === null ? {} : { revokedAt: row.revokedAt.toISOString() }),
  }
}
