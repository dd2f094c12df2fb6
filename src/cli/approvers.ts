/**
 * `tollgate approver`: people who may decide the cards of a brand, each with a token.
 * @module
 */
import type { Command } from 'commander'
import { count, local, type RestOptions, remote } from './options.ts'
import { type Io, plain, print, printJson, table, when } from './output.ts'
import { createRest } from './rest.ts'

interface Approver {
  readonly id: string
  readonly brand: string
  readonly name: string
  readonly status: string
  readonly createdAt: string
  readonly expiresAt: string
}

interface CreateOptions extends RestOptions {
  readonly name: string
  readonly brand?: string
  readonly ttl?: number
}

interface ListOptions extends RestOptions {
  readonly brand?: string
  readonly limit?: number
  readonly cursor?: string
}

/** Adds `approver` with `create`, `list` and `revoke`. */
export function addApprovers(program: Command, io: Io): void {
  const approver = local(program, 'approver', 'people who may decide the cards of a brand')

  remote(approver, 'create', 'make an approver; piped, it prints the token alone')
    .requiredOption('--name <name>', 'the person, as decisions and the record name them')
    .option('--brand <brand>', "whose cards (default: the owner's brand)")
    .option('--ttl <seconds>', 'how long the token lives (default: 30 days, at most 31)', count)
    .action(async (_options: CreateOptions, command: Command) => {
      const { url, json, name, brand, ttl } = command.optsWithGlobals<CreateOptions>()
      const made = await createRest(io.env, url).post<Approver & { token: string; inbox: string }>('/v1/approvers', {
        name,
        brand,
        ttlSeconds: ttl,
      })
      if (json) return printJson(io, made)
      if (!io.stdout.isTTY) return print(io, made.token)
      print(
        io,
        one(made),
        '',
        'The token, shown only now:',
        '',
        `export TOLLGATE_APPROVER_TOKEN='${made.token}'`,
        '',
        `It signs in at ${made.inbox}, and works with tollgate cards, approve, deny, settle and standing.`,
      )
    })

  remote(approver, 'list', 'list approvers, newest first')
    .option('--brand <brand>', 'only this brand')
    .option('--limit <n>', 'most to list (default: 50)', count)
    .option('--cursor <cursor>', 'go on from a list before')
    .action(async (_options: ListOptions, command: Command) => {
      const { url, json, brand, limit, cursor } = command.optsWithGlobals<ListOptions>()
      const query = { brand, cursor, limit: limit === undefined ? undefined : String(limit) }
      const page = await createRest(io.env, url).get<{ items: Approver[]; nextCursor: string | null }>(
        '/v1/approvers',
        query,
      )
      if (json) return printJson(io, page)
      if (page.items.length === 0) return print(io, 'No approvers.')
      const rows = page.items.map(({ id, status, brand: whose, createdAt, expiresAt, name }) => [
        id,
        status,
        whose,
        when(createdAt),
        when(expiresAt),
        name,
      ])
      print(io, table(['APPROVER', 'STATUS', 'BRAND', 'ISSUED', 'EXPIRES', 'NAME'], rows))
      if (page.nextCursor !== null) print(io, '', `More: --cursor ${page.nextCursor}`)
    })

  remote(approver, 'revoke <id>', 'revoke an approver; the next use of the token is refused').action(
    async (id: string, _options: RestOptions, command: Command) => {
      const { url, json } = command.optsWithGlobals<RestOptions>()
      const revoked = await createRest(io.env, url).delete<Approver>(`/v1/approvers/${encodeURIComponent(id)}`)
      if (json) printJson(io, revoked)
      else print(io, one(revoked))
    },
  )
}

const one = ({ id, status, name, brand, expiresAt }: Approver): string =>
  `Approver ${id} is ${status}: ${plain(name)} for the brand ${plain(brand)}, until ${when(expiresAt)}.`
