/**
 * One commit of several files: blobs, a tree, a commit, and at last the branch moved to it, never by force.
 * @module
 */
import { z } from 'zod'
import { body, type Http, path, Refusal } from '../../src/connector/native/kit.ts'
import { defaultBranch, headOf, notDefault, shaIn } from './branches.ts'
import { chosen, inScope, type Repository, repository } from './connection.ts'
import { branchName, filePath, forbiddenPath, pathKey } from './spelling.ts'
import { listText, quoted, sizeText } from './text.ts'

const MOST_FILES = 100
const LARGEST_FILE = 1_048_576
const LARGEST_COMMIT = 10 * LARGEST_FILE

const file = z.strictObject({
  path: filePath,
  content: z
    .string()
    .max(LARGEST_FILE * 1.4)
    .refine((text) => text.isWellFormed(), { error: 'text without broken characters' })
    .describe('The whole new content.'),
  encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('base64 for what is no text.'),
  executable: z.boolean().default(false),
})
type File = z.output<typeof file>

const bytesOf = ({ content, encoding }: Pick<File, 'content' | 'encoding'>): number =>
  encoding === 'base64' ? Buffer.from(content, 'base64').length : Buffer.byteLength(content)

/** What is wrong with the files as a whole, a sentence. */
function problemIn(files: readonly File[]): string | undefined {
  for (const { path: at, content, encoding } of files) {
    if (encoding === 'base64' && Buffer.from(content, 'base64').toString('base64') !== content)
      return `The content of ${at} is no base64.`
  }
  const large = files.find((one) => bytesOf(one) > LARGEST_FILE)
  if (large !== undefined) return `${large.path} is larger than ${sizeText(LARGEST_FILE)}.`
  if (files.reduce((sum, one) => sum + bytesOf(one), 0) > LARGEST_COMMIT)
    return `The files come to more than ${sizeText(LARGEST_COMMIT)} together.`
  const keys = files.map((one) => pathKey(one.path)).sort()
  const clash = keys.find((key, i) => key === keys[i + 1] || keys.some((other) => other.startsWith(`${key}/`)))
  return clash === undefined ? undefined : `${clash} stands there twice, or as a file and as a folder.`
}

interface Commit {
  readonly sha?: unknown
  readonly html_url?: string
  readonly tree?: { readonly sha?: unknown }
  readonly parents?: readonly { readonly sha?: unknown }[]
  readonly files?: readonly { readonly filename?: string; readonly status?: string }[]
}

const WRITTEN = ['added', 'modified', 'changed', 'copied', 'unchanged']

/**
 * Throws Refusal unless the commit does to its parent what was approved and nothing else. A file in the place of a folder,
 * or below what was a file or a link, would take something away that nobody saw on the card.
 */
async function holdsOnly(
  http: Http,
  { owner, repo }: Repository,
  { commit, parent, files }: { commit: string; parent: string; files: readonly File[] },
): Promise<void> {
  const { json } = await http.get<Commit>(path`/repos/${owner}/${repo}/commits/${commit}`, {
    capBytes: 25 * 1024 * 1024,
  })
  if (json?.parents?.length !== 1 || json.parents[0]?.sha !== parent || !Array.isArray(json.files))
    throw new Refusal('invalid_arguments', 'GitHub does not say what this commit would change, so it was not made.')
  const approved = new Set(files.map((one) => one.path))
  const other = json.files.find(
    ({ filename = '', status = '' }) => !approved.has(filename) || !WRITTEN.includes(status),
  )
  if (other !== undefined)
    throw new Refusal(
      'invalid_arguments',
      `The commit would do more than write these files: ${other.filename} ${other.status}. Is one of them a folder there, or below a file?`,
    )
}

export const commitFiles = body({
  title: 'Commit files',
  description:
    'Writes whole files to a branch as one commit: new ones, or new content of old ones. Never to the default branch, never workflows, never by force; it moves and deletes nothing. A person approves each commit.',
  input: z.strictObject({
    repository,
    branch: branchName.describe('A branch that is there, as in fix/prices; never the default branch.'),
    message: z
      .string()
      .max(10_000)
      .refine((text) => text.trim() !== '', { error: 'some words' }),
    files: z.array(file).min(1).max(MOST_FILES),
    expectedHeadSha: z
      .string()
      .regex(/^[0-9a-f]{40}$/, 'a commit: 40 hexadecimal digits')
      .optional()
      .describe('Commit only where the branch still ends in this commit.'),
  }),
  deadlineMs: 300_000,
  refuse(args, settings) {
    const forbidden = args.files.map((one) => forbiddenPath(one.path)).find((one) => one !== undefined)
    if (forbidden !== undefined) return forbidden
    const problem = problemIn(args.files)
    return problem === undefined ? inScope(args, settings) : new Refusal('invalid_arguments', problem)
  },
  summary(args, settings) {
    const { branch, files, message } = args
    const total = sizeText(files.reduce((sum, one) => sum + bytesOf(one), 0))
    const what = files.length === 1 ? '1 file' : `${files.length} files`
    const head = `Commit ${what} (${total}) to branch ${branch} of ${chosen(args, settings).name}, ${quoted(message, 72)}: `
    const names = files.map((one) => `${one.path} (${sizeText(bytesOf(one))}${one.executable ? ', executable' : ''})`)
    return `${head}${listText(names, 298 - head.length)}.`
  },
  async run({ args, http, settings, progress }) {
    const at = chosen(args, settings)
    const { branch, files, message, expectedHeadSha } = args
    notDefault(branch, await defaultBranch(http, at), at)
    const parent = await headOf(http, at, branch)
    if (expectedHeadSha !== undefined && expectedHeadSha !== parent)
      throw new Refusal(
        'invalid_arguments',
        `${branch} moved on: it ends in ${parent} now. Look at it, then commit again.`,
      )
    const before = await http.get<Commit>(path`/repos/${at.owner}/${at.repo}/git/commits/${parent}`)
    const oldTree = shaIn(before.json?.tree?.sha)

    // Until the branch is moved, all this is safe: objects that nothing points at, named by what is in them.
    const entries = []
    for (const { path: name, content, encoding, executable } of files) {
      progress(`Sending ${name}`, entries.length, files.length)
      const blob = await http.post<Commit>(path`/repos/${at.owner}/${at.repo}/git/blobs`, {
        json: { content, encoding },
        safe: true,
      })
      const mode = executable ? '100755' : '100644'
      entries.push({ path: name, mode, type: 'blob', sha: shaIn(blob.json?.sha) })
    }
    const made = await http.post<Commit>(path`/repos/${at.owner}/${at.repo}/git/trees`, {
      json: { base_tree: oldTree, tree: entries },
      safe: true,
    })
    const tree = shaIn(made.json?.sha)
    if (tree === oldTree) throw new Refusal('invalid_arguments', `${branch} already has these files with this content.`)
    const { json: commit } = await http.post<Commit>(path`/repos/${at.owner}/${at.repo}/git/commits`, {
      json: { message, tree, parents: [parent] },
      safe: true,
    })
    const sha = shaIn(commit?.sha)
    await holdsOnly(http, at, { commit: sha, parent, files })
    // Read once more: the default branch may be another one than minutes ago.
    notDefault(branch, await defaultBranch(http, at), at)

    await http.patch(path`/repos/${at.owner}/${at.repo}/git/refs/${`heads/${branch}`}`, { json: { sha, force: false } })
    const written = files.map((one) => ({ path: one.path, bytes: bytesOf(one) }))
    return { repository: at.name, branch, commit: sha, parent, url: commit.html_url, files: written }
  },
})
