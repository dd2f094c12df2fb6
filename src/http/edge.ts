/**
 * What every request meets first: is it for this host, from an allowed origin, within the limits.
 * @module
 */
import type { IncomingMessage } from 'node:http'

export interface EdgeRules {
  /** Host names (without port) this gateway answers to. */
  readonly hosts: ReadonlySet<string>
  /** Origins of pages that may call it. */
  readonly origins: ReadonlySet<string>
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * The rules for a gateway at `publicUrl` that listens on `host`: its public name, what the operator lists
 * (a port in a listed host is not compared), and the loopback names where it listens on loopback or everywhere.
 */
export function edgeRules(settings: {
  readonly publicUrl: string
  readonly host: string
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
}): EdgeRules {
  const own = new URL(settings.publicUrl)
  const listed = settings.allowedHosts.map((host) => new URL(`http://${host}`).hostname)
  return {
    hosts: new Set([own.hostname, settings.host.toLowerCase(), ...LOOPBACK, ...listed]),
    origins: new Set([own.origin, ...settings.allowedOrigins].map((origin) => origin.toLowerCase())),
  }
}

/**
 * Why a request is not for this gateway, or undefined. A foreign Host is refused even without an Origin: a rebound
 * page sends none (MCP transports, "Security Warning"; bug bank group 8).
 */
export function strangeRequest(req: IncomingMessage, rules: EdgeRules): string | undefined {
  const host = hostName(req.headers.host)
  if (host === undefined || !rules.hosts.has(host)) {
    return 'This Host is not one this gateway answers to. Add it to allowedHosts in the config, or set TOLLGATE_PUBLIC_URL.'
  }
  const { origin } = req.headers
  // A page of this very host is our own: the host was judged above.
  const isOwn = origin !== undefined && URL.parse(origin)?.host === req.headers.host?.toLowerCase()
  if (origin !== undefined && !isOwn && !rules.origins.has(origin.toLowerCase())) {
    return 'This Origin may not call the gateway. Add it to allowedOrigins in the config.'
  }
  return undefined
}

function hostName(header: string | undefined): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(header ?? '')
  return match?.[1]?.toLowerCase()
}

/** A body that was refused while it was read. */
export class BodyRefused extends Error {
  override name = 'BodyRefused'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Reads a body up to `limit` bytes; rejects with BodyRefused beyond it, and stops reading. */
export function readBody(req: IncomingMessage, limit: number): Promise<Buffer> {
  const declared = Number(req.headers['content-length'] ?? 0)
  if (!(declared <= limit)) return Promise.reject(tooLarge(limit))
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    req.on('data', (part: Buffer) => {
      size += part.length
      if (size > limit) {
        req.pause()
        req.removeAllListeners('data')
        reject(tooLarge(limit))
        return
      }
      parts.push(part)
    })
    req.on('end', () => resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)))
    req.on('error', reject)
    req.on('close', () => {
      if (!req.complete) reject(new BodyRefused(400, 'The connection closed before the whole body came.'))
    })
  })
}

const tooLarge = (limit: number): BodyRefused => new BodyRefused(413, `The body is larger than ${limit} bytes.`)

/** Whether a body is too long to be read to its end only to keep the connection, when it is not wanted. */
export function isLong({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || !(Number(headers['content-length'] ?? 0) <= 65_536)
}
