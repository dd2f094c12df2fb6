/**
 * `tollgate tools` and `tollgate discover`: what an upstream's tools say of themselves, what changed, and the operator's
 * yes to it.
 * @module
 */
import type { Command } from 'commander'
import { local, type RestOptions, remote } from './options.ts'
import { CliError, type Io, plain, print, printJson, table, when } from './output.ts'
import { createRest, type Rest } from './rest.ts'

interface Tool {
  readonly tool: string
  readonly state: string
  readonly access: string | null
  readonly digest: string | null
  readonly pinned: { readonly acceptedBy: string; readonly acceptedAt: string } | null
  readonly seen: { readonly digest: string } | null
  readonly diff: { readonly changes: readonly Change[]; readonly more: number }
  readonly renamedFrom?: string
  readonly serverSays: unknown
}

interface Change {
  readonly path: string
  readonly change: string
  readonly before?: string
  readonly now?: string
  readonly hidden?: true
  readonly serverSays?: true
  readonly unseen?: true
}

interface Page {
  readonly connection: string
  readonly pinned: boolean
  readonly upstream: { readonly state: string; readonly detail: string }
  readonly items: readonly Tool[]
  readonly nextCursor: string | null
}

interface Options extends RestOptions {
  readonly brand?: string
  readonly digest?: string
}

const MOST_PAGES = 200

/** Adds `tools` with `list`, `diff` and `accept`, and `discover`. */
export function addTools(program: Command, io: Io): void {
  const tools = local(program, 'tools', 'what the tools of a connection say of themselves, and a yes to what changed')
  const of = (parent: Command, spec: string, describes: string) =>
    remote(parent, spec, describes).option('--brand <brand>', "whose connection (default: the owner's brand)")

  of(tools, 'list <connection> [tool]', 'list tools: open, or closed until somebody accepts them').action(
    async (connection: string, tool: string | undefined, _options: Options, command: Command) => {
      const { url, json, brand } = command.optsWithGlobals<Options>()
      const page = await readAll(createRest(io.env, url), connection, { brand, tool })
      if (json) printJson(io, page)
      else print(io, ...listed(page))
    },
  )

  of(tools, 'diff <connection> [tool]', 'show how tools differ from what was accepted, field by field').action(
    async (connection: string, tool: string | undefined, _options: Options, command: Command) => {
      const { url, json, brand } = command.optsWithGlobals<Options>()
      const page = await readAll(createRest(io.env, url), connection, { brand, tool })
      if (tool !== undefined && page.items.length === 0)
        throw new CliError(`${connection} has no tool ${plain(tool)}; see: tollgate tools list ${connection}`)
      const items = page.items.filter(({ seen }) => seen !== null)
      if (json) return printJson(io, { ...page, items })
      if (items.length === 0) return print(io, `Nothing differs: ${connection} is as it was accepted.`)
      print(io, ...items.flatMap((item) => [...differing(item), acceptLine(connection, item, brand), '']))
    },
  )

  of(tools, 'accept <connection> <tool>', 'accept a tool as it is described now; it opens at once')
    .option('--digest <digest>', 'of the definition you read, as "tools diff" prints it; its first 12 digits will do')
    .action(async (connection: string, tool: string, _options: Options, command: Command) => {
      const { url, json, brand, digest } = command.optsWithGlobals<Options>()
      const rest = createRest(io.env, url)
      const [found] = (await readAll(rest, connection, { brand, tool })).items
      if (found === undefined)
        throw new CliError(`${connection} has no tool ${plain(tool)}; see: tollgate tools list ${connection}`)
      const seen = found.seen?.digest
      if (seen === undefined) {
        throw new CliError(`${tool} is as it was accepted; there is nothing to accept.`)
      }
      // What is accepted is what somebody read, not what is there when the command runs.
      if (digest === undefined || !/^[0-9a-f]{12,64}$/.test(digest)) {
        throw new CliError(`Say which definition you read: ${acceptCommand(connection, tool, seen, brand)}`)
      }
      if (!seen.startsWith(digest)) {
        throw new CliError(
          `The definition of ${tool} is another one by now; read it again: tollgate tools diff ${connection} ${tool}`,
        )
      }
      const path = `/v1/connections/${encodeURIComponent(connection)}/tools/${encodeURIComponent(tool)}/accept`
      const now = await rest.post<Tool>(withBrand(path, brand), { digest: seen })
      if (json) printJson(io, now)
      else print(io, `${connection} ${tool} is accepted as it is now, and ${now.state}.`)
    })

  of(program, 'discover <connection>', 'read the tools of a connection again, now').action(
    async (connection: string, _options: Options, command: Command) => {
      const { url, json, brand } = command.optsWithGlobals<Options>()
      const rest = createRest(io.env, url)
      await rest.post(withBrand(`/v1/connections/${encodeURIComponent(connection)}/discover`, brand), {})
      const page = await readAll(rest, connection, { brand })
      if (json) printJson(io, page)
      else print(io, ...listed(page))
    },
  )
}

const withBrand = (path: string, brand: string | undefined): string =>
  brand === undefined ? path : `${path}?brand=${encodeURIComponent(brand)}`

async function readAll(
  rest: Rest,
  connection: string,
  query: { brand?: string | undefined; tool?: string | undefined },
): Promise<Page> {
  const path = `/v1/connections/${encodeURIComponent(connection)}/tools`
  let page = await rest.get<Page>(path, { ...query, limit: '200' })
  const items = [...page.items]
  for (let i = 0; page.nextCursor !== null && i < MOST_PAGES; i++) {
    page = await rest.get<Page>(path, { ...query, limit: '200', cursor: page.nextCursor })
    items.push(...page.items)
  }
  return { ...page, items }
}

function listed({ connection, pinned, upstream, items }: Page): string[] {
  const head = `${connection} is ${upstream.state}: ${plain(upstream.detail)}`
  const own = pinned ? [] : ['Its definitions are the product’s own code, so they are not pinned.']
  if (items.length === 0) return [head, ...own, 'No tools.']
  const rows = items.map(({ tool, state, access, pinned, serverSays, renamedFrom }) => [
    tool,
    state + (renamedFrom === undefined ? '' : ` (looks like ${renamedFrom})`),
    access ?? '',
    pinned === null ? '' : `${when(pinned.acceptedAt)} by ${pinned.acceptedBy}`,
    serverSays === null ? '' : JSON.stringify(serverSays),
  ])
  return [head, ...own, table(['TOOL', 'STATE', 'ACCESS', 'ACCEPTED', 'THE SERVER SAYS'], rows)]
}

function differing({ tool, state, diff, renamedFrom }: Tool): string[] {
  const was = renamedFrom === undefined ? '' : `, looks like ${renamedFrom} under another name`
  const rest = diff.more > 0 ? [`  and ${diff.more} more fields`] : []
  return [`${tool} (${state}${was})`, ...diff.changes.flatMap(changeLines), ...rest]
}

function changeLines({ path, change, before, now, hidden, serverSays, unseen }: Change): string[] {
  const notes = [
    ...(serverSays ? ['the server says; it decides nothing here'] : []),
    ...(hidden ? ['holds hidden characters, written as \\u{…}'] : []),
    ...(unseen ? ['differs where it is redacted or cut'] : []),
  ]
  const note = notes.length === 0 ? '' : ` [${notes.join('; ')}]`
  const lines = (sign: string, text: string | undefined): string[] =>
    text === undefined ? [] : text.split('\n').map((line) => `    ${sign} ${plain(line)}`)
  return [`  ${plain(path)} ${change}${note}`, ...lines('-', before), ...lines('+', now)]
}

const acceptCommand = (connection: string, tool: string, digest: string, brand: string | undefined): string =>
  `tollgate tools accept ${connection} ${tool} --digest ${digest.slice(0, 12)}${brand === undefined ? '' : ` --brand ${brand}`}`

const acceptLine = (connection: string, { tool, seen }: Tool, brand: string | undefined): string =>
  `  To accept it as it is now: ${acceptCommand(connection, tool, seen?.digest ?? '', brand)}`
