/**
 * What a connector file declares: the tools there are, when they exist, whom they ask, and what is left out on purpose.
 * Types and closed lists only; `define.ts` checks a declaration against them.
 * @module
 */
import type { Body } from './native/body.ts'
import type { ConnectionKind } from './native/kind.ts'
import type { SwitchName } from '../policy/switches.ts'
import type { Access } from '../policy/words.ts'

/** `connector`: a vendor's tools; `platform`: the host app's own; `environment`: of the place a session works in. */
export const KINDS = ['connector', 'platform', 'environment'] as const
export type Kind = (typeof KINDS)[number]

/** What can be asked of the deployment or the brand, besides switches and credentials. */
export const CIRCUMSTANCES = {
  e2b: 'the sandbox is E2B',
  'browser-provider': 'a browser provider is configured',
  browserbase: 'Browserbase is the browser provider',
  'goals-engine': 'the goals engine is on',
  'brand-has-skill': 'the brand has at least one skill',
  'brand-has-coworker': 'the brand has at least one coworker',
  'microsoftads-offered': 'the deployment offers Microsoft Ads',
  'figma-offered': 'the deployment offers Figma (Nango configured)',
} as const
export type Circumstance = keyof typeof CIRCUMSTANCES

/**
 * One thing that must hold for a tool. A missing circumstance leaves the tool out; a switch says itself whether the tool
 * is then `absent` or stays and `refuses`.
 */
export type Need =
  | { readonly circumstance: Circumstance }
  | { readonly switch: SwitchName; readonly is?: 'on' | 'off'; readonly otherwise: 'absent' | 'refuses' }

/** Which calls ask a person. `mutations`: by the arguments. `above-threshold`: by the cost, in a session with a person. */
export const ASKS = ['never', 'always', 'mutations', 'above-threshold'] as const
export type Ask = (typeof ASKS)[number]

/** What is said of a tool besides its name. */
export interface ToolFacts {
  readonly access: Access
  /** In the read table: a person can grant it to a specialist or the goal agent. Never true of a `write`. */
  readonly grantable: boolean
  readonly ask: Ask
  /** What becomes of it, or of the calls of it that ask, where nobody can be asked. Said exactly where `ask` is not `never`. */
  readonly withoutChannel?: 'refuses' | 'absent'
  /** A platform tool whose calls run unasked when the operator switched approvals off (and only then). */
  readonly approvalsOff?: 'runs'
  /** All of these must hold, besides those of the connector. */
  readonly needs?: readonly Need[]
  /** Given only to a profile that asks for it by name; no other session registers it. */
  readonly optIn?: true
  /** The connectors it reads, its own among them: it exists only where all are granted and live. */
  readonly joint?: readonly string[]
  /** The skill that brings it. No grant of a connector gives it. */
  readonly ridesOn?: string
  /** The delegation depth a profile needs at least. */
  readonly delegationDepth?: number
  /** A person may approve its calls for every session of the brand, until they take it back. */
  readonly standing?: true
  /** A proposal kept in the brand's project folder: nothing at the vendor changes, so it counts as a read. */
  readonly proposes?: true
  /** A sentence for reviewers; owed by a connector's write that asks nobody. */
  readonly note?: string
  /** What carries it out; without one it is declared only. */
  readonly body?: Body
}

/** `name` is the tool's own, or `*` for all that a brand's server of that name offers. */
export interface ToolDeclaration extends ToolFacts {
  readonly name: string
}

/** Something left out on purpose, and why. */
export interface Left {
  readonly what: string
  readonly why: string
}

/** A behaviour and the name of the record that holds it. */
export interface Evidence {
  readonly what: string
  readonly records: readonly string[]
}

export interface Records {
  /** Observed against the real service by those who described these tools. */
  readonly captured?: readonly Evidence[]
  /** Reasoned from documentation, never exercised. */
  readonly unverified?: readonly Evidence[]
}

/** The unit a connector bills in, and the names of its two figures in an allowance (seed 001, "Allowance"). */
export interface Billing {
  readonly unit: 'credits' | 'usd'
  readonly perRun: string
  readonly perDay: string
}

export interface Declaration extends Records {
  /** The connector part of its tools' names. */
  readonly slug: string
  readonly title: string
  readonly kind: Kind
  /** `brand`: its tools exist only where the brand's credentials for it resolve. */
  readonly credentials: 'brand' | 'none'
  /** How its vendor is reached. Said where a tool has a body. */
  readonly connection?: ConnectionKind
  /** When it exists, in words; its machine-readable part is `needs`. */
  readonly when: string
  readonly needs?: readonly Need[]
  /** It has no grant of its own: its opt-in tools come beside this granted connector. */
  readonly beside?: string
  readonly billing?: Billing
  readonly tools: readonly ToolDeclaration[]
  /** Deliberately not built. */
  readonly withheld?: readonly Left[]
  /** Arguments refused whatever a person says. */
  readonly refused?: readonly Left[]
  readonly notes?: readonly string[]
}
