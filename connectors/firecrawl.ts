/**
 * Firecrawl: pages and searches of the open web, billed in credits.
 * @module
 */
import { defineConnector, type ToolFacts } from '../src/connector/native/kit.ts'
import { connection } from './firecrawl/connection.ts'
import { crawl } from './firecrawl/crawl.ts'
import { account, scrape } from './firecrawl/scrape.ts'
import { map, search } from './firecrawl/search.ts'

const BILLS: ToolFacts = { access: 'spend', grantable: true, ask: 'above-threshold', withoutChannel: 'refuses' }

export const firecrawl = defineConnector({
  slug: 'firecrawl',
  title: 'Firecrawl',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected Firecrawl.',
  connection,
  billing: { unit: 'credits', perRun: 'perRunCredits', perDay: 'perDayCredits' },
  tools: [
    { name: 'firecrawl_account', ...BILLS, body: account },
    { name: 'firecrawl_scrape', ...BILLS, body: scrape },
    { name: 'firecrawl_search', ...BILLS, body: search },
    { name: 'firecrawl_map', ...BILLS, body: map },
    { name: 'firecrawl_crawl', ...BILLS, body: crawl },
  ],
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
