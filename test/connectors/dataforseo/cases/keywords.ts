/**
 * Calls of DataForSEO's tools on what is searched for: what each sends, gives and costs, and how each documented error is told.
 * @module
 */
import type { ToolCases } from '../../suite.ts'
import { done, failsOf, nothing } from '../answers.ts'
import { PLACE, PLACED, KEYWORDS, posts, list, noPlace, noKeywords, tooMany, DATA, ROW } from './words.ts'

const IDEAS = 'dataforseo_labs/google/keyword_ideas/live'
const VOLUME = 'keywords_data/google_ads/search_volume/live'
const OVERVIEW = 'dataforseo_labs/google/keyword_overview/live'
const DIFFICULTY = 'dataforseo_labs/google/bulk_keyword_difficulty/live'
const INTENT = 'dataforseo_labs/google/search_intent/live'

export const keywords: Readonly<Record<string, ToolCases>> = {
  dataforseo_keyword_ideas: {
    works: [
      {
        args: { keywords: KEYWORDS, ...PLACE },
        answers: { [`POST /v3/${IDEAS}`]: done(0.0122, list([DATA], 120)) },
        sends: posts(IDEAS, {
          keywords: KEYWORDS,
          ...PLACED,
          limit: 50,
          offset: 0,
          order_by: ['relevance,desc'],
          closely_variants: false,
        }),
        result: { total: 120, nextOffset: 1, keywords: [ROW], costUsd: 0.0122 },
        cost: { estimate: '0.018', actual: '0.0122' },
        summary: 'Ask DataForSEO for up to 50 keyword ideas on red shoes, blue shoes.',
      },
      {
        name: 'goes on, filters and sorts',
        args: {
          keywords: ['a', 'b', 'c', 'd', 'e'],
          ...PLACE,
          limit: 1_000,
          offset: 100,
          minVolume: 10,
          maxDifficulty: 40,
          orderBy: 'volume',
          closeVariants: true,
          monthly: true,
        },
        answers: { [`POST /v3/${IDEAS}`]: done(0.132, list([DATA], 101)) },
        sends: posts(IDEAS, {
          keywords: ['a', 'b', 'c', 'd', 'e'],
          ...PLACED,
          limit: 1_000,
          offset: 100,
          order_by: ['keyword_info.search_volume,desc'],
          closely_variants: true,
          filters: [
            ['keyword_info.search_volume', '>=', 10],
            'and',
            ['keyword_properties.keyword_difficulty', '<=', 40],
          ],
        }),
        result: { keywords: [{ ...ROW, monthly: { '2026-09': 1000, '2026-10': 1600 } }] },
        cost: { estimate: '0.132', actual: '0.132' },
        summary: 'Ask DataForSEO for up to 1000 keyword ideas on a, b, c and 2 more.',
      },
      {
        name: 'finds nothing, which is no error and is billed',
        args: { keywords: KEYWORDS, ...PLACE },
        answers: { [`POST /v3/${IDEAS}`]: nothing(0.012) },
        sends: posts(IDEAS, {
          keywords: KEYWORDS,
          ...PLACED,
          limit: 50,
          offset: 0,
          order_by: ['relevance,desc'],
          closely_variants: false,
        }),
        result: { total: 0, keywords: [], costUsd: 0.012 },
        cost: { estimate: '0.018', actual: '0.012' },
      },
    ],
    fails: failsOf(`POST /v3/${IDEAS}`),
    bad: {
      'no place': noPlace,
      'no keyword': noKeywords,
      'too many keywords': tooMany(200),
      'a list without end': { args: { keywords: KEYWORDS, ...PLACE, limit: 1_001 }, says: /"limit"/ },
      'a language by name': {
        args: { keywords: KEYWORDS, locationCode: 2276, languageCode: 'German' },
        says: /language code/,
      },
      'clickstream figures, which bill double': {
        args: { keywords: KEYWORDS, ...PLACE, include_clickstream_data: true },
        says: /"include_clickstream_data" is not an argument/,
      },
    },
  },

  dataforseo_search_volume: {
    works: [
      {
        args: { keywords: KEYWORDS, ...PLACE },
        answers: {
          [`POST /v3/${VOLUME}`]: done(0.09, [
            {
              keyword: 'red shoes',
              ...PLACED,
              search_partners: false,
              competition: 'HIGH',
              competition_index: 90,
              search_volume: 1300,
              low_top_of_page_bid: 0.3,
              high_top_of_page_bid: 1.1,
              cpc: 0.8,
              monthly_searches: DATA.keyword_info.monthly_searches,
            },
            { keyword: 'blue shoes', ...PLACED, search_volume: null, monthly_searches: null },
          ]),
        },
        sends: posts(VOLUME, { keywords: KEYWORDS, ...PLACED, search_partners: false }),
        result: {
          keywords: [
            {
              keyword: 'red shoes',
              volume: 1300,
              competition: 'HIGH',
              competitionIndex: 90,
              lowBid: 0.3,
              highBid: 1.1,
            },
            { keyword: 'blue shoes', volume: null },
          ],
        },
        cost: { estimate: '0.09', actual: '0.09' },
        summary: 'Ask DataForSEO for the search volume of red shoes, blue shoes.',
      },
      {
        name: 'gives months of its own choice, and books all where no cost is said',
        args: { keywords: ['a'], ...PLACE, from: '2025-01-01', to: '2025-12-31', searchPartners: true, monthly: true },
        answers: {
          [`POST /v3/${VOLUME}`]: {
            json: {
              status_code: 20000,
              tasks: [
                {
                  status_code: 20000,
                  result: [{ keyword: 'a', monthly_searches: [{ year: 2025, month: 1, search_volume: 9 }] }],
                },
              ],
            },
          },
        },
        sends: posts(VOLUME, {
          keywords: ['a'],
          ...PLACED,
          search_partners: true,
          date_from: '2025-01-01',
          date_to: '2025-12-31',
        }),
        result: { keywords: [{ keyword: 'a', monthly: { '2025-01': 9 } }] },
        cost: { estimate: '0.09', actual: undefined },
      },
    ],
    fails: failsOf(`POST /v3/${VOLUME}`),
    bad: {
      'no place': noPlace,
      'too many keywords': tooMany(1_000),
      'no day': { args: { keywords: KEYWORDS, ...PLACE, from: 'January' }, says: /"from": a day/ },
    },
  },

  dataforseo_keyword_overview: {
    works: [
      {
        args: { keywords: KEYWORDS, ...PLACE },
        answers: { [`POST /v3/${OVERVIEW}`]: done(0.01224, [{ ...PLACED, items_count: 1, items: [DATA] }]) },
        sends: posts(OVERVIEW, { keywords: KEYWORDS, ...PLACED, include_serp_info: true }),
        result: {
          keywords: [{ ...ROW, onResultsPage: ['organic', 'shopping'], results: 90_000, domainsOfTheBest: 4 }],
        },
        cost: { estimate: '0.01224', actual: '0.01224' },
        summary: 'Ask DataForSEO for the figures of red shoes, blue shoes.',
      },
    ],
    fails: failsOf(`POST /v3/${OVERVIEW}`),
    bad: {
      'no place': noPlace,
      'too many keywords': tooMany(700),
      'an empty keyword': { args: { keywords: [' '], ...PLACE }, says: /not empty/ },
    },
  },

  dataforseo_keyword_difficulty: {
    works: [
      {
        args: { keywords: KEYWORDS, ...PLACE },
        answers: {
          [`POST /v3/${DIFFICULTY}`]: done(0.01224, list([{ keyword: 'red shoes', keyword_difficulty: 31 }])),
        },
        sends: posts(DIFFICULTY, { keywords: KEYWORDS, ...PLACED }),
        result: { keywords: [{ keyword: 'red shoes', difficulty: 31 }] },
        cost: { estimate: '0.01224', actual: '0.01224' },
        summary: 'Ask DataForSEO how hard red shoes, blue shoes are.',
      },
    ],
    fails: failsOf(`POST /v3/${DIFFICULTY}`),
    bad: { 'no place': noPlace, 'too many keywords': tooMany(1_000) },
  },

  dataforseo_search_intent: {
    works: [
      {
        args: { keywords: KEYWORDS, languageCode: 'de' },
        answers: {
          [`POST /v3/${INTENT}`]: done(0.00144, [
            {
              items_count: 2,
              items: [
                {
                  keyword: 'red shoes',
                  keyword_intent: { label: 'transactional', probability: 0.9 },
                  secondary_keyword_intents: [{ label: 'commercial', probability: 0.4 }],
                },
                { keyword: 'blue shoes', keyword_intent: null, secondary_keyword_intents: null },
              ],
            },
          ]),
        },
        sends: posts(INTENT, { keywords: KEYWORDS, language_code: 'de' }),
        result: {
          keywords: [
            { keyword: 'red shoes', intent: 'transactional', probability: 0.9, others: [{ label: 'commercial' }] },
            { keyword: 'blue shoes', others: [] },
          ],
        },
        cost: { estimate: '0.00144', actual: '0.00144' },
        summary: 'Ask DataForSEO what people want with red shoes, blue shoes.',
      },
    ],
    fails: failsOf(`POST /v3/${INTENT}`),
    bad: {
      'no language': { args: { keywords: KEYWORDS }, says: /"languageCode" is missing/ },
      'too many keywords': tooMany(1_000),
    },
  },
}
