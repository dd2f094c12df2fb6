/**
 * Google Search Console: how the brand's sites do in search.
 * @module
 */
import { defineConnector, each, GRANTABLE_READ } from '../src/connector/define.ts'

export const searchconsole = defineConnector({
  slug: 'searchconsole',
  title: 'Search Console',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected Search Console.',
  tools: [
    ...each('searchconsole_properties searchconsole_totals searchconsole_queries searchconsole_pages', GRANTABLE_READ),
    ...each('searchconsole_breakdown searchconsole_inspect_url', GRANTABLE_READ),
  ],
  withheld: [
    { what: 'Sitemap submit and delete', why: 'They change what the search engine indexes.' },
    { what: 'paging walks', why: 'One call could become thousands.' },
  ],
  notes: ['In a grant, the Google credential is narrowed to the scopes of the granted products.'],
})
