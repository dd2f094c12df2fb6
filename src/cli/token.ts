/**
 * `tollgate token`: a session token, alone where a program reads it, with all that goes with it where a person does.
 * @module
 */
import type { Command } from 'commander'
import { readDefinition } from './definition.ts'
import { count, names, type RestOptions, remote } from './options.ts'
import { CliError, type Io, print, printJson, table, when } from './output.ts'
import { createRest } from './rest.ts'

interface TokenOptions extends RestOptions {
  readonly role?: string
  readonly coworker?: string
  readonly retryOf?: string
  readonly brand?: string
  readonly route?: string
  readonly tools?: readonly string[]
  readonly definition?: string
  readonly grant?: readonly string[]
  readonly approval: boolean
  readonly subject?: string
  readonly ttl?: number
}

interface Issued {
  readonly id: string
  readonly token: string
  readonly expiresAt: string
  readonly url: string
  readonly inbox: string
  readonly brand: string
  readonly role: string
  readonly tools: readonly Held[]
  readonly builtins: readonly string[]
  readonly withheld: readonly Withheld[]
  readonly configs: {
    readonly claudeCode: { readonly command: string; readonly run: string }
    readonly agentSdk: unknown
    readonly mcpJson: unknown
    readonly hermes: string
    readonly codex: string
  }
}

/** A tool as `POST /v1/sessions` and `GET /v1/sessions/:id` show it. */
export interface Held {
  readonly name: string
  readonly listedAs: string
  readonly access: string
  readonly asks: boolean
  readonly refuses?: string
}

export interface Withheld {
  readonly tool: string
  readonly code: string
  readonly reason: string
}

/** Adds the command. */
export function addToken(program: Command, io: Io): void {
  remote(program, 'token', 'issue a session token; piped, it prints the token alone')
    .option('--role <role>', 'role of the session; "tollgate check" lists them')
    .option('--coworker <id>', 'or the saved coworker it is a run of, whose profile says what it gets')
    .option('--retry-of <session>', 'the session it is another attempt at; it gets no tool that one did not hold')
    .option('--brand <brand>', "brand (default: the owner's)")
    .option('--route <route>', 'standard or read-only')
    .option('--tools <names>', 'tool names, with commas between; a whole connector is mcp__connector__*', names)
    .option('--definition <file>', 'an agent definition, JSON or YAML, whose toolNames are the tools')
    .option('--grant <connectors>', 'connectors a person grants, with commas between', names)
    .option('--no-approval', 'nobody can be asked, even where the role has somebody')
    .option('--subject <text>', 'whom the session is for')
    .option('--ttl <seconds>', 'how long it lives (default: 3600)', count)
    .action(async (options: TokenOptions) => {
      const issued = await createRest(io.env, options.url).post<Issued>('/v1/sessions', requestOf(options))
      if (options.json) printJson(io, issued)
      else if (io.stdout.isTTY) print(io, ...forPeople(issued))
      else print(io, issued.token)
    })
}

function requestOf({
  role,
  coworker,
  retryOf,
  brand,
  route,
  tools,
  definition,
  grant,
  approval,
  subject,
  ttl,
}: TokenOptions): object {
  if (role === undefined && coworker === undefined) {
    throw new CliError('Say what the session is: --role ROLE, or --coworker ID.')
  }
  if (tools !== undefined && definition !== undefined) {
    throw new CliError('Give --tools or --definition, not both; a definition names its tools itself.')
  }
  return {
    role,
    coworker,
    retryOf,
    brand,
    route,
    tools,
    subject,
    ttlSeconds: ttl,
    ...(definition === undefined ? {} : { definition: readDefinition(definition) }),
    ...(grant === undefined ? {} : { grant: { connectors: grant } }),
    ...(approval ? {} : { approval: { channel: 'none' } }),
  }
}

function forPeople(issued: Issued): string[] {
  return [
    `Session ${issued.id}: ${issued.role} for the brand ${issued.brand}, until ${when(issued.expiresAt)}.`,
    '',
    ...holdings(issued),
    '',
    'The token, shown only now:',
    '',
    `export GATEWAY_TOKEN='${issued.token}'`,
    '',
    'Claude Code:',
    '',
    issued.configs.claudeCode.command,
    '',
    'Claude Code with these tools and no others, given the file below as gateway.mcp.json:',
    '',
    issued.configs.claudeCode.run,
    '',
    '.mcp.json:',
    '',
    JSON.stringify(issued.configs.mcpJson, undefined, 2),
    '',
    'Agent SDK, options beside your own canUseTool:',
    '',
    JSON.stringify(issued.configs.agentSdk, undefined, 2),
    '',
    'Hermes, config.yaml:',
    '',
    issued.configs.hermes,
    'Codex, config.toml:',
    '',
    issued.configs.codex,
    `Calls that wait for a person: ${issued.inbox}, or tollgate cards.`,
  ]
}

/** What a session holds, what it does not, and why. */
export function holdings({ tools, builtins, withheld }: Pick<Issued, 'tools' | 'builtins' | 'withheld'>): string[] {
  const lines: string[] = []
  if (builtins.length > 0) lines.push(`Built-ins: ${builtins.join(', ')}`)
  if (tools.length === 0) lines.push('Tools: none.')
  else {
    const rows = tools.map(({ listedAs, access, asks, refuses }) => [
      listedAs,
      access,
      refuses ?? (asks ? 'asks a person' : 'runs'),
    ])
    lines.push(table(['TOOL', 'ACCESS', 'EACH CALL'], rows))
  }
  if (withheld.length > 0) {
    lines.push(
      '',
      'Not given:',
      table(
        ['TOOL', 'CODE', 'WHY'],
        withheld.map(({ tool, code, reason }) => [tool, code, reason]),
      ),
    )
  }
  return lines
}
