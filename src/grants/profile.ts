/**
 * What a person saves: a coworker's profile, or the grant of the goal agent; and the words a brand's grants are made of.
 * @module
 */
import type { Connector } from '../connector/connector.ts'
import type { DeclaredConnector } from '../connector/define.ts'
import type { Registry } from '../connector/registry.ts'
import type { Preset } from '../policy/presets.ts'
import type { Grant, Limits, Role, Tool } from '../policy/words.ts'

/** What one run may cost and do (seed 001, "Coworker run"). */
export interface ProfileLimits {
  /** US dollars, above zero. */
  readonly runBudgetUsd: number
  readonly maxTurns: number
  readonly maxConcurrentRuns: number
  readonly maxDelegationDepth: number
  readonly maxAttempts: number
}

/** A coworker as a person describes it. `tools` stay as written, also those a later ceiling drops. */
export interface Profile {
  readonly brand: string
  readonly id: string
  readonly name: string
  readonly role: 'coworker' | 'specialist'
  readonly tools: readonly string[]
  readonly grant: Grant
  readonly limits: ProfileLimits
}

/** Figures of a profile that states none of its own. */
export const USUAL_LIMITS: ProfileLimits = {
  runBudgetUsd: 0.5,
  maxTurns: 10,
  maxConcurrentRuns: 1,
  maxDelegationDepth: 0,
  maxAttempts: 1,
}

export const NO_GRANT: Grant = { connectors: [], skills: [], allowance: {} }

/** Whether a grant gives nothing. */
export function isEmptyGrant({ connectors, skills, allowance }: Grant): boolean {
  return connectors.length === 0 && skills.length === 0 && Object.keys(allowance).length === 0
}

/** What can be granted in this deployment, whatever the brand; app.ts hands it over. */
export interface GrantSupply {
  readonly catalogue: readonly DeclaredConnector[]
  /** The bundled skills. */
  readonly skills: readonly string[]
  readonly presets: readonly Preset[]
}

/** The words of one brand's grants: what is declared, what is bundled, and what exists for the brand right now. */
export interface GrantWords {
  readonly catalogue: readonly DeclaredConnector[]
  readonly skills: readonly string[]
  readonly roles: ReadonlyMap<string, Role>
  readonly connectors: readonly Pick<Connector, 'slug'>[]
  readonly tools: readonly Tool[]
}

/** The words of a brand as they are now. */
export function wordsOf(
  { catalogue, skills }: Pick<GrantSupply, 'catalogue' | 'skills'>,
  roles: ReadonlyMap<string, Role>,
  registry: Pick<Registry, 'connectors' | 'tools'>,
  brand: string,
): GrantWords {
  return { catalogue, skills, roles, connectors: registry.connectors(brand), tools: registry.tools(brand) }
}

/** A profile's figures under the names that sessions use. */
export function sessionLimits(limits: ProfileLimits): Limits {
  return {
    runUsd: limits.runBudgetUsd,
    turns: limits.maxTurns,
    concurrentRuns: limits.maxConcurrentRuns,
    delegationDepth: limits.maxDelegationDepth,
    attempts: limits.maxAttempts,
  }
}
