/**
 * The records of an attempt: what may have an effect is written down before it leaves, and every attempt ends in exactly
 * one row, with everything on it, written last.
 * @module
 */
import type { Audit, AuditEntry } from '../audit/audit.ts'
import type { Answer } from '../connector/connector.ts'
import type { Code, Session } from '../policy/words.ts'
import type { ToolView } from './views.ts'

/** One try of one call. `started` is a reading of performance.now(). */
export interface Attempt {
  readonly id: string
  readonly started: number
  readonly view: ToolView
  /** Of a call that came again and again: the sentence that says so. */
  readonly repeated?: string | undefined
}

/**
 * Writes down that a call is about to leave, for what may have an effect and asks nobody (an approved card has its own row).
 * False when that is not on record, so nothing may leave; the row may be written still.
 */
export function recordStart(audit: Audit, session: Session, attempt: Attempt, row: Started): Promise<boolean> {
  return audit.commit(startedRow(session, attempt, row)).then(
    () => true,
    () => false,
  )
}

type Started = Pick<AuditEntry, 'tool' | 'connector' | 'fingerprint' | 'cost'>

/** The row that says that a call is about to leave. */
export function startedRow(session: Session, attempt: Attempt, row: Started): AuditEntry {
  const { brand, id: sessionId, subject, role } = session
  const who = { brand, sessionId, subject, role: role.name, routine: session.routine?.id, view: attempt.view.hash }
  return { kind: 'call.started', attempt: attempt.id, ...who, ...row }
}

/** Writes the terminal row of an attempt. */
export function recordEnd(
  audit: Audit,
  session: Session,
  attempt: Attempt,
  row: Pick<AuditEntry, 'code' | 'outcome'> & Partial<AuditEntry>,
): void {
  try {
    audit.record({
      kind: 'call.ended',
      attempt: attempt.id,
      brand: session.brand,
      sessionId: session.id,
      subject: session.subject,
      role: session.role.name,
      routine: session.routine?.id,
      view: attempt.view.hash,
      durationMs: Math.round(performance.now() - attempt.started),
      ...row,
    })
  } catch {
    // The queue is full or writing fails: healthy() is false now, and the next call is refused at the gate.
  }
}

/** The word for how an answer ended. */
export function wordFor(answer: Answer): 'done' | 'failed' | 'unknown' {
  if (answer.kind !== 'failed') return 'done'
  return answer.ran === 'maybe' ? 'unknown' : 'failed'
}

/** The length of an answer, in characters. */
export function sizeOf(answer: Answer): number {
  if (answer.kind === 'result') return answer.members.length + answer.metaText.length
  return answer.kind === 'error' ? answer.errorText.length : 0
}

/** The code of an answer. */
export function codeOf(answer: Answer): Code | 'ok' {
  return answer.kind === 'failed' ? answer.code : 'ok'
}

/** What the terminal row says of a call's cost: nothing where it did not run. */
export function costNow(answer: Answer, cost: AuditEntry['cost']): AuditEntry['cost'] {
  return wordFor(answer) === 'failed' ? undefined : cost
}
