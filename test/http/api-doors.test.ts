/** Who gets in, what is there, and how everything else is refused: tables made from the OpenAPI document itself. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_KEY, createWorld, RESOURCE, type World } from './api-world.ts'

let world: World
let document: { paths: Record<string, Record<string, unknown>> }
let token: string

beforeAll(async () => {
  world = await createWorld()
  document = (await world.ask('GET', '/v1/openapi.json')).body
  token = (await world.issue({ role: 'person-chat' })).token
})
afterAll(() => world.close())

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/{\w+}/g, 'x') })),
  )

describe('every /v1 route', () => {
  it('is in the OpenAPI document', () => {
    const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(listed.sort()).toEqual([
      'DELETE /v1/approvals/standing/{id}',
      'DELETE /v1/approvers/{id}',
      'DELETE /v1/connections/{slug}',
      'DELETE /v1/connections/{slug}/inbound',
      'DELETE /v1/coworkers/{id}',
      'DELETE /v1/routines/{id}',
      'DELETE /v1/sessions/{id}',
      'DELETE /v1/webhooks/{id}',
      'GET /v1/approvals',
      'GET /v1/approvals/events',
      'GET /v1/approvals/standing',
      'GET /v1/approvals/{id}',
      'GET /v1/approvers',
      'GET /v1/audit',
      'GET /v1/audit/verify',
      'GET /v1/connections',
      'GET /v1/connections/{slug}',
      'GET /v1/connections/{slug}/inbound',
      'GET /v1/connections/{slug}/tools',
      'GET /v1/connectors',
      'GET /v1/coworkers',
      'GET /v1/coworkers/{id}',
      'GET /v1/goals/agent',
      'GET /v1/goals/reviewer',
      'GET /v1/presets',
      'GET /v1/roles',
      'GET /v1/routines',
      'GET /v1/routines/{id}',
      'GET /v1/routines/{id}/tools',
      'GET /v1/routines/{id}/traces',
      'GET /v1/sessions',
      'GET /v1/sessions/{id}',
      'GET /v1/spend',
      'GET /v1/spend/totals',
      'GET /v1/traces/{id}',
      'GET /v1/webhooks',
      'GET /v1/webhooks/{id}',
      'GET /v1/webhooks/{id}/deliveries',
      'POST /v1/approvals/{id}/approve',
      'POST /v1/approvals/{id}/deny',
      'POST /v1/approvals/{id}/settle',
      'POST /v1/approvers',
      'POST /v1/connections/{slug}/check',
      'POST /v1/connections/{slug}/connect',
      'POST /v1/connections/{slug}/discover',
      'POST /v1/connections/{slug}/inbound',
      'POST /v1/connections/{slug}/share',
      'POST /v1/connections/{slug}/tools/{tool}/accept',
      'POST /v1/explain',
      'POST /v1/explain/what-if',
      'POST /v1/keys/rotate',
      'POST /v1/routines',
      'POST /v1/routines/{id}/ready',
      'POST /v1/sessions',
      'POST /v1/sessions/{id}/delegate',
      'POST /v1/sessions/{id}/end',
      'POST /v1/webhooks',
      'POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver',
      'POST /v1/webhooks/{id}/pause',
      'POST /v1/webhooks/{id}/resume',
      'POST /v1/webhooks/{id}/rotate-secret',
      'POST /v1/webhooks/{id}/test',
      'PUT /v1/connections/{slug}',
      'PUT /v1/connections/{slug}/inbound',
      'PUT /v1/coworkers/{id}',
      'PUT /v1/goals/agent',
      'PUT /v1/goals/reviewer',
      'PUT /v1/routines/{id}',
      'PUT /v1/routines/{id}/tools/{tool}',
    ])
  })

  it('refuses a request without the admin key', async () => {
    for (const { method, path } of [...operations(), { method: 'GET', path: '/v1/openapi.json' }]) {
      const response = await world.request(path, { method })
      expect([method, path, response.status]).toEqual([method, path, 401])
      expect(response.headers.get('content-type')).toBe('application/problem+json')
      const detail = path.startsWith('/v1/approvals')
        ? 'Send an approver token, or the admin key, as Authorization: Bearer; the key is TOLLGATE_ADMIN_KEY, or in the file admin-key of the data folder.'
        : 'Send the admin key as Authorization: Bearer; it is TOLLGATE_ADMIN_KEY, or in the file admin-key of the data folder.'
      expect(response.headers.get('www-authenticate')).toBe(`Bearer realm="tollgate", error_description="${detail}"`)
      expect(await response.json()).toEqual({
        type: 'about:blank',
        title: 'Unauthorized',
        status: 401,
        code: 'unauthorized',
        detail,
      })
    }
  })

  it('refuses a session token, and says what it is for', async () => {
    for (const { method, path } of operations()) {
      const response = await world.request(path, { method, headers: { authorization: `Bearer ${token}` } })
      expect([method, path, response.status]).toEqual([method, path, 401])
      const opens = path.startsWith('/v1/approvals')
        ? 'cards take an approver token or the admin key'
        : 'the REST API takes the admin key'
      expect(await response.json()).toHaveProperty(
        'detail',
        `This is a session token, which opens /mcp only; ${opens}.`,
      )
    }
  })

  it.each([
    ['a wrong key', 'Bearer nearly-the-admin-key'],
    ['Basic', `Basic ${ADMIN_KEY}`],
    ['a key and more', `Bearer ${ADMIN_KEY} more`],
    ['nothing after the scheme', 'Bearer '],
  ])('refuses %s', async (_what, authorization) => {
    const response = await world.request('/v1/roles', { headers: { authorization } })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  it('never takes a key from the query', async () => {
    expect((await world.request(`/v1/roles?access_token=${ADMIN_KEY}`)).status).toBe(401)
  })

  it('answers 405 with the methods it has under another one', async () => {
    const { status, headers, body } = await world.ask('PUT', '/v1/sessions')
    expect(status).toBe(405)
    expect(headers.get('allow')).toBe('GET, POST')
    expect(body.code).toBe('method_not_allowed')
  })
})

describe('a body', () => {
  const send = (body: string, type: string | undefined) =>
    world.request('/v1/sessions', {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_KEY}`, ...(type === undefined ? {} : { 'content-type': type }) },
      body,
    })

  it.each([
    ['that is no JSON', '{"role":', 'application/json', 400, 'malformed_json'],
    ['that names a key twice', '{"role":"coworker","role":"person-chat"}', 'application/json', 400, 'malformed_json'],
    ['that nests too deep', `${'['.repeat(80)}${']'.repeat(80)}`, 'application/json', 400, 'malformed_json'],
    ['that is empty and says it is JSON', '', 'application/json', 400, 'malformed_json'],
    ['of another type', '{"role":"coworker"}', 'text/plain', 415, 'not_json'],
    ['that is too large', JSON.stringify({ role: 'x'.repeat(1_100_000) }), 'application/json', 413, 'body_too_large'],
    ['that is an array', '[]', 'application/json', 422, 'invalid_request'],
  ])('%s is refused', async (_what, body, type, status, code) => {
    const response = await send(body, type)
    expect([response.status, ((await response.json()) as any).code]).toEqual([status, code])
    expect(response.headers.get('content-type')).toBe('application/problem+json')
  })

  it('with unknown fields is refused by name, each with the fields that are known', async () => {
    const { status, body } = await world.ask('POST', '/v1/sessions', {
      role: 'person-chat',
      tool: ['Read'],
      grant: { x: 1 },
    })
    expect(status).toBe(422)
    expect(body).toMatchObject({ title: 'Unprocessable Content', status: 422, code: 'invalid_request' })
    expect(body.errors).toEqual([
      { path: 'grant.connectors', rule: 'missing', detail: 'grant.connectors is missing; array expected.' },
      {
        path: 'grant.x',
        rule: 'unknown_field',
        detail: '"x" is not a field here; known: connectors, allowance, skills.',
      },
      {
        path: 'tool',
        rule: 'unknown_field',
        detail:
          '"tool" is not a field here (did you mean "tools"?); known: brand, role, coworker, routine, supervised, route, tools, grant, approval, subject, ttlSeconds, limits, definition, retryOf.',
      },
    ])
  })

  it('refuses fields that do not exist yet rather than ignoring them', async () => {
    const { status, body } = await world.ask('POST', '/v1/sessions', { role: 'person-chat', retryOf: 's_1' })
    expect([status, body.errors[0].path]).toEqual([422, 'retryOf'])
  })
})

describe('a list', () => {
  it.each(['/v1/sessions', '/v1/approvals', '/v1/audit'])('%s takes a limit from 1 to 200', async (path) => {
    for (const limit of ['0', '201', 'many', '-1', '1.5']) {
      const { status, body } = await world.ask('GET', `${path}?limit=${limit}`)
      expect([limit, status, body.errors[0].path]).toEqual([limit, 422, 'limit'])
    }
    const { status, body } = await world.ask('GET', `${path}?limit=200`)
    expect([status, Object.keys(body).sort()]).toEqual([200, ['items', 'nextCursor']])
  })

  it.each(['/v1/sessions?brand=', '/v1/approvals?sessionId=', '/v1/audit?tool='])(
    '%s refuses what no database could hold',
    async (path) => {
      const { status, body } = await world.ask('GET', `${path}a%00b`)
      expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining('control characters')])
    },
  )

  it('refuses a filter it does not know, since a slip would list everything', async () => {
    const { status, body } = await world.ask('GET', '/v1/approvals?satus=pending')
    expect([status, body.errors[0]]).toEqual([
      422,
      { path: 'satus', rule: 'unknown_field', detail: '"satus" is not a field here.' },
    ])
  })
})

describe('what needs no key', () => {
  const get = async (path: string) => {
    const response = await world.request(path)
    const text = await response.text()
    return { status: response.status, type: response.headers.get('content-type') ?? '', text }
  }

  it('healthz and readyz answer', async () => {
    expect(await get('/healthz')).toMatchObject({ status: 200, text: '{"status":"ok"}' })
    const ready = await get('/readyz')
    expect([ready.status, JSON.parse(ready.text)]).toEqual([
      200,
      { status: 'ready', checks: { database: 'ok', audit: 'ok', revocations: 'ok' } },
    ])
  })

  it('metrics are in the form that Prometheus reads', async () => {
    expect(await get('/metrics')).toMatchObject({ status: 200, type: expect.stringContaining('text/plain') })
  })

  it('the key set is public and holds no private part', async () => {
    const { status, text } = await get('/.well-known/jwks.json')
    const { keys } = JSON.parse(text)
    expect([status, keys.length, Object.keys(keys[0]).sort()]).toEqual([
      200,
      1,
      ['alg', 'crv', 'kid', 'kty', 'use', 'x'],
    ])
  })

  it.each([
    '/',
    '/register',
    '/favicon.ico',
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server/mcp',
  ])('%s is a JSON 404, since clients that lack a token go looking', async (path) => {
    for (const method of ['GET', 'POST']) {
      const response = await world.request(path, { method })
      if (method === 'POST' && response.status === 405) continue
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
      expect(await response.json()).toHaveProperty('code', 'not_found')
    }
  })

  it('an unknown path below /v1 is a JSON 404 for the operator', async () => {
    const { status, body } = await world.ask('GET', '/v1/nothing')
    expect([status, body.detail]).toEqual([
      404,
      'There is nothing at /v1/nothing; GET /v1/openapi.json lists what there is.',
    ])
  })
})

describe('with an authorization server configured', () => {
  it('both metadata paths name it (RFC 9728)', async () => {
    const other = await createWorld({ authorizationServers: ['https://login.example'] })
    try {
      for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
        const response = await other.request(path)
        expect(await response.json()).toEqual({
          resource: RESOURCE,
          authorization_servers: ['https://login.example'],
          bearer_methods_supported: ['header'],
          resource_name: 'Tollgate',
        })
      }
    } finally {
      await other.close()
    }
  })
})

describe('when a part is away', () => {
  it('readyz says which', async () => {
    const away = { ensureFresh: () => Promise.reject(new Error('away')) }
    const other = await createWorld({ revocations: away })
    try {
      const response = await other.request('/readyz')
      expect(response.status).toBe(503)
      expect(await response.json()).toEqual({
        type: 'about:blank',
        title: 'Service Unavailable',
        status: 503,
        code: 'not_ready',
        detail: 'revocations: It is not known which sessions are revoked.',
        checks: { database: 'ok', audit: 'ok', revocations: 'It is not known which sessions are revoked.' },
      })
    } finally {
      await other.close()
    }
  })

  it('a failure inside is a 500 that says nothing of what failed', async () => {
    const other = await createWorld({
      keyring: {
        jwks: () => {
          throw new Error('secret detail')
        },
        rotate: () => Promise.reject(new Error('secret detail')),
      },
    })
    try {
      const { status, body } = await other.ask('POST', '/v1/keys/rotate', {})
      expect([status, body.code]).toEqual([500, 'internal'])
      expect(JSON.stringify(body)).not.toContain('secret detail')
    } finally {
      await other.close()
    }
  })
})
