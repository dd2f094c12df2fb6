/**
 * Cuts Shopify's Admin schema down to what its connector's tests reach, and writes it beside this file:
 * `npx node test/connectors/contracts/refresh-shopify.ts`. The package is fetched into a temporary folder and thrown away;
 * one file of it is wanted.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { buildClientSchema, buildSchema, type IntrospectionQuery, parse, printSchema, validate } from 'graphql'
import { CHECK } from '../../../connectors/shopify/connection.ts'
import { DOCUMENTS } from '../../../connectors/shopify/reads.ts'

const PACKAGE = '@shopify/dev-mcp@1.16.0'
const VERSION = '2026-10'
const FILE = `dist/data/admin_${VERSION}.json.gz`

/** Fields at the roots. */
const QUERIES = 'shop products product orders node currentAppInstallation publicApiVersions'
const MUTATIONS = 'productUpdate productDelete tagsAdd bulkOperationRunQuery'
/** Object types and interfaces, each with all its fields that lead to one of these, to a scalar or to an enum. */
const TYPES = `Node Shop ShopPlan ShopAddress Domain ApiVersion AppInstallation AccessScope PageInfo
  Product ProductConnection SEO Count MoneyV2 MoneyBag ProductPriceRangeV2 MediaPreviewImage Media Image
  Order OrderConnection LineItem LineItemConnection
  DisplayableError UserError ProductUpdatePayload ProductDeletePayload TagsAddPayload BulkOperationRunQueryPayload
  BulkOperationUserError BulkOperation`

type Introspection = Record<string, any>
const words = (text: string): Set<string> => new Set(text.trim().split(/\s+/))
const named = (type: Introspection): string => (type.ofType ? named(type.ofType) : type.name)

/** The schema with these types and whatever their arguments are made of. */
function cut(whole: Introspection): Introspection {
  const all = new Map<string, Introspection>(whole.types.map((type: Introspection) => [type.name, type]))
  const roots = new Map([
    [whole.queryType.name, words(QUERIES)],
    [whole.mutationType.name, words(MUTATIONS)],
  ])
  const kept = words(TYPES)
  for (const name of [...kept, ...roots.keys()]) {
    if (!all.has(name)) throw new Error(`${FILE} has no type ${name} any more.`)
  }
  const leads = (type: Introspection): boolean => {
    const { name, kind } = all.get(named(type)) as Introspection
    return kept.has(name) || kind === 'SCALAR' || kind === 'ENUM'
  }
  const types = new Map<string, Introspection>()
  const open: string[] = []
  const inputs = (fields: readonly Introspection[]) => fields.forEach(({ type }) => void open.push(named(type)))
  for (const name of [...roots.keys(), ...kept]) {
    const type = all.get(name) as Introspection
    const fields = type.fields.filter(
      (one: Introspection) => leads(one.type) && (roots.get(name)?.has(one.name) ?? true),
    )
    const missing = [...(roots.get(name) ?? [])].filter(
      (one) => !fields.some((field: Introspection) => field.name === one),
    )
    if (missing.length > 0) throw new Error(`${name} has no ${missing.join(', ')} any more, or it leads elsewhere.`)
    for (const field of fields) {
      open.push(named(field.type))
      inputs(field.args)
    }
    const isKept = (one: Introspection) => kept.has(one.name)
    types.set(name, {
      ...type,
      fields,
      interfaces: type.interfaces?.filter(isKept) ?? [],
      possibleTypes: type.possibleTypes?.filter(isKept) ?? null,
    })
  }
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (types.has(next)) continue
    const type = all.get(next) as Introspection
    types.set(next, type)
    inputs(type.inputFields ?? [])
  }
  const meta = [...all.values()].filter(({ name }) => name.startsWith('__'))
  return { ...whole, types: [...types.values(), ...meta], subscriptionType: null }
}

/** What judges nothing. */
const quiet = (text: string): string =>
  JSON.stringify(JSON.parse(text), (key, value) =>
    key === 'description' || key === 'deprecationReason' ? null : value,
  )

const folder = mkdtempSync(join(tmpdir(), 'contract-'))
try {
  const npm = (...args: string[]) => execFileSync('npm', args, { cwd: folder, encoding: 'utf8' })
  const archive = npm('pack', PACKAGE, '--silent').trim()
  execFileSync('tar', ['xzf', archive, `package/${FILE}`, 'package/LICENSE'], { cwd: folder })
  const bytes = readFileSync(join(folder, 'package', FILE))
  const { data } = JSON.parse(gunzipSync(bytes).toString('utf8'))
  const whole = buildClientSchema(data as IntrospectionQuery)
  const slice = JSON.parse(quiet(JSON.stringify({ __schema: cut(data.__schema) }))) as IntrospectionQuery
  const text = printSchema(buildClientSchema(slice))
  for (const [name, document] of Object.entries({ ...DOCUMENTS, check: CHECK })) {
    for (const schema of [whole, buildSchema(text)]) {
      const problems = validate(schema, parse(document)).map(({ message }) => message)
      if (problems.length > 0) throw new Error(`The document of ${name}: ${problems.join(' ')}`)
    }
  }
  const head = [
    `Shopify's Admin GraphQL schema ${VERSION}, cut from ${FILE} of ${PACKAGE}`,
    `(sha256 ${createHash('sha256').update(bytes).digest('hex')}); written by refresh-shopify.ts.`,
    'Changes: only the types and fields that the tests reach, in GraphQL’s own language, without descriptions.',
    ...readFileSync(join(folder, 'package/LICENSE'), 'utf8').trim().split('\n'),
  ]
  const comment = head.map((line) => `# ${line}`.trim()).join('\n')
  const target = join(import.meta.dirname, 'shopify.graphql')
  writeFileSync(target, `${comment}\n\n${text}\n`)
  execFileSync('npx', ['biome', 'format', '--write', target], { stdio: 'inherit' })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
