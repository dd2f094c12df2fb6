/** Who may tell of mail: the vendor's signature, and an address that only who has it can know. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../approvals/world.ts'
import { KEY } from '../connectors/agentmail/answers.ts'
import { startGateway } from '../support/gateway.ts'
import { type InboundWorld, type Mailbox, newSecret, received, startInboundWorld } from './inbound-world.ts'

let world: InboundWorld
beforeAll(async () => {
  world = await startInboundWorld()
})
afterAll(() => world.close())

const api = (method: string, path: string, body?: object) => world.gateway.api(method, path, body)
const inboundOf = (brand: string) => `/v1/connections/agentmail/inbound?brand=${brand}`
const refusals = async ({ brand }: Mailbox): Promise<string[]> =>
  (await api('GET', `/v1/audit?limit=200&brand=${brand}`)).body.items
    .filter(({ kind }: { kind: string }) => kind === 'inbound.refused')
    .map(({ reason }: { reason: string }) => reason)

describe('a delivery that is not AgentMail’s', () => {
  const now = () => Math.floor(Date.now() / 1_000)
  it.each([
    ['another signing secret', () => ({ signWith: newSecret() })],
    ['another body', () => ({ body: '{"event_type":"message.received"}' })],
    ['no id', () => ({ headers: { 'svix-id': undefined } })],
    ['no time', () => ({ headers: { 'svix-timestamp': undefined } })],
    ['no signature', () => ({ headers: { 'svix-signature': undefined } })],
    ['another id', () => ({ headers: { 'svix-id': 'msg_other' } })],
    ['another time', () => ({ headers: { 'svix-timestamp': String(now() - 60) } })],
    ['a time six minutes ago', () => ({ atS: now() - 360 })],
    ['a time in six minutes', () => ({ atS: now() + 360 })],
    ['an id that could take part of the body', () => ({ id: 'msg_1.1700000000' })],
    ['another version of the scheme', () => ({ headers: { 'svix-signature': 'v1a,AAAA' } })],
  ])('is refused, and starts nothing: %s', async (_, delivery) => {
    const mailbox = await shared()
    const before = (await refusals(mailbox)).length
    const { status, body } = await world.deliver(mailbox, delivery())
    expect([status, body.code]).toEqual([401, 'signature'])
    expect(await world.sessionsOf(mailbox.brand)).toEqual([])
    await until(async () => (await refusals(mailbox)).length > before)
    expect((await refusals(mailbox))[0]).toMatch(/signature is missing/)
  })

  it('is refused where it is too large or cannot be read', async () => {
    const mailbox = await shared()
    const large = await world.deliver(mailbox, { event: received(mailbox, { html: 'x'.repeat(70_000) }) })
    expect(large.status).toBe(413)
    const unreadable = await world.deliver(mailbox, {
      event: { event_type: 'message.received.nothing', event_id: 1, a: [] },
    })
    expect(unreadable.body.status).toBe('ignored')
    expect((await world.deliver(mailbox, { event: { no: 'event' } })).status).toBe(400)
    expect(await world.sessionsOf(mailbox.brand)).toEqual([])
  })

  let one: Promise<Mailbox> | undefined
  const shared = () => (one ??= world.mailbox())
})

describe('the address', () => {
  const raw = async (url: string, method = 'POST') => {
    const response = await fetch(url, { method, ...(method === 'POST' && { body: '{}' }) })
    const headers = [...response.headers].filter(([name]) => name !== 'date')
    return [response.status, headers, await response.text()]
  }

  it('that is none is answered as what is nowhere, byte for byte, and so is any before the switch is set', async () => {
    const mailbox = await world.mailbox()
    const { origin, pathname } = new URL(mailbox.url)
    const closed = await startGateway()
    const wrong = `${pathname.slice(0, -1)}${pathname.endsWith('A') ? 'B' : 'A'}`
    for (const path of [
      wrong,
      '/inbound/agentmail/x',
      '/inbound/agentmail/%2e%2e',
      `${pathname}/more`,
      '/inbound/agentmail/',
    ]) {
      expect(await raw(origin + path)).toEqual(await raw(closed.url + path))
      expect((await raw(origin + path))[0]).toBe(404)
    }
    expect(await raw(mailbox.url, 'GET')).toEqual(await raw(closed.url + pathname, 'GET'))
    expect(await raw(closed.url + pathname)).toEqual(await raw(closed.url + pathname))
    await closed.close()
  })

  it('is made for a connection alone, says what is missing, and shows neither secret again', async () => {
    const brand = 'starts-empty'
    expect((await api('POST', inboundOf(brand))).status).toBe(404)
    expect((await api('POST', '/v1/connections/firecrawl/inbound')).body.errors).toMatchObject([{ rule: 'no_inbound' }])
    await api('PUT', `/v1/connections/agentmail?brand=${brand}`, {
      fields: { apiKey: `${KEY}-x`, inbox: 'a@agentmail.to' },
    })
    expect((await api('GET', inboundOf(brand))).status).toBe(404)
    const made = await api('POST', inboundOf(brand))
    expect([made.status, made.body.ready]).toEqual([201, false])
    expect(made.body.missing.join(' ')).toMatch(/signing secret is not stated.*No webhook/)
    const signingSecret = newSecret()
    const early = await world.deliver({ brand, inbox: 'a@agentmail.to', url: made.body.url, signingSecret, secret: '' })
    expect([early.status, early.body.code]).toEqual([503, 'not_ready'])
    expect((await api('PUT', inboundOf(brand), { signingSecret: 'hush' })).status).toBe(422)
    await api('PUT', inboundOf(brand), { signingSecret })
    await api('POST', '/v1/webhooks', { url: `${world.host.url}/x`, brand, events: ['session.ready'] })
    const { body } = await api('GET', inboundOf(brand))
    expect(body).toEqual({ ...body, brand, slug: 'agentmail', ready: true, missing: [], changedBy: 'operator' })
    expect(Object.keys(body)).not.toContain('url')
  })

  it('is changed, and the one before is closed at once; so is its signing secret; and it goes with its connection', async () => {
    const mailbox = await world.mailbox()
    const { body } = await api('POST', inboundOf(mailbox.brand))
    expect((await world.deliver(mailbox)).status).toBe(404)
    expect((await world.deliver({ ...mailbox, url: body.url })).status).toBe(200)
    const signingSecret = newSecret()
    await api('PUT', inboundOf(mailbox.brand), { signingSecret })
    expect((await world.deliver({ ...mailbox, url: body.url })).status).toBe(401)
    expect((await world.deliver({ ...mailbox, url: body.url, signingSecret })).status).toBe(200)
    await api('DELETE', `/v1/connections/agentmail?brand=${mailbox.brand}`)
    expect((await world.deliver({ ...mailbox, url: body.url, signingSecret })).status).toBe(404)
    expect((await api('GET', inboundOf(mailbox.brand))).status).toBe(404)
  })
})
