/**
 * GitHub: seven reads, and four writes that need the operator's switch and a person's approval each.
 * @module
 */
import { defineConnector, GRANTABLE_READ, type ToolFacts } from '../src/connector/native/kit.ts'
import { createBranch, listBranches } from './github/branches.ts'
import { commitFiles } from './github/commit.ts'
import { connection } from './github/connection.ts'
import { listPath, readFile } from './github/files.ts'
import { comment, listIssues, readIssue } from './github/issues.ts'
import { listPullRequests, openPullRequest, readPullRequest } from './github/pulls.ts'

const WRITES: ToolFacts = {
  access: 'write',
  grantable: false,
  ask: 'always',
  withoutChannel: 'refuses',
  needs: [{ switch: 'GITHUB_ALLOW_WRITES', otherwise: 'refuses' }],
  note: 'Registered with the connector; refuses before any request to GitHub.',
}

export const github = defineConnector({
  slug: 'github',
  title: 'GitHub',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected GitHub.',
  connection,
  tools: [
    { name: 'github_read_file', ...GRANTABLE_READ, body: readFile },
    { name: 'github_list_path', ...GRANTABLE_READ, body: listPath },
    { name: 'github_list_branches', ...GRANTABLE_READ, body: listBranches },
    { name: 'github_list_issues', ...GRANTABLE_READ, body: listIssues },
    { name: 'github_read_issue', ...GRANTABLE_READ, body: readIssue },
    { name: 'github_list_pull_requests', ...GRANTABLE_READ, body: listPullRequests },
    { name: 'github_read_pull_request', ...GRANTABLE_READ, body: readPullRequest },
    { name: 'github_create_branch', ...WRITES, body: createBranch },
    { name: 'github_commit_files', ...WRITES, body: commitFiles },
    { name: 'github_open_pull_request', ...WRITES, body: openPullRequest },
    { name: 'github_comment', ...WRITES, body: comment },
  ],
  withheld: [
    { what: 'Merging', why: 'Whether a change goes in is for the people who own the code.' },
    { what: 'force-push and history rewrites', why: 'They lose work.' },
    { what: 'deletes', why: 'They lose work.' },
    { what: 'repository settings', why: 'They decide who may do what.' },
    { what: 'collaborators', why: 'They decide who may do what.' },
    { what: 'branch protection', why: "It is what holds an agent's commit back." },
    { what: 'secrets', why: 'No tool hands out or changes a secret.' },
    { what: 'triggering workflows', why: "A workflow runs code with the repository's secrets." },
    { what: 'releases', why: 'They publish.' },
    { what: 'search', why: 'It reaches beyond the repository that was connected.' },
    { what: 'GraphQL', why: 'One tool for everything would be a way round every line above.' },
  ],
  refused: [
    { what: 'Commits to the default branch', why: 'They would go in without review.' },
    { what: 'Commits to `.github/workflows/`', why: "A changed workflow runs with the repository's secrets." },
  ],
})
