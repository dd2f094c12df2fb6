/**
 * The one place that says yes. Pure: no clock, no I/O, no exceptions.
 * Refusals first, so that nobody is asked about a call that would be refused anyway; `allow` is the last line reached.
 * @module
 */
import type { Channel, Code, Decision, Reason, Tool } from './words.ts'

/** How a tool stands in a session's view (see view.ts). */
export type Holding =
  | { readonly held: true; readonly reasons: readonly Reason[] }
  | { readonly held: false; readonly reasons: readonly Reason[] }

/** All that may change an answer. What is not here cannot. */
export interface Facts {
  readonly sessionLive: boolean
  readonly holding: Holding
  /** Whether the operator leaves per-call approvals on (`REQUIRE_WRITE_APPROVAL`). */
  readonly approvalsOn: boolean
  readonly channel: Channel
  /** The fingerprint a person approved for this session, if a decided card is in hand. */
  readonly approvedFingerprint: string | undefined
}

export interface Call {
  readonly tool: Tool
  readonly fingerprint: string
}

const deny = (code: Code, ...reasons: Reason[]): Decision => ({ effect: 'deny', code, reasons })

/**
 * Decides one call from the facts.
 * Order: dead session, outside the view, no one to ask, ask; a plain read inside the view is what remains.
 */
export function decide(call: Call, facts: Facts): Decision {
  if (facts.sessionLive !== true) {
    return deny('session_revoked', { rule: 'session', because: 'This session was revoked, ended or has expired.' })
  }
  if (facts.holding.held !== true) return deny('unknown_tool', ...facts.holding.reasons)
  const asks = reasonsToAsk(call.tool)
  const held = facts.holding.reasons
  if (asks.length > 0) {
    if (facts.approvalsOn !== true || facts.channel !== 'inbox') {
      return deny('approval_required', ...asks, {
        rule: 'no-channel',
        because: 'A person must decide this call, and this session has no one to ask.',
      })
    }
    if (facts.approvedFingerprint === undefined || facts.approvedFingerprint !== call.fingerprint) {
      return { effect: 'ask', reasons: asks }
    }
    return {
      effect: 'allow',
      reasons: [...asks, { rule: 'approved', because: 'A person approved exactly this call.' }],
    }
  }
  if (call.tool.access !== 'read') {
    return deny('unknown_tool', { rule: 'access', because: 'The tool has no access word this gateway knows.' })
  }
  return { effect: 'allow', reasons: held }
}

/** Whether a call of this tool can be parked for a person. */
export const mayAsk = (tool: Tool): boolean => reasonsToAsk(tool).length > 0

/** Why a call of this tool asks a person; empty only for a plain read. */
function reasonsToAsk(tool: Tool): Reason[] {
  const reasons: Reason[] = []
  if (tool.ask)
    reasons.push({ rule: 'tool-asks', because: 'The operator wants a person to decide every call of this tool.' })
  if (tool.access === 'write')
    reasons.push({ rule: 'write-asks', because: 'This tool may change something, so a person decides.' })
  if (tool.access === 'spend')
    reasons.push({ rule: 'spend-asks', because: 'This tool spends money, so a person decides.' })
  return reasons
}
