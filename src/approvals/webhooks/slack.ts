/**
 * An event as a Slack message (Block Kit). What a model or an upstream wrote stands in plain text only, escaped, so that
 * it can mention nobody and link nowhere; markup is the gateway's own.
 * https://docs.slack.dev/messaging/formatting-message-text, https://docs.slack.dev/reference/block-kit
 * @module
 */

/** Longest texts that Slack takes: of a header, and of a section's field or text. */
const HEADER = 150
const FIELD = 2_000
const MOST_RULES = 5

const HEADINGS: Readonly<Record<string, string>> = {
  'card.created': 'A call waits for a person',
  'card.decided': 'Decided',
  'card.finished': 'Finished',
  'card.unknown': 'A call whose outcome is unknown',
  'card.settled': 'Settled by a person',
  'tool.changed': 'A tool changed what it says of itself',
  'webhook.test': 'Tollgate can reach you',
}

const STATUSES: Readonly<Record<string, string>> = {
  pending: 'waiting',
  approved: 'approved',
  running: 'running',
  done: 'ran',
  failed: 'did not run, or failed',
  unknown: 'may have run: look, then settle it',
  denied: 'denied',
  expired: 'expired: nobody decided in time',
  withdrawn: 'withdrawn before it ran',
}

/** The body for a Slack incoming webhook, as JSON text. `data` is what the JSON format would carry. */
export function slackBody(event: string, data: Readonly<Record<string, unknown>>): string {
  const heading = HEADINGS[event] ?? 'Something happened'
  const summary = text(data.summary)
  const because = Array.isArray(data.rules) ? data.rules.map((rule) => text(rule?.because)).filter(Boolean) : []
  const fields = [
    ['Status', STATUSES[text(data.status)] ?? text(data.status)],
    ['Asked by', [text(data.role), text(data.brand)].filter(Boolean).join(', brand ')],
    ['Cost', cost(data.cost)],
    ['Decided by', text(data.decidedBy)],
    ['Note', text(data.note)],
  ].filter(([, said]) => said !== '')
  const blocks = [
    { type: 'header', text: plain(heading, HEADER) },
    ...(summary === '' ? [] : [{ type: 'section', text: plain(summary, FIELD) }]),
    ...(fields.length === 0
      ? []
      : [{ type: 'section', fields: fields.map(([name, said]) => plain(`${name}: ${said}`, FIELD)) }]),
    ...because.slice(0, MOST_RULES).map((said) => ({ type: 'context', elements: [plain(said, FIELD)] })),
    ...link(data),
  ]
  const told = [heading, summary].filter(Boolean).join(': ')
  return JSON.stringify({ text: harmless(told, FIELD), blocks, unfurl_links: false, unfurl_media: false })
}

/** The way to the card, and until when it may be decided. */
function link({ url, status, expiresAt }: Readonly<Record<string, unknown>>): object[] {
  if (typeof url !== 'string' || !URL.canParse(url)) return []
  const ends = typeof expiresAt === 'string' ? Math.floor(Date.parse(expiresAt) / 1_000) : Number.NaN
  const until =
    status === 'pending' && ends > 0
      ? ` until <!date^${ends}^{date_short_pretty} {time}|${escaped(`${expiresAt}`)}>`
      : ''
  const words = status === 'pending' ? 'Look and decide' : 'Look at the card'
  const target = new URL(url).href.replaceAll('|', '%7C')
  return [{ type: 'section', text: { type: 'mrkdwn', text: `<${escaped(target)}|${words}>${until}`, verbatim: true } }]
}

const plain = (said: string, most: number) => ({
  type: 'plain_text',
  text: short(escaped(flat(said)), most),
  emoji: false,
})

/** For the one text that Slack always reads as markup, where no `verbatim` can be said. */
const harmless = (said: string, most: number): string =>
  short(escaped(flat(said).replaceAll('@', '@\u2060').replaceAll('://', ':\u2060//').replaceAll('#', '#\u2060')), most)

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

function cost(value: unknown): string {
  if (typeof value !== 'object' || value === null) return ''
  const { unit, amount } = value as Record<string, unknown>
  return typeof unit === 'string' && amount !== undefined ? `${amount} ${unit}` : ''
}

const flat = (said: string): string => said.replace(/\s+/g, ' ').trim()

/** The three characters that Slack's markup is made of. */
const escaped = (said: string): string => said.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Cut between characters and never within an escape. */
function short(said: string, most: number): string {
  if (said.length <= most) return said
  return `${said
    .slice(0, most - 1)
    .replace(/&[a-z]{0,3}$/, '')
    .replace(/[\ud800-\udbff]$/, '')}…`
}
