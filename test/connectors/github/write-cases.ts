/**
 * What GitHub's four writes do and tell.
 * @module
 */
import type { ToolCases } from '../suite.ts'
import { BLOB, COMMIT, committing, get, HEAD, OLD_TREE, post, R, ref } from './answers.ts'
import { comment, commit, createBranch, openPull } from './calls.ts'
import { ago, cases } from './cases.ts'

const exists = (message: string, own: object = {}) => ({
  status: 422,
  json: { message, documentation_url: 'https://docs.github.example', ...own },
})

export const WRITES: Readonly<Record<string, ToolCases>> = {
  github_create_branch: cases(createBranch, {
    works: [
      {
        name: 'begins at another branch',
        args: { branch: 'fix/prices-2', from: 'fix/prices' },
        answers: { ...createBranch.answers, [`GET ${R}/git/ref/{ref}`]: ref('fix/prices') },
        sends: [
          get(''),
          get('/git/ref/heads/fix/prices'),
          post('/git/refs', { ref: 'refs/heads/fix/prices-2', sha: HEAD }),
        ],
        result: { from: 'fix/prices' },
        summary: 'Create branch fix/prices-2 in acme/shop, from fix/prices.',
      },
    ],
    fails: {
      'a branch that is there': {
        answers: { ...createBranch.answers, [`POST ${R}/git/refs`]: exists('Reference already exists') },
        code: 'invalid_arguments',
        says: /422: Reference already exists/,
      },
      'a fault after the request, of which nobody knows what came': {
        answers: { ...createBranch.answers, [`POST ${R}/git/refs`]: { status: 502, text: '' } },
        code: 'outcome_unknown',
        ran: 'maybe',
        says: /502/,
      },
    },
    bad: { 'no name': { args: {}, says: /"branch" is missing/ } },
  }),
  github_commit_files: cases(commit, {
    works: [
      {
        name: 'marks what is executable, on the card too',
        args: {
          branch: 'x',
          message: 'Add it',
          files: [{ path: 'run.sh', content: '#!/bin/sh\n', executable: true }],
        },
        answers: committing('x', 'run.sh'),
        sends: commit.sends
          .filter((_, i) => i !== 4)
          .map(({ method, path }, i) =>
            i === 4
              ? post('/git/trees', {
                  base_tree: OLD_TREE,
                  tree: [{ path: 'run.sh', mode: '100755', type: 'blob', sha: BLOB }],
                })
              : { method, path: path.replace('fix/prices', 'x') },
          ),
        result: { commit: COMMIT },
        summary: 'Commit 1 file (10 B) to branch x of acme/shop, “Add it”: run.sh (10 B, executable).',
      },
    ],
    bad: {
      'no files': { args: { branch: 'x', message: 'm', files: [] }, says: /"files"/ },
      'no words': { args: { ...commit.args, message: ' \n' }, says: /"message": some words/ },
      'what is no base64': {
        args: { ...commit.args, files: [{ path: 'a', content: 'a b', encoding: 'base64' }] },
        says: /content of a is no base64/,
      },
      'one file twice': {
        args: {
          ...commit.args,
          files: [
            { path: 'A/b', content: '' },
            { path: 'a/B', content: '' },
          ],
        },
        says: /a\/b stands there twice/,
      },
      'a file that is a folder too': {
        args: {
          ...commit.args,
          files: [
            { path: 'a', content: '' },
            { path: 'a.b', content: '' },
            { path: 'a/c', content: '' },
          ],
        },
        says: /a stands there twice, or as a file and as a folder/,
      },
      'a file that is too large': {
        args: { ...commit.args, files: [{ path: 'a', content: 'é'.repeat(600_000) }] },
        says: /a is larger than 1 MB/,
      },
      'too much in all': {
        args: {
          ...commit.args,
          files: Array.from({ length: 11 }, (_, i) => ({ path: `${i}`, content: 'x'.repeat(1_000_000) })),
        },
        says: /more than 10.5 MB together/,
      },
      'too many': {
        args: { ...commit.args, files: Array.from({ length: 101 }, (_, i) => ({ path: `${i}`, content: '' })) },
        says: /"files"/,
      },
      'a commit that is none': {
        args: { ...commit.args, expectedHeadSha: 'HEAD' },
        says: /"expectedHeadSha": a commit/,
      },
    },
    fails: {
      'a branch that moved while this went on': {
        answers: { ...commit.answers, [`PATCH ${R}/git/refs/{ref}`]: exists('Update is not a fast forward') },
        code: 'invalid_arguments',
        says: /422: Update is not a fast forward\. Somebody pushed to the branch meanwhile, and nothing was changed/,
      },
      'a branch that moved before': {
        answers: { ...commit.answers, [`GET ${R}/git/ref/{ref}`]: ref('fix/prices', COMMIT) },
        code: 'invalid_arguments',
        says: new RegExp(`fix/prices moved on: it ends in ${COMMIT} now`),
      },
      'a fault while the branch is moved, of which nobody knows what came': {
        answers: { ...commit.answers, [`PATCH ${R}/git/refs/{ref}`]: { status: 500, text: '' } },
        code: 'outcome_unknown',
        ran: 'maybe',
        says: /500/,
      },
      'a fault before, which changed nothing': {
        answers: { ...commit.answers, [`POST ${R}/git/trees`]: { status: 502, text: '' } },
        code: 'upstream_unavailable',
        says: /502/,
      },
      'a token that may not write': {
        answers: {
          ...commit.answers,
          [`POST ${R}/git/blobs`]: { status: 403, json: { message: 'Resource not accessible by integration' } },
        },
        code: 'upstream_unavailable',
        says: /403: Resource not accessible/,
      },
      'a rule of the repository': {
        answers: {
          ...commit.answers,
          [`PATCH ${R}/git/refs/{ref}`]: exists('Repository rule violations found', {
            errors: [{ code: 'custom', message: 'Changes must be signed.' }],
          }),
        },
        code: 'invalid_arguments',
        says: /422 \(custom\): Repository rule violations found: Changes must be signed\.$/,
      },
    },
  }),
  github_open_pull_request: cases(openPull, {
    works: [
      {
        name: 'opens a draft into another branch',
        args: { title: 'T', head: 'a', base: 'release/1', draft: true },
        answers: openPull.answers,
        sends: [get(''), post('/pulls', { title: 'T', head: 'a', base: 'release/1', body: '', draft: true })],
        result: { number: 9 },
        summary: 'Open a draft pull request in acme/shop, from a into release/1: “T”.',
      },
    ],
    fails: {
      'one that is there': {
        answers: {
          ...openPull.answers,
          [`POST ${R}/pulls`]: exists('Validation Failed', {
            errors: [
              {
                resource: 'PullRequest',
                code: 'custom',
                message: 'A pull request already exists for acme:fix/prices.',
              },
            ],
          }),
        },
        code: 'invalid_arguments',
        says: /Validation Failed: A pull request already exists for acme:fix\/prices\.$/,
      },
      'a field that is wrong': {
        answers: {
          ...openPull.answers,
          [`POST ${R}/pulls`]: exists('Validation Failed', {
            errors: [{ resource: 'PullRequest', field: 'base', code: 'invalid' }],
          }),
        },
        code: 'invalid_arguments',
        says: /422 \(invalid\): Validation Failed: PullRequest base invalid\.$/,
      },
      'too much content in a short time': {
        answers: {
          ...openPull.answers,
          [`POST ${R}/pulls`]: { status: 403, json: { message: 'You have exceeded a secondary rate limit' } },
        },
        code: 'rate_limited',
        says: /Wait 60 s/,
      },
      'a secondary limit that says how long': {
        answers: {
          ...openPull.answers,
          [`POST ${R}/pulls`]: {
            status: 403,
            json: { message: 'Slow down' },
            headers: { 'retry-after': '90', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': ago(3_000) },
          },
        },
        code: 'rate_limited',
        says: /Wait 90 s/,
      },
    },
    bad: {
      'one branch into itself': {
        args: { title: 'T', head: 'fix', base: 'FIX' },
        says: /"head" and "base" are the same/,
      },
      'a branch of a fork': { args: { title: 'T', head: 'stranger:fix' }, says: /"head"/ },
      'no title': { args: { head: 'fix', title: ' ' }, says: /"title": some words/ },
    },
  }),
  github_comment: cases(comment, {
    bad: {
      'nothing said': { args: { number: 7, body: ' ' }, says: /"body": some text/ },
      'too much said': { args: { number: 7, body: 'x'.repeat(65_537) }, says: /"body"/ },
    },
  }),
}
