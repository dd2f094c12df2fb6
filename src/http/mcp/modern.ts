/**
 * What a 2026-07-28 request must carry: version and capabilities in `_meta`, and headers that mirror the body (SEP-2243).
 * @module
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { ElicitationModes } from '../../connector/connector.ts'
import { BadMessage, isObject, type Params } from './envelope.ts'
import { LEGACY_VERSIONS, META, MODERN_VERSION, RPC } from './protocol.ts'

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
    const data = JSON.stringify({ supported: [MODERN_VERSION, ...LEGACY_VERSIONS], requested: version })
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
 * in turn; a header for an argument that was not given says something else than the body too.
 */
export function checkMirrored(headers: IncomingHttpHeaders, expected: readonly string[], idText: string): void {
  const named = new Set<string>()
  for (let i = 0; i + 1 < expected.length; i += 2) {
    const name = expected[i] as string
    named.add(name)
    mirror(name, headers[name], decodeHeader(expected[i + 1] as string) ?? '', idText)
  }
  for (const name in headers) {
    if (!name.startsWith('mcp-param-') || named.has(name)) continue
    throw new BadMessage(
      400,
      RPC.headerMismatch,
      `The header ${name.slice(0, 64)} mirrors no argument of this call.`,
      idText,
    )
  }
}

/** The member that `Mcp-Name` mirrors, by method. */
function nameOf(method: string, params: Params): string | undefined {
  const member = method === 'resources/read' ? 'uri' : method.startsWith('tasks/') ? 'taskId' : 'name'
  const named = method === 'tools/call' || method === 'prompts/get' || method === 'resources/read'
  const value = params.value[member]
  return (named || method.startsWith('tasks/')) && typeof value === 'string' ? value : undefined
}

function mirror(name: string, header: string | string[] | undefined, body: string, idText: string): void {
  const said = typeof header === 'string' ? decodeHeader(header) : undefined
  if (said === body) return
  const problem = said === undefined ? 'is missing or unreadable' : 'says something else than the body'
  throw new BadMessage(400, RPC.headerMismatch, `The header ${name} ${problem}.`, idText)
}

/** A header value outside printable ASCII travels as `=?base64?…?=` of its UTF-8 (MCP 2026-07-28, transports). */
function decodeHeader(value: string): string | undefined {
  const coded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value)
  if (coded === null) return value.trim()
  const bytes = Buffer.from(coded[1] ?? '', 'base64')
  return bytes.toString('base64') === coded[1] ? bytes.toString('utf8') : undefined
}

/** Which ways of asking a person a set of client capabilities declares. An empty `elicitation` is form mode. */
export function elicitationOf(capabilities: unknown): ElicitationModes {
  const declared = isObject(capabilities) ? capabilities.elicitation : undefined
  if (!isObject(declared)) return { form: false, url: false }
  const url = isObject(declared.url)
  return { form: isObject(declared.form) || !url, url }
}
