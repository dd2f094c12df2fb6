/**
 * What Shopify's status 200 means: done, partly done, or a no in one of several places (`errors`, `userErrors`).
 * @module
 */
import { type Reply, refusedBy } from '../../src/connector/native/kit.ts'
import type { Code } from '../../src/policy/words.ts'

interface Fault {
  readonly message?: string
  readonly path?: readonly (string | number)[]
  readonly extensions?: { readonly code?: string; readonly requiredAccess?: string }
}

interface Cost {
  readonly requestedQueryCost?: number
  readonly actualQueryCost?: number | null
  readonly throttleStatus?: {
    readonly maximumAvailable?: number
    readonly currentlyAvailable?: number
    readonly restoreRate?: number
  }
}

/** A GraphQL answer. */
export interface Envelope {
  readonly data?: Readonly<Record<string, unknown>> | null | undefined
  readonly errors?: readonly Fault[] | string | undefined
  readonly extensions?: { readonly cost?: Cost } | undefined
}

/** Codes of requests that were turned away whole, before anything ran. */
const BEFORE = new Set([
  'THROTTLED',
  'MAX_COST_EXCEEDED',
  'SHOP_INACTIVE',
  'INVALID_VARIABLE',
  'argumentLiteralsIncompatible',
  'argumentNotAccepted',
  'argumentNotUnique',
  'defaultValueInvalidType',
  'fieldConflict',
  'fragmentOnNonCompositeType',
  'inputFieldNotUnique',
  'missingRequiredArguments',
  'missingRequiredInputObjectAttribute',
  'selectionMismatch',
  'undefinedDirective',
  'undefinedField',
  'undefinedType',
  'variableMismatch',
  'variableNotDefined',
  'variableNotUsed',
  'variableRequiresValidType',
])

const PASSING = new Set(['INTERNAL_SERVER_ERROR', 'TIMEOUT', 'SERVICE_UNAVAILABLE'])

type Refused = ReturnType<typeof refusedBy>

/** The no in an answer with status 200. Undefined: some of it, at least, is a yes. */
export function refusalOf(
  { json }: Reply<unknown>,
  mutation?: { readonly keys: readonly string[] },
): Refused | undefined {
  const { data, errors, extensions } = envelopeOf(json)
  const values = Object.values(data ?? {})
  const faults = typeof errors === 'string' ? [{ message: errors }] : (errors ?? [])
  const [first] = faults
  const may = mutation === undefined ? {} : { may: 'have-run' as const }
  if (first === undefined) {
    if (data === undefined || data === null) return strange(may)
    return mutation === undefined ? undefined : userRefusal(data)
  }
  if (values.some((value) => value !== null)) return undefined
  const worst = faults.find(({ extensions: more }) => more?.code === 'THROTTLED') ?? first
  const vendorCode = worst.extensions?.code
  const code = codeOf(vendorCode)
  const never = mutation === undefined || ranNothing(faults, mutation.keys, data)
  return refusedBy('Shopify', {
    code: never ? code : 'outcome_unknown',
    message: messageOf(worst),
    vendorCode,
    retryAfterS: code === 'rate_limited' ? waitOf(extensions?.cost) : undefined,
    retryable: never && (code === 'rate_limited' || PASSING.has(vendorCode ?? '')),
    ...(never ? {} : may),
  })
}

/** The members of an answer, as far as they are of the kinds they should be. */
export function envelopeOf(json: unknown): Envelope {
  const { data, errors, extensions } = (json ?? {}) as Record<string, unknown>
  return {
    ...((data === null || typeof data === 'object') && { data: data as Envelope['data'] }),
    ...((typeof errors === 'string' || Array.isArray(errors)) && { errors: errors as Fault[] | string }),
    ...(extensions !== null && typeof extensions === 'object' && { extensions: extensions as Envelope['extensions'] }),
  }
}

const strange = (may: { may?: 'have-run' }): Refused =>
  refusedBy('Shopify', {
    code: may.may === undefined ? 'upstream_unavailable' : 'outcome_unknown',
    message: 'What it answered is no GraphQL answer.',
    ...may,
  })

/** Whether nothing of a mutation ran: turned away before, or every field at its root denied. Unknown means no. */
function ranNothing(faults: readonly Fault[], keys: readonly string[], data: Envelope['data']): boolean {
  const whole = data === undefined || data === null
  if (whole && faults.every(({ extensions }) => BEFORE.has(extensions?.code ?? ''))) return true
  const denied = new Set(
    faults.flatMap(({ path, extensions }) =>
      extensions?.code === 'ACCESS_DENIED' && path?.length === 1 ? [String(path[0])] : [],
    ),
  )
  return faults.every(({ extensions }) => extensions?.code === 'ACCESS_DENIED') && keys.every((key) => denied.has(key))
}

/** `userErrors` in every field at the root and nothing beside them: Shopify looked at it and changed nothing. */
function userRefusal(data: Readonly<Record<string, unknown>>): Refused | undefined {
  const payloads = Object.values(data)
  const refused = payloads.every(
    (payload) =>
      userErrorsIn(payload).length > 0 &&
      Object.entries(payload as object).every(([key, value]) => USER_ERRORS.test(key) || isEmpty(value)),
  )
  if (payloads.length === 0 || !refused) return undefined
  const said = payloads.flatMap(userErrorsIn)
  return refusedBy('Shopify', { code: 'invalid_arguments', message: said.join(' '), vendorCode: 'USER_ERRORS' })
}

const USER_ERRORS = /^(?:[a-z][A-Za-z]*U|u)serErrors$/
const isEmpty = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0)

/** The sentences of a payload's user errors, each with the field it is about. */
export function userErrorsIn(payload: unknown): string[] {
  if (payload === null || typeof payload !== 'object') return []
  const lists = Object.entries(payload).flatMap(([key, list]) =>
    USER_ERRORS.test(key) && Array.isArray(list) ? (list as ({ field?: unknown; message?: unknown } | null)[]) : [],
  )
  return lists.map((one) => {
    const field = Array.isArray(one?.field) ? one.field.join('.') : one?.field
    const message = String(one?.message ?? 'It was refused').replace(/[.]?$/, '.')
    return typeof field === 'string' && field !== '' ? `${field}: ${message}` : message
  })
}

/** Whether a payload was asked for its user errors; without them a refusal cannot be told from success. */
export const tellsUserErrors = (payload: unknown): boolean =>
  payload !== null && typeof payload === 'object' && Object.keys(payload).some((key) => USER_ERRORS.test(key))

function codeOf(vendorCode: string | undefined): Code {
  if (vendorCode === 'THROTTLED') return 'rate_limited'
  const ours = vendorCode === 'ACCESS_DENIED' || vendorCode === 'SHOP_INACTIVE' || PASSING.has(vendorCode ?? '')
  return ours ? 'upstream_unavailable' : 'invalid_arguments'
}

/** Seconds until the points that the query asks for have come back; one at least. */
function waitOf({ requestedQueryCost = 0, throttleStatus = {} }: Cost = {}): number | undefined {
  const { currentlyAvailable = 0, restoreRate = 0 } = throttleStatus
  const seconds = Math.ceil((requestedQueryCost - currentlyAvailable) / restoreRate)
  return restoreRate > 0 && Number.isFinite(seconds) ? Math.max(1, seconds) : undefined
}

/** A fault in a sentence; of a denied access it says which scope a person can add. */
export function messageOf({ message = 'It gave no reason', extensions }: Fault): string {
  const said = message.replace(/[.]?$/, '.')
  if (extensions?.code === 'MAX_COST_EXCEEDED') return `${said} Ask for fewer fields or smaller pages.`
  if (extensions?.code !== 'ACCESS_DENIED') return said
  const { requiredAccess } = extensions
  const needs = requiredAccess === undefined || said.includes(requiredAccess) ? '' : ` It needs: ${requiredAccess}`
  return `${said}${needs} A person can give the app that scope, and connect again.`
}

/** What an answer says besides its data: faults beside it, and another version of the API than the one asked for. */
export function warningsOf(reply: Reply<unknown>, version: string): { warnings?: string[] } {
  const { errors } = envelopeOf(reply.json)
  const faults = typeof errors === 'string' ? [{ message: errors }] : (errors ?? [])
  const warnings = [...faults.slice(0, 10).map(messageOf), ...versionWarning(reply, version)]
  return warnings.length === 0 ? {} : { warnings }
}

/** Shopify answers a version it no longer supports with the oldest that it does, and says so in a header alone. */
export function versionWarning({ headers }: Reply<unknown>, version: string): string[] {
  const answered = headers['x-shopify-api-version']
  if (answered === undefined || answered === version) return []
  return [
    `Shopify answered with version ${answered.slice(0, 20)} of its API, not ${version}; a person should set a supported one.`,
  ]
}
