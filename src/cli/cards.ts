/**
 * `tollgate cards`: calls that wait for a person, as a list, one by one, or live.
 * @module
 */
import type { Command } from 'commander'
import { type Card, cardText } from './card.ts'
import { count, names, type RestOptions, remote } from './options.ts'
import { CliError, type Io, print, printJson, table, when } from './output.ts'
import { createRest } from './rest.ts'
import { watchCards } from './watch.ts'

interface CardsOptions extends RestOptions {
  readonly watch?: true
  readonly status?: readonly string[]
  readonly brand?: string
  readonly role?: string
  readonly tool?: string
  readonly session?: string
  readonly limit?: number
  readonly cursor?: string
}

/** Adds the command. */
export function addCards(program: Command, io: Io): void {
  const cards = remote(program, 'cards', 'list calls that wait for a person, or follow them with --watch')
    .option('--watch', 'print cards as they arrive, are decided and finish; Ctrl-C ends it')
    .option(
      '--status <names>',
      'pending, approved, running, done, failed, unknown, denied, expired, withdrawn or all, with commas between (default: pending; all with --watch)',
      names,
    )
    .option('--brand <brand>', 'only this brand')
    .option('--role <role>', 'only what this role asks for')
    .option('--tool <name>', 'only this tool')
    .option('--session <id>', 'only this session')
    .option('--limit <n>', 'most to list (default: 50)', count)
    .option('--cursor <cursor>', 'go on from a list before')
    .action(async ({ url, json, watch, ...options }: CardsOptions) => {
      const rest = createRest(io.env, url)
      const { status: named, brand, role, tool, session: sessionId, limit, cursor } = options
      const narrowed = { brand, role, tool, sessionId }
      if (watch) {
        if (limit !== undefined || cursor !== undefined)
          throw new CliError('--watch goes on by itself; leave --limit and --cursor out.')
        const statuses = named === undefined || named.includes('all') ? undefined : named
        return watchCards(rest, io, { ...narrowed, statuses, json: json === true })
      }
      const status = named === undefined ? 'pending' : named.includes('all') ? undefined : named
      const query = { ...narrowed, status, cursor, limit: limit === undefined ? undefined : String(limit) }
      const page = await rest.get<{ items: Card[]; nextCursor: string | null }>('/v1/approvals', query)
      if (json) return printJson(io, page)
      if (page.items.length === 0) return print(io, status === 'pending' ? 'Nothing waits for a person.' : 'No cards.')
      const rows = page.items.map((card) => [card.id, card.status, card.brand, when(card.expiresAt), card.summary])
      print(io, table(['CARD', 'STATUS', 'BRAND', 'EXPIRES', 'CALL'], rows))
      if (page.nextCursor !== null) print(io, '', `More: --cursor ${page.nextCursor}`)
    })
  remote(cards, 'show <id>', 'a card with its arguments').action(
    async (id: string, _options: RestOptions, command: Command) => {
      const { url, json } = command.optsWithGlobals<RestOptions>()
      const card = await createRest(io.env, url).get<Card>(`/v1/approvals/${encodeURIComponent(id)}`)
      if (json) printJson(io, card)
      else print(io, ...cardText(card))
    },
  )
}
