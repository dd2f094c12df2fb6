/**
 * One whole call of each of GitHub's tools: arguments, what GitHub answers, what must have been sent, and the result.
 * @module
 */
import { expect } from 'vitest'
import { like } from '../contracts/github.ts'
import type { Works } from '../suite.ts'
import { AT, BLOB, COMMIT, committing, entry, get, HEAD, OLD_TREE, post, R, ref, repo, TREE } from './answers.ts'

const NEXT = {
  link: '<https://elsewhere.example/x?page=2>; rel="next", <https://elsewhere.example/x?page=9>; rel="last"',
}
export const b64 = (text: string | Buffer) => Buffer.from(text).toString('base64')
export const content = (own: object) => like('content-file', { type: 'file', encoding: 'base64', ...own })
export const inFolder = (name: string) => ({
  ...{ type: 'file', size: 3, name, path: `docs/${name}`, sha: BLOB, url: 'https://github.example/u' },
  ...{
    git_url: null,
    html_url: null,
    download_url: null,
    _links: { git: null, html: null, self: 'https://github.example/u' },
  },
})
const person = (login: string) => like('simple-user', { login })

export const readFile: Works = {
  args: { path: 'docs/über uns.md', ref: 'fix/prices' },
  answers: {
    [`GET ${R}/contents/{path}`]: { json: content({ path: 'docs/über uns.md', size: 6, content: b64('Grüße\n') }) },
  },
  sends: [get('/contents/docs/über uns.md', { ref: 'fix/prices' })],
  result: { repository: 'acme/shop', path: 'docs/über uns.md', text: 'Grüße\n', characters: 6 },
}
export const listPath: Works = {
  args: { path: 'docs', repository: 'ACME/Shop' },
  answers: { [`GET ${R}/contents/{path}`]: { json: [inFolder('a.md'), inFolder('b.md')] } },
  sends: [get('/contents/docs', {})],
  result: {
    repository: 'acme/shop',
    entries: [{ name: 'a.md', path: 'docs/a.md', type: 'file', size: 3, sha: BLOB }, { name: 'b.md' }],
  },
}
export const listBranches: Works = {
  args: { protected: false },
  answers: {
    [`GET ${R}`]: repo(),
    [`GET ${R}/branches`]: { json: [like('short-branch', { name: 'main', commit: { sha: HEAD } })], headers: NEXT },
  },
  sends: [get(''), get('/branches', { protected: 'false', per_page: '30', page: '1' })],
  result: { defaultBranch: 'main', branches: [{ name: 'main', sha: HEAD, protected: false }], nextPage: 2 },
}
const issue = (own: object) =>
  like('issue', { number: 7, title: 'Prices', state: 'open', user: person('mona'), ...own })
export const listIssues: Works = {
  args: { labels: ['bug', 'help wanted'], assignee: 'none', since: '2026-01-01T00:00:00Z', perPage: 2, page: 3 },
  answers: {
    [`GET ${R}/issues`]: {
      json: [
        issue({ labels: ['bug'] }),
        issue({ number: 8, pull_request: { url: null, html_url: null, diff_url: null, patch_url: null } }),
      ],
      headers: NEXT,
    },
  },
  sends: [
    get('/issues', {
      ...{ state: 'open', labels: 'bug,help wanted', assignee: 'none', since: '2026-01-01T00:00:00Z' },
      ...{ sort: 'created', direction: 'desc', per_page: '2', page: '3' },
    }),
  ],
  result: { issues: [{ number: 7, labels: ['bug'], author: 'mona' }], pullRequestsLeftOut: 1, nextPage: 4 },
}
export const readIssue: Works = {
  args: { number: 7 },
  answers: {
    [`GET ${R}/issues/{issue_number}`]: { json: issue({ body: 'Too high.' }) },
    [`GET ${R}/issues/{issue_number}/comments`]: {
      json: [like('issue-comment', { id: 5, body: 'x'.repeat(6_000), user: person('hubot') })],
      headers: NEXT,
    },
  },
  sends: [get('/issues/7'), get('/issues/7/comments', { per_page: '30', page: '1' })],
  result: {
    number: 7,
    body: 'Too high.',
    isPullRequest: false,
    said: [{ id: 5, author: 'hubot', body: expect.stringMatching(/x\n\[cut: 6000 characters in all\]$/) }],
    nextPage: 2,
  },
}
const pull = {
  number: 9,
  title: 'Lower prices',
  state: 'open',
  user: person('mona'),
  head: { ref: 'fix/prices', sha: HEAD },
  base: { ref: 'main' },
}
export const listPulls: Works = {
  args: { head: 'acme:fix/prices', base: 'main', sort: 'updated' },
  answers: { [`GET ${R}/pulls`]: { json: [like('pull-request-simple', pull)], headers: NEXT } },
  sends: [
    get('/pulls', {
      state: 'open',
      head: 'acme:fix/prices',
      base: 'main',
      sort: 'updated',
      direction: 'desc',
      per_page: '30',
      page: '1',
    }),
  ],
  result: { pullRequests: [{ number: 9, head: 'fix/prices', base: 'main', author: 'mona' }], nextPage: 2 },
}
export const readPull: Works = {
  args: { number: 9 },
  answers: {
    [`GET ${R}/pulls/{pull_number}`]: {
      json: like('pull-request', { ...pull, body: null, mergeable_state: 'clean', changed_files: 1 }),
    },
    [`GET ${R}/pulls/{pull_number}/files`]: {
      json: [{ ...entry('a.ts', 'renamed'), previous_filename: 'b.ts', patch: '@@ -1 +1 @@' }],
      headers: NEXT,
    },
    [`GET ${R}/pulls/{pull_number}/reviews`]: {
      json: [like('pull-request-review', { user: person('hubot'), state: 'APPROVED', body: 'Good.' })],
    },
  },
  sends: [
    get('/pulls/9'),
    get('/pulls/9/files', { per_page: '30', page: '1' }),
    get('/pulls/9/reviews', { per_page: '30', page: '1' }),
  ],
  result: {
    ...{ number: 9, body: '', mergeableState: 'clean', changedFiles: 1, headSha: HEAD, nextPage: 2 },
    files: [{ path: 'a.ts', was: 'b.ts', status: 'renamed', patch: '@@ -1 +1 @@' }],
    reviews: [{ author: 'hubot', state: 'APPROVED', body: 'Good.' }],
  },
}
export const createBranch: Works = {
  args: { branch: 'fix/prices' },
  answers: {
    [`GET ${R}`]: repo(),
    [`GET ${R}/git/ref/{ref}`]: ref('main'),
    [`POST ${R}/git/refs`]: { ...ref('fix/prices'), status: 201 },
  },
  sends: [get(''), get('/git/ref/heads/main'), post('/git/refs', { ref: 'refs/heads/fix/prices', sha: HEAD })],
  result: { branch: 'fix/prices', from: 'main', sha: HEAD, ref: 'refs/heads/fix/prices' },
  summary: 'Create branch fix/prices in acme/shop, from the default branch.',
}
const files = [
  { path: 'src/prices.ts', content: 'export const price = 1\n' },
  { path: 'img/logo.png', content: b64(Buffer.alloc(1_234, 7)), encoding: 'base64' },
]
export const commit: Works = {
  args: { branch: 'fix/prices', message: 'Lower the prices\n\nAll of them.', files, expectedHeadSha: HEAD },
  answers: committing('fix/prices', 'src/prices.ts', 'img/logo.png'),
  sends: [
    get(''),
    get('/git/ref/heads/fix/prices'),
    get(`/git/commits/${HEAD}`),
    post('/git/blobs', { content: 'export const price = 1\n', encoding: 'utf-8' }),
    post('/git/blobs', { content: files[1]?.content, encoding: 'base64' }),
    post('/git/trees', {
      base_tree: OLD_TREE,
      tree: ['src/prices.ts', 'img/logo.png'].map((path) => ({ path, mode: '100644', type: 'blob', sha: BLOB })),
    }),
    post('/git/commits', { message: 'Lower the prices\n\nAll of them.', tree: TREE, parents: [HEAD] }),
    get(`/commits/${COMMIT}`),
    get(''),
    { method: 'PATCH', path: `${AT}/git/refs/heads/fix/prices`, body: { sha: COMMIT, force: false } },
  ],
  result: {
    branch: 'fix/prices',
    commit: COMMIT,
    parent: HEAD,
    url: 'https://github.example/acme/shop/commit/e',
    files: [{ path: 'src/prices.ts', bytes: 23 }, { bytes: 1_234 }],
  },
  summary:
    'Commit 2 files (1.3 kB) to branch fix/prices of acme/shop, “Lower the prices”: src/prices.ts (23 B), img/logo.png (1.2 kB).',
}
export const openPull: Works = {
  args: { title: 'Lower prices', head: 'fix/prices', body: 'Closes #7.' },
  answers: {
    [`GET ${R}`]: repo(),
    [`POST ${R}/pulls`]: { status: 201, json: like('pull-request', { ...pull, html_url: 'https://github.example/9' }) },
  },
  sends: [
    get(''),
    post('/pulls', { title: 'Lower prices', head: 'fix/prices', base: 'main', body: 'Closes #7.', draft: false }),
  ],
  result: { number: 9, url: 'https://github.example/9', base: 'main' },
  summary: 'Open a pull request in acme/shop, from fix/prices into the default branch: “Lower prices”.',
}
export const comment: Works = {
  args: { number: 7, body: 'Done.\n\nSee #9.' },
  answers: {
    [`POST ${R}/issues/{issue_number}/comments`]: {
      status: 201,
      json: like('issue-comment', { id: 5, html_url: 'https://github.example/c5' }),
    },
  },
  sends: [post('/issues/7/comments', { body: 'Done.\n\nSee #9.' })],
  result: { number: 7, id: 5, url: 'https://github.example/c5' },
  summary: 'Comment on #7 of acme/shop: “Done.” (14 characters).',
}
