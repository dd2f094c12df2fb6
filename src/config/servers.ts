/**
 * `mcpServers`: entries in the shape of `.mcp.json`, made whole: references expanded, kinds told apart, brands filled in.
 * @module
 */
import { type DataFile, problemAt } from '../policy/data-file.ts'
import { nearest } from '../policy/nearest.ts'
import { type Env, expand } from './expand.ts'
import { SERVER_FIELDS, type ToolPolicy, type WrittenServer } from './file-schema.ts'
import { hostKind, webUrl } from './urls.ts'

interface Common {
  readonly name: string
  readonly tools: Readonly<Record<string, ToolPolicy>>
  /** Whose sessions it serves: it carries the host's credentials, so by itself the owner's brand alone. */
  readonly brands: readonly string[] | '*'
  /** Whether tools that come after the first discovery open by themselves. */
  readonly newTools: 'open' | 'closed'
  readonly timeoutMs?: number
  /** Whether a private address is what the operator means. A literal loopback host says so by itself. */
  readonly allowPrivate: boolean
  /** Hosts to which its elicitations may send a person. */
  readonly elicitationHosts: readonly string[]
}

export interface StdioServer extends Common {
  readonly type: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface HttpServer extends Common {
  readonly type: 'http'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** One MCP upstream of the operator's. Holds expanded secrets: never to be logged whole. */
export type ServerEntry = StdioServer | HttpServer

/** What reading adds to as it goes. */
export interface Findings {
  readonly problems: string[]
  readonly notices: string[]
  /** Environment variables the file refers to. */
  readonly used: Set<string>
}

const HTTP_TYPES = ['http', 'streamable-http', 'streamableHttp']
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
/** What undici refuses in a header's value, so that it is said here, without the value. */
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/
/** Headers of the transport, which the gateway writes itself. */
const RESERVED = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'content-type',
  'accept',
  'mcp-session-id',
])

/** Every entry that is not switched off, in the file's order. */
export function readServers(
  written: Readonly<Record<string, WrittenServer>>,
  data: DataFile,
  surroundings: { readonly env: Env; readonly ownerBrand: string },
  findings: Findings,
): ServerEntry[] {
  const servers: ServerEntry[] = []
  for (const [name, entry] of Object.entries(written)) {
    if (entry.disabled === true || entry.enabled === false) {
      findings.notices.push(problemAt(data, ['mcpServers', name], 'is disabled, so it is not started.'))
      continue
    }
    const server = readServer(name, entry, data, surroundings, findings)
    if (server !== undefined) servers.push(server)
  }
  return servers
}

function readServer(
  name: string,
  entry: WrittenServer,
  data: DataFile,
  { env, ownerBrand }: { readonly env: Env; readonly ownerBrand: string },
  findings: Findings,
): ServerEntry | undefined {
  const path = ['mcpServers', name]
  const problem = (message: string, ...more: PropertyKey[]) => {
    findings.problems.push(problemAt(data, [...path, ...more], message))
  }
  const notice = (message: string, ...more: PropertyKey[]) => {
    findings.notices.push(problemAt(data, [...path, ...more], message))
  }
  const whole = (text: string, ...more: PropertyKey[]): string => {
    const expanded = expand(text, env)
    for (const name of expanded.used) findings.used.add(name)
    for (const message of expanded.problems) problem(message, ...more)
    if (expanded.problems.length === 0 && expanded.text.includes('\0'))
      problem('holds a NUL character; take it out.', ...more)
    return expanded.text
  }
  const wholeAll = (texts: Readonly<Record<string, string>> | undefined, field: string): Record<string, string> =>
    Object.fromEntries(Object.entries(texts ?? {}).map(([key, text]) => [key, whole(text, field, key)]))

  for (const key of Object.keys(entry)) if (!SERVER_FIELDS.includes(key)) notice(strangerSentence(key), key)
  if (entry.timeout !== undefined && entry.timeout < 1000) {
    notice(
      `is read as milliseconds, so calls end after ${entry.timeout} ms; for seconds write ${entry.timeout}000.`,
      'timeout',
    )
  }
  const kind = kindOf(entry)
  if (kind.problem !== undefined) return problem(kind.problem) as undefined
  const common = {
    name,
    tools: entry.tools ?? {},
    brands: brandsOf(entry.brands, ownerBrand),
    newTools: entry.newTools ?? 'closed',
    ...(entry.timeout !== undefined && { timeoutMs: entry.timeout }),
    elicitationHosts: entry.elicitationHosts ?? [],
  }
  if (kind.type === 'stdio') {
    if (entry.url !== undefined) notice('is ignored beside "command".', 'url')
    return {
      ...common,
      type: 'stdio',
      command: whole(kind.command, 'command'),
      args: (entry.args ?? []).map((text, i) => whole(text, 'args', i)),
      env: wholeAll(entry.env, 'env'),
      ...(entry.cwd !== undefined && { cwd: entry.cwd }),
      allowPrivate: entry.allowPrivate ?? false,
    }
  }
  const before = findings.problems.length
  const text = whole(kind.url, 'url')
  const headers = wholeAll(entry.headers, 'headers')
  for (const [key, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(key))
      problem('one name is not the name of a header; names are letters, digits and dashes.', 'headers')
    else if (RESERVED.has(key.toLowerCase())) problem('is written by the gateway itself; take it out.', 'headers', key)
    else if (BAD_VALUE.test(value))
      problem('holds a character that a header cannot carry (a line break?).', 'headers', key)
  }
  if (findings.problems.length > before) return undefined
  const url = webUrl(text)
  if (typeof url === 'string') return problem(url, 'url') as undefined
  const where = hostKind(url)
  if (where === 'private' && entry.allowPrivate !== true) {
    return problem('points at a private address; if that is meant, add "allowPrivate: true".', 'url') as undefined
  }
  if (url.protocol === 'http:' && where !== 'loopback' && entry.allowPrivate !== true) {
    return problem(
      'is http:// outside this machine; write https://, or add "allowPrivate: true" for a server in your own network.',
      'url',
    ) as undefined
  }
  return {
    ...common,
    type: 'http',
    url: url.href,
    headers,
    allowPrivate: entry.allowPrivate === true || where === 'loopback',
  }
}

type Kind =
  | { readonly problem: string }
  | { readonly problem?: undefined; readonly type: 'stdio'; readonly command: string }
  | { readonly problem?: undefined; readonly type: 'http'; readonly url: string }

function kindOf({ type, command, url, httpUrl }: WrittenServer): Kind {
  if (type === 'sse') {
    return {
      problem:
        'type "sse" is the transport that streamable HTTP replaced; use the server\'s streamable HTTP address and type "http".',
    }
  }
  if (type !== undefined && type !== 'stdio' && !HTTP_TYPES.includes(type)) {
    return { problem: 'has a type this gateway does not know; write "stdio" or "http".' }
  }
  if (type === 'stdio' || (type === undefined && command !== undefined)) {
    return command === undefined
      ? { problem: 'has type "stdio" and no "command"; add the command to run.' }
      : { type: 'stdio', command }
  }
  if (url !== undefined) {
    return command !== undefined && type !== undefined
      ? { problem: 'has both "command" and "url"; keep the one that fits its type.' }
      : { type: 'http', url }
  }
  if (httpUrl !== undefined) return { problem: 'has "httpUrl"; here it is called "url".' }
  return { problem: 'says neither what to run nor where it is; add "command" (and "args"), or "url".' }
}

function brandsOf(brands: readonly string[] | '*' | undefined, ownerBrand: string): readonly string[] | '*' {
  if (brands === undefined) return [ownerBrand]
  return brands === '*' || brands.includes('*') ? '*' : brands
}

function strangerSentence(key: string): string {
  const meant = nearest(key, SERVER_FIELDS)
  return meant === undefined
    ? 'means nothing here and is ignored.'
    : `means nothing here and is ignored; did you mean "${meant}"?`
}
