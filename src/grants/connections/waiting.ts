/**
 * A connection that waits for a person's consent: it is there, it has no tools, and it says why.
 * @module
 */
import type { Connector } from '../../connector/connector.ts'
import type { Use } from './resolve.ts'

/** The connector of a use without a consent. */
export function waitingConnector(brand: string, slug: string, title: string, { consentBecause }: Use): Connector {
  const first = `A person has to consent to it: POST /v1/connections/${slug}/connect gives the address where.`
  const detail = consentBecause === undefined ? first : `${first} ${consentBecause}`
  const reason = `"${title}" waits. ${detail}`
  const withheld = [{ tool: `mcp__${slug}__*`, code: 'upstream_unavailable' as const, reason }]
  return {
    slug,
    title,
    serves: (asked) => asked === brand,
    state: () => ({ state: 'failed', detail }),
    tools: () => [],
    withheld: () => withheld,
    call: () => ({
      answer: Promise.resolve({ kind: 'failed', code: 'upstream_unavailable', reason, ran: 'no' }),
      cancel() {},
    }),
    close: () => Promise.resolve(),
  }
}
