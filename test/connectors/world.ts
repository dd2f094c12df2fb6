/**
 * A connector under test on its stand-in: one brand's connection, kept in memory, and nothing else of the gateway.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { standingOf } from '../../src/connector/declared.ts'
import type { Answer as Outcome, Connector, RegisteredTool, Running } from '../../src/connector/connector.ts'
import type { DeclaredConnector } from '../../src/connector/define.ts'
import { createNativeConnector, isConnectable } from '../../src/connector/native/connector.ts'
import { settingsOf, type Values } from '../../src/connector/native/values.ts'
import { createVendor, type Vendor, type VendorParts } from '../../src/connector/native/vendor.ts'
import { SWITCHES, type Switches } from '../../src/policy/switches.ts'
import type { Session } from '../../src/policy/words.ts'

export const BRAND = 'acme'

export interface Bench {
  readonly connector: Connector
  readonly vendor: Vendor
  readonly opened: { readonly values: Values; readonly key: string }
  tool(ownName: string): RegisteredTool
  start(ownName: string, args: unknown, more?: { onProgress?: (text: string) => void }): Running
  call(ownName: string, args: unknown): Promise<Outcome>
  /** Reads the account's prices, as the gate does before a call that bills. */
  prepare(): Promise<void>
  /** How long the connector would have waited, each time (ms). */
  readonly waits: number[]
  close(): Promise<void>
}

/** Connects a declared connector to the address of a stand-in. Every switch is on unless said. */
export function bench(
  declared: DeclaredConnector,
  baseUrl: string,
  fields: Values,
  { switches = {}, ...more }: { switches?: Partial<Switches> } & VendorParts = {},
): Bench {
  if (!isConnectable(declared)) throw new Error(`${declared.slug} has no connection.`)
  const opened = { values: fields, key: randomUUID() }
  const waits: number[] = []
  const wait = async (ms: number) => void waits.push(ms)
  const vendor = createVendor(declared, { override: { baseUrl, allowPrivate: true }, wait, ...more })
  const on = Object.fromEntries(SWITCHES.filter((one) => one.default === false).map(({ name }) => [name, true]))
  const standing = standingOf(declared, {
    switches: { REQUIRE_WRITE_APPROVAL: true, ...on, ...switches },
    has: () => true,
    credentials: () => ({ source: 'own', reason: '' }),
    hasBody: ({ body }) => body !== undefined,
  })
  const used = {
    brand: BRAND,
    slug: declared.slug,
    identity: 'one account',
    settings: settingsOf(declared.connection.fields, fields),
  }
  const vault = { open: () => Promise.resolve(opened) }
  const connector = createNativeConnector(declared, used, standing, { vault, vendor })
  const tool = (ownName: string): RegisteredTool => {
    const found = connector.tools().find((one) => one.ownName === ownName)
    if (found === undefined) throw new Error(`No tool ${ownName} is registered.`)
    return found
  }
  const start: Bench['start'] = (ownName, args, { onProgress } = {}) =>
    connector.call({
      tool: tool(ownName),
      session: { id: 's_1', brand: BRAND } as Session,
      argumentsText: typeof args === 'string' ? args : JSON.stringify(args),
      extraText: '',
      metaText: '',
      elicitation: { form: false, url: false },
      onProgress,
      ask: () => Promise.reject(new Error('Nobody is asked in this test.')),
    })
  return {
    connector,
    vendor,
    opened,
    tool,
    start,
    call: (ownName, args) => start(ownName, args).answer,
    prepare: async () => connector.prepare?.({ id: 's_1', brand: BRAND } as Session),
    waits,
    async close() {
      await connector.close()
      await vendor.close()
    },
  }
}

/** The structured content of a result, or the answer where it is none. */
export function resultOf(answer: Outcome): unknown {
  return answer.kind === 'result' ? JSON.parse(`{${answer.members}}`).structuredContent : answer
}
