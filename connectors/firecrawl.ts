/**
 * Firecrawl: pages and searches of the open web, billed in credits.
 * @module
 */
import { defineConnector, each } from '../src/connector/define.ts'

export const firecrawl = defineConnector({
  slug: 'firecrawl',
  title: 'Firecrawl',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected Firecrawl.',
  billing: { unit: 'credits', perRun: 'perRunCredits', perDay: 'perDayCredits' },
  tools: each('firecrawl_account firecrawl_scrape firecrawl_search firecrawl_map firecrawl_crawl', {
    access: 'spend',
    grantable: true,
    ask: 'above-threshold',
    withoutChannel: 'refuses',
  }),
  withheld: [
    { what: 'Browser interaction', why: "Clicking and typing turn a read into a write on someone else's site." },
    { what: 'monitors', why: 'They go on spending when no session is there to count.' },
    { what: 'agent jobs', why: 'What such a job does and costs is decided out of sight.' },
    { what: 'parse and extract', why: "The session's own model reads the page it was given." },
    { what: 'research papers', why: 'No role has a use for them.' },
  ],
  captured: [
    {
      what: "A specialist's Firecrawl allowance charged a scrape and refused an over-allowance crawl with nothing spent (2026-09-23)",
      records: ['ALLOWANCE_CAPTURED', 'SPECIALIST_CAPTURED'],
    },
  ],
})
