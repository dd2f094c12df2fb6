/**
 * Branches, and the one that nothing is committed to.
 * @module
 */
import { z } from 'zod'
import { body, type Http, path, Refusal } from '../../src/connector/native/kit.ts'
import { chosen, inScope, type Repository, repository } from './connection.ts'
import { branchName, sameBranch } from './spelling.ts'
import { nextPage, pageQuery, paging } from './text.ts'

/** A commit's name as GitHub gives it. Throws for anything else: what is no name is not built upon. */
export function shaIn(value: unknown): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{40}$/.test(value)) throw new Error('The vendor gave no commit.')
  return value
}

interface About {
  readonly default_branch?: unknown
  readonly archived?: unknown
}

/** The name of the default branch, read now. Throws Refusal where the repository takes no writes, or does not say. */
export async function defaultBranch(http: Http, { owner, repo, name }: Repository): Promise<string> {
  const { json } = await http.get<About>(path`/repos/${owner}/${repo}`)
  if (json?.archived === true) throw new Refusal('invalid_arguments', `${name} is archived: nothing is written to it.`)
  const branch = json?.default_branch
  if (typeof branch !== 'string' || branch === '')
    throw new Refusal('forbidden_arguments', `GitHub does not say which branch of ${name} is its default branch.`)
  return branch
}

/** Throws Refusal for the default branch, however its name is spelled. */
export function notDefault(branch: string, main: string, { name }: Repository): void {
  if (!sameBranch(branch, main)) return
  const instead = 'Create a branch, commit there and open a pull request.'
  throw new Refusal(
    'forbidden_arguments',
    `${branch} is the default branch of ${name}; it goes in by review. ${instead}`,
  )
}

interface Ref {
  readonly ref?: unknown
  readonly object?: { readonly type?: unknown; readonly sha?: unknown }
}

/** The commit a branch ends in, read now. Throws Refusal where GitHub answers with another branch. */
export async function headOf(http: Http, { owner, repo }: Repository, branch: string): Promise<string> {
  const { json } = await http.get<Ref>(path`/repos/${owner}/${repo}/git/ref/${`heads/${branch}`}`)
  if (json?.ref !== `refs/heads/${branch}` || json.object?.type !== 'commit')
    throw new Refusal('invalid_arguments', `GitHub has no branch that is called exactly ${branch}.`)
  return shaIn(json.object.sha)
}

interface Branch {
  readonly name?: string
  readonly commit?: { readonly sha?: string }
  readonly protected?: boolean
}

export const listBranches = body({
  title: 'List branches',
  description: 'Lists branches of the repository, a page at a time, and says which one is the default branch.',
  input: z.strictObject({
    repository,
    protected: z.boolean().optional().describe('Only branches that are protected, or only those that are not.'),
    ...paging,
  }),
  refuse: inScope,
  async run({ args, http, settings }) {
    const { owner, repo, name } = chosen(args, settings)
    const about = await http.get<About>(path`/repos/${owner}/${repo}`)
    const reply = await http.get<Branch[]>(path`/repos/${owner}/${repo}/branches`, {
      query: { protected: args.protected, ...pageQuery(args) },
    })
    return {
      repository: name,
      defaultBranch: about.json.default_branch,
      branches: reply.json.map((one) => ({ name: one.name, sha: one.commit?.sha, protected: one.protected })),
      nextPage: nextPage(reply, args.page),
    }
  },
})

export const createBranch = body({
  title: 'Create a branch',
  description: 'Creates a branch where another one ends. It changes no file. A person approves each one.',
  input: z.strictObject({
    repository,
    branch: branchName.describe('The name of the new branch, as in fix/prices.'),
    from: branchName.optional().describe('The branch it begins at; the default branch unless said.'),
  }),
  refuse: inScope,
  summary: (args, settings) =>
    `Create branch ${args.branch} in ${chosen(args, settings).name}, from ${args.from ?? 'the default branch'}.`,
  async run({ args, http, settings }) {
    const at = chosen(args, settings)
    const main = await defaultBranch(http, at)
    notDefault(args.branch, main, at)
    const from = args.from ?? main
    const sha = await headOf(http, at, from)
    const { json } = await http.post<Ref>(path`/repos/${at.owner}/${at.repo}/git/refs`, {
      json: { ref: `refs/heads/${args.branch}`, sha },
    })
    return { repository: at.name, branch: args.branch, from, sha, ref: json?.ref }
  },
})
