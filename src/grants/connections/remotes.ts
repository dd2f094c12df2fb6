/**
 * The connectors of brands' own MCP servers: one for each brand and slug, with a pool, sessions and credentials of its
 * own, connected when a session of the brand needs it.
 * @module
 */
import type { Connector } from '../../connector/connector.ts'
import { type AddressRules, allowedUrl } from '../../connector/mcp/address.ts'
import type { Bearer } from '../../connector/mcp/bearer.ts'
import type { ClientInfo } from '../../connector/mcp/envelope.ts'
import type { Resolver } from '../../connector/mcp/judge.ts'
import { createLazyConnector, type LazyConnector } from '../../connector/mcp/lazy.ts'
import { secretsOfUrl } from '../../connector/mcp/shown-url.ts'
import { createMcpConnector } from '../../connector/mcp/upstream.ts'
import type { Warden } from '../../connector/mcp/warden.ts'
import type { Opened } from '../../connector/native/vault.ts'
import type { Log } from '../../db/log.ts'
import type { PinsOfUpstreams, Told } from '../pins/pins.ts'
import { remoteOf } from './remote.ts'
import type { Use } from './resolve.ts'
import type { OpenVault } from './vault.ts'

/** How often unused servers are looked for (ms). */
const SWEEP_MS = 60_000
/** How long a request waits for servers of its brand to be connected (ms). */
const WAKE_MS = 5_000
/** Tokens of late that no text may show. */
const RECENT = 4

export interface RemoteParts {
  readonly log: Log
  readonly vault: Pick<OpenVault, 'openFor'>
  readonly clientInfo: ClientInfo
  readonly warden: Warden
  readonly rules: AddressRules
  readonly resolver?: Resolver
  readonly pins: Pick<PinsOfUpstreams, 'guard' | 'forget'>
  readonly changed: () => void
  readonly idleMs?: number | undefined
}

export interface Remotes {
  /** The connector of a use; the same one until another is stated. */
  of(brand: string, slug: string, use: Use): Connector
  /** Closes a brand's connectors that `stands` says are none any more. */
  prune(brand: string, stands: (slug: string) => Use | undefined): void
  /** Connects what a brand has and is not connected; undefined where there is nothing to wait for. */
  wake(brand: string, wanted: (slug: string) => boolean): Promise<void> | undefined
  close(): Promise<void>
}

interface Made {
  readonly mark: string
  /** The guard of its pins, before the server itself. */
  readonly connector: Connector
  readonly lazy: LazyConnector
  /** Told at each change. */
  readonly ears: Set<() => void>
}

/** Builds the keeper of these connectors. */
export function createRemotes(parts: RemoteParts): Remotes {
  const brands = new Map<string, Map<string, Made>>()
  const sweep = setInterval(
    () => {
      for (const made of brands.values()) for (const { lazy } of made.values()) lazy.rest()
    },
    Math.min(SWEEP_MS, (parts.idleMs ?? SWEEP_MS) / 2),
  )
  sweep.unref()

  async function open(brand: string, slug: string, identity: string, told: Told): Promise<Connector | string> {
    const opened = await parts.vault.openFor(brand, slug)
    if (opened === undefined) return 'The connection changed meanwhile; it is looked at again.'
    const { url, headers, tools } = remoteOf(opened.values)
    allowedUrl(url, parts.rules)
    return createMcpConnector(
      {
        type: 'http',
        name: slug,
        url,
        headers,
        tools,
        brands: [brand],
        allowPrivate: parts.rules.allowPrivate,
        identity,
        secrets: secretsOfUrl(url),
        ...(opened.token && { bearer: bearerOf(opened.token) }),
      },
      {
        log: logFor(parts.log, brand),
        warden: parts.warden,
        clientInfo: parts.clientInfo,
        allowedHosts: parts.rules.hosts,
        ...told,
        ...(parts.rules.words && { words: parts.rules.words }),
        ...(parts.resolver && { resolver: parts.resolver }),
      },
    )
  }

  function make(brand: string, slug: string, use: Use): Made {
    let lazy: LazyConnector | undefined
    const ears = new Set<() => void>()
    const changed = (): void => {
      for (const ear of [...ears]) ear()
      parts.changed()
    }
    const build = (told: Told): Connector => {
      const opens = (inner: Told) => open(brand, slug, use.identity, inner)
      lazy = createLazyConnector({ slug, title: slug, brand, open: opens, told, idleMs: parts.idleMs })
      return lazy
    }
    const scope = use.row?.brand ?? brand
    const connector = parts.pins.guard({ scope, newTools: 'closed' }, build, changed)
    return { mark: markOf(use), connector, lazy: lazy as unknown as LazyConnector, ears }
  }

  function drop(brand: string, slug: string): void {
    const made = brands.get(brand)
    void made?.get(slug)?.connector.close()
    made?.delete(slug)
    if (made?.size === 0) brands.delete(brand)
  }

  return {
    of(brand, slug, use) {
      const known = brands.get(brand)?.get(slug)
      if (known?.mark === markOf(use)) return known.connector
      drop(brand, slug)
      const made = make(brand, slug, use)
      brands.set(brand, (brands.get(brand) ?? new Map<string, Made>()).set(slug, made))
      return made.connector
    },
    prune(brand, stands) {
      for (const [slug, { mark }] of brands.get(brand) ?? []) {
        const use = stands(slug)
        if (use === undefined || markOf(use) !== mark) drop(brand, slug)
      }
    },
    wake(brand, wanted) {
      const waking = [...(brands.get(brand) ?? [])].flatMap(([slug, made]) => {
        const one = wanted(slug) ? made.lazy.wake() : undefined
        return one === undefined ? [] : [one.then(() => shown(made))]
      })
      return waking.length === 0 ? undefined : within(WAKE_MS, Promise.all(waking))
    },
    async close() {
      clearInterval(sweep)
      await Promise.all([...brands.values()].flatMap((made) => [...made.values()].map((one) => one.connector.close())))
      brands.clear()
    },
  }
}

/** Resolves when the guard has written down what was listed, so that it shows. */
function shown({ connector, ears }: Made): Promise<void> {
  const isOver = (): boolean => connector.state().state !== 'connecting'
  if (isOver()) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      ears.delete(look)
      resolve()
    }
    const look = (): void => void (isOver() && done())
    const timer = setTimeout(done, WAKE_MS)
    ears.add(look)
  })
}

/** A server that does not answer holds nobody up for longer; what it has comes later, and clients are told. */
function within(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void work.finally(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Another account, address, consent or policy is another connector. */
const markOf = ({ identity, settings, consent }: Use): string => JSON.stringify([identity, settings, consent])

function bearerOf(token: NonNullable<Opened['token']>): Bearer {
  const recent: string[] = []
  return {
    recent: () => recent,
    async token(refused) {
      const one = await token(refused)
      if (!recent.includes(one)) recent.unshift(one)
      recent.length = Math.min(recent.length, RECENT)
      return one
    },
  }
}

/** Lines about an upstream name its brand, since two brands may use one slug. */
const logFor = (log: Log, brand: string): Log => ({
  debug: (fields, message) => log.debug({ brand, ...fields }, message),
  info: (fields, message) => log.info({ brand, ...fields }, message),
  warn: (fields, message) => log.warn({ brand, ...fields }, message),
  error: (fields, message) => log.error({ brand, ...fields }, message),
})
