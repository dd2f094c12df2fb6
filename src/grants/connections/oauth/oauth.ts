/**
 * OAuth of connections whole: the ways to authorization servers, the tokens, and people's consents.
 * @module
 */
import type { AddressRules } from '../../../connector/mcp/address.ts'
import type { Resolver } from '../../../connector/mcp/judge.ts'
import type { Override } from '../../../connector/native/vendor.ts'
import { createReach, type Reach } from '../../../connector/oauth/reach.ts'
import { VERSION } from '../../../version.ts'
import { REMOTE } from '../remote.ts'
import type { Where } from '../rows.ts'
import { type Consenting, type ConsentingParts, createConsenting } from './connect.ts'
import type { NeedsConsent } from './consents.ts'
import { createTokens, type TokenParts, type Tokens } from './tokens.ts'

export interface OauthParts
  extends Pick<ConsentingParts, 'db' | 'audit' | 'seal' | 'kindOf'>,
    Pick<TokenParts, 'leaseMs' | 'justMs'> {
  /** Where browsers reach this gateway. */
  readonly publicUrl: string
  /** Tells people, in the transaction that finds it out. */
  readonly needsConsent?: NeedsConsent | undefined
  /** The connector of a brand's own connection. */
  readonly connectorOf: (where: Where) => string | undefined
  readonly overrides: Readonly<Record<string, Override>>
  readonly remoteRules: AddressRules
  readonly resolver?: Resolver | undefined
}

export interface Oauth {
  readonly tokens: Tokens
  readonly consenting: Consenting
  close(): Promise<void>
}

/** Path of the way back, and of the document that says who this gateway is as a client. */
export const CALLBACK = '/oauth/callback'
export const CLIENT_DOCUMENT = '/.well-known/oauth-client.json'

/** Where the client document is; only https addresses can be a client's id. */
export const documentUrlOf = (publicUrl: string): string | undefined =>
  publicUrl.startsWith('https:') ? publicUrl + CLIENT_DOCUMENT : undefined

/** Builds it. */
export function createOauth(parts: OauthParts): Oauth {
  const { publicUrl, remoteRules, overrides, resolver, needsConsent = async () => {} } = parts
  const reaches = new Map<string, Reach>()

  /** A vendor by the operator's word on where it is, a brand's own server by the rules for those. */
  function reachOf(connector: string): Reach {
    const known = reaches.get(connector)
    if (known !== undefined) return known
    const rules =
      connector === REMOTE ? remoteRules : { allowPrivate: overrides[connector]?.allowPrivate === true, hosts: [] }
    const made = createReach({ rules, userAgent: `tollgate/${VERSION}`, ...(resolver && { resolver }) })
    reaches.set(connector, made)
    return made
  }

  const tokens = createTokens({
    ...parts,
    needsConsent,
    reachOf: (which) => reachOf(parts.connectorOf(which) ?? REMOTE),
  })
  return {
    tokens,
    consenting: createConsenting({
      ...parts,
      reachOf,
      redirectUri: publicUrl + CALLBACK,
      documentUrl: documentUrlOf(publicUrl),
    }),
    async close() {
      await tokens.close()
      await Promise.all([...reaches.values()].map((reach) => reach.close()))
    },
  }
}
