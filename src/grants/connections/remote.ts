/**
 * A brand's own remote MCP server as a connection: what is stated of it, how that is kept, and how it is read again.
 * Whatever of it may be a secret is sealed: the address too, since in many a path is a key.
 * @module
 */
import { shownUrl } from '../../connector/mcp/shown-url.ts'
import type { ToolRule } from '../../connector/mcp/access.ts'
import type { Values } from '../../connector/native/values.ts'
import type { Seal } from '../../db/seal.ts'
import type { StoredConnection } from './rows.ts'
import { openSecrets } from './secrets.ts'

/** What stands in a connection's `connector` where it is a server of the brand's own. */
export const REMOTE = 'mcp'

/** What a person states. */
export interface Remote {
  readonly url: string
  readonly headers: Values
  /** A person consents; `true`: as the server itself says. */
  readonly oauth?: true | RemoteClient | undefined
  readonly tools: Readonly<Record<string, ToolRule>>
}

/** Registered at the authorization server beforehand. */
export interface RemoteClient {
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  /** The authorization server that it is registered at, and no other is told of it. */
  readonly issuer?: string | undefined
  /** Asked for instead of what the server names, with blanks between. */
  readonly scopes?: string | undefined
}

const HEADER = 'header '

/** The parts that are sealed, and those that may be seen. */
export function valuesOf({ url, headers, oauth, tools }: Remote): {
  readonly secrets: Values
  readonly settings: Values
} {
  const { clientId, clientSecret, issuer, scopes } =
    oauth === undefined || oauth === true ? ({} as RemoteClient) : oauth
  const named = Object.entries(headers).map(([name, value]) => [HEADER + name, value])
  return {
    secrets: { url, ...Object.fromEntries(named), ...(clientSecret !== undefined && { clientSecret }) },
    settings: {
      address: shownUrl(url),
      tools: JSON.stringify(tools),
      ...(oauth !== undefined && { oauth: 'true' }),
      ...(clientId !== undefined && { clientId }),
      ...(issuer !== undefined && { issuer }),
      ...(scopes !== undefined && { scopes }),
    },
  }
}

/** What was stated, from all values opened. */
export function remoteOf(values: Values): Remote {
  const { url = '', tools = '{}', oauth, clientId, clientSecret, issuer, scopes } = values
  const headers = Object.entries(values).filter(([name]) => name.startsWith(HEADER))
  return {
    url,
    headers: Object.fromEntries(headers.map(([name, value]) => [name.slice(HEADER.length), value])),
    tools: JSON.parse(tools) as Remote['tools'],
    ...(oauth !== undefined && { oauth: { clientId, clientSecret, issuer, scopes } }),
  }
}

/** As people see it: no header's value, and no more of the address than is no secret. */
export function shownRemote(settings: Values, secrets: readonly string[]) {
  const { address: url = '', tools = '{}', oauth, clientId, issuer, scopes } = settings
  const headers = secrets.filter((name) => name.startsWith(HEADER)).map((name) => name.slice(HEADER.length))
  const client = {
    ...(clientId !== undefined && { clientId }),
    ...(issuer !== undefined && { issuer }),
    ...(scopes !== undefined && { scopes }),
  }
  return { url, headers, tools: JSON.parse(tools) as Remote['tools'], oauth: oauth === undefined ? null : client }
}

/** Whether a stored connection is of a server at this very address. One that cannot be opened is not. */
export async function isSameServer(seal: Seal, stored: StoredConnection, { url }: Remote): Promise<boolean> {
  if (stored.connector !== REMOTE) return false
  const secrets = await openSecrets(seal, stored, stored.sealed).catch(() => undefined)
  return secrets?.url === url
}
