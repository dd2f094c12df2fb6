/**
 * DataForSEO: search data at a price per call, and one tool that joins it with Search Console and the store.
 * @module
 */
import { defineConnector, each } from '../src/connector/define.ts'
import type { ToolFacts } from '../src/connector/declaration.ts'

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
  billing: { unit: 'usd', perRun: 'perRunUsd', perDay: 'perDayUsd' },
  tools: [
    ...each('dataforseo_account dataforseo_keyword_ideas dataforseo_search_volume dataforseo_keyword_overview', BILLS),
    ...each('dataforseo_ranked_keywords dataforseo_serp_organic dataforseo_competitors dataforseo_page_audit', BILLS),
    ...each('dataforseo_keyword_difficulty dataforseo_search_intent dataforseo_rank_history dataforseo_trends', BILLS),
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
