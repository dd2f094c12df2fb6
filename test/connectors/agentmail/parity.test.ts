/** The vendor's own client as an oracle: for the same intent it sends the same requests. */
import { AgentMailClient } from 'agentmail'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { agentmail } from '../../../connectors/agentmail.ts'
import { agentmailContract } from '../contracts/agentmail.ts'
import { type Seen, type Standin, startStandin } from '../standin.ts'
import type { Works } from '../suite.ts'
import { type Bench, bench } from '../world.ts'
import { FIELDS, INBOX, KEY, MID } from './answers.ts'
import * as calls from './calls.ts'

let standin: Standin
let made: Bench
let sdk: AgentMailClient
beforeAll(async () => {
  standin = await startStandin(agentmailContract, { base: '/v0', auth: () => undefined })
  made = bench(agentmail, standin.url, FIELDS)
  sdk = new AgentMailClient({ apiKey: KEY, baseUrl: new URL(standin.url).origin, maxRetries: 0 })
})
afterAll(async () => {
  await made.close()
  await standin.close()
})
beforeEach(() => standin.reset())

const FILE = { filename: 'a.txt', contentType: 'text/plain', content: 'aGVsbG8=' }
const MAIL = { to: ['Ann <ann@shop.example>'], cc: ['bob@shop.example'], text: 'Hello', attachments: [FILE] }
const key = { idempotencyKey: 'tollgate-x' }
const desk = { replyTo: ['desk@shop.example'] }

/** Each tool, and what somebody with the SDK would write. */
const INTENTS: readonly [
  tool: string,
  call: Works,
  sdk: (inboxes: AgentMailClient['inboxes']) => PromiseLike<unknown>,
][] = [
  [
    'list_threads',
    calls.listThreads,
    ({ threads }) =>
      threads.list(INBOX, {
        limit: 2,
        pageToken: 'tok 1',
        labels: ['received', 'unread'],
        before: new Date('2026-11-02T00:00:00+01:00'),
        after: new Date('2026-10-01T00:00:00Z'),
        ascending: true,
        includeSpam: true,
        senders: ['ann@shop.example'],
        recipients: ['sales'],
        subject: ['Prices & more'],
      }),
  ],
  ['search_threads', calls.searchThreads, ({ threads }) => threads.search(INBOX, { q: 'prices', limit: 5 })],
  ['get_thread', calls.getThread, ({ threads }) => threads.get(INBOX, 'thd_1', { limit: 20 })],
  [
    'list_messages',
    calls.listMessages,
    ({ messages }) => messages.list(INBOX, { limit: 2, from: ['ann'], to: ['sales'], subject: ['a', 'b'] }),
  ],
  [
    'search_messages',
    calls.searchMessages,
    ({ messages }) =>
      messages.search(INBOX, { q: 'prices', limit: 20, pageToken: 'tok 1', after: new Date('2026-10-01T00:00:00Z') }),
  ],
  ['get_message', calls.getMessage, ({ messages }) => messages.get(INBOX, MID)],
  ['get_attachment', calls.getAttachment, ({ messages }) => messages.getAttachment(INBOX, MID, 'att_1')],
  ['whoami', calls.whoami, () => sdk.auth.me()],
  ['list_drafts', calls.listDrafts, ({ drafts }) => drafts.list(INBOX, { limit: 2, labels: ['draft'] })],
  ['get_draft', calls.getDraft, ({ drafts }) => drafts.get(INBOX, 'dft_1')],
  [
    'create_draft',
    calls.createDraft,
    ({ drafts }) =>
      drafts.create(INBOX, {
        ...MAIL,
        ...desk,
        subject: 'Prices',
        html: '<p>Hello</p>',
        forwardOf: MID,
        clientId: 'c',
      }),
  ],
  [
    'send_message',
    calls.sendMessage,
    ({ messages }) => messages.send(INBOX, { ...MAIL, ...desk, bcc: ['log@shop.example'], subject: 'Prices' }, key),
  ],
  ['reply_to_message', calls.replyToMessage, ({ messages }) => messages.reply(INBOX, MID, MAIL, key)],
  [
    'forward_message',
    calls.forwardMessage,
    ({ messages }) => messages.forward(INBOX, MID, { to: ['carl@shop.example'], subject: 'Fwd: Prices' }, key),
  ],
  ['send_draft', calls.sendDraft, ({ drafts }) => drafts.send(INBOX, 'dft_1', {}, key)],
]

/** What counts: the order of parameters and the spelling of an escape do not, nor the value of a key of one's own. */
const told = ({ method, path, query, headers, body }: Seen) => {
  const own = body as { client_id?: string } | undefined
  return {
    method,
    path,
    query,
    authorization: headers.authorization,
    type: body === undefined ? undefined : String(headers['content-type']).split(';')[0],
    hasKey: headers['idempotency-key'] !== undefined,
    body: own?.client_id === undefined ? own : { ...own, client_id: 'any' },
  }
}

it.each(INTENTS)('agentmail_%s sends what the SDK sends', async (tool, { args, answers }, intent) => {
  for (const [operation, answer] of Object.entries(answers)) standin.on(operation, answer as never)
  await made.call(`agentmail_${tool}`, args)
  const [ours] = standin.seen
    .filter(({ path }) => !path.startsWith('/files/'))
    .slice(-1)
    .map(told)
  standin.seen.length = 0
  await intent(sdk.inboxes)
  expect(ours).toEqual(told(standin.seen[0] as Seen))
  expect(standin.violations).toEqual([])
})

it('covers every tool', () => {
  expect(INTENTS.map(([tool]) => `agentmail_${tool}`).sort()).toEqual(
    agentmail.tools.map(({ ownName }) => ownName).sort(),
  )
})
