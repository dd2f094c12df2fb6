/**
 * GitHub: seven reads, and four writes that need the operator's switch and a person's approval each.
 * @module
 */
import { defineConnector, each, GRANTABLE_READ } from '../src/connector/define.ts'

export const github = defineConnector({
  slug: 'github',
  title: 'GitHub',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected GitHub.',
  tools: [
    ...each('github_read_file github_list_path github_list_branches github_list_issues', GRANTABLE_READ),
    ...each('github_read_issue github_list_pull_requests github_read_pull_request', GRANTABLE_READ),
    ...each('github_create_branch github_commit_files github_open_pull_request github_comment', {
      access: 'write',
      grantable: false,
      ask: 'always',
      withoutChannel: 'refuses',
      needs: [{ switch: 'GITHUB_ALLOW_WRITES', otherwise: 'refuses' }],
      note: 'Registered with the connector; refuses before any request to GitHub.',
    }),
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
