/**
 * Threads of the inbox.
 * @module
 */
import { z } from 'zod'
import { body, path } from '../../src/connector/native/kit.ts'
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
  paging,
  periodQuery,
  searching,
} from './lists.ts'
import { attachmentsOf, id, messageOf, NOTE, type VendorAttachment, type VendorMessage } from './mail.ts'

interface Thread extends Page {
  readonly thread_id?: string
  readonly subject?: string | null
  readonly preview?: string | null
  readonly senders?: readonly string[]
  readonly recipients?: readonly string[]
  readonly labels?: readonly string[]
  readonly message_count?: number
  readonly timestamp?: string
  readonly attachments?: readonly VendorAttachment[] | null
  readonly highlights?: VendorMessage['highlights']
  readonly messages?: readonly VendorMessage[]
}

interface Threads extends Page {
  readonly threads?: readonly Thread[]
}

const shown = (thread: Thread) => ({
  threadId: thread.thread_id,
  subject: thread.subject ?? undefined,
  preview: thread.preview ?? undefined,
  senders: thread.senders,
  recipients: thread.recipients,
  labels: thread.labels,
  messages: thread.message_count,
  timestamp: thread.timestamp,
  attachments: attachmentsOf(thread.attachments),
  highlights: thread.highlights ?? undefined,
})

const pageOf = (page: Threads | undefined) => ({
  note: NOTE,
  threads: (page?.threads ?? []).map(shown),
  nextPage: nextPage(page),
})

export const listThreads = body({
  title: 'List mail threads',
  description:
    'Lists the threads of the inbox, newest first, a page at a time. Spam, blocked mail and trash only where asked for.',
  input: z.strictObject({
    ...listing,
    ...hidden,
    senders: contains('a sender'),
    recipients: contains('a recipient'),
    subject: contains('the subject'),
  }),
  async run({ args, http, settings: { inbox = '' } }) {
    const query = {
      ...listQuery(args),
      ...hiddenQuery(args),
      senders: listText(args.senders),
      recipients: listText(args.recipients),
      subject: listText(args.subject),
    }
    return pageOf((await http.get<Threads>(path`/inboxes/${inbox}/threads`, { query })).json)
  },
})

export const searchThreads = body({
  title: 'Search mail threads',
  description: 'Searches the threads of the inbox, the best first. Spam and trash are never among them.',
  input: z.strictObject(searching),
  async run({ args, http, settings: { inbox = '' } }) {
    const query = { q: args.q, ...pageQuery(args), ...periodQuery(args) }
    return pageOf((await http.get<Threads>(path`/inboxes/${inbox}/threads/search`, { query })).json)
  },
})

/** Characters that the texts of one answer may have in all. */
const MOST = 100_000

export const getThread = body({
  title: 'Read a mail thread',
  description: 'Reads a thread with its messages: of each what is new in it, without what it quotes.',
  input: z.strictObject({ threadId: id, ...paging }),
  async run({ args, http, settings: { inbox = '' } }) {
    const { json } = await http.get<Thread>(path`/inboxes/${inbox}/threads/${args.threadId}`, {
      query: pageQuery(args),
    })
    const messages = json?.messages ?? []
    const each = Math.floor(MOST / Math.max(messages.length, 5))
    return {
      note: NOTE,
      threadId: json?.thread_id,
      subject: json?.subject ?? undefined,
      labels: json?.labels,
      messageCount: json?.message_count,
      messages: messages.map((message) => messageOf(message, each, false)),
      nextPage: nextPage(json),
    }
  },
})
