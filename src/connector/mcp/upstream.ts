/**
 * An MCP upstream as a connector: it opens in the background, comes back by itself, and shows its tools while it is there.
 * @module
 */
import type { Connector, ConnectorState, RegisteredTool, Withheld } from '../connector.ts'
import { createAccess } from './access.ts'
import { runCall } from './call.ts'
import { ASKS_ALL, ASKS_NOBODY, type ClientInfo, type Era } from './envelope.ts'
import { hostsOf, identityOf, type McpEntry, secretsOf, type TransportParts, transportOf } from './entry.ts'
import { greet } from './handshake.ts'
import { type Link, retire } from './link.ts'
import { listTools, type Listed } from './list.ts'
import { methodOf } from './message.ts'
import { createMirror } from './mirror.ts'
import { slugFor } from './names.ts'
import { createSessions } from './sessions.ts'
import { createSnip } from './snippet.ts'
import { TOOLS_CHANGED, type Watch, watch } from './watch.ts'

/** What a notice of change waits for others like it, and how far apart two readings of a list are at least (ms). */
const SETTLE_MS = 50
const SPACING_MS = 500
/** Waits between attempts to come back: the first, the longest, and by how much each is longer (ms). */
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000
const GROWTH = 1.5
/** A connection that lived this long was a good one; the next wait is the first again (ms). */
const GOOD_MS = 10_000

const TIMEOUT_MS = 60_000
const MAX_TIMEOUT_MS = 300_000
const CONNECT_TIMEOUT_MS = 10_000

export interface McpParts extends TransportParts {
  readonly clientInfo: ClientInfo
  /** Told whenever tools, withheld or state became different. */
  readonly changed: () => void
  /** Told after each complete reading of the list, whether or not anything is different. */
  readonly listed?: () => void
}

/** Makes the connector of one entry of `mcpServers` and starts to connect. Never throws for what an upstream does. */
export function createMcpConnector(entry: McpEntry, parts: McpParts): Connector {
  const { log } = parts
  const slug = slugFor(entry.name)
  const snip = createSnip(secretsOf(entry), 'url' in entry ? entry.bearer?.recent : undefined)
  const { timeoutMs = TIMEOUT_MS, maxTimeoutMs = MAX_TIMEOUT_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = entry
  const listing = {
    slug,
    standingOf: createAccess(entry.tools ?? {}),
    upstream: identityOf(entry),
    snip,
    timeoutMs: connectTimeoutMs,
    known: new Map(),
  }
  const opened = transportOf(entry, parts, snip)

  let state: ConnectorState = { state: 'connecting', detail: 'Connecting for the first time.' }
  let tools: readonly RegisteredTool[] = []
  let withheld: readonly Withheld[] = [absent(state.detail)]
  let main: Link | undefined
  let watching: Watch | undefined
  let connecting: Promise<Link | string> | undefined
  let reading: Promise<string | undefined> | undefined
  let lookAgain: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined
  let readAt = 0
  let readyAt = 0
  let attempts = 0
  let closed = false

  const sessions = createSessions({
    main: () => main ?? connecting ?? state.detail,
    greet: (modes) => hello(modes, 'legacy'),
  })
  const calls = {
    sessions,
    asking: { slug, hosts: hostsOf(entry) },
    snip,
    mirror: createMirror(),
    timeoutMs,
    maxTimeoutMs,
    onTrouble: look,
  }

  function absent(reason: string): Withheld {
    return {
      tool: `mcp__${slug}__*`,
      code: 'upstream_unavailable',
      reason: `The upstream "${entry.name}" is not there. ${reason}`,
    }
  }

  function hello(modes = ASKS_NOBODY, era?: Era, declared = modes) {
    if ('failure' in opened) return Promise.resolve(opened)
    const events = {
      onNotice: (message: Parameters<typeof methodOf>[0]) => {
        if (methodOf(message) === TOOLS_CHANGED) look()
      },
      onGone: () => lost(),
    }
    return greet({
      transport: opened.transport,
      client: parts.clientInfo,
      events,
      modes,
      declared,
      timeoutMs: connectTimeoutMs,
      snip,
      ...(era && { era }),
    })
  }

  /** Opens a new link and reads the list over it; a second caller joins the first. */
  function connect(): Promise<Link | string> {
    connecting ??= reach().finally(() => {
      connecting = undefined
    })
    return connecting
  }

  async function reach(): Promise<Link | string> {
    clearTimeout(retry)
    // Calls that may ask go over links of their own (http), so the link that lists only has to see what they would see.
    const greeted = await hello(ASKS_NOBODY, undefined, 'url' in entry ? ASKS_ALL : ASKS_NOBODY)
    if ('failure' in greeted) return fail(greeted.failure)
    const { link } = greeted
    const outcome = await listTools(link, listing)
    if ('failure' in outcome || link.gone !== undefined || closed) {
      retire(link)
      return fail('failure' in outcome ? outcome.failure : (link.gone?.reason ?? 'The gateway is stopping.'))
    }
    adopt(link, outcome.listed)
    return link
  }

  function adopt(link: Link, listed: Listed): void {
    if (main !== link) {
      const old = main
      watching?.stop()
      main = link
      readyAt = Date.now()
      watching = watch(link, look)
      if (old !== undefined) retire(old)
    }
    readAt = Date.now()
    show(listed)
    parts.listed?.()
  }

  /** Takes up a list; what has not changed keeps its array, so that views made of it stay good. */
  function show(listed: Listed): void {
    const count = listed.tools.length
    const how = `${count} ${count === 1 ? 'tool' : 'tools'}, MCP ${main?.agreement?.version}`
    const next: ConnectorState = { state: 'ready', detail: [how, ...listed.remarks].join('. ') }
    const same = digest(tools) === digest(listed.tools) && digest(withheld) === digest(listed.withheld)
    if (same && state.state === 'ready' && state.detail === next.detail) return
    if (!same) {
      tools = listed.tools
      withheld = listed.withheld
    }
    state = next
    log.info({ upstream: entry.name, tools: count, withheld: withheld.length }, 'An upstream is ready.')
    for (const remark of listed.remarks) log.warn({ upstream: entry.name }, remark)
    for (const { reason } of listed.withheld) log.warn({ upstream: entry.name }, reason)
    parts.changed()
  }

  function fail(reason: string): string {
    if (closed) return reason
    if (main !== undefined) {
      watching?.stop()
      retire(main)
      main = undefined
    }
    if (state.state !== 'failed' || state.detail !== reason) {
      log.warn({ upstream: entry.name, reason }, 'An upstream is not there.')
      state = { state: 'failed', detail: reason }
      tools = []
      withheld = [absent(reason)]
      parts.changed()
    }
    if (!('failure' in opened)) retry = setTimeout(connect, wait()).unref()
    return reason
  }

  function wait(): number {
    if (readyAt > 0 && Date.now() - readyAt > GOOD_MS) attempts = 0
    readyAt = 0
    return Math.min(FIRST_WAIT_MS * GROWTH ** attempts++, LONGEST_WAIT_MS) * (0.8 + Math.random() * 0.4)
  }

  /** A child is gone. It is started again at once if it was a good one, else after a wait. */
  function lost(): void {
    if (main?.gone === undefined || closed) return
    const { reason } = main.gone
    watching?.stop()
    main = undefined
    if (Date.now() - readyAt > GOOD_MS) void connect()
    else fail(reason)
  }

  /** Something may have changed: read the list again soon. */
  function look(): void {
    if (closed || main === undefined || lookAgain !== undefined) return
    lookAgain = setTimeout(read, Math.max(SETTLE_MS, readAt + SPACING_MS - Date.now())).unref()
  }

  function read(): void {
    lookAgain = undefined
    if (reading === undefined) void readNow()
    else look()
  }

  function readNow(): Promise<string | undefined> {
    reading ??= readOver(main).finally(() => {
      reading = undefined
    })
    return reading
  }

  /** Reads the list over a link; without a good one, over a new one. Why it could not be read. */
  async function readOver(link: Link | undefined): Promise<string | undefined> {
    if (closed) return 'The gateway is stopping.'
    if (link !== undefined) {
      readAt = Date.now()
      const outcome = await listTools(link, listing)
      if (closed || main !== link) return 'The connection was lost meanwhile.'
      if ('listed' in outcome) {
        adopt(link, outcome.listed)
        return undefined
      }
    }
    const reached = await connect()
    return typeof reached === 'string' ? reached : undefined
  }

  void connect()

  return {
    slug,
    title: entry.name,
    serves: (brand) => entry.brands === '*' || entry.brands.includes(brand),
    state: () => state,
    tools: () => tools,
    withheld: () => withheld,
    call: (call) => runCall(calls, call),
    async discover() {
      // One that is under way may have asked before what the caller knows of.
      await reading
      return readNow()
    },
    async close() {
      if (closed) return
      closed = true
      clearTimeout(retry)
      clearTimeout(lookAgain)
      watching?.stop()
      await Promise.all([sessions.close(), main?.wire.close()])
      if ('transport' in opened) await opened.transport.close()
    },
  }
}

/** Equal for lists that are equal to everyone who reads them. */
function digest(items: ReadonlyArray<RegisteredTool | Withheld>): string {
  return items
    .map((item) => ('digest' in item ? `${item.name} ${item.digest}` : `${item.tool} ${item.reason}`))
    .join('\n')
}
