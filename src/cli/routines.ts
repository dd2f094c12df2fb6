/**
 * `tollgate routines`: what may run while nobody watches, one tool at a time.
 * @module
 */
import type { Command } from 'commander'
import { count, names, type RestOptions, remote } from './options.ts'
import { CliError, type Io, plain, print, printJson, table, when } from './output.ts'
import { createRest, type Rest } from './rest.ts'

interface Routine {
  readonly id: string
  readonly brand: string
  readonly name: string
  readonly description: string
  readonly channel: string
  readonly connections: readonly string[]
  readonly state: string
  readonly stateBecause?: string
  readonly version: number
  readonly tools: readonly { readonly tool: string; readonly state: string }[]
}

interface Tool {
  readonly tool: string
  readonly state: string
  readonly definition: string
  readonly because?: string
  readonly access: string | null
  readonly serverSays: unknown
  readonly proven: boolean
}

interface Trace {
  readonly startedAt: string
  readonly session: string
  readonly supervised: boolean
  readonly tool: string
  readonly arguments: unknown
  readonly decision: string
  readonly outcome: string
  readonly code?: string
  readonly card?: { readonly id: string; readonly decidedBy?: string }
}

interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

interface ListOptions extends RestOptions {
  readonly brand?: string
  readonly tool?: string
  readonly session?: string
  readonly limit?: number
  readonly cursor?: string
}

const at = (id: string, more = '') => `/v1/routines/${encodeURIComponent(id)}${more}`

/** Adds the commands. */
export function addRoutines(program: Command, io: Io): void {
  const routines = program.command('routines').description('what may run unattended, and with which tools')
  const rest = (url: string | undefined) => createRest(io.env, url)

  paged(remote(routines, 'list', 'list routines'))
    .option('--brand <brand>', 'only this brand')
    .action(async ({ url, json, brand, limit, cursor }: ListOptions) => {
      const page = await rest(url).get<Page<Routine>>('/v1/routines', { brand, ...place({ limit, cursor }) })
      if (json) return printJson(io, page)
      if (page.items.length === 0) return print(io, 'No routines. Make one with: tollgate routines create <name>')
      const rows = page.items.map((one) => [one.id, one.state, one.brand, held(one), one.name])
      print(io, table(['ROUTINE', 'STATE', 'BRAND', 'TOOLS', 'NAME'], rows))
      more(io, page)
    })

  remote(routines, 'show <id>', 'show a routine, and how every tool of its connections stands').action(
    async (id: string, { url, json }: RestOptions) => {
      const gateway = rest(url)
      const routine = await gateway.get<Routine>(at(id))
      const { items } = await gateway.get<Page<Tool>>(at(id, '/tools'))
      if (json) return printJson(io, { ...routine, tools: items })
      print(io, `${plain(routine.name)} (${routine.id}), brand ${routine.brand}, version ${routine.version}`)
      print(io, `${routine.state}${routine.stateBecause === undefined ? '' : `: ${plain(routine.stateBecause)}`}`)
      if (routine.description !== '') print(io, plain(routine.description))
      print(io, `Connections: ${routine.connections.join(', ') || 'none'}; unattended channel: ${routine.channel}`, '')
      if (items.length === 0) return print(io, 'No tools: its connections list none.')
      print(io, table(['TOOL', 'STATE', 'ACCESS', 'PROOF', 'THE SERVER SAYS', 'NOTE'], items.map(toolRow)))
    },
  )

  remote(routines, 'create <name>', 'make a routine: a draft with every tool disabled')
    .option('--brand <brand>', "whose it is (default: the owner's)")
    .option('--connections <slugs>', 'the connections it uses, as in github,search', names)
    .option('--channel <channel>', 'how its unattended sessions reach a person: none or inbox', 'none')
    .option('--description <text>', 'what it is for')
    .action(
      async (
        name: string,
        {
          url,
          json,
          ...draft
        }: RestOptions & Partial<Pick<Routine, 'brand' | 'connections' | 'channel' | 'description'>>,
      ) => {
        const routine = await rest(url).post<Routine>('/v1/routines', { name, ...draft })
        if (json) printJson(io, routine)
        else
          print(
            io,
            `Made ${routine.id}, a draft. Enable its tools with: tollgate routines set ${routine.id} <tool> enabled`,
          )
      },
    )

  remote(
    routines,
    'set <id> <tool> <state>',
    'set one tool to disabled, enabled (each call asks) or automatic (runs unattended)',
  )
    .option('--confirm <sentence>', 'for automatic: the sentence that the refusal without it says')
    .option('--made-from <version>', 'refuse where the routine has another version by now', count)
    .action(
      async (
        id: string,
        tool: string,
        state: string,
        { url, json, confirm, madeFrom }: RestOptions & { confirm?: string; madeFrom?: number },
      ) => {
        if (!['disabled', 'enabled', 'automatic'].includes(state)) {
          throw new CliError('The state of a tool is disabled, enabled or automatic.')
        }
        const path = at(id, `/tools/${encodeURIComponent(tool)}`)
        const routine = await rest(url).put<Routine>(path, { state, confirm, version: madeFrom })
        if (json) printJson(io, routine)
        else print(io, `${plain(tool)} is ${state} in ${plain(routine.name)}, version ${routine.version}.`)
      },
    )

  remote(routines, 'ready <id>', 'make a routine ready for unattended sessions')
    .option('--made-from <version>', 'refuse where the routine has another version by now', count)
    .action(async (id: string, { url, json, madeFrom }: RestOptions & { madeFrom?: number }) => {
      const routine = await rest(url).post<Routine>(at(id, '/ready'), { version: madeFrom })
      if (json) printJson(io, routine)
      else print(io, `${plain(routine.name)} is ready, version ${routine.version}.`)
    })

  paged(remote(routines, 'traces <id>', 'what the sessions of a routine called'))
    .option('--tool <tool>', 'only this tool')
    .option('--session <id>', 'one session, in order')
    .action(async (id: string, { url, json, tool, session, limit, cursor }: ListOptions) => {
      const page = await readTraces(rest(url), id, { tool, session, limit, cursor })
      if (json) return printJson(io, page)
      if (page.items.length === 0) return print(io, 'No calls yet.')
      print(
        io,
        table(['AT', 'SESSION', 'RUN', 'TOOL', 'DECISION', 'OUTCOME', 'BY', 'ARGUMENTS'], page.items.map(traceRow)),
      )
      more(io, page)
    })
}

type TracesAsked = { readonly [K in 'tool' | 'session' | 'limit' | 'cursor']: ListOptions[K] | undefined }

function readTraces(rest: Rest, id: string, { tool, session, ...page }: TracesAsked) {
  const query = place({ limit: page.limit, cursor: page.cursor })
  if (session === undefined) return rest.get<Page<Trace>>(at(id, '/traces'), { tool, ...query })
  if (tool !== undefined) throw new CliError('Give --tool or --session, not both.')
  return rest.get<Page<Trace>>(`/v1/traces/${encodeURIComponent(session)}`, query)
}

const held = ({ tools }: Routine): string => {
  const automatic = tools.filter(({ state }) => state === 'automatic').length
  return `${tools.length} enabled, ${automatic} of them automatic`
}

function toolRow({ tool, state, definition, because, access, serverSays, proven }: Tool): string[] {
  const note = because ?? (definition === 'present' ? '' : definition)
  const says = serverSays === null || serverSays === undefined ? '' : JSON.stringify(serverSays)
  return [tool, state, access ?? '', proven ? 'yes' : 'no', says, note]
}

const traceRow = (one: Trace): string[] => [
  when(one.startedAt),
  one.session,
  one.supervised ? 'supervised' : 'unattended',
  one.tool,
  one.decision,
  one.code === undefined || one.code === 'ok' ? one.outcome : `${one.outcome} (${one.code})`,
  one.card?.decidedBy ?? '',
  JSON.stringify(one.arguments).slice(0, 200),
]

const paged = (command: Command): Command =>
  command
    .option('--limit <n>', 'most to list (default: 50)', count)
    .option('--cursor <cursor>', 'go on from a list before')

const place = ({ limit, cursor }: { limit: number | undefined; cursor: string | undefined }) => ({
  cursor,
  limit: limit === undefined ? undefined : String(limit),
})

function more(io: Io, { nextCursor }: Page<unknown>): void {
  if (nextCursor !== null) print(io, '', `More: --cursor ${nextCursor}`)
}
