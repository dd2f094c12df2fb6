/**
 * Google Analytics: reports of one property at a time.
 * @module
 */
import { defineConnector, each, GRANTABLE_READ } from '../src/connector/define.ts'

export const analytics = defineConnector({
  slug: 'analytics',
  title: 'Google Analytics',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected Google Analytics.',
  tools: [
    ...each('analytics_properties', GRANTABLE_READ),
    {
      name: 'analytics_use_property',
      access: 'read',
      grantable: false,
      ask: 'never',
      note: 'It chooses the property later reports read, which is for a person to choose.',
    },
    ...each('analytics_overview analytics_trend analytics_traffic_sources', GRANTABLE_READ),
    ...each('analytics_landing_pages analytics_report', GRANTABLE_READ),
  ],
  withheld: [
    { what: 'Admin writes', why: 'They change what is measured, for everybody.' },
    { what: 'user-level exports', why: 'They are about persons.' },
    {
      what: 'realtime, pivot and funnel reports',
      why: 'The reports that are there answer the questions asked so far.',
    },
  ],
  notes: ['In a grant, the Google credential is narrowed to the scopes of the granted products.'],
})
