/**
 * A stand-in for a vendor: a local server that takes only what the vendor's contract allows and answers only what it
 * allows. Whatever a connector sends besides is a violation, which fails the test.
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Contract, Operation } from './contract.ts'

/** One request as it came. */
export interface Seen {
  readonly method: string
  /** Decoded, without the base path and the query. */
  readonly path: string
  /** As sent, with the query. */
  readonly target: string
  readonly query: Readonly<Record<string, string | string[]>>
  readonly headers: IncomingMessage['headers']
  /** Parsed where it is JSON or a form. */
  readonly body: unknown
  readonly operation: Operation | undefined
}

/** What is answered. `json` must be what the contract says of the status. */
export interface Answer {
  readonly status?: number
  readonly json?: unknown
  /** Instead of `json`: no contract is asked. */
  readonly text?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
  /** Misbehaviour instead: `hang` never answers, `reset` cuts the line, `drip` begins and never ends, `huge` never stops. */
  readonly fault?: 'hang' | 'reset' | 'drip' | 'huge'
}

export interface Standin {
  /** What the connector is given as base URL. */
  readonly url: string
  readonly seen: Seen[]
  /** What was sent and is not in the contract; a test ends with none. */
  readonly violations: string[]
  /** Answers this operation (`POST /scrape`) so from now on; several answers come one after another, the last for good. */
  on(operation: string, ...answers: (Answer | ((seen: Seen) => Answer))[]): void
  /** Forgets answers, requests and violations. */
  reset(): void
  close(): Promise<void>
}

export interface StandinOptions {
  /** Where the vendor's paths begin: '/v2'. */
  readonly base?: string
  /** What is wrong with a request's credentials; undefined: nothing. */
  readonly auth: (headers: IncomingMessage['headers'], path: string) => string | undefined
  /** Headers that every request must have, by name. */
  readonly headers?: Readonly<Record<string, RegExp>>
}

/** Starts one on a port of its own. */
export async function startStandin(contract: Contract, options: StandinOptions): Promise<Standin> {
  const { base = '' } = options
  const seen: Seen[] = []
  const violations: string[] = []
  const script = new Map<string, (Answer | ((seen: Seen) => Answer))[]>()
  const routes = contract
    .map((operation) => ({ operation, match: matcher(base + operation.path) }))
    .sort((a, b) => variables(a.operation.path) - variables(b.operation.path))

  function judge(request: Omit<Seen, 'operation'>, rawPath: string): Operation | undefined {
    const found = routes.find(({ operation, match }) => operation.method === request.method && match.test(rawPath))
    const say = (problem: string) => violations.push(`${request.method} ${rawPath}: ${problem}`)
    for (const [name, form] of Object.entries(options.headers ?? {})) {
      if (!form.test(String(request.headers[name] ?? ''))) say(`the header ${name} is not as the contract says.`)
    }
    if (found === undefined) {
      say('the contract has no such operation.')
      return undefined
    }
    const { operation, match } = found
    const groups = Object.fromEntries(
      Object.entries(match.exec(rawPath)?.groups ?? {}).map(([name, text]) => [
        names(operation.path)[Number(name.slice(1))],
        decodeURIComponent(text),
      ]),
    )
    for (const problem of operation.pathParameters?.(groups) ?? []) say(`path: ${problem}`)
    for (const problem of operation.query?.({ ...request.query }) ?? []) say(`query: ${problem}`)
    if (operation.body === undefined && request.body !== undefined) say('it has a body, and the contract names none.')
    for (const problem of operation.body?.(request.body) ?? []) say(`body: ${problem}`)
    return operation
  }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://stand-in')
    const text = await textOf(req)
    const request = {
      method: req.method ?? '',
      path: decodeURIComponent(url.pathname.slice(base.length)),
      target: req.url ?? '',
      query: queryOf(url.searchParams),
      headers: req.headers,
      body: bodyOf(text, String(req.headers['content-type'] ?? '')),
    }
    const operation = judge(request, url.pathname)
    const one: Seen = { ...request, operation }
    seen.push(one)
    const refused = options.auth(req.headers, request.path)
    if (refused !== undefined) violations.push(`${request.method} ${request.path}: ${refused}`)
    if (operation === undefined) return send(res, { status: 500, json: {} })
    const list = script.get(`${operation.method} ${operation.path}`) ?? []
    const next = list.length > 1 ? list.shift() : list[0]
    if (next === undefined) {
      violations.push(`${operation.method} ${operation.path}: the test says no answer to it.`)
      return send(res, { status: 500, json: {} })
    }
    const answer = typeof next === 'function' ? next(one) : next
    for (const problem of answerProblems(operation, answer)) violations.push(`the test's own answer: ${problem}`)
    send(res, answer)
  }

  const server = createServer((req, res) => void serve(req, res).catch((error) => res.destroy(error)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`,
    seen,
    violations,
    on(name, ...answers) {
      const operation = contract.find((known) => `${known.method} ${known.path}` === name)
      if (operation === undefined) throw new Error(`The contract has no ${name}.`)
      for (const answer of answers) {
        const problems = typeof answer === 'function' ? [] : answerProblems(operation, answer)
        if (problems.length > 0) throw new Error(`${name} cannot be answered so: ${problems.join('; ')}`)
      }
      script.set(name, [...answers])
    },
    reset() {
      seen.length = 0
      violations.length = 0
      script.clear()
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** A 2xx that the contract does not name is no answer of this vendor; other statuses may come from in between. */
function answerProblems(operation: Operation, { status = 200, json, text, fault }: Answer): string[] {
  if (fault !== undefined || text !== undefined) return []
  const judge =
    operation.answers[status] ?? operation.answers[`${Math.floor(status / 100)}XX`] ?? operation.answers.default
  if (judge === undefined) return status < 300 ? [`the contract has no status ${status}`] : []
  return judge(json).map((problem) => `status ${status}: ${problem}`)
}

function send(res: ServerResponse, { status = 200, json, text, headers = {}, fault }: Answer): void {
  if (fault === 'hang') return
  if (fault === 'reset') return void res.destroy()
  if (fault === 'drip' || fault === 'huge') {
    res.writeHead(200, { 'content-type': 'application/json' })
    res.write('{"data":"')
    const pour = (): boolean => res.write('x'.repeat(65_536))
    if (fault === 'drip') return
    const more = (): void => {
      while (!res.destroyed && pour());
    }
    res.on('drain', more)
    return more()
  }
  const empty = json === undefined && text === undefined
  res.writeHead(status, { ...(empty ? {} : { 'content-type': 'application/json' }), ...headers })
  res.end(text ?? (empty ? undefined : JSON.stringify(json)))
}

const names = (path: string): string[] => [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '')
const variables = (path: string): number => names(path).length

/** `{name}` is one segment; `{path}` at the very end may be several, as in GitHub's contents. */
function matcher(path: string): RegExp {
  let at = 0
  const source = path
    .replace(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replace(/\{[^}]+\}/g, (name, offset: number, all: string) => {
      const last = name === '{path}' && offset + name.length === all.length
      return `(?<_${at++}>${last ? '.*' : '[^/]+'})`
    })
  return new RegExp(`^${source}$`)
}

async function textOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function bodyOf(text: string, type: string): unknown {
  if (text === '') return undefined
  if (type.startsWith('application/json')) return JSON.parse(text)
  return type.startsWith('application/x-www-form-urlencoded') ? queryOf(new URLSearchParams(text)) : text
}

function queryOf(search: URLSearchParams): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {}
  for (const name of new Set(search.keys())) {
    const all = search.getAll(name)
    query[name] = all.length === 1 ? (all[0] as string) : all
  }
  return query
}
