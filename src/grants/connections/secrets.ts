/**
 * Sealing a connection's secrets, bound to the place they belong to, and opening them for one call.
 * @module
 */
import { createHmac } from 'node:crypto'
import type { Values } from '../../connector/native/values.ts'
import { type Seal, Unsealable } from '../../db/seal.ts'
import type { Where } from './rows.ts'

/** The text that is sealed names its place, so that sealed text moved to another row does not open there. */
export function sealSecrets(seal: Seal, { brand, slug }: Where, secrets: Values): Promise<string> {
  return seal.seal(JSON.stringify({ brand, slug, secrets }))
}

/** The secrets again. Throws Unsealable, also for text that belongs elsewhere. */
export async function openSecrets(seal: Seal, { brand, slug }: Where, sealed: string): Promise<Values> {
  const read = JSON.parse(await seal.open(sealed)) as { brand?: unknown; slug?: unknown; secrets?: Values }
  if (read.brand !== brand || read.slug !== slug || read.secrets === undefined)
    throw new Unsealable('These sealed credentials belong to another connection; state them anew.')
  return read.secrets
}

/** A mark of all fields under a key: equal fields, equal mark; nobody without the key learns anything of them. */
export function identityOf(key: Uint8Array, connector: string, values: Values): string {
  const sorted = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHmac('sha256', key)
    .update(JSON.stringify([connector, sorted]))
    .digest('hex')
    .slice(0, 32)
}
