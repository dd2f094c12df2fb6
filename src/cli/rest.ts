/**
 * Talking to a running gateway over REST, with the admin key from the environment or the data folder.
 * The key is no option: what stands on a command line is in everybody's process list.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError } from './output.ts'

export interface Rest {
  readonly url: string
  get<T>(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<T>
  post<T>(path: string, body: unknown): Promise<T>
  delete<T>(path: string): Promise<T>
}

const LIMIT_MS = 30_000

/** A connection to the gateway at `url`, TOLLGATE_URL, or PORT on this machine. Throws CliError where there is no key. */
export function createRest(env: NodeJS.ProcessEnv, url: string | undefined): Rest {
  const base = baseUrl(url ?? (env.TOLLGATE_URL || `http://127.0.0.1:${env.PORT || '8787'}`))
  const key = adminKey(env)

  async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = { authorization: `Bearer ${key.value}`, accept: 'application/json' }
    if (body !== undefined) headers['content-type'] = 'application/json'
    let response: Response
    try {
      response = await fetch(`${base}${path}`, {
        method,
        headers,
        redirect: 'error',
        signal: AbortSignal.timeout(LIMIT_MS),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    } catch (error) {
      throw unreachable(base, error)
    }
    const answer: unknown = await response.json().catch(() => undefined)
    if (response.ok && answer !== undefined) return answer as T
    throw refused(base, response.status, answer, key.from)
  }

  return {
    url: base,
    get(path, query = {}) {
      const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
      const search = new URLSearchParams(given).toString()
      return ask('GET', search === '' ? path : `${path}?${search}`)
    },
    post: (path, body) => ask('POST', path, body),
    delete: (path) => ask('DELETE', path),
  }
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

function adminKey(env: NodeJS.ProcessEnv): { readonly value: string; readonly from: string } {
  if (env.TOLLGATE_ADMIN_KEY) return { value: env.TOLLGATE_ADMIN_KEY, from: 'TOLLGATE_ADMIN_KEY' }
  const path = join(env.TOLLGATE_DATA || '.tollgate', 'admin-key')
  try {
    return { value: readFileSync(path, 'utf8').trim(), from: path }
  } catch {
    throw new CliError(
      `There is no admin key: set TOLLGATE_ADMIN_KEY, or run this where ${path} is (TOLLGATE_DATA names the data folder).`,
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
function refused(base: string, status: number, answer: unknown, from: string): CliError {
  const { detail, code, errors, ...more } = (answer ?? {}) as Record<string, unknown>
  if (status === 401) {
    return new CliError(
      `The gateway at ${base} does not take the admin key from ${from}; use the key it was started with.`,
      {
        status,
        code,
      },
    )
  }
  if (typeof detail !== 'string') {
    return new CliError(`${base} answered ${status}, and not as a gateway does; check --url or TOLLGATE_URL.`, {
      status,
    })
  }
  return new CliError(detail, { ...more, status, code, ...(errors === undefined ? {} : { errors }) })
}
