/**
 * Who is at the MCP door: from the Authorization header to a live Session, or a refusal that says what to do.
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Audit } from '../audit/audit.ts'
import type { Session } from '../policy/words.ts'
import { createRefusals } from '../session/refusals.ts'
import { type Revocations, RevocationsUnknown } from '../session/revocation.ts'
import { TokenRefused, type Tokens, TokenUncheckable } from '../session/token.ts'
import { isLong } from './edge.ts'

export interface AuthParts {
  readonly tokens: Tokens
  readonly revocations: Revocations
  readonly audit: Audit
  /** Where RFC 9728 metadata is served; undefined where no authorization server is configured. */
  readonly metadataUrl: string | undefined
}

/** Headers that must come once: two readers of two could each take another (request smuggling). */
const ONCE = new Set([
  'authorization',
  'host',
  'content-type',
  'content-length',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
])

/** Builds the check. */
export function createAuth({ tokens, revocations, audit, metadataUrl }: AuthParts) {
  const recordRefusal = createRefusals(audit)

  function live(session: Session): Session {
    if (revocations.isDead(session.id))
      throw new TokenRefused('This session was revoked or has ended. Ask the host app for a new token.')
    return session
  }

  return {
    /** The live session of a request; at once for a token that was seen before. Throws or rejects for `refuse`. */
    authenticate(req: IncomingMessage): Session | Promise<Session> {
      const twice = doubled(req.rawHeaders)
      if (twice !== undefined) throw new TokenRefused(`The header ${twice} was sent twice; send it once.`)
      const verified = tokens.verify(req.headers.authorization)
      if (verified instanceof Promise || !revocations.fresh()) {
        return Promise.resolve(verified).then(async (session) => {
          await revocations.ensureFresh()
          return live(session)
        })
      }
      return live(verified)
    },

    /** Writes down that a message of a known caller was refused before it came to the gate. */
    recordMessage(session: Session, reason: string): void {
      const { id, brand, subject, role } = session
      recordRefusal({ kind: 'message.refused', sessionId: id, brand, subject, role: role.name, reason })
    },

    /** Writes down that a caller was refused. */
    recordCaller({ description }: TokenRefused): void {
      recordRefusal({ kind: 'auth.refused', reason: description })
    },

    /** 401 with a challenge (RFC 6750), or 503 while nobody can say whether the caller is good. */
    refuse(req: IncomingMessage, res: ServerResponse, problem: unknown): void {
      if (res.headersSent) return
      if (isLong(req)) res.setHeader('connection', 'close')
      if (problem instanceof TokenRefused) {
        recordRefusal({ kind: 'auth.refused', reason: problem.description })
        const challenge = [
          'Bearer realm="tollgate"',
          ...(problem.error === undefined ? [] : [`error="${problem.error}"`]),
          `error_description="${problem.description}"`,
          ...(metadataUrl === undefined ? [] : [`resource_metadata="${metadataUrl}"`]),
        ]
        const body = { error: problem.error ?? 'invalid_request', error_description: problem.description }
        return send(res, 401, body, { 'www-authenticate': challenge.join(', ') })
      }
      if (problem instanceof TokenUncheckable || problem instanceof RevocationsUnknown) {
        const sentence =
          'The gateway cannot check the session right now, so it lets nothing through. Try again in a few seconds.'
        return send(res, 503, { error: 'temporarily_unavailable', error_description: sentence }, { 'retry-after': '2' })
      }
      send(res, 500, { error: 'server_error', error_description: 'The gateway failed inside. Nothing was run.' })
    },
  }
}

/** The first header that must come once and came twice. */
function doubled(rawHeaders: readonly string[]): string | undefined {
  let seen = ''
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    if (!ONCE.has(name)) continue
    if (seen.includes(`${name};`)) return name
    seen += `${name};`
  }
  return undefined
}

function send(res: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  const text = Buffer.from(JSON.stringify(body))
  res.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': text.length,
    'cache-control': 'no-store',
    ...headers,
  })
  res.end(text)
}
