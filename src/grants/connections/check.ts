/**
 * Checking a connection against its vendor by a harmless call, and keeping what it said.
 * @module
 */
import type { Audit } from '../../audit/audit.ts'
import { answerOf, clean, VendorFailure } from '../../connector/native/failure.ts'
import type { Opened } from '../../connector/native/vault.ts'
import type { Vendor } from '../../connector/native/vendor.ts'
import { AddressRefused } from '../../connector/mcp/address.ts'
import { NoToken } from '../../connector/mcp/bearer.ts'
import { Unsealable } from '../../db/seal.ts'
import type { Use } from './resolve.ts'
import { recordCheck } from './rows.ts'

/** What a check found, in a sentence for people without secrets. */
export interface Checked {
  readonly ok: boolean
  readonly said: string
}

interface Asked {
  readonly slug: string
  /** The row it is of; none of the host's, which nothing is kept of. */
  readonly row: Use['row']
  readonly by: string
  readonly open: () => Promise<Opened | undefined>
}

/** Checks. Never throws for what a vendor says or does not say. */
export async function checkConnection(audit: Audit, vendor: Vendor, { slug, row, by, open }: Asked): Promise<Checked> {
  const checked = await ask(vendor, open)
  if (row !== undefined) await recordCheck(audit, { ...row, slug }, { ...checked, by })
  return checked
}

async function ask(vendor: Vendor, open: Asked['open']): Promise<Checked> {
  try {
    const opened = await open()
    if (opened === undefined) return { ok: false, said: 'The connection changed meanwhile; check again.' }
    return { ok: true, said: clean(await vendor.check(opened)) }
  } catch (error) {
    if (error instanceof VendorFailure) return { ok: false, said: answerOf(error, false).reason }
    if (error instanceof Unsealable || error instanceof AddressRefused || error instanceof NoToken)
      return { ok: false, said: error.message }
    return { ok: false, said: `What ${vendor.title} answered is not what this gateway expects.` }
  }
}
