/**
 * Coworkers' profiles and the goal agent's grant over REST. Only the admin key opens these routes, so only a person
 * writes a grant: no session token does, nor any tool.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { ceilingOf } from '../../grants/ceiling.ts'
import { type GrantSupply, NO_GRANT, type Profile, wordsOf } from '../../grants/profile.ts'
import { goalGrantProblems, profileProblems } from '../../grants/rules.ts'
import {
  findGoalGrant,
  findProfile,
  listProfiles,
  removeProfile,
  type Saved,
  saveGoalGrant,
  saveProfile,
  type StoredGrant,
  type StoredProfile,
} from '../../grants/store.ts'
import { figuresOwed } from '../../policy/presets.ts'
import { grantWords } from '../../connector/define.ts'
import { brokenRules, notFound, problem } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import { draft } from './coworker-draft.ts'
import * as schemas from './coworker-schemas.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import { listOf } from './schemas.ts'

/** What these routes need besides the other parts. */
export interface GrantParts {
  readonly grants: GrantSupply
}

type Parts = Pick<ApiParts, 'db' | 'audit' | 'registry' | 'roles' | 'ownerBrand'> & GrantParts

const BY = 'operator'

const presetsRoute = createRoute({
  method: 'get',
  path: '/v1/presets',
  summary: 'List the starting points for a coworker',
  responses: answers(200, 'Presets.', listOf(schemas.preset)),
})

const listRoute = createRoute({
  method: 'get',
  path: '/v1/coworkers',
  summary: 'List coworkers by brand and id',
  request: { query: z.strictObject({ brand: requests.filter, ...requests.page }) },
  responses: answers(200, 'Coworkers.', listOf(schemas.coworker), 422, 503),
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/coworkers/{id}',
  summary: 'Show a coworker, and what a run of it would hold as of now',
  request: { params: requests.id, query: z.strictObject({ brand: requests.filter }) },
  responses: answers(200, 'The coworker.', schemas.coworker, 404, 422, 503),
})

const saveRoute = createRoute({
  method: 'put',
  path: '/v1/coworkers/{id}',
  summary: 'Make or change a coworker; a change names the version it was made from',
  request: { params: requests.id, body: body(schemas.coworkerBody) },
  responses: {
    ...answers(200, 'The changed coworker.', schemas.coworker, 409, 422, 503),
    ...answers(201, 'The new coworker.', schemas.coworker),
  },
})

const removeRoute = createRoute({
  method: 'delete',
  path: '/v1/coworkers/{id}',
  summary: 'Remove a coworker; its live sessions stay until they end or are revoked',
  request: { params: requests.id, query: z.strictObject({ brand: requests.filter, version: schemas.versionQuery }) },
  responses: answers(200, 'The coworker as it was.', schemas.coworker, 404, 409, 422, 503),
})

const goalRoute = createRoute({
  method: 'get',
  path: '/v1/goals/agent',
  summary: "Show what a brand's goal agent is granted",
  request: { query: z.strictObject({ brand: requests.filter }) },
  responses: answers(200, 'The grant.', schemas.goalGrant, 422, 503),
})

const saveGoalRoute = createRoute({
  method: 'put',
  path: '/v1/goals/agent',
  summary: "Change what a brand's goal agent is granted",
  request: { body: body(schemas.goalBody) },
  responses: answers(200, 'The grant.', schemas.goalGrant, 409, 422, 503),
})

/** Adds the routes. */
export function addCoworkers(app: OpenAPIHono, parts: Parts): void {
  const { db, audit, grants } = parts
  const words = (brand: string) => wordsOf(grants, parts.roles, parts.registry, brand)
  const shown = (profile: StoredProfile) => showProfile(profile, parts)

  app.openapi(presetsRoute, () => {
    const known = grantWords(grants.catalogue)
    const items = grants.presets.map(({ name, ...preset }) => ({
      preset: name,
      ...preset,
      owes: figuresOwed({ name, ...preset }, known),
    }))
    return answer(listOf(schemas.preset), { items, nextCursor: null })
  })

  app.openapi(listRoute, async (c) => {
    const { items, nextCursor } = await listProfiles(db, c.req.valid('query'))
    return answer(listOf(schemas.coworker), { items: items.map(shown), nextCursor: nextCursor ?? null })
  })

  app.openapi(showRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { brand = parts.ownerBrand } = c.req.valid('query')
    const found = await findProfile(db, brand, id)
    return found === undefined ? noCoworker(brand, id) : answer(schemas.coworker, shown(found))
  })

  app.openapi(saveRoute, async (c) => {
    const asked = c.req.valid('json')
    const drafted = draft(c.req.valid('param').id, asked, grants.presets, parts.ownerBrand)
    if ('broken' in drafted) return brokenRules(drafted.broken)
    const { profile } = drafted
    const broken = profileProblems(profile, words(profile.brand))
    if (broken.length > 0) return brokenRules(broken)
    const saved = await saveProfile(audit, profile, { version: asked.version, by: BY })
    if (!saved.ok) return conflict(saved, `coworker ${profile.id}`, asked.version, shown)
    return answer(schemas.coworker, shown(saved.now), asked.version === undefined ? 201 : 200)
  })

  app.openapi(removeRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { brand = parts.ownerBrand, version } = c.req.valid('query')
    const removed = await removeProfile(audit, { brand, id }, { version, by: BY })
    if (removed.ok) return answer(schemas.coworker, shown(removed.now))
    return removed.conflict === undefined ? noCoworker(brand, id) : conflict(removed, `coworker ${id}`, version, shown)
  })

  app.openapi(goalRoute, async (c) => {
    const { brand = parts.ownerBrand } = c.req.valid('query')
    const found = await findGoalGrant(db, brand)
    return answer(
      schemas.goalGrant,
      found === undefined ? { brand, grant: plain(NO_GRANT), version: null } : showGrant(found),
    )
  })

  app.openapi(saveGoalRoute, async (c) => {
    const { brand = parts.ownerBrand, grant, version } = c.req.valid('json')
    const broken = goalGrantProblems(grant, words(brand))
    if (broken.length > 0) return brokenRules(broken)
    const saved = await saveGoalGrant(audit, brand, grant, { version, by: BY })
    return saved.ok ? answer(schemas.goalGrant, showGrant(saved.now)) : conflict(saved, 'grant', version, showGrant)
  })
}

function showProfile(stored: StoredProfile, parts: Parts): z.input<typeof schemas.coworker> {
  const { createdAt, updatedAt, grant, tools, ...rest } = stored
  const role = parts.roles.get(stored.role)
  const { maxDelegationDepth } = stored.limits
  const words = wordsOf(parts.grants, parts.roles, parts.registry, stored.brand)
  const ceiling = role && ceilingOf(role, { tools, grant, maxDelegationDepth }, words)
  return {
    ...rest,
    tools: [...tools],
    grant: plain(grant),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    ceiling: [...(ceiling?.held ?? [])],
    granted: [...(ceiling?.granted ?? [])],
    lost: [...(ceiling?.lost ?? [])],
  }
}

function showGrant({ brand, grant, version, updatedAt }: StoredGrant): z.input<typeof schemas.goalGrant> {
  return { brand, grant: plain(grant), version, updatedAt: updatedAt.toISOString() }
}

/** A grant as the schema has it, which may be written to. */
function plain({ connectors, skills, allowance }: Profile['grant']): z.input<typeof schemas.shownGrant> {
  return { connectors: [...connectors], skills: [...skills], allowance: { ...allowance } }
}

/** 409 with what stands now, so that the change can be made again on top of it. */
function conflict<T extends { readonly version: number }>(
  { conflict: stands }: Extract<Saved<T>, { ok: false }>,
  what: string,
  version: number | undefined,
  show: (stored: T) => unknown,
): Response {
  if (stands === undefined) {
    const detail = `There is no ${what} in version ${version}, nor in any other: leave version out to make one.`
    return problem(409, 'version_conflict', detail)
  }
  const detail =
    version === undefined
      ? `There is a ${what} already: to change it, send version ${stands.version} along.`
      : `The ${what} was changed since version ${version}: look at version ${stands.version}, and send that number along.`
  return problem(409, 'version_conflict', detail, { current: show(stands) })
}

const noCoworker = (brand: string, id: string) =>
  notFound(`The brand ${brand} has no coworker ${JSON.stringify(id)}; GET /v1/coworkers lists them.`)
