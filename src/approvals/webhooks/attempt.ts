/**
 * One attempt at one delivery over HTTP: to the judged address and no other, signed, within ten seconds. Redirects are
 * not followed, and what the receiver says beyond its status is not kept.
 * @module
 */
import { Agent, type Dispatcher } from 'undici'
import type { Seal } from '../../db/seal.ts'
import { Unsealable } from '../../db/seal.ts'
import { AddressRefused, allowedUrl, pinned } from '../../connector/mcp/address.ts'
import { type Resolver, rulesFor, type WebhookRules } from './address.ts'
import { bodyOf, signedHeaders } from './body.ts'
import type { Claimed } from './claim.ts'
import { askedPause } from './schedule.ts'

export interface AttemptParts {
  readonly seal: Seal
  readonly rules: WebhookRules
  /** What the gateway calls itself. */
  readonly userAgent: string
  readonly limitMs?: number
  /** For the names of addresses; the system's own when left out. */
  readonly resolver?: Resolver
}

/** How an attempt went. `problem` is a sentence without anything secret; without one, the receiver has it. */
export interface Tried {
  readonly answer?: number
  readonly problem?: string
  /** What the receiver's `Retry-After` asks for (ms). */
  readonly askedMs?: number
  /** 410: the receiver wants nothing more, ever. */
  readonly gone?: boolean
  /** Cut off by `signal`. */
  readonly cut?: boolean
}

export interface Attempts {
  /** Never throws. */
  attempt(claimed: Claimed, signal: AbortSignal): Promise<Tried>
  close(): Promise<void>
}

const LIMIT_MS = 10_000
/** As much of an answer's body is read as lets a small one end well. */
const MOST_READ = 16 * 1024

/** Builds the client: one for each scheme, since plain http is held to stricter rules. */
export function createAttempts(parts: AttemptParts): Attempts {
  const { seal, limitMs = LIMIT_MS } = parts
  const rules = rulesFor(parts.rules)
  const agentFor = (plain: boolean): Agent =>
    new Agent({
      allowH2: false,
      connect: { lookup: pinned(plain, rules, parts.resolver), timeout: limitMs },
      headersTimeout: limitMs,
      bodyTimeout: limitMs,
    })
  const agents = { 'https:': agentFor(false), 'http:': agentFor(true) }

  async function send(claimed: Claimed, signal: AbortSignal): Promise<Tried> {
    const url = allowedUrl(await seal.open(claimed.sealedUrl), rules)
    const { sealedSecret, sealedOldSecret } = claimed
    const sealed = sealedOldSecret === null ? [sealedSecret] : [sealedSecret, sealedOldSecret]
    const secrets = await Promise.all(sealed.map((text) => seal.open(text)))
    const dataText = claimed.data ?? (await seal.open(claimed.sealedData ?? ''))
    const body = bodyOf({ event: claimed.event, createdAt: new Date(claimed.createdAt), dataText }, claimed.format)
    const {
      statusCode,
      headers,
      body: answer,
    } = await agents[url.protocol as keyof typeof agents].request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': parts.userAgent,
        ...signedHeaders(claimed.id, new Date(), body, secrets),
      },
      body,
      signal,
    })
    await drain(answer)
    return judged(statusCode, askedPause(headers['retry-after']))
  }

  return {
    async attempt(claimed, signal) {
      const limit = AbortSignal.timeout(limitMs)
      try {
        return await send(claimed, AbortSignal.any([signal, limit]))
      } catch (error) {
        if (signal.aborted) return { cut: true, problem: 'It was cut off.' }
        if (limit.aborted) return { problem: `It did not answer within ${limitMs / 1_000} s.` }
        return { problem: why(error) }
      }
    },
    async close() {
      await Promise.all(Object.values(agents).map((agent) => agent.destroy()))
    },
  }
}

/** Reads on to the end of a small body, so that the connection can be used again; a large one is cut. Nothing is kept. */
async function drain(answer: Dispatcher.ResponseData['body']): Promise<void> {
  await answer.dump({ limit: MOST_READ }).catch(() => {})
}

function judged(status: number, askedMs: number): Tried {
  if (status >= 200 && status < 300) return { answer: status }
  if (status === 410) return { answer: status, gone: true, problem: 'It answered 410: it wants nothing more.' }
  const problem =
    status >= 300 && status < 400
      ? `It answered ${status}, a redirect, which is not followed; register the address it leads to.`
      : `It answered ${status}.`
  return { answer: status, problem, askedMs }
}

/** A client's error can quote what it was given, so its code is all that is said of it. */
function why(error: unknown): string {
  if (error instanceof AddressRefused || error instanceof Unsealable) return error.message
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  if (cause instanceof AddressRefused) return cause.message
  return `It cannot be reached (${typeof code === 'string' ? code : 'no connection'}).`
}
