/**
 * How GitHub is reached: one token, the repositories it is for, and what GitHub's refusals mean.
 * @module
 */
import { z } from 'zod'
import {
  type ConnectionKind,
  path,
  type Problem,
  Refusal,
  type Reply,
  type Values,
} from '../../src/connector/native/kit.ts'

const NAME = '[A-Za-z0-9-]{1,39}/(?!\\.{1,2}(?:[\\s,]|$))[A-Za-z0-9._-]{1,100}'
const LIST = new RegExp(`^${NAME}(?:[\\s,]+${NAME}){0,19}$`)

/** One repository that the connection names. */
export interface Repository {
  readonly owner: string
  readonly repo: string
  /** `owner/repo`, as the connection spells it. */
  readonly name: string
}

/** What every tool takes: which of the connection's repositories. */
export const repository = z
  .string()
  .regex(new RegExp(`^${NAME}$`), 'owner/name, as in acme/shop')
  .optional()
  .describe('owner/name. Can be left out where the connection is for one repository.')

function repositories({ repositories: list = '' }: Values): Repository[] {
  return list.split(/[\s,]+/).map((name) => {
    const [owner = '', repo = ''] = name.split('/')
    return { owner, repo, name }
  })
}

/** The repository a call is for. Throws Refusal for one that the connection does not name: nothing reaches beyond them. */
export function chosen({ repository: asked }: { repository?: string | undefined }, settings: Values): Repository {
  const known = repositories(settings)
  const names = known.map(({ name }) => name).join(', ')
  const [first] = known
  if (asked === undefined && first !== undefined && known.length === 1) return first
  if (asked === undefined) throw new Refusal('invalid_arguments', `Say which "repository": ${names}.`)
  const found = known.find(({ name }) => name.toLowerCase() === asked.toLowerCase())
  if (found === undefined)
    throw new Refusal('forbidden_arguments', `${asked} is not a repository of this connection, which is for ${names}.`)
  return found
}

/** For `refuse`: the repository must be one of the connection's. */
export function inScope(args: { repository?: string | undefined }, settings: Values): undefined {
  chosen(args, settings)
}

/** The seconds to wait where GitHub says "not so fast": by the hour (`x-ratelimit-*`), or for a while (`retry-after`). */
function waitIn(status: number, message: string, headers: Reply<unknown>['headers']): number | undefined | 'as told' {
  if (status !== 403 && status !== 429) return undefined
  if (headers['retry-after'] !== undefined) return 'as told'
  const left = Number(headers['x-ratelimit-reset']) - Date.now() / 1000
  if (headers['x-ratelimit-remaining'] === '0') return left > 0 ? Math.ceil(left) : 1
  return /secondary rate limit|abuse detection/i.test(message) ? 60 : undefined
}

interface Body {
  readonly message?: unknown
  readonly errors?: unknown
}

/** GitHub's `{message, errors: [{resource, field, code, message}]}` as one sentence (docs: Troubleshooting the REST API). */
function problem(status: number, body: unknown, headers: Reply<unknown>['headers']): Problem {
  const { message, errors } = (body ?? {}) as Body
  const said = typeof message === 'string' ? message : ''
  const wait = waitIn(status, said, headers)
  const list = (Array.isArray(errors) ? errors : []).map(
    (one: unknown) => one as Record<string, unknown> | string | null,
  )
  const details = list.map((one) => (typeof one === 'string' ? one : (one?.message ?? fieldText(one))))
  const codes = list.flatMap((one) => (typeof one === 'object' && typeof one?.code === 'string' ? [one.code] : []))
  const whole = [said, ...details.filter((one) => typeof one === 'string' && one !== '')].join(': ')
  return {
    ...(wait !== undefined && { code: 'rate_limited' }),
    retryAfterS: typeof wait === 'number' ? wait : undefined,
    vendorCode: codes[0],
    message: whole === '' ? undefined : `${whole.replace(/[.]$/, '')}${adviceFor(status, said)}`,
  }
}

const fieldText = (one: Record<string, unknown> | null): string =>
  [one?.resource, one?.field, one?.code].filter((part) => typeof part === 'string').join(' ')

function adviceFor(status: number, said: string): string {
  if (/not a fast.?forward/i.test(said))
    return '. Somebody pushed to the branch meanwhile, and nothing was changed; look at the branch again, then commit again'
  if (status === 404) return '. It is not there, or the token may not see it'
  return ''
}

interface About {
  readonly full_name?: string
  readonly default_branch?: string
}

export const connection: ConnectionKind = {
  fields: {
    token: {
      title:
        'a fine-grained personal access token for just these repositories (GitHub, Settings, Developer settings, Personal access tokens)',
      schema: z.string().regex(/^[A-Za-z0-9_.-]{20,1000}$/, 'It is one long word, as in "github_pat_…".'),
      env: 'GITHUB_TOKEN',
    },
    repositories: {
      title: 'the repositories agents may reach, as in "acme/shop acme/docs" (20 at most)',
      schema: z.string().regex(LIST, 'Write owner/name, and a blank or a comma between two.'),
      env: 'GITHUB_REPOSITORIES',
      secret: false,
    },
  },
  baseUrl: 'https://api.github.com',
  // Current until at least March 2028; what newer versions change is read nowhere.
  headers: { 'x-github-api-version': '2022-11-28' },
  authorize: ({ token }) => ({ authorization: `Bearer ${token}` }),
  problem,
  async check(http, settings) {
    const read: string[] = []
    let scopes = ''
    for (const { owner, repo, name } of repositories(settings)) {
      const { json, headers } = await http.get<About>(path`/repos/${owner}/${repo}`)
      read.push(`${json.full_name ?? name} (default branch ${json.default_branch ?? 'unknown'})`)
      scopes = headers['x-oauth-scopes'] ?? ''
    }
    const tooWide = /\bworkflow\b/.test(scopes)
      ? ' It may change workflows too, which no tool here does: a token without that is safer.'
      : ''
    return `The token reads ${read.join(', ')}.${tooWide}`
  },
}
