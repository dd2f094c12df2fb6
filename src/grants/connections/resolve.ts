/**
 * Which connection a brand uses under a slug: its own, one shared with it, or the host's. Pure: what there is comes in.
 * @module
 */
import type { Values } from '../../connector/native/values.ts'
import { credentialsFor, type Resolved } from '../credentials.ts'
import type { Pictured } from './picture.ts'

/** A connector's credentials of the host's environment; every field, secrets among them. */
export interface HostConnection {
  readonly connector: string
  readonly settings: Values
  readonly identity: string
}

/** All there is, as far as one brand is concerned. */
export interface Known {
  readonly brand: string
  readonly owner: string
  readonly own: ReadonlyMap<string, Pictured>
  /** The account owner's. */
  readonly owners: ReadonlyMap<string, Pictured>
  readonly host: ReadonlyMap<string, HostConnection>
}

/** What a brand uses under a slug. */
export interface Use {
  readonly resolved: Resolved
  readonly connector: string
  readonly settings: Values
  readonly identity: string
  /** The row it is of; none of the host's. */
  readonly row: Pick<Pictured, 'brand' | 'version'> | undefined
  /** Undefined: none is needed. `needed`, or the id of the consent that stands. */
  readonly consent?: string | undefined
  readonly consentBecause?: string | undefined
}

/** A row that a person has yet to consent to. */
export const NEEDED = 'needed'

/** The use of a slug, or why there is none. */
export function useOf({ brand, owner, own, owners, host }: Known, slug: string): Use | Resolved {
  const mine = own.get(slug)
  const lent = owners.get(slug)
  const isLent = brand !== owner && lent?.sharedWith.includes(brand) === true
  const hosts = host.get(slug)
  const resolved = credentialsFor(brand, owner, { own: mine !== undefined, shared: isLent, host: hosts !== undefined })
  const row = resolved.source === 'own' ? mine : resolved.source === 'shared' ? lent : undefined
  if (row !== undefined) {
    const { connector, settings, version, consent, consentBecause } = row
    // Another consent may be of another account.
    const identity = [row.brand, row.identity, ...(consent === undefined ? [] : [consent])].join(' ')
    const use = { resolved, connector, settings, identity, row: { brand: row.brand, version } }
    return consent === undefined ? use : { ...use, consent, consentBecause }
  }
  if (resolved.source !== 'host' || hosts === undefined) return { source: undefined, reason: resolved.reason }
  return { resolved, ...hosts, row: undefined }
}

export const isUse = (one: Use | Resolved): one is Use => 'resolved' in one

/** Every slug under which a brand uses a connection. */
export function slugsOf(known: Known): string[] {
  const all = new Set([...known.own.keys(), ...known.owners.keys(), ...known.host.keys()])
  return [...all].filter((slug) => isUse(useOf(known, slug))).sort()
}
