/**
 * Calls of DataForSEO's tools on one page, interest over time, the account: what each sends, gives and costs, and how each documented error is told.
 * @module
 */
import type { ToolCases } from '../../suite.ts'
import { done, failsOf, freeFails, nothing, USER_DATA, userData } from '../answers.ts'
import { KEYWORDS, posts } from './words.ts'

const AUDIT = 'on_page/instant_pages'
const TRENDS = 'keywords_data/dataforseo_trends/explore/live'

export const site: Readonly<Record<string, ToolCases>> = {
  dataforseo_account: {
    works: [
      {
        args: {},
        answers: { [USER_DATA]: userData() },
        sends: [{ method: 'GET', path: '/v3/appendix/user_data', query: {} }],
        result: { balanceUsd: 48.25, paidInUsd: 100, dayLimits: { total: 5 }, spentToday: { total: 1.25 } },
        cost: { estimate: '0', actual: '0' },
      },
    ],
    fails: freeFails,
  },

  dataforseo_page_audit: {
    works: [
      {
        args: { url: 'https://shop.example/red' },
        answers: {
          [`POST /v3/${AUDIT}`]: done(0.00015, [
            {
              crawl_progress: 'finished',
              items_count: 1,
              items: [
                {
                  url: 'https://shop.example/red',
                  status_code: 200,
                  onpage_score: 91.5,
                  meta: {
                    title: 'Red',
                    description: 'Shoes',
                    canonical: 'https://shop.example/red',
                    htags: { h1: ['Red'] },
                  },
                  checks: { no_h1_tag: false },
                  broken_links: false,
                  size: 9000,
                },
              ],
            },
          ]),
        },
        sends: posts(AUDIT, {
          url: 'https://shop.example/red',
          enable_javascript: false,
          load_resources: false,
          enable_browser_rendering: false,
        }),
        result: { looked: true, pageStatus: 200, score: 91.5, title: 'Red', headings: { h1: ['Red'] }, size: 9000 },
        cost: { estimate: '0.00015', actual: '0.00015' },
        summary: 'Have DataForSEO look at https://shop.example/red.',
      },
      {
        name: 'says when the page could not be looked at',
        args: { url: 'https://shop.example/gone' },
        answers: { [`POST /v3/${AUDIT}`]: done(0, [{ crawl_progress: 'finished', items: null }]) },
        sends: [{ method: 'POST', path: `/v3/${AUDIT}` }],
        result: { looked: false },
        cost: { estimate: '0.00015', actual: '0' },
      },
    ],
    fails: failsOf(`POST /v3/${AUDIT}`),
    bad: {
      'no address': { args: { url: 'shop.example' }, says: /"url": an http/ },
      'scripts, which bill a multiple': {
        args: { url: 'https://shop.example', enable_javascript: true },
        says: /"enable_javascript" is not an argument/,
      },
    },
  },

  dataforseo_trends: {
    works: [
      {
        args: { keywords: KEYWORDS },
        answers: {
          [`POST /v3/${TRENDS}`]: done(0.0012, [
            {
              keywords: KEYWORDS,
              type: 'trends',
              items_count: 1,
              items: [
                {
                  keywords: KEYWORDS,
                  data: [{ date_from: '2026-11-01', date_to: '2026-11-07', timestamp: 1, values: [40, 100] }],
                  averages: [41, 88],
                },
              ],
            },
          ]),
        },
        sends: posts(TRENDS, { keywords: KEYWORDS, type: 'web', time_range: 'past_12_months' }),
        result: { averages: [41, 88], points: [{ from: '2026-11-01', to: '2026-11-07', values: [40, 100] }] },
        cost: { estimate: '0.0012', actual: '0.0012' },
        summary: 'Ask DataForSEO how interest in red shoes, blue shoes went.',
      },
      {
        name: 'looks at days and a place of its own choice',
        args: { keywords: ['a'], locationCode: 2276, type: 'ecommerce', from: '2026-01-01', to: '2026-02-01' },
        answers: { [`POST /v3/${TRENDS}`]: nothing(0.0012) },
        sends: posts(TRENDS, {
          keywords: ['a'],
          type: 'ecommerce',
          location_code: 2276,
          date_from: '2026-01-01',
          date_to: '2026-02-01',
        }),
        result: { keywords: ['a'], points: [] },
        cost: { estimate: '0.0012', actual: '0.0012' },
      },
    ],
    fails: failsOf(`POST /v3/${TRENDS}`),
    bad: {
      'too many keywords': { args: { keywords: ['a', 'b', 'c', 'd', 'e', 'f'] }, says: /"keywords"/ },
      'a range and days': {
        args: { keywords: ['a'], range: 'past_day', from: '2026-01-01', to: '2026-02-01' },
        says: /"range", or "from" and "to"/,
      },
      'half a span': { args: { keywords: ['a'], from: '2026-01-01' }, says: /"range", or "from" and "to"/ },
      'days the wrong way round': { args: { keywords: ['a'], from: '2026-02-01', to: '2026-01-01' }, says: /no later/ },
    },
  },
}
