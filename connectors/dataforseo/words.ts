/**
 * Arguments that several tools share: places, languages, keywords, domains.
 * @module
 */
import { z } from 'zod'

/** Where and in which language is searched. */
export const place = {
  locationCode: z
    .int()
    .min(1)
    .max(99_999_999)
    .describe(
      'A DataForSEO location: 2840 United States, 2826 United Kingdom, 2276 Germany, 2250 France, 2036 Australia.',
    ),
  languageCode: z
    .string()
    .regex(/^[a-z]{2,3}(?:-[A-Za-z]{2,4})?$/, 'a language code, as in "en" or "zh-CN"')
    .describe('A language code: "en".'),
}

/** The place in the vendor's words. */
export const placed = (args: { readonly locationCode: number; readonly languageCode: string }) => ({
  location_code: args.locationCode,
  language_code: args.languageCode,
})

const keyword = z.string().regex(/\S/, 'not empty').max(80)

/** Keywords, at most so many. */
export const keywords = (most: number) =>
  z
    .array(keyword)
    .min(1)
    .max(most)
    .describe(`Up to ${most.toLocaleString('en')} keywords.`)

/** A domain as the vendor wants it. */
export const domain = z
  .string()
  .max(253)
  .regex(/^(?!www\.)(?:[a-z0-9-]+\.)+[a-z0-9-]{2,}$/i, 'a domain without "https://" and "www.", as in "shop.example"')

export const date = z.iso.date('a day, as in "2026-01-31"')

/** Which part of a longer list is given. */
export const slice = (usual: number, most: number) => ({
  limit: z.int().min(1).max(most).default(usual).describe('Most rows. Each is billed.'),
  offset: z.int().min(0).max(9_000).default(0).describe('Rows to leave out: "nextOffset" of the call before.'),
})

/** Where the next part begins; undefined when this is the last. */
export function nextOffset(offset: number, given: number, total: number | undefined): number | undefined {
  return given > 0 && total !== undefined && offset + given < total ? offset + given : undefined
}

/** A domain, or an address, as a tool's `target`. */
export const target = z.union([domain, z.url({ protocol: /^https?$/ }).max(2_000)], {
  error: 'a domain as in "shop.example", or the whole address of a page with "https://"',
})

/** A few of them by name, for a card. */
export const named = (list: readonly string[]): string =>
  list.length <= 3 ? list.join(', ') : `${list.slice(0, 3).join(', ')} and ${list.length - 3} more`

/** What is counted where the price list counts results: rows asked for, or keywords given. */
export const perRow = (args: { readonly limit: number }): number => args.limit
export const perKeyword = (args: { readonly keywords: readonly string[] }): number => args.keywords.length
