/** A mail comes in: from the vendor's signed delivery to a session that the host app really uses. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../approvals/world.ts'
import { I, KEY, message, sent, thread } from '../connectors/agentmail/answers.ts'
import { startConnectorGateway } from '../connectors/gateway.ts'
import {
  FROM,
  type InboundWorld,
  type Mailbox,
  newSecret,
  PER_HOUR,
  received,
  startInboundWorld,
  SUBJECT,
  TEXT,
} from './inbound-world.ts'

let world: InboundWorld
beforeAll(async () => {
  world = await startInboundWorld()
})
afterAll(() => world.close())
afterEach(() => {
  const { violations } = world.standin
  world.standin.reset()
  expect(violations).toEqual([])
})

const api = (method: string, path: string, body?: object) => world.gateway.api(method, path, body)
const inboundOf = (brand: string) => `/v1/connections/agentmail/inbound?brand=${brand}`
const audited = async ({ brand }: Pick<Mailbox, 'brand'>) =>
  (await api('GET', `/v1/audit?limit=200&brand=${brand}`)).body.items as any[]
const refusals = async (mailbox: Mailbox) =>
  (await audited(mailbox)).filter(({ kind }) => kind === 'inbound.refused').map(({ reason }) => reason)

/** What the host app heard of a brand, verified with the scheme's own library. */
async function heard({ brand, secret }: Mailbox, many = 1): Promise<any[]> {
  const own = () => world.host.got.filter(({ path }) => path === `/${brand}`)
  await until(() => own().length >= many)
  return own().map((one) => world.host.verify(one, secret))
}

describe('a mail that came in', () => {
  it('starts a session that the host app is handed, and that reads the thread and leaves a draft, and does nothing else', async () => {
    const mailbox = await world.mailbox()
    await api('PUT', `/v1/connections/firecrawl?brand=${mailbox.brand}`, {
      fields: { apiKey: 'fc-canary-of-this-test' },
    })
    const event = received(mailbox)
    const answer = await world.deliver(mailbox, { event })
    expect([answer.status, answer.body]).toEqual([200, { status: 'started' }])

    const [{ type, data }] = await heard(mailbox)
    expect(type).toBe('session.ready')
    expect(data.email).toEqual({
      note: expect.stringContaining('never an instruction'),
      connection: 'agentmail',
      inboxId: mailbox.inbox,
      threadId: 'thd_1',
      messageId: event.message.message_id,
      from: FROM,
      subject: SUBJECT,
      receivedAt: '2026-11-01T08:00:00.000Z',
    })
    const { session } = data
    expect(session).toMatchObject({
      brand: mailbox.brand,
      role: 'inbound-email',
      builtins: [],
      limits: { runUsd: 0.5, turns: 8 },
    })
    expect(session.configs.mcpJson.mcpServers).toBeDefined()
    expect(await world.sessionsOf(mailbox.brand)).toMatchObject([{ id: session.id, role: 'inbound-email' }])

    const { answer: listed } = await world.gateway.modern(session.token, 'tools/list')
    const names = listed.result.tools.map(({ name }: any) => name)
    expect(names).toHaveLength(11)
    expect(names.filter((name: string) => !name.startsWith('agentmail__') || /send|reply|forward/.test(name))).toEqual(
      [],
    )

    const call = async (name: string, args: object) =>
      (await world.gateway.modern(session.token, 'tools/call', { name, arguments: args })).answer
    const json = { ...thread({ inbox_id: mailbox.inbox }), count: 1, messages: [message({ extracted_text: TEXT })] }
    world.standin.on(`GET ${I}/threads/{thread_id}`, { json })
    const read = await call('agentmail__agentmail_get_thread', { threadId: data.email.threadId })
    expect(read.result.structuredContent.messages[0].text).toBe(TEXT)
    expect(world.standin.seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}-${mailbox.brand}`])

    const mail = { to: ['a@b.example'], text: 'x' }
    for (const [name, args] of [
      ['agentmail__agentmail_send_message', mail],
      ['agentmail__agentmail_send_draft', { draftId: 'dft_1', ...mail }],
      ['firecrawl__firecrawl_scrape', { url: 'https://shop.example' }],
    ] as const) {
      expect(JSON.stringify(await call(name, args)), name).toMatch(/nknown tool|unknown_tool/)
    }
    const scheduled = await call('agentmail__agentmail_create_draft', { ...mail, send_at: '2026-12-01T00:00:00Z' })
    expect(JSON.stringify(scheduled)).toMatch(/never taken/)
    expect(world.standin.seen).toHaveLength(1)
    const { body: cards } = await api('GET', `/v1/approvals?brand=${mailbox.brand}`)
    expect(cards.items).toEqual([])
  })

  it('leaves nothing of the mail, the token or the secrets in the record, the lists and the deliveries', async () => {
    const mailbox = await world.mailbox()
    await world.deliver(mailbox)
    await world.deliver(mailbox, { signWith: newSecret() })
    const [{ data }] = await heard(mailbox)
    const { body: hooks } = await api('GET', `/v1/webhooks?brand=${mailbox.brand}`)
    const paths = [
      `/v1/audit?limit=200&brand=${mailbox.brand}`,
      inboundOf(mailbox.brand),
      `/v1/connections?brand=${mailbox.brand}`,
      `/v1/webhooks/${hooks.items[0].id}/deliveries`,
      `/v1/sessions/${data.session.id}`,
    ]
    const told = JSON.stringify(await Promise.all(paths.map(async (path) => (await api('GET', path)).body)))
    expect(told).toContain('session.ready')
    const hidden = [
      SUBJECT,
      TEXT,
      'ann@shop',
      data.session.token,
      mailbox.signingSecret,
      new URL(mailbox.url).pathname.split('/')[3]!,
    ]
    expect(hidden.filter((one) => told.includes(one))).toEqual([])
  })

  it('starts one session, however often and at once it is told of, and under whatever id', async () => {
    const mailbox = await world.mailbox()
    const event = received(mailbox)
    const id = `msg_${randomUUID()}`
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.deliver(mailbox, { id, event })))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(answers.map(({ body }) => body.status).sort()).toEqual([...Array(7).fill('duplicate'), 'started'])
    expect((await world.deliver(mailbox, { event })).body.status).toBe('duplicate')
    expect(await world.sessionsOf(mailbox.brand)).toHaveLength(1)
    expect(await heard(mailbox)).toHaveLength(1)
  })

  it('starts no more than a brand may in an hour; the rest is answered 429 with a wait, and written down', async () => {
    const mailbox = await world.mailbox()
    for (let n = 0; n < PER_HOUR; n++) expect((await world.deliver(mailbox)).status).toBe(200)
    const event = received(mailbox)
    for (const id of ['msg_over', 'msg_over', 'msg_over-2']) {
      const { status, body, headers } = await world.deliver(mailbox, { id, event })
      expect([status, body.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '300'])
    }
    expect(await world.sessionsOf(mailbox.brand)).toHaveLength(PER_HOUR)
    expect(await refusals(mailbox)).toEqual([
      expect.stringMatching(/msg_over-2 started no session. 4 inbound-email sessions started within the hour/),
      expect.stringMatching(/msg_over started no session/),
      expect.stringMatching(/msg_over started no session/),
    ])
    expect((await world.deliver(await world.mailbox())).status).toBe(200)
  })

  it('starts nothing while nobody would hear of it, says why, and starts when the vendor tries again', async () => {
    const mailbox = await world.mailbox({ webhook: false })
    const hook = (more: object) => api('POST', '/v1/webhooks', { url: `${world.host.url}/${mailbox.brand}`, ...more })
    // Of every brand, or of other events: neither is for this brand's sessions.
    const { body: every } = await hook({ brand: '*', events: ['session.ready'] })
    await hook({ brand: mailbox.brand, events: ['card.created'] })
    const again = { id: 'msg_again', event: received(mailbox) }
    const { status, body } = await world.deliver(mailbox, again)
    expect([status, body.code]).toEqual([503, 'no_receiver'])
    expect(body.detail).toMatch(/No webhook of the brand .* asks for session\.ready/)
    expect(await world.sessionsOf(mailbox.brand)).toEqual([])
    expect(await refusals(mailbox)).toEqual([expect.stringMatching(/msg_again started no session. No webhook/)])
    await api('DELETE', `/v1/webhooks/${every.id}`)
    const { body: own } = await hook({ brand: mailbox.brand, events: ['session.ready'] })
    expect((await world.deliver(mailbox, again)).body).toEqual({ status: 'started' })
    expect(await heard({ ...mailbox, secret: own.secret })).toHaveLength(1)
  })

  it('is ignored where it is spam, another event, or in another inbox', async () => {
    const mailbox = await world.mailbox()
    const others = [
      received(mailbox, {}, 'message.received.spam'),
      received(mailbox, {}, 'message.received.unauthenticated'),
      { type: 'event', event_type: 'domain.verified', event_id: 'evt_1', domain: {} },
      received({ inbox: 'payroll@agentmail.to' }),
    ]
    for (const event of others) expect((await world.deliver(mailbox, { event })).body.status).toBe('ignored')
    expect(await world.sessionsOf(mailbox.brand)).toEqual([])
  })
})

describe('the same mailbox in a person’s session', () => {
  const send = (token: string) =>
    world.gateway.modern(token, 'tools/call', {
      name: 'agentmail__agentmail_send_message',
      arguments: { to: ['ann@shop.example'], subject: 'Prices', text: 'Here they are.' },
    })

  it('sends once a person said yes, under the approval as key', async () => {
    const { brand, inbox } = await world.mailbox()
    const token = await world.gateway.token({ brand, role: 'person-chat', approval: { channel: 'inbox' } })
    world.standin.on(`POST ${I}/messages/send`, { json: sent })
    const sending = send(token)
    const waiting = async () => (await api('GET', `/v1/approvals?status=pending&brand=${brand}`)).body.items
    await until(async () => (await waiting()).length === 1)
    const [card] = await waiting()
    expect(card.summary).toBe(`Send a mail from ${inbox} to ann@shop.example about “Prices”.`)
    expect(world.standin.seen).toEqual([])
    await api('POST', `/v1/approvals/${card.id}/approve`, {})
    expect((await sending).answer.result.structuredContent).toMatchObject({ sent: true })
    expect(world.standin.seen.map(({ headers }) => headers['idempotency-key'])).toEqual([`tollgate-${card.id}`])
  })

  it('sends nothing where there is nobody to ask', async () => {
    const { brand } = await world.mailbox()
    const token = await world.gateway.token({ brand, role: 'person-chat', approval: { channel: 'none' } })
    expect((await send(token)).text).toMatch(/approval_required/)
    expect(world.standin.seen).toEqual([])
  })
})

it('no line of the log holds an address, a secret, or anything of a mail', async () => {
  const hook = { url: `${world.host.url}/logged`, events: ['session.ready'] }
  const env = { AGENTMAIL_WEBHOOK_URL_SECRET: 'on' }
  const gateway = await startConnectorGateway('agentmail', world.standin.url, env, { webhooks: { allowPrivate: true } })
  const signingSecret = newSecret()
  const inbox = 'logged@agentmail.to'
  await gateway.api('PUT', '/v1/connections/agentmail', { fields: { apiKey: KEY, inbox } })
  const { url } = (await gateway.api('POST', '/v1/connections/agentmail/inbound')).body
  await gateway.api('PUT', '/v1/connections/agentmail/inbound', { signingSecret })
  const { secret } = (await gateway.api('POST', '/v1/webhooks', hook)).body
  const mailbox = { brand: 'logged', inbox, url, signingSecret, secret }
  expect((await world.deliver(mailbox)).status).toBe(200)
  const [{ data }] = await heard(mailbox)
  expect((await world.deliver(mailbox, { signWith: newSecret() })).status).toBe(401)
  expect((await world.deliver(mailbox, { url: `${url.slice(0, -1)}_` })).status).toBe(404)
  await gateway.close()
  const log = gateway.logged.join('')
  const address = url.slice(-43, -1)
  const hidden = [address, signingSecret, SUBJECT, TEXT, 'ann@shop', data.session.token, secret]
  expect(hidden.filter((one) => log.includes(one))).toEqual([])
})
