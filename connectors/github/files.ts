/**
 * Files and folders as they are at a branch, a tag or a commit.
 * @module
 */
import { z } from 'zod'
import { body, path, Refusal } from '../../src/connector/native/kit.ts'
import { chosen, inScope, repository } from './connection.ts'
import { readPath } from './spelling.ts'

const ref = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^\p{Cc}]+$/u, 'a branch, a tag or a commit')
  .optional()
  .describe('A branch, a tag or a commit; the default branch unless said.')

/** `contents` gives a file this large with its text; a larger one is a blob. Of more than the second nothing is read (bytes). */
const LARGEST_BLOB = 3_000_000
/** Characters of a file given at once. */
const AT_ONCE = 100_000

interface Content {
  readonly name?: string
  readonly path?: string
  readonly type?: string
  readonly size?: number
  readonly sha?: string
  readonly encoding?: string
  readonly content?: string
  readonly target?: string
  readonly submodule_git_url?: string | null
}

export const readFile = body({
  title: 'Read a file',
  description:
    'Reads one text file of the repository, up to 100,000 characters at once and 3 MB in all. Of other files it gives size and kind.',
  input: z.strictObject({
    repository,
    path: readPath.min(1).describe('From the root of the repository, as in docs/guide.md.'),
    ref,
    offset: z.int().min(0).default(0).describe('Characters to leave out: nextOffset of the answer before.'),
  }),
  refuse: inScope,
  async run({ args, http, settings }) {
    const { owner, repo, name } = chosen(args, settings)
    const { json } = await http.get<Content | Content[]>(
      path`/repos/${owner}/${repo}/contents/${args.path.split('/')}`,
      { query: { ref: args.ref } },
    )
    if (Array.isArray(json))
      throw new Refusal('invalid_arguments', `${args.path} is a folder; github_list_path says what is in it.`)
    const { type, size = 0, sha, target } = json
    const about = { repository: name, path: json.path ?? args.path, type, size, sha, target }
    if (type !== 'file') return { ...about, submodule: json.submodule_git_url ?? undefined }
    if (size > LARGEST_BLOB) return { ...about, note: `Too large to read here: ${LARGEST_BLOB} bytes at most.` }
    let content = json.encoding === 'base64' ? json.content : undefined
    if (size > 0 && !content && sha !== undefined)
      content = (await http.get<Content>(path`/repos/${owner}/${repo}/git/blobs/${sha}`)).json.content
    const text = textOf(Buffer.from(content ?? '', 'base64'))
    if (text === undefined) return { ...about, note: 'Not a text file.' }
    const end = args.offset + AT_ONCE
    return {
      ...about,
      text: text.slice(args.offset, end),
      characters: text.length,
      nextOffset: end < text.length ? end : undefined,
    }
  },
})

/** The text of a file in UTF-8; undefined where it is none. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** GitHub gives no more of a folder than this. */
const MOST_ENTRIES = 1_000

export const listPath = body({
  title: 'List a folder',
  description: 'Lists what is in one folder of the repository, without its subfolders: 1,000 entries at most.',
  input: z.strictObject({
    repository,
    path: readPath.default('').describe('From the root of the repository, as in docs/images; empty for the root.'),
    ref,
  }),
  refuse: inScope,
  async run({ args, http, settings }) {
    const { owner, repo, name } = chosen(args, settings)
    const { json } = await http.get<Content | Content[]>(
      args.path === ''
        ? path`/repos/${owner}/${repo}/contents/`
        : path`/repos/${owner}/${repo}/contents/${args.path.split('/')}`,
      { query: { ref: args.ref } },
    )
    if (!Array.isArray(json))
      throw new Refusal('invalid_arguments', `${args.path} is no folder; github_read_file reads it.`)
    return {
      repository: name,
      path: args.path,
      entries: json.map((one) => ({ name: one.name, path: one.path, type: one.type, size: one.size, sha: one.sha })),
      ...(json.length >= MOST_ENTRIES && { note: 'There may be more: GitHub lists 1,000 entries of a folder.' }),
    }
  },
})
