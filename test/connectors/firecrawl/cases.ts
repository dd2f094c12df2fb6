/**
 * Calls of Firecrawl's tools: what each sends, gives and costs, and how each documented error is told.
 * @module
 */
import type { Fails, ToolCases } from '../suite.ts'

export const KEY = 'fc-canary-51b0c3f2a7'
export const SITE = 'https://shop.example/a'

const page = (metadata: object) => ({ success: true, data: { markdown: '# Hello', metadata } })
const no = (status: number, error: string, more: object = {}) => ({ status, json: { success: false, error, ...more } })

/** The errors that the vendor documents for every call. */
const failsOf = (operation: string, effect: boolean): Record<string, Fails> => ({
  'arguments it does not take, with its first reason': {
    answers: { [operation]: no(400, 'Bad Request', { details: [{ message: 'Invalid URL', path: ['url'] }] }) },
    code: 'invalid_arguments',
    says: /400: Bad Request: Invalid URL/,
  },
  'a key that is refused': {
    answers: { [operation]: no(401, 'Unauthorized: Invalid token') },
    code: 'upstream_unavailable',
    says: /401.*a person has to renew/,
    facts: { vendor: 'Firecrawl', http_status: 401, retryable: false },
  },
  'no credits left': {
    answers: { [operation]: no(402, 'Insufficient credits') },
    code: 'upstream_unavailable',
    says: /402: Insufficient credits/,
    facts: { http_status: 402, retryable: false },
  },
  'a site it does not read, which is no matter of scopes': {
    answers: { [operation]: no(403, 'This website is not supported', { code: 'SITE_UNSUPPORTED' }) },
    code: 'invalid_arguments',
    says: /^Firecrawl answered 403 \(SITE_UNSUPPORTED\): This website is not supported\.$/,
  },
  'a page that takes too long, which may have been billed': {
    answers: { [operation]: no(408, 'Request timed out', { code: 'SCRAPE_TIMEOUT' }) },
    ...(effect ? { code: 'outcome_unknown', ran: 'maybe' } : { code: 'upstream_timeout' }),
    says: /408 \(SCRAPE_TIMEOUT\)/,
  },
  'what it cannot do': {
    answers: { [operation]: no(422, 'Unprocessable') },
    code: 'invalid_arguments',
    says: /422: Unprocessable/,
  },
  'a fault of the vendor': {
    answers: { [operation]: no(500, 'oops', { code: 'UNKNOWN' }) },
    ...(effect ? { code: 'outcome_unknown', ran: 'maybe' } : { code: 'upstream_unavailable' }),
    says: /500 \(UNKNOWN\): oops/,
  },
})

/** Status 200 and no success: nobody knows what was billed. */
const unsaid = (operation: string): Record<string, Fails> => ({
  'a yes that is none': {
    answers: { [operation]: { json: { success: false } } },
    code: 'outcome_unknown',
    ran: 'maybe',
    says: /does not say that it succeeded/,
  },
})

const scraping = {
  url: SITE,
  formats: [{ type: 'markdown' }],
  onlyMainContent: true,
  waitFor: 0,
  timeout: 60_000,
  maxAge: 172_800_000,
  mobile: false,
  parsers: [{ type: 'pdf', maxPages: 4 }],
}
const reading = { formats: [{ type: 'markdown' }], onlyMainContent: true, waitFor: 0, parsers: [] }

export const tools: Readonly<Record<string, ToolCases>> = {
  firecrawl_account: {
    works: [
      {
        args: {},
        answers: {
          'GET /team/credit-usage': {
            json: {
              success: true,
              data: {
                remainingCredits: 340,
                planCredits: 500,
                billingPeriodStart: null,
                billingPeriodEnd: '2026-12-01',
              },
            },
          },
        },
        sends: [{ method: 'GET', path: '/team/credit-usage' }],
        result: { remainingCredits: 340, planCredits: 500, periodEnd: '2026-12-01' },
        cost: { estimate: '0', actual: '0' },
      },
    ],
    fails: failsOf('GET /team/credit-usage', false),
  },

  firecrawl_scrape: {
    works: [
      {
        args: { url: SITE },
        answers: {
          'POST /scrape': { json: page({ title: 'A', url: SITE, statusCode: 200, creditsUsed: 1 }) },
        },
        sends: [{ method: 'POST', path: '/scrape', body: scraping }],
        result: { markdown: '# Hello', pageStatus: 200, creditsUsed: 1 },
        cost: { estimate: '5', actual: '1' },
        summary: `Read ${SITE} with Firecrawl.`,
      },
      {
        name: 'reads as a phone, from a country, afresh, without PDFs',
        args: { url: SITE, mobile: true, country: 'DE', maxAgeMs: 0, pdfPages: 0, formats: ['links', 'summary'] },
        answers: {
          'POST /scrape': {
            json: {
              success: true,
              data: {
                links: ['https://shop.example/b'],
                summary: 'A shop.',
                metadata: { sourceURL: SITE, creditsUsed: 1 },
              },
            },
          },
        },
        sends: [
          {
            method: 'POST',
            path: '/scrape',
            body: {
              ...scraping,
              formats: [{ type: 'links' }, { type: 'summary' }],
              maxAge: 0,
              mobile: true,
              location: { country: 'DE' },
              parsers: [],
            },
          },
        ],
        result: { url: SITE, links: ['https://shop.example/b'], summary: 'A shop.' },
        cost: { estimate: '1', actual: '1' },
      },
      {
        name: 'books the whole estimate where the vendor does not say what it cost',
        args: { url: SITE, pdfPages: 0 },
        answers: { 'POST /scrape': { json: page({ statusCode: 404, error: 'Not Found' }) } },
        sends: [{ method: 'POST', path: '/scrape' }],
        result: { pageStatus: 404, url: SITE, warning: 'Not Found' },
        cost: { estimate: '1', actual: undefined },
      },
    ],
    fails: { ...failsOf('POST /scrape', true), ...unsaid('POST /scrape') },
    bad: {
      'no address': { args: {}, says: /"url" is missing/ },
      'an address of another kind': { args: { url: 'file:///etc/passwd' }, says: /"url": an http/ },
      'no object': { args: '[]', says: /expected object/ },
      'clicks, which are withheld': {
        args: { url: SITE, actions: [{ type: 'click', selector: 'a' }] },
        says: /"actions" is not an argument/,
      },
      'headers of its own': { args: { url: SITE, headers: { cookie: 'a=b' } }, says: /"headers" is not an argument/ },
      'an extraction, which is withheld': { args: { url: SITE, formats: ['json'] }, says: /"formats\[0\]"/ },
    },
  },

  firecrawl_search: {
    works: [
      {
        args: { query: 'red shoes' },
        answers: {
          'POST /search': {
            json: { success: true, data: { web: [{ url: SITE, title: 'A', description: 'Shoes' }] }, creditsUsed: 2 },
          },
        },
        sends: [
          {
            method: 'POST',
            path: '/search',
            body: { query: 'red shoes', limit: 10, sources: [{ type: 'web' }], timeout: 90_000 },
          },
        ],
        result: { web: [{ url: SITE, title: 'A', description: 'Shoes' }], creditsUsed: 2 },
        cost: { estimate: '2', actual: '2' },
        summary: 'Search the web for “red shoes”, 10 results.',
      },
      {
        name: 'reads what it finds, and leaves out the sites whose pages cost more',
        args: {
          query: 'shoes',
          limit: 12,
          sources: ['web', 'news', 'images'],
          since: 'week',
          location: 'Germany',
          excludeDomains: ['spam.example'],
          readPages: true,
          pdfPages: 1,
        },
        answers: {
          'POST /search': {
            json: {
              success: true,
              warning: 'One page failed.',
              data: {
                web: [{ url: SITE, markdown: '# A', metadata: { statusCode: 200 } }],
                news: [{ url: 'https://news.example/1', title: 'N', snippet: 'Shoes!', date: '1 day ago' }],
                images: [{ url: SITE, imageUrl: 'https://shop.example/a.png' }],
              },
              creditsUsed: 13,
            },
          },
        },
        sends: [
          {
            method: 'POST',
            path: '/search',
            body: {
              query: 'shoes',
              limit: 12,
              sources: [{ type: 'web' }, { type: 'news' }, { type: 'images' }],
              timeout: 90_000,
              tbs: 'qdr:w',
              location: 'Germany',
              excludeDomains: ['spam.example', 'x.com', 'twitter.com', 't.co'],
              scrapeOptions: { ...reading, parsers: [{ type: 'pdf', maxPages: 1 }] },
            },
          },
        ],
        result: {
          web: [{ markdown: '# A', pageStatus: 200 }],
          news: [{ description: 'Shoes!', date: '1 day ago' }],
          images: [{ imageUrl: 'https://shop.example/a.png' }],
          warning: 'One page failed.',
        },
        cost: { estimate: '84', actual: '13' },
        summary: 'Search the web for “shoes”, 12 results, and read each page.',
      },
      {
        name: 'keeps to sites it is told',
        args: { query: 'shoes', includeDomains: ['shop.example'], readPages: true },
        answers: { 'POST /search': { json: { success: true, data: {} } } },
        sends: [
          {
            method: 'POST',
            path: '/search',
            body: {
              query: 'shoes',
              limit: 10,
              sources: [{ type: 'web' }],
              timeout: 90_000,
              includeDomains: ['shop.example'],
              scrapeOptions: reading,
            },
          },
        ],
        result: {},
        cost: { estimate: '12', actual: undefined },
      },
    ],
    fails: { ...failsOf('POST /search', true), ...unsaid('POST /search') },
    bad: {
      'no words': { args: { query: ' ' }, says: /"query": not empty/ },
      'too many results': { args: { query: 'a', limit: 51 }, says: /"limit"/ },
      'sites to keep to and to leave out': {
        args: { query: 'a', includeDomains: ['a.example'], excludeDomains: ['b.example'] },
        says: /not both/,
      },
      'pages that cost more than they are counted at': {
        args: { query: 'a', includeDomains: ['mobile.twitter.com'], readPages: true },
        says: /30 credits each/,
      },
      'an address for a domain': { args: { query: 'a', includeDomains: ['https://a.example'] }, says: /a domain/ },
    },
  },

  firecrawl_map: {
    works: [
      {
        args: { url: SITE },
        answers: {
          'POST /map': { json: { success: true, links: [{ url: SITE, title: 'A' }, 'https://shop.example/b'] } },
        },
        sends: [
          {
            method: 'POST',
            path: '/map',
            body: { url: SITE, limit: 500, sitemap: 'include', includeSubdomains: true, timeout: 60_000 },
          },
        ],
        result: { links: [{ url: SITE, title: 'A' }, { url: 'https://shop.example/b' }], count: 2 },
        cost: { estimate: '1', actual: '1' },
        summary: `List the pages of ${SITE} with Firecrawl.`,
      },
      {
        name: 'gives no more than were asked for',
        args: { url: SITE, search: 'shoes', limit: 1, sitemap: 'only', includeSubdomains: false },
        answers: {
          'POST /map': { json: { success: true, links: [SITE, 'https://shop.example/b'], warning: 'More exist.' } },
        },
        sends: [
          {
            method: 'POST',
            path: '/map',
            body: { url: SITE, limit: 1, sitemap: 'only', includeSubdomains: false, timeout: 60_000, search: 'shoes' },
          },
        ],
        result: { links: [{ url: SITE }], count: 1, warning: 'More exist.' },
      },
    ],
    fails: { ...failsOf('POST /map', true), ...unsaid('POST /map') },
    bad: {
      'no address': { args: { url: 'shop' }, says: /"url": an http/ },
      'more than it may list': { args: { url: SITE, limit: 5_001 }, says: /"limit"/ },
    },
  },

  firecrawl_crawl: {
    works: [
      {
        args: { url: SITE },
        answers: {
          'POST /crawl': { json: { success: true, id: 'c0ffee-1' } },
          'GET /crawl/{id}': [
            { json: { status: 'scraping', total: 2, completed: 1, creditsUsed: 1, data: [] } },
            {
              json: {
                status: 'completed',
                total: 2,
                completed: 2,
                creditsUsed: 2,
                data: [
                  { markdown: '# A', metadata: { url: SITE, statusCode: 200 } },
                  { markdown: '# B', metadata: { sourceURL: 'https://shop.example/b', statusCode: 404 } },
                ],
              },
            },
          ],
        },
        sends: [
          {
            method: 'POST',
            path: '/crawl',
            body: {
              url: SITE,
              limit: 10,
              sitemap: 'include',
              crawlEntireDomain: false,
              allowSubdomains: false,
              allowExternalLinks: false,
              scrapeOptions: reading,
            },
          },
          { method: 'GET', path: '/crawl/c0ffee-1', query: {} },
          { method: 'GET', path: '/crawl/c0ffee-1', query: {} },
        ],
        result: {
          status: 'completed',
          found: 2,
          read: 2,
          pages: [
            { url: SITE, markdown: '# A' },
            { url: 'https://shop.example/b', pageStatus: 404 },
          ],
          creditsUsed: 2,
        },
        cost: { estimate: '10', actual: '2' },
        summary: `Read up to 10 pages from ${SITE} on with Firecrawl.`,
      },
      {
        name: 'keeps to the paths it is told, and says when the vendor gave up',
        args: {
          url: SITE,
          limit: 3,
          maxDepth: 2,
          includePaths: ['^/blog/'],
          excludePaths: ['^/blog/old'],
          wholeSite: true,
          subdomains: true,
          delayS: 1,
          pdfPages: 2,
        },
        answers: {
          'POST /crawl': { json: { success: true, id: 'c0ffee-2' } },
          'GET /crawl/{id}': { json: { status: 'failed', total: 0, completed: 0, creditsUsed: 0, data: [] } },
        },
        sends: [
          {
            method: 'POST',
            path: '/crawl',
            body: {
              url: SITE,
              limit: 3,
              sitemap: 'include',
              crawlEntireDomain: true,
              allowSubdomains: true,
              allowExternalLinks: false,
              maxDiscoveryDepth: 2,
              includePaths: ['^/blog/'],
              excludePaths: ['^/blog/old'],
              delay: 1,
              scrapeOptions: { ...reading, parsers: [{ type: 'pdf', maxPages: 2 }] },
            },
          },
          { method: 'GET', path: '/crawl/c0ffee-2' },
        ],
        result: { status: 'failed', pages: [] },
        cost: { estimate: '9', actual: '0' },
      },
    ],
    fails: {
      ...failsOf('POST /crawl', true),
      ...unsaid('POST /crawl'),
      'a start without a name': {
        answers: { 'POST /crawl': { json: { success: true } } },
        code: 'outcome_unknown',
        ran: 'maybe',
        says: /does not say that it succeeded/,
      },
    },
    bad: {
      'more pages than it may read': { args: { url: SITE, limit: 101 }, says: /"limit"/ },
      'a webhook, which is withheld': { args: { url: SITE, webhook: SITE }, says: /"webhook" is not an argument/ },
      'robots rules ignored': {
        args: { url: SITE, ignoreRobotsTxt: true },
        says: /"ignoreRobotsTxt" is not an argument/,
      },
    },
  },
}
