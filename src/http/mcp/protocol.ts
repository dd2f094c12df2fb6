/**
 * The revisions of MCP this gateway speaks, and its answer to every method of both eras.
 * @module
 */

export const MODERN_VERSION = '2026-07-28'
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const

export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  sessionNotFound: -32001,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

type Answer = 'served' | 'not-served' | 'removed'

/**
 * Every request method of either era and what this gateway does with it. `tasks/*` is the extension of the modern era; the
 * tasks of 2025-11-25 are another wire, and not served. Only tools are proxied: what is `not-served`
 * is not advertised either and gets -32601 (in the modern era with HTTP 404). `removed`: not a method of that era.
 */
export const METHODS: Readonly<Record<string, { readonly legacy: Answer; readonly modern: Answer }>> = {
  initialize: { legacy: 'served', modern: 'removed' },
  ping: { legacy: 'served', modern: 'removed' },
  'server/discover': { legacy: 'removed', modern: 'served' },
  'tools/list': { legacy: 'served', modern: 'served' },
  'tools/call': { legacy: 'served', modern: 'served' },
  'subscriptions/listen': { legacy: 'removed', modern: 'served' },
  'logging/setLevel': { legacy: 'not-served', modern: 'removed' },
  'completion/complete': { legacy: 'not-served', modern: 'not-served' },
  'prompts/list': { legacy: 'not-served', modern: 'not-served' },
  'prompts/get': { legacy: 'not-served', modern: 'not-served' },
  'resources/list': { legacy: 'not-served', modern: 'not-served' },
  'resources/templates/list': { legacy: 'not-served', modern: 'not-served' },
  'resources/read': { legacy: 'not-served', modern: 'not-served' },
  'resources/subscribe': { legacy: 'not-served', modern: 'removed' },
  'resources/unsubscribe': { legacy: 'not-served', modern: 'removed' },
  'tasks/get': { legacy: 'not-served', modern: 'served' },
  'tasks/result': { legacy: 'not-served', modern: 'removed' },
  'tasks/list': { legacy: 'not-served', modern: 'removed' },
  'tasks/cancel': { legacy: 'not-served', modern: 'served' },
  'tasks/update': { legacy: 'removed', modern: 'served' },
  'sampling/createMessage': { legacy: 'not-served', modern: 'removed' },
  'elicitation/create': { legacy: 'not-served', modern: 'removed' },
  'roots/list': { legacy: 'not-served', modern: 'removed' },
}

/** Whether a method is served in an era; a name no table knows is not. */
export function isServed(method: string, era: 'legacy' | 'modern'): boolean {
  return Object.hasOwn(METHODS, method) && METHODS[method]?.[era] === 'served'
}
