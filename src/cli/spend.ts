/**
 * `tollgate spend`: what calls were billed, as sums or row by row.
 * @module
 */
import type { Command } from 'commander'
import { count, type RestOptions, remote } from './options.ts'
import { CliError, type Io, print, printJson, table, when } from './output.ts'
import { createRest } from './rest.ts'

interface Total {
  readonly connector?: string
  readonly session?: string
  readonly day?: string
  readonly brand: string
  readonly unit: string
  readonly calls: number
  readonly settled: string
  readonly open: string
  readonly unknown: string
}

interface Row {
  readonly createdAt: string
  readonly state: string
  readonly brand: string
  readonly session: string
  readonly tool: string
  readonly unit: string
  readonly reserved: string
  readonly settled: string | null
}

interface SpendOptions extends RestOptions {
  readonly by: string
  readonly brand?: string
  readonly connector?: string
  readonly session?: string
  readonly day?: string
  readonly state?: string
  readonly limit?: number
  readonly cursor?: string
}

const BY = ['connector', 'session', 'day'] as const

/** Adds the command. */
export function addSpend(program: Command, io: Io): void {
  remote(program, 'spend', 'what calls were billed, summed per connector, session or day, or call by call')
    .option('--by <word>', 'connector, session, day, or call for each row of the ledger', 'connector')
    .option('--brand <brand>', 'only this brand')
    .option('--connector <slug>', 'only this connector')
    .option('--session <id>', 'only this session')
    .option('--day <day>', 'only this day in UTC, such as 2026-03-01')
    .option('--state <word>', 'only open, settled, released or unknown')
    .option('--limit <n>', 'most to list', count)
    .option('--cursor <cursor>', 'go on from a list before (with --by call)')
    .action(async ({ url, json, by, limit, cursor, brand, connector, session, day, state }: SpendOptions) => {
      const rest = createRest(io.env, url)
      const query = { brand, connector, session, day, state, limit: limit === undefined ? undefined : String(limit) }
      if (by === 'call') {
        const page = await rest.get<{ items: Row[]; nextCursor: string | null }>('/v1/spend', { ...query, cursor })
        if (json) return printJson(io, page)
        if (page.items.length === 0) return print(io, 'Nothing was spent.')
        const heads = ['AT', 'STATE', 'BRAND', 'SESSION', 'TOOL', 'UNIT', 'RESERVED', 'BOOKED']
        print(io, table(heads, page.items.map(cells)))
        if (page.nextCursor !== null) print(io, '', `More: --cursor ${page.nextCursor}`)
        return
      }
      const word = BY.find((known) => known === by)
      if (word === undefined) throw new CliError('--by is connector, session, day or call.')
      if (cursor !== undefined) throw new CliError('--cursor goes with --by call; sums are one list.')
      const found = await rest.get<{ items: Total[] }>('/v1/spend/totals', { ...query, by: word })
      if (json) return printJson(io, found)
      if (found.items.length === 0) return print(io, 'Nothing was spent.')
      const heads = [word.toUpperCase(), 'BRAND', 'UNIT', 'CALLS', 'BOOKED', 'OPEN', 'UNKNOWN']
      const rows = found.items.map((one) => [
        one[word] ?? '',
        one.brand,
        one.unit,
        String(one.calls),
        one.settled,
        one.open,
        one.unknown,
      ])
      print(io, table(heads, rows))
    })
}

const cells = ({ createdAt, state, brand, session, tool, unit, reserved, settled }: Row): string[] => [
  when(createdAt),
  state,
  brand,
  session,
  tool,
  unit,
  reserved,
  settled ?? '',
]
