/** Issuing sessions and looking into them, through the front door. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, RESOURCE, type World } from './api-world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())

const rules = async (request: Record<string, unknown>) => {
  const { status, body } = await world.ask('POST', '/v1/sessions', request)
  return { status, rules: body.errors?.map(({ path, rule }: { path: string; rule: string }) => `${path}: ${rule}`) }
}

describe('issuing', () => {
  it('gives a token that is good at the MCP door, and everything a person needs next', async () => {
    const issued = await world.issue({ role: 'person-chat', subject: 'ada' })
    expect(Object.keys(issued).sort()).toEqual([
      'brand',
      'builtins',
      'configs',
      'expiresAt',
      'id',
      'inbox',
      'limits',
      'role',
      'token',
      'tools',
      'url',
      'viewHash',
      'withheld',
    ])
    expect(issued).toMatchObject({
      brand: 'default',
      role: 'person-chat',
      url: RESOURCE,
      inbox: 'http://127.0.0.1:8787/inbox',
      limits: {},
      builtins: ['Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep', 'WebSearch', 'WebFetch'],
      tools: [
        { name: 'mcp__files__delete_file', listedAs: 'files__delete_file', access: 'read', asks: true },
        { name: 'mcp__files__read_file', listedAs: 'files__read_file', access: 'read', asks: false },
        { name: 'mcp__files__write_file', listedAs: 'files__write_file', access: 'write', asks: true },
        { name: 'mcp__search__find', listedAs: 'search__find', access: 'read', asks: false },
      ],
      withheld: [{ tool: 'mcp__slow__*', code: 'upstream_unavailable', reason: 'slow did not answer yet.' }],
    })
    const session = await world.tokens.verify(`Bearer ${issued.token}`)
    expect(session).toMatchObject({ id: issued.id, brand: 'default', subject: 'ada', channel: 'inbox' })
    expect(session.expiresAt - session.issuedAt).toBe(3_600_000)
  })

  it('gives client configuration that never holds the token', async () => {
    const { configs, token } = await world.issue({ role: 'person-chat' })
    expect(JSON.stringify(configs)).not.toContain(token)
    expect(configs.claudeCode.command).toBe(
      `claude mcp add --transport http gateway ${RESOURCE} --header 'Authorization: Bearer \${GATEWAY_TOKEN}'`,
    )
    expect(configs.mcpJson).toEqual({
      mcpServers: { gateway: { type: 'http', url: RESOURCE, headers: { Authorization: `Bearer \${GATEWAY_TOKEN}` } } },
    })
    expect(configs.codex).toContain('bearer_token_env_var = "GATEWAY_TOKEN"')
    expect(configs.hermes).toContain(`url: "${RESOURCE}"`)
  })

  it('is written down in the same transaction as the session', async () => {
    const issued = await world.issue({ role: 'person-chat' })
    const { body } = await world.ask('GET', `/v1/audit?sessionId=${issued.id}&kind=session.issued`)
    expect(body.items).toHaveLength(1)
    expect(JSON.stringify(body.items)).not.toContain(issued.token)
  })

  it('takes names in every accepted spelling and keeps them canonical', async () => {
    const issued = await world.issue({
      role: 'person-chat',
      tools: ['files__read_file', 'search/find', 'mcp__files__write_file', 'Read'],
    })
    expect(issued.tools.map(({ name }: { name: string }) => name)).toEqual([
      'mcp__files__read_file',
      'mcp__files__write_file',
      'mcp__search__find',
    ])
    expect(issued.builtins).toEqual(['Read'])
  })

  it('with nobody to ask says which tools refuse', async () => {
    const issued = await world.issue({ role: 'person-chat', tools: ['files/*'], approval: { channel: 'none' } })
    expect(issued.tools).toEqual([
      {
        name: 'mcp__files__delete_file',
        listedAs: 'files__delete_file',
        access: 'read',
        asks: true,
        refuses: 'approval_required',
      },
      { name: 'mcp__files__read_file', listedAs: 'files__read_file', access: 'read', asks: false },
      {
        name: 'mcp__files__write_file',
        listedAs: 'files__write_file',
        access: 'write',
        asks: true,
        refuses: 'approval_required',
      },
    ])
  })

  it('adds a granted connector of which no tool is named, and gives only its read table', async () => {
    const issued = await world.issue({ role: 'specialist', tools: ['Read'], grant: { connectors: ['files'] } })
    expect(issued.tools.map(({ name }: { name: string }) => name)).toEqual(['mcp__files__read_file'])
    expect(issued.withheld).toEqual([
      {
        tool: 'mcp__files__delete_file',
        code: 'unknown_tool',
        reason: 'mcp__files__delete_file is not in the read table, so no grant can give it.',
      },
      {
        tool: 'mcp__files__write_file',
        code: 'unknown_tool',
        reason: 'mcp__files__write_file is not in the read table, so no grant can give it.',
      },
    ])
    expect(issued.limits).toEqual({ runUsd: 0.5, turns: 10, delegationDepth: 0, attempts: 1, concurrentRuns: 1 })
  })

  it('leaves other tools of a granted connector out when some are named', async () => {
    const issued = await world.issue({
      role: 'goal-agent',
      tools: ['files/read_file'],
      grant: { connectors: ['files', 'search'] },
    })
    expect(issued.tools.map(({ name }: { name: string }) => name)).toEqual([
      'mcp__files__read_file',
      'mcp__search__find',
    ])
  })

  it('gives another brand its own connectors only', async () => {
    const issued = await world.issue({ role: 'person-chat', brand: 'acme' })
    expect(issued.tools.map(({ name }: { name: string }) => name)).toEqual(['mcp__search__find'])
    expect(issued.withheld).toEqual([])
  })

  it('on the read-only route keeps built-ins that read, and no connector', async () => {
    const issued = await world.issue({ role: 'person-chat', route: 'read-only' })
    expect([issued.tools, issued.builtins]).toEqual([[], ['Read', 'Glob', 'Grep', 'WebSearch', 'WebFetch']])
  })

  it('starts a goal reviewer with no tool at all, since it must have none', async () => {
    const issued = await world.issue({ role: 'goal-reviewer' })
    expect([issued.tools, issued.builtins, issued.withheld]).toEqual([[], [], []])
    const session = await world.session(issued.id)
    expect(session.ceiling).toEqual([])
  })

  it('says why asked tools are not there', async () => {
    const issued = await world.issue({
      role: 'person-chat',
      tools: ['files/read_fil', 'files/read_file', 'slow/go', 'memory/memory_read'],
    })
    expect(issued.withheld).toEqual([
      {
        tool: 'mcp__files__read_fil',
        code: 'unknown_tool',
        reason: 'files offers no tool read_fil. Did you mean mcp__files__read_file?',
      },
      {
        tool: 'mcp__memory__memory_read',
        code: 'unknown_tool',
        reason: 'There is no connector memory for the brand default.',
      },
      { tool: 'mcp__slow__*', code: 'upstream_unavailable', reason: 'slow did not answer yet.' },
      { tool: 'mcp__slow__go', code: 'upstream_unavailable', reason: 'slow is not ready: It did not answer yet.' },
    ])
  })
})

describe('a request that breaks rules', () => {
  it('is told every one of them', async () => {
    const { status, body } = await world.ask('POST', '/v1/sessions', {
      role: 'goal-agnt',
      route: 'read_only',
      brand: '../x',
      tools: ['mcp__files', 'Fılesystem', 'nowhere/tool'],
      grant: { connectors: ['serach'] },
    })
    expect(status).toBe(422)
    expect(body.errors).toEqual([
      {
        path: 'brand',
        rule: 'brand_name',
        detail: 'A brand is 1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit.',
      },
      {
        path: 'route',
        rule: 'unknown_route',
        detail: 'There is no route "read_only"; the routes are standard, read-only. Did you mean read-only?',
      },
      {
        path: 'role',
        rule: 'unknown_role',
        detail:
          'There is no role "goal-agnt"; the roles are coworker, goal-agent, goal-reviewer, inbound-email, person-chat, routine, specialist. Did you mean goal-agent?',
      },
      {
        path: 'tools[0]',
        rule: 'tool_name',
        detail:
          '"mcp__files" is no tool name; write mcp__connector__tool, mcp__connector__* or a built-in such as Read.',
      },
      {
        path: 'tools[1]',
        rule: 'tool_name',
        detail:
          '"Fılesystem" is no tool name; write mcp__connector__tool, mcp__connector__* or a built-in such as Read.',
      },
      {
        path: 'tools[2]',
        rule: 'unknown_connector',
        detail: 'There is no connector nowhere for the brand ../x; it has none.',
      },
      {
        path: 'grant.connectors[0]',
        rule: 'unknown_connector',
        detail: 'There is no connector serach for the brand ../x; it has none.',
      },
    ])
  })

  it.each([
    [
      'a channel where there is nobody',
      { role: 'coworker', tools: ['Read'], approval: { channel: 'inbox' } },
      ['approval.channel: nobody_to_ask'],
    ],
    [
      'a grant in a role that takes none',
      { role: 'coworker', tools: ['Read'], grant: { connectors: ['files'] } },
      ['grant: no_grants'],
    ],
    ['a grant for person chat', { role: 'person-chat', grant: { connectors: ['files'] } }, ['grant: no_grants']],
    [
      'a connector of another brand',
      { role: 'goal-agent', brand: 'acme', grant: { connectors: ['files'] } },
      ['grant.connectors[0]: unknown_connector'],
    ],
    [
      'a skill that is not bundled',
      { role: 'specialist', tools: ['Read'], grant: { connectors: [], skills: ['x'] } },
      ['grant.skills[0]: unknown_skill'],
    ],
    [
      'an allowance for what is not granted, and one upside down',
      {
        role: 'specialist',
        tools: ['Read'],
        grant: { connectors: ['files'], allowance: { search: {}, files: { perRunUsd: 2, perDayUsd: 1 } } },
      },
      ['grant.allowance.search: allowance_without_grant', 'grant.allowance.files: allowance_order'],
    ],
    [
      'limits above the role',
      { role: 'goal-reviewer', limits: { turns: 3, runUsd: 0.1, delegationDepth: 1 } },
      ['limits.turns: limit_above_role', 'limits.delegationDepth: limit_above_role'],
    ],
    ['no tools where they must be asked for', { role: 'coworker' }, ['tools: tools_missing']],
    [
      'only tools that the role can never hold',
      { role: 'coworker', tools: ['project/project_delete', 'files/read_file'] },
      ['tools: nothing_to_hold'],
    ],
    [
      'only tools that the route takes away',
      { role: 'person-chat', route: 'read-only', tools: ['files/read_file', 'Bash'] },
      ['tools: nothing_to_hold'],
    ],
    [
      'only a write, in a role of reads',
      { role: 'specialist', tools: ['files/write_file'], grant: { connectors: ['files'] } },
      ['tools: nothing_to_hold'],
    ],
    ['any tool for the goal reviewer', { role: 'goal-reviewer', tools: ['Read'] }, ['tools: nothing_to_hold']],
    [
      'any grant for the goal reviewer',
      { role: 'goal-reviewer', grant: { connectors: ['files'] } },
      ['grant: no_grants'],
    ],
    ['a life that is too short', { role: 'person-chat', ttlSeconds: 59 }, ['ttlSeconds: too_small']],
    ['a life that is too long', { role: 'person-chat', ttlSeconds: 604_801 }, ['ttlSeconds: too_big']],
    ['no role', {}, ['role: missing']],
    [
      'a limit that does not exist',
      { role: 'person-chat', limits: { maxTurns: 3 } },
      ['limits.maxTurns: unknown_field'],
    ],
  ])('%s', async (_what, request, expected) => {
    expect(await rules(request)).toEqual({ status: 422, rules: expected })
  })

  it('leaves no session behind', async () => {
    const before = (await world.ask('GET', '/v1/sessions?limit=200')).body.items.length
    await rules({ role: 'coworker' })
    expect((await world.ask('GET', '/v1/sessions?limit=200')).body.items).toHaveLength(before)
  })

  it('is refused where one token could not hold it', async () => {
    const tools = Array.from({ length: 1000 }, (_, i) => `files/a_tool_with_quite_a_long_name_${i}`)
    const { status, body } = await world.ask('POST', '/v1/sessions', { role: 'person-chat', tools })
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining('mcp__connector__*')])
  })
})

describe('looking into sessions', () => {
  it('shows the same view as at issuing, and no token', async () => {
    const { token, viewHash, tools, builtins, withheld, id } = await world.issue({ role: 'person-chat' })
    const { status, body } = await world.ask('GET', `/v1/sessions/${id}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id,
      status: 'live',
      viewHash,
      tools,
      builtins,
      withheld,
      approval: { channel: 'inbox' },
    })
    expect(JSON.stringify(body)).not.toContain(token)
  })

  it('lists newest first, page by page, by brand', async () => {
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.push((await world.issue({ role: 'person-chat', brand: 'pages' })).id)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const { body } = await world.ask('GET', `/v1/sessions?brand=pages&limit=2${after}`)
      seen.push(...body.items.map(({ id }: { id: string }) => id))
      cursor = body.nextCursor
    } while (cursor !== null)
    expect(seen).toEqual(ids.reverse())
  })

  it('revokes once; the second time changes nothing', async () => {
    const { id } = await world.issue({ role: 'person-chat' })
    const first = await world.ask('DELETE', `/v1/sessions/${id}`)
    const second = await world.ask('DELETE', `/v1/sessions/${id}`)
    expect([first.status, first.body.status, second.body]).toEqual([200, 'revoked', first.body])
    const { body } = await world.ask('GET', `/v1/sessions/${id}`)
    expect([body.status, body.tools.length]).toEqual(['revoked', 4])
    const rows = await world.ask('GET', `/v1/audit?sessionId=${id}&kind=session.revoked`)
    expect(rows.body.items).toHaveLength(1)
  })

  it('ends once with a figure; another figure is a conflict', async () => {
    const { id } = await world.issue({ role: 'person-chat' })
    const ended = await world.ask('POST', `/v1/sessions/${id}/end`, { usd: '0.25' })
    expect([ended.status, ended.body.status, ended.body.reportedUsd]).toEqual([200, 'ended', '0.25'])
    expect((await world.ask('POST', `/v1/sessions/${id}/end`, { usd: 0.25 })).status).toBe(200)
    expect((await world.ask('POST', `/v1/sessions/${id}/end`)).status).toBe(200)
    const other = await world.ask('POST', `/v1/sessions/${id}/end`, { usd: '0.26' })
    expect([other.status, other.body.code, other.body.session.reportedUsd]).toEqual([409, 'already_ended', '0.25'])
  })

  it.each(['-1', 'abc', '1e9', '0.1234567890123', ''])('refuses %j as what a run cost', async (usd) => {
    const { id } = await world.issue({ role: 'person-chat' })
    const { status, body } = await world.ask('POST', `/v1/sessions/${id}/end`, { usd })
    expect([status, body.errors[0].path]).toEqual([422, 'usd'])
  })

  it.each([
    ['GET', '/v1/sessions/s_none'],
    ['DELETE', '/v1/sessions/s_none'],
    ['POST', '/v1/sessions/s_none/end'],
    ['GET', '/v1/sessions/%00'],
    ['DELETE', '/v1/sessions/%00'],
  ])('%s %s is 404', async (method, path) => {
    const { status, body } = await world.ask(method, path)
    expect([status, body.code]).toEqual([404, 'not_found'])
    expect(body.detail).toMatch(/^There is no session "(s_none|\?)"; GET \/v1\/sessions lists them\.$/)
  })
})
