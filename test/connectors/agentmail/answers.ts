/**
 * What AgentMail answers in these tests: whole bodies as its serializers know them, and every error it documents.
 * @module
 */
import { agentmailContract } from '../contracts/agentmail.ts'
import type { Fails, Works } from '../suite.ts'

export const KEY = 'am_canary_5d20b8e1f47a9c'
export const INBOX = 'sales+eu@agentmail.to'
export const FIELDS = { apiKey: KEY, inbox: INBOX }
/** As the contract names it, and as a request does. */
export const I = '/inboxes/{inbox_id}'
export const AT = `/inboxes/${INBOX}`
export const MID = '<CAF+1/x%2e@mail.example>'

const AT_TIME = { created_at: '2026-11-01T08:00:00.000Z', updated_at: '2026-11-01T08:00:00.000Z' }
const file = { attachment_id: 'att_1', filename: 'prices.csv', size: 12, content_type: 'text/csv' }

export const thread = (own: object = {}) => ({
  inbox_id: INBOX,
  thread_id: 'thd_1',
  labels: ['received'],
  timestamp: AT_TIME.created_at,
  senders: ['Ann <ann@shop.example>'],
  recipients: [INBOX],
  subject: 'Prices',
  preview: 'Could you',
  attachments: [file],
  last_message_id: MID,
  message_count: 2,
  size: 900,
  ...AT_TIME,
  ...own,
})

export const item = (own: object = {}) => ({
  inbox_id: INBOX,
  thread_id: 'thd_1',
  message_id: MID,
  labels: ['received'],
  timestamp: AT_TIME.created_at,
  from: 'Ann <ann@shop.example>',
  to: [INBOX],
  subject: 'Prices',
  preview: 'Could you',
  attachments: [file],
  size: 900,
  ...AT_TIME,
  ...own,
})

export const message = (own: object = {}) =>
  item({
    text: 'Could you send the prices?\n> On Monday you wrote a lot.',
    html: '<p>Could you send the prices?</p>',
    extracted_text: 'Could you send the prices?',
    extracted_html: '<p>Could you send the prices?</p>',
    ...own,
  })

export const draft = (own: object = {}) => ({
  inbox_id: INBOX,
  draft_id: 'dft_1',
  labels: ['draft'],
  to: ['ann@shop.example'],
  cc: ['bob@shop.example'],
  subject: 'Prices',
  text: 'Here they are.',
  attachments: [file],
  ...AT_TIME,
  ...own,
})

export const { text: _text, created_at: _created, ...draftItem } = { ...draft() }
export const sent = { message_id: '<sent-1@agentmail.to>', thread_id: 'thd_1' }

export const attachment = (url: string, own: object = {}) => ({
  ...file,
  download_url: url,
  expires_at: AT_TIME.created_at,
  ...own,
})

const WORDS: Readonly<Record<string, readonly [name: string, code: string]>> = {
  400: ['ValidationError', 'validation_error'],
  401: ['UnauthorizedError', 'unknown_api_key'],
  403: ['ForbiddenError', 'missing_permission'],
  404: ['NotFoundError', 'not_found'],
  409: ['ConflictError', 'conflict'],
  422: ['UnprocessableError', 'unprocessable'],
  503: ['UnavailableError', 'unavailable'],
}

/** One case for each error that AgentMail documents for the first request of a call. `unsure`: a 503 leaves it open. */
export function documented({ answers }: Works, unsure: boolean): Record<string, Fails> {
  const [operation = ''] = Object.keys(answers)
  const known = agentmailContract.find(({ method, path }) => `${method} ${path}` === operation)
  const statuses = Object.keys(known?.answers ?? {}).filter((status) => WORDS[status] !== undefined)
  return Object.fromEntries(
    statuses.map((status): [string, Fails] => {
      const [name, code] = WORDS[status] as readonly [string, string]
      const said = status === '400' ? { errors: [{ path: ['to', 0], message: 'Bad address' }] } : { fix: 'Mend it' }
      const open = unsure && status === '503'
      return [
        `${status} ${code}`,
        {
          answers: {
            ...answers,
            [operation]: { status: Number(status), json: { name, code, message: 'It says no', ...said } },
          },
          code: open
            ? 'outcome_unknown'
            : /^(401|403|503)$/.test(status)
              ? 'upstream_unavailable'
              : 'invalid_arguments',
          ran: open ? 'maybe' : 'no',
          says: new RegExp(
            `AgentMail answered ${status} \\(${code}\\): It says no. ${status === '400' ? 'to.0: Bad address' : 'Mend it'}`,
          ),
          facts: { vendor: 'AgentMail', http_status: Number(status), vendor_code: code },
        },
      ]
    }),
  )
}
