/**
 * The way to one vendor for one call: bound to the base URL and the credentials, which a tool never sees.
 * Redirects are not followed, answers are capped while they stream, and only what cannot have an effect is tried again.
 * @module
 */
import type { Dispatcher } from 'undici'
import { failureOf, type Problem, silenceOf, usualProblem, VendorFailure } from './failure.ts'
import { type Path, type Query, queryText } from './path.ts'
import { createEraser } from './secrets.ts'
import type { Headers } from './values.ts'

/** What an answer may weigh, in bytes, where the request says nothing else. */
export const CAP_BYTES = 5 * 1024 * 1024
const HEADERS_MS = 30_000
const BODY_MS = 60_000
/** A `Retry-After` of more is told, not waited for (s). */
const LONGEST_WAIT_S = 20
const RETRIES = 2
const RETRIED = [429, 502, 503, 504]

export interface Options {
  readonly query?: Query
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as `application/x-www-form-urlencoded`. */
  readonly form?: Readonly<Record<string, string>>
  readonly headers?: Headers
  /**
   * Of a POST, PUT, PATCH or DELETE: once or twice or for nothing, it changes and bills nothing that matters (a query by
   * POST, a blob named by its content, a send with an idempotency key). It is then tried again like a GET, and a
   * failure counts as "did not run".
   */
  readonly safe?: boolean
  /** Most bytes of the answer. */
  readonly capBytes?: number
  /** How long the vendor may take to begin its answer, in milliseconds; 30,000 unless said. */
  readonly headersMs?: number
  /** Statuses besides 2xx that are answers and no failures. */
  readonly accept?: readonly number[]
  /** What a 2xx says instead of yes, made by `refusedBy`. It is thrown, and the request does not count as done. */
  readonly refusal?: (reply: Reply<unknown>) => VendorFailure | undefined
}

export interface Reply<T> {
  readonly status: number
  /** In lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The body as JSON, of the type the tool believes it has: nothing checks it. Undefined where it is none. */
  readonly json: T
  /** The body as text, without the connection's secrets. */
  readonly text: string
  /** The body as it came, for files. */
  readonly bytes: Uint8Array
}

/** Each throws VendorFailure for any status but 2xx, and where no answer comes; a tool lets it pass. */
export interface Http {
  get<T = unknown>(path: Path, options?: Omit<Options, 'json' | 'form' | 'safe'>): Promise<Reply<T>>
  post<T = unknown>(path: Path, options?: Options): Promise<Reply<T>>
  put<T = unknown>(path: Path, options?: Options): Promise<Reply<T>>
  patch<T = unknown>(path: Path, options?: Options): Promise<Reply<T>>
  delete<T = unknown>(path: Path, options?: Options): Promise<Reply<T>>
}

export interface HttpParts {
  readonly dispatcher: Pick<Dispatcher, 'request'>
  /** The vendor's name, for people and models. */
  readonly vendor: string
  /** Where every path begins: origin and prefix. */
  readonly base: URL
  /** Headers of every request; a request may say others in their place. */
  readonly fixed: Headers
  /** The headers that carry the credential, which nothing replaces. `renewed`: the ones before were refused. */
  readonly headers: (renewed: boolean) => Promise<Headers>
  /** Texts that must not come back. */
  readonly secrets: () => readonly string[]
  /** What the vendor's body says when it says no. */
  readonly problem: ((status: number, body: unknown, headers: Reply<unknown>['headers']) => Problem) | undefined
  readonly signal: AbortSignal
  /** Told when a request that may have an effect has been answered with success. */
  readonly onEffect: () => void
  /** What the time for an answer's beginning and between its parts is multiplied with. */
  readonly patience: number
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Builds the way. */
export function createHttp(parts: HttpParts): Http {
  const by =
    (method: Dispatcher.HttpMethod) =>
    <T>(path: Path, options: Options = {}): Promise<Reply<T>> =>
      request(parts, method, path, options) as Promise<Reply<T>>
  return { get: by('GET'), post: by('POST'), put: by('PUT'), patch: by('PATCH'), delete: by('DELETE') }
}

async function request(
  parts: HttpParts,
  method: Dispatcher.HttpMethod,
  path: Path,
  options: Options,
): Promise<Reply<unknown>> {
  const effect = method !== 'GET' && options.safe !== true
  let renewed = false
  let carried = await parts.headers(false)
  for (let tries = 0; ; tries++) {
    const reply = await once(parts, method, path, options, effect, carried)
    const fine = isFine(reply.status, options)
    const refusal = fine ? options.refusal?.(reply) : undefined
    if (fine && refusal === undefined) {
      if (effect) parts.onEffect()
      return reply
    }
    const waitS = secondsIn(reply.headers['retry-after'])
    const failure = refusal ?? failureOf(parts.vendor, reply.status, problemIn(parts, reply), effect, waitS)
    // A refused credential refused the whole request, so nothing has happened.
    if (reply.status === 401 && !renewed) {
      renewed = true
      const next = await otherHeaders(parts, carried)
      if (next !== undefined) {
        carried = next
        continue
      }
    }
    const pause = failure.facts.retry_after_s ?? 2 ** tries
    const passing = RETRIED.includes(reply.status) || refusal?.code === 'rate_limited'
    const again = !effect && passing && tries < RETRIES && pause <= LONGEST_WAIT_S
    if (!again) throw failure
    await parts.wait(pause * 1000, parts.signal).catch(() => {
      throw failure
    })
  }
}

/** Other headers than those that were refused: ones that another call renewed meanwhile, or renewed now. */
async function otherHeaders({ headers }: HttpParts, refused: Headers): Promise<Headers | undefined> {
  for (const renew of [false, true]) {
    const next = await headers(renew)
    if (JSON.stringify(next) !== JSON.stringify(refused)) return next
  }
  return undefined
}

const isFine = (status: number, { accept = [] }: Options): boolean =>
  (status >= 200 && status < 300) || accept.includes(status)

function problemIn({ problem, vendor }: HttpParts, { status, json, headers }: Reply<unknown>): Problem {
  const usual = usualProblem(json)
  if (status >= 300 && status < 400)
    return { ...usual, message: `It sent the request elsewhere, and ${vendor} is reached at one address only` }
  const own = problem?.(status, json, headers) ?? {}
  return { ...usual, ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)) }
}

/** One request and its whole answer. Throws VendorFailure where none comes. */
async function once(
  parts: HttpParts,
  method: Dispatcher.HttpMethod,
  path: Path,
  options: Options,
  effect: boolean,
  carried: Headers,
): Promise<Reply<unknown>> {
  const { vendor, base, signal, dispatcher } = parts
  const silent = (sent: boolean, late: boolean, message: string) => silenceOf(vendor, effect, sent, late, message)
  if (signal.aborted) throw silent(false, true, reasonOf(signal))
  const { text: body, type } = bodyOf(options)
  const headers = merged({ accept: 'application/json' }, parts.fixed, options.headers, type, carried)
  const erase = createEraser(parts.secrets())
  try {
    const answer = await dispatcher.request({
      origin: base.origin,
      path: base.pathname.replace(/\/$/, '') + path.made + queryText(options.query),
      method,
      headers,
      body: body ?? null,
      signal,
      headersTimeout: Math.ceil((options.headersMs ?? HEADERS_MS) * parts.patience),
      bodyTimeout: Math.ceil(BODY_MS * parts.patience),
    })
    const bytes = await capped(answer.body, options.capBytes ?? CAP_BYTES)
    if (bytes === undefined) {
      const most = options.capBytes ?? CAP_BYTES
      throw silent(true, false, `Its answer is larger than ${most} bytes; ask for less`)
    }
    const text = erase(bytes.toString('utf8'))
    const flat = Object.entries(answer.headers).map(([name, value]) => [name, erase(String(value))])
    return { status: answer.statusCode, headers: Object.fromEntries(flat), text, json: jsonOf(text), bytes }
  } catch (error) {
    if (error instanceof VendorFailure) throw error
    const code = String((error as { code?: unknown }).code ?? '')
    if (signal.aborted) throw silent(true, true, reasonOf(signal))
    throw silent(!isUnsent(code), code.includes('TIMEOUT'), `${wordsFor(code)}${code === '' ? '' : ` (${code})`}`)
  }
}

/** Later ones in the place of earlier ones, whatever case their names are written in. */
function merged(...all: (Headers | undefined)[]): Headers {
  const entries = all.flatMap((headers) => Object.entries(headers ?? {}))
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]))
}

const reasonOf = (signal: AbortSignal): string =>
  signal.reason instanceof Error && signal.reason.name === 'TimeoutError'
    ? 'It did not answer in time'
    : 'The call was cancelled'

/** Errors of a connection that was never made, so that nothing left. */
function isUnsent(code: string): boolean {
  return /^(?:UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ADDRESS_REFUSED|CERT_.*|ERR_TLS_.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*)$/.test(
    code,
  )
}

function wordsFor(code: string): string {
  if (code === 'ADDRESS_REFUSED') return 'Its address is not one this gateway may reach'
  if (isUnsent(code)) return 'It cannot be reached'
  return code.includes('TIMEOUT') ? 'It did not answer in time' : 'The connection broke before its answer was whole'
}

function bodyOf({ json, form }: Options): { text?: string; type?: Headers } {
  if (json !== undefined) return { text: JSON.stringify(json), type: { 'content-type': 'application/json' } }
  if (form === undefined) return {}
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  return { text: new URLSearchParams(form).toString(), type }
}

/** The whole body, or undefined as soon as it is larger than `most`; nothing more of it is read then. */
async function capped(body: Dispatcher.ResponseData['body'], most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Seconds of a `Retry-After`: a number, or a date (RFC 9110, 10.2.3). Some vendors write "2.0". */
export function secondsIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = /^\d{1,9}(?:\.\d{1,3})?$/.test(text.trim()) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return seconds >= 0 ? Math.ceil(seconds) : undefined
}
