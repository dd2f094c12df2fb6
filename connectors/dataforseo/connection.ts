/**
 * How DataForSEO is reached, and what its envelopes mean: nearly every answer has the status 200, and says inside what it is.
 * @module
 */
import { z } from 'zod'
import {
  type ConnectionKind,
  type Http,
  type Path,
  path,
  type Problem,
  refusedBy,
} from '../../src/connector/native/kit.ts'

/** What every answer is wrapped in. */
interface Envelope<T> {
  readonly status_code?: number
  readonly status_message?: string
  readonly cost?: number
  readonly tasks?: readonly {
    readonly status_code?: number
    readonly status_message?: string
    readonly cost?: number
    readonly result?: readonly T[] | null
  }[]
}

/** What is read of the account: `price` is kept for estimates. */
export interface UserData {
  readonly timezone?: string
  readonly money?: {
    readonly total?: number
    readonly balance?: number
    readonly limits?: { readonly day?: unknown }
    readonly statistics?: { readonly day?: unknown }
  }
  readonly rates?: { readonly limits?: unknown }
  readonly price?: unknown
}

export const connection: ConnectionKind = {
  fields: {
    login: {
      title: 'the API login (app.dataforseo.com, API Access)',
      schema: z.string().min(3),
      env: 'DATAFORSEO_LOGIN',
    },
    password: {
      title: 'the API password, which is not the one of the account (same page)',
      schema: z.string().min(8),
      env: 'DATAFORSEO_PASSWORD',
    },
  },
  baseUrl: 'https://api.dataforseo.com',
  authorize: ({ login, password }) => ({
    authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`,
  }),
  problem(_status, body) {
    const { status_code, status_message } = (body ?? {}) as Envelope<unknown>
    if (typeof status_code !== 'number') return {}
    return { ...problemOf(status_code), message: status_message }
  },
  async check(http) {
    const { money } = await userData(http)
    return `The login is taken; ${money?.balance === undefined ? 'an unknown sum' : `$${money.balance}`} is left.`
  },
  async prices(http) {
    const { price } = await userData(http)
    // Not kept then, but asked for again before the next call.
    if (price == null) throw new Error('The account has no price list.')
    return price
  },
}

/** The account: what is left, and its own prices. Bills nothing. */
export async function userData(http: Http): Promise<UserData> {
  const { json } = await http.get<Envelope<UserData>>(path`/v3/appendix/user_data`, {
    refusal: ({ json }) => refusalOf(json as Envelope<unknown>, true),
  })
  return json.tasks?.[0]?.result?.[0] ?? {}
}

/** What a live task brought. */
export interface Done<T> {
  readonly rows: readonly T[]
  /** As the vendor says; undefined: it does not say. */
  readonly costUsd: number | undefined
}

/** How long a live task may take at the vendor (ms). */
const LIVE_MS = 120_000
/** The deadline of a tool that asks for one. */
export const DEADLINE_MS = LIVE_MS + 10_000
const CAP_BYTES = 16 * 1024 * 1024

/** Asks for one live task. It bills, so it is sent once. */
export async function live<T>(http: Http, to: Path, task: object): Promise<Done<T>> {
  const { json } = await http.post<Envelope<T>>(to, {
    json: [task],
    headersMs: LIVE_MS,
    capBytes: CAP_BYTES,
    refusal: ({ json }) => refusalOf(json as Envelope<unknown>, false),
  })
  return { rows: json.tasks?.[0]?.result ?? [], costUsd: costOf(json) }
}

/** The sum that is booked, in dollars without a float's dust. */
function costOf({ cost, tasks }: Envelope<unknown>): number | undefined {
  const said = cost ?? tasks?.[0]?.cost
  return typeof said === 'number' && said >= 0 ? Number(said.toFixed(9)) : undefined
}

const FINE = 20000
/** Not an error: there is nothing to find. */
const NO_RESULTS = 40102

function refusalOf(envelope: Envelope<unknown> | undefined, free: boolean): ReturnType<typeof refusedBy> | undefined {
  const [task] = Array.isArray(envelope?.tasks) ? envelope.tasks : []
  const said = envelope?.status_code === FINE ? task : envelope
  const code = said?.status_code
  if (said !== undefined && said === task && (code === FINE || code === NO_RESULTS)) return undefined
  const message = said?.status_message ?? 'Its answer is not what it promises.'
  const vendorCode = code === undefined ? undefined : String(code)
  // Refused and not billed is what the vendor says itself; without its word the call may have billed.
  const unbilled = free || (code !== undefined && envelope !== undefined && costOf(envelope) === 0)
  if (!unbilled) return refusedBy('DataForSEO', { code: 'outcome_unknown', message, vendorCode, may: 'have-run' })
  const problem = problemOf(code ?? 50000)
  return refusedBy('DataForSEO', {
    ...problem,
    message,
    vendorCode,
    retryable: problem.code === 'rate_limited' || PASSING.has(code ?? 0) || (code ?? 0) >= 50000,
  })
}

/** 40101 and 40103 are failures at the search engine. */
const PASSING = new Set([40101, 40103])
/** Too many in a minute; too many at once. */
const WAITS: Readonly<Record<number, number>> = { 40202: 60, 40209: 10 }

/** The vendor's code in our words. */
function problemOf(code: number): Problem & { readonly code: NonNullable<Problem['code']> } {
  const vendorCode = String(code)
  const wait = WAITS[code]
  if (wait !== undefined) return { code: 'rate_limited', vendorCode, retryAfterS: wait }
  // 404xx and 405xx are about what was asked; 401xx to 403xx about the account; 5xxxx about the vendor.
  const ours = (code >= 40400 && code < 50000) || (code >= 40000 && code < 40100)
  return { code: ours ? 'invalid_arguments' : 'upstream_unavailable', vendorCode }
}
