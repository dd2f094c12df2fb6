/**
 * Reading an upstream's list of tools: page after page, but not for ever; each name once.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { elements, members } from '../../json.ts'
import type { RegisteredTool, Withheld } from '../connector.ts'
import { canonical } from '../../policy/names.ts'
import type { Standing } from './access.ts'
import { type Defined, define } from './definition.ts'
import { ask, errorOf, type Link } from './link.ts'
import { fitName, NAME_LIMIT } from './names.ts'
import type { Snip } from './snippet.ts'
import type { WireProblem } from './wire.ts'

/** More pages or tools than these are no list but a loop. */
const MOST_PAGES = 200
const MOST_TOOLS = 10_000
/** Long lists are worked through in slices, so that calls of others go on in between (ms). */
const SLICE_MS = 10

export interface Listing {
  readonly slug: string
  readonly standingOf: (name: string) => Standing
  /** Which far side it is (RegisteredTool.upstream). */
  readonly upstream: string
  readonly snip: Snip
  /** For the whole list (ms). */
  readonly timeoutMs: number
  /** Definitions read before, by their text; what has not changed is not worked through again. */
  readonly known: Map<string, Defined>
}

export interface Listed {
  /** Sorted by canonical name. */
  readonly tools: readonly RegisteredTool[]
  readonly withheld: readonly Withheld[]
  /** What was odd about the list as a whole, as sentences for the operator. */
  readonly remarks: readonly string[]
}

/** The list, or why it could not be read. */
export type ListOutcome = { readonly listed: Listed } | { readonly failure: string; readonly problem?: WireProblem }

/** Asks an upstream for all its tools. Never rejects. */
export async function listTools(link: Link, listing: Listing): Promise<ListOutcome> {
  const deadline = Date.now() + listing.timeoutMs
  const remarks: string[] = []
  const definitions: string[] = []
  const cursors = new Set<string>()
  let cursor: string | undefined
  for (let page = 1; ; page++) {
    const asked = await ask(
      link,
      'tools/list',
      cursor === undefined ? '' : `"cursor":${cursor}`,
      Math.max(1, deadline - Date.now()),
    )
    if (asked.problem !== undefined) {
      const { problem } = asked
      return problem.kind === 'timeout' ? { failure: problem.reason } : { failure: problem.reason, problem }
    }
    const error = errorOf(asked.message)
    if (error?.code === -32601 && page === 1) break
    if (error !== undefined) return { failure: `It refused tools/list: ${listing.snip(error.message)}` }
    const found = readPage(asked.message.text)
    if (found === undefined) return { failure: 'It answered tools/list without a list of tools.' }
    definitions.push(...found.definitions)
    cursor = found.cursor
    if (cursor === undefined) break
    if (cursors.has(cursor)) {
      remarks.push(`Its list repeats itself and was ended after ${page} pages.`)
      break
    }
    cursors.add(cursor)
    if (page >= MOST_PAGES || definitions.length > MOST_TOOLS) {
      remarks.push(`Its list was cut off after ${page} pages and ${Math.min(definitions.length, MOST_TOOLS)} tools.`)
      break
    }
  }
  return { listed: await register(definitions.slice(0, MOST_TOOLS), listing, remarks) }
}

interface Page {
  readonly definitions: string[]
  /** JSON text of the next cursor. */
  readonly cursor: string | undefined
}

function readPage(text: string): Page | undefined {
  const result = members(text)?.get('result')
  const found = result && members(text, result.start)
  const tools = found?.get('tools')
  const spans = tools && elements(text, tools.start)
  if (found === undefined || spans === undefined) return undefined
  const next = found.get('nextCursor')
  const cursor = next && text.slice(next.start, next.end)
  return {
    definitions: spans.map(({ start, end }) => text.slice(start, end)),
    cursor: cursor === undefined || cursor === 'null' || cursor === '""' ? undefined : cursor,
  }
}

async function register(definitions: readonly string[], listing: Listing, remarks: string[]): Promise<Listed> {
  const { slug, known } = listing
  const tools = new Map<string, RegisteredTool>()
  const ownNames = new Set<string>()
  const withheld: Withheld[] = []
  const read = new Map<string, Defined>()
  let twice = 0
  let began = performance.now()
  for (const text of definitions) {
    if (performance.now() - began > SLICE_MS) {
      await setImmediate()
      began = performance.now()
    }
    const defined = known.get(text) ?? define(text, slug, listing.standingOf, listing.upstream)
    read.set(text, defined)
    if ('dropped' in defined) {
      const { name, reason } = defined.dropped
      const shown = name === undefined ? 'A tool without a name' : `The tool "${listing.snip(name)}"`
      withheld.push({
        tool: canonical(slug, fitName(name ?? 'unnamed', NAME_LIMIT - 2 - slug.length)),
        code: 'upstream_unavailable',
        reason: `${shown} is left out. ${reason}`,
      })
      continue
    }
    const { tool } = defined
    const rival = tools.get(tool.name)
    if (rival?.upstreamName === tool.upstreamName) twice++
    else if (rival !== undefined || ownNames.has(tool.ownName)) {
      withheld.push({
        tool: tool.name,
        code: 'upstream_unavailable',
        reason: `The tool "${listing.snip(tool.upstreamName)}" is left out: another tool already has its name.`,
      })
    } else {
      tools.set(tool.name, tool)
      ownNames.add(tool.ownName)
    }
  }
  known.clear()
  for (const [text, defined] of read) known.set(text, defined)
  if (twice > 0)
    remarks.push(`It lists ${twice} ${twice === 1 ? 'tool' : 'tools'} more than once; the first definition counts.`)
  return { tools: [...tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), withheld, remarks }
}
