/**
 * Google Ads: reports only; money and bids stay with the people who own them.
 * @module
 */
import { defineConnector, each, GRANTABLE_READ } from '../src/connector/define.ts'

export const googleads = defineConnector({
  slug: 'googleads',
  title: 'Google Ads',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected Google Ads.',
  tools: [
    ...each('googleads_accounts googleads_report googleads_campaigns googleads_search_terms', GRANTABLE_READ),
    ...each('googleads_account_hierarchy googleads_compare_periods googleads_summarize', GRANTABLE_READ),
    ...each('googleads_search_term_audit', GRANTABLE_READ),
  ],
  withheld: [
    {
      what: 'Any mutation: bids, budgets, campaign status, recommendations, assets, account and user changes, billing',
      why: "Each spends the brand's money or changes who may spend it.",
    },
  ],
  notes: ['In a grant, the Google credential is narrowed to the scopes of the granted products.'],
  unverified: [
    { what: 'Google scope narrowing on a real grant', records: ['SPECIALIST_UNVERIFIED.google_narrowing_live'] },
  ],
})
