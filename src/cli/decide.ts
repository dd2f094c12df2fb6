/**
 * `tollgate approve`, `deny`, `settle` and `standing`: a person's answers, and those that stand.
 * @module
 */
import type { Command } from 'commander'
import type { Card } from './card.ts'
import { count, jsonObject, type RestOptions, remote } from './options.ts'
import { CliError, type Io, plain, print, printJson, table, when } from './output.ts'
import { createRest } from './rest.ts'

interface Standing {
  readonly id: string
  readonly brand: string
  readonly scope: string
  readonly summary: string
  readonly state: string
  readonly similar?: unknown
  readonly left?: number
  readonly used: number
  readonly createdBy: string
  readonly expiresAt?: string
}

interface AnswerOptions extends RestOptions {
  readonly note?: string
  readonly shown?: string
  readonly scope?: string
  readonly similar?: Record<string, unknown>
}

/** Adds the commands. */
export function addDecisions(program: Command, io: Io): void {
  const send = async (id: string, verb: string, { url, json }: RestOptions, body: object, done: string) => {
    const path = `/v1/approvals/${encodeURIComponent(id)}/${verb}`
    const card = await createRest(io.env, url).post<Card & { standingApproval?: Standing }>(path, body)
    if (json) return printJson(io, card)
    print(io, `${done}: ${plain(card.summary)}`)
    const { standingApproval: left } = card
    if (left !== undefined)
      print(io, `It stands: ${bounds(left)}. "tollgate standing revoke ${left.id}" takes it back.`)
  }
  const answering = (spec: string, describes: string) =>
    remote(program, spec, describes)
      .option('--note <text>', 'what the caller and the record are told')
      .option('--shown <digest>', 'decide only if the card is still the one "cards show" printed')

  answering('approve <id>', 'approve exactly this call: once, or as far as --scope says')
    .option('--scope <scope>', 'once, session or always; always only where the tool offers it (default: once)')
    .option(
      '--similar <json>',
      'calls like it too, as in \'{"arguments":{"path":"docs/*"},"count":10,"ttlSeconds":3600}\'',
      jsonObject,
    )
    .action((id: string, options: AnswerOptions) => {
      const { note, shown, scope, similar } = options
      if (similar !== undefined && (scope === undefined || scope === 'once')) {
        throw new CliError('--similar needs --scope session or --scope always; once is this call alone.')
      }
      return send(id, 'approve', options, { note, shown, scope, similar }, 'Approved')
    })

  answering('deny <id>', 'deny this call').action((id: string, options: AnswerOptions) =>
    send(id, 'deny', options, { note: options.note, shown: options.shown }, 'Denied'),
  )

  answering(
    'settle <id> <outcome>',
    'say of a call of unknown outcome that it happened, or did-not; nothing is run',
  ).action((id: string, said: string, options: AnswerOptions) => {
    const outcome = said.replace('-', '_')
    if (outcome !== 'happened' && outcome !== 'did_not') {
      throw new CliError(`Write "happened" or "did-not", not ${JSON.stringify(said.slice(0, 40))}.`)
    }
    const done = outcome === 'happened' ? 'Settled, it happened' : 'Settled, it did not happen'
    return send(id, 'settle', options, { outcome, note: options.note, shown: options.shown }, done)
  })

  addStanding(program, io)
}

interface StandingOptions extends RestOptions {
  readonly brand?: string
  readonly tool?: string
  readonly state: string
  readonly limit?: number
  readonly cursor?: string
}

function addStanding(program: Command, io: Io): void {
  const standing = remote(program, 'standing', 'list approvals for more than one call')
    .option('--brand <brand>', 'only this brand')
    .option('--tool <name>', 'only this tool')
    .option('--state <state>', 'live, revoked, ended, expired, used_up or all', 'live')
    .option('--limit <n>', 'most to list (default: 50)', count)
    .option('--cursor <cursor>', 'go on from a list before')
    .action(async ({ url, json, brand, tool, state, limit, cursor }: StandingOptions) => {
      const query = {
        brand,
        tool,
        cursor,
        state: state === 'all' ? undefined : state,
        limit: limit === undefined ? undefined : String(limit),
      }
      const page = await createRest(io.env, url).get<{ items: Standing[]; nextCursor: string | null }>(
        '/v1/approvals/standing',
        query,
      )
      if (json) return printJson(io, page)
      if (page.items.length === 0) return print(io, state === 'live' ? 'No approval stands.' : 'No standing approvals.')
      const rows = page.items.map((one) => [one.id, one.state, one.brand, String(one.used), bounds(one), one.summary])
      print(io, table(['ID', 'STATE', 'BRAND', 'USED', 'HOW FAR', 'CALL'], rows))
      if (page.nextCursor !== null) print(io, '', `More: --cursor ${page.nextCursor}`)
    })
  remote(standing, 'revoke <id>', 'take one back; the next such call asks a person again').action(
    async (id: string, _options: RestOptions, command: Command) => {
      const { url, json } = command.optsWithGlobals<RestOptions>()
      const revoked = await createRest(io.env, url).delete<Standing>(`/v1/approvals/standing/${encodeURIComponent(id)}`)
      if (json) printJson(io, revoked)
      else print(io, `Taken back: ${plain(revoked.summary)}`)
    },
  )
}

/** How far an approval goes, in words. */
function bounds({ scope, similar, left, expiresAt }: Standing): string {
  const where = scope === 'session' ? 'this session' : 'every session of the brand'
  const which = similar === undefined ? 'exactly this call' : `calls like it, ${JSON.stringify(similar)}`
  const times = left === undefined ? '' : `, ${left} more`
  return `${which}, ${where}${times}${expiresAt === undefined ? '' : `, until ${when(expiresAt)}`}`
}
