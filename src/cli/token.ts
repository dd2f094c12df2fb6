/**
 * `tollgate token`: a session token, alone where a program reads it, with all that goes with it where a person does.
 * @module
 */
import type { Command } from 'commander'
import { count, names, type RestOptions, remote } from './options.ts'
import { type Io, print, printJson, table, when } from './output.ts'
import { createRest } from './rest.ts'

interface TokenOptions extends RestOptions {
  readonly role: string
  readonly brand?: string
  readonly route?: string
  readonly tools?: readonly string[]
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
    readonly claudeCode: { readonly command: string }
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
    .requiredOption('--role <role>', 'role of the session; "tollgate check" lists them')
    .option('--brand <brand>', "brand (default: the owner's)")
    .option('--route <route>', 'standard or read-only')
    .option('--tools <names>', 'tool names, with commas between; a whole connector is mcp__connector__*', names)
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

function requestOf({ role, brand, route, tools, grant, approval, subject, ttl }: TokenOptions): object {
  return {
    role,
    brand,
    route,
    tools,
    subject,
    ttlSeconds: ttl,
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
    '.mcp.json:',
    '',
    JSON.stringify(issued.configs.mcpJson, undefined, 2),
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
