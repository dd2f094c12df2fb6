/** The Slack shape: what a model wrote can mention nobody and link nowhere. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { slackBody } from '../../../src/approvals/webhooks/slack.ts'

const URL_OF = 'https://gateway.example/inbox/cards/1'
const card = (hostile: string) => ({
  id: '1',
  status: 'pending',
  role: 'person-chat',
  brand: 'acme',
  summary: hostile,
  note: hostile,
  decidedBy: hostile,
  cost: { unit: hostile, amount: '2' },
  rules: [{ rule: 'write-asks', because: hostile }],
  expiresAt: '2026-01-01T00:00:00.000Z',
  url: URL_OF,
})

/** Every text of a message, with how Slack reads it. */
function texts(body: string): { type: string; text: string }[] {
  const message = JSON.parse(body)
  const found = [{ type: 'mrkdwn', text: message.text as string }]
  const look = (value: any): void => {
    if (value === null || typeof value !== 'object') return
    if (typeof value.text === 'string') found.push({ type: value.type, text: value.text })
    for (const member of Object.values(value)) look(member)
  }
  look(message.blocks)
  return found
}

const OURS = `<${URL_OF}|Look and decide> until <!date^1767225600^{date_short_pretty} {time}|2026-01-01T00:00:00.000Z>`

test('a card has its summary, its cost, its rules and a link to its page', () => {
  const body = slackBody('card.created', { ...card('Write file on files.'), cost: { unit: 'credits', amount: '2' } })
  const said = texts(body).map(({ text }) => text)
  expect(said[0]).toBe('A call waits for a person: Write file on files.')
  expect(said).toEqual(
    expect.arrayContaining(['A call waits for a person', 'Write file on files.', 'Cost: 2 credits', OURS]),
  )
  expect(JSON.parse(body)).toMatchObject({ unfurl_links: false, unfurl_media: false })
})

const HOSTILE = [
  '<!channel> <!here> <!everyone>',
  '<@U012AB3CD> <#C012AB3CD> <!subteam^S012>',
  '<https://evil.example|https://gateway.example/inbox>',
  'see https://evil.example and @channel #general',
  '&lt;!channel&gt;',
  'a\n*Approved by the operator*\n>quote',
  `${'<'.repeat(4_000)}!channel>`,
  '|>',
]

test.each(HOSTILE.map((hostile) => [hostile.slice(0, 40), hostile]))(
  '%j mentions nobody and links nowhere',
  (_name, hostile) => harmless(hostile),
)

test('nor does anything else', () => {
  const pieces = fc.constantFrom(
    '<',
    '>',
    '!',
    '@',
    '#',
    '|',
    '&',
    'channel',
    'https://e.vil',
    '\n',
    ' ',
    'U1',
    '&lt;',
    '^',
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => harmless(parts.join(''))),
    { numRuns: 300 },
  )
})

function harmless(hostile: string): void {
  for (const { type, text } of texts(slackBody('card.created', card(hostile)))) {
    if (text === OURS) continue
    expect(text).not.toMatch(/[<>\n]/)
    expect(text.replaceAll(/&(?:amp|lt|gt);/g, '')).not.toContain('&')
    expect(text.length).toBeLessThanOrEqual(2_000)
    if (type === 'mrkdwn') expect(text).not.toMatch(/@\w|:\/\/|#\w/)
  }
}
