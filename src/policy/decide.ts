/**
 * The one place that says yes. Pure: no clock, no I/O, no exceptions.
 * Refusals first, so that nobody is asked about a call that would be refused anyway; `allow` is the last line reached.
 * @module
 */
import type { RoutineWord } from './routines.ts'
import type { Channel, Code, Decision, Filter, Reason, Tool } from './words.ts'

/** How a tool stands in a session's view (see view.ts). */
export type Holding =
  | { readonly held: true; readonly reasons: readonly Reason[] }
  | {
      readonly held: false
      readonly reasons: readonly Reason[]
      /** What keeps it back; the ceiling where nothing is said. */
      readonly filter?: 'registration' | 'ceiling'
    }

/** All that may change an answer. What is not here cannot. */
export interface Facts {
  readonly sessionLive: boolean
  readonly holding: Holding
  /** Whether the operator leaves per-call approvals on (`REQUIRE_WRITE_APPROVAL`). */
  readonly approvalsOn: boolean
  readonly channel: Channel
  /** The fingerprint a person approved for this session, if a decided card is in hand. */
  readonly approvedFingerprint: string | undefined
  /**
   * Of a call that bills in a session that an allowance holds to: whether what is left covers it, and the sentence that
   * says what is left. Undefined where no allowance limits the call, or where it is reserved already.
   */
  readonly left?: { readonly covers: boolean; readonly because: string } | undefined
  /** In a session of a routine: whether a person decides each call of the tool, or let it run unattended. */
  readonly routine?: RoutineWord | undefined
  /** In a session of a routine: this very call came so often that a person looks, as a sentence. */
  readonly repeated?: string | undefined
}

export interface Call {
  readonly tool: Tool
  readonly fingerprint: string
  /** For a tool that asks for `mutations`: whether these arguments change anything. Unknown counts as yes. */
  readonly mutates?: boolean | undefined
  /** The tool's own word on these arguments: they are not sent, whatever a person says. */
  readonly refused?:
    | { readonly code: 'invalid_arguments' | 'forbidden_arguments'; readonly because: string }
    | undefined
  /** For a tool that asks `above-threshold`: what its meter says of this call. Without a meter a person decides. */
  readonly cost?: 'within' | 'above' | undefined
}

const deny = (code: Code, filter: Filter, ...reasons: Reason[]): Decision => ({ effect: 'deny', code, filter, reasons })

const ACCESS: readonly string[] = ['read', 'write', 'spend']

/**
 * Decides one call from the facts.
 * Order: dead session, outside the view, words nobody knows, arguments the tool refuses, switch off, no one to ask, ask;
 * what remains runs.
 */
export function decide(call: Call, facts: Facts): Decision {
  const { tool } = call
  if (facts.sessionLive !== true) {
    const because = 'This session was revoked, ended or has expired.'
    return deny('session_revoked', 'session', { rule: 'session', because })
  }
  if (facts.holding.held !== true) {
    return deny('unknown_tool', facts.holding.filter ?? 'ceiling', ...facts.holding.reasons)
  }
  if (!ACCESS.includes(tool.access)) {
    const because = 'The tool has no access word this gateway knows.'
    return deny('unknown_tool', 'registration', { rule: 'access', because })
  }
  if (call.refused !== undefined) {
    return deny(call.refused.code, 'gate', { rule: 'arguments', because: call.refused.because })
  }
  const own = reasonsToAsk(call, facts.approvalsOn, facts.left)
  const asks = inRoutine(own, facts)
  if (own.length + asks.length === 0) {
    const automatic = facts.routine === 'automatic' ? [AUTOMATIC] : []
    return { effect: 'allow', filter: 'gate', reasons: [...facts.holding.reasons, ...automatic] }
  }
  if (own.length > 0 && tool.switchedOff !== undefined) {
    const because = `The operator's switch ${tool.switchedOff} is off, so this is refused whoever would approve it.`
    return deny('switched_off', 'gate', { rule: 'switch', because })
  }
  if (asks.length === 0) return { effect: 'allow', filter: 'gate', reasons: [...facts.holding.reasons, AUTOMATIC] }
  if (facts.approvalsOn !== true || facts.channel !== 'inbox') {
    const because = 'A person must decide this call, and this session has no one to ask.'
    return deny(codeWithout(asks), 'gate', ...asks, { rule: 'no-channel', because })
  }
  if (facts.approvedFingerprint === undefined || facts.approvedFingerprint !== call.fingerprint) {
    return { effect: 'ask', filter: 'gate', reasons: asks }
  }
  const approved = { rule: 'approved', because: 'A person approved exactly this call.' }
  return { effect: 'allow', filter: 'gate', reasons: [...asks, approved] }
}

const AUTOMATIC: Reason = { rule: 'routine-automatic', because: 'A person let this routine run the tool unattended.' }

/** What asks over a person's automatic: the operator's own word on the tool, and money. */
const NEVER_AUTOMATIC: readonly string[] = ['tool-asks', 'over-allowance', 'over-threshold', 'spend-asks']

/** What asks in a session of a routine (seed 002): each call of an enabled tool; of an automatic one only what outranks it. */
function inRoutine(own: readonly Reason[], { routine, repeated }: Facts): readonly Reason[] {
  if (routine === undefined) return own
  const loop = repeated === undefined ? [] : [{ rule: 'equal-calls', because: repeated }]
  if (routine === 'automatic') return [...own.filter(({ rule }) => NEVER_AUTOMATIC.includes(rule)), ...loop]
  const because = 'The routine may call this tool, and a person decides each call.'
  return [{ rule: 'routine-asks', because }, ...own, ...loop]
}

/** What a call is refused with where nobody can be asked: money by its own code, if money is all that asks. */
function codeWithout(asks: readonly Reason[]): Code {
  const rules = asks.map(({ rule }) => rule)
  if (!rules.every((rule) => rule === 'over-allowance' || rule === 'over-threshold')) return 'approval_required'
  return rules.includes('over-allowance') ? 'allowance_exhausted' : 'over_threshold'
}

/** Whether a call of this tool can be parked for a person. */
export const mayAsk = (tool: Tool): boolean => reasonsToAsk({ tool, fingerprint: '' }, true).length > 0

/** Why a call asks a person. Empty for a plain read, and for a call that a reviewed declaration lets run. */
function reasonsToAsk({ tool, mutates, cost }: Call, approvalsOn: boolean, left?: Facts['left']): Reason[] {
  const reasons: Reason[] = []
  const say = (rule: string, because: string): void => {
    reasons.push({ rule, because })
  }
  if (tool.ask !== false) say('tool-asks', 'The operator wants a person to decide every call of this tool.')
  switch (tool.asks) {
    case 'never':
      break
    case 'always':
      if (tool.approvalsOff === 'runs' && approvalsOn === false) break
      say('always-asks', 'A person decides every call of this tool.')
      break
    case 'mutations':
      if (mutates !== false) say('mutation-asks', 'These arguments may change something, so a person decides.')
      break
    case 'above-threshold':
      if (cost === 'above') say('over-threshold', 'This call costs more than runs unasked, so a person decides.')
      else if (cost !== 'within') say('spend-asks', 'Nobody metered what this call costs, so a person decides.')
      break
    default:
      if (tool.access === 'write') say('write-asks', 'This tool may change something, so a person decides.')
      else if (tool.access === 'spend') say('spend-asks', 'This tool spends money, so a person decides.')
      else if (tool.asks !== undefined) say('unknown-asks', 'Nobody knows when this tool asks, so a person decides.')
  }
  if (left !== undefined && left.covers !== true) say('over-allowance', left.because)
  return reasons
}
