/**
 * What GitHub's seven reads do and tell.
 * @module
 */
import { expect } from 'vitest'
import { like } from '../contracts/github.ts'
import type { ToolCases } from '../suite.ts'
import { BLOB, get, R } from './answers.ts'
import {
  b64,
  content,
  inFolder,
  listBranches,
  listIssues,
  listPath,
  listPulls,
  readFile,
  readIssue,
  readPull,
} from './calls.ts'
import { ago, cases } from './cases.ts'

const wrongPage = { args: { page: 0 }, says: /"page"/ }
const no = { message: 'API rate limit exceeded', documentation_url: 'https://docs.github.example' }

export const READS: Readonly<Record<string, ToolCases>> = {
  github_read_file: cases(readFile, {
    works: [
      {
        name: 'gives a long text in parts',
        args: { path: 'a.txt', offset: 100_000 },
        answers: {
          [`GET ${R}/contents/{path}`]: { json: content({ size: 250_000, content: b64('y'.repeat(250_000)) }) },
        },
        sends: [get('/contents/a.txt', {})],
        result: { text: 'y'.repeat(100_000), characters: 250_000, nextOffset: 200_000 },
      },
      {
        name: 'reads as a blob what is larger than a megabyte',
        args: { path: 'a.csv' },
        answers: {
          [`GET ${R}/contents/{path}`]: {
            json: content({ size: 2_000_000, sha: BLOB, encoding: 'none', content: '' }),
          },
          [`GET ${R}/git/blobs/{file_sha}`]: { json: like('blob', { content: b64('a,b\n'), encoding: 'base64' }) },
        },
        sends: [get('/contents/a.csv', {}), get(`/git/blobs/${BLOB}`)],
        result: { text: 'a,b\n' },
      },
      {
        name: 'says of a picture only what it is',
        args: { path: 'a.png' },
        answers: {
          [`GET ${R}/contents/{path}`]: { json: content({ size: 4, content: b64(Buffer.from([137, 80, 0, 255])) }) },
        },
        sends: [get('/contents/a.png', {})],
        result: { note: 'Not a text file.', size: 4 },
      },
      {
        name: 'does not fetch what is larger than three megabytes',
        args: { path: 'a.zip' },
        answers: {
          [`GET ${R}/contents/{path}`]: { json: content({ size: 3_000_001, encoding: 'none', content: '' }) },
        },
        sends: [get('/contents/a.zip', {})],
        result: { note: expect.stringMatching(/Too large/) },
      },
      {
        name: 'says where a link leads',
        args: { path: 'a' },
        answers: {
          [`GET ${R}/contents/{path}`]: { json: like('content-symlink', { type: 'symlink', target: 'b' }) },
        },
        sends: [get('/contents/a', {})],
        result: { type: 'symlink', target: 'b' },
      },
    ],
    fails: {
      'a folder': { answers: listPath.answers, code: 'invalid_arguments', says: /is a folder; github_list_path/ },
      'what is not there': {
        answers: { [`GET ${R}/contents/{path}`]: { status: 404, json: { message: 'Not Found' } } },
        code: 'invalid_arguments',
        says: /404: Not Found\. It is not there, or the token may not see it\.$/,
      },
      'the hour is used up': {
        answers: {
          [`GET ${R}/contents/{path}`]: {
            status: 403,
            json: no,
            headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': ago(1_800) },
          },
        },
        code: 'rate_limited',
        says: /Wait 1(?:79\d|800) s, then call again/,
        facts: { retryable: true, http_status: 403 },
      },
      'the hour is used up, said with 429': {
        answers: {
          [`GET ${R}/contents/{path}`]: {
            status: 429,
            text: JSON.stringify(no),
            headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': ago(1_800) },
          },
        },
        code: 'rate_limited',
        says: /Wait 1(?:79\d|800) s/,
      },
      'a token that may not': {
        answers: {
          [`GET ${R}/contents/{path}`]: {
            status: 403,
            json: { message: 'Resource not accessible by personal access token' },
            headers: { 'x-ratelimit-remaining': '4999', 'x-ratelimit-reset': ago(60) },
          },
        },
        code: 'upstream_unavailable',
        says: /not accessible by personal access token\. .*more scopes/,
        facts: { retryable: false, retry_after_s: null },
      },
      'a token that is no longer good': {
        answers: { [`GET ${R}/contents/{path}`]: { status: 401, text: '{"message":"Bad credentials"}' } },
        code: 'upstream_unavailable',
        says: /401: Bad credentials\. .*a person has to renew them/,
      },
    },
    bad: {
      'no path': { args: {}, says: /"path" is missing/ },
      'the root': { args: { path: '' }, says: /"path"/ },
      'a way up': { args: { path: 'docs/../secrets' }, says: /"path": a path from the root/ },
      'a folder’s slash': { args: { path: 'docs/' }, says: /"path": a path from the root/ },
      'an empty ref': { args: { path: 'a', ref: '' }, says: /"ref"/ },
    },
  }),
  github_list_path: cases(listPath, {
    works: [
      {
        name: 'lists the root',
        args: {},
        answers: { [`GET ${R}/contents/{path}`]: { json: [inFolder('a.md')] } },
        sends: [get('/contents/', {})],
        result: { path: '', entries: [{ name: 'a.md' }] },
      },
      {
        name: 'says that there may be more than a thousand',
        args: {},
        answers: {
          [`GET ${R}/contents/{path}`]: { json: Array.from({ length: 1_000 }, (_, i) => inFolder(`${i}.md`)) },
        },
        sends: [get('/contents/', {})],
        result: { note: expect.stringMatching(/There may be more/) },
      },
    ],
    fails: {
      'a file': {
        answers: { [`GET ${R}/contents/{path}`]: { json: content({}) } },
        code: 'invalid_arguments',
        says: /no folder; github_read_file/,
      },
    },
    bad: { 'a path from the root of the disk': { args: { path: '/etc' }, says: /"path": a path from the root/ } },
  }),
  github_list_branches: cases(listBranches, {
    works: [
      {
        name: 'says of the last page that it is the last',
        args: { page: 9, perPage: 100 },
        answers: {
          ...listBranches.answers,
          [`GET ${R}/branches`]: { json: [], headers: { link: '<https://x.example/?page=1>; rel="first"' } },
        },
        sends: [get(''), get('/branches', { per_page: '100', page: '9' })],
        result: { branches: [] },
      },
    ],
    bad: { 'no page': wrongPage, 'too much at once': { args: { perPage: 101 }, says: /"perPage"/ } },
  }),
  github_list_issues: cases(listIssues, {
    bad: {
      'no page': wrongPage,
      'a label that is two': { args: { labels: ['a,b'] }, says: /"labels\[0\]": a label, without commas/ },
      'a time that is none': { args: { since: 'yesterday' }, says: /"since"/ },
      'a state that is none': { args: { state: 'merged' }, says: /"state"/ },
    },
  }),
  github_read_issue: cases(readIssue, {
    bad: {
      'no number': { args: {}, says: /"number" is missing/ },
      'no page': { ...wrongPage, args: { number: 7, page: 0 } },
    },
  }),
  github_list_pull_requests: cases(listPulls, {
    bad: {
      'no page': wrongPage,
      'a head without its owner': { args: { head: 'fix' }, says: /"head": owner:branch/ },
    },
  }),
  github_read_pull_request: cases(readPull, {
    bad: { 'a number that is none': { args: { number: '9' }, says: /"number"/ } },
  }),
}
