/** People, agents and passers-by at a whole gateway's front doors: whose word decides a waiting call. */
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_KEY } from '../support/gateway.ts'
import { type WaitsWorld, waitsWorld } from './waits-world.ts'

let world: WaitsWorld
let session: string
let approver: string

beforeAll(async () => {
  world = await waitsWorld(20)
  session = await world.person()
  approver = (await world.gateway.api('POST', '/v1/approvers', { name: 'Ann' })).body.token
})
afterAll(() => world.close())

/** A call that waits for a person; the id of its card. */
async function parked(): Promise<string> {
  const args = world.fresh()
  await world.call(session, 'pay', args)
  return (await world.waiting(args)).id
}
const as = (token: string, method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(`${world.gateway.url}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...(token === '' ? {} : { authorization: `Bearer ${token}` }), ...headers },
  })

/** A POST whose headers go out as they are written, repeated ones too. */
function raw(path: string, headers: readonly string[]): Promise<number | undefined> {
  const { hostname, port, host } = new URL(world.gateway.url)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method: 'POST', headers: ['host', host, ...headers] }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    sent.on('error', reject).end()
  })
}

describe('a call that waits', () => {
  it('is decided by an approver, and the record says from where', async () => {
    const id = await parked()
    const response = await as(approver, 'POST', `/v1/approvals/${id}/approve`)
    expect([response.status, await response.json()]).toEqual([
      200,
      expect.objectContaining({ decidedBy: 'approver Ann', decidedVia: 'rest', decidedAddress: '127.0.0.1' }),
    ])
    const { body } = await world.gateway.api('GET', '/v1/audit?kind=card.decided')
    expect(body.items[0]).toMatchObject({ card: id, by: 'approver Ann', via: 'rest', address: '127.0.0.1' })
  })

  it('takes an address from nobody’s headers', async () => {
    const id = await parked()
    const forged = { 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9', forwarded: 'for=203.0.113.9' }
    const response = await as(approver, 'POST', `/v1/approvals/${id}/deny`, forged)
    expect(await response.json()).toMatchObject({ decidedAddress: '127.0.0.1' })
  })

  it('is not decided by whoever opens a link, with any key or none', async () => {
    const id = await parked()
    const links = [
      `/inbox/cards/${id}`,
      `/inbox/cards/${id}/approve`,
      `/inbox/cards/${id}/deny`,
      `/v1/approvals/${id}`,
      `/v1/approvals/${id}/approve`,
      `/v1/approvals/${id}/deny`,
      `/v1/approvals/${id}/approve?access_token=${approver}`,
      `/v1/approvals/${id}/approve?key=${ADMIN_KEY}&_method=POST`,
    ]
    const prefetch = {
      purpose: 'prefetch',
      'user-agent': 'Slackbot-LinkExpanding 1.0',
      cookie: `tollgate-inbox=${approver}`,
    }
    for (const link of links) {
      for (const key of ['', session, approver, ADMIN_KEY]) {
        for (const method of ['GET', 'HEAD']) await (await as(key, method, link, prefetch)).arrayBuffer()
      }
    }
    expect((await world.cardOf(id)).status).toBe('pending')
  })

  it('is not decided by the session that asked, at any of its doors', async () => {
    const id = await parked()
    expect((await as(session, 'POST', `/v1/approvals/${id}/approve`)).status).toBe(401)
    for (const method of ['approvals/approve', 'tasks/approve', 'tasks/update', 'notifications/approved']) {
      await world.gateway.modern(session, method, { id, taskId: id, status: 'approved' })
    }
    for (const name of ['approve', 'tollgate__approve', 'shop__approve']) {
      await world.gateway.rpc(session, 'tools/call', { name, arguments: { id } })
    }
    expect((await world.cardOf(id)).status).toBe('pending')
  })

  it('is not decided by two keys at once', async () => {
    const id = await parked()
    const path = `/v1/approvals/${id}/approve`
    const one = ['authorization', `Bearer ${approver}`]
    expect(await raw(path, [...one, 'authorization', `Bearer ${ADMIN_KEY}`])).toBe(401)
    expect(await raw(path, [...one, ...one])).toBe(401)
    expect((await world.cardOf(id)).status).toBe('pending')
    expect(await raw(path, one)).toBe(200)
  })
})

describe('an approver token', () => {
  it('is no session at the MCP door, and leaves a row there', async () => {
    const { status, headers } = await world.gateway.rpc(approver, 'tools/list')
    expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('must say typ')])
    await expect
      .poll(async () => (await world.gateway.api('GET', '/v1/audit?kind=auth.refused')).body.items)
      .toContainEqual(expect.objectContaining({ reason: expect.stringContaining('must say typ tollgate-session+jwt') }))
  })
})
