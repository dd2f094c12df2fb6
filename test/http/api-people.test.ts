/** Who may decide: the operator and approvers of the brand, over POST with a key in the header; nobody and nothing else. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_KEY, createWorld, type World } from './api-world.ts'

let world: World
let ann: { id: string; token: string }
let other: { id: string; token: string }
let session: { id: string; token: string }
let child: { token: string }

beforeAll(async () => {
  world = await createWorld()
  ann = await approver('default', 'Ann')
  other = await approver('rival', 'Zed')
  session = await world.issue({ role: 'person-chat', limits: { delegationDepth: 1 } })
  child = (await world.ask('POST', `/v1/sessions/${session.id}/delegate`, {})).body
})
afterAll(() => world.close())

async function approver(brand: string, name: string, more: object = {}) {
  const { status, body } = await world.ask('POST', '/v1/approvers', { brand, name, ...more })
  expect(status).toBe(201)
  return body
}
let files = 0
const park = () => world.park(session.id, 'mcp__files__write_file', { path: `${files++}.txt` })

/** One request with a key; what came back, whole. */
async function as(token: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await world.request(path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: [...response.headers],
    text,
    body: text === '' ? undefined : JSON.parse(text),
  }
}
const audit = async (query: string) => (await world.ask('GET', `/v1/audit?${query}`)).body.items

describe('approvers', () => {
  it('are made, listed and revoked by the operator; the token is shown once', async () => {
    const made = await approver('default', 'Bo', { ttlSeconds: 3600 })
    expect(Object.keys(made).sort()).toEqual(
      ['brand', 'createdAt', 'createdBy', 'expiresAt', 'id', 'inbox', 'name', 'status', 'token'].sort(),
    )
    expect(Date.parse(made.expiresAt) - Date.parse(made.createdAt)).toBeLessThanOrEqual(3_600_000)
    const { body } = await world.ask('GET', '/v1/approvers?brand=default')
    const { token: _, inbox: __, ...listed } = made
    expect(body.items[0]).toEqual(listed)
    expect(JSON.stringify(body)).not.toContain(made.token)
    expect((await as(made.token, 'GET', '/v1/approvals')).status).toBe(200)
    expect((await world.ask('DELETE', `/v1/approvers/${made.id}`)).body).toMatchObject({
      id: made.id,
      status: 'revoked',
    })
    const refused = await as(made.token, 'GET', '/v1/approvals')
    expect([refused.status, refused.body.detail]).toEqual([
      401,
      'The approver token is wrong, expired or revoked; ask the operator for a new one.',
    ])
    expect((await world.ask('DELETE', '/v1/approvers/a_nobody')).status).toBe(404)
  })

  it('of one brand have each their own name', async () => {
    const { status, body } = await world.ask('POST', '/v1/approvers', { name: ' Ann ' })
    expect([status, body.code, body.approver.id]).toEqual([409, 'name_taken', ann.id])
  })

  it.each([
    ['no name', {}, 'name'],
    ['an empty name', { name: '  ' }, 'name'],
    ['a name that turns letters around', { name: 'Ann\u202egnp' }, 'name'],
    ['a name with what does not show', { name: 'A\u200bnn' }, 'name'],
    ['a life of a second', { name: 'Cy', ttlSeconds: 1 }, 'ttlSeconds'],
    ['a life of a year', { name: 'Cy', ttlSeconds: 31_536_000 }, 'ttlSeconds'],
    ['more brands', { name: 'Cy', brands: ['*'] }, 'brands'],
  ])('with %s are refused', async (_what, request, path) => {
    const { status, body } = await world.ask('POST', '/v1/approvers', request)
    expect([status, body.errors[0].path]).toEqual([422, path])
  })
})

describe('an approver', () => {
  it('lists, sees and decides the cards of the brand, and the record says who, how and what was shown', async () => {
    const [first, second] = [await park(), await park()]
    const listed = await as(ann.token, 'GET', `/v1/approvals?status=pending&sessionId=${session.id}`)
    expect(listed.body.items.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id])
    const card = (await as(ann.token, 'GET', `/v1/approvals/${first.id}`)).body
    const yes = await as(ann.token, 'POST', `/v1/approvals/${first.id}/approve`, { note: 'fine', shown: card.shown })
    expect([yes.status, yes.body.status, yes.body.decidedBy, yes.body.decidedVia]).toEqual([
      200,
      'approved',
      'approver Ann',
      'rest',
    ])
    const no = await as(ann.token, 'POST', `/v1/approvals/${second.id}/deny`, undefined, {
      'user-agent': 'tollgate-cli/1.0.0',
    })
    expect([no.status, no.body.decidedVia]).toEqual([200, 'cli'])
    const rows = await audit(`kind=card.decided&sessionId=${session.id}`)
    expect(rows.find(({ card: id }: { card: string }) => id === first.id)).toMatchObject({
      by: 'approver Ann',
      via: 'rest',
      shown: card.shown,
      reason: 'fine',
    })
  })

  it('who comes second is told who was first', async () => {
    const { id } = await park()
    await world.ask('POST', `/v1/approvals/${id}/approve`)
    const late = await as(ann.token, 'POST', `/v1/approvals/${id}/deny`)
    expect([late.status, late.body.code, late.body.card.id]).toEqual([409, 'already_decided', id])
    expect(late.body.detail).toMatch(/^This call was approved by operator at /)
  })

  it('finds a card of another brand no more there than one that never was', async () => {
    const { id } = await park()
    const never = randomUUID()
    const asks: [string, string, unknown?][] = [
      ['GET', ''],
      ['POST', '/approve', {}],
      ['POST', '/approve', { scope: 'session' }],
      ['POST', '/approve', { scope: 'always', shown: 'x' }],
      ['POST', '/approve', { scope: 'session', similar: { arguments: { path: 'a*' }, count: 1, ttlSeconds: 60 } }],
      ['POST', '/deny', { note: 'n' }],
      ['POST', '/settle', { outcome: 'happened' }],
    ]
    for (const [method, more, body] of asks) {
      const [hidden, absent] = await Promise.all(
        [id, never].map((one) => as(other.token, method, `/v1/approvals/${one}${more}`, body)),
      )
      expect([method, more, hidden!.status]).toEqual([method, more, 404])
      expect({ ...hidden, text: hidden!.text.replace(id, never), body: undefined }).toEqual({
        ...absent,
        body: undefined,
      })
    }
    for (const query of [
      '',
      '?brand=default',
      `?sessionId=${session.id}`,
      '?status=pending&status=approved',
      '?tool=files/write_file',
    ]) {
      expect((await as(other.token, 'GET', `/v1/approvals${query}`)).text).toBe('{"items":[],"nextCursor":null}')
      expect((await as(other.token, 'GET', '/v1/approvals?brand=nowhere')).text).toBe('{"items":[],"nextCursor":null}')
    }
    expect((await world.cards.get(id))?.status).toBe('pending')
  })

  it('finds a standing approval of another brand no more there either', async () => {
    const { id } = await park()
    const { body } = await world.ask('POST', `/v1/approvals/${id}/approve`, { scope: 'session' })
    const standing = body.standingApproval.id
    const never = randomUUID()
    expect((await as(other.token, 'GET', '/v1/approvals/standing')).text).toBe('{"items":[],"nextCursor":null}')
    const [hidden, absent] = [
      await as(other.token, 'DELETE', `/v1/approvals/standing/${standing}`),
      await as(other.token, 'DELETE', `/v1/approvals/standing/${never}`),
    ]
    expect([hidden.status, hidden.text.replace(standing, never)]).toEqual([404, absent.text])
    expect((await as(ann.token, 'DELETE', `/v1/approvals/standing/${standing}`)).body).toMatchObject({
      state: 'revoked',
      revokedBy: 'approver Ann',
    })
  })

  it('opens nothing but the cards: a table of every route there is', async () => {
    const { paths } = (await world.ask('GET', '/v1/openapi.json')).body
    const routes = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
    )
    expect(routes.length).toBeGreaterThan(30)
    const described = routes.filter(([method, path]) =>
      JSON.stringify(paths[path][method.toLowerCase()]).includes('"approver":[]'),
    )
    const open: string[] = []
    for (const [method, path] of [
      ...routes,
      ['GET', '/v1/openapi.json'] as const,
      ['GET', '/v1/approvalsx'] as const,
    ]) {
      if (path === '/v1/approvals/events') continue
      const body = ['POST', 'PUT'].includes(method) ? {} : undefined
      const { status, body: said } = await as(ann.token, method, path.replaceAll(/{\w+}/g, randomUUID()), body)
      if (status !== 401) open.push(`${method} ${path} ${status}`)
      else if (!path.startsWith('/v1/approvals/'))
        expect(said.detail).toMatch(/^This is an approver token, which opens/)
    }
    expect(open.sort()).toEqual([
      'DELETE /v1/approvals/standing/{id} 404',
      'GET /v1/approvals 200',
      'GET /v1/approvals/standing 200',
      'GET /v1/approvals/{id} 404',
      'POST /v1/approvals/{id}/approve 404',
      'POST /v1/approvals/{id}/deny 404',
      'POST /v1/approvals/{id}/settle 422',
    ])
    const documented = described.map(([method, path]) => `${method} ${path}`)
    expect(documented.sort()).toEqual([...open.map((route) => route.slice(0, -4)), 'GET /v1/approvals/events'].sort())
    await expect.poll(() => audit('kind=auth.refused')).not.toEqual([])
  })

  it('is told of the moves of the brand only, and of nothing once revoked', async () => {
    const eve = await approver('default', 'Eve')
    const rival = await world.issue({ role: 'person-chat', brand: 'rival' })
    const response = await world.request('/v1/approvals/events', { headers: { authorization: `Bearer ${eve.token}` } })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const until = async (part: string) => {
      while (!text.includes(part)) text += (await reader.read()).value
    }
    await until(': listening')
    const hidden = await world.park(rival.id, 'mcp__shop__sell', { what: 'a' })
    const seen = await park()
    await until(`id: ${seen.id} pending`)
    expect(text).not.toContain(hidden.id)
    await world.ask('DELETE', `/v1/approvers/${eve.id}`)
    const after = await park()
    for (let last = await reader.read(); !last.done; last = await reader.read()) text += last.value
    expect(text).not.toContain(after.id)
  })
})

describe('nobody else', () => {
  it('decides anything in 500 ways of trying (C6)', async () => {
    const cards = await Promise.all([park(), park(), park()])
    const gone = await approver('default', 'Gone')
    await world.ask('DELETE', `/v1/approvers/${gone.id}`)
    const [head, payload, signature] = ann.token.split('.') as [string, string, string]
    const reworded = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), exp: 4e9 }),
    )
    const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
    const never = [
      ['nothing', {}],
      ['the requester’s own session token', bearer(session.token)],
      ['a delegated child’s token', bearer(child.token)],
      ['an approver of another brand', bearer(other.token)],
      ['a revoked approver', bearer(gone.token)],
      ['an approver token without signature', bearer(`${head}.${payload}.`)],
      ['an approver token with another end', bearer(`${head}.${reworded.toString('base64url')}.${signature}`)],
      ['an approver token with half a signature', bearer(`${head}.${payload}.${signature.slice(0, 43)}`)],
      ['an approver token twice', { authorization: `Bearer ${ann.token}, Bearer ${ann.token}` }],
      ['an approver token as Basic', { authorization: `Basic ${Buffer.from(`ann:${ann.token}`).toString('base64')}` }],
      ['an approver token in a cookie', { cookie: `authorization=${ann.token}; tollgate-inbox=${ann.token}` }],
      ['an approver token in other headers', { 'x-authorization': `Bearer ${ann.token}`, 'x-api-key': ann.token }],
      ['a proxy’s word', { 'x-forwarded-user': 'operator', 'x-forwarded-for': '127.0.0.1' }],
      ['half an admin key', bearer(ADMIN_KEY.slice(0, -1))],
      ['the admin key in capitals', bearer(ADMIN_KEY.toUpperCase())],
      ['the admin key without a scheme', { authorization: ADMIN_KEY }],
    ] as const
    const keyed = [
      ['the admin key', bearer(ADMIN_KEY)],
      ['a good approver', bearer(ann.token)],
    ] as const
    const query = (more: string) =>
      `?access_token=${ann.token}&token=${ann.token}&authorization=Bearer%20${ADMIN_KEY}${more}`
    const posts = [
      ['POST', '', { 'content-type': 'application/json' }, '{}'],
      ['POST', '', {}, undefined],
      ['POST', query(''), { 'content-type': 'application/json' }, '{"scope":"once"}'],
      ['POST', query(''), { 'content-type': 'application/json' }, JSON.stringify({ token: ann.token, key: ADMIN_KEY })],
      ['POST', '', { 'content-type': 'application/x-www-form-urlencoded' }, `token=${ann.token}`],
    ] as const
    const opened = [
      ['GET', '', {}],
      ['GET', query('&_method=POST'), {}],
      ['GET', '?_method=POST', { 'x-http-method-override': 'POST', 'x-method-override': 'POST' }],
      ['HEAD', '', { purpose: 'prefetch', 'sec-purpose': 'prefetch' }],
      ['OPTIONS', '', { 'access-control-request-method': 'POST' }],
      ['PUT', '', {}],
      ['PATCH', '', {}],
    ] as const
    const tries = [
      ...never.flatMap(([who, headers]) => [...posts, ...opened].map((how) => ({ who, headers, how }))),
      ...keyed.flatMap(([who, headers]) => opened.map((how) => ({ who, headers, how }))),
    ]
    const accepted: string[] = []
    let count = 0
    for (const verb of ['approve', 'deny', 'settle']) {
      for (const { who, headers, how } of tries) {
        const [method, more, with_, body] = how
        const { id } = cards[count++ % 3]!
        const response = await world.request(`/v1/approvals/${id}/${verb}${more}`, {
          method,
          headers: { ...headers, ...with_ },
          ...(body === undefined ? {} : { body }),
        })
        if (response.status < 400) accepted.push(`${who}: ${method} ${verb} ${response.status}`)
      }
    }
    expect(count).toBeGreaterThanOrEqual(500)
    expect(accepted).toEqual([])
    const decided = await audit(`kind=card.decided&sessionId=${session.id}`)
    for (const { id } of cards) {
      expect((await world.cards.get(id))?.status).toBe('pending')
      expect(decided.filter(({ card }: { card: string }) => card === id)).toEqual([])
    }
    const yes = await as(ann.token, 'POST', `/v1/approvals/${cards[0].id}/approve`)
    expect(yes.body.decidedBy).toBe('approver Ann')
  }, 30_000)
})
