/**
 * A delivery of AgentMail's webhooks: whether it is theirs, and what it tells of. Pure but for the clock.
 * Signed in the scheme of Standard Webhooks, under Svix's names of the headers.
 * @module
 */
import { Webhook } from 'standardwebhooks'
import { z } from 'zod'
import { check } from '../../json.ts'

/** What of a delivery's headers counts. */
export interface Signed {
  readonly id: string
  readonly timestamp: string
  readonly signature: string
}

const FORM = { id: /^[A-Za-z0-9_-]{1,128}$/, timestamp: /^\d{1,12}$/, signature: /^[\x21-\x7e ]{1,4096}$/ }

/** The three headers, where each is there and of its form: an id with a point in it could take part of the body. */
export function signedOf(header: (name: string) => string | undefined): Signed | undefined {
  const [id = '', timestamp = '', signature = ''] = ['svix-id', 'svix-timestamp', 'svix-signature'].map(header)
  const sound = FORM.id.test(id) && FORM.timestamp.test(timestamp) && FORM.signature.test(signature)
  return sound ? { id, timestamp, signature } : undefined
}

/** Whether the signature is right and not older or younger than five minutes (Standard Webhooks). Never throws. */
export function isSigned({ id, timestamp, signature }: Signed, body: string, secret: string): boolean {
  try {
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
    new Webhook(secret).verify(body, headers, { jsonParse: false })
    return true
  } catch {
    return false
  }
}

const id = z.string().min(1).max(1_000)
const told = z.object({ event_type: z.string().max(100) })
const received = z.object({
  event_id: id,
  message: z.object({
    inbox_id: id,
    thread_id: id,
    message_id: id,
    from: z.string(),
    subject: z.string().nullish(),
    timestamp: z.string().max(100).nullish(),
  }),
})

/** A mail that came in, as the host app is told of it. Sender and subject are a stranger's words. */
export interface Mail {
  readonly inboxId: string
  readonly threadId: string
  readonly messageId: string
  readonly from: string
  readonly subject?: string
  readonly receivedAt?: string
}

export type Event =
  | { readonly kind: 'received'; readonly mail: Mail }
  /** Of another type; spam, blocked and unauthenticated mail have types of their own and start nothing. */
  | { readonly kind: 'other' }
  | { readonly kind: 'unreadable' }

const BOUNDS = { depth: 64, values: 100_000 }
const LONGEST = { from: 1_000, subject: 1_000 }

/** Reads a body whose signature was right. Never throws. */
export function readEvent(body: string): Event {
  let value: unknown
  try {
    check(body, BOUNDS)
    value = JSON.parse(body)
  } catch {
    return { kind: 'unreadable' }
  }
  const event = told.safeParse(value)
  if (!event.success) return { kind: 'unreadable' }
  if (event.data.event_type !== 'message.received') return { kind: 'other' }
  const read = received.safeParse(value)
  if (!read.success) return { kind: 'unreadable' }
  const { inbox_id, thread_id, message_id, from, subject, timestamp } = read.data.message
  return {
    kind: 'received',
    mail: {
      inboxId: inbox_id,
      threadId: thread_id,
      messageId: message_id,
      from: from.slice(0, LONGEST.from),
      ...(typeof subject === 'string' && { subject: subject.slice(0, LONGEST.subject) }),
      ...(typeof timestamp === 'string' && { receivedAt: timestamp }),
    },
  }
}
