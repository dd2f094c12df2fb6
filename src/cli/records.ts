/**
 * `tollgate audit` and `tollgate rotate-keys`.
 * @module
 */
import type { Command } from 'commander'
import { count, type RestOptions, remote } from './options.ts'
import { type Io, print, printJson, table, when } from './output.ts'
import { createRest } from './rest.ts'

interface Row {
  readonly at: string
  readonly kind: string
  readonly brand?: string | null
  readonly sessionId?: string | null
  readonly tool?: string | null
  readonly code?: string | null
  readonly entry?: { readonly outcome?: string; readonly by?: string; readonly reason?: string }
}

interface Report {
  readonly ok: boolean
  readonly writers: number
  readonly rows: number
  readonly problems: readonly { readonly writer: string; readonly seq: number; readonly problem: string }[]
}

interface AuditOptions extends RestOptions {
  readonly verify?: true
  readonly brand?: string
  readonly session?: string
  readonly tool?: string
  readonly kind?: string
  readonly attempt?: string
  readonly limit?: number
  readonly cursor?: string
}

/** Adds `audit`; `--verify` fails when the chain does not hold. */
export function addAudit(program: Command, io: Io, done: (code: number) => void): void {
  remote(program, 'audit', 'read the audit, newest first, or check its hash chains')
    .option('--verify', 'check every chain instead; fails when a row was edited, moved or taken out')
    .option('--brand <brand>', 'only this brand')
    .option('--session <id>', 'only this session')
    .option('--tool <name>', 'only this tool (mcp__connector__tool)')
    .option('--kind <kind>', 'only this kind, such as call.ended')
    .option('--attempt <id>', 'only this call')
    .option('--limit <n>', 'most rows (default: 50)', count)
    .option('--cursor <cursor>', 'go on from a list before')
    .action(async ({ url, json, verify, session, limit, ...filters }: AuditOptions) => {
      const rest = createRest(io.env, url)
      if (verify) {
        const report = await rest.get<Report>('/v1/audit/verify')
        done(report.ok ? 0 : 1)
        if (json) printJson(io, report)
        else print(io, ...found(report))
        return
      }
      const { brand, tool, kind, attempt, cursor } = filters
      const query = {
        brand,
        tool,
        kind,
        attempt,
        cursor,
        sessionId: session,
        limit: limit === undefined ? undefined : String(limit),
      }
      const page = await rest.get<{ items: Row[]; nextCursor: string | null }>('/v1/audit', query)
      if (json) return printJson(io, page)
      if (page.items.length === 0) return print(io, 'No rows.')
      print(io, table(['AT', 'KIND', 'CODE', 'BRAND', 'SESSION', 'TOOL'], page.items.map(cells)))
      if (page.nextCursor !== null) print(io, '', `More: --cursor ${page.nextCursor}`)
    })
}

const cells = ({ at, kind, code, brand, sessionId, tool }: Row): string[] => [
  when(at),
  kind,
  code ?? '',
  brand ?? '',
  sessionId ?? '',
  tool ?? '',
]

function found({ ok, writers, rows, problems }: Report): string[] {
  if (ok) return [`The audit holds: ${rows} rows in ${writers} chains.`]
  const listed = problems.map(({ writer, seq, problem }) => [writer, String(seq), problem])
  return [
    `The audit does not hold: ${problems.length} problems in ${rows} rows.`,
    '',
    table(['WRITER', 'ROW', 'PROBLEM'], listed),
  ]
}

/** Adds `rotate-keys`. */
export function addRotateKeys(program: Command, io: Io): void {
  remote(program, 'rotate-keys', 'sign new tokens with a new key, and seal credentials with the secret of today')
    .option('--retire-others', 'refuse every token signed so far (a key was stolen)')
    .action(async ({ url, json, retireOthers }: RestOptions & { retireOthers?: true }) => {
      const rotated = await createRest(io.env, url).post<{ kid: string; resealed: number }>('/v1/keys/rotate', {
        retireOthers: retireOthers === true,
      })
      if (json) return printJson(io, rotated)
      const others = retireOthers
        ? 'Tokens signed before are refused.'
        : 'Tokens signed before stay good until they expire.'
      print(io, `New tokens are signed with the key ${rotated.kid}. ${others}`)
      if (rotated.resealed > 0) print(io, `${rotated.resealed} connections were sealed anew.`)
    })
}
