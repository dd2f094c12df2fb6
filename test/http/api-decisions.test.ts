/** Explaining, deciding and following cards, and what the operator reads. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_KEY, createWorld, type World } from './api-world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())

describe('explain', () => {
  const explain = (body: unknown) => world.ask('POST', '/v1/explain', body)
  const ofRole = (role: string, tool: string, more: object = {}) =>
    explain({ claims: { role, brand: 'default', ceiling: [tool], ...more }, tool })

  it('says what a session of an id would meet', async () => {
    const { id } = await world.issue({ role: 'person-chat' })
    expect((await explain({ session: id, tool: 'files/write_file', arguments: { path: 'a' } })).body).toEqual({
      tool: 'mcp__files__write_file',
      access: 'write',
      effect: 'ask',
      reasons: [{ rule: 'write-asks', because: 'This tool may change something, so a person decides.' }],
      filter: 'gate',
      rule: 'write-asks',
      cost: { unit: null, amount: '0', because: 'A call of this tool spends nothing.' },
    })
    expect((await explain({ session: id, tool: 'files__read_file' })).body).toMatchObject({
      effect: 'allow',
      access: 'read',
    })
    expect((await explain({ session: id, tool: 'Read' })).body).toMatchObject({ tool: 'Read', effect: 'allow' })
  })

  it('leaves no card and no row', async () => {
    const { id } = await world.issue({ role: 'person-chat' })
    await explain({ session: id, tool: 'files/write_file' })
    expect((await world.ask('GET', `/v1/approvals?sessionId=${id}`)).body.items).toEqual([])
    expect((await world.ask('GET', `/v1/audit?sessionId=${id}`)).body.items).toHaveLength(1)
  })

  it.each([
    ['outside the role', 'coworker', 'files/read_file', {}, 'unknown_tool', 'role'],
    ['outside the grant', 'specialist', 'files/read_file', {}, 'unknown_tool', 'not-granted'],
    [
      'not in the read table',
      'specialist',
      'files/write_file',
      { grant: { connectors: ['files'] } },
      'unknown_tool',
      'not-grantable',
    ],
    ['outside the ceiling', 'person-chat', 'files/read_file', { ceiling: ['Read'] }, 'unknown_tool', 'ceiling'],
    ['off the route', 'person-chat', 'files/read_file', { route: 'read-only' }, 'unknown_tool', 'route'],
    [
      'with nobody to ask',
      'person-chat',
      'files/write_file',
      { approval: { channel: 'none' } },
      'approval_required',
      'write-asks',
    ],
    ['of a connector that is away', 'person-chat', 'slow/go', {}, 'upstream_unavailable', 'registry'],
    ['of a connector that is not there', 'person-chat', 'memory/memory_read', {}, 'unknown_tool', 'registry'],
    ['that is no name', 'person-chat', 'Files/*', {}, 'unknown_tool', 'name'],
    ['of the harness, outside the role', 'inbound-email', 'Bash', {}, 'unknown_tool', 'registry'],
  ])('a tool %s is refused with the reason', async (_what, role, tool, more, code, rule) => {
    const body = { claims: { role, brand: 'default', ceiling: tool.includes('*') ? [] : [tool], ...more }, tool }
    const explained = await explain(body)
    expect(explained.status).toBe(200)
    expect([explained.body.effect, explained.body.code, explained.body.reasons[0].rule]).toEqual(['deny', code, rule])
  })

  it('of a revoked session says that it is revoked', async () => {
    const { id } = await world.issue({ role: 'person-chat' })
    await world.ask('DELETE', `/v1/sessions/${id}`)
    await expect
      .poll(async () => (await explain({ session: id, tool: 'files/read_file' })).body.code, { timeout: 2_000 })
      .toBe('session_revoked')
  })

  it('refuses claims that make no session, with every rule', async () => {
    const { status, body } = await ofRole('nobody', 'files/read_file', { route: 'nowhere' })
    expect([status, body.errors[0].path]).toEqual([422, 'claims'])
    expect(body.detail).toContain('There is no role nobody')
    expect(body.detail).toContain('There is no route nowhere')
  })

  it('wants either a session or claims', async () => {
    expect((await explain({ tool: 'Read' })).body.errors).toEqual([
      { rule: 'session_or_claims', detail: 'Give either "session", an id, or "claims".' },
    ])
    expect((await explain({ session: 's_none', tool: 'Read' })).status).toBe(404)
  })
})

describe('cards', () => {
  it('are listed, shown, approved and denied, once', async () => {
    const { id: session } = await world.issue({ role: 'person-chat' })
    const first = await world.park(session, 'mcp__files__write_file', { path: 'a.txt', apiKey: 'hunter2-hunter2' })
    const second = await world.park(session, 'mcp__files__write_file', { path: 'b.txt' })
    const { body } = await world.ask('GET', `/v1/approvals?sessionId=${session}&status=pending`)
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id])
    expect(body.items[1].arguments).toEqual({ path: 'a.txt', apiKey: '[redacted]' })

    const approved = await world.ask('POST', `/v1/approvals/${first.id}/approve`, { scope: 'once', note: 'fine' })
    expect([approved.status, approved.body.status, approved.body.decidedBy, approved.body.note]).toEqual([
      200,
      'approved',
      'operator',
      'fine',
    ])
    const again = await world.ask('POST', `/v1/approvals/${first.id}/deny`)
    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({
      title: 'Conflict',
      code: 'already_decided',
      detail: `This call was approved by operator at ${approved.body.decidedAt}; a decision stands.`,
      card: { id: first.id, decidedBy: 'operator' },
    })

    const denied = await world.ask('POST', `/v1/approvals/${second.id}/deny`, { note: 'not today' })
    expect([denied.status, denied.body.status]).toEqual([200, 'denied'])
    expect((await world.ask('GET', `/v1/approvals/${second.id}`)).body).toEqual(denied.body)
  })

  it('take no scope that is not offered, and stay pending', async () => {
    const { id: session } = await world.issue({ role: 'person-chat' })
    const { id } = await world.park(session, 'mcp__files__write_file', { path: 'c' })
    for (const scope of ['always', 'forever', '']) {
      const { status, body } = await world.ask('POST', `/v1/approvals/${id}/approve`, { scope })
      expect([status, body.errors[0].path, body.errors[0].rule]).toEqual([422, 'scope', 'scope_not_offered'])
    }
    expect((await world.ask('GET', `/v1/approvals/${id}`)).body).toMatchObject({
      status: 'pending',
      scopes: ['once', 'session'],
    })
  })

  it('approved for a session or for always leave an approval that is listed and taken back', async () => {
    const { id: session } = await world.issue({ role: 'person-chat', brand: 'rival' })
    const { id } = await world.park(session, 'mcp__shop__sell', { what: 'tea', amount: 3 })
    const similar = { arguments: { amount: { max: 5 } }, count: 2, ttlSeconds: 600 }
    const yes = await world.ask('POST', `/v1/approvals/${id}/approve`, {
      scope: 'always',
      similar,
      note: 'tea is fine',
    })
    expect(yes.status).toBe(200)
    expect(yes.body).toMatchObject({ status: 'approved', scope: 'always', standingApproval: { card: id, left: 2 } })
    const listed = await world.ask('GET', '/v1/approvals/standing?brand=rival&tool=shop/sell&state=live')
    expect(listed.body).toEqual({ items: [yes.body.standingApproval], nextCursor: null })
    expect(listed.body.items[0]).toMatchObject({ scope: 'always', createdBy: 'operator', note: 'tea is fine' })
    const path = `/v1/approvals/standing/${yes.body.standingApproval.id}`
    expect((await world.ask('DELETE', path)).body).toMatchObject({ state: 'revoked', revokedBy: 'operator' })
    const again = await world.ask('DELETE', path)
    expect([again.status, again.body.code]).toEqual([409, 'already_revoked'])
    expect((await world.ask('GET', '/v1/approvals/standing?state=live&brand=rival')).body.items).toEqual([])
    expect((await world.ask('GET', '/v1/approvals/standing?cursor=abc')).status).toBe(422)
  })

  it.each([
    ['everything', { arguments: { path: '*' }, count: 1, ttlSeconds: 60 }],
    ['nothing', { arguments: {}, count: 1, ttlSeconds: 60 }],
    ['too many calls', { arguments: { path: 'g*' }, count: 101, ttlSeconds: 60 }],
    ['too long', { arguments: { path: 'g*' }, count: 1, ttlSeconds: 86_401 }],
    ['calls unlike the one on the card', { arguments: { path: 'x*' }, count: 1, ttlSeconds: 60 }],
  ])('refuse a pattern for %s, and stay pending', async (_what, similar) => {
    const { id: session } = await world.issue({ role: 'person-chat' })
    const { id } = await world.park(session, 'mcp__files__write_file', { path: 'g.txt' })
    const { status, body } = await world.ask('POST', `/v1/approvals/${id}/approve`, { scope: 'session', similar })
    expect([status, body.errors[0].path, body.errors[0].rule]).toEqual([422, 'similar', 'bad_pattern'])
    expect((await world.cards.get(id))?.status).toBe('pending')
  })

  it('are decided only as they were seen', async () => {
    const { id: session } = await world.issue({ role: 'person-chat' })
    const { id } = await world.park(session, 'mcp__files__write_file', { path: 'h' })
    const { body: card } = await world.ask('GET', `/v1/approvals/${id}`)
    for (const verb of ['approve', 'deny']) {
      const { status, body } = await world.ask('POST', `/v1/approvals/${id}/${verb}`, { shown: 'f'.repeat(64) })
      expect([status, body.code, body.card.status]).toEqual([409, 'card_changed', 'pending'])
    }
    expect((await world.ask('POST', `/v1/approvals/${id}/approve`, { shown: card.shown })).status).toBe(200)
  })

  it('of unknown outcome are settled, once, and nothing runs', async () => {
    const { id: session } = await world.issue({ role: 'person-chat' })
    const { id } = await world.park(session, 'mcp__files__write_file', { path: 'i' })
    const settle = (outcome: string) =>
      world.ask('POST', `/v1/approvals/${id}/settle`, { outcome, note: 'looked at the bank' })
    expect((await settle('happened')).body).toMatchObject({ status: 409, code: 'not_unknown' })
    await world.ask('POST', `/v1/approvals/${id}/approve`)
    await world.cards.claim(id, 'attempt')
    await world.cards.finish(id, { status: 'unknown', code: 'outcome_unknown' })
    expect((await settle('perhaps')).body.errors[0].path).toBe('outcome')
    const settled = await settle('did_not')
    expect([settled.status, settled.body.status, settled.body.settled, settled.body.settledBy]).toEqual([
      200,
      'failed',
      'did_not',
      'operator',
    ])
    const again = await settle('happened')
    expect([again.status, again.body.detail]).toEqual([409, expect.stringMatching(/was settled by operator at /)])
  })

  it('are listed by status, role, tool and age', async () => {
    const { id: session } = await world.issue({ role: 'person-chat' })
    const [one, two, three] = [
      await world.park(session, 'mcp__files__write_file', { path: 'j' }),
      await world.park(session, 'mcp__files__delete_file', { path: 'k' }),
      await world.park(session, 'mcp__files__write_file', { path: 'l' }),
    ]
    await world.ask('POST', `/v1/approvals/${one.id}/deny`)
    const ids = async (query: string) =>
      (await world.ask('GET', `/v1/approvals?sessionId=${session}${query}`)).body.items.map(
        ({ id }: { id: string }) => id,
      )
    expect(await ids('&order=oldest')).toEqual([one.id, two.id, three.id])
    expect(await ids('&status=pending&status=denied')).toEqual([three.id, two.id, one.id])
    expect(await ids('&status=denied')).toEqual([one.id])
    expect(await ids('&tool=files/delete_file')).toEqual([two.id])
    expect(await ids('&role=person-chat&tool=mcp__files__write_file&status=pending')).toEqual([three.id])
    expect(await ids('&role=coworker')).toEqual([])
    const { status, body } = await world.ask('GET', '/v1/approvals?status=pending&status=maybe')
    expect([status, body.errors[0].path]).toEqual([422, expect.stringContaining('status')])
  })

  it('that expired say so', async () => {
    const other = await createWorld({}, 1_000)
    try {
      const { id: session } = await other.issue({ role: 'person-chat' })
      const { id } = await other.park(session, 'mcp__files__write_file', { path: 'd' })
      await new Promise((resolve) => setTimeout(resolve, 1_100))
      const { status, body } = await other.ask('POST', `/v1/approvals/${id}/approve`)
      expect([status, body.code, body.card.status]).toEqual([409, 'approval_expired', 'expired'])
    } finally {
      await other.close()
    }
  })

  it.each([randomUUID(), 'no-id', '%00'])('%s is 404', async (id) => {
    for (const [method, more] of [
      ['GET', ''],
      ['POST', '/approve'],
      ['POST', '/deny'],
    ] as const) {
      expect((await world.ask(method, `/v1/approvals/${id}${more}`)).status).toBe(404)
    }
  })

  it('audit refuses a cursor of its own making, too', async () => {
    const { status, body } = await world.ask('GET', '/v1/audit?cursor=abc')
    expect([status, body.errors[0].path]).toEqual([422, 'cursor'])
  })

  it('list refuses a cursor of its own making', async () => {
    const { status, body } = await world.ask('GET', '/v1/approvals?cursor=abc')
    expect([status, body.errors[0].path]).toEqual([422, 'cursor'])
  })

  it('are told of as they move, with the card as data', async () => {
    const { id: session } = await world.issue({ role: 'person-chat' })
    const leave = new AbortController()
    const response = await world.request('/v1/approvals/events?brand=default', {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
      signal: leave.signal,
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const until = async (part: string) => {
      while (!text.includes(part)) text += (await reader.read()).value
    }
    await until(': listening')
    const { id } = await world.park(session, 'mcp__files__write_file', { path: 'e' })
    await until('event: created')
    await world.ask('POST', `/v1/approvals/${id}/approve`)
    await until('event: decided')
    await world.gate.runApproved((await world.cards.get(id))!, await world.session(session))
    await until('event: finished')
    const events = [...text.matchAll(/event: (\w+)\ndata: (.*)\nid: (.*)\n/g)].map(([, event, data, at]) => [
      event,
      JSON.parse(data!).id,
      at,
    ])
    expect(events).toEqual([
      ['created', id, `${id} pending`],
      ['decided', id, `${id} approved`],
      ['finished', id, `${id} done`],
    ])
    await reader.cancel()
  })
})

describe('what the operator reads', () => {
  it('connectors with their tools, access and what is withheld', async () => {
    const { body } = await world.ask('GET', '/v1/connectors')
    expect(body.items.map(({ slug, state }: { slug: string; state: string }) => [slug, state])).toEqual([
      ['files', 'ready'],
      ['search', 'ready'],
      ['slow', 'connecting'],
    ])
    expect(body.items[0].tools).toContainEqual({
      name: 'mcp__files__write_file',
      listedAs: 'files__write_file',
      access: 'write',
      ask: false,
      grantable: false,
    })
    expect(body.items[2].withheld).toEqual([
      { tool: 'mcp__slow__*', code: 'upstream_unavailable', reason: 'slow did not answer yet.' },
    ])
    expect((await world.ask('GET', '/v1/connectors?brand=acme')).body.items).toHaveLength(1)
  })

  it('roles and routes', async () => {
    const { body } = await world.ask('GET', '/v1/roles')
    expect(body.items.map(({ name }: { name: string }) => name)).toHaveLength(7)
    expect(body.routes.map(({ name }: { name: string }) => name)).toEqual(['standard', 'read-only'])
    expect(body.builtins).toHaveLength(8)
  })

  it('the audit, which holds', async () => {
    const { body } = await world.ask('GET', '/v1/audit/verify')
    expect(body).toMatchObject({ ok: true, problems: [] })
    expect(body.rows).toBeGreaterThan(0)
  })

  it('the audit page by page', async () => {
    const first = (await world.ask('GET', '/v1/audit?limit=2')).body
    expect(first.items).toHaveLength(2)
    const second = (await world.ask('GET', `/v1/audit?limit=2&cursor=${encodeURIComponent(first.nextCursor)}`)).body
    const keys = [...first.items, ...second.items].map(
      ({ writer, seq }: { writer: string; seq: number }) => `${writer} ${seq}`,
    )
    expect(new Set(keys).size).toBe(4)
  })
})

describe('rotating keys', () => {
  it('keeps earlier tokens good, and with retireOthers refuses them', async () => {
    const other = await createWorld()
    try {
      const { token } = await other.issue({ role: 'person-chat' })
      const first = await other.ask('POST', '/v1/keys/rotate')
      expect([first.status, first.body.retireOthers]).toEqual([200, false])
      await expect(Promise.resolve(other.tokens.verify(`Bearer ${token}`))).resolves.toBeDefined()
      const second = await other.ask('POST', '/v1/keys/rotate', { retireOthers: true })
      expect(second.body.kid).not.toBe(first.body.kid)
      await expect((async () => other.tokens.verify(`Bearer ${token}`))()).rejects.toThrow('retired')
      const rows = await other.ask('GET', '/v1/audit?kind=keys.rotated')
      expect(rows.body.items).toHaveLength(2)
    } finally {
      await other.close()
    }
  })
})
