/**
 * Microsoft Ads: accounts, campaigns and the performance report.
 * @module
 */
import { defineConnector, each, GRANTABLE_READ } from '../src/connector/define.ts'

export const microsoftads = defineConnector({
  slug: 'microsoftads',
  title: 'Microsoft Ads',
  kind: 'connector',
  credentials: 'brand',
  when: 'The deployment offers Microsoft Ads and the brand has connected it.',
  needs: [{ circumstance: 'microsoftads-offered' }],
  tools: [
    ...each('microsoftads_accounts microsoftads_campaigns', GRANTABLE_READ),
    ...each('microsoftads_performance_report microsoftads_report_fetch', GRANTABLE_READ),
  ],
  withheld: [
    {
      what: 'Budgets, bids, status changes, create and delete, bulk upload, extensions and assets, users and billing',
      why: "Each spends the brand's money, or changes what the public sees or who may spend.",
    },
    { what: 'the search query report', why: 'The performance report answers what was asked so far.' },
  ],
})
