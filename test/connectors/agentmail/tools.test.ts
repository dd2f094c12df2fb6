/** AgentMail's fifteen tools against a stand-in that the vendor's own serializers judge. */
import { expect } from 'vitest'
import { agentmail } from '../../../connectors/agentmail.ts'
import { agentmailContract } from '../contracts/agentmail.ts'
import { testConnector, type ToolCases, type Works } from '../suite.ts'
import { AT, attachment, documented, draft, FIELDS, I, KEY, message } from './answers.ts'
import * as calls from './calls.ts'

function cases(first: Works, more: Omit<ToolCases, 'works'> & { works?: readonly Works[] } = {}): ToolCases {
  return {
    ...more,
    works: [first, ...(more.works ?? [])],
    fails: { ...documented(first, first.tries === 2), ...more.fails },
  }
}

const never = /is never taken: a scheduled draft sends itself/
const scheduling = (args: object) =>
  Object.fromEntries(
    [
      'send_at',
      'sendAt',
      'SEND-AT',
      'send_on',
      'scheduled_at',
      'schedule',
      'scheduledFor',
      'delay_seconds',
      'send',
    ].map((name) => [name, { args: { ...args, [name]: '2026-12-01T08:00:00Z' }, says: never }]),
  )
const link = (args: object) => ({
  'an attachment by its address': {
    args: { ...args, attachments: [{ filename: 'a', contentType: 'text/plain', url: 'http://169.254.169.254/' }] },
    says: /attachment by "url" is never taken/,
  },
})
const unclear = {
  'two recipients in one text': {
    args: { to: ['a@b.example, c@d.example'], text: 'x' },
    says: /"to\[0\]": one mail address/,
  },
  'an address hidden behind a name': {
    args: { to: ['boss@shop.example <spy@evil.example>'], text: 'x' },
    says: /"to\[0\]": one mail address/,
  },
  'a subject of two lines': {
    args: { to: ['a@b.example'], text: 'x', subject: 'a\r\nBcc: c@d.example' },
    says: /"subject": one line/,
  },
  'too many recipients': {
    args: {
      to: Array.from({ length: 40 }, (_, i) => `a${i}@b.example`),
      bcc: Array.from({ length: 11 }, (_, i) => `c${i}@b.example`),
      text: 'x',
    },
    says: /51 recipients are more than 50/,
  },
}
const withId = (bad: Record<string, { args: object; says: RegExp }>) =>
  Object.fromEntries(
    Object.entries(bad).map(([name, one]) => [name, { ...one, args: { messageId: '<a@b>', ...one.args } }]),
  )
const nobody = { 'nobody to send to': { args: { text: 'x' }, says: /Nobody would get it/ } }
const badPage = { 'a page that is too long': { args: { limit: 101 }, says: /"limit"/ } }

testConnector({
  connector: agentmail,
  contract: agentmailContract,
  base: '/v0',
  fields: FIELDS,
  auth: ({ authorization }, path) => {
    if (path.startsWith('/files/')) return authorization === undefined ? undefined : 'the key went to the file store'
    return authorization === `Bearer ${KEY}` ? undefined : 'the key is missing or not as sent'
  },
  check: { answers: calls.whoami.answers, says: /one of sales\+eu@agentmail\.to alone/ },
  tools: {
    agentmail_list_threads: cases(calls.listThreads, {
      works: [
        {
          name: 'asks for nothing that was not said, and knows the last page',
          args: {},
          answers: { [`GET ${I}/threads`]: { json: { count: 0, threads: [] } } },
          sends: [{ method: 'GET', path: `${AT}/threads`, query: { limit: '20' } }],
          result: { threads: [] },
        },
      ],
      bad: { ...badPage, 'a time that is none': { args: { before: 'yesterday' }, says: /"before": a time/ } },
    }),
    agentmail_search_threads: cases(calls.searchThreads, {
      bad: { 'nothing to look for': { args: {}, says: /"q" is missing/ } },
    }),
    agentmail_get_thread: cases(calls.getThread, { bad: { 'no id': { args: {}, says: /"threadId" is missing/ } } }),
    agentmail_list_messages: cases(calls.listMessages, { bad: badPage }),
    agentmail_search_messages: cases(calls.searchMessages, {
      bad: { 'nothing to look for': { args: {}, says: /"q" is missing/ } },
    }),
    agentmail_get_message: cases(calls.getMessage, {
      works: [
        {
          name: 'gives what is quoted where it is asked for',
          args: { ...calls.getMessage.args, whole: true },
          answers: calls.getMessage.answers,
          sends: calls.getMessage.sends,
          result: { text: 'Could you send the prices?\n> On Monday you wrote a lot.' },
        },
        {
          name: 'gives the HTML of a message without text, cut where it is long',
          args: calls.getMessage.args,
          answers: {
            [`GET ${I}/messages/{message_id}`]: {
              json: message({ text: null, extracted_text: null, html: 'x'.repeat(100_001) }),
            },
          },
          sends: calls.getMessage.sends,
          result: { html: expect.stringMatching(/x\n\[cut: 100001 characters in all\]$/) },
        },
      ],
      bad: { 'no id': { args: {}, says: /"messageId" is missing/ } },
    }),
    agentmail_get_attachment: cases(calls.getAttachment, {
      works: [
        {
          name: 'does not fetch what is no text',
          args: { draftId: 'dft_1', attachmentId: 'att_1' },
          answers: {
            [`GET ${I}/drafts/{draft_id}/attachments/{attachment_id}`]: calls.linked({ content_type: 'image/png' }),
          },
          sends: [{ method: 'GET', path: `${AT}/drafts/dft_1/attachments/att_1` }],
          result: { contentType: 'image/png', textLeftOut: 'It is no text.' },
        },
        {
          name: 'does not fetch what is too large',
          args: calls.getAttachment.args,
          answers: {
            [`GET ${I}/messages/{message_id}/attachments/{attachment_id}`]: calls.linked({ size: 3_000_000 }),
          },
          sends: calls.getAttachment.sends.slice(0, 1),
          result: { textLeftOut: 'It is larger than 2 MB.' },
        },
      ],
      fails: {
        'a link that has expired': {
          answers: { ...calls.getAttachment.answers, 'GET /files/{file}': { status: 403, text: '<Error/>' } },
          code: 'upstream_unavailable',
          says: /403: HTTP status 403/,
        },
        'a link to an address that is nobody’s to reach': {
          answers: {
            [`GET ${I}/messages/{message_id}/attachments/{attachment_id}`]: {
              json: attachment('http://169.254.169.254/latest/meta-data'),
            },
          },
          code: 'upstream_unavailable',
          says: /169\.254\.169\.254/,
        },
        'a file that is larger than it said': {
          answers: { ...calls.getAttachment.answers, 'GET /files/{file}': { fault: 'huge' } },
          code: 'upstream_unavailable',
          says: /larger than 2097152 bytes/,
        },
      },
      bad: {
        'neither message nor draft': { args: { attachmentId: 'att_1' }, says: /State messageId or draftId/ },
        both: { args: { attachmentId: 'a', messageId: 'b', draftId: 'c' }, says: /one of the two/ },
      },
    }),
    agentmail_whoami: cases(calls.whoami),
    agentmail_list_drafts: cases(calls.listDrafts, { bad: badPage }),
    agentmail_get_draft: cases(calls.getDraft, { bad: { 'no id': { args: {}, says: /"draftId" is missing/ } } }),
    agentmail_create_draft: cases(calls.createDraft, {
      works: [
        {
          name: 'leaves an answer to all who had a message',
          args: { inReplyTo: '<a@b>', replyAll: true, text: 'Hello' },
          answers: calls.createDraft.answers,
          sends: [
            {
              method: 'POST',
              path: `${AT}/drafts`,
              body: { in_reply_to: '<a@b>', reply_all: true, text: 'Hello', client_id: expect.any(String) },
            },
          ],
          result: { draftId: 'dft_1' },
        },
      ],
      bad: {
        ...unclear,
        'an answer and a forward at once': { args: { inReplyTo: '<a@b>', forwardOf: '<a@b>' }, says: /not both/ },
        'an answer to all of nothing': { args: { replyAll: true }, says: /replyAll needs inReplyTo/ },
        'an answer to all, and to others': {
          args: { inReplyTo: '<a@b>', replyAll: true, to: ['a@b.example'] },
          says: /leave out to/,
        },
      },
      forbidden: { ...scheduling({ to: ['a@b.example'], text: 'x' }), ...link({ to: ['a@b.example'], text: 'x' }) },
    }),
    agentmail_send_message: cases(calls.sendMessage, {
      fails: {
        'a message that is not taken, which no scope mends': {
          answers: {
            [`POST ${I}/messages/send`]: {
              status: 403,
              json: { name: 'MessageRejectedError', code: 'message_rejected', message: 'Recipient blocked' },
            },
          },
          code: 'invalid_arguments',
          says: /message_rejected\): Recipient blocked/,
        },
      },
      bad: { ...unclear, ...nobody, 'nothing to send': { args: { to: ['a@b.example'] }, says: /It would be empty/ } },
      forbidden: { ...scheduling({ to: ['a@b.example'], text: 'x' }), ...link({ to: ['a@b.example'], text: 'x' }) },
    }),
    agentmail_reply_to_message: cases(calls.replyToMessage, {
      bad: {
        ...withId(Object.fromEntries(Object.entries(unclear).filter(([name]) => !name.includes('subject')))),
        ...withId({ nobody: { args: { text: 'x' }, says: /State in "to" who gets the answer/ } }),
      },
      forbidden: link({ messageId: '<a@b>', to: ['a@b.example'], text: 'x' }),
    }),
    agentmail_forward_message: cases(calls.forwardMessage, {
      bad: withId({ ...unclear, ...nobody }),
      forbidden: link({ messageId: '<a@b>', to: ['a@b.example'] }),
    }),
    agentmail_send_draft: cases(calls.sendDraft, {
      fails: {
        ...Object.fromEntries(
          Object.entries({
            to: { to: ['ann@shop.example', 'spy@evil.example'] },
            bcc: { bcc: ['spy@evil.example'] },
            replyTo: { reply_to: ['spy@evil.example'] },
            subject: { subject: 'Other prices' },
            text: { text: 'Here are others.' },
            html: { html: '<p>Here are others.</p>' },
            attachments: { attachments: [] },
            'it is scheduled already': { send_status: 'scheduled', send_at: '2026-12-01T08:00:00.000Z' },
          }).map(([what, own]) => [
            `a draft that changed meanwhile: ${what}`,
            {
              answers: { [`GET ${I}/drafts/{draft_id}`]: { json: draft(own) } },
              code: 'forbidden_arguments' as const,
              says: new RegExp(`another than the one stated \\(${what}\\)`),
            },
          ]),
        ),
        'a draft that is being sent already': {
          answers: {
            ...calls.sendDraft.answers,
            [`POST ${I}/drafts/{draft_id}/send`]: {
              status: 409,
              json: { name: 'ConflictError', code: 'conflict', message: 'Sending' },
            },
          },
          code: 'invalid_arguments',
          says: /409 \(conflict\): Sending/,
        },
      },
      bad: { 'nobody to send to': { args: { draftId: 'd' }, says: /Nobody would get it/ } },
      forbidden: scheduling(calls.STATED),
    }),
  },
})
