/**
 * Routines over REST (seed 002). The admin key alone opens these routes: what may run while nobody watches is a person's
 * to say, one tool at a time.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { allowanceProblem } from '../../grants/billing.ts'
import type { Allowance, Conflict, Routine } from '../../grants/routines/routines.ts'
import { normalise } from '../../policy/names.ts'
import { type BrokenRule, brokenRules, notFound, problem } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './routine-schemas.ts'
import { findTool, showTools } from './routine-tools.ts'
import { listOf } from './schemas.ts'

type Parts = Pick<ApiParts, 'routines' | 'registry' | 'connections' | 'grants' | 'ownerBrand' | 'db' | 'audit'>

const BY = 'operator'

const listRoute = createRoute({
  method: 'get',
  path: '/v1/routines',
  summary: 'List routines by brand and name',
  request: { query: z.strictObject({ brand: requests.filter, ...requests.page }) },
  responses: answers(200, 'Routines.', listOf(schemas.routine), 422, 503),
})

const makeRoute = createRoute({
  method: 'post',
  path: '/v1/routines',
  summary: 'Make a routine: a draft with every tool disabled',
  request: { body: body(schemas.makeBody) },
  responses: answers(201, 'The new routine.', schemas.routine, 409, 422, 503),
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/routines/{id}',
  summary: 'Show a routine',
  request: { params: requests.id },
  responses: answers(200, 'The routine.', schemas.routine, 404, 503),
})

const changeRoute = createRoute({
  method: 'put',
  path: '/v1/routines/{id}',
  summary: 'Change a routine; what is left out stays. Names the version it was made from',
  request: { params: requests.id, body: body(schemas.changeBody) },
  responses: answers(200, 'The routine.', schemas.routine, 404, 409, 422, 503),
})

const removeRoute = createRoute({
  method: 'delete',
  path: '/v1/routines/{id}',
  summary: 'Remove a routine; its sessions hold nothing from then on, and its traces stay',
  request: { params: requests.id, query: schemas.versionQuery },
  responses: answers(200, 'The routine as it was.', schemas.routine, 404, 409, 422, 503),
})

const toolsRoute = createRoute({
  method: 'get',
  path: '/v1/routines/{id}/tools',
  summary: 'Every tool of the connections of a routine, and how it stands',
  request: { params: requests.id },
  responses: answers(200, 'Tools.', schemas.routineTools, 404, 503),
})

const setRoute = createRoute({
  method: 'put',
  path: '/v1/routines/{id}/tools/{tool}',
  summary: 'Disable or enable one tool, or let it run unattended, which needs a confirmation and a proof of its own',
  request: { params: schemas.toolParams, body: body(schemas.toolBody) },
  responses: answers(200, 'The routine.', schemas.routine, 404, 409, 422, 503),
})

const readyRoute = createRoute({
  method: 'post',
  path: '/v1/routines/{id}/ready',
  summary: 'Make a routine ready for unattended sessions',
  request: { params: requests.id, body: body(schemas.readyBody, false) },
  responses: answers(200, 'The routine.', schemas.routine, 404, 409, 422, 503),
})

/** Adds the routes. */
export function addRoutines(app: OpenAPIHono, parts: Parts): void {
  const { routines, registry, ownerBrand } = parts

  async function shown(routine: Routine): Promise<z.input<typeof schemas.routine>> {
    const { stateBecause, createdAt, changedAt, connections, ...rest } = routine
    const tools = (await routines.tools(routine.id)).filter(({ state }) => state !== 'disabled')
    return {
      ...rest,
      connections: [...connections],
      ...(stateBecause === null ? {} : { stateBecause }),
      tools: tools.map(({ tool, state }) => ({ tool, state })),
      createdAt: createdAt.toISOString(),
      changedAt: changedAt.toISOString(),
    }
  }

  /** A change of a routine, as an answer. */
  async function answered(
    done: Awaited<ReturnType<typeof routines.create>>,
    id: string,
    status = 200,
    more = {},
  ): Promise<Response> {
    if (done.ok) return answer(schemas.routine, await shown(done.routine), status)
    if (done.problem === 'conflict') return conflict(done.conflict, await shown(done.conflict.now))
    if (done.problem === 'not_found') return noRoutine(id)
    if (done.problem === 'name_taken') {
      return problem(409, 'name_taken', 'The brand has a routine of this name; choose another, or change that one.')
    }
    const { status: refusedWith, code, detail, confirm } = done.refusal
    return problem(refusedWith, code, detail, { ...(confirm === undefined ? {} : { confirm }), ...more })
  }

  /** What is wrong with the connections of a routine, and with what it may spend at them. */
  function broken(brand: string, connections: readonly string[], allowance: Allowance): BrokenRule[] {
    const here = registry.connectors(brand).map(({ slug }) => slug)
    const words = { catalogue: parts.grants.catalogue, tools: registry.tools(brand) }
    const strays = connections.flatMap((slug, i) => {
      const known = here.length === 0 ? 'it has none' : `it has ${here.join(', ')}`
      const detail = `There is no connection ${slug} for the brand ${brand}; ${known}.`
      return here.includes(slug) ? [] : [{ path: `connections[${i}]`, rule: 'unknown_connector', detail }]
    })
    const sums = Object.entries(allowance).flatMap(([slug, figures]) => {
      const path = `allowance.${slug}`
      if (!connections.includes(slug)) {
        return [{ path, rule: 'allowance_without_grant', detail: `The routine does not use ${slug}; take it out.` }]
      }
      const found = allowanceProblem(slug, figures, words)
      return found === undefined ? [] : [{ path, ...found }]
    })
    return [...strays, ...sums]
  }

  app.openapi(listRoute, async (c) => {
    const { items, nextCursor } = await routines.list(c.req.valid('query'))
    return answer(listOf(schemas.routine), {
      items: await Promise.all(items.map(shown)),
      nextCursor: nextCursor ?? null,
    })
  })

  app.openapi(makeRoute, async (c) => {
    const { brand = ownerBrand, allowance, ...draft } = c.req.valid('json')
    await parts.connections.wake(brand)
    const figures = allowance as Allowance
    const connections = [...new Set(draft.connections)].sort()
    const wrong = broken(brand, connections, figures)
    if (wrong.length > 0) return brokenRules(wrong)
    return answered(await routines.create(brand, { ...draft, connections, allowance: figures }, BY), '', 201)
  })

  app.openapi(showRoute, async (c) => {
    const { id } = c.req.valid('param')
    const routine = await routines.find(id)
    return routine === undefined ? noRoutine(id) : answer(schemas.routine, await shown(routine))
  })

  app.openapi(changeRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { version, ...written } = c.req.valid('json')
    const routine = await routines.find(id)
    if (routine === undefined) return noRoutine(id)
    await parts.connections.wake(routine.brand)
    const draft = requests.given(written) as Partial<Routine>
    const connections = [...new Set(draft.connections ?? routine.connections)].sort()
    const wrong = broken(routine.brand, connections, draft.allowance ?? routine.allowance)
    if (wrong.length > 0) return brokenRules(wrong)
    return answered(await routines.change(id, version, { ...draft, connections }, BY), id)
  })

  app.openapi(removeRoute, async (c) => {
    const { id } = c.req.valid('param')
    const kept = await routines.find(id)
    const done = await routines.remove(id, c.req.valid('query').version, BY)
    if (!done.ok || kept === undefined) return answered(done, id)
    return answer(schemas.routine, { ...(await shown(done.routine)), tools: [] })
  })

  app.openapi(toolsRoute, async (c) => {
    const { id } = c.req.valid('param')
    const routine = await routines.find(id)
    if (routine === undefined) return noRoutine(id)
    await parts.connections.wake(routine.brand)
    const items = await showTools(parts, routine)
    return answer(schemas.routineTools, { routine: id, version: routine.version, items, nextCursor: null })
  })

  app.openapi(setRoute, async (c) => {
    const { id, tool: written } = c.req.valid('param')
    const { state, confirm, version } = c.req.valid('json')
    const routine = await routines.find(id)
    if (routine === undefined) return noRoutine(id)
    await parts.connections.wake(routine.brand)
    const name = normalise(written)
    const found = name === undefined ? undefined : findTool(registry, routine, name)
    if (found === undefined) {
      const detail = `No connection of the routine ${JSON.stringify(routine.name)} has a tool ${JSON.stringify(written.slice(0, 128))}; GET /v1/routines/${id}/tools lists them.`
      return notFound(detail)
    }
    const done = await routines.setTool(id, { ...found, to: state, confirm, version }, BY)
    return answered(done, id, 200, { links: linksOf(id, found.tool.name, found.tool.connector) })
  })

  app.openapi(readyRoute, async (c) => {
    const { id } = c.req.valid('param')
    const routine = await routines.find(id)
    if (routine === undefined) return noRoutine(id)
    await parts.connections.wake(routine.brand)
    const tools = new Map(registry.tools(routine.brand).map(({ name, digest }) => [name, digest]))
    return answered(await routines.ready(id, c.req.valid('json').version, (tool) => tools.get(tool), BY), id)
  })
}

/** Where a person goes on from a refusal. */
const linksOf = (id: string, tool: string, connector: string) => ({
  routine: `/v1/routines/${id}`,
  traces: `/v1/routines/${id}/traces?tool=${encodeURIComponent(tool)}`,
  definition: `/v1/connections/${connector}/tools`,
  supervise: { method: 'POST', path: '/v1/sessions', body: { routine: id, supervised: true } },
})

/** 409 with what stands now and what happened meanwhile, so that the change can be made again on top of it. */
function conflict({ now, since }: Conflict, current: z.input<typeof schemas.routine>): Response {
  const said = since.map(({ by, what }) => `${what} (${by})`).join('; ')
  const meanwhile = said === '' ? '' : ` Since then: ${said}.`
  const detail = `The routine was changed meanwhile: look at version ${now.version}, and send that number along.${meanwhile}`
  const changes = since.map(({ at, ...change }) => ({ ...change, at: at.toISOString() }))
  return problem(409, 'version_conflict', detail, { current, changes })
}

const noRoutine = (id: string): Response =>
  notFound(`There is no routine ${JSON.stringify(id)}; GET /v1/routines lists them.`)
