/**
 * Who stands where: the keywords of a site or page, its competitors, its history, one results page.
 * @module
 */
import { z } from 'zod'
import { body, path, Refusal } from '../../src/connector/native/kit.ts'
import { DEADLINE_MS, live } from './connection.ts'
import { all, type Listed } from './keywords.ts'
import { price } from './price.ts'
import { type KeywordData, keywordRow, type Metrics, monthName, organic } from './rows.ts'
import { date, domain, nextOffset, perRow, place, placed, slice, target } from './words.ts'

interface Ranked {
  readonly keyword_data?: KeywordData
  readonly ranked_serp_element?: {
    readonly serp_item?: {
      readonly type?: string
      readonly rank_group?: number
      readonly rank_absolute?: number
      readonly url?: string
      readonly title?: string
      readonly etv?: number
    } | null
  } | null
}

const RANK = 'ranked_serp_element.serp_item.rank_group'

export const rankedKeywords = body({
  title: 'Keywords a site or page is found by',
  description:
    'Lists the keywords by which a domain, or one page, is found at Google, with positions and figures. Bills for the request and for each row.',
  input: z.strictObject({
    target: target.describe(
      'A domain ("shop.example"), or one page as its whole address ("https://shop.example/shoes").',
    ),
    ...place,
    ...slice(100, 1_000),
    positionFrom: z.int().min(1).max(100).optional().describe('Only positions from this one on.'),
    positionTo: z.int().min(1).max(100).optional().describe('Only positions up to this one.'),
    minVolume: z
      .int()
      .min(0)
      .max(100_000_000)
      .optional()
      .describe('Only keywords searched for at least so often a month.'),
    orderBy: z.enum(['volume', 'position', 'traffic']).default('traffic'),
    history: z.enum(['live', 'lost', 'all']).default('live').describe('Keywords it has now, has lost, or both.'),
  }),
  refuse: ({ positionFrom = 1, positionTo = 100 }) =>
    positionFrom <= positionTo
      ? undefined
      : new Refusal('invalid_arguments', '"positionFrom" is no larger than "positionTo".'),
  cost: price('dataforseo_labs.ranked_keywords.live', perRow),
  summary: (args) => `Ask DataForSEO for up to ${args.limit} keywords ${args.target} is found by.`,
  deadlineMs: DEADLINE_MS,
  async run({ args, http }) {
    const filters = all(
      args.positionFrom !== undefined && [RANK, '>=', args.positionFrom],
      args.positionTo !== undefined && [RANK, '<=', args.positionTo],
      args.minVolume !== undefined && ['keyword_data.keyword_info.search_volume', '>=', args.minVolume],
    )
    const { rows, costUsd } = await live<Listed<Ranked>>(http, path`/v3/dataforseo_labs/google/ranked_keywords/live`, {
      target: args.target,
      ...placed(args),
      item_types: ['organic'],
      historical_serp_mode: args.history,
      limit: args.limit,
      offset: args.offset,
      order_by: [ORDERS[args.orderBy]],
      ...filters,
    })
    const { total_count, items, metrics } = rows[0] ?? {}
    const found = (items ?? []).map(({ keyword_data, ranked_serp_element }) => {
      const { rank_group, rank_absolute, url, title, etv } = ranked_serp_element?.serp_item ?? {}
      return {
        ...keywordRow(keyword_data, false),
        position: rank_group,
        positionOfAll: rank_absolute,
        url,
        title,
        traffic: etv,
      }
    })
    const next = nextOffset(args.offset, found.length, total_count)
    return { total: total_count ?? 0, nextOffset: next, summary: organic(metrics), keywords: found, costUsd }
  },
})

const ORDERS = {
  volume: 'keyword_data.keyword_info.search_volume,desc',
  position: `${RANK},asc`,
  traffic: 'ranked_serp_element.serp_item.etv,desc',
} as const

interface Competitor {
  readonly domain?: string
  readonly avg_position?: number
  readonly intersections?: number
  readonly metrics?: Metrics
  readonly full_domain_metrics?: Metrics
}

export const competitors = body({
  title: 'Competitors of a site',
  description:
    'Lists domains that are found by the same keywords as a domain: how many they share, how they stand there, and what else they have. Bills for the request and for each row.',
  input: z.strictObject({
    target: domain,
    ...place,
    ...slice(20, 1_000),
    excludeTopDomains: z.boolean().default(true).describe('Leave out the sites that compete with everybody.'),
    only: z.array(domain).min(1).max(20).optional().describe('Only these domains.'),
  }),
  cost: price('dataforseo_labs.competitors_domain.live', perRow),
  summary: (args) => `Ask DataForSEO for up to ${args.limit} competitors of ${args.target}.`,
  deadlineMs: DEADLINE_MS,
  async run({ args, http }) {
    const to = path`/v3/dataforseo_labs/google/competitors_domain/live`
    const { rows, costUsd } = await live<Listed<Competitor>>(http, to, {
      target: args.target,
      ...placed(args),
      item_types: ['organic'],
      limit: args.limit,
      offset: args.offset,
      exclude_top_domains: args.excludeTopDomains,
      ...(args.only !== undefined && { intersecting_domains: args.only }),
    })
    const { total_count, items } = rows[0] ?? {}
    const found = (items ?? []).map((one) => ({
      domain: one.domain,
      sharedKeywords: one.intersections,
      averagePosition: one.avg_position,
      onShared: organic(one.metrics),
      inAll: organic(one.full_domain_metrics),
    }))
    return {
      total: total_count ?? 0,
      nextOffset: nextOffset(args.offset, found.length, total_count),
      competitors: found,
      costUsd,
    }
  },
})

const FIRST_DAY = '2020-10-01'

export const rankHistory = body({
  title: 'How a site stood over time',
  description:
    'Gives for each month how many keywords a domain was found by, at which positions, and the traffic that comes to. Bills for the request and for each month.',
  input: z.strictObject({ target: domain, ...place, from: date.describe('2020-10-01 at the earliest.'), to: date }),
  refuse: ({ from, to }) =>
    from <= to && from >= FIRST_DAY
      ? undefined
      : new Refusal('invalid_arguments', `"from" is no later than "to", and no earlier than ${FIRST_DAY}.`),
  cost: price('dataforseo_labs.historical_rank_overview.live', monthsOf),
  summary: ({ target, from, to }) => `Ask DataForSEO how ${target} stood from ${from} to ${to}.`,
  deadlineMs: DEADLINE_MS,
  async run({ args, http }) {
    type Month = { year?: number; month?: number; metrics?: Metrics }
    const to = path`/v3/dataforseo_labs/google/historical_rank_overview/live`
    const task = { target: args.target, ...placed(args), date_from: args.from, date_to: args.to }
    const { rows, costUsd } = await live<Listed<Month>>(http, to, task)
    const items = rows[0]?.items ?? []
    return { months: items.map((one) => ({ month: monthName(one.year, one.month), ...organic(one.metrics) })), costUsd }
  },
})

/** Months that two days touch. */
function monthsOf({ from, to }: { readonly from: string; readonly to: string }): number {
  const count = (day: string): number => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7))
  return count(to) - count(from) + 1
}

interface Page {
  readonly check_url?: string
  readonly se_results_count?: number
  readonly item_types?: readonly string[]
  readonly items?:
    | readonly {
        readonly type?: string
        readonly rank_group?: number
        readonly rank_absolute?: number
        readonly domain?: string
        readonly url?: string
        readonly title?: string
        readonly description?: string
      }[]
    | null
}

/** A word, a colon, no blank: Google's operators, for which the vendor bills five times as much. */
const OPERATOR = /[\p{L}\d]:/u

export const serp = body({
  title: 'A results page of Google',
  description:
    'Gives the organic results of Google for one keyword as they are now. Each ten results beyond the first ten bill three quarters as much again; operators such as "site:" bill five times as much.',
  input: z.strictObject({
    keyword: z.string().regex(/\S/, 'not empty').max(700),
    ...place,
    device: z.enum(['desktop', 'mobile']).default('desktop'),
    depth: z.int().min(10).max(200).default(10).describe('How many results.'),
  }),
  cost: price<{ keyword: string; depth: number }>(
    'serp.live.advanced',
    () => 1,
    ({ keyword, depth }) =>
      (sum) =>
        (OPERATOR.test(keyword) ? 5 : 1) * sum * (1 + 0.75 * (Math.ceil(depth / 10) - 1)),
  ),
  summary: ({ keyword, depth }) => `Ask DataForSEO for the first ${depth} results for “${keyword}”.`,
  deadlineMs: DEADLINE_MS,
  async run({ args, http }) {
    const { rows, costUsd } = await live<Page>(http, path`/v3/serp/google/organic/live/advanced`, {
      keyword: args.keyword,
      ...placed(args),
      device: args.device,
      depth: args.depth,
    })
    const { check_url, se_results_count, item_types, items } = rows[0] ?? {}
    const results = (items ?? [])
      .filter(({ type }) => type === 'organic')
      .map(({ rank_group, rank_absolute, domain, url, title, description }) => ({
        position: rank_group,
        positionOfAll: rank_absolute,
        domain,
        url,
        title,
        description,
      }))
    return { results, onResultsPage: item_types, found: se_results_count, checkUrl: check_url, costUsd }
  },
})
