/**
 * Searches of the web, and the map of a site.
 * @module
 */
import { z } from 'zod'
import { body, decimal, path, Refusal } from '../../src/connector/native/kit.ts'
import { unsure } from './connection.ts'
import {
  address,
  DEAR,
  isDearHost,
  type Page,
  pageCredits,
  pdfPages,
  reading,
  readingOptions,
  share,
  shown,
} from './pages.ts'

const SOURCES = ['web', 'news', 'images'] as const
const SINCE = { day: 'qdr:d', week: 'qdr:w', month: 'qdr:m', year: 'qdr:y' } as const

const domains = z
  .array(z.string().regex(/^(?:[a-z0-9-]+\.)+[a-z]{2,}$/i, 'a domain, as in "shop.example"'))
  .min(1)
  .max(20)

interface Found extends Page {
  readonly url?: string
  readonly title?: string
  readonly description?: string
  readonly snippet?: string
  readonly date?: string
  readonly imageUrl?: string
}

interface Searched {
  readonly data?: Readonly<Partial<Record<(typeof SOURCES)[number], readonly Found[]>>>
  readonly warning?: string | null
  readonly creditsUsed?: number
}

export const search = body({
  title: 'Search the web',
  description:
    'Searches the web and gives addresses, titles and descriptions. Costs 2 credits for each 10 results of each source. With readPages it also gives each page as Markdown, at 1 credit a page more (and 1 for each PDF page).',
  input: z.strictObject({
    query: z
      .string()
      .regex(/\S/, 'not empty')
      .max(500)
      .describe('Operators such as "site:" and quotes are understood.'),
    limit: z.int().min(1).max(50).default(10).describe('Most results of each source.'),
    sources: z.array(z.enum(SOURCES)).min(1).max(3).default(['web']),
    since: z.enum(['day', 'week', 'month', 'year']).optional().describe('Only what is no older.'),
    location: z.string().min(2).max(100).optional().describe('Where it is searched from: "Germany".'),
    includeDomains: domains.optional().describe('Only these sites. Not together with excludeDomains.'),
    excludeDomains: domains.optional().describe('Not these sites.'),
    readPages: z.boolean().default(false).describe('Give the pages too.'),
    ...reading,
    pdfPages: pdfPages(0),
  }),
  refuse({ includeDomains, excludeDomains, readPages }) {
    if (includeDomains !== undefined && excludeDomains !== undefined)
      return new Refusal('invalid_arguments', 'Give "includeDomains" or "excludeDomains", not both.')
    const dear = readPages ? includeDomains?.find(isDearHost) : undefined
    return dear === undefined
      ? undefined
      : new Refusal(
          'invalid_arguments',
          `Pages of ${dear} cost 30 credits each; read them one by one with firecrawl_scrape.`,
        )
  },
  cost: {
    estimate({ limit, sources, readPages, pdfPages }) {
      const pages = readPages ? limit * pageCredits(pdfPages, false) : 0
      return String(sources.length * (2 * Math.ceil(limit / 10) + pages))
    },
    actual: ({ creditsUsed }) => decimal(creditsUsed),
  },
  summary: ({ query, limit, readPages }) =>
    `Search the web for “${query}”, ${limit} results${readPages ? ', and read each page' : ''}.`,
  deadlineMs: 120_000,
  async run({ args, http }) {
    // What each page costs is known before only where none of them is dear.
    const excluded = args.readPages && args.includeDomains === undefined ? DEAR : []
    const excludeDomains = [...(args.excludeDomains ?? []), ...excluded]
    const { json } = await http.post<Searched>(path`/search`, {
      json: {
        query: args.query,
        limit: args.limit,
        sources: args.sources.map((type) => ({ type })),
        timeout: 90_000,
        ...(args.since !== undefined && { tbs: SINCE[args.since] }),
        ...(args.location !== undefined && { location: args.location }),
        ...(args.includeDomains !== undefined && { includeDomains: args.includeDomains }),
        ...(excludeDomains.length > 0 && { excludeDomains }),
        ...(args.readPages && { scrapeOptions: readingOptions({ ...args, formats: ['markdown'] }) }),
      },
      headersMs: 110_000,
      refusal: unsure,
    })
    const { data = {}, warning, creditsUsed } = json
    const count = SOURCES.reduce((sum, source) => sum + (data[source]?.length ?? 0), 0)
    const found = SOURCES.flatMap((source) => {
      const list = data[source]
      return list === undefined ? [] : [[source, list.map((one) => foundText(one, share(count)))] as const]
    })
    return { ...Object.fromEntries(found), warning: warning ?? undefined, creditsUsed }
  },
})

function foundText(one: Found, most: number): Record<string, unknown> {
  const page = shown(one, most)
  return {
    ...page,
    url: one.url ?? page.url,
    title: one.title ?? page.title,
    description: one.description ?? one.snippet ?? page.description,
    date: one.date,
    imageUrl: one.imageUrl,
  }
}

interface Mapped {
  readonly links?: readonly (
    | string
    | { readonly url?: string; readonly title?: string; readonly description?: string }
  )[]
  readonly warning?: string | null
}

export const map = body({
  title: 'List the pages of a site',
  description:
    'Lists the addresses of a site, with titles where they are known. Costs 1 credit, however many there are.',
  input: z.strictObject({
    url: address.describe('The site.'),
    search: z.string().max(200).optional().describe('Only addresses that have to do with this, the nearest first.'),
    limit: z.int().min(1).max(5_000).default(500).describe('Most addresses.'),
    sitemap: z.enum(['include', 'skip', 'only']).default('include').describe('Whether the site’s own list is used.'),
    includeSubdomains: z.boolean().default(true),
  }),
  // The answer does not say what it cost; the price is flat.
  cost: { estimate: () => '1', actual: () => '1' },
  summary: ({ url }) => `List the pages of ${url} with Firecrawl.`,
  deadlineMs: 90_000,
  async run({ args, http }) {
    const { url, limit, sitemap, includeSubdomains } = args
    const { json } = await http.post<Mapped>(path`/map`, {
      json: { url, limit, sitemap, includeSubdomains, timeout: 60_000, ...(args.search && { search: args.search }) },
      headersMs: 80_000,
      refusal: unsure,
    })
    const links = (json.links ?? []).slice(0, limit).map((link) => (typeof link === 'string' ? { url: link } : link))
    return { links, count: links.length, warning: json.warning ?? undefined }
  },
})
