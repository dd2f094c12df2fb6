/**
 * The texts this gateway sends upstream as an MCP client: requests, notices and answers, spliced from JSON text.
 * @module
 */
import type { ElicitationModes } from '../connector.ts'

/** The stateless revision ("modern" era). */
export const MODERN = '2026-07-28'
/** The newest revision with `initialize` and sessions ("legacy" era), which is what this client asks for. */
export const LEGACY = '2025-11-25'
/** The legacy revisions an upstream may answer with. */
export const LEGACY_VERSIONS: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', LEGACY]

export type Era = 'legacy' | 'modern'

/** Who this gateway says it is. */
export interface ClientInfo {
  readonly name: string
  readonly version: string
}

/** No way of asking a person: what listing and watching declare. */
export const ASKS_NOBODY: ElicitationModes = { form: false, url: false }
/** Everything this gateway can put before a person. */
export const ASKS_ALL: ElicitationModes = { form: true, url: true }

/** A JSON-RPC request. `params`: members of its params, JSON text without braces. */
export function requestText(id: number, method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params}}}`
}

/** A JSON-RPC notification. */
export function noticeText(method: string, params: string): string {
  return `{"jsonrpc":"2.0","method":"${method}"${params === '' ? '' : `,"params":{${params}}`}}`
}

/** The answer to an upstream's request; `idText` as the upstream wrote it. */
export function resultText(idText: string, result: string): string {
  return `{"jsonrpc":"2.0","id":${idText},"result":${result}}`
}

/** The refusal of an upstream's request. */
export function errorText(idText: string, code: number, message: string): string {
  return `{"jsonrpc":"2.0","id":${idText},"error":{"code":${code},"message":${JSON.stringify(message)}}}`
}

/** Joins pieces of JSON text with commas, leaving out the empty ones. */
export function list(...pieces: string[]): string {
  return pieces.filter((piece) => piece !== '').join(',')
}

/** The capabilities object: elicitation only in the modes that can be answered, nothing else ever. */
export function capabilitiesText(modes: ElicitationModes): string {
  if (!modes.form && !modes.url) return '{}'
  return `{"elicitation":{${list(modes.form ? '"form":{}' : '', modes.url ? '"url":{}' : '')}}}`
}

/** The members of `_meta` that 2026-07-28 demands of every request. */
export function modernMeta(client: ClientInfo, modes: ElicitationModes): string {
  return (
    `"io.modelcontextprotocol/protocolVersion":"${MODERN}",` +
    `"io.modelcontextprotocol/clientInfo":${JSON.stringify(client)},` +
    `"io.modelcontextprotocol/clientCapabilities":${capabilitiesText(modes)}`
  )
}

/** A header value for any text: as it is when plain, else the base64 sentinel form (SEP-2243). */
export function headerValue(text: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
  return plain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`
}
