/** Handing a session on, through the front door. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type World } from './api-world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())

const parentOf = (more: Record<string, unknown> = {}) =>
  world.issue({
    role: 'person-chat',
    subject: 'ada',
    tools: ['files/*', 'search/find', 'Read', 'Bash'],
    limits: { runUsd: 1, delegationDepth: 2 },
    ...more,
  })
const delegate = (id: string, request?: unknown) => world.ask('POST', `/v1/sessions/${id}/delegate`, request)
const names = (tools: { name: string }[]) => tools.map(({ name }) => name)

describe('a delegated session', () => {
  it('has a token of its own that holds less than its parent, and says whose child it is', async () => {
    const parent = await parentOf()
    const { status, body } = await delegate(parent.id, {
      tools: ['files/read_file', 'Read'],
      limits: { runUsd: 0.25 },
      ttlSeconds: 60,
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      parent: parent.id,
      brand: 'default',
      role: 'person-chat',
      builtins: ['Read'],
      limits: { runUsd: 0.25, delegationDepth: 1 },
    })
    expect(names(body.tools)).toEqual(['mcp__files__read_file'])
    const session = await world.tokens.verify(`Bearer ${body.token}`)
    expect(session).toMatchObject({ id: body.id, subject: 'ada', channel: 'inbox' })
    expect(session.expiresAt - session.issuedAt).toBe(60_000)
    expect(JSON.stringify(body.configs)).not.toContain(body.token)
  })

  it('that is asked for without words is the parent one level down', async () => {
    const parent = await parentOf()
    const { body } = await delegate(parent.id)
    expect(names(body.tools)).toEqual(names(parent.tools))
    expect([body.builtins, body.limits]).toEqual([parent.builtins, { runUsd: 1, delegationDepth: 1 }])
    const again = await delegate(parent.id)
    expect([again.status, again.body.errors[0].rule]).toEqual([422, 'carved'])
  })

  it('can hand on what it has until the depth is used up', async () => {
    const parent = await parentOf()
    const child = await delegate(parent.id)
    const leaf = await delegate(child.body.id, { tools: ['search/find'] })
    expect(names(leaf.body.tools)).toEqual(['mcp__search__find'])
    const none = await delegate(leaf.body.id)
    expect([none.status, none.body.errors]).toEqual([
      422,
      [{ path: 'id', rule: 'delegation_depth', detail: 'The session may not delegate: its delegation depth is 0.' }],
    ])
  })

  it('dies with the root of its tree', async () => {
    const parent = await parentOf()
    const child = await delegate(parent.id, { limits: { runUsd: 0.5 } })
    const leaf = await delegate(child.body.id, { limits: { runUsd: 0.5 } })
    await world.ask('DELETE', `/v1/sessions/${parent.id}`)
    const { body } = await world.ask('GET', `/v1/sessions/${leaf.body.id}`)
    expect(body.status).toBe('revoked')
    const orphan = await delegate(parent.id)
    expect([orphan.status, orphan.body.code]).toEqual([409, 'session_revoked'])
  })

  it('is refused with every rule it breaks', async () => {
    const parent = await parentOf({ tools: ['files/read_file'] })
    const { status, body } = await delegate(parent.id, {
      tools: ['files/write_file', 'Bash', 'files/*'],
      grant: { connectors: ['search'] },
      limits: { runUsd: 2 },
    })
    expect(status).toBe(422)
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual([
      'grant.connectors[0]',
      'tools[0]',
      'tools[1]',
      'tools[2]',
      'limits.runUsd',
    ])
  })

  it('is nobody’s where there is no parent, and takes no field it does not know', async () => {
    expect((await delegate('none')).status).toBe(404)
    const parent = await parentOf()
    const { status, body } = await delegate(parent.id, { role: 'person-chat', brand: 'acme' })
    expect([status, body.errors.map(({ path }: { path: string }) => path)]).toEqual([422, ['role', 'brand']])
  })

  it('is asked for with the admin key only, never with a session’s own token', async () => {
    const parent = await parentOf()
    const response = await world.request(`/v1/sessions/${parent.id}/delegate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${parent.token}` },
    })
    expect(response.status).toBe(401)
  })
})
