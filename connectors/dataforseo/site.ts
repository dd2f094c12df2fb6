/**
 * One page looked at, interest over time, and the account.
 * @module
 */
import { z } from 'zod'
import { body, path, Refusal } from '../../src/connector/native/kit.ts'
import { DEADLINE_MS, live, userData } from './connection.ts'
import { price } from './price.ts'
import { date, keywords, named, perKeyword, place } from './words.ts'

export const account = body({
  title: 'Money that is left',
  description:
    'Says what the DataForSEO account has left, what it spent today, and its limits. Costs nothing; ask once a minute at most.',
  input: z.strictObject({}),
  cost: { estimate: () => '0', actual: () => '0' },
  summary: () => 'Read what is left of the DataForSEO balance.',
  async run({ http }) {
    const { money, rates, timezone } = await userData(http)
    return {
      balanceUsd: money?.balance,
      paidInUsd: money?.total,
      dayLimits: money?.limits?.day,
      spentToday: money?.statistics?.day,
      rateLimits: rates?.limits,
      timezone,
    }
  },
})

interface Audited {
  readonly items?: readonly Readonly<Record<string, unknown>>[] | null
}
type Meta = Readonly<Record<string, unknown>> | null | undefined

export const pageAudit = body({
  title: 'Look at a page as a search engine does',
  description:
    'Fetches one page and says what is wrong with it for search engines: status, title, description, headings, checks, speed, size. Runs none of its scripts.',
  input: z.strictObject({ url: z.url({ protocol: /^https?$/, error: 'an http:// or https:// address' }).max(2_000) }),
  cost: price('on_page.instant_pages', () => 1),
  summary: ({ url }) => `Have DataForSEO look at ${url}.`,
  deadlineMs: DEADLINE_MS,
  async run({ args, http }) {
    // What loads scripts and pictures bills a multiple.
    const task = { url: args.url, enable_javascript: false, load_resources: false, enable_browser_rendering: false }
    const { rows, costUsd } = await live<Audited>(http, path`/v3/on_page/instant_pages`, task)
    const page = rows[0]?.items?.[0]
    if (page === undefined) return { looked: false, costUsd }
    const meta = page.meta as Meta
    return {
      looked: true,
      url: page.url,
      pageStatus: page.status_code,
      score: page.onpage_score,
      title: meta?.title,
      description: meta?.description,
      canonical: meta?.canonical,
      headings: meta?.htags,
      internalLinks: meta?.internal_links_count,
      externalLinks: meta?.external_links_count,
      content: meta?.content,
      checks: page.checks,
      timing: page.page_timing,
      brokenLinks: page.broken_links,
      size: page.size,
      costUsd,
    }
  },
})

const RANGES = [
  'past_4_hours',
  'past_day',
  'past_7_days',
  'past_30_days',
  'past_90_days',
  'past_12_months',
  'past_5_years',
] as const

interface Explored {
  readonly items?:
    | readonly {
        readonly keywords?: readonly string[]
        readonly data?: readonly { date_from?: string; date_to?: string; values?: readonly (number | null)[] }[] | null
        readonly averages?: readonly number[] | null
      }[]
    | null
}

export const trends = body({
  title: 'Interest over time',
  description:
    'Shows how much up to five keywords are searched for against each other over time, from 0 to 100. One price for a call.',
  input: z.strictObject({
    keywords: keywords(5),
    locationCode: place.locationCode.optional(),
    type: z.enum(['web', 'news', 'ecommerce']).default('web'),
    range: z.enum(RANGES).optional().describe('Without it and without days: the past twelve months.'),
    from: date.optional(),
    to: date.optional(),
  }),
  refuse({ range, from, to }) {
    const days = from !== undefined && to !== undefined
    if ((from !== undefined) !== (to !== undefined) || (days && range !== undefined))
      return new Refusal('invalid_arguments', 'Give "range", or "from" and "to".')
    return !days || from <= to ? undefined : new Refusal('invalid_arguments', '"from" is no later than "to".')
  },
  cost: price('keywords_data.dataforseo_trends.explore.live', perKeyword),
  summary: (args) => `Ask DataForSEO how interest in ${named(args.keywords)} went.`,
  deadlineMs: DEADLINE_MS,
  async run({ args, http }) {
    const { keywords, type, locationCode, from, to, range = 'past_12_months' } = args
    const { rows, costUsd } = await live<Explored>(http, path`/v3/keywords_data/dataforseo_trends/explore/live`, {
      keywords,
      type,
      ...(locationCode !== undefined && { location_code: locationCode }),
      ...(from !== undefined && to !== undefined ? { date_from: from, date_to: to } : { time_range: range }),
    })
    const [graph] = rows[0]?.items ?? []
    const points = (graph?.data ?? []).map((one) => ({ from: one.date_from, to: one.date_to, values: one.values }))
    return { keywords: graph?.keywords ?? keywords, averages: graph?.averages, points, costUsd }
  },
})
