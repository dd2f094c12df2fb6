/**
 * Arguments, rows and figures that the cases of several tools share.
 * @module
 */
import type { Sent } from '../../suite.ts'

export const PLACE = { locationCode: 2276, languageCode: 'de' }
export const PLACED = { location_code: 2276, language_code: 'de' }
export const KEYWORDS = ['red shoes', 'blue shoes']

export const posts = (path: string, task: object): Sent[] => [
  { method: 'POST', path: `/v3/${path}`, query: {}, body: [task] },
]
export const list = (items: object[], total_count = items.length, more: object = {}) => [
  { se_type: 'google', ...PLACED, total_count, items_count: items.length, items, ...more },
]
export const noPlace = { args: { keywords: KEYWORDS, languageCode: 'de' }, says: /"locationCode" is missing/ }
export const noKeywords = { args: { keywords: [], ...PLACE }, says: /"keywords"/ }
export const tooMany = (most: number) => ({
  args: { keywords: Array.from({ length: most + 1 }, (_, i) => `k${i}`), ...PLACE },
  says: /"keywords"/,
})

export const DATA = {
  keyword: 'red shoes',
  keyword_info: {
    search_volume: 1300,
    cpc: 0.8,
    competition: 0.4,
    competition_level: 'MEDIUM',
    monthly_searches: [
      { year: 2026, month: 9, search_volume: 1000 },
      { year: 2026, month: 10, search_volume: 1600 },
    ],
  },
  keyword_properties: { keyword_difficulty: 31 },
  search_intent_info: { main_intent: 'transactional' },
  serp_info: { serp_item_types: ['organic', 'shopping'], se_results_count: 90_000 },
  avg_backlinks_info: { backlinks: 12.5, referring_domains: 4 },
}
export const ROW = {
  keyword: 'red shoes',
  volume: 1300,
  cpc: 0.8,
  competitionLevel: 'MEDIUM',
  difficulty: 31,
  intent: 'transactional',
}
export const METRICS = { organic: { pos_1: 2, pos_2_3: 1, pos_4_10: 5, count: 8, etv: 120.5, is_new: 1 } }
