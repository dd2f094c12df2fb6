/**
 * AgentMail's contract: bodies are judged by the serializers of the vendor's own SDK (agentmail 0.5.27, MIT), which take
 * no member they do not name; paths and query parameters are those its client sends.
 * @module
 */
import * as wire from 'agentmail/serialization'
import type { Contract, Judge, Operation } from '../contract.ts'

interface Serializer {
  parse(raw: unknown, options: object): Parsed | PromiseLike<Parsed>
}
interface Parsed {
  readonly ok: boolean
  readonly errors?: readonly { readonly path: readonly string[]; readonly message: string }[]
}

/** What is wrong with a body: where, and what was expected; never what stood there. */
export const judgeOf =
  (serializer: unknown): Judge =>
  (value) => {
    const parsed = (serializer as Serializer).parse(value, { unrecognizedObjectKeys: 'fail' }) as Parsed
    return parsed.ok
      ? []
      : (parsed.errors ?? []).map(({ path, message }) => `/${path.join('/')} ${message.split('. Received')[0]}`)
  }

type Form = (text: unknown) => boolean
const text: Form = (value) => typeof value === 'string' && value !== ''
const count: Form = (value) => /^[1-9]\d{0,2}$/.test(String(value)) && Number(value) <= 100
const flag: Form = (value) => value === 'true' || value === 'false'
const moment: Form = (value) => typeof value === 'string' && new Date(value).toISOString() === value
/** A list is one JSON text, never a name several times. */
const list: Form = (value) => {
  const read: unknown = typeof value === 'string' && value.startsWith('[') ? JSON.parse(value) : undefined
  return Array.isArray(read) && read.length > 0 && read.every((one) => typeof one === 'string')
}

const PAGE = { limit: count, page_token: text }
const PERIOD = { before: moment, after: moment }
const LIST = { ...PAGE, ...PERIOD, labels: list, ascending: flag }
const HIDDEN = { include_spam: flag, include_blocked: flag, include_unauthenticated: flag, include_trash: flag }

const query =
  (known: Readonly<Record<string, Form>>, ...required: string[]): Judge =>
  (value) => {
    const given = value as Record<string, unknown>
    return [
      ...required.filter((name) => !(name in given)).map((name) => `${name} is missing`),
      ...Object.entries(given).flatMap(([name, one]) =>
        known[name] === undefined
          ? [`${name} is no parameter`]
          : known[name](one)
            ? []
            : [`${name} is not of its form`],
      ),
    ]
  }

const error = judgeOf(wire.ErrorResponse)
const REFUSALS = {
  400: judgeOf(wire.ValidationErrorResponse),
  401: error,
  403: error,
  404: error,
  409: error,
  422: error,
  429: error,
  503: error,
}

const read = (path: string, answer: unknown, parameters = query({})): Operation => ({
  method: 'GET',
  path,
  query: parameters,
  answers: { 200: judgeOf(answer), ...REFUSALS },
})
const write = (path: string, request: unknown, answer: unknown): Operation => ({
  method: 'POST',
  path,
  query: query({}),
  body: judgeOf(request),
  answers: { 200: judgeOf(answer), ...REFUSALS },
})

export const INBOX = '/inboxes/{inbox_id}'
const anything: Judge = () => []

export const agentmailContract: Contract = [
  read('/auth/me', wire.Identity),
  read(
    `${INBOX}/threads`,
    wire.ListThreadsResponse,
    query({ ...LIST, ...HIDDEN, senders: list, recipients: list, subject: list }),
  ),
  read(`${INBOX}/threads/search`, wire.SearchThreadsResponse, query({ q: text, ...PAGE, ...PERIOD }, 'q')),
  read(`${INBOX}/threads/{thread_id}`, wire.Thread, query(PAGE)),
  read(
    `${INBOX}/messages`,
    wire.ListMessagesResponse,
    query({ ...LIST, ...HIDDEN, from: list, to: list, subject: list }),
  ),
  read(`${INBOX}/messages/search`, wire.SearchMessagesResponse, query({ q: text, ...PAGE, ...PERIOD }, 'q')),
  read(`${INBOX}/messages/{message_id}`, wire.Message),
  read(`${INBOX}/messages/{message_id}/attachments/{attachment_id}`, wire.AttachmentResponse),
  read(`${INBOX}/drafts`, wire.ListDraftsResponse, query(LIST)),
  read(`${INBOX}/drafts/{draft_id}`, wire.Draft),
  read(`${INBOX}/drafts/{draft_id}/attachments/{attachment_id}`, wire.AttachmentResponse),
  write(`${INBOX}/drafts`, wire.CreateDraftRequest, wire.Draft),
  write(`${INBOX}/drafts/{draft_id}/send`, wire.UpdateMessageRequest, wire.SendMessageResponse),
  write(`${INBOX}/messages/send`, wire.SendMessageRequest, wire.SendMessageResponse),
  write(`${INBOX}/messages/{message_id}/reply`, wire.ReplyToMessageRequest, wire.SendMessageResponse),
  write(`${INBOX}/messages/{message_id}/forward`, wire.SendMessageRequest, wire.SendMessageResponse),
  // Where an attachment's link leads: the store of the files, which no key of AgentMail's opens.
  {
    method: 'GET',
    path: '/files/{file}',
    query: query({ signature: text }),
    answers: { 200: anything, 403: anything },
  },
]

/** A delivery of AgentMail's webhooks, as the SDK reads it. */
export const receivedEvent = judgeOf(wire.events.MessageReceivedEvent)
