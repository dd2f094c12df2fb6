/**
 * What Firecrawl's v2 API takes and gives, as far as its connector uses it: written down from the types of the official
 * SDK, @mendable/firecrawl-js 4.25.2 (MIT), and for `creditsUsed` of a search from the vendor's reference.
 * @module
 */
import { openapi } from '../contract.ts'

const text = { type: 'string' }
const number = { type: 'number' }
const flag = { type: 'boolean' }
const many = (items: object) => ({ type: 'array', items })
const one = (...values: string[]) => ({ enum: values })
const object = (properties: object, required: string[] = []) => ({ type: 'object', properties, required })
const nullable = (type: string) => ({ type: [type, 'null'] })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const uri = { type: 'string', format: 'uri', pattern: '^https?://' }

const no = json(object({ success: { const: false }, error: text, code: text, details: {} }, ['success', 'error']))
const errors = Object.fromEntries([400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500].map((status) => [status, no]))

const reading = {
  formats: many(object({ type: one('markdown', 'summary', 'links', 'html', 'rawHtml', 'images') }, ['type'])),
  onlyMainContent: flag,
  waitFor: { type: 'integer', minimum: 0 },
  timeout: { type: 'integer', minimum: 1000, maximum: 300_000 },
  maxAge: { type: 'integer', minimum: 0 },
  mobile: flag,
  location: object({ country: { type: 'string', pattern: '^[A-Z]{2}$' }, languages: many(text) }),
  parsers: many(
    object({ type: { const: 'pdf' }, maxPages: { type: 'integer', minimum: 1, maximum: 10_000 } }, ['type']),
  ),
}
const metadata = {
  ...object({
    title: text,
    description: text,
    sourceURL: text,
    url: text,
    statusCode: { type: 'integer' },
    error: text,
    creditsUsed: number,
  }),
  additionalProperties: true,
}
const page = { markdown: text, html: text, summary: text, links: many(text), warning: text, metadata }
const found = { ...page, url: text, title: text, description: text, category: text }

export const firecrawlContract = openapi({
  paths: {
    '/team/credit-usage': {
      get: {
        responses: {
          200: json(
            object(
              {
                success: flag,
                data: object(
                  {
                    remainingCredits: number,
                    planCredits: number,
                    billingPeriodStart: nullable('string'),
                    billingPeriodEnd: nullable('string'),
                  },
                  ['remainingCredits'],
                ),
              },
              ['success'],
            ),
          ),
          ...errors,
        },
      },
    },
    '/scrape': {
      post: {
        requestBody: json(object({ url: uri, ...reading }, ['url'])),
        responses: { 200: json(object({ success: flag, data: object(page) }, ['success'])), ...errors },
      },
    },
    '/search': {
      post: {
        requestBody: json(
          object(
            {
              query: { type: 'string', minLength: 1, maxLength: 500 },
              limit: { type: 'integer', minimum: 1, maximum: 100 },
              sources: many(object({ type: one('web', 'news', 'images') }, ['type'])),
              includeDomains: many(text),
              excludeDomains: many(text),
              tbs: text,
              location: text,
              timeout: reading.timeout,
              scrapeOptions: object(reading),
            },
            ['query'],
          ),
        ),
        responses: {
          200: json(
            object(
              {
                success: flag,
                id: text,
                warning: nullable('string'),
                creditsUsed: number,
                data: object({
                  web: many(object(found, ['url'])),
                  news: many(object({ ...found, snippet: text, date: text, imageUrl: text, position: number })),
                  images: many(object({ title: text, imageUrl: text, url: text, position: number })),
                }),
              },
              ['success'],
            ),
          ),
          ...errors,
        },
      },
    },
    '/map': {
      post: {
        requestBody: json(
          object(
            {
              url: uri,
              search: text,
              sitemap: one('only', 'include', 'skip'),
              includeSubdomains: flag,
              limit: { type: 'integer', minimum: 1, maximum: 100_000 },
              timeout: reading.timeout,
            },
            ['url'],
          ),
        ),
        responses: {
          200: json(
            object(
              {
                success: flag,
                id: text,
                warning: nullable('string'),
                links: many({ anyOf: [text, object({ url: text, title: text, description: text }, ['url'])] }),
              },
              ['success'],
            ),
          ),
          ...errors,
        },
      },
    },
    '/crawl': {
      post: {
        requestBody: json(
          object(
            {
              url: uri,
              limit: { type: 'integer', minimum: 1 },
              maxDiscoveryDepth: { type: 'integer', minimum: 0 },
              includePaths: many(text),
              excludePaths: many(text),
              sitemap: one('skip', 'include', 'only'),
              crawlEntireDomain: flag,
              allowSubdomains: flag,
              allowExternalLinks: { const: false },
              delay: number,
              scrapeOptions: object(reading),
            },
            // The vendor's own default is 10,000 pages.
            ['url', 'limit'],
          ),
        ),
        responses: { 200: json(object({ success: flag, id: text, url: text }, ['success'])), ...errors },
      },
    },
    '/crawl/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^[0-9a-f-]+$' } }],
      get: {
        parameters: [
          { name: 'skip', in: 'query', schema: { type: 'integer', minimum: 0 } },
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1 } },
        ],
        responses: {
          200: json(
            object(
              {
                success: flag,
                status: one('scraping', 'completed', 'failed', 'cancelled'),
                total: { type: 'integer' },
                completed: { type: 'integer' },
                creditsUsed: number,
                expiresAt: text,
                next: nullable('string'),
                data: many(object(page)),
              },
              ['status'],
            ),
          ),
          ...errors,
        },
      },
      delete: { responses: { 200: json(object({ success: flag, status: text })), ...errors } },
    },
  },
})
