/**
 * Talking to a running gateway over REST, with the admin key from the environment or the data folder, or an approver token.
 * The key is no option: what stands on a command line is in everybody's process list.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../version.ts'
import { CliError } from './output.ts'

export interface Rest {
  readonly url: string
  get<T>(path: string, query?: Query): Promise<T>
  /** The answer to a GET that stays open. It ends with `signal`, or when nothing came for a while. */
  open(path: string, query: Query, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>
  post<T>(path: string, body: unknown): Promise<T>
  put<T>(path: string, body: unknown): Promise<T>
  delete<T>(path: string): Promise<T>
}

/** A list stands for the parameter given several times. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>

const LIMIT_MS = 30_000
const AGENT = `tollgate-cli/${VERSION}`

/** A connection to the gateway at `url`, TOLLGATE_URL, or PORT on this machine. Throws CliError where there is no key. */
export function createRest(env: NodeJS.ProcessEnv, url: string | undefined): Rest {
  const base = baseUrl(url ?? (env.TOLLGATE_URL || `http://127.0.0.1:${env.PORT || '8787'}`))
  const key = keyOf(env)

  async function send(method: string, path: string, signal: AbortSignal, body?: unknown): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${key.value}`, 'user-agent': AGENT }
    if (body !== undefined) headers['content-type'] = 'application/json'
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    try {
      return await fetch(`${base}${path}`, { method, headers, redirect: 'error', signal, ...content })
    } catch (error) {
      throw unreachable(base, error)
    }
  }

  async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await send(method, path, AbortSignal.timeout(LIMIT_MS), body)
    const answer: unknown = await response.json().catch(() => undefined)
    if (response.ok && answer !== undefined) return answer as T
    throw refused(base, response.status, answer, key)
  }

  return {
    url: base,
    get: (path, query = {}) => ask('GET', withQuery(path, query)),
    async open(path, query, signal) {
      const response = await send('GET', withQuery(path, query), signal)
      if (response.ok && response.body !== null) return response.body
      throw refused(base, response.status, await response.json().catch(() => undefined), key)
    },
    post: (path, body) => ask('POST', path, body),
    put: (path, body) => ask('PUT', path, body),
    delete: (path) => ask('DELETE', path),
  }
}

function withQuery(path: string, query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of value === undefined ? [] : [value].flat()) search.append(name, one)
  }
  return search.size === 0 ? path : `${path}?${search}`
}

function baseUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new CliError(
      `${JSON.stringify(text)} is no address of a gateway; write it whole, as in http://127.0.0.1:8787.`,
    )
  }
  return url.href.replace(/\/+$/, '').replace(/\/mcp$/, '')
}

interface Key {
  readonly value: string
  readonly what: 'admin key' | 'approver token'
  /** Where it was found. */
  readonly from: string
}

function keyOf(env: NodeJS.ProcessEnv): Key {
  if (env.TOLLGATE_ADMIN_KEY) return { value: env.TOLLGATE_ADMIN_KEY, what: 'admin key', from: 'TOLLGATE_ADMIN_KEY' }
  if (env.TOLLGATE_APPROVER_TOKEN) {
    return { value: env.TOLLGATE_APPROVER_TOKEN, what: 'approver token', from: 'TOLLGATE_APPROVER_TOKEN' }
  }
  const path = join(env.TOLLGATE_DATA || '.tollgate', 'admin-key')
  try {
    return { value: readFileSync(path, 'utf8').trim(), what: 'admin key', from: path }
  } catch {
    throw new CliError(
      `There is no admin key: set TOLLGATE_ADMIN_KEY, or run this where ${path} is (TOLLGATE_DATA names the data folder). For cards, TOLLGATE_APPROVER_TOKEN does as well.`,
    )
  }
}

function unreachable(base: string, error: unknown): CliError {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new CliError(`The gateway at ${base} did not answer within ${LIMIT_MS / 1000} s; look at its log.`)
  }
  return new CliError(
    `No gateway answers at ${base}; start it with "tollgate serve", or say where it is with --url or TOLLGATE_URL.`,
  )
}

/** The gateway's own sentence where it said one. */
function refused(base: string, status: number, answer: unknown, key: Key): CliError {
  const { detail, code, errors, ...more } = (answer ?? {}) as Record<string, unknown>
  if (status === 401) {
    const mend =
      key.what === 'admin key'
        ? 'use the key it was started with'
        : 'it opens the cards of one brand only, until it expires or is revoked; ask the operator for a new one, or set TOLLGATE_ADMIN_KEY'
    return new CliError(`The gateway at ${base} does not take the ${key.what} from ${key.from} for this; ${mend}.`, {
      status,
      code,
    })
  }
  if (typeof detail !== 'string') {
    return new CliError(`${base} answered ${status}, and not as a gateway does; check --url or TOLLGATE_URL.`, {
      status,
    })
  }
  return new CliError(detail, { ...more, status, code, ...(errors === undefined ? {} : { errors }) })
}
