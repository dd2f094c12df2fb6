/**
 * Connections as the gateway uses them: which there are for a brand, the connectors that stand on them, and what a person
 * may do with them.
 * @module
 */
import { type Surroundings, standingOf } from '../../connector/declared.ts'
import type { Connector } from '../../connector/connector.ts'
import { type Connectable, createNativeConnector, isConnectable } from '../../connector/native/connector.ts'
import { isSecret, settingsOf } from '../../connector/native/values.ts'
import { createVendor, type Vendor } from '../../connector/native/vendor.ts'
import { refusalAt } from '../../connector/mcp/judge.ts'
import { checkConnection } from './check.ts'
import { hostConnections } from './host.ts'
import { resealConsents } from './oauth/consents.ts'
import { createOauth } from './oauth/oauth.ts'
import type { ConnectionParts, Connections } from './parts.ts'
import { createPicture } from './picture.ts'
import { isSameServer, REMOTE, valuesOf } from './remote.ts'
import { checkRemote } from './remote-check.ts'
import { createRemotes } from './remotes.ts'
import { isUse, type Known, NEEDED, slugsOf, type Use, useOf } from './resolve.ts'
import {
  findConnection,
  listConnections,
  putConnection,
  removeConnection,
  resealConnection,
  shareConnection,
  type Where,
} from './rows.ts'
import { identityOf, openSecrets, sealSecrets } from './secrets.ts'
import { createVault } from './vault.ts'
import { waitingConnector } from './waiting.ts'

export type { Change, ConnectionParts, Connections, Statement } from './parts.ts'

/** Reads all connections once and keeps up with them. */
export async function createConnections(parts: ConnectionParts): Promise<Connections> {
  const { db, audit, seal, catalogue, ownerBrand, taken } = parts
  const connectables = new Map(catalogue.filter(isConnectable).map((one) => [one.slug, one]))
  const host = hostConnections(parts.host, parts.key, connectables)
  const vendors = new Map<string, Vendor>()
  const made = new Map<string, readonly Connector[]>()

  const picture = await createPicture({
    db,
    log: parts.log,
    ...(parts.pollMs !== undefined && { pollMs: parts.pollMs }),
    changed(brands) {
      for (const brand of brands) {
        made.delete(brand)
        remotes.prune(brand, (slug) => remoteUse(brand, slug))
      }
      parts.changed()
    },
  })
  const knownOf = (brand: string): Known => ({
    brand,
    owner: ownerBrand,
    own: picture.of(brand),
    owners: picture.of(ownerBrand),
    host,
  })
  const oauth = createOauth({
    ...parts,
    connectorOf: ({ brand, slug }) => picture.of(brand).get(slug)?.connector,
    kindOf: (connector) => connectables.get(connector)?.connection.oauth,
    remoteRules: parts.remote.rules,
    resolver: parts.remote.resolver,
  })
  const vault = createVault({
    db,
    seal,
    tokens: oauth.tokens,
    useOf: (brand, slug) => useOf(knownOf(brand), slug),
    hostValues: (slug) => parts.host[slug],
  })

  const remotes = createRemotes({ ...parts.remote, log: parts.log, vault, changed: parts.changed })

  /** A brand's own server that can be connected. */
  function remoteUse(brand: string, slug: string): Use | undefined {
    const use = useOf(knownOf(brand), slug)
    return isUse(use) && use.connector === REMOTE && use.consent !== NEEDED && !taken.has(slug) ? use : undefined
  }

  function vendorOf(declared: Connectable): Vendor {
    const known = vendors.get(declared.slug)
    if (known !== undefined) return known
    const vendor = createVendor(declared, { override: parts.overrides[declared.slug] })
    vendors.set(declared.slug, vendor)
    return vendor
  }

  /** What a brand has under the slug of a connection of its. */
  function around(brand: string, slug?: string): Surroundings {
    return {
      switches: parts.switches,
      has: parts.has,
      hasBody: ({ body }) => body !== undefined,
      credentials(connector) {
        const use = useOf(knownOf(brand), slug ?? connector)
        return isUse(use) ? use.resolved : use
      },
    }
  }

  function connectorOf(brand: string, slug: string): Connector[] {
    const use = useOf(knownOf(brand), slug)
    if (!isUse(use) || taken.has(slug)) return []
    const declared = connectables.get(use.connector)
    if (use.consent === NEEDED) return [waitingConnector(brand, slug, declared?.title ?? slug, use)]
    if (use.connector === REMOTE) return [remotes.of(brand, slug, use)]
    if (declared === undefined) return []
    const { identity, settings } = use
    const standing = standingOf(declared, around(brand, slug))
    return [
      createNativeConnector(declared, { brand, slug, identity, settings }, standing, {
        vault,
        vendor: vendorOf(declared),
      }),
    ]
  }

  /** After a change: it shows here before its caller is answered. */
  async function shown<T>(changing: Promise<T>): Promise<T> {
    const result = await changing
    await picture.refresh()
    return result
  }

  /** The next server of the name is discovered anew. */
  const forgetPins = ({ brand, slug }: Where, by: string): Promise<void> =>
    parts.remote.pins.forget({ scope: brand, connector: slug }, by)

  function of(brand: string): readonly Connector[] {
    const known = made.get(brand)
    if (known !== undefined) return known
    const list = slugsOf(knownOf(brand)).flatMap((slug) => connectorOf(brand, slug))
    if (made.size > MOST_BRANDS) made.clear()
    made.set(brand, list)
    return list
  }

  return {
    of,
    wake(brand, wanted = () => true) {
      return of(brand).length === 0 ? undefined : remotes.wake(brand, wanted)
    },
    consenting: {
      begin: oauth.consenting.begin,
      finish: (parameters) => shown(oauth.consenting.finish(parameters)),
    },
    surroundings: (brand) => around(brand),
    connectable: (slug) => connectables.get(slug),
    isTaken: (slug) => taken.has(slug),
    async put({ brand, slug, connector, values }, change) {
      const { fields } = connector.connection
      const secrets = Object.fromEntries(Object.entries(values).filter(([name]) => isSecret(fields[name])))
      const draft = {
        brand,
        slug,
        connector: connector.slug,
        sealed: await sealSecrets(seal, { brand, slug }, secrets),
        secrets: Object.keys(secrets).sort(),
        settings: settingsOf(fields, values),
        identity: identityOf(parts.key, connector.slug, values),
        asksConsent: connector.connection.oauth !== undefined,
      }
      return shown(putConnection(audit, draft, change))
    },
    refusalOf: (url) => refusalAt(url, parts.remote.rules, parts.remote.resolver),
    async putRemote({ brand, slug }, remote, change) {
      const { secrets, settings } = valuesOf(remote)
      // Whom it calls and as whom; what its tools may do is no part of that.
      const { tools: _, ...account } = { ...settings, ...secrets }
      const draft = {
        brand,
        slug,
        connector: REMOTE,
        sealed: await sealSecrets(seal, { brand, slug }, secrets),
        secrets: Object.keys(secrets).sort(),
        settings,
        identity: identityOf(parts.key, REMOTE, account),
        asksConsent: remote.oauth !== undefined,
      }
      const before = await findConnection(db, draft)
      const put = await shown(putConnection(audit, draft, change))
      if (put.ok && before !== undefined && !(await isSameServer(seal, before, remote))) {
        await forgetPins(draft, change.by)
      }
      return put
    },
    async remove(where, by) {
      const removed = await shown(removeConnection(audit, where, by))
      if (removed?.connector === REMOTE) await forgetPins(where, by)
      return removed
    },
    share: (where, brands, by) => shown(shareConnection(audit, where, brands, by)),
    async reseal(by) {
      const old = (await listConnections(db)).filter(({ sealed }) => !seal.isCurrent(sealed))
      let done = await resealConsents(db, seal)
      for (const one of old) {
        const sealed = await sealSecrets(seal, one, await openSecrets(seal, one, one.sealed))
        // Changed meanwhile, it was sealed with today's secret by who changed it.
        if ((await resealConnection(audit, one, sealed, { by, reason: 'sealed anew' })) !== undefined) done++
      }
      await picture.refresh()
      return done
    },
    async check({ brand, slug }, by) {
      const use = useOf(knownOf(brand), slug)
      if (isUse(use) && (use.connector === REMOTE || use.consent === NEEDED)) {
        const connector = of(brand).find((one) => one.slug === slug)
        const connected = remotes.wake(brand, (one) => one === slug)
        return connector && checkRemote(audit, { connector, connected, row: use.row, by })
      }
      const declared = isUse(use) ? connectables.get(use.connector) : undefined
      if (!isUse(use) || declared === undefined) return undefined
      return checkConnection(audit, vendorOf(declared), {
        slug,
        row: use.row,
        by,
        open: () => vault.openFor(brand, slug),
      })
    },
    used({ brand, slug }) {
      const use = useOf(knownOf(brand), slug)
      return isUse(use) ? { connector: use.connector, settings: use.settings } : undefined
    },
    async close() {
      await picture.close()
      await Promise.all([remotes.close(), oauth.close()])
      vault.close()
      await Promise.all([...vendors.values()].map((vendor) => vendor.close()))
    },
  }
}

/** Most brands whose connectors are kept; a further one starts afresh. */
const MOST_BRANDS = 10_000
