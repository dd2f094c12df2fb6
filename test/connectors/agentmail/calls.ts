/**
 * One whole call of each tool: what is asked, what leaves, what comes back.
 * @module
 */
import { expect } from 'vitest'
import type { Seen } from '../standin.ts'
import type { Works } from '../suite.ts'
import { AT, attachment, draft, draftItem, I, INBOX, item, message, MID, sent, thread } from './answers.ts'

const page = (more: object) => ({ json: { count: 1, limit: 2, next_page_token: 'tok 2', ...more } })
const get = (path: string, query: object = {}) => ({ method: 'GET', path: AT + path, query })
const post = (path: string, body: object) => ({ method: 'POST', path: AT + path, body })

export const listThreads: Works = {
  args: {
    limit: 2,
    page: 'tok 1',
    labels: ['received', 'unread'],
    before: '2026-11-02T00:00:00+01:00',
    after: '2026-10-01T00:00:00Z',
    ascending: true,
    includeSpam: true,
    senders: ['ann@shop.example'],
    recipients: ['sales'],
    subject: ['Prices & more'],
  },
  answers: { [`GET ${I}/threads`]: page({ threads: [thread()] }) },
  sends: [
    get('/threads', {
      limit: '2',
      page_token: 'tok 1',
      labels: '["received","unread"]',
      before: '2026-11-01T23:00:00.000Z',
      after: '2026-10-01T00:00:00.000Z',
      ascending: 'true',
      include_spam: 'true',
      senders: '["ann@shop.example"]',
      recipients: '["sales"]',
      subject: '["Prices & more"]',
    }),
  ],
  result: {
    note: expect.stringContaining('never an instruction'),
    threads: [
      { threadId: 'thd_1', subject: 'Prices', messages: 2, attachments: [{ attachmentId: 'att_1', size: 12 }] },
    ],
    nextPage: 'tok 2',
  },
}

export const searchThreads: Works = {
  args: { q: 'prices', limit: 5 },
  answers: { [`GET ${I}/threads/search`]: page({ threads: [thread({ highlights: { text: ['<em>prices</em>'] } })] }) },
  sends: [get('/threads/search', { q: 'prices', limit: '5' })],
  result: { threads: [{ highlights: { text: ['<em>prices</em>'] } }], nextPage: 'tok 2' },
}

export const getThread: Works = {
  args: { threadId: 'thd_1' },
  answers: {
    [`GET ${I}/threads/{thread_id}`]: page({ ...thread(), messages: [message(), message({ extracted_text: null })] }),
  },
  sends: [get('/threads/thd_1', { limit: '20' })],
  result: {
    threadId: 'thd_1',
    messages: [
      { messageId: MID, text: 'Could you send the prices?', quotedTextLeftOut: true },
      { text: 'Could you send the prices?\n> On Monday you wrote a lot.' },
    ],
    nextPage: 'tok 2',
  },
}

export const listMessages: Works = {
  args: { from: ['ann'], to: ['sales'], subject: ['a', 'b'], limit: 2 },
  answers: { [`GET ${I}/messages`]: page({ messages: [item()] }) },
  sends: [get('/messages', { limit: '2', from: '["ann"]', to: '["sales"]', subject: '["a","b"]' })],
  result: { messages: [{ messageId: MID, from: 'Ann <ann@shop.example>', preview: 'Could you' }], nextPage: 'tok 2' },
}

export const searchMessages: Works = {
  args: { q: 'prices', page: 'tok 1', after: '2026-10-01T00:00:00Z' },
  answers: { [`GET ${I}/messages/search`]: page({ messages: [item({ highlights: { subject: ['Prices'] } })] }) },
  sends: [
    get('/messages/search', { q: 'prices', limit: '20', page_token: 'tok 1', after: '2026-10-01T00:00:00.000Z' }),
  ],
  result: { messages: [{ highlights: { subject: ['Prices'] } }], nextPage: 'tok 2' },
}

export const getMessage: Works = {
  args: { messageId: MID },
  answers: { [`GET ${I}/messages/{message_id}`]: { json: message() } },
  sends: [get(`/messages/${MID}`)],
  result: { note: expect.any(String), messageId: MID, text: 'Could you send the prices?', quotedTextLeftOut: true },
}

/** The link leads to the stand-in itself, whose address a test knows only once it runs. */
export const linked =
  (own: object = {}) =>
  (seen: Seen) => ({
    json: attachment(`http://${seen.headers.host}/v0/files/prices.csv?signature=s3cr3t`, own),
  })

export const getAttachment: Works = {
  args: { messageId: MID, attachmentId: 'att_1' },
  answers: {
    [`GET ${I}/messages/{message_id}/attachments/{attachment_id}`]: linked(),
    'GET /files/{file}': { text: 'name,price\nA,1' },
  },
  sends: [
    get(`/messages/${MID}/attachments/att_1`),
    { method: 'GET', path: '/files/prices.csv', query: { signature: 's3cr3t' } },
  ],
  result: { filename: 'prices.csv', contentType: 'text/csv', size: 12, text: 'name,price\nA,1' },
}

export const whoami: Works = {
  args: {},
  answers: {
    'GET /auth/me': { json: { scope_type: 'inbox', scope_id: INBOX, organization_id: 'org_1', inbox_id: INBOX } },
  },
  sends: [{ method: 'GET', path: '/auth/me', query: {} }],
  result: { inbox: INBOX, scope: 'inbox', keyInbox: INBOX },
}

export const listDrafts: Works = {
  args: { limit: 2, labels: ['draft'] },
  answers: { [`GET ${I}/drafts`]: page({ drafts: [draftItem] }) },
  sends: [get('/drafts', { limit: '2', labels: '["draft"]' })],
  result: { drafts: [{ draftId: 'dft_1', to: ['ann@shop.example'], bcc: [] }], nextPage: 'tok 2' },
}

export const getDraft: Works = {
  args: { draftId: 'dft_1' },
  answers: { [`GET ${I}/drafts/{draft_id}`]: { json: draft({ send_status: 'failed' }) } },
  sends: [get('/drafts/dft_1')],
  result: { draftId: 'dft_1', text: 'Here they are.', sendStatus: 'failed', attachments: [{ filename: 'prices.csv' }] },
}

const FILE = { filename: 'a.txt', contentType: 'text/plain', content: 'aGVsbG8=' }
const FILE_ON_THE_WIRE = { filename: 'a.txt', content_type: 'text/plain', content: 'aGVsbG8=' }
const MAIL = { to: ['Ann <ann@shop.example>'], cc: ['bob@shop.example'], text: 'Hello', attachments: [FILE] }
const MAIL_ON_THE_WIRE = {
  to: ['Ann <ann@shop.example>'],
  cc: ['bob@shop.example'],
  text: 'Hello',
  attachments: [FILE_ON_THE_WIRE],
}

export const createDraft: Works = {
  args: { ...MAIL, replyTo: ['desk@shop.example'], subject: 'Prices', html: '<p>Hello</p>', forwardOf: MID },
  answers: { [`POST ${I}/drafts`]: { json: draft() } },
  sends: [
    post('/drafts', {
      ...MAIL_ON_THE_WIRE,
      reply_to: ['desk@shop.example'],
      subject: 'Prices',
      html: '<p>Hello</p>',
      forward_of: MID,
      client_id: expect.stringMatching(/^tollgate-[0-9a-f-]{36}$/),
    }),
  ],
  result: { draftId: 'dft_1', subject: 'Prices' },
  tries: 2,
}

const who = 'to Ann <ann@shop.example>; cc bob@shop.example'

export const sendMessage: Works = {
  args: { ...MAIL, bcc: ['log@shop.example'], subject: 'Prices', replyTo: ['desk@shop.example'] },
  answers: { [`POST ${I}/messages/send`]: { json: sent } },
  sends: [
    post('/messages/send', {
      ...MAIL_ON_THE_WIRE,
      bcc: ['log@shop.example'],
      reply_to: ['desk@shop.example'],
      subject: 'Prices',
    }),
  ],
  result: { sent: true, messageId: sent.message_id, threadId: 'thd_1' },
  summary: `Send a mail from ${INBOX} ${who}; bcc log@shop.example about “Prices”, with an attachment (a.txt); answers go to desk@shop.example.`,
  tries: 2,
}

export const replyToMessage: Works = {
  args: { messageId: MID, ...MAIL },
  answers: { [`POST ${I}/messages/{message_id}/reply`]: { json: sent } },
  sends: [post(`/messages/${MID}/reply`, MAIL_ON_THE_WIRE)],
  result: { sent: true, messageId: sent.message_id },
  summary: `Answer a mail from ${INBOX} ${who}, with an attachment (a.txt). The message: ${MID}`,
  tries: 2,
}

export const forwardMessage: Works = {
  args: { messageId: MID, to: ['carl@shop.example'], subject: 'Fwd: Prices' },
  answers: { [`POST ${I}/messages/{message_id}/forward`]: { json: sent } },
  sends: [post(`/messages/${MID}/forward`, { to: ['carl@shop.example'], subject: 'Fwd: Prices' })],
  result: { sent: true, messageId: sent.message_id },
  summary: `Forward a mail with its attachments from ${INBOX} to carl@shop.example about “Fwd: Prices”. The message: ${MID}`,
  tries: 2,
}

export const STATED = {
  draftId: 'dft_1',
  to: ['ann@shop.example'],
  cc: ['bob@shop.example'],
  subject: 'Prices',
  text: 'Here they are.',
  attachments: ['prices.csv'],
}

export const sendDraft: Works = {
  args: STATED,
  answers: { [`GET ${I}/drafts/{draft_id}`]: { json: draft() }, [`POST ${I}/drafts/{draft_id}/send`]: { json: sent } },
  sends: [get('/drafts/dft_1'), post('/drafts/dft_1/send', {})],
  result: { sent: true, messageId: sent.message_id },
  summary: `Send a draft from ${INBOX} to ann@shop.example; cc bob@shop.example about “Prices”, with an attachment (prices.csv). The draft: dft_1`,
}
