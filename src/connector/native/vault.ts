/**
 * What a native connector needs of a brand's connections; whoever keeps them implements it.
 * @module
 */
import type { Session } from '../../policy/words.ts'
import type { Bearer } from '../mcp/bearer.ts'
import type { Values } from './values.ts'

/** The connection that a brand uses under a slug, without secrets. */
export interface Used {
  readonly brand: string
  readonly slug: string
  /** Changes when another account may be behind it, so that an approval given before does not hold. Never a secret. */
  readonly identity: string
  /** The fields that may be seen. */
  readonly settings: Values
}

/** A connection opened for one call. Never kept, logged or passed to a tool. */
export interface Opened {
  /** Every field, secrets among them. */
  readonly values: Values
  /** Changes with the connection: whose it is, and its version. Tokens and prices are kept under it. */
  readonly key: string
  /** Of a connection that a person consented to: an access token. See Bearer. */
  readonly token?: Bearer['token']
}

export interface Vault {
  /**
   * Opens the credentials for a call of a session, if the session may be handed them at all; undefined where there are
   * none, or other ones than `identity` names.
   */
  open(session: Session, slug: string, identity: string): Promise<Opened | undefined>
}
