/**
 * What a webhook is sent: the body in its format, and the headers that sign it (Standard Webhooks).
 * @module
 */
import { randomBytes } from 'node:crypto'
import { Webhook as Signer } from 'standardwebhooks'
import { slackBody } from './slack.ts'
import type { Format } from './words.ts'

/** What the body is made of. `dataText` is JSON. */
export interface Told {
  readonly event: string
  readonly createdAt: Date
  readonly dataText: string
}

/** The body as text. In JSON the data goes on letter for letter. */
export function bodyOf({ event, createdAt, dataText }: Told, format: Format): string {
  if (format === 'slack') return slackBody(event, JSON.parse(dataText) as Record<string, unknown>)
  return `{"type":${JSON.stringify(event)},"timestamp":"${createdAt.toISOString()}","data":${dataText}}`
}

/** Headers of one attempt, signed under each secret: while one replaces another, a receiver may know either. */
export function signedHeaders(id: string, at: Date, body: string, secrets: readonly string[]): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, at, body)).join(' '),
  }
}

/** A new signing secret: 256 bits in the scheme's own spelling. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
