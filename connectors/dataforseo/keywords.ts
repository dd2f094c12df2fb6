/**
 * What is searched for: ideas, volumes, figures, difficulty, intent.
 * @module
 */
import { z } from 'zod'
import { body, path } from '../../src/connector/native/kit.ts'
import { DEADLINE_MS, live } from './connection.ts'
import { price } from './price.ts'
import { type KeywordData, keywordRow, months } from './rows.ts'
import { date, keywords, named, nextOffset, perKeyword, perRow, place, placed, slice } from './words.ts'

const monthly = z.boolean().default(false).describe('Give the figure of each of the last twelve months too.')

const ORDERS = {
  relevance: 'relevance,desc',
  volume: 'keyword_info.search_volume,desc',
  difficulty: 'keyword_properties.keyword_difficulty,asc',
  cpc: 'keyword_info.cpc,desc',
} as const

export const ideas = body({
  title: 'Keyword ideas',
  description:
    'Finds keywords that have to do with the given ones, with volume, price per click, difficulty and intent. Bills for the request and for each row, so ask for no more rows than are needed.',
  input: z.strictObject({
    keywords: keywords(200),
    ...place,
    ...slice(50, 1_000),
    minVolume: z
      .int()
      .min(0)
      .max(100_000_000)
      .optional()
      .describe('Only keywords searched for at least so often a month.'),
    maxDifficulty: z.int().min(0).max(100).optional().describe('Only keywords no harder than this, of 100.'),
    orderBy: z.enum(['relevance', 'volume', 'difficulty', 'cpc']).default('relevance'),
    closeVariants: z.boolean().default(false).describe('Only keywords that hold the words as they are.'),
    monthly,
  }),
  cost: price('dataforseo_labs.keyword_ideas.live', perRow),
  summary: (args) => `Ask DataForSEO for up to ${args.limit} keyword ideas on ${named(args.keywords)}.`,
  deadlineMs: DEADLINE_MS,
  async run({ args, http }) {
    const filters = all(
      args.minVolume !== undefined && ['keyword_info.search_volume', '>=', args.minVolume],
      args.maxDifficulty !== undefined && ['keyword_properties.keyword_difficulty', '<=', args.maxDifficulty],
    )
    const { rows, costUsd } = await live<Listed<KeywordData>>(
      http,
      path`/v3/dataforseo_labs/google/keyword_ideas/live`,
      {
        keywords: args.keywords,
        ...placed(args),
        limit: args.limit,
        offset: args.offset,
        order_by: [ORDERS[args.orderBy]],
        closely_variants: args.closeVariants,
        ...filters,
      },
    )
    const { total_count, items } = rows[0] ?? {}
    const found = (items ?? []).map((one) => keywordRow(one, args.monthly))
    return {
      total: total_count ?? 0,
      nextOffset: nextOffset(args.offset, found.length, total_count),
      keywords: found,
      costUsd,
    }
  },
})

/** A list as the Labs give it. */
export interface Listed<T> {
  readonly total_count?: number
  readonly items?: readonly T[] | null
  readonly metrics?: Record<string, Record<string, unknown> | null> | null
}

/** Conditions that must all hold, in the vendor's form; nothing where there are none. */
export function all(...conditions: readonly (false | readonly unknown[])[]): object {
  const given = conditions.filter((one) => one !== false)
  return given.length === 0 ? {} : { filters: given.flatMap((one, at) => (at === 0 ? [one] : ['and', one])) }
}

export const searchVolume = body({
  title: 'Search volume from Google Ads',
  description:
    'Gives how often each keyword is searched for a month, with competition and prices per click, as Google Ads has it. One price for up to 1,000 keywords, so ask for many at once. At most 12 calls a minute.',
  input: z.strictObject({
    keywords: keywords(1_000),
    ...place,
    from: date.optional().describe('The first month is the one of this day; four years back at most.'),
    to: date.optional(),
    searchPartners: z.boolean().default(false).describe('Count the searches of Google’s partners too.'),
    monthly,
  }),
  cost: price('keywords_data.google_ads.search_volume.live', perKeyword),
  summary: (args) => `Ask DataForSEO for the search volume of ${named(args.keywords)}.`,
  deadlineMs: DEADLINE_MS,
  async run({ args, http }) {
    const { rows, costUsd } = await live<Volume>(http, path`/v3/keywords_data/google_ads/search_volume/live`, {
      keywords: args.keywords,
      ...placed(args),
      search_partners: args.searchPartners,
      ...(args.from !== undefined && { date_from: args.from }),
      ...(args.to !== undefined && { date_to: args.to }),
    })
    const found = rows.map((row) => ({
      keyword: row.keyword,
      volume: row.search_volume,
      competition: row.competition,
      competitionIndex: row.competition_index,
      cpc: row.cpc,
      lowBid: row.low_top_of_page_bid,
      highBid: row.high_top_of_page_bid,
      ...(args.monthly && { monthly: months(row.monthly_searches) }),
    }))
    return { keywords: found, costUsd }
  },
})

interface Volume {
  readonly keyword?: string
  readonly search_volume?: number | null
  readonly competition?: string | null
  readonly competition_index?: number | null
  readonly cpc?: number | null
  readonly low_top_of_page_bid?: number | null
  readonly high_top_of_page_bid?: number | null
  readonly monthly_searches?: Parameters<typeof months>[0]
}

export const overview = body({
  title: 'Figures of keywords',
  description:
    'Gives volume, price per click, difficulty, intent and what the results page looks like for each keyword. Bills for the request and for each keyword.',
  input: z.strictObject({ keywords: keywords(700), ...place, monthly }),
  cost: price('dataforseo_labs.keyword_overview.live', perKeyword),
  summary: (args) => `Ask DataForSEO for the figures of ${named(args.keywords)}.`,
  deadlineMs: DEADLINE_MS,
  async run({ args, http }) {
    const task = { keywords: args.keywords, ...placed(args), include_serp_info: true }
    const to = path`/v3/dataforseo_labs/google/keyword_overview/live`
    const { rows, costUsd } = await live<Listed<KeywordData>>(http, to, task)
    const found = (rows[0]?.items ?? []).map((one) => ({
      ...keywordRow(one, args.monthly),
      onResultsPage: one.serp_info?.serp_item_types,
      results: one.serp_info?.se_results_count,
      backlinksOfTheBest: one.avg_backlinks_info?.backlinks,
      domainsOfTheBest: one.avg_backlinks_info?.referring_domains,
    }))
    return { keywords: found, costUsd }
  },
})

export const difficulty = body({
  title: 'Difficulty of keywords',
  description:
    'Says how hard it is to stand among the first ten results, from 0 to 100. Bills for the request and for each keyword.',
  input: z.strictObject({ keywords: keywords(1_000), ...place }),
  cost: price('dataforseo_labs.bulk_keyword_difficulty.live', perKeyword),
  summary: (args) => `Ask DataForSEO how hard ${named(args.keywords)} are.`,
  deadlineMs: DEADLINE_MS,
  async run({ args, http }) {
    const to = path`/v3/dataforseo_labs/google/bulk_keyword_difficulty/live`
    const task = { keywords: args.keywords, ...placed(args) }
    const { rows, costUsd } = await live<Listed<{ keyword?: string; keyword_difficulty?: number | null }>>(
      http,
      to,
      task,
    )
    const found = (rows[0]?.items ?? []).map((one) => ({ keyword: one.keyword, difficulty: one.keyword_difficulty }))
    return { keywords: found, costUsd }
  },
})

interface Intent {
  readonly label?: string
  readonly probability?: number
}

export const intent = body({
  title: 'What people want with a keyword',
  description:
    'Says for each keyword whether people look for information, a site, to compare or to buy. Bills for the request and for each keyword.',
  input: z.strictObject({ keywords: keywords(1_000), languageCode: place.languageCode }),
  cost: price('dataforseo_labs.search_intent.live', perKeyword),
  summary: (args) => `Ask DataForSEO what people want with ${named(args.keywords)}.`,
  deadlineMs: DEADLINE_MS,
  async run({ args, http }) {
    type Row = {
      keyword?: string
      keyword_intent?: Intent | null
      secondary_keyword_intents?: readonly Intent[] | null
    }
    const { rows, costUsd } = await live<Listed<Row>>(http, path`/v3/dataforseo_labs/google/search_intent/live`, {
      keywords: args.keywords,
      language_code: args.languageCode,
    })
    const found = (rows[0]?.items ?? []).map((one) => ({
      keyword: one.keyword,
      intent: one.keyword_intent?.label,
      probability: one.keyword_intent?.probability,
      others: Array.isArray(one.secondary_keyword_intents) ? one.secondary_keyword_intents : [],
    }))
    return { keywords: found, costUsd }
  },
})
