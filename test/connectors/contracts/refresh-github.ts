/**
 * Cuts GitHub's contract down to the operations its connector uses, and writes it beside this file:
 * `npx node test/connectors/contracts/refresh-github.ts`. The package is fetched into a temporary folder and thrown away:
 * it is 385 MB unpacked, and one file of it is wanted.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PACKAGE = '@octokit/openapi@23.0.2'
const FILE = 'generated/api.github.com.json'
const OPERATIONS = [
  'GET /repos/{owner}/{repo}',
  'GET /repos/{owner}/{repo}/branches',
  'GET /repos/{owner}/{repo}/commits/{ref}',
  'GET /repos/{owner}/{repo}/contents/{path}',
  'GET /repos/{owner}/{repo}/issues',
  'GET /repos/{owner}/{repo}/issues/{issue_number}',
  'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
  'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
  'GET /repos/{owner}/{repo}/pulls',
  'POST /repos/{owner}/{repo}/pulls',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/files',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews',
  'GET /repos/{owner}/{repo}/git/ref/{ref}',
  'POST /repos/{owner}/{repo}/git/refs',
  'PATCH /repos/{owner}/{repo}/git/refs/{ref}',
  'GET /repos/{owner}/{repo}/git/blobs/{file_sha}',
  'POST /repos/{owner}/{repo}/git/blobs',
  'POST /repos/{owner}/{repo}/git/trees',
  'GET /repos/{owner}/{repo}/git/commits/{commit_sha}',
  'POST /repos/{owner}/{repo}/git/commits',
]

type Tree = Record<string, unknown>
const isTree = (value: unknown): value is Tree => value !== null && typeof value === 'object' && !Array.isArray(value)

/** What judges nothing. Names of properties are left alone, whatever they are. */
const TALK =
  /^(?:summary|description|tags|externalDocs|examples?|x-.*|title|headers|links|operationId|default|deprecated)$/

/** A format that only GitHub knows. */
const OWN_FORMAT = 'repo.nwo'

function quiet(value: unknown, named = false): unknown {
  if (Array.isArray(value)) return value.map((one) => quiet(one))
  if (!isTree(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, one]) => named || !(TALK.test(key) || (key === 'format' && one === OWN_FORMAT)))
      .map(([key, one]) => [key, quiet(one, !named && (key === 'properties' || key === 'responses'))]),
  )
}

/** The references in a part of the document. */
function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references)
  if (!isTree(value)) return []
  return Object.entries(value).flatMap(([key, one]) =>
    key === '$ref' && typeof one === 'string' ? [one] : references(one),
  )
}

/** The operations and everything they name, and nothing else. */
function cut(document: Tree): Tree {
  const given = document.paths as Record<string, Tree>
  const paths: Record<string, Tree> = {}
  for (const operation of OPERATIONS) {
    const [method = '', path = ''] = operation.split(' ')
    const found = given[path]?.[method.toLowerCase()]
    if (found === undefined) throw new Error(`${FILE} has no ${operation} any more.`)
    paths[path] = { ...paths[path], [method.toLowerCase()]: quiet(found) }
  }
  const components: Record<string, Tree> = {}
  const open = references(paths)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [, , group = '', name = ''] = next.split('/')
    if (components[group]?.[name] !== undefined) continue
    const found = quiet((document.components as Record<string, Tree>)[group]?.[name])
    components[group] = { ...components[group], [name]: found }
    open.push(...references(found))
  }
  return { paths, components }
}

const folder = mkdtempSync(join(tmpdir(), 'contract-'))
try {
  const npm = (...args: string[]) => execFileSync('npm', args, { cwd: folder, encoding: 'utf8' })
  const archive = npm('pack', PACKAGE, '--silent').trim()
  execFileSync('tar', ['xzf', archive, `package/${FILE}`, 'package/LICENSE'], { cwd: folder })
  const bytes = readFileSync(join(folder, 'package', FILE))
  const slice = {
    source: {
      package: PACKAGE,
      file: FILE,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      licence: readFileSync(join(folder, 'package/LICENSE'), 'utf8').trim(),
      changes: 'Only the operations that the connector uses, with what they name, without descriptions and examples.',
    },
    ...cut(JSON.parse(bytes.toString('utf8')) as Tree),
  }
  const target = join(import.meta.dirname, 'github.json')
  writeFileSync(target, `${JSON.stringify(slice)}\n`)
  execFileSync('npx', ['biome', 'format', '--write', '--files-max-size=2000000', target], { stdio: 'inherit' })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
