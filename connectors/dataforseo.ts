/**
 * DataForSEO: search data at a price per call, and one tool that joins it with Search Console and the store.
 * @module
 */
import { defineConnector, type ToolFacts } from '../src/connector/native/kit.ts'
import { connection } from './dataforseo/connection.ts'
import { difficulty, ideas, intent, overview, searchVolume } from './dataforseo/keywords.ts'
import { competitors, rankedKeywords, rankHistory, serp } from './dataforseo/rankings.ts'
import { account, pageAudit, trends } from './dataforseo/site.ts'

const BILLS: ToolFacts = {
  access: 'spend',
  grantable: true,
  ask: 'above-threshold',
  withoutChannel: 'refuses',
}

export const dataforseo = defineConnector({
  slug: 'dataforseo',
  title: 'DataForSEO',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected DataForSEO.',
  connection,
  billing: { unit: 'usd', perRun: 'perRunUsd', perDay: 'perDayUsd' },
  tools: [
    { name: 'dataforseo_account', ...BILLS, body: account },
    { name: 'dataforseo_keyword_ideas', ...BILLS, body: ideas },
    { name: 'dataforseo_search_volume', ...BILLS, body: searchVolume },
    { name: 'dataforseo_keyword_overview', ...BILLS, body: overview },
    { name: 'dataforseo_ranked_keywords', ...BILLS, body: rankedKeywords },
    { name: 'dataforseo_serp_organic', ...BILLS, body: serp },
    { name: 'dataforseo_competitors', ...BILLS, body: competitors },
    { name: 'dataforseo_page_audit', ...BILLS, body: pageAudit },
    { name: 'dataforseo_keyword_difficulty', ...BILLS, body: difficulty },
    { name: 'dataforseo_search_intent', ...BILLS, body: intent },
    { name: 'dataforseo_rank_history', ...BILLS, body: rankHistory },
    { name: 'dataforseo_trends', ...BILLS, body: trends },
    {
      name: 'seo_page_opportunities',
      ...BILLS,
      joint: ['dataforseo', 'searchconsole', 'shopify'],
      note: 'Exists only where every connector it reads is granted and live.',
    },
  ],
  unverified: [
    {
      what: 'A DataForSEO allowance, and the per-day cap refusing a start',
      records: ['ALLOWANCE_UNVERIFIED.dataforseo_absent_cost', 'ALLOWANCE_UNVERIFIED.day_cap'],
    },
  ],
})
