/**
 * The way of a person's consent: begun here, given at the authorization server, and ended here by the browser that comes
 * back. Everything that the end needs is fixed at the beginning: server, client, connection, and the way back.
 * @module
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Audit } from '../../../audit/audit.ts'
import { AddressRefused } from '../../../connector/mcp/address.ts'
import { clientAt } from '../../../connector/oauth/client.ts'
import { discover } from '../../../connector/oauth/discover.ts'
import { authorizationUrl, exchange } from '../../../connector/oauth/grant.ts'
import { type Reach, Unreachable } from '../../../connector/oauth/reach.ts'
import { OauthRefused, type Plan } from '../../../connector/oauth/words.ts'
import type { OauthKind } from '../../../connector/native/kind.ts'
import type { Values } from '../../../connector/native/values.ts'
import type { Database } from '../../../db/connect.ts'
import { type Seal, Unsealable } from '../../../db/seal.ts'
import { REMOTE, remoteOf } from '../remote.ts'
import { findConnection, type StoredConnection, type Where } from '../rows.ts'
import { openSecrets } from '../secrets.ts'
import { giveConsent, keptClient, sealFor } from './consents.ts'
import { keepState, takeState } from './states.ts'

export type Beginning =
  | { readonly ok: true; readonly authorizationUrl: string; readonly expiresAt: Date }
  | { readonly ok: false; readonly problem: 'not_found' | 'not_oauth' | 'refused'; readonly detail: string }

/** How it ended, for the person at the browser. */
export type Ending =
  | { readonly ok: true; readonly brand: string; readonly slug: string }
  | { readonly ok: false; readonly said: string }

export interface Consenting {
  /** Begins a consent to a brand's own connection. */
  begin(where: Where, by: string): Promise<Beginning>
  /** Ends one, by the parameters that the browser brought. */
  finish(parameters: URLSearchParams): Promise<Ending>
}

export interface ConsentingParts {
  readonly db: Database
  readonly audit: Audit
  readonly seal: Seal
  readonly reachOf: (connector: string) => Reach
  /** Of a declared connector. */
  readonly kindOf: (connector: string) => OauthKind | undefined
  readonly redirectUri: string
  readonly documentUrl: string | undefined
}

/** Builds it. */
export function createConsenting(parts: ConsentingParts): Consenting {
  const { db, audit, seal, reachOf, redirectUri } = parts

  async function planFor(stored: StoredConnection): Promise<Plan | undefined> {
    const values = { ...stored.settings, ...(await openSecrets(seal, stored, stored.sealed)) }
    if (stored.connector === REMOTE) return remotePlan(stored, values)
    const kind = parts.kindOf(stored.connector)
    return kind && nativePlan(reachOf(stored.connector), kind, stored.settings, values)
  }

  async function remotePlan(stored: StoredConnection, values: Values): Promise<Plan | undefined> {
    const { url, oauth } = remoteOf(values)
    if (oauth === undefined) return undefined
    const { clientId: id, clientSecret: secret, issuer, scopes } = oauth === true ? {} : oauth
    const reach = reachOf(REMOTE)
    const { server, resource, scope } = await discover(reach, url)
    const before = await keptClient(db, seal, stored)
    // A client that was registered at one server, secret and all, is not told to another that the resource may name.
    const known = issuer ?? (id === undefined ? undefined : before?.issuer)
    if (known !== undefined && known !== server.issuer) throw new OauthRefused(OTHER_SERVER)
    const kept = before?.issuer === server.issuer ? before.client : undefined
    const stated = id === undefined ? undefined : { id, secret }
    const client = await clientAt(reach, server, { redirectUri, documentUrl: parts.documentUrl, stated, kept })
    return { server, client, resource, scope: scopes ?? scope }
  }

  return {
    async begin(where, by) {
      const stored = await findConnection(db, where)
      if (stored === undefined) return no('not_found', `The brand ${where.brand} has no connection ${where.slug}.`)
      try {
        const plan = await planFor(stored)
        if (plan === undefined) return no('not_oauth', `Nobody has to consent to the connection ${where.slug}.`)
        const [state, verifier] = [secret(), secret()]
        const { brand, slug, identity } = stored
        const begun = { brand, slug, identity, by, plan, verifier, redirectUri }
        const expiresAt = await keepState(db, seal, state, begun)
        const url = await authorizationUrl(plan, { state, verifier, redirectUri })
        return { ok: true, authorizationUrl: url, expiresAt }
      } catch (error) {
        if (isKnown(error)) return no('refused', error.message)
        throw error
      }
    },

    async finish(parameters) {
      const [state, ...more] = parameters.getAll('state')
      if (state === undefined || !STATE.test(state) || more.length > 0) return { ok: false, said: NOT_OURS }
      const begun = await takeState(db, seal, state).catch((error: unknown) => {
        if (error instanceof Unsealable) return undefined
        throw error
      })
      if (begun === undefined) return { ok: false, said: NOT_OURS }
      const { plan, brand, slug, identity, by } = begun
      const stored = await findConnection(db, begun)
      if (stored?.identity !== identity) return { ok: false, said: CHANGED }
      const granted = await exchange(reachOf(stored.connector), plan, { state, ...begun }, parameters)
      if (!granted.ok) {
        const reason = `no consent: ${granted.said}`
        audit.record({
          kind: 'connection.changed',
          brand,
          connector: slug,
          subject: slug,
          by,
          outcome: 'failed',
          reason,
        })
        return { ok: false, said: granted.said }
      }
      const { expiresInS, ...tokens } = granted.tokens
      const scope = tokens.scope ?? plan.scope
      const given = {
        id: randomUUID(),
        issuer: plan.server.issuer,
        sealed: await sealFor(seal, begun, { ...tokens, scope, plan }),
        sealedClient: await sealFor(seal, begun, plan.client),
        expiresInS,
      }
      const isGiven = await giveConsent(audit, { brand, slug }, given, { identity, by })
      return isGiven ? { ok: true, brand, slug } : { ok: false, said: CHANGED }
    },
  }
}

const OTHER_SERVER =
  'It names another authorization server than the one its client is registered at. If that is right, remove the connection and state it anew.'
const NOT_OURS = 'This address was used already, is older than ten minutes, or was never given out. Begin again.'
const CHANGED = 'The connection was changed or removed meanwhile. Begin again.'

const no = (problem: Extract<Beginning, { ok: false }>['problem'], detail: string): Beginning => ({
  ok: false,
  problem,
  detail,
})

const STATE = /^[\w-]{43}$/

/** 256 bits, in letters that may stand anywhere in a URL. */
const secret = (): string => randomBytes(32).toString('base64url')

const isKnown = (error: unknown): error is Error =>
  error instanceof OauthRefused ||
  error instanceof AddressRefused ||
  error instanceof Unreachable ||
  error instanceof Unsealable

/** As the connector declares it. */
function nativePlan(reach: Reach, kind: OauthKind, settings: Values, values: Values): Plan {
  const address = (of: OauthKind['tokenUrl']): string => reach.allowed(typeof of === 'string' ? of : of(settings)).href
  const authorizationEndpoint = address(kind.authorizationUrl)
  const secretName = kind.clientSecret
  const clientSecret = secretName === undefined ? undefined : values[secretName]
  return {
    server: {
      issuer: kind.issuer ?? new URL(authorizationEndpoint).origin,
      authorizationEndpoint,
      tokenEndpoint: address(kind.tokenUrl),
      namesItself: false,
    },
    client: {
      id: values[kind.clientId] ?? '',
      secret: clientSecret,
      auth: clientSecret === undefined ? 'none' : (kind.clientAuth ?? 'post'),
    },
    scope: kind.scopes.join(' ') || undefined,
    parameters: kind.parameters,
  }
}
