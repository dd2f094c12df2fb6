/**
 * An entry of `mcpServers`, checked by the configuration, and the way it opens to the upstream.
 * @module
 */
import { hash } from 'node:crypto'
import { AddressRefused, type AddressRules } from './address.ts'
import type { ToolRule } from './access.ts'
import type { Bearer } from './bearer.ts'
import { createHttpTransport } from './http.ts'
import type { Resolver } from './judge.ts'
import type { Log } from './noise.ts'
import { createRedact, type Snip } from './snippet.ts'
import { createStdioTransport } from './stdio.ts'
import type { Warden } from './warden.ts'
import type { Transport } from './wire.ts'

interface Common {
  /** What the operator calls it; the connector's slug is made of it. */
  readonly name: string
  readonly tools?: Readonly<Record<string, ToolRule>>
  readonly brands: readonly string[] | '*'
  /** How long a call may be silent (60,000), and how long progress can extend it (300,000), in ms. */
  readonly timeoutMs?: number
  readonly maxTimeoutMs?: number
  /** For connecting, and for reading the list (10,000 each), in ms. */
  readonly connectTimeoutMs?: number
  /** Hosts, besides the upstream's own, whose pages it may ask a person to open. */
  readonly elicitationHosts?: readonly string[]
}

export interface StdioEntry extends Common {
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface HttpEntry extends Common {
  readonly type: 'http'
  readonly url: string
  /** Placeholders expanded. */
  readonly headers?: Readonly<Record<string, string>>
  /** The operator means an address inside; see address.ts. */
  readonly allowPrivate?: boolean
  /** Goes with each request, in `Authorization`. */
  readonly bearer?: Bearer
  /** What no error or log may show, besides the values of headers. */
  readonly secrets?: readonly string[]
  /** Which far side it is, where its address says too little; never a secret. */
  readonly identity?: string
}

export type McpEntry = StdioEntry | HttpEntry

export interface TransportParts {
  readonly log: Log
  /** Starts and ends the children of stdio upstreams. */
  readonly warden: Warden
  /** Hosts the operator listed as reachable whatever their address. */
  readonly allowedHosts?: readonly string[]
  /** How refusals of an address speak, and how names are resolved, where that is not as for the operator's own. */
  readonly words?: AddressRules['words']
  readonly resolver?: Resolver
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** The transport of an entry, or why there can be none. */
export function transportOf(
  entry: McpEntry,
  parts: TransportParts,
  snip: Snip,
): { readonly transport: Transport } | { readonly failure: string } {
  if (!('url' in entry))
    return {
      transport: createStdioTransport({
        ...entry,
        warden: parts.warden,
        log: parts.log,
        redact: createRedact(secretsOf(entry)),
      }),
    }
  const odd = Object.entries(entry.headers ?? {}).find(
    ([name, value]) => !HEADER_NAME.test(name) || !HEADER_VALUE.test(value),
  )
  if (odd !== undefined)
    return { failure: `Its header "${snip(odd[0])}" has characters in its name or value that no header may have.` }
  const { allowedHosts: hosts = [], words, resolver } = parts
  const rules = { allowPrivate: entry.allowPrivate === true, hosts, ...(words && { words }) }
  try {
    const target = {
      url: entry.url,
      headers: entry.headers ?? {},
      rules,
      connectTimeoutMs: entry.connectTimeoutMs ?? 10_000,
      ...(resolver && { resolver }),
      ...(entry.bearer && { bearer: entry.bearer }),
    }
    return { transport: createHttpTransport(target, snip) }
  } catch (error) {
    if (error instanceof AddressRefused) return { failure: error.message }
    throw error
  }
}

/** The values of an entry that no error or log may show. */
export function secretsOf(entry: McpEntry): readonly string[] {
  const configured = Object.values(('url' in entry ? entry.headers : entry.env) ?? {})
  return 'url' in entry ? [...configured, ...(entry.secrets ?? [])] : configured
}

/** The hosts whose pages this upstream may send a person to. */
export function hostsOf(entry: McpEntry): readonly string[] {
  const own = 'url' in entry ? URL.parse(entry.url)?.hostname : undefined
  return own === undefined ? (entry.elicitationHosts ?? []) : [own, ...(entry.elicitationHosts ?? [])]
}

/** Which far side an entry means, as a digest (hex): its address, or its command with arguments and folder. Credentials are no part of it. */
export function identityOf(entry: McpEntry): string {
  if ('url' in entry && entry.identity !== undefined) return hash('sha256', entry.identity, 'hex')
  const where = 'url' in entry ? ['http', entry.url] : ['stdio', entry.command, entry.args ?? [], entry.cwd ?? '']
  return hash('sha256', JSON.stringify(where), 'hex')
}
