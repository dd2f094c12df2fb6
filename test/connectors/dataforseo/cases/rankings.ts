/**
 * Calls of DataForSEO's tools on who stands where: what each sends, gives and costs, and how each documented error is told.
 * @module
 */
import type { ToolCases } from '../../suite.ts'
import { done, failsOf } from '../answers.ts'
import { PLACE, PLACED, posts, list, DATA, ROW, METRICS } from './words.ts'

const RANKED = 'dataforseo_labs/google/ranked_keywords/live'
const SERP = 'serp/google/organic/live/advanced'
const COMPETITORS = 'dataforseo_labs/google/competitors_domain/live'
const HISTORY = 'dataforseo_labs/google/historical_rank_overview/live'

const organic = { item_types: ['organic'] }

export const rankings: Readonly<Record<string, ToolCases>> = {
  dataforseo_ranked_keywords: {
    works: [
      {
        args: { target: 'shop.example', ...PLACE },
        answers: {
          [`POST /v3/${RANKED}`]: done(
            0.01212,
            list(
              [
                {
                  se_type: 'google',
                  keyword_data: DATA,
                  ranked_serp_element: {
                    serp_item: {
                      type: 'organic',
                      rank_group: 4,
                      rank_absolute: 6,
                      url: 'https://shop.example/red',
                      title: 'Red',
                      etv: 30.5,
                    },
                  },
                },
              ],
              300,
              { target: 'shop.example', metrics: METRICS },
            ),
          ),
        },
        sends: posts(RANKED, {
          target: 'shop.example',
          ...PLACED,
          ...organic,
          historical_serp_mode: 'live',
          limit: 100,
          offset: 0,
          order_by: ['ranked_serp_element.serp_item.etv,desc'],
        }),
        result: {
          total: 300,
          nextOffset: 1,
          summary: { pos_1: 2, count: 8 },
          keywords: [{ ...ROW, position: 4, positionOfAll: 6, url: 'https://shop.example/red', traffic: 30.5 }],
        },
        cost: { estimate: '0.024', actual: '0.01212' },
        summary: 'Ask DataForSEO for up to 100 keywords shop.example is found by.',
      },
      {
        name: 'asks about one page, and only for positions that can be bettered',
        args: {
          target: 'https://shop.example/red',
          ...PLACE,
          limit: 10,
          offset: 10,
          positionFrom: 4,
          positionTo: 20,
          minVolume: 50,
          orderBy: 'position',
          history: 'all',
        },
        answers: { [`POST /v3/${RANKED}`]: done(0.012, list([], 10)) },
        sends: posts(RANKED, {
          target: 'https://shop.example/red',
          ...PLACED,
          ...organic,
          historical_serp_mode: 'all',
          limit: 10,
          offset: 10,
          order_by: ['ranked_serp_element.serp_item.rank_group,asc'],
          filters: [
            ['ranked_serp_element.serp_item.rank_group', '>=', 4],
            'and',
            ['ranked_serp_element.serp_item.rank_group', '<=', 20],
            'and',
            ['keyword_data.keyword_info.search_volume', '>=', 50],
          ],
        }),
        result: { total: 10, keywords: [] },
        cost: { estimate: '0.0132', actual: '0.012' },
      },
    ],
    fails: failsOf(`POST /v3/${RANKED}`),
    bad: {
      // Without the scheme the vendor would answer for the whole domain, and bill for it.
      'a page without its scheme': { args: { target: 'shop.example/red', ...PLACE }, says: /"target": a domain/ },
      'a domain with www': { args: { target: 'www.shop.example', ...PLACE }, says: /"target": a domain/ },
      'positions the wrong way round': {
        args: { target: 'shop.example', ...PLACE, positionFrom: 20, positionTo: 4 },
        says: /no larger than/,
      },
    },
  },

  dataforseo_competitors: {
    works: [
      {
        args: { target: 'shop.example', ...PLACE },
        answers: {
          [`POST /v3/${COMPETITORS}`]: done(
            0.01212,
            list(
              [
                {
                  domain: 'other.example',
                  avg_position: 7.5,
                  intersections: 40,
                  metrics: METRICS,
                  full_domain_metrics: METRICS,
                },
              ],
              41,
            ),
          ),
        },
        sends: posts(COMPETITORS, {
          target: 'shop.example',
          ...PLACED,
          ...organic,
          limit: 20,
          offset: 0,
          exclude_top_domains: true,
        }),
        result: {
          total: 41,
          nextOffset: 1,
          competitors: [{ domain: 'other.example', sharedKeywords: 40, averagePosition: 7.5, onShared: { count: 8 } }],
        },
        cost: { estimate: '0.0144', actual: '0.01212' },
        summary: 'Ask DataForSEO for up to 20 competitors of shop.example.',
      },
      {
        name: 'keeps to domains it is told',
        args: {
          target: 'shop.example',
          ...PLACE,
          limit: 1,
          offset: 40,
          excludeTopDomains: false,
          only: ['other.example'],
        },
        answers: { [`POST /v3/${COMPETITORS}`]: done(0.01212, list([{ domain: 'other.example', metrics: null }], 41)) },
        sends: posts(COMPETITORS, {
          target: 'shop.example',
          ...PLACED,
          ...organic,
          limit: 1,
          offset: 40,
          exclude_top_domains: false,
          intersecting_domains: ['other.example'],
        }),
        result: { competitors: [{ domain: 'other.example' }] },
        cost: { estimate: '0.01212', actual: '0.01212' },
      },
    ],
    fails: failsOf(`POST /v3/${COMPETITORS}`),
    bad: {
      'an address': { args: { target: 'https://shop.example', ...PLACE }, says: /"target": a domain/ },
      'no place': { args: { target: 'shop.example' }, says: /"locationCode" is missing/ },
    },
  },

  dataforseo_rank_history: {
    works: [
      {
        args: { target: 'shop.example', ...PLACE, from: '2025-12-15', to: '2026-02-01' },
        answers: {
          [`POST /v3/${HISTORY}`]: done(
            0.1224,
            list([
              { year: 2025, month: 12, metrics: METRICS },
              { year: 2026, month: 1, metrics: null },
            ]),
          ),
        },
        sends: posts(HISTORY, { target: 'shop.example', ...PLACED, date_from: '2025-12-15', date_to: '2026-02-01' }),
        result: { months: [{ month: '2025-12', pos_1: 2, count: 8, etv: 120.5 }, { month: '2026-01' }] },
        cost: { estimate: '0.1236', actual: '0.1224' },
        summary: 'Ask DataForSEO how shop.example stood from 2025-12-15 to 2026-02-01.',
      },
    ],
    fails: failsOf(`POST /v3/${HISTORY}`),
    bad: {
      'days the wrong way round': {
        args: { target: 'shop.example', ...PLACE, from: '2026-02-01', to: '2026-01-01' },
        says: /no later than "to"/,
      },
      'before there were figures': {
        args: { target: 'shop.example', ...PLACE, from: '2020-09-30', to: '2026-01-01' },
        says: /no earlier than 2020-10-01/,
      },
      'no days': { args: { target: 'shop.example', ...PLACE }, says: /"from" is missing/ },
    },
  },

  dataforseo_serp_organic: {
    works: [
      {
        args: { keyword: 'red shoes', ...PLACE },
        answers: {
          [`POST /v3/${SERP}`]: done(0.002, [
            {
              keyword: 'red shoes',
              type: 'organic',
              se_domain: 'google.de',
              ...PLACED,
              check_url: 'https://www.google.de/search?q=red+shoes',
              item_types: ['organic', 'paid'],
              se_results_count: 90_000,
              items: [
                { type: 'paid', rank_group: 1, rank_absolute: 1, domain: 'ads.example' },
                {
                  type: 'organic',
                  rank_group: 1,
                  rank_absolute: 2,
                  domain: 'shop.example',
                  url: 'https://shop.example/red',
                  title: 'Red',
                  description: 'Shoes',
                },
              ],
            },
          ]),
        },
        sends: posts(SERP, { keyword: 'red shoes', ...PLACED, device: 'desktop', depth: 10 }),
        result: {
          results: [{ position: 1, positionOfAll: 2, domain: 'shop.example', title: 'Red', description: 'Shoes' }],
          onResultsPage: ['organic', 'paid'],
          found: 90_000,
        },
        cost: { estimate: '0.002', actual: '0.002' },
        summary: 'Ask DataForSEO for the first 10 results for “red shoes”.',
      },
      {
        name: 'goes deeper on a phone, and is refunded for what is not there',
        args: { keyword: 'site:shop.example shoes', ...PLACE, device: 'mobile', depth: 100 },
        answers: { [`POST /v3/${SERP}`]: done(0.010000000000000002, [{ keyword: 'a', items: null, item_types: [] }]) },
        sends: posts(SERP, { keyword: 'site:shop.example shoes', ...PLACED, device: 'mobile', depth: 100 }),
        result: { results: [], costUsd: 0.01 },
        cost: { estimate: '0.0775', actual: '0.01' },
      },
    ],
    fails: failsOf(`POST /v3/${SERP}`),
    bad: {
      'no keyword': { args: { keyword: '', ...PLACE }, says: /"keyword": not empty/ },
      'deeper than there is': { args: { keyword: 'a', ...PLACE, depth: 201 }, says: /"depth"/ },
      'answers to questions, which bill more': {
        args: { keyword: 'a', ...PLACE, people_also_ask_click_depth: 4 },
        says: /"people_also_ask_click_depth" is not an argument/,
      },
    },
  },
}
