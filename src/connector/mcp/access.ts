/**
 * What the operator says about an upstream's tools. What nobody classified counts as `write`.
 * @module
 */
import type { Access } from '../../policy/words.ts'
import type { Cost } from '../connector.ts'

/** What the operator may write for one tool or pattern. */
export type ToolRule =
  | Access
  | {
      readonly access: Access
      readonly ask?: boolean | undefined
      readonly grantable?: boolean | undefined
      readonly cost?: Cost | undefined
      readonly standing?: boolean | undefined
    }

export interface Standing {
  readonly access: Access
  readonly ask: boolean
  readonly grantable: boolean
  readonly cost?: Cost
  /** What has a cost asks by it; what spends an unknown one asks always. */
  readonly asks?: 'above-threshold'
  readonly standing?: true
}

const UNCLASSIFIED: Standing = { access: 'write', ask: false, grantable: false }

/**
 * Compiles the map of exact names and patterns (`*` stands for any characters) to a function of a tool's own name.
 * The most specific wins: an exact name over a pattern, then the pattern with more literal characters,
 * then the stricter word.
 */
export function createAccess(rules: Readonly<Record<string, ToolRule>>): (name: string) => Standing {
  const exact = new Map<string, Standing>()
  const patterns: Array<{
    readonly written: string
    readonly literals: readonly string[]
    readonly standing: Standing
  }> = []
  for (const [written, rule] of Object.entries(rules)) {
    if (written.includes('*')) patterns.push({ written, literals: written.split('*'), standing: standingOf(rule) })
    else exact.set(written, standingOf(rule))
  }
  patterns.sort((a, b) => weight(b.literals) - weight(a.literals) || strictness(b.standing) - strictness(a.standing))
  return (name) => exact.get(name) ?? patterns.find(({ literals }) => matches(literals, name))?.standing ?? UNCLASSIFIED
}

function standingOf(rule: ToolRule): Standing {
  const {
    access,
    ask = false,
    grantable = false,
    cost,
    standing: mayStand,
  }: Exclude<ToolRule, string> = typeof rule === 'string' ? { access: rule } : rule
  // A write is never in the read table, whatever the file says.
  const granted = grantable && access !== 'write'
  const standing = { access, ask, grantable: granted, ...(mayStand === true && { standing: true as const }) }
  return access === 'spend' && cost !== undefined ? { ...standing, cost, asks: 'above-threshold' } : standing
}

const strictness = ({ access, ask }: Standing): number => ['read', 'spend', 'write'].indexOf(access) * 2 + (ask ? 1 : 0)

const weight = (literals: readonly string[]): number => literals.reduce((sum, literal) => sum + literal.length, 0)

/** Whether the name is the literals in order with anything between them. Linear, unlike a regular expression. */
function matches(literals: readonly string[], name: string): boolean {
  const first = literals[0] ?? ''
  const last = literals.at(-1) ?? ''
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false
  let at = first.length
  const end = name.length - last.length
  for (const literal of literals.slice(1, -1)) {
    const found = name.indexOf(literal, at)
    if (found < 0 || found + literal.length > end) return false
    at = found + literal.length
  }
  return true
}
