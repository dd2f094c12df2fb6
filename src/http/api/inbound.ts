/**
 * Where AgentMail tells of mail that came in, over REST: an address that is shown once, and the vendor's signing secret,
 * which is never shown.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { InboundRoute } from '../../grants/inbound/routes.ts'
import { strict } from '../../policy/data-file.ts'
import { AGENTMAIL } from '../inbound/words.ts'
import { brokenRules, notFound } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import { brandQuery, slug as slugParams } from './connection-schemas.ts'
import type { ApiParts } from './parts.ts'

type Parts = Pick<ApiParts, 'connections' | 'inbound' | 'ownerBrand' | 'webhooks'>

const BY = 'operator'
const request = { params: slugParams, query: brandQuery }
const path = '/v1/connections/{slug}/inbound'

const shape = z
  .object({
    brand: z.string(),
    slug: z.string(),
    ready: z.boolean(),
    missing: z.array(z.string()).openapi({ description: 'What keeps mail from starting a session, a sentence each.' }),
    createdAt: z.string(),
    changedAt: z.string(),
    changedBy: z.string(),
  })
  .openapi('Inbound')

const withAddress = shape
  .extend({ url: z.string().openapi({ description: 'Whoever has it can send deliveries; it is shown only here.' }) })
  .openapi('InboundAddress')

const signBody = strict({
  signingSecret: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{32,128}={0,2}$/, 'the signing secret of the webhook, as the vendor shows it: whsec_…')
    .openapi({ description: 'Sealed, and never shown again.' }),
})

const makeRoute = createRoute({
  method: 'post',
  path,
  summary: 'Make the address under which the vendor tells of mail; a new one closes the one before at once',
  request,
  responses: answers(201, 'The address, which is shown only here.', withAddress, 404, 422, 503),
})

const signRoute = createRoute({
  method: 'put',
  path,
  summary: "State the vendor's signing secret, or another in its place",
  request: { ...request, body: body(signBody) },
  responses: answers(200, 'What stands now.', shape, 404, 422, 503),
})

const showRoute = createRoute({
  method: 'get',
  path,
  summary: 'Show whether mail starts sessions, and what is missing; never the address or the secret',
  request,
  responses: answers(200, 'What stands.', shape, 404, 422, 503),
})

const removeRoute = createRoute({
  method: 'delete',
  path,
  summary: 'Close the address; mail starts no session any more',
  request,
  responses: answers(200, 'What stood.', shape, 404, 422, 503),
})

/** Adds the routes. */
export function addInbound(app: OpenAPIHono, parts: Parts): void {
  const { routes, url } = parts.inbound
  const where = (brand: string | undefined, slug: string) => ({ brand: brand ?? parts.ownerBrand, slug })
  const reply = async (route: InboundRoute | undefined, slug: string) =>
    route === undefined ? noAddress(slug) : answer(shape, await show(route, parts))

  app.openapi(makeRoute, async (c) => {
    const { slug } = c.req.valid('param')
    const at = where(c.req.valid('query').brand, slug)
    if (slug !== AGENTMAIL) {
      const detail = `Mail starts sessions for the connection ${AGENTMAIL} alone: the tools of their role are named after it.`
      return brokenRules([{ path: 'slug', rule: 'no_inbound', detail }])
    }
    if (parts.connections.used(at) === undefined) {
      return notFound(
        `The brand ${at.brand} has no connection ${slug}; connect it first, with PUT /v1/connections/${slug}.`,
      )
    }
    const { route, secret } = await routes.address(at, BY)
    return answer(withAddress, { ...(await show(route, parts)), url: `${url}/${secret}` }, 201)
  })

  app.openapi(signRoute, async (c) => {
    const { slug } = c.req.valid('param')
    const { signingSecret } = c.req.valid('json')
    return reply(await routes.sign(where(c.req.valid('query').brand, slug), signingSecret, BY), slug)
  })

  app.openapi(showRoute, async (c) => {
    const { slug } = c.req.valid('param')
    return reply(await routes.get(where(c.req.valid('query').brand, slug)), slug)
  })

  app.openapi(removeRoute, async (c) => {
    const { slug } = c.req.valid('param')
    return reply(await routes.remove(where(c.req.valid('query').brand, slug), BY), slug)
  })
}

async function show(route: InboundRoute, { connections, inbound, webhooks }: Parts): Promise<z.input<typeof shape>> {
  const { brand, slug, signs, createdAt, changedAt, changedBy } = route
  const { items } = await webhooks.list({ brand, limit: 200 })
  const isHeard = items.some(
    ({ events, format, pausedAt }) => format === 'json' && events.includes('session.ready') && pausedAt === undefined,
  )
  const missing = [
    inbound.isOpen ? undefined : 'The operator has not set AGENTMAIL_WEBHOOK_URL_SECRET, so the route does not exist.',
    signs ? undefined : `The vendor's signing secret is not stated; PUT /v1/connections/${slug}/inbound states it.`,
    connections.used(route) === undefined ? `The brand has no connection ${slug}.` : undefined,
    isHeard ? undefined : `No webhook of the brand asks for session.ready; POST /v1/webhooks registers one.`,
  ].filter((one) => one !== undefined)
  return {
    brand,
    slug,
    ready: missing.length === 0,
    missing,
    createdAt: createdAt.toISOString(),
    changedAt: changedAt.toISOString(),
    changedBy,
  }
}

const noAddress = (slug: string): Response =>
  notFound(`There is no address for inbound mail here; POST /v1/connections/${slug}/inbound makes one.`)
