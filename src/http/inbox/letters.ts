/**
 * Characters that a reader does not see, or takes for others: their names, and where a text uses them (Unicode TR 36 and 39).
 * Pure: it looks at texts as cards show them, where what is invisible stands as `\u{…}` already.
 * @module
 */

const NAMES: ReadonlyMap<number, string> = new Map([
  [0x00, 'null character'],
  [0x07, 'bell'],
  [0x08, 'backspace'],
  [0x0b, 'vertical tab'],
  [0x0c, 'form feed'],
  [0x0d, 'carriage return'],
  [0x1b, 'escape (starts a terminal command)'],
  [0x22, 'quotation mark'],
  [0x5c, 'backslash'],
  [0x7f, 'delete'],
  [0x85, 'next line'],
  [0x9b, 'terminal command'],
  [0xa0, 'no-break space'],
  [0xad, 'soft hyphen'],
  [0x034f, 'grapheme joiner'],
  [0x061c, 'Arabic letter mark'],
  [0x115f, 'Hangul filler'],
  [0x1160, 'Hangul filler'],
  [0x180e, 'Mongolian vowel separator'],
  [0x200b, 'zero-width space'],
  [0x200c, 'zero-width non-joiner'],
  [0x200d, 'zero-width joiner'],
  [0x200e, 'left-to-right mark'],
  [0x200f, 'right-to-left mark'],
  [0x2028, 'line separator'],
  [0x2029, 'paragraph separator'],
  [0x202a, 'left-to-right embedding'],
  [0x202b, 'right-to-left embedding'],
  [0x202c, 'end of direction change'],
  [0x202d, 'left-to-right override'],
  [0x202e, 'right-to-left override'],
  [0x202f, 'narrow no-break space'],
  [0x2060, 'word joiner'],
  [0x2066, 'left-to-right isolate'],
  [0x2067, 'right-to-left isolate'],
  [0x2068, 'first strong isolate'],
  [0x2069, 'end of isolate'],
  [0x2800, 'blank Braille pattern'],
  [0x3000, 'ideographic space'],
  [0x3164, 'Hangul filler'],
  [0xfeff, 'zero-width no-break space'],
  [0xffa0, 'Hangul filler'],
  [0xe0001, 'language tag'],
  [0xe007f, 'cancel tag'],
])

const RANGES: readonly (readonly [from: number, to: number, name: string])[] = [
  [0x00, 0x1f, 'control character'],
  [0x80, 0x9f, 'control character'],
  [0x2000, 0x200a, 'space of another width'],
  [0x2061, 0x2064, 'invisible operator'],
  [0x206a, 0x206f, 'hidden format character'],
  [0xd800, 0xdfff, 'half of a character'],
  [0xe000, 0xf8ff, 'private-use character'],
  [0xfe00, 0xfe0f, 'variation selector'],
  [0xe0020, 0xe007e, 'tag character'],
  [0xe0100, 0xe01ef, 'variation selector'],
  [0xf0000, 0x10ffff, 'private-use character'],
]

/** What a character is called that does not show. */
export function nameOf(point: number): string {
  return NAMES.get(point) ?? RANGES.find(([from, to]) => point >= from && point <= to)?.[2] ?? 'hidden character'
}

/** A code point as people write it: `U+202E`. */
export const code = (point: number): string => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`

/** What a tag character spells, for those that stand for a letter; the block was made invisible, and carries whole sentences. */
export const spelt = (point: number): string | undefined =>
  point >= 0xe0020 && point <= 0xe007e ? String.fromCodePoint(point - 0xe0000) : undefined

/** Letters of other scripts drawn like Latin ones, each followed by the one it is taken for. */
const TWINS = new Map(
  [
    ...['аa еe оo рp сc уy хx ѕs іi јj ԁd ԛq ԝw һh үy ӏl АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ЅS ІI ЈJ ԌG'],
    ...['αa οo νv ρp ιi κk υu ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX'],
    ...['օo ոn սu հh Տs ցg'],
  ]
    .join(' ')
    .split(' ')
    .map((pair) => [...pair] as [string, string]),
)

/** Signs drawn like ones that mean something in a path, an address or a command. */
const SIGNS: Readonly<Record<string, string>> = {
  '\u2024': '.',
  '\u2044': '/',
  '\u2215': '/',
  '\u29f8': '/',
  '\u2216': '\\',
  '\u037e': ';',
  '\u0589': ':',
  '\u2236': ':',
  '\ua789': ':',
  '\u01c3': '!',
  '\u02bc': "'",
  '\u2010': '-',
  '\u2011': '-',
  '\u2212': '-',
}

const SCRIPTS = [
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Cherokee', /\p{Script=Cherokee}/u],
  ['Coptic', /\p{Script=Coptic}/u],
] as const
const LATIN = /\p{Script=Latin}/u
/** Full-width, and the mathematical alphabets: other characters that are drawn as plain letters. */
const STYLED = /[\u{ff01}-\u{ff5e}\u{1d400}-\u{1d7ff}]/u
const SIGN = new RegExp(`[${Object.keys(SIGNS).join('')}]`, 'u')

/** Words, and signs that are drawn like others: what `lookalike` can say something of. */
export const WORDS =
  /[\p{L}\p{M}\p{N}\u{ff01}-\u{ff5e}]+|[\u2024\u2044\u2215\u29f8\u2216\u037e\u0589\u2236\ua789\u01c3\u02bc\u2010\u2011\u2212]/gu
const PLAIN = /^[\x00-\x7f]*$/

/** Why a piece of text that `WORDS` found may be taken for another; undefined for ordinary writing. `whole` is the text around it. */
export function lookalike(word: string, whole: string): string | undefined {
  if (PLAIN.test(word)) return undefined
  const styled = word.match(new RegExp(STYLED, 'gu'))
  if (styled !== null) return `reads as “${word.normalize('NFKC')}”, and is written in other characters`
  const [first = ''] = word
  if ([...word].length === 1 && SIGN.test(word))
    return `looks like “${SIGNS[first]}”, and is ${code(first.codePointAt(0) ?? 0)}`
  if (/\p{M}{4}/u.test(word)) return 'has accents piled up'
  for (const [script, letters] of SCRIPTS) {
    const foreign = [...word].filter((letter) => letters.test(letter))
    if (foreign.length === 0) continue
    const named = [...new Set(foreign)].slice(0, 4).map((letter) => `${letter} ${code(letter.codePointAt(0) ?? 0)}`)
    if (LATIN.test(word)) return `mixes Latin and ${script} letters (${script}: ${named.join(', ')})`
    const disguised = foreign.every((letter) => TWINS.has(letter)) && isDisguise(whole, letters)
    if (disguised) return `looks like “${latin(word)}”, and is written in ${script} letters`
  }
  return undefined
}

/** A text that has no letter of the script but those that pass for Latin is hardly written in its language. */
const isDisguise = (whole: string, script: RegExp): boolean =>
  whole.length <= 20_000 && [...whole].every((letter) => !script.test(letter) || TWINS.has(letter))

const latin = (word: string): string => [...word].map((letter) => TWINS.get(letter) ?? letter).join('')
