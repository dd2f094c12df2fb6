import Firecrawl from '@mendable/firecrawl-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firecrawl } from '../../../connectors/firecrawl.ts'
import { firecrawlContract } from '../contracts/firecrawl.ts'
import { type Seen, type Standin, startStandin } from '../standin.ts'
import { type Bench, bench } from '../world.ts'
import { KEY, SITE } from './cases.ts'

/** The official SDK, pointed at the same stand-in: for the same intent it must send what the connector sends. */
let standin: Standin
let made: Bench
let sdk: Firecrawl

beforeAll(async () => {
  standin = await startStandin(firecrawlContract, {
    base: '/v2',
    auth: ({ authorization }) => (authorization === `Bearer ${KEY}` ? undefined : 'another key'),
  })
  made = bench(firecrawl, standin.url, { apiKey: KEY })
  sdk = new Firecrawl({ apiKey: KEY, apiUrl: standin.url.replace(/\/v2$/, '') })
})
afterAll(async () => {
  await made.close()
  await standin.close()
})

/** The SDK signs its bodies; nothing else may differ. */
const wire = (seen: readonly Seen[]) =>
  seen.map(({ method, target, body }) => {
    const { origin: _, ...rest } = (body ?? {}) as Record<string, unknown>
    return { method, target, body: body === undefined ? undefined : rest }
  })

const reading = { formats: [{ type: 'markdown' as const }], onlyMainContent: true, waitFor: 0, parsers: [] }
const done = { json: { success: true, status: 'completed', total: 0, completed: 0, creditsUsed: 0, data: [] } }

describe('what is sent is what the official SDK sends', () => {
  it.each<[string, string, object, () => Promise<unknown>]>([
    ['account', 'firecrawl_account', {}, () => sdk.getCreditUsage()],
    [
      'scrape',
      'firecrawl_scrape',
      { url: SITE, mobile: true, country: 'DE', formats: ['markdown', 'links'], pdfPages: 3, waitForMs: 50 },
      () =>
        sdk.scrape(SITE, {
          formats: [{ type: 'markdown' }, { type: 'links' }],
          onlyMainContent: true,
          waitFor: 50,
          timeout: 60_000,
          maxAge: 172_800_000,
          mobile: true,
          location: { country: 'DE' },
          parsers: [{ type: 'pdf', maxPages: 3 }],
        }),
    ],
    [
      'search',
      'firecrawl_search',
      { query: 'shoes', limit: 5, sources: ['web', 'news'], since: 'day', location: 'Germany', readPages: true },
      () =>
        sdk.search('shoes', {
          limit: 5,
          sources: [{ type: 'web' }, { type: 'news' }],
          tbs: 'qdr:d',
          location: 'Germany',
          excludeDomains: ['x.com', 'twitter.com', 't.co'],
          timeout: 90_000,
          scrapeOptions: reading,
        }),
    ],
    [
      'map',
      'firecrawl_map',
      { url: SITE, search: 'shoes', sitemap: 'only' },
      () => sdk.map(SITE, { search: 'shoes', sitemap: 'only', limit: 500, includeSubdomains: true, timeout: 60_000 }),
    ],
    [
      'crawl, and its status',
      'firecrawl_crawl',
      { url: SITE, limit: 4, maxDepth: 1, includePaths: ['^/a'], excludePaths: ['^/b'], wholeSite: true, delayS: 2 },
      () =>
        sdk.crawl(SITE, {
          limit: 4,
          maxDiscoveryDepth: 1,
          includePaths: ['^/a'],
          excludePaths: ['^/b'],
          sitemap: 'include',
          crawlEntireDomain: true,
          allowSubdomains: false,
          allowExternalLinks: false,
          delay: 2,
          scrapeOptions: reading,
        }),
    ],
  ])('%s', async (_name, tool, args, official) => {
    standin.on('GET /team/credit-usage', { json: { success: true, data: { remainingCredits: 1 } } })
    standin.on('POST /scrape', { json: { success: true, data: {} } })
    standin.on('POST /search', { json: { success: true, data: {} } })
    standin.on('POST /map', { json: { success: true, links: [] } })
    standin.on('POST /crawl', { json: { success: true, id: 'c0ffee-1', url: SITE } })
    standin.on('GET /crawl/{id}', done)
    expect(await made.call(tool, args)).toMatchObject({ kind: 'result' })
    expect(standin.violations).toEqual([])
    const ours = wire(standin.seen)
    standin.seen.length = 0
    await official()
    expect(ours).toEqual(wire(standin.seen))
    expect(standin.violations.filter((one) => !one.includes('"origin"'))).toEqual([])
    standin.reset()
  })

  it('a crawl that is stopped', async () => {
    standin.on('POST /crawl', { json: { success: true, id: 'c0ffee-1', url: SITE } })
    standin.on('GET /crawl/{id}', { status: 404, json: { success: false, error: 'gone' } }, done)
    standin.on('DELETE /crawl/{id}', { json: { status: 'cancelled' } })
    await made.call('firecrawl_crawl', { url: SITE })
    const ours = wire(standin.seen).filter(({ method }) => method === 'DELETE')
    standin.seen.length = 0
    await sdk.cancelCrawl('c0ffee-1')
    expect(ours).toEqual(wire(standin.seen))
    standin.reset()
  })
})
