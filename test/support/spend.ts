/**
 * The ledger's parts for a gate that a test builds by hand: thresholds of 10 credits and 0.1 dollars.
 * @module
 */
import type { Audit } from '../../src/audit/audit.ts'
import type { Database } from '../../src/db/connect.ts'
import { createLedger } from '../../src/session/ledger.ts'
import { quiet } from './database.ts'

const ABOVE: Readonly<Record<string, string>> = { credits: '10', usd: '0.1' }

/** Parts of a gate. The clock of the ledger is as good as stopped. */
export function paying(db: Database, audit: Audit) {
  const ledger = createLedger({ db, audit, log: quiet, sweepMs: 86_400_000 })
  return { ledger, askAbove: (_connector: string, unit: string) => ABOVE[unit], leaseMs: 60_000 }
}
