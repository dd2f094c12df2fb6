/**
 * An MCP upstream that lets in only bearers of an authorization server's tokens, and says where that server is.
 * @module
 */
import type { AuthorizationServer } from './authorization-server.ts'
import { type Seen, startUpstream, type Upstream, type UpstreamOptions } from './upstream.ts'

export interface GuardedUpstream extends Upstream {
  /** Members of the resource's metadata in place of the usual ones. */
  metadata: Record<string, unknown>
  /** Requests that came in with a token that was good. */
  readonly admitted: Seen[]
}

/** Starts one. */
export async function startGuarded(
  { issuer, isGood }: Pick<AuthorizationServer, 'issuer' | 'isGood'>,
  options: UpstreamOptions = {},
): Promise<GuardedUpstream> {
  const admitted: Seen[] = []
  const upstream = await startUpstream({
    ...options,
    intercept(seen, response) {
      const origin = `http://127.0.0.1:${upstream.port}`
      if (seen.path.startsWith('/.well-known/oauth-protected-resource')) {
        const metadata = { resource: upstream.url, authorization_servers: [issuer], ...guarded.metadata }
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata))
        return true
      }
      if (isGood(String(seen.headers.authorization))) {
        admitted.push(seen)
        return false
      }
      const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="tools:use"`
      response.writeHead(401, { 'www-authenticate': challenge, 'content-type': 'application/json' })
      response.end('{"error":"invalid_token"}')
      return true
    },
  })
  const guarded: GuardedUpstream = Object.assign(upstream, { metadata: {}, admitted })
  return guarded
}
