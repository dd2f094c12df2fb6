/**
 * What a 2026-07-28 request must carry: version and capabilities in `_meta`, and headers that mirror the body (SEP-2243).
 * @module
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { ElicitationModes } from '../../connector/connector.ts'
import { BadMessage, isObject, type Params } from './envelope.ts'
import { META, MODERN_VERSION, RPC } from './protocol.ts'

/** Whether a message belongs to the modern era: it says so in `_meta`, or in the header of anything but `initialize`. */
export function isModern(headers: IncomingHttpHeaders, method: string | undefined, params: Params): boolean {
  if (params.meta[META.protocolVersion] !== undefined) return true
  if (method === 'server/discover' || method === 'subscriptions/listen') return true
  return method !== 'initialize' && headers['mcp-protocol-version'] === MODERN_VERSION
}

/** Checks version, capabilities and mirrored headers of a modern request; throws BadMessage with the spec's codes. */
export function checkModern(headers: IncomingHttpHeaders, method: string, params: Params, idText: string): void {
  const version = params.meta[META.protocolVersion]
  const capabilities = params.meta[META.clientCapabilities]
  if (typeof version !== 'string') {
    throw new BadMessage(400, RPC.invalidParams, `"_meta" must hold "${META.protocolVersion}".`, idText)
  }
  mirror('MCP-Protocol-Version', headers['mcp-protocol-version'], version, idText)
  if (version !== MODERN_VERSION) {
    const data = JSON.stringify({ supported: [MODERN_VERSION], requested: version })
    throw new BadMessage(400, RPC.unsupportedVersion, `Protocol version ${version} is not served here.`, idText, data)
  }
  if (!isObject(capabilities)) {
    throw new BadMessage(400, RPC.invalidParams, `"_meta" must hold "${META.clientCapabilities}".`, idText)
  }
  mirror('Mcp-Method', headers['mcp-method'], method, idText)
  const name = nameOf(method, params)
  if (name !== undefined) mirror('Mcp-Name', headers['mcp-name'], name, idText)
}

/**
 * Checks the arguments that a tool wants repeated in headers (`x-mcp-header`, SEP-2243). `expected` is names and values
 * in turn.
 */
export function checkMirrored(headers: IncomingHttpHeaders, expected: readonly string[], idText: string): void {
  for (let i = 0; i + 1 < expected.length; i += 2) {
    const name = expected[i] as string
    mirror(name, headers[name], decodeHeader(expected[i + 1] as string) ?? '', idText)
  }
}

/** What `Mcp-Name` mirrors, for the methods that are served. */
function nameOf(method: string, params: Params): string | undefined {
  const { name, taskId } = params.value
  const named = method === 'tools/call' ? name : method.startsWith('tasks/') ? taskId : undefined
  return typeof named === 'string' ? named : undefined
}

function mirror(name: string, header: string | string[] | undefined, body: string, idText: string): void {
  const said = typeof header === 'string' ? decodeHeader(header) : undefined
  if (said === body) return
  const problem = said === undefined ? 'is missing or unreadable' : 'says something else than the body'
  throw new BadMessage(400, RPC.headerMismatch, `The header ${name} ${problem}.`, idText)
}

/** A header value outside printable ASCII travels as `=?base64?…?=` of its UTF-8 (MCP 2026-07-28, transports). */
function decodeHeader(value: string): string | undefined {
  if (!value.startsWith(CODED) || !value.endsWith('?=')) return value.trim()
  const coded = value.slice(CODED.length, -2)
  const bytes = Buffer.from(coded, 'base64')
  return bytes.toString('base64') === coded ? bytes.toString('utf8') : undefined
}

const CODED = '=?base64?'

/** Which ways of asking a person a set of client capabilities declares. An empty `elicitation` is form mode. */
export function elicitationOf(capabilities: unknown): ElicitationModes {
  const declared = isObject(capabilities) ? capabilities.elicitation : undefined
  if (!isObject(declared)) return { form: false, url: false }
  const url = isObject(declared.url)
  return { form: isObject(declared.form) || !url, url }
}
