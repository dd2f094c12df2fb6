/**
 * `tollgate connections`: what a brand connected. A credential is read from a variable or a file, since what stands on a
 * command line is in everybody's process list.
 * @module
 */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { jsonObject, local, names, type RestOptions, remote } from './options.ts'
import { CliError, type Io, print, printJson, table, when } from './output.ts'
import { createRest } from './rest.ts'

interface Connection {
  readonly brand: string
  readonly slug: string
  readonly connector: string
  readonly title: string
  readonly fields: readonly { readonly name: string; readonly set: boolean }[]
  readonly sharedWith: readonly string[]
  readonly status: string
  readonly check: { readonly said: string } | null
  readonly consent?: { readonly state: string } | null
  readonly mcp?: { readonly url: string }
  readonly changedAt: string
  readonly changedBy: string
}

interface Options extends RestOptions {
  readonly brand?: string
}

interface PutOptions extends Options {
  readonly connector?: string
  readonly set?: readonly string[]
  readonly file?: string
  readonly mcp?: string
}

/** Adds `connections` with `list`, `put`, `check`, `share` and `delete`. */
export function addConnections(program: Command, io: Io): void {
  const connections = local(program, 'connections', "what a brand connected: a vendor's credentials, sealed")
  const of = (spec: string, describes: string) =>
    remote(connections, spec, describes).option('--brand <brand>', "whose (default: the owner's brand)")
  const path = (slug: string, brand: string | undefined, more = '') =>
    `/v1/connections/${encodeURIComponent(slug)}${more}${brand === undefined ? '' : `?brand=${encodeURIComponent(brand)}`}`

  remote(connections, 'list', 'list connections, without anything secret')
    .option('--brand <brand>', 'only this brand')
    .action(async (_options: Options, command: Command) => {
      const { url, json, brand } = command.optsWithGlobals<Options>()
      const page = await createRest(io.env, url).get<{ items: Connection[] }>('/v1/connections', { brand })
      if (json) return printJson(io, page)
      if (page.items.length === 0) return print(io, 'No connections.')
      const rows = page.items.map((one) => [
        one.brand,
        one.slug,
        one.connector,
        one.consent?.state === 'needed' ? 'needs consent' : one.status,
        when(one.changedAt),
        one.changedBy,
        one.sharedWith.join(', '),
      ])
      print(io, table(['BRAND', 'CONNECTION', 'CONNECTOR', 'STATUS', 'CHANGED', 'BY', 'SHARED WITH'], rows))
    })

  of('put <slug>', 'connect a vendor, or state all fields of a connection anew')
    .option('--connector <slug>', 'which connector, where the connection has a name of its own')
    .option('--set <field=VARIABLE>', 'take a field from this environment variable; may be given several times', names)
    .option('--file <path>', 'take the fields from a file with a JSON object; "-" reads it from the input')
    .option(
      '--mcp <path>',
      'a remote MCP server of the brand\'s own, from a file with its entry; "-" reads it from the input',
    )
    .action(async (slug: string, _options: PutOptions, command: Command) => {
      const { url, json, brand, connector, set = [], file, mcp } = command.optsWithGlobals<PutOptions>()
      if (mcp !== undefined) {
        const made = await createRest(io.env, url).put<Connection>(path(slug, brand), { mcp: inFile(mcp) })
        if (json) return printJson(io, made)
        const next =
          made.consent?.state === 'needed'
            ? ['connect', 'Have a person consent']
            : ['check', 'Look whether it is there']
        return print(io, one(made), `${next[1]}: tollgate connections ${next[0]} ${slug} --brand ${made.brand}`)
      }
      const fields = { ...(file === undefined ? {} : inFile(file)), ...fromVariables(set, io.env) }
      if (Object.keys(fields).length === 0) {
        throw new CliError(
          'No field is stated; use --set field=VARIABLE, or --file with a JSON object ("-" for the input).',
        )
      }
      const made = await createRest(io.env, url).put<Connection>(path(slug, brand), { connector, fields })
      if (json) return printJson(io, made)
      print(
        io,
        one(made),
        `Look whether ${made.title} takes it: tollgate connections check ${slug} --brand ${made.brand}`,
      )
    })

  of('check <slug>', 'ask the vendor whether it takes the credentials, by a harmless call').action(
    async (slug: string, _options: Options, command: Command) => {
      const { url, json, brand } = command.optsWithGlobals<Options>()
      const rest = createRest(io.env, url)
      const { ok, said } = await rest.post<{ ok: boolean; said: string }>(path(slug, brand, '/check'), {})
      if (!ok) throw new CliError(said, { ok, said })
      if (json) printJson(io, { ok, said })
      else print(io, said)
    },
  )

  of('connect <slug>', 'begin the consent of a person to a connection; prints where to open, once').action(
    async (slug: string, _options: Options, command: Command) => {
      const { url, json, brand } = command.optsWithGlobals<Options>()
      const rest = createRest(io.env, url)
      const begun = await rest.post<{ authorizationUrl: string; expiresAt: string }>(path(slug, brand, '/connect'), {})
      if (json) printJson(io, begun)
      else print(io, `Open in a browser, until ${when(begun.expiresAt)}:`, begun.authorizationUrl)
    },
  )

  of('share <slug>', "share a connection of the owner's brand; it replaces whom it was shared with")
    .option('--with <brands>', 'the brands, with commas; none ends the sharing', names, [])
    .action(async (slug: string, _options: Options, command: Command) => {
      const { url, json, brand, with: brands } = command.optsWithGlobals<Options & { with: readonly string[] }>()
      const shared = await createRest(io.env, url).post<Connection>(path(slug, brand, '/share'), { brands })
      if (json) printJson(io, shared)
      else print(io, one(shared))
    })

  of('delete <slug>', 'remove a connection and its credentials; its tools are gone at once').action(
    async (slug: string, _options: Options, command: Command) => {
      const { url, json, brand } = command.optsWithGlobals<Options>()
      const removed = await createRest(io.env, url).delete<Connection>(path(slug, brand))
      if (json) printJson(io, removed)
      else print(io, `The connection ${removed.slug} of ${removed.brand} is removed.`)
    },
  )
}

function one({ brand, slug, title, fields, status, sharedWith, mcp, consent }: Connection): string {
  if (mcp !== undefined) {
    const state = consent?.state === 'needed' ? 'needs consent' : status
    return `${slug} of ${brand}: a server of its own at ${mcp.url}, ${state}.`
  }
  const set = fields.filter((field) => field.set).map(({ name }) => name)
  const shared = sharedWith.length === 0 ? '' : `, shared with ${sharedWith.join(', ')}`
  return `${slug} of ${brand}: ${title}, ${status}, set: ${set.join(', ') || 'nothing'}${shared}.`
}

function inFile(file: string): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch {
    throw new CliError(`${file} cannot be read.`)
  }
  try {
    return jsonObject(text)
  } catch {
    throw new CliError(`${file === '-' ? 'The input' : file} is no JSON object, as in {"apiKey": "..."}.`)
  }
}

function fromVariables(set: readonly string[], env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    set.map((text) => {
      const [, field, variable] = /^([A-Za-z][A-Za-z0-9_]*)=([A-Za-z_][A-Za-z0-9_]*)$/.exec(text) ?? []
      // Never repeated: it may be the credential itself.
      if (field === undefined || variable === undefined) {
        throw new CliError(
          '--set takes a field and the name of a variable, as in apiKey=FIRECRAWL_API_KEY, not the value.',
        )
      }
      const value = env[variable]
      if (!value) throw new CliError(`The variable for the field ${field} is not set.`)
      return [field, value]
    }),
  )
}
