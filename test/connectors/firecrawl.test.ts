import { describe, expect, it } from 'vitest'
import { firecrawl } from '../../connectors/firecrawl.ts'
import { firecrawlContract } from './contracts/firecrawl.ts'
import { KEY, tools } from './firecrawl/cases.ts'
import { testConnector } from './suite.ts'
import { resultOf } from './world.ts'

const { bench, standin } = testConnector({
  connector: firecrawl,
  contract: firecrawlContract,
  base: '/v2',
  fields: { apiKey: KEY },
  auth: ({ authorization }) => (authorization === `Bearer ${KEY}` ? undefined : 'the key is missing or not as sent'),
  check: {
    answers: { 'GET /team/credit-usage': { json: { success: true, data: { remainingCredits: 340 } } } },
    says: /340 credits/,
  },
  tools,
})

const SITE = 'https://shop.example/'
const running = { json: { status: 'scraping', total: 9, completed: 3, creditsUsed: 3, data: [] } }
const cancelled = {
  json: { status: 'cancelled', total: 9, completed: 4, creditsUsed: 4, data: [{ markdown: '# One' }] },
}
const started = { json: { success: true, id: 'c0ffee-1' } }

describe('a crawl that does not end by itself', () => {
  it('is stopped when its caller is gone, and what it came to is read after that', async () => {
    standin().on('POST /crawl', started)
    standin().on('GET /crawl/{id}', running, cancelled)
    standin().on('DELETE /crawl/{id}', { json: { status: 'cancelled' } })
    const call = bench().start('firecrawl_crawl', { url: SITE }, { onProgress: () => call.cancel('gone') })
    const answer = await call.answer
    expect(standin().seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /crawl',
      'GET /crawl/c0ffee-1',
      'DELETE /crawl/c0ffee-1',
      'GET /crawl/c0ffee-1',
    ])
    expect(resultOf(answer)).toMatchObject({
      status: 'cancelled',
      stopped: 'The call ended before it did.',
      creditsUsed: 4,
    })
  })

  it('is stopped after four minutes, and gives what was read by then', async () => {
    let stopped = false
    const told: string[] = []
    standin().on('POST /crawl', started)
    standin().on('GET /crawl/{id}', () => (stopped ? cancelled : running))
    standin().on('DELETE /crawl/{id}', () => {
      stopped = true
      return { json: { status: 'cancelled' } }
    })
    const answer = await bench().start('firecrawl_crawl', { url: SITE }, { onProgress: (text) => told.push(text) })
      .answer
    expect(resultOf(answer)).toMatchObject({
      stopped: 'Its time was up.',
      creditsUsed: 4,
      pages: [{ markdown: '# One' }],
    })
    const waited = bench().waits.reduce((sum, ms) => sum + ms, 0)
    expect(waited).toBeGreaterThanOrEqual(240_000)
    expect(waited).toBeLessThan(300_000)
    expect(told[0]).toBe('"progress":3,"total":9,"message":"3 pages read."')
  })

  it('counts as one that may have run where it can neither be read nor stopped', async () => {
    standin().on('POST /crawl', started)
    standin().on('GET /crawl/{id}', { status: 500, json: { success: false, error: 'oops' } })
    standin().on('DELETE /crawl/{id}', { status: 500, json: { success: false, error: 'oops' } })
    const answer = await bench().call('firecrawl_crawl', { url: SITE })
    expect(answer).toMatchObject({ kind: 'failed', code: 'outcome_unknown', ran: 'maybe' })
    expect(standin().seen.filter(({ method }) => method === 'DELETE')).toHaveLength(1)
  })

  it('books all of it while it has not ended', async () => {
    standin().on('POST /crawl', started)
    standin().on('GET /crawl/{id}', { status: 404, json: { success: false, error: 'gone' } }, running)
    standin().on('DELETE /crawl/{id}', { json: { status: 'cancelled' } })
    const answer = await bench().call('firecrawl_crawl', { url: SITE })
    expect(resultOf(answer)).toMatchObject({ stopped: 'Its progress could not be read.', status: 'scraping' })
    expect(answer.kind === 'result' && bench().tool('firecrawl_crawl').meter?.actual(answer.members)).toBeUndefined()
  })
})

describe('the pages of a crawl', () => {
  const part = (markdown: string, next?: string) => ({
    json: { status: 'completed', total: 2, completed: 2, creditsUsed: 2, data: [{ markdown }], next: next ?? null },
  })

  it.each([
    ['an address elsewhere is not followed, only its numbers are', 'https://evil.example/v2/crawl/other?skip=1&x=y'],
    ['the vendor’s own address', 'https://api.firecrawl.dev/v2/crawl/c0ffee-1?skip=1&limit=20'],
  ])('%s', async (_name, next) => {
    standin().on('POST /crawl', started)
    standin().on('GET /crawl/{id}', part('# One', next), part('# Two'))
    const answer = await bench().call('firecrawl_crawl', { url: SITE })
    expect(resultOf(answer)).toMatchObject({ pages: [{ markdown: '# One' }, { markdown: '# Two' }] })
    expect(standin().seen[2]?.target.replace('&limit=20', '')).toBe('/v2/crawl/c0ffee-1?skip=1')
  })

  it.each([
    ['an address without them', 'https://api.firecrawl.dev/v2/crawl/c0ffee-1?page=two', part('# Two')],
    ['a part that cannot be read', '/v2?skip=1', { status: 404, json: { success: false, error: 'expired' } }],
  ])('says what is missing: %s', async (_name, next, second) => {
    standin().on('POST /crawl', started)
    standin().on('GET /crawl/{id}', part('# One', next.replace('/v2?', 'https://api.firecrawl.dev/v2?')), second)
    const answer = await bench().call('firecrawl_crawl', { url: SITE })
    expect(resultOf(answer)).toMatchObject({
      pages: [{ markdown: '# One' }],
      creditsUsed: 2,
      warning: 'Not every page that was read could be fetched.',
    })
  })

  it('are cut so that all of them fit into an answer, with a mark', async () => {
    const long = { markdown: 'x'.repeat(90_000) }
    standin().on('POST /crawl', started)
    standin().on('GET /crawl/{id}', {
      json: { status: 'completed', total: 2, completed: 2, creditsUsed: 2, data: [long, long] },
    })
    const { pages } = resultOf(await bench().call('firecrawl_crawl', { url: SITE })) as {
      pages: { markdown: string }[]
    }
    expect(pages.map(({ markdown }) => markdown.length)).toEqual([50_031, 50_031])
    expect(pages[0]?.markdown).toMatch(/x\n\[cut: 90000 characters in all\]$/)
  })
})

describe('what a page costs', () => {
  it.each([
    ['firecrawl_scrape', { url: SITE }, '5'],
    ['firecrawl_scrape', { url: SITE, pdfPages: 0 }, '1'],
    ['firecrawl_scrape', { url: 'https://x.com/a' }, '30'],
    ['firecrawl_scrape', { url: 'https://www.Twitter.com./a' }, '30'],
    ['firecrawl_scrape', { url: 'https://notx.com/a', pdfPages: 0 }, '1'],
    ['firecrawl_search', { query: 'a' }, '2'],
    ['firecrawl_search', { query: 'a', limit: 11, sources: ['web', 'news'] }, '8'],
    ['firecrawl_search', { query: 'a', limit: 20, readPages: true, pdfPages: 2 }, '64'],
    ['firecrawl_map', { url: SITE, limit: 5_000 }, '1'],
    ['firecrawl_crawl', { url: SITE, limit: 100 }, '100'],
    ['firecrawl_crawl', { url: SITE, limit: 5, pdfPages: 3 }, '20'],
    ['firecrawl_crawl', { url: 'https://x.com/shop', limit: 2 }, '60'],
    ['firecrawl_account', {}, '0'],
  ])('%s of %j comes to %s credits at most', (name, args, credits) => {
    expect(bench().tool(name).meter?.estimate(JSON.stringify(args))).toEqual({ unit: 'credits', amount: credits })
  })
})
