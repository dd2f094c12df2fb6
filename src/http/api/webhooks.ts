/**
 * Webhooks over REST. Only the operator registers one: it is told of the calls of whole brands.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { CARD_EVENTS } from '../../approvals/webhooks/words.ts'
import { brokenRules, notFound, problem } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import { listOf } from './schemas.ts'
import * as schemas from './webhook-schemas.ts'

const BY = 'operator'
const params = requests.id

const addRoute = createRoute({
  method: 'post',
  path: '/v1/webhooks',
  summary: 'Register a webhook; its signing secret is shown only now',
  request: { body: body(schemas.webhookBody) },
  responses: answers(201, 'The webhook and its secret.', schemas.webhookSecret, 422, 503),
})

const listRoute = createRoute({
  method: 'get',
  path: '/v1/webhooks',
  summary: 'List webhooks, newest first',
  request: { query: z.strictObject({ brand: requests.filter, ...requests.page }) },
  responses: answers(200, 'Webhooks.', listOf(schemas.webhook), 422, 503),
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/webhooks/{id}',
  summary: 'Show a webhook',
  request: { params },
  responses: answers(200, 'The webhook.', schemas.webhook, 404, 503),
})

const removeRoute = createRoute({
  method: 'delete',
  path: '/v1/webhooks/{id}',
  summary: 'Remove a webhook with all that was to be sent to it',
  request: { params },
  responses: answers(200, 'The webhook as it was.', schemas.webhook, 404, 503),
})

const testRoute = createRoute({
  method: 'post',
  path: '/v1/webhooks/{id}/test',
  summary: 'Send a test event now, once, and say how it went; a paused webhook is tested, too',
  request: { params },
  responses: answers(200, 'The test, delivered or given up.', schemas.delivery, 404, 503),
})

const rotateRoute = createRoute({
  method: 'post',
  path: '/v1/webhooks/{id}/rotate-secret',
  summary: 'Make a new signing secret; the old one signs too for a while',
  request: { params, body: body(schemas.rotateBody, false) },
  responses: answers(200, 'The webhook and its new secret.', schemas.webhookSecret, 404, 422, 503),
})

const pauseRoute = createRoute({
  method: 'post',
  path: '/v1/webhooks/{id}/pause',
  summary: 'Stop telling a webhook; events of the meantime are not kept for it',
  request: { params },
  responses: answers(200, 'The paused webhook.', schemas.webhook, 404, 503),
})

const resumeRoute = createRoute({
  method: 'post',
  path: '/v1/webhooks/{id}/resume',
  summary: 'Tell a paused webhook again',
  request: { params },
  responses: answers(200, 'The webhook.', schemas.webhook, 404, 503),
})

const deliveriesRoute = createRoute({
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries',
  summary: 'List what a webhook was told or is to be told, newest first',
  request: { params, query: z.strictObject({ status: schemas.deliveryStatus, ...requests.page }) },
  responses: answers(200, 'Deliveries of the last 30 days.', listOf(schemas.delivery), 404, 422, 503),
})

const redeliverRoute = createRoute({
  method: 'post',
  path: '/v1/webhooks/{id}/deliveries/{delivery}/redeliver',
  summary: 'Send once more what was delivered or given up, under the same webhook-id',
  request: { params: params.extend({ delivery: params.shape.id }) },
  responses: answers(200, 'The delivery, waiting.', schemas.delivery, 404, 409, 503),
})

/** Adds the routes. */
export function addWebhooks(
  app: OpenAPIHono,
  { webhooks, ownerBrand }: Pick<ApiParts, 'webhooks' | 'ownerBrand'>,
): void {
  app.openapi(addRoute, async (c) => {
    const { url, brand = ownerBrand, events = CARD_EVENTS, format } = c.req.valid('json')
    if (format === 'slack' && events.some((event) => event === 'session.ready')) {
      const detail = 'session.ready carries what is for one receiver only; register a webhook of format "json" for it.'
      return brokenRules([{ path: 'events', rule: 'events', detail }])
    }
    const added = await webhooks.add({ url, brand, events, format }, BY)
    if (!added.ok) return brokenRules([{ path: 'url', rule: added.rule, detail: added.detail }])
    return answer(schemas.webhookSecret, { ...added.webhook, secret: added.secret }, 201)
  })

  app.openapi(listRoute, (c) =>
    orBadCursor(async () => {
      const { items, nextCursor } = await webhooks.list(requests.given(c.req.valid('query')))
      return answer(listOf(schemas.webhook), { items: [...items], nextCursor: nextCursor ?? null })
    }),
  )

  app.openapi(showRoute, async (c) => {
    const { id } = c.req.valid('param')
    const webhook = await webhooks.get(id)
    return webhook === undefined ? noWebhook(id) : answer(schemas.webhook, webhook)
  })

  app.openapi(removeRoute, async (c) => {
    const { id } = c.req.valid('param')
    const webhook = await webhooks.remove(id, BY)
    return webhook === undefined ? noWebhook(id) : answer(schemas.webhook, webhook)
  })

  app.openapi(testRoute, async (c) => {
    const { id } = c.req.valid('param')
    const delivery = await webhooks.test(id)
    return delivery === undefined ? noWebhook(id) : answer(schemas.delivery, delivery)
  })

  app.openapi(rotateRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { keepOldSeconds = 86_400 } = c.req.valid('json')
    const rotated = await webhooks.rotateSecret(id, keepOldSeconds, BY)
    if (rotated === undefined) return noWebhook(id)
    return answer(schemas.webhookSecret, { ...rotated.webhook, secret: rotated.secret })
  })

  app.openapi(pauseRoute, async (c) => {
    const { id } = c.req.valid('param')
    const webhook = await webhooks.pause(id, BY)
    return webhook === undefined ? noWebhook(id) : answer(schemas.webhook, webhook)
  })

  app.openapi(resumeRoute, async (c) => {
    const { id } = c.req.valid('param')
    const webhook = await webhooks.resume(id, BY)
    return webhook === undefined ? noWebhook(id) : answer(schemas.webhook, webhook)
  })

  app.openapi(deliveriesRoute, (c) =>
    orBadCursor(async () => {
      const { id } = c.req.valid('param')
      const found = await webhooks.deliveries(id, requests.given(c.req.valid('query')))
      if (found === undefined) return noWebhook(id)
      return answer(listOf(schemas.delivery), { items: [...found.items], nextCursor: found.nextCursor ?? null })
    }),
  )

  app.openapi(redeliverRoute, async (c) => {
    const { id, delivery } = c.req.valid('param')
    const again = await webhooks.redeliver(id, delivery, BY)
    if (again.ok) return answer(schemas.delivery, again.delivery)
    if (again.problem === 'waiting') {
      return problem(409, 'already_waiting', 'This delivery is waiting to be sent, or is being sent now.')
    }
    return notFound(`There is no such delivery; GET /v1/webhooks/${encodeURIComponent(id)}/deliveries lists them.`)
  })
}

async function orBadCursor(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RangeError) return brokenRules([{ path: 'cursor', rule: 'cursor', detail: error.message }])
    throw error
  }
}

const noWebhook = (id: string) => notFound(`There is no webhook ${JSON.stringify(id)}; GET /v1/webhooks lists them.`)
