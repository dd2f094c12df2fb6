/**
 * What `check` can know of native connectors without a database: those of the host's own credentials.
 * @module
 */
import { connectors as catalogue } from '../../connectors/index.ts'
import type { Config } from '../config/config.ts'
import { type Surroundings, standingOf } from '../connector/declared.ts'
import { slugFor } from '../connector/mcp/names.ts'
import { createNativeConnector, isConnectable } from '../connector/native/connector.ts'
import { settingsOf } from '../connector/native/values.ts'
import { createVendor, type Vendor } from '../connector/native/vendor.ts'
import type { BrandConnectors } from '../connector/registry.ts'

const UNKNOWN = 'the environment has none, and a check does not open the database, where brands keep theirs.'

/** What the owner's brand has by the environment alone. */
export function hostSurroundings({ switches, environment, hostCredentials }: Config): Surroundings {
  return {
    switches,
    has: (circumstance) => circumstance === 'e2b' && environment === 'e2b',
    hasBody: ({ body }) => body !== undefined,
    credentials: (slug) =>
      Object.hasOwn(hostCredentials, slug) ? { source: 'host', reason: '' } : { source: undefined, reason: UNKNOWN },
  }
}

/** The connectors that the owner's brand has by the environment alone. Nothing can be called through them. */
export function hostConnectors(config: Config): BrandConnectors {
  const { ownerBrand: brand, hostCredentials, servers } = config
  const vendors: Vendor[] = []
  const made = catalogue.filter(isConnectable).flatMap((declared) => {
    const values = Object.hasOwn(hostCredentials, declared.slug) ? hostCredentials[declared.slug] : undefined
    // What a person consents to is a brand's, and in the database.
    if (declared.connection.oauth !== undefined) return []
    if (values === undefined || servers.some(({ name }) => slugFor(name) === declared.slug)) return []
    const vendor = createVendor(declared, { override: config.connectors[declared.slug] })
    vendors.push(vendor)
    const settings = settingsOf(declared.connection.fields, values)
    const used = { brand, slug: declared.slug, identity: 'host', settings }
    const vault = { open: () => Promise.resolve(undefined) }
    return [createNativeConnector(declared, used, standingOf(declared, hostSurroundings(config)), { vault, vendor })]
  })
  return {
    of: (asked) => (asked === brand ? made : []),
    close: async () => void (await Promise.all(vendors.map((vendor) => vendor.close()))),
  }
}
