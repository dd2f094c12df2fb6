/**
 * `tollgate new connector`: a file to start from, in a checkout of the gateway.
 * @module
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { SLUG } from '../policy/names.ts'
import { local } from './options.ts'
import { CliError, type Io, print, printJson } from './output.ts'

interface Options {
  readonly json?: true
  readonly folder: string
}

/** Adds `new connector`. */
export function addNew(program: Command, io: Io): void {
  const made = local(program, 'new', 'write a file to start from')
  local(made, 'connector <slug>', 'write connectors/<slug>.ts: one tool that reads, to be filled in')
    .option('--folder <path>', 'the checkout of the gateway', '.')
    .action((slug: string, _options: Options, command: Command) => {
      const { json, folder } = command.optsWithGlobals<Options>()
      const file = writeConnector(slug, folder)
      if (json) return printJson(io, { file })
      print(
        io,
        `${file} is written.`,
        '',
        `Next: fill it in (docs/connectors.md shows a whole one), add it to connectors/index.ts, run "npm run docs",`,
        `and write test/connectors/${slug}.test.ts with the vendor's contract.`,
      )
    })
}

/** Writes the file and answers its path. Throws CliError rather than write over anything. */
function writeConnector(slug: string, folder: string): string {
  if (!SLUG.test(slug) || slug !== slug.toLowerCase() || slug.length > 32) {
    throw new CliError(
      `${JSON.stringify(slug)} is no slug: small letters, digits, "-" and single "_", as in "searchconsole".`,
    )
  }
  if (!existsSync(join(folder, 'src', 'connector', 'native', 'kit.ts'))) {
    throw new CliError(`${folder} is no checkout of the gateway; go there, or name it with --folder.`)
  }
  const file = join(folder, 'connectors', `${slug}.ts`)
  mkdirSync(dirname(file), { recursive: true })
  try {
    writeFileSync(file, connectorText(slug), { flag: 'wx' })
  } catch {
    throw new CliError(`${file} is there already, or cannot be written.`)
  }
  return file
}

/** The text of a connector that can be run as it is. */
export function connectorText(slug: string): string {
  const words = slug.split(/[-_]/)
  const title = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ')
  const name = words.map((word, i) => (i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('')
  const variable = /^\d/.test(name) ? `_${name}` : name
  const prefix = slug.replaceAll('-', '_')
  return `/**
 * ${title}: what it is, in one line.
 * @module
 */
import { z } from 'zod'
import { body, type ConnectionKind, defineConnector, GRANTABLE_READ, path } from '../src/connector/native/kit.ts'

const connection: ConnectionKind = {
  // What a brand states. Each is a secret unless it says \`secret: false\`.
  fields: {
    apiKey: { title: 'an API key (where a person finds it)', schema: z.string().min(8), env: '${prefix.toUpperCase()}_API_KEY' },
  },
  baseUrl: 'https://api.${prefix.replaceAll('_', '-')}.example/v1',
  authorize: ({ apiKey }) => ({ authorization: \`Bearer \${apiKey}\` }),
  // A call that reads, costs nothing and needs the least scope; the sentence is for people.
  check: async (http) => \`Signed in as \${(await http.get<{ name: string }>(path\`/me\`)).json.name}.\`,
}

const getThing = body({
  title: 'Read a thing',
  description: 'For the model: what it does, what it costs, what it does not do.',
  input: z.strictObject({
    id: z.string().min(1).max(64).describe('Where it comes from.'),
  }),
  async run({ args, http }) {
    const { json } = await http.get<{ name?: string }>(path\`/things/\${args.id}\`)
    return { name: json.name }
  },
})

export const ${variable} = defineConnector({
  slug: '${slug}',
  title: '${title}',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected ${title}.',
  connection,
  tools: [{ name: '${prefix}_get_thing', ...GRANTABLE_READ, body: getThing }],
  // What is not built on purpose, and why.
  withheld: [{ what: 'Deleting things', why: 'It cannot be undone.' }],
})
`
}
