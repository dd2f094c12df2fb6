/**
 * A native connector: a declared connector whose tools have bodies, on one brand's connection. To the rest of the gateway
 * it is a connector like any other.
 * @module
 */
import { createHash } from 'node:crypto'
import type { Connector, RegisteredTool, Withheld } from '../connector.ts'
import type { Standing } from '../declared.ts'
import type { DeclaredConnector } from '../define.ts'
import type { Body } from './body.ts'
import type { ConnectionKind } from './kind.ts'
import { startRun } from './run.ts'
import { nativeTool } from './tool.ts'
import type { Used, Vault } from './vault.ts'
import type { Vendor } from './vendor.ts'

/** A declared connector that can be connected. */
export type Connectable = DeclaredConnector & { readonly connection: ConnectionKind }

/** Whether a declared connector says how it is reached, so that a brand can connect it. */
export const isConnectable = (one: DeclaredConnector): one is Connectable => one.connection !== undefined

/** Builds the connector of a connection. `standing`: which of its tools register here, and why the others do not. */
export function createNativeConnector(
  declared: Connectable,
  used: Used,
  standing: Standing,
  { vault, vendor }: { readonly vault: Vault; readonly vendor: Vendor },
): Connector {
  const { slug, brand, settings, identity } = used
  const upstream = createHash('sha256')
    .update(JSON.stringify([declared.slug, vendor.address(settings), identity]))
    .digest('hex')
  let key = ''
  const bodies = new Map<RegisteredTool, Body>()
  for (const facts of standing.tools) {
    const one = declared.tools.find(({ name }) => name === facts.name)
    if (one?.body === undefined) continue
    const { ownName, body } = one
    const prices = () => vendor.prices.of(key)
    const tool = nativeTool(body, { facts, ownName, slug, unit: declared.billing?.unit, settings, prices, upstream })
    bodies.set(tool, body)
  }
  const tools = [...bodies.keys()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const left = standing.withheld.map((one) => under(slug, declared.slug, one))
  return {
    slug,
    title: declared.title,
    serves: (asked) => asked === brand,
    state: () => ({ state: 'ready', detail: 'Built in.' }),
    tools: () => tools,
    withheld: () => [],
    left: () => left,
    call: (call) =>
      startRun(call, bodies.get(call.tool), { vendor, settings, open: () => vault.open(call.session, slug, identity) }),
    async prepare(session) {
      if (!vendor.readsPrices) return
      const opened = await vault.open(session, slug, identity).catch(() => undefined)
      if (opened === undefined) return
      key = opened.key
      await vendor.prepare(opened)
    },
    close: () => Promise.resolve(),
  }
}

/** A withheld tool under the slug of its connection. */
const under = (slug: string, own: string, one: Withheld): Withheld =>
  slug === own ? one : { ...one, tool: one.tool.replace(`mcp__${own}__`, `mcp__${slug}__`) }
