/**
 * The tools of a connection over REST: which are open, what changed, and a person's yes to what is there now. The admin
 * key alone opens these routes.
 * @module
 */
import { createRoute, type OpenAPIHono, type z } from '@hono/zod-openapi'
import type { Connector } from '../../connector/connector.ts'
import { toolStates, unpinned } from '../../grants/pins/view.ts'
import { brokenRules, notFound, problem } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import { brandQuery, slug } from './connection-schemas.ts'
import type { ApiParts } from './parts.ts'
import { page as pageQuery } from './requests.ts'
import * as schemas from './tool-schemas.ts'

type Parts = Pick<ApiParts, 'registry' | 'pins' | 'routines' | 'ownerBrand'>

const BY = 'operator'
const PAGE = 200
const listQuery = brandQuery.extend({
  ...pageQuery,
  state: schemas.stateQuery.optional(),
  tool: schemas.toolParam.optional(),
})

const listRoute = createRoute({
  method: 'get',
  path: '/v1/connections/{slug}/tools',
  summary: 'The tools of a connection or of an upstream of the operator: open or closed, as accepted and as seen now',
  request: { params: slug, query: listQuery },
  responses: answers(200, 'Tools.', schemas.tools, 404, 422, 503),
})

const acceptRoute = createRoute({
  method: 'post',
  path: '/v1/connections/{slug}/tools/{tool}/accept',
  summary: 'Accept a tool as the digest says; it opens where its upstream shows that very definition',
  request: { params: slug.extend({ tool: schemas.toolParam }), query: brandQuery, body: body(schemas.acceptBody) },
  responses: answers(200, 'The tool as it is now.', schemas.toolState, 404, 409, 422, 503),
})

const discoverRoute = createRoute({
  method: 'post',
  path: '/v1/connections/{slug}/discover',
  summary: 'Read the tools of a connection again, now',
  request: { params: slug, query: brandQuery },
  responses: answers(200, 'The tools as they are now.', schemas.tools, 404, 422, 503),
})

/** Adds the routes. */
export function addTools(app: OpenAPIHono, { registry, pins, routines, ownerBrand }: Parts): void {
  const found = (name: string, brand: string): Connector | undefined =>
    registry.connectors(brand).find((connector) => connector.slug === name)

  async function shown(
    connector: Connector,
    { limit = PAGE, cursor, state, tool }: Partial<z.output<typeof listQuery>>,
  ) {
    const guarded = pins.of(connector)
    const after = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString()
    const all = guarded === undefined ? unpinned(connector) : await toolStates(pins, guarded)
    const wanted = all.filter(
      (one) => (state ?? one.state) === one.state && (tool ?? one.tool) === one.tool && one.tool > after,
    )
    const items = wanted.slice(0, limit)
    const last = items.at(-1)
    return answer(schemas.tools, {
      connection: connector.slug,
      scope: guarded?.set.scope ?? null,
      pinned: guarded !== undefined,
      newTools: guarded?.newTools ?? null,
      upstream: connector.state(),
      items,
      nextCursor: last === undefined || wanted.length <= limit ? null : Buffer.from(last.tool).toString('base64url'),
    })
  }

  app.openapi(listRoute, async (c) => {
    const { slug: name } = c.req.valid('param')
    const { brand = ownerBrand, ...query } = c.req.valid('query')
    const connector = found(name, brand)
    return connector === undefined ? noConnection(brand, name) : shown(connector, query)
  })

  app.openapi(discoverRoute, async (c) => {
    const { slug: name } = c.req.valid('param')
    const { brand = ownerBrand } = c.req.valid('query')
    const connector = found(name, brand)
    if (connector === undefined) return noConnection(brand, name)
    // Every pin is looked at again too: a row that was edited behind the gateway's back closes its tool.
    await pins.refresh()
    const trouble = await connector.discover?.()
    if (trouble !== undefined)
      return problem(503, 'upstream_unavailable', `The tools of ${name} could not be read. ${trouble}`)
    // What was let in before counts no more, whether its definition changed or not.
    const scope = pins.of(connector)?.set.scope ?? brand
    await routines.rediscovered({ connector: name, brand: scope === '*' ? undefined : scope }, BY)
    return shown(connector, {})
  })

  app.openapi(acceptRoute, async (c) => {
    const { slug: name, tool } = c.req.valid('param')
    const { brand = ownerBrand } = c.req.valid('query')
    const { digest } = c.req.valid('json')
    const connector = found(name, brand)
    if (connector === undefined) return noConnection(brand, name)
    const guarded = pins.of(connector)
    if (guarded === undefined) {
      const detail = `The tools of ${name} are not pinned: what they say of themselves is the product's own code.`
      return brokenRules([{ path: 'slug', rule: 'not_pinned', detail }])
    }
    const accepted = await pins.accept(guarded, tool, digest, BY)
    if (!accepted.ok) return refusal(accepted, name, tool)
    const now = (await toolStates(pins, guarded)).find((one) => one.tool === tool)
    return now === undefined ? notFound(`${name} has no tool ${tool} any more.`) : answer(schemas.toolState, now)
  })
}

function refusal(
  accepted: { problem: 'not_found' | 'undiscovered' } | { problem: 'changed'; now: string },
  name: string,
  tool: string,
): Response {
  switch (accepted.problem) {
    case 'changed': {
      const detail = `The definition of ${tool} is another one by now; look at it again before you accept it.`
      return problem(409, 'definition_changed', detail, { digest: accepted.now })
    }
    case 'undiscovered':
      return problem(
        409,
        'undiscovered',
        `Nothing of ${name} was discovered yet; POST /v1/connections/${name}/discover first.`,
      )
    default:
      return notFound(
        `${name} has no tool ${tool.slice(0, 128)}; GET /v1/connections/${name}/tools lists what there is.`,
      )
  }
}

const noConnection = (brand: string, name: string): Response =>
  notFound(
    `The brand ${brand} has no connection ${name}, and no upstream of the operator of that name serves it; GET /v1/connectors lists what there is.`,
  )
