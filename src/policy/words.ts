/**
 * The words every room uses: what a tool, a session and a decision are.
 * Types and closed lists only; nothing here runs.
 * @module
 */

/** What a call of a tool does to the world. A tool nobody classified counts as `write`. */
export type Access = 'read' | 'write' | 'spend'

/** The closed list of codes, the same on every door. */
export const CODES = [
  'unknown_tool',
  'approval_required',
  'approval_pending',
  'approval_denied',
  'approval_expired',
  'allowance_exhausted',
  'over_threshold',
  'switched_off',
  'forbidden_arguments',
  'invalid_arguments',
  'definition_changed',
  'session_revoked',
  'session_limit',
  'rate_limited',
  'upstream_unavailable',
  'upstream_timeout',
  'outcome_unknown',
  'internal',
] as const
export type Code = (typeof CODES)[number]

/** Which calls of a tool ask a person. `mutations`: by the arguments. `above-threshold`: by the cost. */
export type Asks = 'never' | 'always' | 'mutations' | 'above-threshold'

/** What policy knows of one callable thing. `name` is canonical: `mcp__<connector>__<tool>`. */
export interface Tool {
  readonly name: string
  readonly connector: string
  readonly access: Access
  /** Every call asks a person, whatever the access. */
  readonly ask: boolean
  /** In the read table: a specialist or the goal agent can be granted it. Never true of a `write`. */
  readonly grantable: boolean
  /** As its connector declares. Without it everything but a read asks: nobody reviewed the tool. */
  readonly asks?: Asks
  /** What becomes of it where nobody can be asked: not there, or there and refusing the calls that ask. */
  readonly withoutChannel?: 'refuses' | 'absent'
  /** Its calls run unasked where the operator switched approvals off, and only there. */
  readonly approvalsOff?: 'runs'
  /** The operator's switch that is off, so that its asking calls are refused (see `Need.otherwise`). */
  readonly switchedOff?: string
  /** Given only to a profile that asks for it by its exact name. */
  readonly optIn?: true
  /** The granted connector that brings it, where its own has no grant. */
  readonly beside?: string
  /** The connectors it reads: granted only where all are granted and live. */
  readonly joint?: readonly string[]
  /** The skill that brings it; nothing else does. */
  readonly ridesOn?: string
  /** A person may approve its calls for every session of the brand, until they take it back. */
  readonly standing?: true
  /** The delegation depth that the session must have left. */
  readonly delegationDepth?: number
  /** It decides on the harness's built-ins and gives nothing itself: held where there are some and a person to ask. */
  readonly decidesBuiltins?: true
}

export type RouteName = 'standard' | 'read-only'
export type Channel = 'none' | 'inbox'

/** A role policy file, loaded. `holds` are canonical names and whole-connector patterns. */
export interface Role {
  readonly name: string
  readonly title: string
  readonly describes: string
  /** Whether a person can be asked in a session of this role. */
  readonly asksPerson: boolean
  /** Whether the person at the client’s end may be shown the way to a card’s page. They decide there, signed in. */
  readonly terminalDecides?: true
  /** Whether the harness may ask here before it runs a built-in of its own. */
  readonly permissionPrompt?: true
  readonly builtins: readonly string[]
  readonly holds: readonly string[]
  /** Which connectors' tools it may hold: all, the read table of granted ones, what a routine says, or none. */
  readonly connectors: 'every' | 'granted' | 'routine' | 'none'
  /** `all`: a session that names no tools gets everything the role may hold. `asked`: only what it names. */
  readonly given: 'all' | 'asked'
  /** Held besides `holds`, but only in a session whose grant names at least one skill. */
  readonly withSkills?: readonly string[]
  readonly limits: Limits
  /** `usual`: where the profile states none of its own. `most` (so also when absent): no session gets more. */
  readonly limitsAre?: 'most' | 'usual'
}

/** A route policy file, loaded: laid over any role, it can only take away. */
export interface Route {
  readonly name: RouteName
  readonly describes: string
  /** Names and patterns that stay, or `everything`. */
  readonly keeps: readonly string[] | 'everything'
  readonly connectors: boolean
}

export interface Limits {
  readonly runUsd?: number
  readonly turns?: number
  readonly delegationDepth?: number
  readonly attempts?: number
  readonly concurrentRuns?: number
}

export interface Grant {
  readonly connectors: readonly string[]
  readonly skills: readonly string[]
  readonly allowance: Readonly<Record<string, Readonly<Record<string, number>>>>
}

/** The routine that a session works for, as it was when the session was issued. Later versions only take away. */
export interface SessionRoutine {
  readonly id: string
  readonly version: number
  /** A person is present. */
  readonly supervised: boolean
}

/** One caller with a verified token. It cannot exist without role, route, ceiling, grant and channel. */
export interface Session {
  readonly id: string
  readonly issuer: string
  readonly subject: string
  readonly brand: string
  readonly role: Role
  readonly route: Route
  /** Canonical names and whole-connector patterns; built-ins keep their bare name. */
  readonly ceiling: readonly string[]
  readonly grant: Grant
  readonly channel: Channel
  readonly limits: Limits
  readonly routine?: SessionRoutine
  /** Milliseconds since the epoch. */
  readonly issuedAt: number
  readonly expiresAt: number
  /** Equal for sessions whose views are equal, so that they share one compiled view. */
  readonly viewKey: string
}

/** A rule that caused an answer: a stable id and a sentence for people. */
export interface Reason {
  readonly rule: string
  readonly because: string
}

/**
 * Which filter had the last word (seed 001, "How a session's tools are decided"): whether the tool is registered for the
 * session, its ceiling, or the gate before each call; `session` where the session itself is over.
 */
export type Filter = 'session' | 'registration' | 'ceiling' | 'gate'

export type Decision = { readonly reasons: readonly Reason[]; readonly filter: Filter } & (
  | { readonly effect: 'allow' | 'ask' }
  | { readonly effect: 'deny'; readonly code: Code }
)
