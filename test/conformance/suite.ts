/**
 * Runs the official conformance suite against one URL and reads what it found.
 * @module
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The revisions whose requirements are run. */
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const

export type Revision = (typeof REVISIONS)[number]

/** What became of a check; the worst, where a scenario makes it more than once. */
export type Verdict = 'SUCCESS' | 'INFO' | 'SKIPPED' | 'WARNING' | 'FAILURE'

export interface Check {
  readonly verdict: Verdict
  readonly why: string
}

/** What a run found: scenario, check id, check. */
export type Findings = ReadonlyMap<string, ReadonlyMap<string, Check>>

export interface SuiteRun {
  readonly findings: Findings
  /** The suite's own verdict over what the revision requires: no unexpected failure, no stale baseline entry. */
  readonly accepted: boolean
  /** The end of what it printed: its total, and what it did not expect. */
  readonly printed: string
}

const SUITE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js')
const WORST: readonly Verdict[] = ['SUCCESS', 'INFO', 'SKIPPED', 'WARNING', 'FAILURE']

/** Runs all that a revision requires, and what it reports without scoring. */
export async function runSuite(url: string, revision: Revision, baseline?: string): Promise<SuiteRun> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-conformance-'))
  try {
    const args = [SUITE, 'server', '--url', url, '--requirements', revision, '-o', folder]
    if (baseline !== undefined) args.push('--expected-failures', baseline)
    const { code, printed } = await run(args)
    const findings = await read(folder)
    if (findings.size === 0) throw new Error(`The conformance suite reported nothing.\n${printed}`)
    return { findings, accepted: code === 0, printed: printed.slice(printed.lastIndexOf('\nTotal:') + 1) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function run(args: readonly string[]): Promise<{ code: number | null; printed: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    const keep = (part: Buffer): void => {
      printed += part
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, printed }))
  })
}

/** Each scenario leaves a folder `server-<scenario>-<time>` with its checks. */
async function read(folder: string): Promise<Findings> {
  const findings = new Map<string, Map<string, Check>>()
  for (const name of await readdir(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1]
    if (scenario === undefined) continue
    const checks = findings.get(scenario) ?? new Map<string, Check>()
    findings.set(scenario, checks)
    const text = await readFile(join(folder, name, 'checks.json'), 'utf8')
    for (const { id, status, errorMessage = '' } of JSON.parse(text) as RawCheck[]) {
      const known = checks.get(id)
      if (known !== undefined && WORST.indexOf(known.verdict) >= WORST.indexOf(status)) continue
      checks.set(id, { verdict: status, why: errorMessage })
    }
  }
  return findings
}

interface RawCheck {
  readonly id: string
  readonly status: Verdict
  readonly errorMessage?: string
}
