/**
 * AgentMail: the brand's mailbox. Reading and drafting are free; the four tools that send need a switch and an approval each.
 * @module
 */
import { z } from 'zod'
import { body, defineConnector, GRANTABLE_READ, path, type ToolFacts } from '../src/connector/native/kit.ts'
import { connection } from './agentmail/connection.ts'
import { createDraft, getDraft, listDrafts } from './agentmail/drafts.ts'
import { getAttachment, getMessage, listMessages, searchMessages } from './agentmail/messages.ts'
import { forwardMessage, replyToMessage, sendDraft, sendMessage } from './agentmail/sends.ts'
import { getThread, listThreads, searchThreads } from './agentmail/threads.ts'

const SENDS: ToolFacts = {
  access: 'write',
  grantable: false,
  ask: 'always',
  withoutChannel: 'refuses',
  needs: [{ switch: 'AGENTMAIL_ALLOW_SENDS', otherwise: 'absent' }],
  note: 'The refusal is the control: a session that cannot ask anybody cannot send mail.',
}

interface Identity {
  readonly scope_type?: string
  readonly inbox_id?: string | null
}

const whoami = body({
  title: 'Which mailbox this is',
  description:
    'Says which inbox the tools work in, and whether the key reaches that inbox alone, a pod or an organisation.',
  input: z.strictObject({}),
  async run({ http, settings }) {
    const { json } = await http.get<Identity>(path`/auth/me`)
    return { inbox: settings.inbox, scope: json?.scope_type, keyInbox: json?.inbox_id ?? undefined }
  },
})

export const agentmail = defineConnector({
  slug: 'agentmail',
  title: 'AgentMail',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected AgentMail.',
  connection,
  tools: [
    { name: 'agentmail_list_threads', ...GRANTABLE_READ, body: listThreads },
    { name: 'agentmail_search_threads', ...GRANTABLE_READ, body: searchThreads },
    { name: 'agentmail_get_thread', ...GRANTABLE_READ, body: getThread },
    { name: 'agentmail_list_messages', ...GRANTABLE_READ, body: listMessages },
    { name: 'agentmail_search_messages', ...GRANTABLE_READ, body: searchMessages },
    { name: 'agentmail_get_message', ...GRANTABLE_READ, body: getMessage },
    { name: 'agentmail_get_attachment', ...GRANTABLE_READ, body: getAttachment },
    { name: 'agentmail_whoami', ...GRANTABLE_READ, body: whoami },
    { name: 'agentmail_list_drafts', ...GRANTABLE_READ, body: listDrafts },
    { name: 'agentmail_get_draft', ...GRANTABLE_READ, body: getDraft },
    {
      name: 'agentmail_create_draft',
      access: 'write',
      grantable: false,
      ask: 'never',
      note: 'No approval: a draft is not sent.',
      body: createDraft,
    },
    { name: 'agentmail_send_message', ...SENDS, body: sendMessage },
    { name: 'agentmail_reply_to_message', ...SENDS, body: replyToMessage },
    { name: 'agentmail_forward_message', ...SENDS, body: forwardMessage },
    { name: 'agentmail_send_draft', ...SENDS, body: sendDraft },
  ],
  withheld: [
    { what: 'Deleting inboxes, threads, drafts or messages', why: 'It cannot be undone.' },
    { what: 'creating or changing inboxes', why: "They change where the brand's mail arrives." },
    { what: 'switching organisation', why: 'It would leave the brand.' },
  ],
  captured: [
    {
      what: 'The inbound email instruction to draft, not send, was followed on two messages (2026-08-25)',
      records: ['AGENTMAIL_CAPTURED'],
    },
  ],
  unverified: [
    {
      what: 'The narrowed inbound email session on a live delivery (built 2026-10-11)',
      records: ['AGENTMAIL_UNVERIFIED.inbound_narrow_session'],
    },
  ],
})
