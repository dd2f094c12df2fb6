/**
 * The connectors and tools that exist for a brand right now.
 * Lists are made once and handed out as the same array until something changed, so that views can be kept by identity.
 * @module
 */
import type { Connector, RegisteredTool, Withheld } from './connector.ts'

export interface Registry {
  connectors(brand: string): readonly Connector[]
  /** All tools of the brand's connectors, sorted by name. The same array object until `changed`. */
  tools(brand: string): readonly RegisteredTool[]
  withheld(brand: string): readonly Withheld[]
  /** Counts changes; equal numbers mean equal lists. */
  generation(): number
  /** A connector says that its tools, state or brands changed. */
  changed(): void
  /** Told after each change; returns what stops it. */
  onChange(listener: () => void): () => void
  /** The connector of a slug: one of all, or of a brand's own. */
  find(slug: string, brand: string): Connector | undefined
  /** Every connector that is there whatever the brand. */
  all(): readonly Connector[]
  /** Closes every connector. */
  close(): Promise<void>
}

interface Lists {
  readonly connectors: readonly Connector[]
  readonly tools: readonly RegisteredTool[]
  readonly withheld: readonly Withheld[]
}

/** Most brands whose lists are kept; a further one starts afresh. */
const KEPT_BRANDS = 10_000

/** Connectors that stand on a brand's own connections. */
export interface BrandConnectors {
  /** Those of a brand; the same objects until its connections changed. None has the slug of one that is there for all. */
  of(brand: string): readonly Connector[]
  close(): Promise<void>
}

const NONE: BrandConnectors = { of: () => [], close: () => Promise.resolve() }

/** Joins connectors to a registry. Throws when two have the same slug, since their tools could not be told apart. */
export function createRegistry(connectors: readonly Connector[], own: BrandConnectors = NONE): Registry {
  const bySlug = new Map<string, Connector>()
  for (const connector of connectors) {
    if (bySlug.has(connector.slug)) {
      throw new Error(`Two connectors are called "${connector.slug}"; rename one of them in the configuration.`)
    }
    bySlug.set(connector.slug, connector)
  }
  const listeners = new Set<() => void>()
  const kept = new Map<string, Lists>()
  let generation = 0

  function lists(brand: string): Lists {
    const known = kept.get(brand)
    if (known !== undefined) return known
    if (kept.size >= KEPT_BRANDS) kept.clear()
    const made = listsOf([...connectors.filter((connector) => connector.serves(brand)), ...own.of(brand)])
    kept.set(brand, made)
    return made
  }

  return {
    connectors: (brand) => lists(brand).connectors,
    tools: (brand) => lists(brand).tools,
    withheld: (brand) => lists(brand).withheld,
    generation: () => generation,
    changed() {
      generation++
      kept.clear()
      for (const listener of [...listeners]) listener()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    find: (slug, brand) => bySlug.get(slug) ?? lists(brand).connectors.find((connector) => connector.slug === slug),
    all: () => connectors,
    async close() {
      listeners.clear()
      await Promise.allSettled([own.close(), ...connectors.map((connector) => connector.close())])
    },
  }
}

function listsOf(connectors: readonly Connector[]): Lists {
  const tools = connectors.flatMap((connector) => connector.tools())
  tools.sort((a, b) => (a.name < b.name ? -1 : 1))
  return { connectors, tools, withheld: connectors.flatMap((connector) => connector.withheld()) }
}
