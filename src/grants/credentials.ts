/**
 * Whose credentials a connector runs with, and whether a session is handed them at all. Pure: what is stored comes in.
 * @module
 */
import { reaches } from '../policy/view.ts'
import type { Session } from '../policy/words.ts'

/** `own`: the brand's connection; `shared`: one the account owner shared with it; `host`: the server's environment. */
export type Source = 'own' | 'shared' | 'host'

/** Which credentials for one connector there are. */
export type Stored = { readonly [S in Source]: boolean }

/** The credentials a brand uses, and a sentence that says why these or why none. */
export interface Resolved {
  readonly source: Source | undefined
  readonly reason: string
}

/**
 * The first that exists of the brand's own, the one shared with it, and the host's; the last for the owner's own brand
 * alone (seed 001, "Whose credentials a session uses"). Without a source the connector registers nothing.
 */
export function credentialsFor(brand: string, owner: string, { own, shared, host }: Stored): Resolved {
  if (own === true) return { source: 'own', reason: `The brand ${brand} has connected it.` }
  if (shared === true) return { source: 'shared', reason: `The account owner shared a connection with ${brand}.` }
  if (host !== true) {
    return { source: undefined, reason: `The brand ${brand} has not connected it, and nobody shared a connection.` }
  }
  if (brand === owner) return { source: 'host', reason: `The host's environment has credentials for ${owner}.` }
  const reason = `The brand ${brand} has not connected it; the credentials of the host's environment are for ${owner} alone.`
  return { source: undefined, reason }
}

/**
 * Whether a session is handed a connector's credentials: never on a route that keeps no connectors, and elsewhere only
 * those of connectors that its role, grant and ceiling reach (seed 001: an inbound email turn gets AgentMail's and no others).
 */
export function isHanded(session: Session, connector: string): boolean {
  return session.route.connectors === true && reaches(session, connector)
}
