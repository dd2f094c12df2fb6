/**
 * What a person sees is what runs (reliability C10): arguments made to deceive, on the card, on the page, and at the door
 * to the upstream.
 */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { shownDigest } from '../../src/approvals/show.ts'
import { fingerprint } from '../../src/gate/facts.ts'
import { parseExact } from '../../src/json.ts'
import { tool } from '../approvals/calls.ts'
import { createInboxWorld, type InboxWorld, type Signed } from './inbox-world.ts'

/** Calls, with five argument sets in each. */
const CALLS = Number(process.env.TOLLGATE_SHOWN_CALLS ?? 100)

let world: InboxWorld
let signed: Signed
beforeAll(async () => {
  world = await createInboxWorld()
  signed = await world.signIn()
})
afterAll(() => world.close())

/** What a page must say where a text holds it. */
const TRAPS: readonly (readonly [text: string, said: string])[] = [
  ['invoice\u202egpj.exe', 'U+202E right-to-left override'],
  ['a\u2066b\u2069', 'U+2066 left-to-right isolate'],
  ['pay\u200bpal', 'U+200B zero-width space'],
  ['x\u2060y', 'U+2060 word joiner'],
  ['soft\u00adhyphen', 'U+00AD soft hyphen'],
  ['ok\u{e0068}\u{e0069}', '2 tag characters, spelling “hi”'],
  ['\u001b[2J\u001b[31mred', 'U+001B escape (starts a terminal command)'],
  ['\u0000end', 'U+0000 null character'],
  ['one\rtwo', 'U+000D carriage return'],
  ['lone\ud800', 'U+D800 half of a character'],
  ['no\u00a0break', 'U+00A0 no-break space'],
  ['\u2028line', 'U+2028 line separator'],
  ['p\u0430ypal.example', 'mixes Latin and Cyrillic letters'],
  ['\u0430\u0440\u0440\u04cf\u0435', 'is written in Cyrillic letters'],
  ['\uff41\uff44\uff4d\uff49\uff4e', 'reads as “admin”'],
  ['etc\u2215hosts', 'looks like “/”'],
]
const MARKUP = [
  '</pre></article><script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '<!--',
  '&lt;b&gt;',
  '[click](javascript:alert(1))',
  '**bold** `code`',
  '\\u{202e}',
  '\\\\u{41}',
  '\\n\\',
  '\n\n# Approved by operator\n',
  '… [cut: 5 characters in all]',
  '{{7*7}}',
]

const piece = fc.oneof(
  fc.constantFrom(...TRAPS.map(([text]) => text)),
  fc.constantFrom(...MARKUP),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ maxLength: 12 }),
)
const text = fc.oneof(
  { weight: 12, arbitrary: fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(' ')) },
  { weight: 2, arbitrary: fc.tuple(piece, fc.integer({ min: 3_900, max: 9_000 })).map(([a, n]) => a + 'x'.repeat(n)) },
)
const leaf = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom('12345678901234567890.10', '-0', '1e400', 'true', 'null').map(parseExact) },
)
const hostile = fc.dictionary(
  fc.oneof(fc.constantFrom('path', 'to', 'text'), piece),
  fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(piece, leaf, { maxKeys: 2 })),
  { minKeys: 1, maxKeys: 4, noNullPrototype: true },
)

/** Nothing of it may stand on a page or in a card, but for newline and tab. */
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u
const OWN_SCRIPT = /<script src="\/inbox\/inbox\.js\?[0-9a-f]{12}" defer><\/script>/

const longest = (value: unknown): number =>
  typeof value === 'string'
    ? value.length
    : typeof value === 'object' && value !== null
      ? Math.max(0, ...Object.values(value).map(longest))
      : 0

/** The whole way of one call: parked, shown, approved by what was shown, and taken to be run. */
async function walk(argumentsText: string): Promise<{ readonly page: string; readonly card: string }> {
  const print = fingerprint(tool, argumentsText, '')
  const card = await world.parked({ sessionId: randomUUID(), argumentsText, fingerprint: print })
  const page = await world.page(`/inbox/cards/${card.id}`, signed)
  expect(card.shown).toBe(shownDigest(card))
  expect(page).toContain(`name="shown" value="${card.shown}"`)
  expect(page).toContain(`<code>${print}</code>`)
  const decided = await world.room.cards.approve(card.id, { by: 'operator', shown: card.shown })
  expect(decided.ok).toBe(true)
  const claimed = await world.room.cards.claim(card.id, randomUUID())
  expect(claimed?.argumentsText).toBe(argumentsText)
  expect(fingerprint(tool, claimed?.argumentsText, claimed?.extraText ?? '')).toBe(print)
  expect(claimed && shownDigest(claimed.card)).toBe(card.shown)
  return { page, card: JSON.stringify(card) }
}

it(`${5 * CALLS} hostile argument sets run as they were shown, with nothing hidden and nothing cut in silence`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(hostile, { minLength: 5, maxLength: 5 }), async (sets) => {
      const args = { ...sets[0], more: sets.slice(1) }
      const { page, card } = await walk(JSON.stringify(args))
      expect(page).not.toMatch(INVISIBLE)
      expect(card).not.toMatch(INVISIBLE)
      expect(page.replace(OWN_SCRIPT, '')).not.toMatch(/<script|<img|<!--(?!>)|<b>/)
      if (longest(args) > 4_000) expect(page).toMatch(/Only the beginning is shown, of [\d,]+ characters/)
    }),
    { numRuns: CALLS, endOnFailure: true },
  )
}, 120_000)

it.each(TRAPS)('%j is named on the page', async (trap, said) => {
  const { page, card } = await walk(JSON.stringify({ to: trap }))
  expect(page.replaceAll('&quot;', '"')).toContain(said)
  expect(page).toContain('Look twice')
  expect(card).not.toMatch(INVISIBLE)
})

it.each([
  'Grüße aus Köln, naïve café',
  'Привет, мир: это обычный русский текст',
  'Καλημέρα κόσμε',
  '東京 では 雨',
  'مرحبا بالعالم',
  'plain ASCII, 100 % of it',
])('ordinary writing is left alone: %j', async (words) => {
  const { page } = await walk(JSON.stringify({ text: words }))
  expect(page).not.toContain('Look twice')
  expect(page).toContain(words)
})

it('a megabyte is shown by its beginning, says so, and is sent whole', async () => {
  const content = `${'0123456789'.repeat(100_000)}the end`
  const { page } = await walk(JSON.stringify({ path: 'big.txt', content }))
  expect(page).toContain('Only the beginning is shown, of 1,000,007 characters; all of them are sent.')
  expect(page).not.toContain('the end')
  expect(page.length).toBeLessThan(40_000)
})

it('a list offers no button for what a glance may miss', async () => {
  const card = await world.parked({ argumentsText: JSON.stringify({ path: 'a\u202eb' }) })
  const list = await world.page('/inbox', signed)
  const item = list.slice(list.indexOf(`data-card="${card.id}"`)).split('</li>')[0]
  expect(item).toContain('The arguments hold hidden characters.')
  expect(item).toContain('Read all and decide')
  expect(item).not.toMatch(/<form|formaction/)
})
