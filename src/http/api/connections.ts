/**
 * What a brand connected, over REST: stated once, never shown again, checked, shared, removed. The admin key alone opens
 * these routes.
 * @module
 */
import { createRoute, type OpenAPIHono, type z } from '@hono/zod-openapi'
import type { Connectable } from '../../connector/native/connector.ts'
import { fieldProblems, isSecret } from '../../connector/native/values.ts'
import { slugFor } from '../../connector/mcp/names.ts'
import { REMOTE, shownRemote } from '../../grants/connections/remote.ts'
import { NEEDED } from '../../grants/connections/resolve.ts'
import {
  findConnection,
  listConnections,
  type Put,
  type StoredConnection,
  type Where,
} from '../../grants/connections/rows.ts'
import { brokenRules, notFound, problem } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import * as schemas from './connection-schemas.ts'
import type { ApiParts } from './parts.ts'
import { listOf } from './schemas.ts'

type Parts = Pick<ApiParts, 'db' | 'connections' | 'inbound' | 'ownerBrand' | 'grants'>

const BY = 'operator'
const request = { params: schemas.slug, query: schemas.brandQuery }

const listRoute = createRoute({
  method: 'get',
  path: '/v1/connections',
  summary: "List a brand's connections; every brand's where none is named",
  request: { query: schemas.brandQuery },
  responses: answers(200, 'Connections.', listOf(schemas.connection), 422, 503),
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/connections/{slug}',
  summary: 'Show a connection: which fields are set, when and by whom; never what a secret one holds',
  request,
  responses: answers(200, 'The connection.', schemas.connection, 404, 422, 503),
})

const putRoute = createRoute({
  method: 'put',
  path: '/v1/connections/{slug}',
  summary: 'Connect a brand, or state all fields of a connection anew',
  request: { ...request, body: body(schemas.putBody) },
  responses: {
    ...answers(200, 'The connection as it is now.', schemas.connection, 409, 422, 503),
    ...answers(201, 'The new connection.', schemas.connection),
  },
})

const removeRoute = createRoute({
  method: 'delete',
  path: '/v1/connections/{slug}',
  summary: 'Remove a connection and its credentials; its tools are gone at once, for brands it was shared with too',
  request,
  responses: answers(200, 'The connection, empty now.', schemas.connection, 404, 422, 503),
})

const checkRoute = createRoute({
  method: 'post',
  path: '/v1/connections/{slug}/check',
  summary: 'Ask the vendor whether it takes the credentials a brand uses, by a harmless call',
  request,
  responses: answers(200, 'What the vendor said.', schemas.checked, 404, 422, 503),
})

const shareRoute = createRoute({
  method: 'post',
  path: '/v1/connections/{slug}/share',
  summary: "Share a connection of the account owner's brand with other brands",
  request: { ...request, body: body(schemas.shareBody) },
  responses: answers(200, 'The connection.', schemas.connection, 404, 422, 503),
})

const connectRoute = createRoute({
  method: 'post',
  path: '/v1/connections/{slug}/connect',
  summary: 'Begin the consent of a person to a connection: where to open, in a browser',
  request,
  responses: answers(200, 'The address.', schemas.connect, 404, 422, 503),
})

/** Adds the routes. */
export function addConnections(app: OpenAPIHono, parts: Parts): void {
  const { db, connections, ownerBrand } = parts
  const shown = (stored: StoredConnection) => show(stored, connections.connectable(stored.connector))
  const reply = (stored: StoredConnection | undefined, brand: string, slug: string, status = 200): Response =>
    stored === undefined ? noConnection(brand, slug) : answer(schemas.connection, shown(stored), status)

  app.openapi(listRoute, async (c) => {
    const items = await listConnections(db, c.req.valid('query').brand)
    return answer(listOf(schemas.connection), { items: items.map(shown), nextCursor: null })
  })

  app.openapi(showRoute, async (c) => {
    const { slug } = c.req.valid('param')
    const { brand = ownerBrand } = c.req.valid('query')
    return reply(await findConnection(db, { brand, slug }), brand, slug)
  })

  app.openapi(putRoute, async (c) => {
    const { slug } = c.req.valid('param')
    const { brand = ownerBrand } = c.req.valid('query')
    const { connector: kind = slug, fields = {}, mcp, version } = c.req.valid('json')
    if (mcp !== undefined) return putRemote(parts, { brand, slug }, mcp, version)
    if (connections.isTaken(slug)) {
      const detail = `An upstream of the operator's is called ${slug}; connect under another name, and say "connector".`
      return brokenRules([{ path: 'slug', rule: 'slug_taken', detail }])
    }
    const connector = connections.connectable(kind)
    if (connector === undefined) return brokenRules([{ path: 'connector', rule: 'connector', detail: unknown(kind) }])
    if (kind !== slug && connections.connectable(slug) !== undefined) {
      const detail = `${slug} is the name of another connector; connect ${kind} under a name of its own, such as ${kind}-2.`
      return brokenRules([{ path: 'slug', rule: 'slug_taken', detail }])
    }
    const problems = fieldProblems(connector.connection.fields, fields)
    if (problems.length > 0) {
      return brokenRules(
        problems.map(({ field, problem }) => ({
          path: `fields.${field}`,
          rule: 'field',
          detail: `${field} ${problem}`,
        })),
      )
    }
    const put = await connections.put({ brand, slug, connector, values: fields }, { version, by: BY })
    return done(put, slug, version, connector)
  })

  app.openapi(removeRoute, async (c) => {
    const { slug } = c.req.valid('param')
    const { brand = ownerBrand } = c.req.valid('query')
    // First, so that no address outlives its connection.
    await parts.inbound.routes.remove({ brand, slug }, BY)
    return reply(await connections.remove({ brand, slug }, BY), brand, slug)
  })

  app.openapi(checkRoute, async (c) => {
    const { slug } = c.req.valid('param')
    const { brand = ownerBrand } = c.req.valid('query')
    const found = await connections.check({ brand, slug }, BY)
    return found === undefined ? noConnection(brand, slug) : answer(schemas.checked, found)
  })

  app.openapi(shareRoute, async (c) => {
    const { slug } = c.req.valid('param')
    const { brand = ownerBrand } = c.req.valid('query')
    if (brand !== ownerBrand) {
      const detail = `Only the account owner's connections can be shared; the owner's brand is ${ownerBrand}.`
      return brokenRules([{ path: 'brand', rule: 'owner_only', detail }])
    }
    const { brands } = c.req.valid('json')
    return reply(
      await connections.share(
        { brand, slug },
        brands.filter((one) => one !== brand),
        BY,
      ),
      brand,
      slug,
    )
  })

  app.openapi(connectRoute, async (c) => {
    const { slug } = c.req.valid('param')
    const { brand = ownerBrand } = c.req.valid('query')
    const begun = await connections.consenting.begin({ brand, slug }, BY)
    if (begun.ok) {
      const { authorizationUrl, expiresAt } = begun
      return answer(schemas.connect, { authorizationUrl, expiresAt: expiresAt.toISOString() })
    }
    if (begun.problem === 'not_found') return noConnection(brand, slug)
    return brokenRules([{ path: 'slug', rule: begun.problem, detail: begun.detail }])
  })

  const unknown = (kind: string): string =>
    `There is no connector "${kind}" to connect; GET /v1/connectors names those with a body.`
}

function show(stored: StoredConnection, connector: Connectable | undefined): z.input<typeof schemas.connection> {
  const { brand, slug, settings, sharedWith, check, version, createdAt, changedAt, changedBy } = stored
  const known = Object.entries(connector?.connection.fields ?? {})
  const set = [...stored.secrets, ...Object.keys(settings)]
  return {
    brand,
    slug,
    connector: stored.connector,
    title: connector?.title ?? stored.connector,
    fields: known.map(([name, field]) => {
      return { name, title: field.title, secret: isSecret(field), set: set.includes(name) }
    }),
    ...(stored.connector === REMOTE
      ? { settings: {}, mcp: shownRemote(settings, stored.secrets) }
      : { settings: { ...settings } }),
    consent:
      stored.consent === undefined
        ? null
        : { state: stored.consent === NEEDED ? 'needed' : 'given', because: stored.consentBecause ?? null },
    sharedWith: [...sharedWith],
    status: check === undefined ? 'unchecked' : check.ok ? 'ok' : 'failing',
    check: check === undefined ? null : { at: check.at.toISOString(), ok: check.ok, said: check.said },
    version,
    createdAt: createdAt.toISOString(),
    changedAt: changedAt.toISOString(),
    changedBy,
  }
}

function done(put: Put, slug: string, version: number | undefined, connector: Connectable | undefined): Response {
  return put.ok
    ? answer(schemas.connection, show(put.now, connector), put.made ? 201 : 200)
    : conflict(put, slug, version)
}

/** Connects a server of the brand's own, after its address was judged. */
async function putRemote(
  { connections, grants }: Parts,
  where: Where,
  { type: _, ...remote }: z.output<typeof schemas.putBody>['mcp'] & object,
  version: number | undefined,
): Promise<Response> {
  const { slug } = where
  if (connections.isTaken(slug) || slugFor(slug) !== slug || grants.catalogue.some((one) => one.slug === slug)) {
    const detail = `${slug} is the name of a connector here, or no name for one; connect it under another, as in my-${slug.slice(0, 20)}.`
    return brokenRules([{ path: 'slug', rule: 'slug_taken', detail }])
  }
  const refusal = await connections.refusalOf(remote.url)
  if (refusal !== undefined) return brokenRules([{ path: 'mcp.url', rule: 'address', detail: refusal }])
  return done(await connections.putRemote(where, remote, { version, by: BY }), slug, version, undefined)
}

function conflict(
  { conflict: stands }: Extract<Put, { ok: false }>,
  slug: string,
  version: number | undefined,
): Response {
  const detail =
    stands === undefined
      ? `There is no connection ${slug} in version ${version}, nor in any other: leave version out to make one.`
      : `The connection ${slug} was changed since version ${version}: look at version ${stands.version} first.`
  return problem(409, 'version_conflict', detail)
}

const noConnection = (brand: string, slug: string): Response =>
  notFound(`The brand ${brand} has no connection ${slug}; GET /v1/connections lists what there is.`)
