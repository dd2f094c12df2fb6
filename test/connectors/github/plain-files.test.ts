/**
 * A commit writes plain files and does nothing else.
 */
import { describe, expect, it } from 'vitest'
import { like } from '../contracts/github.ts'
import { COMMIT, committing, entry, HEAD, R } from './answers.ts'
import { answer, commit, isRefusedAfterReading, isRefusedAtOnce, standin } from './far-side.ts'

describe('anything but a plain file', () => {
  it.each([
    ['a link', { path: 'a', content: '.github/workflows/x', mode: '120000' }],
    ['a submodule', { path: 'a', mode: '160000', type: 'commit', sha: HEAD }],
    ['a folder as a tree', { path: '.github', mode: '040000', type: 'tree', sha: HEAD }],
    ['a tree under a plain name', { path: 'a', content: '', mode: '040000', type: 'tree' }],
    ['a delete', { path: 'a', sha: null }],
    ['a delete beside content', { path: 'a', content: '', sha: null }],
    ['a move of a folder', { path: '.github/workflows', from: 'docs/workflows' }],
    ['a move of a file', { path: 'a', content: '', from: 'b' }],
    ['a text instead of a file', 'a'],
  ])('is refused: %s', (_, file) =>
    isRefusedAtOnce('github_commit_files', commit({ files: [file] }), /^(?:in)?valid_arguments$/),
  )

  it.each([
    { force: true },
    { base_tree: null },
    { parents: [] },
    { author: { name: 'x', email: 'x@x.example' } },
    { from: 'docs', to: '.github' },
    { ref: 'refs/heads/main' },
  ])('is refused beside the files: %j', (more) =>
    isRefusedAtOnce('github_commit_files', commit(more), /^invalid_arguments$/),
  )

  it.each([
    ['a folder that a file would take the place of', [entry('docs', 'added'), entry('docs/a.md', 'removed')]],
    ['a link that would become a folder', [entry('a.ts', 'added'), entry('a', 'removed')]],
    ['what GitHub takes for a move', [{ ...entry('a.ts', 'renamed'), previous_filename: 'b.ts' }]],
    ['a file nobody approved', [entry('a.ts'), entry('.github/workflows/x.yml')]],
    ['a state nobody knows', [{ ...entry('a.ts'), status: 'vanished' }]],
  ])('is seen in the commit before the branch is moved: %s', async (_, files) => {
    const json = { ...like('commit', { sha: COMMIT }), parents: [{ sha: HEAD }], files }
    answer({ ...committing('fix', 'a.ts'), [`GET ${R}/commits/{ref}`]: { text: JSON.stringify(json) } })
    await isRefusedAfterReading(
      'github_commit_files',
      commit({}),
      'invalid_arguments',
      /do more than write these files/,
    )
  })

  it.each([
    ['two parents', { parents: [{ sha: HEAD }, { sha: COMMIT }], files: [] }],
    ['another parent', { parents: [{ sha: COMMIT }], files: [] }],
    ['no files', { parents: [{ sha: HEAD }] }],
  ])('is assumed of a commit that comes back with %s', async (_, own) => {
    answer({ ...committing('fix', 'a.ts'), [`GET ${R}/commits/{ref}`]: { text: JSON.stringify(own) } })
    await isRefusedAfterReading('github_commit_files', commit({}), 'invalid_arguments', /does not say what this commit/)
  })

  it('is no commit: one that changes nothing is not made', async () => {
    const script = committing('fix', 'a.ts')
    answer({ ...script, [`POST ${R}/git/trees`]: { status: 201, json: like('git-tree', { sha: 'b'.repeat(40) }) } })
    await isRefusedAfterReading('github_commit_files', commit({}), 'invalid_arguments', /already has these files/)
    expect(standin.seen.some(({ path }) => path.endsWith('/git/commits'))).toBe(false)
  })
})
