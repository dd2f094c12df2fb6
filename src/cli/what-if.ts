/**
 * `tollgate explain --what-if DIR`: which recorded calls the policy files of a folder would have decided otherwise.
 * @module
 */
import { readFolder } from '../config/files.ts'
import { readPolicies } from '../policy/role-file.ts'
import { CliError, table, when } from './output.ts'
import type { Rest } from './rest.ts'

interface Verdict {
  readonly effect: string
  readonly code?: string
  readonly rule?: string
  readonly because?: string
}

/** The answer of `POST /v1/explain/what-if`. */
export interface WhatIf {
  readonly since: string
  readonly until: string
  readonly truncated: boolean
  readonly calls: number
  readonly same: number
  readonly changed: readonly {
    readonly sessionId: string
    readonly brand: string
    readonly role: string
    readonly tool: string
    readonly calls: number
    readonly recorded: Verdict
    readonly today: Verdict
    readonly whatIf: Verdict
  }[]
  readonly unjudged: readonly { readonly tool: string; readonly calls: number; readonly reason: string }[]
  readonly notices: readonly string[]
}

/** Reads the folder and asks the gateway. Throws CliError with file and line for what is wrong with the files. */
export function askWhatIf(
  rest: Rest,
  folder: string,
  { days, brand }: { readonly days?: number | undefined; readonly brand?: string | undefined },
): Promise<WhatIf> {
  const problems: string[] = []
  const files = readFolder(folder, '--what-if', problems)
  if (problems.length === 0) {
    // Read here too: the gateway sees values, and only here are there lines to name.
    const read = readPolicies(files, { sandbox: false })
    if (!read.ok) problems.push(...read.problems)
  }
  if (problems.length > 0) throw new CliError(problems.join(' '), { problems })
  const body = { files: files.map(({ file, value }) => ({ name: file, value })), days, brand }
  return rest.post<WhatIf>('/v1/explain/what-if', body)
}

/** The answer for people. */
export function whatIfText(
  { since, until, truncated, calls, same, changed, unjudged, notices }: WhatIf,
  folder: string,
): string[] {
  const otherwise = changed.reduce((sum, row) => sum + row.calls, 0)
  const lines = [
    `Recorded calls from ${when(since)} to ${when(until)}: ${calls}${truncated ? ' (the newest; there are more)' : ''}.`,
    `With the policies of ${folder}: ${same} decided alike, ${otherwise} otherwise, ${calls - same - otherwise} not to be judged.`,
    ...notices.map((notice) => `Notice: ${notice}`),
  ]
  if (changed.length > 0) {
    const rows = changed.map((row) => [
      row.tool,
      row.role,
      row.brand,
      row.sessionId,
      String(row.calls),
      said(row.recorded),
      row.today.effect,
      said(row.whatIf),
      row.whatIf.because ?? row.whatIf.rule ?? '',
    ])
    const headings = ['TOOL', 'ROLE', 'BRAND', 'SESSION', 'CALLS', 'RECORDED', 'TODAY', 'WHAT IF', 'BECAUSE']
    lines.push('', table(headings, rows))
  }
  if (unjudged.length > 0) {
    const rows = unjudged.map((row) => [row.tool, String(row.calls), row.reason])
    lines.push('', 'Not to be judged:', table(['TOOL', 'CALLS', 'WHY'], rows))
  }
  return lines
}

const said = ({ effect, code }: Verdict): string => (code === undefined ? effect : `${effect} (${code})`)
