/**
 * Drafts: read, and left for a person. A draft is never scheduled here, since that would send it.
 * @module
 */
import { z } from 'zod'
import { body, path, Refusal } from '../../src/connector/native/kit.ts'
import { listing, listQuery, nextPage, type Page } from './lists.ts'
import {
  addresses,
  attached,
  attachments,
  attachmentsOf,
  cut,
  id,
  NOTE,
  recipients,
  some,
  subject,
  text,
  type VendorAttachment,
} from './mail.ts'
import { forbidden, oncePerCall, recipientRules } from './sending.ts'

export interface VendorDraft {
  readonly draft_id?: string
  readonly to?: readonly string[] | null
  readonly cc?: readonly string[] | null
  readonly bcc?: readonly string[] | null
  readonly reply_to?: readonly string[] | null
  readonly subject?: string | null
  readonly preview?: string | null
  readonly text?: string | null
  readonly html?: string | null
  readonly attachments?: readonly VendorAttachment[] | null
  readonly in_reply_to?: string | null
  readonly forward_of?: string | null
  readonly send_status?: string | null
  readonly send_at?: string | null
  readonly updated_at?: string
}

const headOf = (draft: VendorDraft) => ({
  draftId: draft.draft_id,
  to: draft.to ?? [],
  cc: draft.cc ?? [],
  bcc: draft.bcc ?? [],
  subject: draft.subject ?? undefined,
  preview: draft.preview ?? undefined,
  attachments: attachmentsOf(draft.attachments) ?? [],
  inReplyTo: draft.in_reply_to ?? undefined,
  forwardOf: draft.forward_of ?? undefined,
  sendStatus: draft.send_status ?? undefined,
  sendAt: draft.send_at ?? undefined,
  updatedAt: draft.updated_at,
})

const whole = (draft: VendorDraft) => ({
  ...headOf(draft),
  replyTo: draft.reply_to ?? undefined,
  text: cut(draft.text, 100_000),
  html: cut(draft.html, 100_000),
})

export const listDrafts = body({
  title: 'List drafts',
  description: 'Lists the drafts of the inbox without their texts, a page at a time.',
  input: z.strictObject(listing),
  async run({ args, http, settings: { inbox = '' } }) {
    const { json } = await http.get<Page & { drafts?: readonly VendorDraft[] }>(path`/inboxes/${inbox}/drafts`, {
      query: listQuery(args),
    })
    return { note: NOTE, drafts: (json?.drafts ?? []).map(headOf), nextPage: nextPage(json) }
  },
})

export const getDraft = body({
  title: 'Read a draft',
  description: 'Reads one draft whole.',
  input: z.strictObject({ draftId: id }),
  async run({ args, http, settings: { inbox = '' } }) {
    const { json } = await http.get<VendorDraft>(path`/inboxes/${inbox}/drafts/${args.draftId}`)
    return { note: NOTE, ...whole(json ?? {}) }
  },
})

export const createDraft = body({
  title: 'Leave a draft',
  description:
    'Leaves a draft in the inbox: a new mail, an answer (inReplyTo) or a forward (forwardOf). It is not sent, now or later; a person sends it.',
  input: z.strictObject({
    ...recipients,
    replyTo: addresses.default([]),
    subject: subject.optional(),
    text: text.optional(),
    html: text.optional(),
    inReplyTo: id.optional().describe('The message it answers.'),
    replyAll: z.boolean().default(false).describe('With inReplyTo: to all who had the message; then no to, cc or bcc.'),
    forwardOf: id.optional().describe('The message it forwards.'),
    attachments,
  }),
  forbidden,
  refuse: (args) => recipientRules(args) ?? draftRules(args),
  async run({ args, http, settings: { inbox = '' }, key, signal }) {
    const json = {
      to: some(args.to),
      cc: some(args.cc),
      bcc: some(args.bcc),
      reply_to: some(args.replyTo),
      subject: args.subject,
      text: args.text,
      html: args.html,
      attachments: attached(args.attachments),
      in_reply_to: args.inReplyTo,
      forward_of: args.forwardOf,
      reply_all: args.replyAll || undefined,
      // AgentMail makes one draft of each, however often it is asked.
      client_id: `tollgate-${key}`,
    }
    const draft = await oncePerCall<VendorDraft>(() => http.post(path`/inboxes/${inbox}/drafts`, { json }), signal)
    return whole(draft ?? {})
  },
})

type Draft = {
  readonly inReplyTo?: string | undefined
  readonly forwardOf?: string | undefined
  readonly replyAll: boolean
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
}

function draftRules({ inReplyTo, forwardOf, replyAll, to, cc, bcc }: Draft): Refusal | undefined {
  const no = (sentence: string) => new Refusal('invalid_arguments', sentence)
  if (inReplyTo !== undefined && forwardOf !== undefined) return no('State inReplyTo or forwardOf, not both.')
  if (replyAll && inReplyTo === undefined) return no('replyAll needs inReplyTo.')
  if (replyAll && to.length + cc.length + bcc.length > 0) return no('With replyAll leave out to, cc and bcc.')
  return undefined
}
