/**
 * The vendor's own client as an oracle: for the same intent it sends the same requests.
 */
import { Octokit } from '@octokit/core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { github } from '../../../connectors/github.ts'
import { githubContract } from '../contracts/github.ts'
import { type Standin, startStandin } from '../standin.ts'
import type { Works } from '../suite.ts'
import { bench } from '../world.ts'
import { BLOB, COMMIT, FIELDS, HEAD, OLD_TREE, TOKEN, TREE } from './answers.ts'
import * as calls from './calls.ts'

let standin: Standin
beforeAll(async () => {
  standin = await startStandin(githubContract, { auth: () => undefined })
})
afterAll(() => standin.close())

const shop = { owner: 'acme', repo: 'shop' }
const R = '/repos/{owner}/{repo}'
const first = { per_page: 30, page: 1 }
const commitArgs = calls.commit.args as { message: string; files: { content: string }[] }
const blobs = commitArgs.files.map((one, i) => ({ content: one.content, encoding: i === 0 ? 'utf-8' : 'base64' }))
const entry = { mode: '100644', type: 'blob', sha: BLOB }

/** Each tool, and what somebody with Octokit would write. */
const INTENTS: readonly [tool: string, call: Works, octokit: readonly [route: string, parameters: object][]][] = [
  ['github_read_file', calls.readFile, [[`GET ${R}/contents/{path}`, { path: 'docs/über uns.md', ref: 'fix/prices' }]]],
  ['github_list_path', calls.listPath, [[`GET ${R}/contents/{path}`, { path: 'docs' }]]],
  [
    'github_list_branches',
    calls.listBranches,
    [
      [`GET ${R}`, {}],
      [`GET ${R}/branches`, { protected: false, ...first }],
    ],
  ],
  [
    'github_list_issues',
    calls.listIssues,
    [
      [
        `GET ${R}/issues`,
        {
          ...{ state: 'open', labels: 'bug,help wanted', assignee: 'none', since: '2026-01-01T00:00:00Z' },
          ...{ sort: 'created', direction: 'desc', per_page: 2, page: 3 },
        },
      ],
    ],
  ],
  [
    'github_read_issue',
    calls.readIssue,
    [
      [`GET ${R}/issues/{issue_number}`, { issue_number: 7 }],
      [`GET ${R}/issues/{issue_number}/comments`, { issue_number: 7, ...first }],
    ],
  ],
  [
    'github_list_pull_requests',
    calls.listPulls,
    [
      [
        `GET ${R}/pulls`,
        { state: 'open', head: 'acme:fix/prices', base: 'main', sort: 'updated', direction: 'desc', ...first },
      ],
    ],
  ],
  [
    'github_read_pull_request',
    calls.readPull,
    [
      [`GET ${R}/pulls/{pull_number}`, { pull_number: 9 }],
      [`GET ${R}/pulls/{pull_number}/files`, { pull_number: 9, ...first }],
      [`GET ${R}/pulls/{pull_number}/reviews`, { pull_number: 9, ...first }],
    ],
  ],
  [
    'github_create_branch',
    calls.createBranch,
    [
      [`GET ${R}`, {}],
      [`GET ${R}/git/ref/{ref}`, { ref: 'heads/main' }],
      [`POST ${R}/git/refs`, { ref: 'refs/heads/fix/prices', sha: HEAD }],
    ],
  ],
  [
    'github_commit_files',
    calls.commit,
    [
      [`GET ${R}`, {}],
      [`GET ${R}/git/ref/{ref}`, { ref: 'heads/fix/prices' }],
      [`GET ${R}/git/commits/{commit_sha}`, { commit_sha: HEAD }],
      ...blobs.map((one): [string, object] => [`POST ${R}/git/blobs`, one]),
      [
        `POST ${R}/git/trees`,
        {
          base_tree: OLD_TREE,
          tree: [
            { path: 'src/prices.ts', ...entry },
            { path: 'img/logo.png', ...entry },
          ],
        },
      ],
      [`POST ${R}/git/commits`, { message: commitArgs.message, tree: TREE, parents: [HEAD] }],
      [`GET ${R}/commits/{ref}`, { ref: COMMIT }],
      [`GET ${R}`, {}],
      [`PATCH ${R}/git/refs/{ref}`, { ref: 'heads/fix/prices', sha: COMMIT, force: false }],
    ],
  ],
  [
    'github_open_pull_request',
    calls.openPull,
    [
      [`GET ${R}`, {}],
      [
        `POST ${R}/pulls`,
        { title: 'Lower prices', head: 'fix/prices', base: 'main', body: 'Closes #7.', draft: false },
      ],
    ],
  ],
  [
    'github_comment',
    calls.comment,
    [[`POST ${R}/issues/{issue_number}/comments`, { issue_number: 7, body: 'Done.\n\nSee #9.' }]],
  ],
]

it('has an intent for every tool', () => {
  expect(INTENTS.map(([tool]) => tool).sort()).toEqual(github.tools.map(({ ownName }) => ownName).sort())
})

it.each(INTENTS)('%s sends what Octokit sends', async (tool, { args, answers }, intents) => {
  const sent = async (act: () => Promise<unknown>) => {
    standin.reset()
    for (const [operation, one] of Object.entries(answers)) standin.on(operation, ...([one].flat() as any[]))
    await act()
    expect(standin.violations).toEqual([])
    return standin.seen.map(({ method, path, query, body }) => ({ method, path, query, body }))
  }
  const made = bench(github, standin.url, FIELDS)
  const ours = await sent(() => made.call(tool, args))
  await made.close()
  const octokit = new Octokit({ auth: TOKEN, baseUrl: standin.url })
  const theirs = await sent(async () => {
    for (const [route, parameters] of intents) await octokit.request(route, { ...shop, ...parameters })
  })
  expect(ours).toEqual(theirs)
})
