/**
 * Opens credentials for calls: for sessions that may be handed them, and no longer than a minute in memory.
 * @module
 */
import type { Opened, Vault } from '../../connector/native/vault.ts'
import type { Values } from '../../connector/native/values.ts'
import type { Database } from '../../db/connect.ts'
import type { Seal } from '../../db/seal.ts'
import { isHanded } from '../credentials.ts'
import type { Tokens } from './oauth/tokens.ts'
import { isUse, NEEDED, type Use } from './resolve.ts'
import type { Resolved } from '../credentials.ts'
import { findConnection } from './rows.ts'
import { openSecrets } from './secrets.ts'

const KEEP_MS = 60_000
const MOST = 1_000

export interface VaultParts {
  readonly db: Database
  readonly seal: Seal
  readonly useOf: (brand: string, slug: string) => Use | Resolved
  /** Every field of the host's environment for a connector. */
  readonly hostValues: (slug: string) => Values | undefined
  /** Access tokens of connections that were consented to. */
  readonly tokens?: Tokens
}

export interface OpenVault extends Vault {
  /** What a brand uses under a slug, opened; undefined where there is nothing. Throws Unsealable. */
  openFor(brand: string, slug: string): Promise<Opened | undefined>
  /** Forgets what is kept. */
  close(): void
}

/** Builds the vault. */
export function createVault({ db, seal, useOf, hostValues, tokens }: VaultParts): OpenVault {
  const kept = new Map<string, { readonly until: number; readonly values: Values }>()

  async function openUse(slug: string, use: Use): Promise<Opened | undefined> {
    const { consent, row } = use
    if (consent === undefined || row === undefined || tokens === undefined) return openFields(slug, use)
    if (consent === NEEDED) return undefined
    const opened = await openFields(slug, use)
    const which = { brand: row.brand, slug, consent }
    return opened && { ...opened, token: (refused) => tokens.of(which, refused) }
  }

  async function openFields(slug: string, { row, settings, identity }: Use): Promise<Opened | undefined> {
    if (row === undefined) {
      const values = hostValues(slug)
      return values && { values, key: `host ${slug} ${identity}` }
    }
    const where = { brand: row.brand, slug }
    const key = `${row.brand} ${slug} ${row.version}`
    const known = kept.get(key)
    if (known !== undefined && known.until > performance.now()) return { values: known.values, key }
    const stored = await findConnection(db, where)
    // In another version by now: whoever asks again sees that one.
    if (stored === undefined || stored.version !== row.version) return undefined
    const values = { ...settings, ...(await openSecrets(seal, where, stored.sealed)) }
    kept.delete(key)
    kept.set(key, { until: performance.now() + KEEP_MS, values })
    if (kept.size > MOST) kept.delete(kept.keys().next().value as string)
    return { values, key }
  }

  async function openFor(brand: string, slug: string): Promise<Opened | undefined> {
    const use = useOf(brand, slug)
    return isUse(use) ? openUse(slug, use) : undefined
  }

  // Expired entries go even where nobody asks for them again.
  const sweep = setInterval(() => {
    for (const [key, { until }] of kept) if (until < performance.now()) kept.delete(key)
  }, KEEP_MS)
  sweep.unref()

  return {
    async open(session, slug, identity) {
      if (!isHanded(session, slug)) return undefined
      const use = useOf(session.brand, slug)
      return isUse(use) && use.identity === identity ? openUse(slug, use) : undefined
    },
    openFor,
    close() {
      clearInterval(sweep)
      kept.clear()
    },
  }
}
