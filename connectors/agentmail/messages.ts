/**
 * Messages of the inbox, and what is attached to them.
 * @module
 */
import { z } from 'zod'
import { body, path, Refusal } from '../../src/connector/native/kit.ts'
import {
  contains,
  hidden,
  hiddenQuery,
  listing,
  listQuery,
  listText,
  nextPage,
  type Page,
  pageQuery,
  periodQuery,
  searching,
} from './lists.ts'
import { cut, headOf, id, messageOf, NOTE, type VendorAttachment, type VendorMessage } from './mail.ts'

interface Messages extends Page {
  readonly messages?: readonly VendorMessage[]
}

const pageOf = (page: Messages | undefined) => ({
  note: NOTE,
  messages: (page?.messages ?? []).map((one) => ({ ...headOf(one), highlights: one.highlights ?? undefined })),
  nextPage: nextPage(page),
})

export const listMessages = body({
  title: 'List mail',
  description: 'Lists the messages of the inbox without their texts, newest first, a page at a time.',
  input: z.strictObject({
    ...listing,
    ...hidden,
    from: contains('the sender'),
    to: contains('a recipient'),
    subject: contains('the subject'),
  }),
  async run({ args, http, settings: { inbox = '' } }) {
    const query = {
      ...listQuery(args),
      ...hiddenQuery(args),
      from: listText(args.from),
      to: listText(args.to),
      subject: listText(args.subject),
    }
    return pageOf((await http.get<Messages>(path`/inboxes/${inbox}/messages`, { query })).json)
  },
})

export const searchMessages = body({
  title: 'Search mail',
  description:
    'Searches the messages of the inbox, the best first, with the places that matched. Spam and trash are never among them.',
  input: z.strictObject(searching),
  async run({ args, http, settings: { inbox = '' } }) {
    const query = { q: args.q, ...pageQuery(args), ...periodQuery(args) }
    return pageOf((await http.get<Messages>(path`/inboxes/${inbox}/messages/search`, { query })).json)
  },
})

export const getMessage = body({
  title: 'Read a mail',
  description: 'Reads one message: what is new in it, or all of it with what it quotes.',
  input: z.strictObject({
    messageId: id.describe('As in <…@…>.'),
    whole: z.boolean().default(false).describe('With the text it quotes.'),
  }),
  async run({ args, http, settings: { inbox = '' } }) {
    const { json } = await http.get<VendorMessage>(path`/inboxes/${inbox}/messages/${args.messageId}`)
    return { note: NOTE, ...messageOf(json ?? {}, 100_000, args.whole) }
  },
})

const MOST_BYTES = 2 * 1024 * 1024
const TEXT = /^(?:text\/|application\/(?:json|xml|yaml|x-ndjson|csv|calendar)\b)|[+](?:json|xml)\b/

export const getAttachment = body({
  title: 'Read an attachment',
  description:
    'Says what an attachment of a message or a draft is, and gives its text where it is a text of at most 2 MB.',
  input: z.strictObject({
    messageId: id.optional().describe('The message it is attached to, or else draftId.'),
    draftId: id.optional(),
    attachmentId: id,
  }),
  refuse: ({ messageId, draftId }) =>
    (messageId === undefined) === (draftId === undefined)
      ? new Refusal('invalid_arguments', 'State messageId or draftId, one of the two.')
      : undefined,
  async run({ args: { messageId, draftId, attachmentId }, http, download, settings: { inbox = '' } }) {
    const at =
      draftId === undefined
        ? path`/inboxes/${inbox}/messages/${messageId ?? ''}/attachments/${attachmentId}`
        : path`/inboxes/${inbox}/drafts/${draftId}/attachments/${attachmentId}`
    const { json } = await http.get<VendorAttachment & { download_url?: string }>(at)
    const about = {
      note: NOTE,
      attachmentId: json?.attachment_id,
      filename: json?.filename ?? undefined,
      size: json?.size,
      contentType: json?.content_type ?? undefined,
    }
    const why = whyNoText(json ?? {})
    if (why !== undefined) return { ...about, textLeftOut: why }
    // The link opens the file to whoever has it, so it is used here and told to nobody.
    const { text } = await download(String(json?.download_url), { capBytes: MOST_BYTES })
    return { ...about, text: cut(text, 100_000) }
  },
})

function whyNoText({ size, content_type: type }: VendorAttachment): string | undefined {
  if (!TEXT.test(type ?? '')) return 'It is no text.'
  return Number(size) <= MOST_BYTES ? undefined : 'It is larger than 2 MB.'
}
