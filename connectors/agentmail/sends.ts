/**
 * The four tools that send. Each is asked for by itself, and its card names everybody who gets the mail.
 * @module
 */
import { z } from 'zod'
import { body, path, Refusal, type Run } from '../../src/connector/native/kit.ts'
import type { Path } from '../../src/connector/native/path.ts'
import type { VendorDraft } from './drafts.ts'
import { addresses, attached, attachments, id, recipients, some, subject, text } from './mail.ts'
import {
  answersText,
  attachmentsText,
  forbidden,
  oncePerCall,
  type Recipients,
  recipientsText,
  sendRules,
  subjectText,
} from './sending.ts'

interface Sent {
  readonly message_id?: string
  readonly thread_id?: string
}

const mail = {
  ...recipients,
  replyTo: addresses.default([]).describe('Where answers go, if not to the inbox.'),
  text: text.optional(),
  html: text.optional(),
  attachments,
}
const mailInput = z.strictObject(mail)
type Mail = z.output<typeof mailInput>

const bodyOf = (args: Mail) => ({
  to: some(args.to),
  cc: some(args.cc),
  bcc: some(args.bcc),
  reply_to: some(args.replyTo),
  text: args.text,
  html: args.html,
  attachments: attached(args.attachments),
})

/** The approval is the key: however often it is asked, one approval sends one mail. */
async function send({ http, key, signal }: Run<unknown>, at: Path, json: object) {
  const headers = { 'idempotency-key': `tollgate-${key}` }
  const sent = await oncePerCall<Sent>(() => http.post(at, { json, headers }), signal)
  return { sent: true, messageId: sent?.message_id, threadId: sent?.thread_id }
}

const ending = ({ attachments: files, replyTo }: Mail): string =>
  `${attachmentsText(files.map(({ filename }) => filename))}${answersText(replyTo)}.`

export const sendMessage = body({
  title: 'Send a mail',
  description: 'Sends a new mail from the inbox. A person is asked first, every time.',
  input: z.strictObject({ ...mail, subject: subject.optional() }),
  forbidden,
  refuse: sendRules,
  summary: (args, { inbox }) =>
    `Send a mail from ${inbox} ${recipientsText(args)}${subjectText(args.subject)}${ending(args)}`,
  run: (run) =>
    send(run, path`/inboxes/${run.settings.inbox ?? ''}/messages/send`, {
      ...bodyOf(run.args),
      subject: run.args.subject,
    }),
})

export const replyToMessage = body({
  title: 'Answer a mail',
  description:
    'Answers a message of the inbox, to those it names in "to", "cc" and "bcc" and nobody else. A person is asked first, every time.',
  input: z.strictObject({ messageId: id.describe('The message it answers.'), ...mail }),
  forbidden,
  refuse: (args) =>
    args.to.length === 0
      ? new Refusal('invalid_arguments', 'State in "to" who gets the answer, as the message names its sender.')
      : sendRules(args),
  summary: (args, { inbox }) =>
    `Answer a mail from ${inbox} ${recipientsText(args)}${ending(args)} The message: ${args.messageId}`,
  run: (run) =>
    send(run, path`/inboxes/${run.settings.inbox ?? ''}/messages/${run.args.messageId}/reply`, bodyOf(run.args)),
})

export const forwardMessage = body({
  title: 'Forward a mail',
  description: 'Forwards a message of the inbox, with all that is attached to it. A person is asked first, every time.',
  input: z.strictObject({
    messageId: id.describe('The message that is forwarded.'),
    ...mail,
    subject: subject.optional(),
  }),
  forbidden,
  refuse: (args) => sendRules({ ...args, text: args.text || args.html || 'forwarded' }),
  summary: (args, { inbox }) =>
    `Forward a mail with its attachments from ${inbox} ${recipientsText(args)}${args.subject ? subjectText(args.subject) : ''}${ending(args)} The message: ${args.messageId}`,
  run: (run) =>
    send(run, path`/inboxes/${run.settings.inbox ?? ''}/messages/${run.args.messageId}/forward`, {
      ...bodyOf(run.args),
      subject: run.args.subject,
    }),
})

const draftInput = z.strictObject({
  draftId: id,
  ...recipients,
  replyTo: addresses.default([]),
  subject: subject.default(''),
  text: text.default(''),
  html: text.default(''),
  attachments: z.array(z.string().max(255)).max(50).default([]).describe('The names of the files attached to it.'),
})
type Stated = z.output<typeof draftInput>

export const sendDraft = body({
  title: 'Send a draft',
  description:
    'Sends a draft of the inbox. State it whole, as get_draft gives it: a person approves what is stated, and a draft that says anything else is not sent.',
  input: draftInput,
  forbidden,
  refuse: (args) => (recipientsText(args) === '' ? sendRules(args) : undefined),
  summary: (args, { inbox }) =>
    `Send a draft from ${inbox} ${recipientsText(args)}${subjectText(args.subject)}${attachmentsText(args.attachments)}${answersText(args.replyTo)}. The draft: ${args.draftId}`,
  async run(run) {
    const { http, args, settings } = run
    const at = path`/inboxes/${settings.inbox ?? ''}/drafts/${args.draftId}`
    const { json } = await http.get<VendorDraft>(at)
    const differs = differencesOf(args, json ?? {})
    if (differs.length > 0) {
      const detail = `The draft is another than the one stated (${differs.join(', ')}); read it again, and ask for what it says now.`
      throw new Refusal('forbidden_arguments', detail)
    }
    return send(run, path`/inboxes/${settings.inbox ?? ''}/drafts/${args.draftId}/send`, {})
  },
})

/** Where a draft and what is stated of it part. */
function differencesOf(stated: Stated, draft: VendorDraft): string[] {
  const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
  const lists: readonly (keyof Recipients)[] = ['to', 'cc', 'bcc']
  return [
    ...lists.filter((name) => !same(stated[name], draft[name] ?? [])),
    ...(same(stated.replyTo, draft.reply_to ?? []) ? [] : ['replyTo']),
    ...(['subject', 'text', 'html'] as const).filter((name) => stated[name] !== (draft[name] ?? '')),
    ...(same(
      stated.attachments,
      (draft.attachments ?? []).map(({ filename }) => filename ?? ''),
    )
      ? []
      : ['attachments']),
    ...(draft.send_status === 'scheduled' || draft.send_status === 'sending'
      ? [`it is ${draft.send_status} already`]
      : []),
  ]
}
