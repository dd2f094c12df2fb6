/**
 * The facts of one call as of now, for the pure decision, and what an approval is bound to.
 * @module
 */
import { hash } from 'node:crypto'
import type { RegisteredTool } from '../connector/connector.ts'
import { canonicalText } from '../json.ts'
import type { Call, Facts } from '../policy/decide.ts'
import type { Session } from '../policy/words.ts'
import type { Revocations } from '../session/revocation.ts'
import type { Price } from './price.ts'
import { heldTool, type ToolView } from './views.ts'

export interface FactParts {
  readonly revocations: Revocations
  readonly approvalsOn: boolean
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const LEEWAY_MS = 5_000

/** All that `decide` may look at. */
export function factsOf(
  parts: FactParts,
  session: Session,
  view: ToolView,
  tool: RegisteredTool,
  approvedFingerprint: string | undefined,
  price?: Price,
): Facts {
  const held = heldTool(view, tool.name) === tool
  const filter = view.absent.has(tool.name) ? 'registration' : 'ceiling'
  return {
    sessionLive: !isDead(parts, session),
    holding: { held, reasons: view.refused.get(tool.name) ?? [], filter },
    approvalsOn: parts.approvalsOn,
    channel: session.channel,
    approvedFingerprint,
    ...(session.routine === undefined ? {} : { routine: view.routine?.get(tool.name) ?? 'asks' }),
    ...(price === undefined ? {} : { left: price.left }),
  }
}

/** Whether the session was revoked, ended or has outlived its token. */
export function isDead(parts: FactParts, session: Session): boolean {
  return parts.revocations.isDead(session.id) || !(parts.now() < session.expiresAt + LEEWAY_MS)
}

/** A call for `decide`: what it is, and what its tool says of the arguments. */
export function callOf(
  tool: RegisteredTool,
  argumentsText: string | undefined,
  extraText: string,
  price?: Price,
): Call & { readonly tool: RegisteredTool } {
  const cost = price === undefined ? {} : { cost: price.level }
  return { tool, fingerprint: fingerprint(tool, argumentsText, extraText), ...tool.judge?.(argumentsText), ...cost }
}

/** SHA-256 (hex) over the canonical name and canonical arguments: what an approval is bound to. */
export function fingerprint(tool: RegisteredTool, argumentsText: string | undefined, extraText: string): string {
  const extra = extraText === '' ? '' : `\n${canonicalText(`{${extraText}}`)}`
  return hash('sha256', `${tool.name}\n${canonicalText(argumentsText ?? '{}')}${extra}`, 'hex')
}
