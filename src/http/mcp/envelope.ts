/**
 * Reads the body of a POST into one JSON-RPC message, as spans of its text, so that what is judged is what is sent on.
 * Whatever two readers could read differently is refused (bug bank group 8; GHSA-q382-vc8q-7jhj, CVE-2026-27896).
 * @module
 */
import { isUtf8 } from 'node:buffer'
import { type Bounds, check, join, members, type Span, UnreadableJson } from '../../json.ts'
import { isReservedMeta } from '../../policy/meta.ts'
import { RPC } from './protocol.ts'

/** A body that is no message this gateway takes: HTTP status, JSON-RPC code, and the sentence for it. */
export class BadMessage extends Error {
  override name = 'BadMessage'
  readonly status: number
  readonly code: number
  readonly idText: string
  readonly data: string | undefined
  constructor(status: number, code: number, message: string, idText = 'null', data?: string) {
    super(message)
    this.status = status
    this.code = code
    this.idText = idText
    this.data = data
  }
}

/** `params` of a message: its text, where its members stand, and its parsed value for what is small. */
export interface Params {
  readonly text: string
  readonly spans: ReadonlyMap<string, Span>
  readonly value: Readonly<Record<string, unknown>>
  readonly meta: Readonly<Record<string, unknown>>
}

export type Message =
  | { readonly kind: 'request'; readonly idText: string; readonly method: string; readonly params: Params }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  | { readonly kind: 'response'; readonly id: string | number; readonly resultText: string | undefined }

const TOP_KEYS = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']
const PARAMS_KEYS = ['name', 'arguments', '_meta', 'cursor', 'uri', 'requestState', 'inputResponses', 'taskId']

/** Reads one message; throws BadMessage. */
export function readMessage(body: Buffer, bounds: Bounds): Message {
  if (!isUtf8(body)) throw new BadMessage(400, RPC.parse, 'The body is not UTF-8.')
  const text = body.toString('utf8')
  try {
    return shape(text, check(text, bounds))
  } catch (problem) {
    if (problem instanceof UnreadableJson) throw new BadMessage(400, RPC.parse, problem.message)
    throw problem
  }
}

function shape(text: string, value: unknown): Message {
  if (Array.isArray(value)) {
    throw new BadMessage(400, RPC.invalidRequest, 'Batches are not taken: send one message a request.')
  }
  if (!isObject(value)) throw new BadMessage(400, RPC.invalidRequest, 'A message is a JSON object.')
  const spans = members(text) as Map<string, Span>
  refuseLookalikes(spans.keys(), TOP_KEYS)
  const idText = readId(text, spans, value)
  if (value.jsonrpc !== '2.0') throw new BadMessage(400, RPC.invalidRequest, '"jsonrpc" must be "2.0".', idText)
  if (value.method === undefined) return readResponse(text, spans, value)
  if (typeof value.method !== 'string') {
    throw new BadMessage(400, RPC.invalidRequest, '"method" must be a string.', idText)
  }
  const params = readParams(text, spans.get('params'), value.params, idText)
  if (idText === undefined) return { kind: 'notification', method: value.method, params }
  return { kind: 'request', idText, method: value.method, params }
}

/** The id as it was written, to be given back as it was; undefined when there is none. Null and fractions are no ids. */
function readId(text: string, spans: Map<string, Span>, value: Record<string, unknown>): string | undefined {
  const span = spans.get('id')
  if (span === undefined) return undefined
  const { id } = value
  if (typeof id === 'string') {
    if (id.length > 1024) throw new BadMessage(400, RPC.invalidRequest, '"id" is longer than 1024 characters.')
  } else if (typeof id !== 'number' || !Number.isInteger(id)) {
    throw new BadMessage(400, RPC.invalidRequest, '"id" must be a string or a whole number.')
  }
  return text.slice(span.start, span.end)
}

function readResponse(text: string, spans: Map<string, Span>, value: Record<string, unknown>): Message {
  const { id } = value
  const result = spans.get('result')
  if ((typeof id !== 'string' && typeof id !== 'number') || (result === undefined) === (value.error === undefined)) {
    throw new BadMessage(400, RPC.invalidRequest, 'The message has no "method", and is no answer to a request either.')
  }
  return { kind: 'response', id, resultText: result && text.slice(result.start, result.end) }
}

const NO_PARAMS: Params = { text: '{}', spans: new Map(), value: {}, meta: {} }

function readParams(text: string, span: Span | undefined, value: unknown, idText: string | undefined): Params {
  if (span === undefined) return NO_PARAMS
  if (!isObject(value)) throw new BadMessage(400, RPC.invalidParams, '"params" must be an object.', idText)
  const own = text.slice(span.start, span.end)
  const spans = members(own) as Map<string, Span>
  refuseLookalikes(spans.keys(), PARAMS_KEYS)
  const meta = value._meta
  if (meta !== undefined && !isObject(meta)) {
    throw new BadMessage(400, RPC.invalidParams, '"_meta" must be an object.', idText)
  }
  return { text: own, spans, value, meta: meta ?? {} }
}

/** A key that some reader takes for another (`Name`, `name` with a NUL behind it) has no place in an envelope. */
function refuseLookalikes(keys: Iterable<string>, known: readonly string[]): void {
  for (const key of keys) {
    if (known.includes(key)) continue
    const plain = key
      .normalize('NFKC')
      .replace(/[\p{C}\p{Z}]/gu, '')
      .toLowerCase()
    if (plain !== key && known.some((word) => word.toLowerCase() === plain)) {
      throw new BadMessage(400, RPC.invalidRequest, `The key ${JSON.stringify(key)} could be taken for "${plain}".`)
    }
    if (known.some((word) => word.toLowerCase() === key)) {
      throw new BadMessage(400, RPC.invalidRequest, `The key ${JSON.stringify(key)} is written in the wrong case.`)
    }
  }
}

/** The text of one member of `params`, or undefined. */
export function memberText(params: Params, key: string): string | undefined {
  const span = params.spans.get(key)
  return span && params.text.slice(span.start, span.end)
}

/** The members of `_meta` that are passed on, as JSON text without braces. */
export function passedMeta(params: Params): string {
  const span = params.spans.get('_meta')
  if (span === undefined) return ''
  const text = params.text.slice(span.start, span.end)
  return join(text, members(text) as Map<string, Span>, isReservedMeta)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
