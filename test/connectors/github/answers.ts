/**
 * What GitHub answers in these tests: whole calls that work, and every error its contract documents for them.
 * @module
 */
import { githubContract, like } from '../contracts/github.ts'
import type { Answer } from '../standin.ts'
import type { Fails, Script, Sent, Works } from '../suite.ts'

export const TOKEN = 'github_pat_canary7e0bb2c94f'
export const FIELDS = { token: TOKEN, repositories: 'acme/shop' }
export const R = '/repos/{owner}/{repo}'
export const AT = '/repos/acme/shop'

export const sha = (digit: string): string => digit.repeat(40)
export const HEAD = sha('a')
export const OLD_TREE = sha('b')
export const BLOB = sha('c')
export const TREE = sha('d')
export const COMMIT = sha('e')

export const repo = (own: object = {}) => ({ json: like('full-repository', { default_branch: 'main', ...own }) })
export const ref = (branch: string, at = HEAD) => ({
  json: like('git-ref', { ref: `refs/heads/${branch}`, object: { type: 'commit', sha: at } }),
})
export const entry = (filename: string, status = 'added') =>
  like('diff-entry', { filename, status, additions: 1, deletions: 0 })

/** Answers to a commit to `branch` that writes `files`. */
export const committing = (branch: string, ...files: string[]): Script => ({
  [`GET ${R}`]: repo(),
  [`GET ${R}/git/ref/{ref}`]: ref(branch),
  [`GET ${R}/git/commits/{commit_sha}`]: { json: like('git-commit', { sha: HEAD, tree: { sha: OLD_TREE } }) },
  [`POST ${R}/git/blobs`]: { status: 201, json: { url: 'https://github.example/blob', sha: BLOB } },
  [`POST ${R}/git/trees`]: { status: 201, json: like('git-tree', { sha: TREE }) },
  [`POST ${R}/git/commits`]: {
    status: 201,
    json: like('git-commit', { sha: COMMIT, html_url: 'https://github.example/acme/shop/commit/e' }),
  },
  [`GET ${R}/commits/{ref}`]: {
    json: like('commit', {
      sha: COMMIT,
      parents: [{ sha: HEAD, url: 'https://github.example/parent' }],
      files: files.map((name) => entry(name)),
    }),
  },
  [`PATCH ${R}/git/refs/{ref}`]: ref(branch, COMMIT),
})

export const get = (path: string, query?: object): Sent => ({ method: 'GET', path: AT + path, ...(query && { query }) })
export const post = (path: string, body: object): Sent => ({ method: 'POST', path: AT + path, body })

const CODES: Readonly<Record<string, Fails['code']>> = {
  301: 'upstream_unavailable',
  403: 'upstream_unavailable',
  500: 'upstream_unavailable',
  503: 'upstream_unavailable',
}

/** One case for each error that the contract documents for a request of this call. */
export function documented({ answers }: Works): Record<string, Fails> {
  const cases = Object.keys(answers).flatMap((name) => {
    const operation = githubContract.find(({ method, path }) => `${method} ${path}` === name)
    const statuses = Object.keys(operation?.answers ?? {}).filter((status) => status === '301' || Number(status) >= 400)
    return statuses.map((status): [string, Fails] => [
      `${status} to ${name}`,
      {
        answers: { ...answers, [name]: error(Number(status), name) },
        code: CODES[status] ?? 'invalid_arguments',
        says: status === '301' ? /sent the request elsewhere/ : new RegExp(`GitHub answered ${status}: It says no`),
        facts: { vendor: 'GitHub', http_status: Number(status) },
      },
    ])
  })
  return Object.fromEntries(cases)
}

function error(status: number, name: string): Answer {
  const body = { message: 'It says no', documentation_url: 'https://docs.github.example' }
  // The contract's two forms of this one do not exclude each other, and it says that they do.
  return status === 422 && name.endsWith('/git/blobs') ? { status, text: JSON.stringify(body) } : { status, json: body }
}
