/**
 * How AgentMail is reached: a key, and the one inbox that every tool keeps to.
 * @module
 */
import { z } from 'zod'
import { type ConnectionKind, path, type Problem, refusedBy } from '../../src/connector/native/kit.ts'

export const VENDOR = 'AgentMail'

interface Identity {
  readonly scope_type?: string
  readonly inbox_id?: string | null
}

interface Said {
  readonly message?: unknown
  readonly fix?: unknown
  readonly code?: unknown
  readonly name?: unknown
  readonly errors?: unknown
}

export const connection: ConnectionKind = {
  fields: {
    apiKey: {
      title: 'an API key (AgentMail console, API Keys), best one of this inbox alone',
      schema: z.string().startsWith('am_', 'It begins with "am_".').min(10, 'It is longer.'),
      env: 'AGENTMAIL_API_KEY',
    },
    inbox: {
      title: 'the address of the inbox, as in sales@agentmail.to',
      schema: z.string().regex(/^[^\s@/?#%<>,;"\p{Cc}]{1,128}@[A-Za-z0-9.-]{1,190}$/u, 'It is one mail address.'),
      env: 'AGENTMAIL_INBOX',
      secret: false,
    },
    region: {
      title: 'where the account is kept: us or eu; us unless said',
      schema: z.enum(['us', 'eu'], 'It is us or eu.'),
      env: 'AGENTMAIL_REGION',
      secret: false,
      optional: true,
    },
  },
  baseUrl: ({ region }) => `https://api.agentmail.${region === 'eu' ? 'eu' : 'to'}/v0`,
  authorize: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  problem: (status, body) => problemOf(status, body),
  async check(http, { inbox = '' }) {
    const { json } = await http.get<Identity>(path`/auth/me`)
    if (json?.scope_type !== 'inbox') {
      const reach = json?.scope_type === 'pod' ? 'its pod' : 'the organisation'
      return `The key is taken. It reaches every inbox of ${reach}; the tools keep to ${inbox}, and a key of that inbox alone is safer.`
    }
    if (sameInbox(json.inbox_id, inbox)) return `The key is taken; it is one of ${inbox} alone.`
    const message = `The key is one of another inbox than ${inbox}`
    throw refusedBy(VENDOR, { code: 'invalid_arguments', message })
  },
}

/** Whether two texts are the address of the same inbox; case does not count. */
export const sameInbox = (one: unknown, other: string): boolean =>
  typeof one === 'string' && one.toLowerCase() === other.toLowerCase()

/** Their `code` is the stable word; `fix` and the fields of a 400 say how to mend it. */
function problemOf(status: number, body: unknown): Problem {
  if (body === null || typeof body !== 'object') return {}
  const { message, fix, code, name, errors } = body as Said
  const fields = (Array.isArray(errors) ? errors : []).slice(0, 10).map(fieldText)
  const said = [message, ...fields, fix].filter((one): one is string => typeof one === 'string' && one !== '')
  const word = [code, name].find((one): one is string => typeof one === 'string')
  return {
    ...(said.length > 0 && { message: said.map((one) => one.replace(/[.]?$/, '.')).join(' ') }),
    ...(word !== undefined && { vendorCode: word }),
    // A message that is not taken is the message's fault, and no scope mends it.
    ...(status === 403 && word === 'message_rejected' && { code: 'invalid_arguments' as const }),
  }
}

function fieldText(error: unknown): string | undefined {
  const { path: at, message } = (error ?? {}) as { path?: unknown; message?: unknown }
  if (typeof message !== 'string') return undefined
  return `${Array.isArray(at) ? at.join('.') : String(at ?? 'body')}: ${message}`
}
