/**
 * AgentMail: the brand's mailbox. Reading and drafting are free; the four tools that send need a switch and an approval each.
 * @module
 */
import { defineConnector, each, GRANTABLE_READ } from '../src/connector/define.ts'

export const agentmail = defineConnector({
  slug: 'agentmail',
  title: 'AgentMail',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected AgentMail.',
  tools: [
    ...each('agentmail_list_threads agentmail_search_threads agentmail_get_thread', GRANTABLE_READ),
    ...each('agentmail_list_messages agentmail_search_messages agentmail_get_message', GRANTABLE_READ),
    ...each('agentmail_get_attachment agentmail_whoami agentmail_list_drafts agentmail_get_draft', GRANTABLE_READ),
    {
      name: 'agentmail_create_draft',
      access: 'write',
      grantable: false,
      ask: 'never',
      note: 'No approval: a draft is not sent.',
    },
    ...each('agentmail_send_message agentmail_reply_to_message agentmail_forward_message agentmail_send_draft', {
      access: 'write',
      grantable: false,
      ask: 'always',
      withoutChannel: 'refuses',
      needs: [{ switch: 'AGENTMAIL_ALLOW_SENDS', otherwise: 'absent' }],
      note: 'The refusal is the control: a session that cannot ask anybody cannot send mail.',
    }),
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
