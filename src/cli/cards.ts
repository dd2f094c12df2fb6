/**
 * `tollgate cards`, `approve` and `deny`: calls that wait for a person, and a person's answer.
 * @module
 */
import type { Command } from 'commander'
import { count, type RestOptions, remote } from './options.ts'
import { type Io, plain, print, printJson, table, when } from './output.ts'
import { createRest } from './rest.ts'

interface Card {
  readonly id: string
  readonly brand: string
  readonly sessionId: string
  readonly role: string
  readonly tool: string
  readonly title: string
  readonly summary: string
  readonly arguments: unknown
  readonly status: string
  readonly rules: readonly { readonly because: string }[]
  readonly createdAt: string
  readonly expiresAt: string
  readonly decidedAt?: string
  readonly decidedBy?: string
  readonly note?: string
  readonly outcome?: { readonly code: string }
}

interface CardsOptions extends RestOptions {
  readonly status: string
  readonly brand?: string
  readonly limit?: number
  readonly cursor?: string
}

/** Adds the three commands. */
export function addCards(program: Command, io: Io): void {
  const cards = remote(program, 'cards', 'list calls that wait for a person')
    .option(
      '--status <status>',
      'pending, approved, running, done, failed, unknown, denied, expired, withdrawn or all',
      'pending',
    )
    .option('--brand <brand>', 'only this brand')
    .option('--limit <n>', 'most to list (default: 50)', count)
    .option('--cursor <cursor>', 'go on from a list before')
    .action(async ({ url, json, status, brand, limit, cursor }: CardsOptions) => {
      const query = {
        brand,
        cursor,
        status: status === 'all' ? undefined : status,
        limit: limit === undefined ? undefined : String(limit),
      }
      const page = await createRest(io.env, url).get<{ items: Card[]; nextCursor: string | null }>(
        '/v1/approvals',
        query,
      )
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
      else print(io, ...whole(card))
    },
  )
  for (const verb of ['approve', 'deny'] as const) {
    const describes = verb === 'approve' ? 'approve exactly this call, once' : 'deny this call'
    remote(program, `${verb} <id>`, describes)
      .option('--note <text>', 'what the caller and the record are told')
      .action(async (id: string, { url, json, note }: RestOptions & { note?: string }) => {
        const card = await createRest(io.env, url).post<Card>(`/v1/approvals/${encodeURIComponent(id)}/${verb}`, {
          note,
        })
        if (json) printJson(io, card)
        else print(io, `${verb === 'approve' ? 'Approved' : 'Denied'}: ${plain(card.summary)}`)
      })
  }
}

function whole(card: Card): string[] {
  const decided =
    card.decidedBy === undefined
      ? []
      : [`Decided:   by ${card.decidedBy}, ${when(card.decidedAt)}${card.note ? `: ${card.note}` : ''}`]
  const outcome = card.outcome === undefined ? [] : [`Outcome:   ${card.outcome.code}`]
  return [
    card.summary,
    '',
    `Card:      ${card.id}`,
    `Status:    ${card.status}`,
    `Tool:      ${card.tool}`,
    `Asked by:  ${card.role}, session ${card.sessionId}, brand ${card.brand}`,
    `Waits:     ${when(card.createdAt)} until ${when(card.expiresAt)}`,
    ...decided,
    ...outcome,
    `Why:       ${card.rules.map(({ because }) => because).join(' ')}`,
    `Arguments: ${JSON.stringify(card.arguments)}`,
  ].map(plain)
}
