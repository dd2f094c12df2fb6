/**
 * Writing down who was refused, without letting a flood of bad requests become a flood of rows.
 * @module
 */
import type { Audit } from '../audit/audit.ts'
import type { AuditEntry } from '../audit/entry.ts'

const MOST_A_SECOND = 20

/**
 * Records refusals: so many a second of each session (of strangers together), the rest are let go. Never throws, since
 * nothing was let through and so nothing is lost.
 */
export function createRefusals(audit: Pick<Audit, 'record'>): (row: AuditEntry) => void {
  let second = 0
  const recorded = new Map<string, number>()
  return function recordRefusal(row) {
    const now = Math.floor(performance.now() / 1000)
    if (now !== second) {
      second = now
      recorded.clear()
    }
    const whose = row.sessionId ?? ''
    const count = (recorded.get(whose) ?? 0) + 1
    recorded.set(whose, count)
    if (count > MOST_A_SECOND) return
    try {
      audit.record(row)
    } catch {
      // The queue of the audit is full; the refusal stands all the same.
    }
  }
}
