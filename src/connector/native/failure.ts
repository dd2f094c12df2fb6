/**
 * How a vendor's refusals and silences are told: our closed codes, whether anything may have happened, and one shape of
 * facts for the model.
 * @module
 */
import { redactText, visible } from '../../policy/redact.ts'
import type { Code } from '../../policy/words.ts'
import type { Answer } from '../connector.ts'

/** Arguments that are refused before anything leaves. Thrown by `path`, or answered by a tool's `refuse`. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly code: 'forbidden_arguments' | 'invalid_arguments'
  constructor(code: Refusal['code'], sentence: string) {
    super(sentence)
    this.code = code
  }
}

/** What the model is told of a vendor that refused or failed. */
export interface VendorError {
  readonly vendor: string
  /** Null where no answer came. */
  readonly http_status: number | null
  /** The vendor's own code. */
  readonly vendor_code: string | null
  /** At most 500 characters, without secrets. */
  readonly message: string
  /** Whether the same call may succeed later. */
  readonly retryable: boolean
  readonly retry_after_s: number | null
}

/** A vendor's refusal or silence. `ran`: whether this request may have had an effect. */
export class VendorFailure extends Error {
  override name = 'VendorFailure'
  readonly code: Code
  readonly ran: 'no' | 'maybe'
  readonly facts: VendorError
  constructor(code: Code, ran: 'no' | 'maybe', facts: VendorError) {
    super(facts.message)
    this.code = code
    this.ran = ran
    this.facts = facts
  }
}

/** What a connector makes of a body that says no. Whatever it leaves out is judged by the status. */
export interface Problem {
  readonly code?: Code | undefined
  readonly vendorCode?: string | undefined
  readonly message?: string | undefined
  /** Where the vendor says elsewhere than in `Retry-After`. */
  readonly retryAfterS?: number | undefined
  /** `no` where the vendor is known to have done nothing. */
  readonly ran?: 'no' | undefined
}

/** Status 200 and yet a refusal (GraphQL errors, envelopes): a tool throws what this makes. `ran` is `no` unless said. */
export function refusedBy(
  vendor: string,
  problem: Problem & {
    readonly message: string
    readonly code: Code
    readonly may?: 'have-run'
    /** Unless said, whether the code is one that passes. */
    readonly retryable?: boolean
  },
): VendorFailure {
  const { code, message, vendorCode, retryAfterS, may } = problem
  return new VendorFailure(code, may === 'have-run' ? 'maybe' : 'no', {
    vendor,
    http_status: 200,
    vendor_code: vendorCode ?? null,
    message: clean(message),
    retryable: problem.retryable ?? (code === 'rate_limited' || code === 'upstream_unavailable'),
    retry_after_s: retryAfterS ?? null,
  })
}

/** The failure that a status other than 2xx means. `effect`: the request may have changed or billed something. */
export function failureOf(
  vendor: string,
  status: number,
  problem: Problem,
  effect: boolean,
  waitS: number | undefined,
): VendorFailure {
  const code = problem.code ?? codeOf(status)
  const unsure = effect && problem.ran !== 'no' && (status >= 500 || status === 408 || status < 400)
  const wait = problem.retryAfterS ?? waitS
  return new VendorFailure(unsure ? 'outcome_unknown' : code, unsure ? 'maybe' : 'no', {
    vendor,
    http_status: status,
    vendor_code: problem.vendorCode?.slice(0, 100) ?? null,
    message: clean(problem.message ?? `HTTP status ${status}.`),
    retryable: !unsure && (code === 'rate_limited' || status >= 500 || status === 408),
    retry_after_s: wait ?? null,
  })
}

/** No answer: the request did not leave, or nobody knows what came of it. */
export function silenceOf(
  vendor: string,
  effect: boolean,
  sent: boolean,
  late: boolean,
  message: string,
): VendorFailure {
  const unsure = effect && sent
  const code = unsure ? 'outcome_unknown' : late ? 'upstream_timeout' : 'upstream_unavailable'
  const facts = { vendor, http_status: null, vendor_code: null, message: clean(message), retryable: !unsure }
  return new VendorFailure(code, unsure ? 'maybe' : 'no', { ...facts, retry_after_s: null })
}

function codeOf(status: number): Code {
  if (status === 429) return 'rate_limited'
  if (status === 408) return 'upstream_timeout'
  if (status >= 400 && status < 500 && status !== 401 && status !== 402 && status !== 403) return 'invalid_arguments'
  return 'upstream_unavailable'
}

const LONGEST = 500

/** A vendor's words, fit for a result and a record. */
export function clean(text: string): string {
  const safe = visible(redactText(text.slice(0, LONGEST * 4))).trim()
  return safe.length <= LONGEST ? safe : `${safe.slice(0, LONGEST - 1)}…`
}

/** A failure as the answer of a call. `before`: an earlier request of the same call had its effect. */
export function answerOf(failure: VendorFailure, before: boolean): Extract<Answer, { kind: 'failed' }> {
  const { facts } = failure
  const ran = before ? 'maybe' : failure.ran
  const code = before ? 'outcome_unknown' : failure.code
  const status = facts.http_status === null ? 'did not answer' : `answered ${facts.http_status}`
  const named = facts.vendor_code === null ? '' : ` (${facts.vendor_code})`
  const reason = [`${facts.vendor} ${status}${named}: ${facts.message.replace(/[.!]?$/, '.')}`, advice(failure)]
  return { kind: 'failed', code, reason: reason.join(' ').trim(), ran, facts: { ...facts } }
}

function advice({ code, facts }: VendorFailure): string {
  if (code === 'rate_limited') {
    return facts.retry_after_s === null
      ? 'Wait a minute, then call again.'
      : `Wait ${facts.retry_after_s} s, then call again.`
  }
  if (facts.http_status === 401) return 'The connection’s credentials are refused; a person has to renew them.'
  if (facts.http_status === 403 && code === 'upstream_unavailable')
    return 'The connection’s credentials do not allow this; a person can give them more scopes.'
  return ''
}

/** The usual places of a message and a code in a JSON body that says no. */
export function usualProblem(body: unknown): Problem {
  if (body === null || typeof body !== 'object') return {}
  const { message, error, code, detail, title, errors } = body as Record<string, unknown>
  const inner = error !== null && typeof error === 'object' ? (error as Record<string, unknown>) : {}
  const first = Array.isArray(errors) ? (errors[0] as Record<string, unknown> | undefined) : undefined
  return {
    message: texts(
      message,
      inner.message,
      error,
      detail,
      title,
      first?.message,
      typeof errors === 'string' ? errors : 0,
    ),
    vendorCode: texts(code, inner.code, first?.code),
  }
}

const texts = (...values: unknown[]): string | undefined =>
  values.find((value): value is string => typeof value === 'string' && value !== '') ??
  values.filter((value) => typeof value === 'number' && value !== 0).map(String)[0]
