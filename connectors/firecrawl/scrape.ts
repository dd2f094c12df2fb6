/**
 * One page; and the account, which costs nothing.
 * @module
 */
import { z } from 'zod'
import { body, decimal, path } from '../../src/connector/native/kit.ts'
import { unsure } from './connection.ts'
import {
  address,
  formats,
  isDear,
  type Page,
  pageCredits,
  pdfPages,
  reading,
  readingOptions,
  share,
  shown,
} from './pages.ts'

interface Usage {
  readonly data?: {
    readonly remainingCredits?: number
    readonly planCredits?: number
    readonly billingPeriodStart?: string | null
    readonly billingPeriodEnd?: string | null
  }
}

export const account = body({
  title: 'Credits that are left',
  description: 'Says how many credits the Firecrawl account has left and when its period ends. Costs nothing.',
  input: z.strictObject({}),
  cost: { estimate: () => '0', actual: () => '0' },
  summary: () => 'Read how many Firecrawl credits are left.',
  async run({ http }) {
    const { data = {} } = (await http.get<Usage>(path`/team/credit-usage`)).json
    return {
      remainingCredits: data.remainingCredits,
      planCredits: data.planCredits,
      periodStart: data.billingPeriodStart,
      periodEnd: data.billingPeriodEnd,
    }
  },
})

export const scrape = body({
  title: 'Read a web page',
  description:
    'Reads one web page or PDF and gives it as Markdown. Costs 1 credit, and 1 more for each PDF page; a page of x.com costs 30. It does not click, type or sign in.',
  input: z.strictObject({
    url: address.describe('The page.'),
    formats,
    ...reading,
    pdfPages: pdfPages(4),
    mobile: z.boolean().default(false).describe('Read it as a phone is shown it.'),
    country: z
      .string()
      .regex(/^[A-Z]{2}$/, 'a country of two capital letters, as in "DE"')
      .optional()
      .describe('Read it from there.'),
    maxAgeMs: z
      .int()
      .min(0)
      .max(2_592_000_000)
      .default(172_800_000)
      .describe('How old a copy may be; 0 reads it afresh. A copy costs the same.'),
  }),
  cost: {
    estimate: (args) => String(pageCredits(args.pdfPages, isDear(args.url))),
    actual: ({ creditsUsed }) => decimal(creditsUsed),
  },
  summary: ({ url }) => `Read ${url} with Firecrawl.`,
  deadlineMs: 90_000,
  async run({ args, http }) {
    const { json } = await http.post<{ data?: Page }>(path`/scrape`, {
      json: {
        url: args.url,
        ...readingOptions(args),
        timeout: 60_000,
        maxAge: args.maxAgeMs,
        mobile: args.mobile,
        ...(args.country !== undefined && { location: { country: args.country } }),
      },
      headersMs: 80_000,
      refusal: unsure,
    })
    const page = shown(json.data ?? {}, share(1))
    return { ...page, url: page.url ?? args.url, creditsUsed: json.data?.metadata?.creditsUsed }
  },
})
