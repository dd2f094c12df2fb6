/**
 * One JSON-RPC message as text and as value: the value is looked at, the text is passed on.
 * @module
 */
import { check, elements, members } from '../../json.ts'

/** A JSON-RPC message of an upstream. */
export interface Message {
  readonly text: string
  readonly value: { readonly [member: string]: unknown }
}

/** Far above any message that is honest; the size of a message is bounded before. */
const BOUNDS = { depth: 200, values: 5_000_000 }

/**
 * Whether no object in a text names a key twice, so that reading it by spans gives what reading it by value gave.
 * Results of tools are not held to this: they are passed on, and read at their outside only.
 */
export function isClear(text: string): boolean {
  try {
    check(text, BOUNDS)
    return true
  } catch {
    return false
  }
}

/** The same for the outside of an answer alone: a message and its result. What stands deeper is judged where it is read. */
export function isClearOutside({ text }: Message): boolean {
  try {
    const result = members(text)?.get('result')
    if (result !== undefined) members(text, result.start)
    return true
  } catch {
    return false
  }
}

/**
 * Reads the messages in a text: one object, or a batch of them as 2025-03-26 allowed.
 * Undefined when it is anything else.
 */
export function readMessages(text: string): Message[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (isMessage(value)) return readable([{ text, value }])
  if (!Array.isArray(value) || value.length === 0 || !value.every(isMessage)) return undefined
  const spans = elements(text) ?? []
  return readable(value.map((member, i) => ({ text: text.slice(spans[i]?.start, spans[i]?.end), value: member })))
}

/** Requests and notices of an upstream are acted upon, so they must have one meaning. */
function readable(messages: Message[]): Message[] | undefined {
  return messages.every((message) => methodOf(message) === undefined || isClear(message.text)) ? messages : undefined
}

function isMessage(value: unknown): value is Message['value'] {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    'jsonrpc' in value &&
    value.jsonrpc === '2.0'
  )
}

/** The method of a request or notice; undefined for an answer. */
export function methodOf(message: Message): string | undefined {
  return typeof message.value.method === 'string' ? message.value.method : undefined
}

/** Whether this is the answer to the request with that id: exactly one of `result` and `error`, and no method. */
export function answers(message: Message, id: number): boolean {
  const { value } = message
  return value.id === id && value.method === undefined && 'result' in value !== 'error' in value
}

/** The id of the exchange a progress notice belongs to (the gateway's progress tokens are its request ids). */
export function progressOf(message: Message): number | undefined {
  if (message.value.method !== 'notifications/progress') return undefined
  const params = message.value.params
  if (typeof params !== 'object' || params === null || !('progressToken' in params)) return undefined
  return typeof params.progressToken === 'number' ? params.progressToken : undefined
}
