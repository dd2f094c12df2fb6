/**
 * An MCP upstream that is connected when a session first needs it and let go when nobody used it for a while. In between
 * its tools stay as they were last seen, and a call connects it again.
 * @module
 */
import type {
  Answer,
  Connector,
  ConnectorState,
  RegisteredTool,
  Running,
  UpstreamCall,
  Withheld,
} from '../connector.ts'
import { failed } from './answer.ts'
import type { McpParts } from './upstream.ts'

/** Unused for so long, it is let go (ms). */
const IDLE_MS = 15 * 60_000
/** How long a call waits for it to be connected (ms). */
const CONNECT_MS = 20_000
/** One that could not be opened at all is tried again after so long (ms). */
const AGAIN_MS = 5_000

type Told = Required<Pick<McpParts, 'changed' | 'listed'>>

export interface LazyParts {
  readonly slug: string
  readonly title: string
  readonly brand: string
  /** Opens it, which starts to connect; a sentence where that cannot even begin. `told` as by any MCP connector. */
  readonly open: (told: Told) => Promise<Connector | string>
  readonly told: Told
  readonly idleMs?: number | undefined
}

export interface LazyConnector extends Connector {
  /** Says that it is used. A promise where it is not connected yet: it resolves when it is, or when it has failed. */
  wake(): Promise<void> | undefined
  /** Lets go of the upstream if nobody used it lately. */
  rest(): void
}

/** Makes it; nothing is opened yet. */
export function createLazyConnector({ slug, title, brand, open, told, idleMs = IDLE_MS }: LazyParts): LazyConnector {
  let inner: Connector | undefined
  let opening: Promise<void> | undefined
  let tools: readonly RegisteredTool[] = []
  /** How it stands while nothing is open. */
  let asleep: ConnectorState = { state: 'connecting', detail: 'It is connected when a session first needs it.' }
  let settled: (() => void) | undefined
  let usedAt = performance.now()
  let failedAt = Number.NEGATIVE_INFINITY
  let busy = 0
  let closed = false

  const isReady = (): boolean => inner?.state().state === 'ready'
  const isOver = (): boolean => inner !== undefined && inner.state().state !== 'connecting'

  function heard(): void {
    if (isReady()) tools = inner?.tools() ?? []
    if (isOver()) settled?.()
    if (!closed) told.changed()
  }

  async function connect(): Promise<void> {
    const listed = (): void => {
      tools = inner?.tools() ?? tools
      told.listed()
    }
    const made = await open({ changed: heard, listed }).catch(() => 'Its credentials cannot be opened right now.')
    if (typeof made === 'string') {
      failedAt = performance.now()
      asleep = { state: 'failed', detail: made }
      return told.changed()
    }
    if (closed) return made.close()
    inner = made
    if (!isOver()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, CONNECT_MS)
        settled = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      settled = undefined
    }
    heard()
  }

  function wake(): Promise<void> | undefined {
    usedAt = performance.now()
    if (closed || isOver() || (inner === undefined && usedAt - failedAt < AGAIN_MS)) return undefined
    opening ??= connect().finally(() => {
      opening = undefined
    })
    return opening
  }

  function absent(detail: string): Withheld[] {
    const reason = `The upstream "${title}" is not there. ${detail}`
    return [{ tool: `mcp__${slug}__*`, code: 'upstream_unavailable', reason }]
  }

  function state(): ConnectorState {
    const now = inner?.state()
    if (now === undefined) return asleep
    // While it comes back, it is as it was.
    return now.state === 'connecting' && asleep.state === 'ready' ? asleep : now
  }

  function follow(running: Running): Running {
    busy++
    const done = (): void => {
      busy--
      usedAt = performance.now()
    }
    running.answer.then(done, done)
    return running
  }

  return {
    slug,
    title,
    serves: (asked) => asked === brand,
    state,
    tools: () => (state().state === 'ready' ? tools : []),
    withheld() {
      const { state: word, detail } = state()
      return word === 'ready' ? (isReady() ? (inner?.withheld() ?? []) : []) : absent(detail)
    },
    call(call) {
      const waking = wake()
      if (waking === undefined && inner !== undefined) return follow(inner.call(call))
      return follow(
        later(
          call,
          waking,
          () => inner,
          () => state().detail,
        ),
      )
    },
    async discover() {
      await wake()
      if (inner?.discover !== undefined) return inner.discover()
      return state().detail
    },
    wake,
    rest() {
      if (inner === undefined || opening !== undefined || busy > 0 || performance.now() - usedAt < idleMs) return
      const old = inner
      asleep = old.state()
      inner = undefined
      void old.close()
    },
    async close() {
      closed = true
      settled?.()
      await inner?.close()
    },
  }
}

/** A call that waits for its upstream. Cancelled meanwhile, it never leaves. */
function later(
  call: UpstreamCall,
  waking: Promise<void> | undefined,
  inner: () => Connector | undefined,
  why: () => string,
): Running {
  let running: Running | undefined
  let cancelled: string | undefined
  async function run(): Promise<Answer> {
    await waking
    const connector = inner()
    if (cancelled !== undefined) return failed('upstream_unavailable', `The call was cancelled: ${cancelled}`, 'no')
    if (connector === undefined) return failed('upstream_unavailable', why(), 'no')
    running = connector.call(call)
    return running.answer
  }
  return {
    answer: run(),
    cancel(reason) {
      cancelled = reason
      running?.cancel(reason)
    },
  }
}
