import { describe, expect, it } from 'vitest'
import { github } from '../../../connectors/github.ts'
import { githubContract, like } from '../contracts/github.ts'
import { testConnector } from '../suite.ts'
import { bench, resultOf } from '../world.ts'
import { FIELDS, R, repo, TOKEN } from './answers.ts'
import { comment, commit } from './calls.ts'
import { READS } from './read-cases.ts'
import { WRITES } from './write-cases.ts'

const { bench: made, standin } = testConnector({
  connector: github,
  contract: githubContract,
  fields: FIELDS,
  auth: ({ authorization }) =>
    authorization === `Bearer ${TOKEN}` ? undefined : 'the token is missing or not as sent',
  headers: { 'user-agent': /./, 'x-github-api-version': /^2022-11-28$/ },
  check: {
    answers: { [`GET ${R}`]: { ...repo({ full_name: 'acme/shop' }), headers: { 'x-oauth-scopes': 'repo, workflow' } } },
    says: /reads acme\/shop \(default branch main\)\. It may change workflows too/,
  },
  tools: { ...READS, ...WRITES },
})

describe('a connection for several repositories', () => {
  const two = { ...FIELDS, repositories: 'acme/shop, acme/Docs' }
  it('asks which one is meant, and spells it as the connection does', async () => {
    const other = bench(github, standin().url, two)
    expect(await other.call('github_comment', comment.args)).toMatchObject({
      code: 'invalid_arguments',
      reason: 'Say which "repository": acme/shop, acme/Docs.',
    })
    expect(standin().seen).toEqual([])
    standin().on(`POST ${R}/issues/{issue_number}/comments`, { status: 201, json: like('issue-comment') })
    const args = { ...comment.args, repository: 'Acme/docs' }
    expect(resultOf(await other.call('github_comment', args))).toMatchObject({ repository: 'acme/Docs' })
    expect(standin().seen[0]?.path).toBe('/repos/acme/Docs/issues/7/comments')
    expect(other.tool('github_comment').summary?.(JSON.stringify(args))).toContain('Comment on #7 of acme/Docs')
    await other.close()
  })

  it.each([
    'acme',
    'acme/..',
    'acme/.',
    'acme/a b',
    'https://github.com/acme/shop',
    'acme/shop;acme/docs',
    'a_b/c',
    `acme/${'x'.repeat(101)}`,
  ])('does not take %s for a list of repositories', (list) =>
    expect(github.connection?.fields.repositories?.schema.safeParse(list).success).toBe(false),
  )
})

it('fits a commit of many files on a card', () => {
  const many = Array.from({ length: 100 }, (_, i) => ({ path: `some/where/file-${i}.ts`, content: 'x' }))
  const said =
    made()
      .tool('github_commit_files')
      .summary?.(JSON.stringify({ ...commit.args, files: many })) ?? ''
  expect(said).toMatch(/^Commit 100 files \(100 B\).*file-0\.ts \(1 B\), .* and \d+ more\.$/)
  expect(said.length).toBeLessThan(300)
})
