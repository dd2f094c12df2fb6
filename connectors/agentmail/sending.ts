/**
 * What all that writes mail has in common: what is never taken, who may get it, how a card says it, and how it leaves at
 * most once.
 * @module
 */
import { Refusal, type Reply, refusedBy } from '../../src/connector/native/kit.ts'
import { VendorFailure } from '../../src/connector/native/failure.ts'
import { VENDOR } from './connection.ts'

/** In any spelling: AgentMail would send a draft by itself at that time, which is a send that nobody approved. */
const SCHEDULES =
  /^(?:send(?:at|on|time|date|after|later|status)?|schedule[ds]?(?:at|for|send|time)?|delay(?:ed|until|seconds)?)$/

/** What is refused of the arguments as they came, whatever else they say. */
export function forbidden(raw: unknown): string | undefined {
  if (raw === null || typeof raw !== 'object') return undefined
  const plain = Object.keys(raw).map((name) => [name, name.toLowerCase().replaceAll(/[^a-z]/g, '')] as const)
  const [scheduling] = plain.find(([, name]) => SCHEDULES.test(name)) ?? []
  if (scheduling !== undefined)
    return `"${scheduling.slice(0, 40)}" is never taken: a scheduled draft sends itself, and every send is asked for by itself.`
  const { attachments } = raw as { attachments?: unknown }
  const links = Array.isArray(attachments) && attachments.some((one) => Object.hasOwn(Object(one), 'url'))
  return links
    ? 'An attachment by "url" is never taken: AgentMail would fetch the address. Give the file as "content", in base64.'
    : undefined
}

export interface Recipients {
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
}

const MOST_RECIPIENTS = 50

/** AgentMail takes 50 recipients in all. */
export function recipientRules({ to, cc, bcc }: Recipients): Refusal | undefined {
  const all = to.length + cc.length + bcc.length
  return all > MOST_RECIPIENTS
    ? new Refusal('invalid_arguments', `${all} recipients are more than ${MOST_RECIPIENTS}, the most of one mail.`)
    : undefined
}

/** A mail goes to somebody and says something. */
export function sendRules(
  mail: Recipients & { text?: string | undefined; html?: string | undefined },
): Refusal | undefined {
  const no = (sentence: string) => new Refusal('invalid_arguments', sentence)
  if (mail.to.length + mail.cc.length + mail.bcc.length === 0) return no('Nobody would get it: state "to".')
  if (!mail.text && !mail.html) return no('It would be empty: state "text".')
  return recipientRules(mail)
}

/** A card's sentence has 300 characters; what is longer stands in its arguments below. */
const ROOM = { kind: 60, file: 40, subject: 60 }

/**
 * `to a@x; cc b@y; bcc c@z`. However many there are, each kind is named with its number, so that no long list hides
 * another; the card's arguments name everybody.
 */
export function recipientsText(mail: Recipients): string {
  const kinds = (['to', 'cc', 'bcc'] as const).filter((kind) => mail[kind].length > 0)
  return kinds.map((kind) => `${kind} ${listed(mail[kind], ROOM.kind, 'recipients')}`).join('; ')
}

/** `, with 2 attachments (a.pdf, b.txt)`, or nothing. */
export function attachmentsText(names: readonly string[]): string {
  if (names.length === 0) return ''
  const count = names.length === 1 ? 'an attachment' : `${names.length} attachments`
  const all = names.join(', ')
  return `, with ${count} (${all.length <= ROOM.file ? all : `${all.slice(0, ROOM.file - 1)}…`})`
}

/** ` about “Prices”`. */
export const subjectText = (line: string | undefined): string =>
  line ? ` about “${line.length <= ROOM.subject ? line : `${line.slice(0, ROOM.subject - 1)}…`}”` : ' without a subject'

/** `; answers go to a@x`, or nothing. */
export const answersText = (replyTo: readonly string[]): string =>
  replyTo.length > 0 ? `; answers go to ${listed(replyTo, ROOM.file, 'addresses')}` : ''

function listed(list: readonly string[], room: number, what: string): string {
  const all = list.join(', ')
  if (all.length <= room) return all
  return list.length === 1 ? `${all.slice(0, room - 1)}…` : `${list.length} ${what}, all named below`
}

/**
 * Asks for something that AgentMail does at most once for each key (`Idempotency-Key` and `client_id`, 24 hours). Where no
 * answer came, or one that leaves it open, it is asked once more under the same key, which tells what became of the first.
 * Whatever the second one says but yes, the first may have happened.
 */
export async function oncePerCall<T>(ask: () => Promise<Reply<T>>, signal: AbortSignal): Promise<T> {
  try {
    return (await ask()).json
  } catch (first) {
    if (!isOpen(first) || signal.aborted) throw first
    try {
      return (await ask()).json
    } catch (second) {
      if (!(second instanceof VendorFailure) || second.ran === 'maybe') throw second
      const { message, vendor_code: vendorCode } = second.facts
      throw refusedBy(VENDOR, {
        code: 'outcome_unknown',
        may: 'have-run',
        message: `The first request was not answered; asked again, AgentMail said: ${message}`,
        ...(vendorCode !== null && { vendorCode }),
      })
    }
  }
}

/** No answer, or the vendor's own fault; a redirect is no reason to ask again. */
function isOpen(error: unknown): boolean {
  if (!(error instanceof VendorFailure) || error.ran !== 'maybe') return false
  const { http_status: status } = error.facts
  return status === null || status >= 500
}
