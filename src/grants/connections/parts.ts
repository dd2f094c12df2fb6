/**
 * What connections are made of, and what they offer to the rest of the gateway.
 * @module
 */
import type { Audit } from '../../audit/audit.ts'
import type { Surroundings } from '../../connector/declared.ts'
import type { DeclaredConnector } from '../../connector/define.ts'
import type { Connectable } from '../../connector/native/connector.ts'
import type { Values } from '../../connector/native/values.ts'
import type { Override } from '../../connector/native/vendor.ts'
import type { BrandConnectors } from '../../connector/registry.ts'
import type { Database } from '../../db/connect.ts'
import type { Log } from '../../db/log.ts'
import type { Seal } from '../../db/seal.ts'
import type { Checked } from './check.ts'
import type { Consenting } from './oauth/connect.ts'
import type { OauthParts } from './oauth/oauth.ts'
import type { Remote } from './remote.ts'
import type { RemoteParts } from './remotes.ts'
import type { Put, StoredConnection, Where } from './rows.ts'

export interface ConnectionParts extends Pick<OauthParts, 'publicUrl' | 'needsConsent' | 'leaseMs' | 'justMs'> {
  readonly db: Database
  readonly audit: Audit
  readonly seal: Seal
  readonly log: Log
  /** How brands' own MCP servers are reached. */
  readonly remote: Omit<RemoteParts, 'log' | 'vault' | 'changed'>
  /** Marks fields (see identityOf). */
  readonly key: Uint8Array
  readonly catalogue: readonly DeclaredConnector[]
  readonly ownerBrand: string
  /** The host's credentials, by connector. */
  readonly host: Readonly<Record<string, Values>>
  readonly overrides: Readonly<Record<string, Override>>
  readonly switches: Surroundings['switches']
  readonly has: Surroundings['has']
  /** Slugs of the operator's upstreams, under which no brand can connect anything. */
  readonly taken: ReadonlySet<string>
  /** Told when a brand's connectors changed. */
  readonly changed: () => void
  readonly pollMs?: number
}

/** What a person states. */
export interface Statement extends Where {
  readonly connector: Connectable
  /** Every field, checked against the connector's. */
  readonly values: Values
}

export interface Change {
  readonly version: number | undefined
  readonly by: string
}

export interface Connections extends BrandConnectors {
  /** What a brand has, for `standingOf`. */
  surroundings(brand: string): Surroundings
  /** The declared connector of this slug, where it can be connected. */
  connectable(slug: string): Connectable | undefined
  isTaken(slug: string): boolean
  put(statement: Statement, change: Change): Promise<Put>
  /** Why a server of a brand's own cannot be at an address, or undefined. */
  refusalOf(url: string): Promise<string | undefined>
  /** The same for an MCP server of the brand's own, checked before. */
  putRemote(where: Where, remote: Remote, change: Change): Promise<Put>
  /** Connects what of a brand's own servers is not connected; undefined where there is nothing to wait for. */
  wake(brand: string, wanted?: (slug: string) => boolean): Promise<void> | undefined
  /** Consents of people, begun and ended. */
  readonly consenting: Consenting
  remove(where: Where, by: string): Promise<StoredConnection | undefined>
  /** Of the account owner's connections alone. */
  share(where: Where, brands: readonly string[], by: string): Promise<StoredConnection | undefined>
  /** Seals anew what is sealed with the secret before; says how many. */
  reseal(by: string): Promise<number>
  /** Calls the vendor's harmless call with what a brand uses under a slug; undefined where it uses nothing. */
  check(where: Where, by: string): Promise<Checked | undefined>
  /** What a brand uses under a slug, without its secrets; undefined where it uses nothing. */
  used(where: Where): { readonly connector: string; readonly settings: Values } | undefined
}
