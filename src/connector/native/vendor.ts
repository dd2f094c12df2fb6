/**
 * One vendor as this gateway reaches it: its address, its connections, and a way to it for one call.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { type AddressRules, allowedUrl, pinned } from '../mcp/address.ts'
import type { Connectable } from './connector.ts'
import { createHttp, type Http, type Options, type Reply } from './http.ts'
import { createMints } from './mint.ts'
import { createPrices, type Prices } from './prices.ts'
import { isSecret, settingsOf, type Values } from './values.ts'
import type { Opened } from './vault.ts'

const CONNECT_MS = 10_000
/** How long the calls that are no tool's (a check, prices) may take (ms). */
const ASIDE_MS = 30_000

/** The operator's word on where a vendor is. */
export interface Override {
  readonly baseUrl?: string | undefined
  /** Loopback and private addresses are meant. */
  readonly allowPrivate: boolean
}

export interface VendorParts {
  readonly override?: Override | undefined
  /** What every deadline is multiplied with; 1 but in tests. */
  readonly patience?: number | undefined
  /** Instead of waiting, in tests. */
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined
}

export interface Vendor {
  /** For people and models. */
  readonly title: string
  /** Where it is for these settings; the text is not judged. */
  address(settings: Values): string
  /** A way to it with the credentials of a connection. Throws AddressRefused. */
  way(opened: Opened, signal: AbortSignal, onEffect?: () => void): Http
  /** Fetches what the vendor links to, without credentials. Throws VendorFailure or AddressRefused. */
  download(url: string, signal: AbortSignal, options?: Options): Promise<Reply<unknown>>
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** Aborts after a time. */
  deadline(ms: number): AbortSignal
  readonly prices: Prices
  readonly readsPrices: boolean
  /** Reads the account's prices, if they are not there. Never throws. */
  prepare(opened: Opened): Promise<void>
  /** The connector's harmless call. Answers a sentence; throws VendorFailure or AddressRefused. */
  check(opened: Opened): Promise<string>
  close(): Promise<void>
}

/** Builds the vendor of a connector. It holds no credential beyond a call, but tokens minted with one. */
export function createVendor(
  { connection, title }: Connectable,
  { override, wait = pause, patience = 1 }: VendorParts = {},
): Vendor {
  const rules: AddressRules = { allowPrivate: override?.allowPrivate === true, hosts: [] }
  const agents = new Map<boolean, Agent>()
  const mints = createMints()
  const prices = createPrices()

  const address = (settings: Values): string =>
    override?.baseUrl ?? (typeof connection.baseUrl === 'string' ? connection.baseUrl : connection.baseUrl(settings))

  /** Connections by the rules for their scheme. */
  function agentFor(plain: boolean): Agent {
    const known = agents.get(plain)
    if (known !== undefined) return known
    const made = new Agent({ allowH2: false, connect: { lookup: pinned(plain, rules), timeout: CONNECT_MS } })
    agents.set(plain, made)
    return made
  }

  function way(opened: Opened, signal: AbortSignal, onEffect: () => void = () => {}): Http {
    const base = allowedUrl(address(settingsOf(connection.fields, opened.values)), rules)
    const secrets = new Set(
      Object.entries(opened.values).flatMap(([name, value]) => (isSecret(connection.fields[name]) ? [value] : [])),
    )
    const common = {
      dispatcher: agentFor(base.protocol === 'http:'),
      vendor: title,
      base,
      fixed: { 'user-agent': 'tollgate', ...connection.headers },
      secrets: () => [...secrets],
      problem: connection.problem?.bind(connection),
      signal,
      patience,
      wait: async (ms: number, ends: AbortSignal) => void (await wait(ms, ends)),
    }
    let sent: string | undefined
    const bare = createHttp({ ...common, onEffect: () => {}, headers: () => Promise.resolve({}) })
    return createHttp({
      ...common,
      onEffect,
      async headers(renewed) {
        const mint = mints.of(opened.key, renewed)
        sent = await opened.token?.(renewed ? sent : undefined)
        if (sent !== undefined) secrets.add(sent)
        const given = sent === undefined ? opened.values : { ...opened.values, accessToken: sent }
        const carried = await connection.authorize(given, async (ask) => {
          const token = await mint(() => ask(bare))
          secrets.add(token)
          return token
        })
        for (const value of Object.values(carried)) secrets.add(value.replace(/^[A-Za-z]+ /, ''))
        return carried
      },
    })
  }

  /** The address comes from an answer, so it is judged like any other that somebody else chose. */
  async function download(url: string, signal: AbortSignal, options: Options = {}): Promise<Reply<unknown>> {
    const { origin, protocol, pathname, search } = allowedUrl(url, rules)
    const http = createHttp({
      dispatcher: agentFor(protocol === 'http:'),
      vendor: title,
      base: new URL(origin),
      fixed: { 'user-agent': 'tollgate', accept: '*/*' },
      headers: () => Promise.resolve({}),
      secrets: () => [],
      problem: undefined,
      signal,
      onEffect: () => {},
      patience,
      wait: async (ms, ends) => void (await wait(ms, ends)),
    })
    return http.get({ made: pathname + search }, options)
  }

  const deadline = (ms: number): AbortSignal => AbortSignal.timeout(Math.ceil(ms * patience))

  return {
    title,
    address,
    way,
    download,
    wait: async (ms, signal) => void (await wait(ms, signal)),
    deadline,
    prices,
    readsPrices: connection.prices !== undefined,
    async prepare(opened) {
      await prices.prepare(opened.key, async () => connection.prices?.(way(opened, deadline(ASIDE_MS))))
    },
    check: async (opened) =>
      connection.check(way(opened, deadline(ASIDE_MS)), settingsOf(connection.fields, opened.values)),
    async close() {
      await Promise.allSettled([...agents.values()].map((agent) => agent.destroy()))
    },
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal })
