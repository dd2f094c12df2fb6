/**
 * How Firecrawl is reached, and what it means when it says no.
 * @module
 */
import { z } from 'zod'
import { type ConnectionKind, path, type Reply, refusedBy } from '../../src/connector/native/kit.ts'

export const connection: ConnectionKind = {
  fields: {
    apiKey: {
      title: 'an API key (firecrawl.dev, Dashboard, API Keys)',
      schema: z.string().startsWith('fc-', 'It begins with "fc-".'),
      env: 'FIRECRAWL_API_KEY',
    },
  },
  baseUrl: 'https://api.firecrawl.dev/v2',
  authorize: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  async check(http) {
    const { json } = await http.get<{ data?: { remainingCredits?: number } }>(path`/team/credit-usage`)
    return `The key is taken; ${json.data?.remainingCredits ?? 'an unknown number of'} credits are left.`
  },
  problem(status, body) {
    const { error, details } = (body ?? {}) as { error?: unknown; details?: unknown }
    const first = Array.isArray(details) ? (details[0] as { message?: unknown } | undefined)?.message : undefined
    return {
      // A 403 is a site that Firecrawl does not read; a key that is refused is a 401.
      code: status === 403 ? 'invalid_arguments' : undefined,
      message: typeof error === 'string' && typeof first === 'string' ? `${error}: ${first}` : undefined,
    }
  },
}

/** Status 200 without a `success`: it may have read, and billed. */
export function unsure({ json }: Reply<unknown>): ReturnType<typeof refusedBy> | undefined {
  const { success, error } = (json ?? {}) as { success?: unknown; error?: unknown }
  if (success === true) return undefined
  const message = typeof error === 'string' ? error : 'It does not say that it succeeded.'
  return refusedBy('Firecrawl', { code: 'outcome_unknown', message, may: 'have-run' })
}
