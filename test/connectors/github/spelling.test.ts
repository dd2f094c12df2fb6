/**
 * The default branch and the paths of workflows, refused in every spelling.
 */
import { describe, expect, it } from 'vitest'
import { committing, HEAD, R, ref, repo } from './answers.ts'
import { answer, commit, isRefusedAfterReading, isRefusedAtOnce, made, standin } from './far-side.ts'

const writing = (branch: string): Record<string, object> => ({
  github_commit_files: commit({ branch }),
  github_create_branch: { branch },
  github_open_pull_request: { title: 't', head: branch, base: 'somewhere' },
})

describe('the default branch', () => {
  describe.each(Object.keys(writing('x')))('%s', (tool) => {
    it.each(['main', 'Main', 'MAIN', 'mAiN'])('is not let to %s, whatever its case', async (branch) => {
      answer({ [`GET ${R}`]: repo() })
      const args = writing(branch)[tool]
      await isRefusedAfterReading(tool, args, 'forbidden_arguments', /is the default branch of acme\/shop/)
      expect(standin.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /repos/acme/shop'])
    })

    it.each([
      ...['refs/heads/main', 'Refs/Heads/main', '/refs/heads/main', 'heads/main', 'remotes/origin/main', 'origin/main'],
      ...['./main', '/main', '//main', 'main/', 'main//', 'main/.', 'x/../main', 'x//main', '..', 'main..', '.main'],
      ...['ma%69n', '%6dain', '%256dain', 'refs%2fheads%2fmain', 'main%00', 'main?x', 'main#/../main'],
      ...['main.', 'main ', ' main', 'main\t', 'main\n', 'main\u0000', 'main\\', '\\main', 'heads\\main'],
      ...['main\u200b', 'ma\u00adin', '\u202emain', '\ufeffmain', 'ｍain', 'mаin', 'ma\u0131n', 'maiń', 'main\u0301'],
      ...[
        'HEAD',
        'head',
        '@',
        'main@{0}',
        'main^{}',
        'main^0',
        'main~0',
        '+main',
        'x:main',
        'main:main',
        '-main',
        'main*',
      ],
      ...['main.lock', 'main.lock/x', HEAD, '', 'x'.repeat(201)],
    ])('does not take %j for the name of a branch', (branch) =>
      isRefusedAtOnce(tool, writing(branch)[tool], /^invalid_arguments$/),
    )
  })

  it.each([
    ['größe', 'größe'.normalize('NFC')],
    ['größe', 'größe'.normalize('NFD')],
  ])('is not reached by either form of %s', async (_, branch) =>
    isRefusedAtOnce('github_commit_files', commit({ branch }), /^invalid_arguments$/),
  )

  it.each([
    ['release/2.x', 'Release/2.X'],
    ['fix', 'FIX'],
  ])('is meant where it is called %s and asked for as %s', async (main, branch) => {
    answer({ [`GET ${R}`]: repo({ default_branch: main }) })
    await isRefusedAfterReading('github_commit_files', commit({ branch }), 'forbidden_arguments', /default branch/)
  })

  it('is asked for once more before the branch is moved', async () => {
    const script = committing('fix', 'a.ts')
    answer({ ...script, [`GET ${R}`]: [repo(), repo({ default_branch: 'fix' })] as any })
    await isRefusedAfterReading('github_commit_files', commit({}), 'forbidden_arguments', /fix is the default branch/)
    expect(standin.seen.at(-1)?.path).toBe('/repos/acme/shop')
  })

  it('is every branch where GitHub does not say which it is', async () => {
    answer({ [`GET ${R}`]: { text: '{}' } })
    await isRefusedAfterReading('github_commit_files', commit({}), 'forbidden_arguments', /does not say which branch/)
  })

  it('is not written to by way of a branch that GitHub takes for another', async () => {
    answer({ ...committing('fix', 'a.ts'), [`GET ${R}/git/ref/{ref}`]: ref('main') })
    await isRefusedAfterReading('github_commit_files', commit({}), 'invalid_arguments', /called exactly fix/)
  })
})

it('writes nothing to an archived repository', async () => {
  for (const [tool, args] of Object.entries(writing('fix'))) {
    answer({ [`GET ${R}`]: repo({ archived: true }) })
    await isRefusedAfterReading(tool, args, 'invalid_arguments', /archived/)
  }
})

describe('a path', () => {
  const FORBIDDEN = [
    ...[
      '.github/workflows/x.yml',
      '.github/workflows/deep/x.yml',
      '.github/workflows',
      '.github',
      '.GitHub',
      '.GITHUB/WORKFLOWS/x',
    ],
    ...[
      '.GitHub/Workflows/x.yml',
      '.github./workflows/x',
      '.github /workflows/x',
      ' .github/workflows/x',
      '.github/workflows./x',
    ],
    ...['.github/workflows /x', '.github/ workflows/x', '.github. . /workflows/x', '. ./.github/workflows/x'],
    ...[
      '%2egithub/workflows/x',
      '.github%2fworkflows%2fx',
      '.github/%77orkflows/x',
      '%252egithub/workflows/x',
      '.github%5cworkflows%5cx',
    ],
    ...['%2e/.github/workflows/x', 'docs/%2e%2e/.github/workflows/x', '%2e%2e/x', '.github/work%66lows/x'],
    ...[
      '.git\u200bhub/workflows/x',
      '.github/work\u00adflows/x',
      '\ufeff.github/workflows/x',
      '.github/\u202eworkflows/x',
      '.github/workflows\u180e/x',
    ],
    ...[
      '．github/workflows/x',
      '․github/workflows/x',
      '.ｇｉｔｈｕｂ/workflows/x',
      '.github/work\ufb02ows/x',
      '.github/workflow\u017f/x',
      '.github／workflows／x',
    ],
    ...[
      '.g\u0131thub/workflows/x',
      '.g\u0130thub/workflows/x',
      '.github/wörkflows/x'.normalize('NFC'),
      '.github/wörkflows/x'.normalize('NFD'),
    ],
    ...[
      '.github\u2044workflows/x',
      '.github\u2215workflows\u2215x',
      '.github::$INDEX_ALLOCATION/workflows/x',
      'GITHUB~1/workflows/x',
    ],
    ...['.github/actions/x/action.yml', '.Github/Actions/x', '.gitmodules', '.GitModules', '.gitmodules.'],
    ...[
      '.git/config',
      '.GIT/hooks/pre-commit',
      'docs/.git/config',
      'docs/.git./x',
      'docs/.g\u200cit/x',
      'git~1/x',
      'a/.git::$DATA',
    ],
    ...['.../.github/workflows/x', 'x/.../y'],
  ]
  it.each(FORBIDDEN)('is forbidden, whatever a person says: %j', (path) =>
    isRefusedAtOnce(
      'github_commit_files',
      commit({
        files: [
          { path: 'ok.ts', content: '' },
          { path, content: 'x' },
        ],
      }),
      /^forbidden_arguments$/,
    ),
  )

  it.each([
    ...[
      '',
      '/',
      '.',
      '..',
      './a',
      '../a',
      'a/',
      '/a',
      'a//b',
      'a/./b',
      'a/../b',
      './.github/workflows/x',
      '/.github/workflows/x',
    ],
    ...[
      '.github//workflows/x',
      '.github/./workflows/x',
      'docs/../.github/workflows/x',
      '.github/workflows/',
      '//.github/workflows/x',
    ],
    ...[
      '.github\\workflows\\x',
      '.\\.github\\workflows\\x',
      'a\\b',
      'a\u0000b',
      '.github\u0000/workflows/x',
      '.github/workflows\n/x',
      'a\u0085',
      '\ud800',
      'x'.repeat(1_001),
    ],
  ])('is none: %j', (path) =>
    isRefusedAtOnce('github_commit_files', commit({ files: [{ path, content: 'x' }] }), /^invalid_arguments$/),
  )

  it.each([
    ...[
      'docs/.github/workflows/x',
      '.github/ISSUE_TEMPLATE/a.md',
      '.github/CODEOWNERS',
      'workflows/x',
      '.gitignore',
      'über/größe.md',
    ],
    ...['100%.md', 'a%20b.md', 'src/a:b.ts', '.githubx/workflows/x', 'docs/.gitmodules', 'a…b.md', 'a b.md', '...a'],
  ])('may be written: %s', async (path) => {
    answer(committing('fix', path))
    const args = commit({ files: [{ path, content: 'x' }] })
    expect(await made.call('github_commit_files', args)).toMatchObject({ kind: 'result' })
    const tree = standin.seen.find(({ path: at }) => at.endsWith('/git/trees'))?.body
    expect(tree).toMatchObject({ tree: [{ path, mode: '100644', type: 'blob' }] })
  })
})
