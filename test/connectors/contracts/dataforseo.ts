/**
 * What DataForSEO takes and gives, as far as its connector uses it: the types of the official client, and the methods by
 * which the client calls each.
 * @module
 */
import type { Contract } from '../contract.ts'
import { answerOf, taskOf } from './sdk-types.ts'

/** Path, the client's name of request and answer, its class and method, fields that it lacks. */
const LIVE = [
  ['dataforseo_labs/google/keyword_ideas/live', 'DataforseoLabsGoogleKeywordIdeasLive', 'DataforseoLabsApi'],
  ['keywords_data/google_ads/search_volume/live', 'KeywordsDataGoogleAdsSearchVolumeLive', 'KeywordsDataApi'],
  ['dataforseo_labs/google/keyword_overview/live', 'DataforseoLabsGoogleKeywordOverviewLive', 'DataforseoLabsApi'],
  ['dataforseo_labs/google/ranked_keywords/live', 'DataforseoLabsGoogleRankedKeywordsLive', 'DataforseoLabsApi'],
  ['serp/google/organic/live/advanced', 'SerpGoogleOrganicLiveAdvanced', 'SerpApi'],
  ['dataforseo_labs/google/competitors_domain/live', 'DataforseoLabsGoogleCompetitorsDomainLive', 'DataforseoLabsApi'],
  ['on_page/instant_pages', 'OnPageInstantPages', 'OnPageApi'],
  [
    'dataforseo_labs/google/bulk_keyword_difficulty/live',
    'DataforseoLabsGoogleBulkKeywordDifficultyLive',
    'DataforseoLabsApi',
  ],
  ['dataforseo_labs/google/search_intent/live', 'DataforseoLabsGoogleSearchIntentLive', 'DataforseoLabsApi'],
  [
    'dataforseo_labs/google/historical_rank_overview/live',
    'DataforseoLabsGoogleHistoricalRankOverviewLive',
    'DataforseoLabsApi',
  ],
  ['keywords_data/dataforseo_trends/explore/live', 'KeywordsDataDataforseoTrendsExploreLive', 'KeywordsDataApi'],
] as const

/** Documented by the vendor, and not in the client's types. */
const BESIDES: Readonly<Record<string, readonly string[]>> = {
  DataforseoLabsGoogleSearchIntentLive: ['language_code'],
}

const ENVELOPE = answerOf('BaseResponseInfo')
const errors = { 401: ENVELOPE, 402: ENVELOPE, 404: ENVELOPE, 500: ENVELOPE }

export const dataforseoContract: Contract = [
  {
    method: 'GET',
    path: '/v3/appendix/user_data',
    query: (query) => Object.keys(query as object).map((name) => `${name} is not known.`),
    answers: { 200: answerOf('AppendixUserDataResponseInfo'), ...errors },
  },
  ...LIVE.map(([path, name]) => ({
    method: 'POST',
    path: `/v3/${path}`,
    query: (query: unknown) => Object.keys(query as object).map((one) => `${one} is not known.`),
    body: taskOf(`${name}RequestInfo`, BESIDES[name]),
    answers: { 200: answerOf(`${name}ResponseInfo`), ...errors },
  })),
]

/** How the official client asks for the same: class, method, the type of a task, and what that lacks. */
export const official = LIVE.map(([path, name, api]) => {
  const method = name.replace(/^(?:DataforseoLabs|KeywordsData|Serp|OnPage)/, '')
  return {
    path: `/v3/${path}`,
    api,
    method: `${method[0]?.toLowerCase()}${method.slice(1)}`,
    task: `${name}RequestInfo`,
    besides: BESIDES[name] ?? [],
  }
})
