/**
 * Holds what a run through the gateway found against what the same run found without it.
 * @module
 */
import type { Baseline } from './baseline.ts'
import type { Check, Findings } from './suite.ts'

/** One scenario, side by side. */
export interface Row {
  readonly scenario: string
  readonly direct: Count
  readonly gateway: Count
  /** Checks that pass without the gateway and not through it. */
  readonly lost: readonly { readonly check: string; readonly why: string; readonly expected: string | undefined }[]
}

export interface Count {
  readonly passed: number
  readonly failed: number
}

export interface Comparison {
  readonly rows: readonly Row[]
  /** Lost without a baseline entry. */
  readonly unexpected: readonly string[]
  /** Baseline entries that nothing lost needs. */
  readonly stale: readonly string[]
}

/** Compares scenario by scenario and check by check. What fails without the gateway proves nothing about it. */
export function compare(direct: Findings, gateway: Findings, baseline: Baseline): Comparison {
  const used = new Set<string>()
  const rows = [...direct].map(([scenario, checks]): Row => {
    const through = gateway.get(scenario) ?? new Map<string, Check>()
    const lost = [...checks]
      .filter(([id, check]) => check.verdict === 'SUCCESS' && !holds(through.get(id)))
      .map(([id]) => {
        const entry = [scenario, `${scenario}:${id}`].find((key) => baseline.has(key))
        if (entry !== undefined) used.add(entry)
        const found = through.get(id)
        const why = found === undefined ? 'the check was not reached' : `${found.verdict}: ${found.why}`
        return { check: `${scenario}:${id}`, why, expected: entry && baseline.get(entry) }
      })
    return { scenario, direct: count(checks), gateway: count(through), lost }
  })
  const unexpected = rows
    .flatMap(({ lost }) => lost)
    .filter(({ expected }) => expected === undefined)
    .map(({ check, why }) => `${check}\n      ${why}`)
  return { rows, unexpected, stale: [...baseline.keys()].filter((entry) => !used.has(entry)) }
}

/** INFO is the suite's word for a check that has nothing to say about this server. */
function holds(check: Check | undefined): boolean {
  return check?.verdict === 'SUCCESS' || check?.verdict === 'INFO'
}

/** How many checks passed and failed; a warning is a failure, what was skipped is neither. */
export function count(checks: ReadonlyMap<string, Check>): Count {
  const verdicts = [...checks.values()].map(({ verdict }) => verdict)
  return {
    passed: verdicts.filter((verdict) => verdict === 'SUCCESS').length,
    failed: verdicts.filter((verdict) => verdict === 'FAILURE' || verdict === 'WARNING').length,
  }
}
