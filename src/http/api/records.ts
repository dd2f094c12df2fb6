/**
 * What an operator reads and turns: the audit, connectors, roles, and the signing keys.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { readAudit, UnknownCursor } from '../../audit/read.ts'
import { verifyAudit } from '../../audit/verify.ts'
import type { Connector } from '../../connector/connector.ts'
import { declaredRows } from '../../connector/declared.ts'
import { brokenRules } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './schemas.ts'
import { listedAs } from './session-view.ts'

const word = requests.filter

const auditRoute = createRoute({
  method: 'get',
  path: '/v1/audit',
  summary: 'Read the audit, newest first',
  request: {
    query: z.strictObject({ brand: word, sessionId: word, tool: word, kind: word, attempt: word, ...requests.page }),
  },
  responses: answers(200, 'Rows.', schemas.listOf(schemas.auditRow), 422, 503),
})

const verifyRoute = createRoute({
  method: 'get',
  path: '/v1/audit/verify',
  summary: 'Check the hash chains: an edit, a gap or a reordering shows',
  responses: answers(200, 'What was found.', schemas.auditReport, 503),
})

const connectors = schemas.listOf(schemas.connector).extend({ declared: z.array(schemas.declaredConnector) })
const connectorsRoute = createRoute({
  method: 'get',
  path: '/v1/connectors',
  summary: 'The connectors of a brand: state, tools with access, and what is withheld',
  request: { query: z.strictObject({ brand: requests.filter }) },
  responses: answers(200, 'Connectors.', connectors, 422),
})

const roles = schemas.listOf(schemas.role).extend({ routes: z.array(schemas.route), builtins: z.array(z.string()) })
const rolesRoute = createRoute({
  method: 'get',
  path: '/v1/roles',
  summary: 'Roles, routes, and the built-ins of this deployment',
  responses: answers(200, 'Roles.', roles),
})

const rotateRoute = createRoute({
  method: 'post',
  path: '/v1/keys/rotate',
  summary:
    'Sign with a new key and seal credentials with the secret of today; with retireOthers, refuse every token signed so far',
  request: { body: body(requests.rotateBody, false) },
  responses: answers(200, 'The new key.', schemas.rotated, 422, 503),
})

/** Adds the routes. */
export function addRecords(app: OpenAPIHono, parts: ApiParts): void {
  app.openapi(auditRoute, async (c) => {
    try {
      const { items, nextCursor } = await readAudit(parts.db, c.req.valid('query'))
      return answer(schemas.listOf(schemas.auditRow), {
        items: items.map((row) => ({ ...row })),
        nextCursor: nextCursor ?? null,
      })
    } catch (error) {
      if (!(error instanceof UnknownCursor)) throw error
      const detail = 'This cursor is not one that a list of the audit gave out. Leave it away to start at the newest.'
      return brokenRules([{ path: 'cursor', rule: 'cursor', detail }])
    }
  })

  app.openapi(verifyRoute, async () => {
    const report = await verifyAudit(parts.db)
    return answer(schemas.auditReport, { ok: report.problems.length === 0, ...report })
  })

  app.openapi(connectorsRoute, async (c) => {
    const { brand = parts.ownerBrand } = c.req.valid('query')
    await parts.connections.wake(brand)
    const found = parts.registry.connectors(brand)
    const taken = new Set([...parts.registry.all(), ...found].map(({ slug }) => slug))
    const declared = declaredRows(parts.grants.catalogue, taken, parts.connections.surroundings(brand))
    return answer(connectors, { items: found.map(shown), nextCursor: null, declared })
  })

  app.openapi(rolesRoute, () => {
    const items = [...parts.roles.values()]
    return answer(roles, { items, nextCursor: null, routes: [...parts.routes.values()], builtins: [...parts.builtins] })
  })

  app.openapi(rotateRoute, async (c) => {
    const { retireOthers = false } = c.req.valid('json')
    const { kid } = await parts.keyring.rotate({ retireOthers, by: 'operator' })
    const resealed = (await parts.connections.reseal('operator')) + (await parts.inbound.routes.reseal())
    return answer(schemas.rotated, { kid, retireOthers, resealed })
  })
}

function shown(connector: Connector): z.input<typeof schemas.connector> {
  const { slug, title } = connector
  const tools = connector
    .tools()
    .map(({ name, access, ask, grantable }) => ({ name, listedAs: listedAs(name), access, ask, grantable }))
  return {
    slug,
    title,
    ...connector.state(),
    tools,
    withheld: [...connector.withheld(), ...(connector.left?.() ?? [])],
  }
}
