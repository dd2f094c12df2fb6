/**
 * The way to authorization servers and their metadata: to the judged address and no other, without redirects, in little
 * time and with little to read. In the shape that oauth4webapi takes for a fetch.
 * @module
 */
import { Agent, type Dispatcher } from 'undici'
import { type AddressRules, AddressRefused, allowedUrl, pinned } from '../mcp/address.ts'
import type { Resolver } from '../mcp/judge.ts'

const LIMIT_MS = 10_000
/** Most bytes of an answer; metadata and tokens are small. */
const MOST_BYTES = 256 * 1024

/** No answer came. `sent`: the request may have been taken. */
export class Unreachable extends Error {
  override name = 'Unreachable'
  readonly sent: boolean
  constructor(sentence: string, sent: boolean) {
    super(sentence)
    this.sent = sent
  }
}

export interface Request {
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | URLSearchParams | undefined
}

export interface Reach {
  /** One request and its whole answer; a redirect is an answer like any other. Rejects with AddressRefused or Unreachable. */
  fetch(url: string, request: Request): Promise<Response>
  /** The address as a URL, if it may be reached. Throws AddressRefused. */
  allowed(url: string): URL
  close(): Promise<void>
}

export interface ReachParts {
  readonly rules: AddressRules
  /** What the gateway calls itself. */
  readonly userAgent: string
  readonly resolver?: Resolver
  readonly limitMs?: number
}

/** Builds it: one pool for each scheme, since plain http is held to stricter rules. */
export function createReach({ rules, userAgent, resolver, limitMs = LIMIT_MS }: ReachParts): Reach {
  const agentFor = (plain: boolean): Agent =>
    new Agent({
      allowH2: false,
      connect: { lookup: pinned(plain, rules, resolver), timeout: limitMs },
      headersTimeout: limitMs,
      bodyTimeout: limitMs,
    })
  const agents = { 'https:': agentFor(false), 'http:': agentFor(true) }

  return {
    allowed: (url) => allowedUrl(url, rules),
    async fetch(written, { method = 'GET', headers = {}, body }) {
      const url = allowedUrl(written, rules)
      try {
        const answer = await agents[url.protocol as keyof typeof agents].request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: method as Dispatcher.HttpMethod,
          headers: { ...headers, 'user-agent': userAgent },
          body: body === undefined ? null : String(body),
          signal: AbortSignal.timeout(limitMs),
        })
        return toResponse(answer.statusCode, answer.headers, await capped(answer.body))
      } catch (error) {
        throw known(error)
      }
    },
    async close() {
      await Promise.all(Object.values(agents).map((agent) => agent.destroy()))
    },
  }
}

async function capped(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Unreachable('It answered with more than this gateway reads.', true)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function toResponse(status: number, given: Record<string, string | string[] | undefined>, bytes: Buffer): Response {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  const hasNone = status === 204 || status === 205 || status === 304
  return new Response(hasNone ? null : new Uint8Array(bytes), { status, headers })
}

const UNSENT =
  /^(?:UND_ERR_CONNECT_TIMEOUT|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CERT_.*|ERR_TLS_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*)$/

/** A client's error can quote what it was given, so its code is all that is said of it. */
function known(error: unknown): Error {
  if (error instanceof AddressRefused || error instanceof Unreachable) return error
  const { code, name, cause } = error as { code?: unknown; name?: unknown; cause?: unknown }
  if (cause instanceof AddressRefused) return cause
  if (name === 'TimeoutError') return new Unreachable('It did not answer in time.', true)
  const word = typeof code === 'string' ? code : 'no connection'
  return new Unreachable(`It cannot be reached (${word}).`, !UNSENT.test(word))
}
