/** What AgentMail's connection says of itself, and mail that leaves at most once. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { agentmail } from '../../../connectors/agentmail.ts'
import { agentmailContract } from '../contracts/agentmail.ts'
import { type Standin, startStandin } from '../standin.ts'
import { type Bench, bench, resultOf } from '../world.ts'
import { FIELDS, I, INBOX, sent } from './answers.ts'
import * as calls from './calls.ts'

let standin: Standin
let made: Bench
beforeAll(async () => {
  standin = await startStandin(agentmailContract, { base: '/v0', auth: () => undefined })
  made = bench(agentmail, standin.url, FIELDS)
})
afterAll(async () => {
  await made.close()
  await standin.close()
})
afterEach(() => {
  const { violations } = standin
  const wrong = [...violations]
  standin.reset()
  expect(wrong).toEqual([])
})

describe('a mail that may have left', () => {
  const send = (args = calls.sendMessage.args) => made.call('agentmail_send_message', args)
  const keys = () => standin.seen.map(({ headers }) => headers['idempotency-key'])
  const operation = `POST ${I}/messages/send`

  it.each([{ fault: 'reset' as const }, { status: 503, json: { name: 'UnavailableError', message: 'Later' } }])(
    'is asked about once more under the same key: %j',
    async (first) => {
      standin.on(operation, first, { json: sent })
      expect(resultOf(await send())).toMatchObject({ sent: true, messageId: sent.message_id })
      expect(keys()).toHaveLength(2)
      expect(new Set(keys()).size).toBe(1)
      expect(keys()[0]).toMatch(/^tollgate-[0-9a-f-]{36}$/)
    },
  )

  it('stays unknown where the second answer is no yes', async () => {
    for (const status of [409, 429, 400]) {
      standin.on(operation, { fault: 'reset' }, { status, json: { name: 'Error', message: 'In progress' } })
      expect(await send()).toMatchObject({
        kind: 'failed',
        code: 'outcome_unknown',
        ran: 'maybe',
        reason: expect.stringContaining('asked again, AgentMail said: In progress'),
      })
    }
  })

  it('goes under another key each time it is asked for anew, and under the approval’s where there is one', async () => {
    standin.on(operation, { json: sent })
    await send()
    await send()
    expect(new Set(keys()).size).toBe(2)
  })
})

describe('the connection', () => {
  it('says how far a key reaches, and refuses one of another inbox', async () => {
    const identity = (more: object) => ({ json: { scope_id: 'x', organization_id: 'org_1', ...more } })
    const check = () => made.vendor.check(made.opened)
    standin.on('GET /auth/me', identity({ scope_type: 'organization' }))
    expect(await check()).toMatch(/reaches every inbox of the organisation; the tools keep to sales\+eu@agentmail\.to/)
    standin.on('GET /auth/me', identity({ scope_type: 'inbox', inbox_id: 'other@agentmail.to' }))
    await expect(check()).rejects.toThrow(/one of another inbox/)
  })

  it('is at the address of its region', () => {
    const { baseUrl } = agentmail.connection as { baseUrl: (settings: object) => string }
    const at = (region?: string) => baseUrl({ inbox: INBOX, ...(region && { region }) })
    expect([at(), at('us'), at('eu')]).toEqual([
      'https://api.agentmail.to/v0',
      'https://api.agentmail.to/v0',
      'https://api.agentmail.eu/v0',
    ])
  })

  it('registers no tool that sends unless AGENTMAIL_ALLOW_SENDS is on', () => {
    const off = bench(agentmail, 'http://127.0.0.1:1', FIELDS, { switches: { AGENTMAIL_ALLOW_SENDS: false } })
    expect(
      off.connector
        .tools()
        .map(({ ownName }) => ownName)
        .filter((name) => /send|reply|forward/.test(name)),
    ).toEqual([])
    expect(off.connector.tools()).toHaveLength(11)
  })
})

describe('the sentence on a card', () => {
  const sentence = (args: object) =>
    made.tool('agentmail_send_message').summary?.(JSON.stringify({ text: 'x', ...args }))

  it('names every kind of recipient and every attachment, however long another list is', () => {
    const to = Array.from({ length: 40 }, (_, i) => `somebody-with-a-long-name-${i}@shop.example`)
    const attachments = ['a', 'b'].map((name) => ({
      filename: `${name.repeat(200)}.txt`,
      contentType: 'text/plain',
      content: 'aGVsbG8=',
    }))
    const long = sentence({
      to,
      bcc: ['spy@evil.example'],
      subject: 's'.repeat(900),
      replyTo: to.slice(0, 9),
      attachments,
    })
    expect(long).toMatch(
      /to 40 recipients, all named below; bcc spy@evil\.example about “s+…”, with 2 attachments \(a+…\)/,
    )
    expect(long).toMatch(/; answers go to 9 addresses, all named below\.$/)
    expect(long?.length).toBeLessThanOrEqual(300)
    expect(sentence({ to: ['a@b.example'] })).toBe(`Send a mail from ${INBOX} to a@b.example without a subject.`)
  })
})
