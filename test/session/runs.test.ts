import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DbEvent } from '../../src/db/events.ts'
import { beginForeign, findEarlier, narrowRetry } from '../../src/session/runs.ts'
import { endSession, findSession, revokeSession } from '../../src/session/sessions.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { made, rulesOf, runsOn } from './run-world.ts'

let database: TestDatabase
let runs: ReturnType<typeof runsOn>
let brand = ''
let brands = 0
beforeAll(async () => {
  database = await freshDatabase()
  runs = runsOn(database.db)
})
beforeEach(() => {
  brand = `brand${brands++}`
})
afterAll(async () => {
  await runs.audit.close()
  await database.close()
})

const start = (more: Parameters<typeof runs.start>[0] = {}) =>
  runs.start({ ...more, claims: { brand, ...more.claims } })
const end = (id: string, usd?: string) => endSession(runs.audit, id, { by: 'operator', ...(usd && { usd }) })
const state = async (id: string) => (await findSession(database.db, id))?.state

const CRAWLS = {
  role: 'coworker',
  grant: {
    connectors: ['firecrawl'],
    skills: [],
    allowance: { firecrawl: { perRunCredits: 25, perDayCredits: 100 } },
  },
}

describe('a run', () => {
  it('is recorded with what it is a run of, and one audit row', async () => {
    const { session } = await start({ coworker: 'c1', registered: ['Read', 'mcp__project__project_list'] })
    expect(await findSession(database.db, session.id)).toMatchObject({ coworker: 'c1', attempt: 1, parent: null })
    expect(await runs.records(session.id)).toEqual(['session.issued'])
    expect((await findEarlier(database.db, session.id))?.ran).toEqual(['Read', 'mcp__project__project_list'])
  })

  it('of a profile starts only while fewer live than may live at once, whoever ended how', async () => {
    const two = { coworker: 'c1', claims: { limits: { concurrentRuns: 2 } } }
    const first = await start(two)
    const second = await start(two)
    expect(rulesOf(await start(two))).toEqual(['concurrent_runs'])
    expect(rulesOf(await start({ ...two, coworker: 'c2' }))).toEqual([])
    await end(first.session.id)
    expect(rulesOf(await start(two))).toEqual([])
    await revokeSession(runs.audit, second.session.id, { by: 'operator' })
    expect(rulesOf(await start(two))).toEqual([])
    await database.db.orm.execute(
      sql`update sessions set expires_at = now() where brand = ${brand} and coworker = 'c1'`,
    )
    expect(rulesOf(await start(two))).toEqual([])
  })

  it('of a role whose figure is only the usual one is not counted without a profile', async () => {
    for (let i = 0; i < 3; i++) expect(rulesOf(await start())).toEqual([])
    const one = { claims: { limits: { concurrentRuns: 1 } } }
    expect(rulesOf(await start(one))).toEqual(['concurrent_runs'])
  })

  it('leaves no trace when it is refused', async () => {
    const one = { coworker: 'c1', claims: { limits: { concurrentRuns: 1, runUsd: 1 } } }
    await start(one)
    const refused = await start(one)
    expect(await findSession(database.db, refused.session.id)).toBeUndefined()
    expect(await runs.records(refused.session.id)).toEqual([])
    expect(await runs.figures(refused.session.id)).toEqual([])
  })

  it('counts against the live sessions of its brand and the starts of its role within the hour', async () => {
    const caps = { liveSessionsPerBrand: 2, startsPerHour: { coworker: 3 } }
    const first = await start({ caps })
    await start({ caps })
    expect(rulesOf(await start({ caps }))).toEqual(['live_sessions_per_brand'])
    await end(first.session.id)
    const third = await start({ caps })
    expect(rulesOf(third)).toEqual([])
    await end(third.session.id)
    expect(rulesOf(await start({ caps }))).toEqual(['starts_per_hour'])
    expect(rulesOf(await start({ caps, claims: { role: 'person-chat' } }))).toEqual([])
  })
})

describe('a session of a host app', () => {
  it('keeps the limits of its brand at its first use, and is not counted against itself afterwards', async () => {
    const caps = { liveSessionsPerBrand: 1 }
    const [first, second] = [made({ brand }), made({ brand })]
    const begin = ({ session, claims }: typeof first) => beginForeign(runs.audit, session, claims, caps)
    expect(await begin(first)).toBe('live')
    expect(await begin(first)).toBe('live')
    expect(await runs.records(first.session.id)).toEqual(['session.issued'])
    expect(await begin(second)).toMatchObject([{ rule: 'live_sessions_per_brand' }])
    expect(await findSession(database.db, second.session.id)).toBeUndefined()
    await end(first.session.id)
    expect(await begin(first)).toBe('dead')
    expect(await begin(second)).toBe('live')
  })
})

describe('the day', () => {
  it('counts live runs whole, and ended ones whole too when they recorded nothing', async () => {
    for (let i = 0; i < 4; i++) {
      const { session, begun } = await start({ claims: CRAWLS, coworker: 'c1' })
      expect(begun.ok).toBe(true)
      if (i % 2 === 0) await end(session.id)
    }
    const fifth = await start({ claims: CRAWLS, coworker: 'c1' })
    expect(fifth.begun).toMatchObject({
      ok: false,
      broken: [
        { path: 'grant.allowance', rule: 'day_figure', detail: expect.stringMatching(/count for 100, .* 25\./) },
      ],
    })
    expect(rulesOf(await start({ claims: CRAWLS, coworker: 'c2' }))).toEqual([])
  })

  it('forgets runs that were over before today', async () => {
    for (let i = 0; i < 4; i++) await start({ claims: CRAWLS, coworker: 'c1' })
    await database.db.orm.execute(
      sql`update sessions set ended_at = now() - interval '25 hours' where brand = ${brand}`,
    )
    expect(rulesOf(await start({ claims: CRAWLS, coworker: 'c1' }))).toEqual([])
  })

  it('counts dollars at what the host reported', async () => {
    const caps = { dayUsd: { coworker: 0.25 } }
    const tenCents = { caps, claims: { limits: { runUsd: 0.1 } } }
    for (const usd of ['0.05', '0.04', '0.06']) {
      const { session, begun } = await start(tenCents)
      expect(begun.ok).toBe(true)
      await end(session.id, usd)
    }
    expect(rulesOf(await start(tenCents))).toEqual([])
    expect(rulesOf(await start(tenCents))).toEqual(['day_figure'])
    expect(rulesOf(await start({ caps, claims: { limits: {} } }))).toEqual(['day_figure'])
  })
})

describe('a retry', () => {
  const three = { attempts: 3 }
  const narrow = async (of: string, claims: Parameters<typeof narrowRetry>[1], coworker?: string) =>
    narrowRetry(await findEarlier(database.db, of), claims, { coworker, attempts: 3 })

  it('is narrowed to what the attempt before ran with, not to what it was allowed', async () => {
    const ceiling = ['Read', 'mcp__project__*', 'mcp__firecrawl__scrape']
    const first = await start({
      claims: { ceiling, limits: three },
      registered: ['Read', 'mcp__project__project_list'],
    })
    await end(first.session.id)
    const narrowed = await narrow(first.session.id, first.claims)
    expect(narrowed).toMatchObject({ ok: true, claims: { ceiling: ['Read', 'mcp__project__project_list'] } })
    const none = await narrow(first.session.id, { ...first.claims, ceiling: ['mcp__firecrawl__scrape'] })
    expect(none).toMatchObject({ ok: false, broken: [{ rule: 'nothing_to_hold' }] })
  })

  it('of a session whose tools were not kept is narrowed to its ceiling', async () => {
    const first = await start({ claims: { ceiling: ['mcp__project__*'], limits: three } })
    await end(first.session.id)
    await database.db.orm.execute(sql`update sessions set registered = null where id = ${first.session.id}`)
    const narrowed = await narrow(first.session.id, {
      ...first.claims,
      ceiling: ['Read', 'mcp__project__project_list'],
    })
    expect(narrowed).toMatchObject({ ok: true, claims: { ceiling: ['mcp__project__project_list'] } })
  })

  it('comes once after each attempt that is over, as often as the run has attempts', async () => {
    const run = { coworker: 'c1', claims: { limits: three } }
    const first = await start(run)
    expect(rulesOf(await start({ ...run, retryOf: first.session.id }))).toEqual(['still_live'])
    await end(first.session.id)
    const second = await start({ ...run, retryOf: first.session.id })
    expect(rulesOf(second)).toEqual([])
    expect((await findSession(database.db, second.session.id))?.attempt).toBe(2)
    expect(rulesOf(await start({ ...run, retryOf: first.session.id }))).toEqual(['retried'])
    await end(second.session.id)
    const third = await start({ ...run, retryOf: second.session.id })
    await end(third.session.id)
    expect(rulesOf(await start({ ...run, retryOf: third.session.id }))).toEqual(['attempts'])
  })

  it('is of the same brand, role and profile, and of no child', async () => {
    const run = { coworker: 'c1', claims: { limits: { ...three, delegationDepth: 1 } } }
    const first = await start(run)
    const child = await runs.delegate(first.session)
    await end(first.session.id)
    expect(rulesOf(await start({ ...run, coworker: 'c2', retryOf: first.session.id }))).toEqual(['other_run'])
    expect(rulesOf(await start({ ...run, retryOf: 'none' }))).toEqual(['unknown_session'])
    expect(rulesOf(await runs.start({ ...run, retryOf: first.session.id }))).toEqual(['unknown_session'])
    expect(rulesOf(await start({ ...run, retryOf: child.session.id }))).toEqual(['delegated'])
    const once = { ...run, claims: { limits: {} } }
    expect(rulesOf(await start({ ...once, retryOf: first.session.id }))).toEqual(['attempts'])
  })
})

describe('a tree', () => {
  const root = (limits: object = {}, more: object = CRAWLS) =>
    start({ claims: { ...more, limits: { runUsd: 1, delegationDepth: 3, ...limits } }, coworker: 'c1' })

  it.each(['revoked', 'ended'] as const)(
    'is %s with its root: every descendant, told and written down',
    async (how) => {
      const { session } = await root({}, {})
      const ids: string[] = []
      let parent = session
      for (let depth = 0; depth < 3; depth++) {
        const sibling = await runs.delegate(parent, { limits: { runUsd: 0.01 } })
        const child = await runs.delegate(parent, { limits: { runUsd: 0.2 - depth * 0.05 } })
        ids.push(sibling.session.id, child.session.id)
        parent = child.session
      }
      const other = await root({}, {})
      const heard: DbEvent[] = []
      const unlisten = await database.db.listen((event) => heard.push(event))
      if (how === 'revoked') await revokeSession(runs.audit, session.id, { by: 'operator' })
      else await end(session.id)
      for (const id of ids) {
        expect(await state(id)).toBe(how)
        const { parent } = (await findSession(database.db, id))!
        const reason = how === 'revoked' ? `Its parent ${parent} was revoked.` : `Its parent ${parent} ended.`
        expect(await runs.records(id)).toEqual([`session.issued Delegated by ${parent}.`, `session.${how} ${reason}`])
        await expect.poll(() => heard).toContainEqual({ kind: 'session', id })
      }
      expect(await state(other.session.id)).toBe('live')
      await unlisten()
    },
  )

  it('loses one branch with its own root only', async () => {
    const { session } = await root({}, {})
    const left = await runs.delegate(session, { limits: { runUsd: 0.2 } })
    const leaf = await runs.delegate(left.session, { limits: { runUsd: 0.1 } })
    const right = await runs.delegate(session, { limits: { runUsd: 0.2 } })
    await revokeSession(runs.audit, left.session.id, { by: 'operator' })
    expect(await Promise.all([session, left.session, leaf.session, right.session].map(({ id }) => state(id)))).toEqual([
      'live',
      'revoked',
      'revoked',
      'live',
    ])
  })

  it('of a dead parent gets no child', async () => {
    const { session } = await root()
    await end(session.id)
    expect(rulesOf(await runs.delegate(session))).toEqual(['parent_dead'])
  })

  it('shares out its figures once, and gets back what a child did not use', async () => {
    const { session } = await root()
    const credits = (perRunCredits: number) => ({
      grant: { connectors: ['firecrawl'], allowance: { firecrawl: { perRunCredits } } },
    })
    const child = await runs.delegate(session, { ...credits(20), limits: { runUsd: 0.6 } })
    expect(await runs.figures(session.id)).toEqual(['firecrawl.perRunCredits 25 20 -', 'runUsd 1 0.6 -'])
    expect(await runs.figures(child.session.id)).toEqual(['firecrawl.perRunCredits 20 0 -', 'runUsd 0.6 0 -'])
    await expect(runs.delegate(session, credits(6))).rejects.toThrow('the parent has 5 to hand on')
    const leaf = await runs.delegate(child.session, { limits: { runUsd: 0.3 } })
    await end(leaf.session.id, '0.1')
    expect(await runs.figures(child.session.id)).toEqual(['firecrawl.perRunCredits 20 0 -', 'runUsd 0.6 0.1 -'])
    await end(child.session.id, '0.2')
    expect(await runs.figures(session.id)).toEqual(['firecrawl.perRunCredits 25 0 -', 'runUsd 1 0.3 -'])
  })

  it('counts in the day as one run: the root while it lives, then what it and its children used', async () => {
    const caps = { dayUsd: { coworker: 1.2 } }
    const { session } = await root({}, {})
    const child = await runs.delegate(session, { limits: { runUsd: 0.6 } })
    await end(child.session.id, '0.2')
    const next = () => start({ caps, coworker: 'c1', claims: { limits: { runUsd: 0.7, concurrentRuns: 9 } } })
    expect(rulesOf(await next())).toEqual(['day_figure'])
    await end(session.id, '0.3')
    expect(rulesOf(await next())).toEqual([])
  })

  it('is one run of its profile, and as many live sessions of its brand as it has', async () => {
    const { session } = await root({ concurrentRuns: 2 }, {})
    await runs.delegate(session, { limits: { runUsd: 0.1 } })
    expect(rulesOf(await root({ concurrentRuns: 2 }, {}))).toEqual([])
    const full = await runs.delegate(session, { limits: { runUsd: 0.1 } }, { liveSessionsPerBrand: 3 })
    expect(rulesOf(full)).toEqual(['live_sessions_per_brand'])
  })
})
