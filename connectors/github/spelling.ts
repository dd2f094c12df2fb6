/**
 * Which branches and paths a write may name. A name is taken only in its plain spelling; what somebody more lenient than
 * git could read as a forbidden one is forbidden too.
 * @module
 */
import { z } from 'zod'
import { Refusal } from '../../src/connector/native/kit.ts'

const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._/+#@=,-]{0,199}$/
/** git check-ref-format, and prefixes that would make the name another one. */
const MISLEADING =
  /\.\.|\/\/|\/\.|[./]$|\.lock(?:\/|$)|^@$|^head$|^(?:refs|heads|tags|remotes|origin)\/|^[0-9a-f]{40}$/i

/** The name of a branch that is written to or created: its plain name, as git takes it. */
export const branchName = z
  .string()
  .regex(PLAIN, 'a plain branch name: letters and digits of ASCII, and . _ / + # @ = , -')
  .refine((name) => !MISLEADING.test(name), {
    error:
      'the name of a branch alone, as git takes it: no refs/heads/ before it, no "..", "//", ".lock", no dot or slash at its end',
  })

/** Whether two names could be taken for the same branch. */
export const sameBranch = (a: string, b: string): boolean => folded(a) === folded(b)

/** What is left of a text where case, width, accents, hidden characters and percent-encoding make no difference. */
function folded(text: string): string {
  return decoded(text)
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[\\\u2044\u2215\u29f8]/g, '/')
    .toUpperCase()
    .toLowerCase()
}

/** Percent-encoding taken off until there is none; broken sequences stay. */
function decoded(text: string): string {
  for (let at = text, rounds = 0; rounds < 8; rounds++) {
    const next = at.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
      Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
    )
    if (next === at) return at
    at = next
  }
  return '..'
}

/** The path of a file as git has it: no folder's name at the end, and no part that means another folder. */
export const filePath = z
  .string()
  .min(1)
  .max(1_000)
  .refine((path) => isPlainPath(path), {
    error:
      'the path of a file from the root of the repository, with "/" between names: no "/" at either end, no empty part, ".", "..", "\\" or control character',
  })

/** The path of a file or folder to read; '' is the root. */
export const readPath = z
  .string()
  .max(1_000)
  .refine((path) => path === '' || isPlainPath(path), {
    error:
      'a path from the root of the repository, as in docs/guide.md: no "/" at either end, no empty part, "." or ".."',
  })

const isPlainPath = (path: string): boolean =>
  path.isWellFormed() &&
  !/[\\\p{Cc}]/u.test(path) &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')

/** The parts of a path as the most lenient reader would have them: Windows drops dots and blanks at an end, and streams. */
const partsOf = (path: string): string[] =>
  folded(path)
    .split('/')
    .map((part) => part.replace(/:.*$/s, '').trim())
    .map((part) => (/^\.{2,}$/.test(part) ? '..' : part.replace(/[.\s]+$/, '')))
    .filter((part) => part !== '')

/** One key for every spelling of a path. */
export const pathKey = (path: string): string => partsOf(path).join('/')

/**
 * Why no file is written there, whatever a person says: workflows run with the repository's secrets (seed 001), actions
 * are part of them, and `.git` and submodules point elsewhere.
 */
export function forbiddenPath(path: string): Refusal | undefined {
  const parts = partsOf(path)
  const [first = '', second] = parts
  const no = (why: string) => new Refusal('forbidden_arguments', `${path} is not written: ${why}.`)
  if (parts.length === 0 || parts.includes('..')) return no('it means another folder')
  if (parts.some((part) => part === '.git' || /^gi[a-z0-9]{0,6}~\d/.test(part)))
    return no("git's own files are not files")
  if (first === '.gitmodules') return no('it makes parts of the repository come from elsewhere')
  if (first === '.github' && (second === undefined || second === 'workflows' || second === 'actions'))
    return no("what runs in workflows runs with the repository's secrets")
  return undefined
}
