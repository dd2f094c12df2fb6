/**
 * What the REST API is made of; app.ts hands it over.
 * @module
 */
import type { Cards } from '../../approvals/cards.ts'
import type { Webhooks } from '../../approvals/webhooks/webhooks.ts'
import type { Audit } from '../../audit/audit.ts'
import type { Registry } from '../../connector/registry.ts'
import type { Database } from '../../db/connect.ts'
import type { Gate } from '../../gate/gate.ts'
import type { Connections } from '../../grants/connections/connections.ts'
import type { InboundRoutes } from '../../grants/inbound/routes.ts'
import type { PinsOfUpstreams } from '../../grants/pins/pins.ts'
import type { Routines } from '../../grants/routines/routines.ts'
import type { Traces } from '../../gate/traces.ts'
import type { GrantSupply } from '../../grants/profile.ts'
import type { Views } from '../../gate/views.ts'
import type { Role, Route } from '../../policy/words.ts'
import type { Approvers } from '../../session/approvers.ts'
import type { Caps } from '../../session/limits.ts'
import type { Keyring } from '../../session/keys.ts'
import type { Revocations } from '../../session/revocation.ts'
import type { Tokens } from '../../session/token.ts'

export interface ApiParts {
  /** Whether an `Authorization` header carries the admin key. */
  readonly isAdmin: (authorization: string | undefined) => boolean
  readonly approvers: Approvers
  readonly db: Database
  readonly audit: Audit
  readonly cards: Cards
  readonly webhooks: Webhooks
  readonly registry: Registry
  readonly connections: Connections
  readonly pins: PinsOfUpstreams
  readonly routines: Routines
  readonly traces: Traces
  /** Where vendors tell of mail; `url` is what stands before the secret of an address, `isOpen` whether it exists. */
  readonly inbound: { readonly routes: InboundRoutes; readonly url: string; readonly isOpen: boolean }
  readonly views: Views
  readonly gate: Pick<Gate, 'explain' | 'price'>
  readonly tokens: Pick<Tokens, 'issue'>
  readonly keyring: Pick<Keyring, 'jwks' | 'rotate'>
  readonly revocations: Pick<Revocations, 'ensureFresh'>
  /** prom-client's registry, or anything that prints metrics as it does. */
  readonly metrics: { readonly contentType: string; metrics(): Promise<string> }
  /** The operator's figures for starts, live sessions and days. */
  readonly caps: Caps
  /** What can be granted, and the presets. */
  readonly grants: GrantSupply
  readonly roles: ReadonlyMap<string, Role>
  readonly routes: ReadonlyMap<string, Route>
  /** The deployment's built-ins. */
  readonly builtins: readonly string[]
  readonly ownerBrand: string
  /** The MCP URL: `iss` and `aud` of tokens, and where clients go. */
  readonly resource: string
  /** The page where people decide. */
  readonly inboxUrl: string
  /** For RFC 9728 metadata; without any there is none. */
  readonly authorizationServers: readonly string[]
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly log: { error(facts: object, message: string): void }
  /** Aborted when the gateway stops, so that open event streams end. */
  readonly closing: AbortSignal
}
