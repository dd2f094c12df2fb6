/**
 * A connector of an MCP upstream behind its pins: only tools that are as somebody accepted them are there. What is not is
 * closed the moment it is known here, and written down after.
 * @module
 */
import type { ClosedTool, Connector, ConnectorState, RegisteredTool, Withheld } from '../../connector/connector.ts'
import { canonicalText } from '../../json.ts'
import { judge, type ListedTool, type Pins, type PinState, type Verdict } from '../../policy/pins.ts'
import { bodyOf, type PinSet, toolPart } from './rows.ts'

export type NewTools = 'open' | 'closed'

/** What an MCP connector is told to say (McpParts). */
export interface Told {
  readonly changed: () => void
  readonly listed: () => void
}

export interface GuardParts {
  readonly scope: string
  /** Whether tools that were not there at the first discovery open by themselves. */
  readonly newTools: NewTools
  readonly pinsOf: (set: PinSet) => Pins
  /** Writes down what a complete listing adds. `before`: digests of the listing before, by tool. */
  readonly record: (guarded: Guarded, before: ReadonlyMap<string, string> | undefined) => Promise<void>
  readonly log: { warn(fields: object, message: string): void }
}

export interface Guarded {
  readonly connector: Connector
  readonly set: PinSet
  readonly newTools: NewTools
  /** Every tool that the upstream lists. */
  listed(): readonly RegisteredTool[]
  verdict(tool: string): Verdict | undefined
  /** The pins may have changed. Says whether anything opened or closed. */
  judge(): boolean
  /** Reads the list again where the pins say that another replica saw something else. */
  look(): void
}

const AGAIN_MS = 1_000

/** Puts a guard before the connector that `make` makes. `changed` is told when what is open, closed or withheld changed. */
export function guardConnector(parts: GuardParts, make: (told: Told) => Connector, changed: () => void): Guarded {
  let tools: readonly RegisteredTool[] | undefined
  let pins: Pins
  let lookedAt: Pins
  let verdicts: ReadonlyMap<string, Verdict> = new Map()
  let open: readonly RegisteredTool[] = []
  let closedTools: readonly ClosedTool[] = []
  let withheld: { readonly inner: readonly Withheld[]; readonly all: readonly Withheld[] } | undefined
  let before: ReadonlyMap<string, string> | undefined
  let wanted = false
  let keeping: Promise<void> | undefined
  let failing = false
  let again: NodeJS.Timeout | undefined
  let done = false

  const inner = make({
    changed() {
      judgeNow()
      changed()
    },
    listed() {
      wanted = true
      keeping ??= keep().finally(() => {
        keeping = undefined
      })
    },
  })
  const set: PinSet = { scope: parts.scope, connector: inner.slug }

  function judgeNow(): boolean {
    const [nowTools, nowPins] = [inner.tools(), parts.pinsOf(set)]
    if (nowTools === tools && nowPins === pins) return false
    tools = nowTools
    pins = nowPins
    verdicts = judge(pins, tools.map(listedTool))
    const nowOpen = tools.filter((tool) => verdicts.get(toolPart(tool))?.state === 'open')
    const nowClosed = tools.flatMap((tool) => {
      const verdict = verdicts.get(toolPart(tool))
      return verdict?.state === 'open' ? [] : [{ tool, reason: reasonOf(tool, verdict, set) }]
    })
    const same = equal(markOf(open, closedTools), markOf(nowOpen, nowClosed))
    if (!same || nowOpen.some((tool, i) => tool !== open[i])) open = nowOpen
    closedTools = nowClosed
    withheld = undefined
    return !same
  }

  /** Writes down what was listed; what cannot be written is tried again, and is closed meanwhile. */
  async function keep(): Promise<void> {
    while (wanted && !done) {
      wanted = false
      const now = new Map(inner.tools().map((tool) => [toolPart(tool), tool.digest]))
      try {
        await parts.record(guarded, before)
        before = now
        failing = false
      } catch (error) {
        if (!failing)
          parts.log.warn(
            { connector: set.connector, reason: String(error) },
            'What an upstream lists could not be written down; trying again.',
          )
        failing = true
        wanted = true
        await new Promise<void>((resolve) => {
          again = setTimeout(resolve, AGAIN_MS)
          again.unref()
        })
      }
    }
  }

  function state(): ConnectorState {
    const now = inner.state()
    if (now.state !== 'ready') return now
    if (pins === undefined && verdicts.size > 0) {
      return { state: 'connecting', detail: 'Its tools are written down before anybody is shown them.' }
    }
    const count = closedTools.length
    if (count === 0) return now
    const what =
      count === 1
        ? '1 of them is closed until somebody accepts it'
        : `${count} of them are closed until somebody accepts them`
    return { state: 'ready', detail: `${now.detail}. ${what}: tollgate tools list ${set.connector}` }
  }

  const connector: Connector = {
    slug: inner.slug,
    title: inner.title,
    serves: (brand) => inner.serves(brand),
    state,
    tools: () => open,
    withheld() {
      const own = inner.withheld()
      if (withheld?.inner !== own) {
        const closed = closedTools.map(({ tool, reason }) => ({
          tool: tool.name,
          code: 'definition_changed' as const,
          reason,
        }))
        withheld = { inner: own, all: [...own, ...closed] }
      }
      return withheld.all
    },
    closed: () => closedTools,
    ...(inner.left && { left: () => inner.left?.() ?? [] }),
    async discover() {
      before = undefined
      const problem = await inner.discover?.()
      await keeping
      return problem
    },
    call: (call) => inner.call(call),
    ...(inner.prepare && { prepare: (session) => inner.prepare?.(session) ?? Promise.resolve() }),
    async close() {
      done = true
      clearTimeout(again)
      await inner.close()
    },
  }

  const guarded: Guarded = {
    connector,
    set,
    newTools: parts.newTools,
    listed: () => inner.tools(),
    verdict: (tool) => verdicts.get(tool),
    judge: judgeNow,
    look() {
      if (done || pins === lookedAt || inner.state().state !== 'ready') return
      lookedAt = pins
      if (differs(pins, tools ?? [])) void inner.discover?.()
    },
  }
  return guarded
}

/** Whether the pins tell of anything that this listing does not show. */
function differs(pins: Pins, tools: readonly RegisteredTool[]): boolean {
  if (pins === undefined) return tools.length > 0
  const there = new Map(tools.map((tool) => [toolPart(tool), tool.digest]))
  return [...pins].some(([tool, { digest, seen }]) => {
    const listed = there.get(tool)
    return listed === undefined ? digest === undefined : seen !== undefined ? seen !== listed : digest !== listed
  })
}

/** A tool for the pure guard. */
export function listedTool(tool: RegisteredTool): ListedTool {
  return { tool: toolPart(tool), digest: tool.digest, body: () => bodyOf(canonicalText(tool.source ?? '{}')) }
}

const WORDS: Readonly<Record<Exclude<PinState, 'open'>, string>> = {
  undiscovered: 'Its definition is not written down yet.',
  changed: 'Its definition changed since a person accepted it, so it is closed until somebody accepts it again.',
  new: 'It is new since the tools of its upstream were accepted, so it is closed until somebody accepts it.',
  corrupt: 'What was accepted of it cannot be read any more, so it is closed until somebody accepts it again.',
}

function reasonOf(tool: RegisteredTool, verdict: Verdict | undefined, { connector }: PinSet): string {
  const { state, renamedFrom } = verdict ?? { state: 'undiscovered' as const }
  const was = renamedFrom === undefined ? '' : ` It looks like ${renamedFrom} under another name.`
  const words = WORDS[state === 'open' ? 'undiscovered' : state]
  return `${words}${was} An operator sees it with: tollgate tools diff ${connector} ${toolPart(tool)}`
}

const markOf = (open: readonly RegisteredTool[], closed: readonly ClosedTool[]): readonly string[] => [
  ...open.map(({ name, digest }) => `${name} ${digest}`),
  '',
  ...closed.map(({ tool, reason }) => `${tool.name} ${tool.digest} ${reason}`),
]
const equal = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one, i) => one === b[i])
