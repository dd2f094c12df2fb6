/** Coworkers, the goal agent's grant and the sessions started from them, through the front door. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type World } from './api-world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())

const put = (id: string, body: object) => world.ask('PUT', `/v1/coworkers/${id}`, body)
const rulesOf = (body: any) => body.errors?.map(({ path, rule }: { path: string; rule: string }) => `${path}: ${rule}`)
const names = (rows: { name: string }[]) => rows.map(({ name }) => name)
const saved = async (id: string, body: object) => {
  const answer = await put(id, body)
  if (answer.status > 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

describe('presets', () => {
  it('are listed, with what each still owes', async () => {
    const { status, body } = await world.ask('GET', '/v1/presets')
    expect([status, body.items.length]).toEqual([200, 8])
    expect(body.items[0]).toEqual({
      preset: 'researcher',
      title: 'Researcher',
      builtins: ['Read', 'Glob', 'Grep', 'WebSearch', 'WebFetch'],
      tools: ['mcp__project__project_list', 'mcp__project__project_read', 'mcp__project__project_write'],
      grant: {
        connectors: ['firecrawl'],
        skills: [],
        allowance: { firecrawl: { perRunCredits: 25, perDayCredits: 100 } },
      },
      withDataSkills: [],
      limits: { runBudgetUsd: 0.5, maxTurns: 10, maxConcurrentRuns: 1, maxDelegationDepth: 0 },
      owes: [],
    })
    expect(body.items.filter(({ owes }: any) => owes.length > 0).map(({ preset }: any) => preset)).toEqual([
      'marketing-assistant',
    ])
  })

  it('are where a profile starts, and what is said replaces their own', async () => {
    const { status, body } = await put('res', { preset: 'researcher', name: 'Rita', limits: { maxTurns: 3 } })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      id: 'res',
      brand: 'default',
      name: 'Rita',
      role: 'specialist',
      grant: { connectors: ['firecrawl'] },
      limits: { runBudgetUsd: 0.5, maxTurns: 3, maxConcurrentRuns: 1, maxDelegationDepth: 0, maxAttempts: 1 },
    })
    expect(body.tools).toHaveLength(8)
    const plain = await put('plain', { preset: 'data-analyst' })
    expect(plain.body).toMatchObject({ name: 'Data analyst', role: 'coworker', lost: [] })
  })

  it('that owe an allowance are refused until a person says it', async () => {
    const refused = await put('market', { preset: 'marketing-assistant' })
    expect([refused.status, rulesOf(refused.body)]).toEqual([422, ['grant.allowance.dataforseo: allowance_missing']])
    const unknown = await put('x', { preset: 'reseacher' })
    expect([unknown.status, rulesOf(unknown.body)]).toEqual([422, ['preset: unknown_preset']])
  })
})

describe('a coworker', () => {
  it('is made, shown, changed by version, and removed', async () => {
    const made = await put('bob', { name: 'Bob', tools: ['Read', 'mcp__project__project_delete'] })
    expect([made.status, made.body.role, made.body.ceiling]).toEqual([201, 'coworker', ['Read']])
    expect(made.body.tools).toEqual(['Read', 'mcp__project__project_delete'])
    expect(made.body.lost.map(({ tool }: any) => tool)).toEqual(['mcp__project__project_delete'])
    expect((await world.ask('GET', '/v1/coworkers/bob')).body).toEqual(made.body)

    const again = await put('bob', { name: 'Bob', tools: ['Read'] })
    expect([again.status, again.body.code, again.body.current]).toEqual([409, 'version_conflict', made.body])
    const changed = await put('bob', { name: 'Bobby', tools: ['Read'], version: made.body.version })
    expect([changed.status, changed.body.name, changed.body.createdAt]).toEqual([200, 'Bobby', made.body.createdAt])
    expect(changed.body.version).toBeGreaterThan(made.body.version)
    const late = await put('bob', { name: 'Bert', tools: ['Read'], version: made.body.version })
    expect([late.status, late.body.current.name]).toEqual([409, 'Bobby'])

    expect((await world.ask('DELETE', `/v1/coworkers/bob?version=${made.body.version}`)).status).toBe(409)
    expect((await world.ask('DELETE', `/v1/coworkers/bob?version=${changed.body.version}`)).status).toBe(200)
    expect((await world.ask('DELETE', '/v1/coworkers/bob')).status).toBe(404)
    expect((await world.ask('GET', '/v1/coworkers/bob')).status).toBe(404)
    const gone = await put('bob', { name: 'Bob', tools: ['Read'], version: changed.body.version })
    expect([gone.status, gone.body.current]).toEqual([409, undefined])
    const fresh = await saved('bob', { name: 'Bob', tools: ['Read'] })
    expect(fresh.version).toBeGreaterThan(changed.body.version)
  })

  it('is on the record with every change, and with who made it', async () => {
    const { version } = await saved('audited', { name: 'A', tools: ['Read'] })
    await saved('audited', { name: 'A', grant: { connectors: ['files'] }, tools: ['Read'], version })
    await put('audited', { name: 'A', tools: ['Read'], version })
    await world.ask('DELETE', '/v1/coworkers/audited')
    const { body } = await world.ask('GET', '/v1/audit?kind=grant.changed&limit=3')
    const rows = body.items.map(({ subject, by, role, reason }: any) => [subject, by, role, reason.split(':')[0]])
    expect(rows).toEqual([
      ['audited', 'operator', 'specialist', 'removed'],
      ['audited', 'operator', 'specialist', 'changed'],
      ['audited', 'operator', 'coworker', 'created'],
    ])
    expect(body.items[1].reason).toMatch(/version \d+; 1 tools; connectors files; skills none; allowance \{\}/)
  })

  it('that breaks rules is refused with each of them, and not saved', async () => {
    const { status, body } = await put('bad', {
      name: 'Bad',
      tools: ['mcp__shopify__shopify_admin_graphql', 'files/write_file', 'mcp__seo__seo_hand_off_brief'],
      grant: { connectors: ['files', 'cloudflare', 'dataforseo'], skills: ['seo-method', 'x'] },
      limits: { runBudgetUsd: 0 },
    })
    expect([status, rulesOf(body)]).toEqual([
      422,
      [
        'grant.connectors[1]: not_grantable',
        'grant.allowance.dataforseo: allowance_missing',
        'grant.skills[1]: unknown_skill',
        'tools[0]: outside_read_table',
        'tools[1]: outside_read_table',
        'tools[2]: delegation_depth',
        'limits.runBudgetUsd: limit',
      ],
    ])
    expect((await world.ask('GET', '/v1/coworkers/bad')).status).toBe(404)
    expect(rulesOf((await put('bad', {})).body)).toEqual(['name: missing', 'tools: missing'])
    expect(rulesOf((await put('goal-agent', { name: 'G', tools: [] })).body)).toEqual(['id: coworker_id'])
    expect(rulesOf((await put('bad', { name: 'B', tools: [], toolz: [] })).body)).toEqual(['toolz: unknown_field'])
  })

  it('belongs to one brand, and lists go page by page', async () => {
    await saved('one', { brand: 'lists', name: '1', tools: ['Read'] })
    await saved('two', { brand: 'lists', name: '2', tools: ['Read'] })
    await saved('one', { brand: 'other', name: '3', tools: ['Read'] })
    const first = await world.ask('GET', '/v1/coworkers?brand=lists&limit=1')
    expect([names(first.body.items), first.body.nextCursor]).toEqual([['1'], 'lists/one'])
    const second = await world.ask('GET', `/v1/coworkers?brand=lists&limit=1&cursor=${first.body.nextCursor}`)
    expect([names(second.body.items), second.body.nextCursor]).toEqual([['2'], null])
    expect((await world.ask('GET', '/v1/coworkers/one?brand=other')).body.name).toBe('3')
    expect((await world.ask('GET', '/v1/coworkers/one')).status).toBe(404)
  })

  it('made by twenty at once is made once, and changed by twenty at once is changed once', async () => {
    const body = { name: 'Race', tools: ['Read'] }
    const made = await Promise.all(Array.from({ length: 20 }, () => put('race', body)))
    expect(made.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
    const { version } = made.find(({ status }) => status === 201)!.body
    const changed = await Promise.all(Array.from({ length: 20 }, () => put('race', { ...body, version })))
    expect(changed.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)])
  })

  it.each([
    ['GET', '/v1/coworkers'],
    ['GET', '/v1/coworkers/res'],
    ['PUT', '/v1/coworkers/res'],
    ['DELETE', '/v1/coworkers/res'],
    ['GET', '/v1/goals/agent'],
    ['PUT', '/v1/goals/agent'],
    ['GET', '/v1/presets'],
  ])('%s %s takes the admin key only: no session token opens it', async (method, path) => {
    const { token } = await world.issue({ role: 'person-chat' })
    for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
      expect((await world.request(path, { method, headers })).status).toBe(401)
    }
  })
})

describe('a session of a coworker', () => {
  it('is what the profile says: role, tools, grant and limits', async () => {
    await saved('spec', {
      name: 'Spec',
      tools: ['Read', 'Agent', 'mcp__project__project_delete'],
      grant: { connectors: ['files', 'figma'], skills: ['humanizer'] },
      limits: { runBudgetUsd: 0.2, maxTurns: 4, maxAttempts: 2, maxConcurrentRuns: 5 },
    })
    const issued = await world.issue({ coworker: 'spec', ttlSeconds: 60 })
    expect(issued).toMatchObject({
      role: 'specialist',
      coworker: 'spec',
      builtins: ['Read'],
      limits: { runUsd: 0.2, turns: 4, delegationDepth: 0, attempts: 2, concurrentRuns: 5 },
    })
    expect(names(issued.tools)).toEqual(['mcp__files__read_file'])
    expect(issued.withheld.map(({ tool }: any) => tool)).toEqual(
      expect.arrayContaining(['Agent', 'mcp__project__project_delete']),
    )
    const { body } = await world.ask('GET', `/v1/sessions/${issued.id}`)
    expect(body).toMatchObject({
      subject: 'spec',
      coworker: 'spec',
      attempt: 1,
      grant: { connectors: ['files'], skills: ['humanizer'] },
      ceiling: ['Read', 'mcp__files__*', 'mcp__skills__load_skill', 'mcp__skills__read_skill_file'],
    })
    expect((await world.ask('GET', '/v1/coworkers/spec')).body.tools).toHaveLength(3)
  })

  it('on the read-only route keeps only what that keeps', async () => {
    const issued = await world.issue({ coworker: 'spec', route: 'read-only' })
    expect([issued.tools, issued.builtins]).toEqual([[], ['Read']])
  })

  it('is refused when nothing of the profile is left, and for a coworker that is not there', async () => {
    await saved('empty', { name: 'E', tools: ['mcp__project__project_delete', 'mcp__team__team_assign'] })
    const empty = await world.ask('POST', '/v1/sessions', { coworker: 'empty' })
    expect([empty.status, rulesOf(empty.body)]).toEqual([422, ['coworker: nothing_to_hold']])
    const nobody = await world.ask('POST', '/v1/sessions', { coworker: 'spec', brand: 'acme' })
    expect([nobody.status, rulesOf(nobody.body)]).toEqual([422, ['coworker: unknown_coworker']])
  })

  it('cannot be asked to be more than the profile says', async () => {
    const asked = { coworker: 'spec', role: 'person-chat', tools: ['Bash'], grant: { connectors: [] }, limits: {} }
    const { status, body } = await world.ask('POST', '/v1/sessions', asked)
    expect([status, rulesOf(body)]).toEqual([
      422,
      ['role: coworker_decides', 'tools: coworker_decides', 'grant: coworker_decides', 'limits: coworker_decides'],
    ])
  })

  it('is one of at most maxConcurrentRuns', async () => {
    await saved('solo', { name: 'Solo', tools: ['Read'] })
    const first = await world.issue({ coworker: 'solo' })
    const second = await world.ask('POST', '/v1/sessions', { coworker: 'solo' })
    expect([second.status, second.body.code]).toEqual([409, 'session_limit'])
    await world.ask('POST', `/v1/sessions/${first.id}/end`, { usd: '0.01' })
    await world.issue({ coworker: 'solo' })
  })

  it('that retries another holds no tool that one did not', async () => {
    const made = await saved('retry', { name: 'R', tools: ['Read'], limits: { maxAttempts: 2 } })
    const first = await world.issue({ coworker: 'retry' })
    await world.ask('POST', `/v1/sessions/${first.id}/end`, {})
    await saved('retry', { name: 'R', tools: ['Read', 'Bash'], limits: { maxAttempts: 2 }, version: made.version })
    const second = await world.issue({ coworker: 'retry', retryOf: first.id })
    expect(second.builtins).toEqual(['Read'])
    await world.ask('POST', `/v1/sessions/${second.id}/end`, {})
    const third = await world.ask('POST', '/v1/sessions', { coworker: 'retry', retryOf: second.id })
    expect([third.status, rulesOf(third.body)]).toEqual([422, ['retryOf: attempts']])
  })
})

describe('the goal agent', () => {
  it('has no grant until a person saves one; each change names its version', async () => {
    const none = await world.ask('GET', '/v1/goals/agent')
    expect(none.body).toEqual({ brand: 'default', grant: { connectors: [], skills: [], allowance: {} }, version: null })
    expect(names((await world.issue({ role: 'goal-agent' })).tools)).toEqual([])
    const first = await world.ask('PUT', '/v1/goals/agent', { grant: { connectors: ['files'] } })
    expect([first.status, first.body.grant.connectors]).toEqual([200, ['files']])
    expect((await world.ask('PUT', '/v1/goals/agent', { grant: {} })).status).toBe(409)
    const { version } = first.body
    const second = await world.ask('PUT', '/v1/goals/agent', { grant: { connectors: ['search', 'figma'] }, version })
    expect(second.status).toBe(200)
    expect((await world.ask('PUT', '/v1/goals/agent', { grant: {}, version })).body.current).toEqual(second.body)
    expect((await world.ask('GET', '/v1/goals/agent')).body).toEqual(second.body)
    expect((await world.ask('GET', '/v1/audit?kind=grant.changed&limit=1')).body.items[0]).toMatchObject({
      subject: 'goal-agent',
      by: 'operator',
      reason: 'goal agent: connectors search, figma; skills none; allowance {}',
    })
  })

  it('starts with what was granted, and with another grant only where the request says so', async () => {
    const end = ({ id }: { id: string }) => world.ask('POST', `/v1/sessions/${id}/end`, {})
    for (const session of (await world.ask('GET', '/v1/sessions')).body.items) await end(session)
    const issued = await world.issue({ role: 'goal-agent' })
    expect([names(issued.tools), issued.builtins]).toEqual([
      ['mcp__search__find'],
      ['Read', 'Glob', 'Grep', 'WebSearch', 'WebFetch'],
    ])
    await end(issued)
    const narrow = await world.issue({ role: 'goal-agent', tools: ['Read'] })
    expect([names(narrow.tools), narrow.builtins]).toEqual([[], ['Read']])
    await end(narrow)
    const none = await world.issue({ role: 'goal-agent', grant: { connectors: [] } })
    expect(none.tools).toEqual([])
    await end(none)
    const other = await world.issue({ role: 'goal-agent', brand: 'acme' })
    expect(other.tools).toEqual([])
  })

  it('is granted by the same rules', async () => {
    const refused = await world.ask('PUT', '/v1/goals/agent', {
      brand: 'acme',
      grant: { connectors: ['firecrawl', 'files'], skills: ['humanizer'] },
    })
    expect([refused.status, rulesOf(refused.body)]).toEqual([
      422,
      [
        'grant.connectors[1]: unknown_connector',
        'grant.allowance.firecrawl: allowance_missing',
        'grant.skills[0]: no_skills',
      ],
    ])
  })
})

describe('a session by an agent definition', () => {
  it('holds what its toolNames say and nothing a grant would add', async () => {
    const definition = { toolNames: ['Read', 'files/read_file', 'Nope'], mcpServers: { files: {} }, prompt: 'ignored' }
    const issued = await world.issue({ role: 'person-chat', definition })
    expect([names(issued.tools), issued.builtins]).toEqual([['mcp__files__read_file'], ['Read']])
    expect(issued.withheld.map(({ tool }: any) => tool)).toEqual(['Nope'])
    const nothing = await world.issue({ role: 'specialist', definition: {}, grant: { connectors: ['files'] } })
    expect([nothing.tools, nothing.builtins]).toEqual([[], []])
    const both = await world.ask('POST', '/v1/sessions', { role: 'person-chat', tools: [], definition: {} })
    expect(rulesOf(both.body)).toEqual(['tools: tools_or_definition'])
  })
})
