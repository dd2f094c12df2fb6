/**
 * `tollgate sessions` and `tollgate explain`: what sessions there are, what one holds, and what would become of a call.
 * @module
 */
import type { Command } from 'commander'
import { count, jsonObject, names, type RestOptions, remote } from './options.ts'
import { CliError, type Io, print, printJson, table, when } from './output.ts'
import { createRest } from './rest.ts'
import { type Held, holdings, type Withheld } from './token.ts'
import { askWhatIf, whatIfText } from './what-if.ts'

interface Session {
  readonly id: string
  readonly brand: string
  readonly role: string
  readonly route: string
  readonly subject: string
  readonly status: string
  readonly createdAt: string
  readonly expiresAt: string
}

interface Detail extends Session {
  readonly tools: readonly Held[]
  readonly builtins: readonly string[]
  readonly withheld: readonly Withheld[]
  readonly problem?: string
  readonly spend?: readonly {
    readonly connector: string
    readonly unit: string
    readonly most: string
    readonly left: string
  }[]
}

interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

interface ListOptions extends RestOptions {
  readonly brand?: string
  readonly limit?: number
  readonly cursor?: string
}

/** Adds `sessions` with `show`, `revoke` and `end`. */
export function addSessions(program: Command, io: Io): void {
  const sessions = remote(program, 'sessions', 'list sessions, newest first')
    .option('--brand <brand>', 'only this brand')
    .option('--limit <n>', 'most to list (default: 50)', count)
    .option('--cursor <cursor>', 'go on from a list before')
    .action(async ({ url, json, brand, limit, cursor }: ListOptions) => {
      const query = { brand, cursor, limit: limit === undefined ? undefined : String(limit) }
      const page = await createRest(io.env, url).get<Page<Session>>('/v1/sessions', query)
      if (json) printJson(io, page)
      else print(io, ...listed(page))
    })
  remote(sessions, 'show <id>', 'what a session holds as of now, and why not the rest').action(
    async (id: string, _options: RestOptions, command: Command) => {
      const { url, json } = command.optsWithGlobals<RestOptions>()
      const session = await createRest(io.env, url).get<Detail>(`/v1/sessions/${encodeURIComponent(id)}`)
      if (json) return printJson(io, session)
      print(
        io,
        one(session),
        ...(session.problem === undefined ? [] : [session.problem]),
        '',
        ...holdings(session),
        ...leftOf(session),
      )
    },
  )
  remote(sessions, 'revoke <id>', 'revoke a session; its token is refused within a second').action(
    async (id: string, _options: RestOptions, command: Command) => {
      const { url, json } = command.optsWithGlobals<RestOptions>()
      const session = await createRest(io.env, url).delete<Session>(`/v1/sessions/${encodeURIComponent(id)}`)
      if (json) printJson(io, session)
      else print(io, one(session))
    },
  )
  remote(sessions, 'end <id>', 'end a session that is done')
    .option('--usd <amount>', 'what its run cost, in US dollars')
    .action(async (id: string, { usd }: { usd?: string }, command: Command) => {
      const { url, json } = command.optsWithGlobals<RestOptions>()
      const session = await createRest(io.env, url).post<Session>(`/v1/sessions/${encodeURIComponent(id)}/end`, { usd })
      if (json) printJson(io, session)
      else print(io, one(session))
    })
}

/** What is left of each allowance. */
const leftOf = ({ spend = [] }: Detail): string[] =>
  spend.length === 0
    ? []
    : [
        '',
        ...spend.map(({ connector, unit, most, left }) => `${connector}: ${left} of ${most} ${unit} left in this run.`),
      ]

function listed({ items, nextCursor }: Page<Session>): string[] {
  if (items.length === 0) return ['No sessions.']
  const rows = items.map(({ id, status, brand, role, route, createdAt, expiresAt }) => [
    id,
    status,
    brand,
    route === 'standard' ? role : `${role}, ${route}`,
    when(createdAt),
    when(expiresAt),
  ])
  const more = nextCursor === null ? [] : ['', `More: --cursor ${nextCursor}`]
  return [table(['SESSION', 'STATUS', 'BRAND', 'ROLE', 'ISSUED', 'EXPIRES'], rows), ...more]
}

const one = ({ id, status, role, route, brand, expiresAt }: Session): string =>
  `Session ${id} is ${status}: ${role} for the brand ${brand}, ${route} route, expires ${when(expiresAt)}.`

interface ExplainOptions extends RestOptions {
  readonly session?: string
  readonly role?: string
  readonly brand?: string
  readonly route?: string
  readonly tools?: readonly string[]
  readonly grant?: readonly string[]
  readonly approval: boolean
  readonly arguments?: Record<string, unknown>
  readonly whatIf?: string
  readonly days?: number
}

interface Explained {
  readonly tool: string
  readonly effect: string
  readonly code?: string
  readonly access?: string
  readonly filter: string
  readonly rule: string
  readonly cost?: { readonly unit: string | null; readonly amount: string | null; readonly because: string }
  readonly reasons: readonly { readonly rule: string; readonly because: string }[]
}

/** Adds `explain`. */
export function addExplain(program: Command, io: Io): void {
  remote(program, 'explain [tool]', 'what would become of a call, and why; nothing is done')
    .option('--session <id>', 'of this session')
    .option('--role <role>', 'or of a session of this role')
    .option('--brand <brand>', "with this brand (default: the owner's)")
    .option('--route <route>', 'on this route')
    .option('--tools <names>', 'whose ceiling is this (default: the tool itself)', names)
    .option('--grant <connectors>', 'with this grant', names)
    .option('--no-approval', 'with nobody to ask')
    .option('--arguments <json>', 'arguments of the call', jsonObject)
    .option('--what-if <folder>', 'instead of a call: which recorded calls these policy files would decide otherwise')
    .option('--days <n>', 'of how many days, with --what-if (default: 3)', count)
    .action(async (tool: string | undefined, options: ExplainOptions) => {
      const rest = createRest(io.env, options.url)
      if (options.whatIf !== undefined) {
        if (tool !== undefined) throw new CliError('--what-if looks at every recorded call; leave the tool out.')
        const answer = await askWhatIf(rest, options.whatIf, options)
        if (options.json) printJson(io, answer)
        else print(io, ...whatIfText(answer, options.whatIf))
        return
      }
      if (tool === undefined) throw new CliError('Name a tool, or a folder of policy files with --what-if.')
      if ((options.session === undefined) === (options.role === undefined)) {
        throw new CliError('Say whose call it is: either --session ID or --role ROLE.')
      }
      const whose = options.session === undefined ? { claims: claimsOf(tool, options) } : { session: options.session }
      const explained = await rest.post<Explained>('/v1/explain', { ...whose, tool, arguments: options.arguments })
      if (options.json) printJson(io, explained)
      else print(io, ...explainedText(explained))
    })
}

function explainedText({ tool, effect, code, filter, rule, cost, reasons }: Explained): string[] {
  const lines = [`${tool}: ${effect}${code === undefined ? '' : ` (${code})`}`, `Decided by the ${filter}: ${rule}.`]
  if (cost !== undefined && cost.amount !== '0') {
    lines.push(`Cost: ${cost.amount === null ? 'not known' : `${cost.amount} ${cost.unit}`}. ${cost.because}`)
  }
  if (reasons.length === 0) return lines
  const rows = reasons.map(({ rule: name, because }) => [name, because])
  return [...lines, '', table(['RULE', 'BECAUSE'], rows)]
}

function claimsOf(tool: string, { role, brand, route, tools, grant, approval }: ExplainOptions): object {
  return {
    role,
    brand,
    route,
    ceiling: tools ?? [tool],
    ...(grant === undefined ? {} : { grant: { connectors: grant } }),
    ...(approval ? {} : { approval: { channel: 'none' } }),
  }
}
