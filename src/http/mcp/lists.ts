/**
 * `tools/list`: the view, printed. Pages are built once per view and era and kept as bytes; a list costs a copy.
 * @module
 */
import { createHmac } from 'node:crypto'
import type { RegisteredTool, Withheld } from '../../connector/connector.ts'
import type { ToolView } from '../../gate/views.ts'
import { join, members, type Span } from '../../json.ts'
import { mayAsk } from '../../policy/decide.ts'
import type { Session } from '../../policy/words.ts'
import type { Scope } from './scope.ts'

export type Era = 'legacy' | 'modern'

export interface Lists {
  /**
   * The `result` object of one page, as JSON in parts of which the large one is bytes kept ready; undefined for a cursor
   * this session was not given.
   */
  page(
    session: Session,
    view: ToolView,
    scope: Scope,
    era: Era,
    cursor: string | undefined,
  ): readonly [head: string, tools: Buffer, tail: string] | undefined
  /** The tool a caller of this door means by `name`, if its view holds it. */
  find(view: ToolView, scope: Scope, name: string): RegisteredTool | undefined
  /** Changes when what this door lists for the view changes. */
  mark(view: ToolView, scope: Scope): string
}

interface Shown {
  readonly listed: readonly { readonly name: string; readonly tool: RegisteredTool }[]
  readonly byName: ReadonlyMap<string, RegisteredTool>
  readonly pages: Map<string, Buffer>
  readonly mark: string
}

/** Builds the lists. `pageSize` is in tools; `withheld` says what of the session's reach is away right now. */
export function createLists(parts: {
  readonly pageSize: number
  readonly key: Buffer
  readonly withheld: (session: Session) => readonly Withheld[]
}): Lists {
  const shown = new WeakMap<ToolView, Map<Scope, Shown>>()

  function show(view: ToolView, scope: Scope): Shown {
    const scopes = shown.get(view) ?? new Map<Scope, Shown>()
    shown.set(view, scopes)
    const kept = scopes.get(scope) ?? build(view, scope)
    scopes.set(scope, kept)
    return kept
  }

  /** A cursor is the last name shown, bound to the session: no other's cursor means anything. */
  function cursorAfter(session: Session, name: string): string {
    const seal = createHmac('sha256', parts.key).update(`${session.id}\n${name}`).digest('base64url').slice(0, 22)
    return `${Buffer.from(name).toString('base64url')}.${seal}`
  }

  function start(session: Session, { listed }: Shown, cursor: string | undefined): number | undefined {
    if (cursor === undefined) return 0
    const name = Buffer.from(cursor.split('.')[0] ?? '', 'base64url').toString()
    if (cursorAfter(session, name) !== cursor) return undefined
    const next = listed.findIndex((entry) => entry.name > name)
    return next < 0 ? listed.length : next
  }

  return {
    page(session, view, scope, era, cursor) {
      const kept = show(view, scope)
      const from = start(session, kept, cursor)
      if (from === undefined) return undefined
      const key = `${era} ${from}`
      let tools = kept.pages.get(key)
      if (tools === undefined) {
        const entries = kept.listed.slice(from, from + parts.pageSize)
        tools = Buffer.from(entries.map(({ name, tool }) => entryText(session, name, tool, era)).join(','))
        kept.pages.set(key, tools)
      }
      const last = kept.listed[from + parts.pageSize - 1]
      const more = last !== undefined && from + parts.pageSize < kept.listed.length
      const next = more ? `,"nextCursor":${JSON.stringify(cursorAfter(session, last.name))}` : ''
      const meta = metaText(kept, parts.withheld(session), scope)
      const head = era === 'modern' ? '"resultType":"complete","ttlMs":0,"cacheScope":"private",' : ''
      return [`{${head}"tools":[`, tools, `]${next}${meta}}`]
    },
    find: (view, scope, name) => show(view, scope).byName.get(name),
    mark: (view, scope) => show(view, scope).mark,
  }
}

function build(view: ToolView, scope: Scope): Shown {
  const listed = view.tools
    .filter((tool) => scope === undefined || tool.connector === scope)
    .map((tool) => ({ name: scope === undefined ? tool.name.slice('mcp__'.length) : tool.ownName, tool }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const byName = new Map(listed.map(({ name, tool }) => [name, tool]))
  const mark = listed.map(({ name, tool }) => `${name} ${tool.digest}`).join('\n')
  return { listed, byName, pages: new Map(), mark }
}

/**
 * One tool. A tool whose call can be parked cannot promise its outputSchema: strict clients refuse a "pending" result
 * without the structuredContent it promises. So there, and only there, the schema is left out.
 */
function entryText(session: Session, name: string, tool: RegisteredTool, era: Era): string {
  const text = `{"name":${JSON.stringify(name)}${tool.definition[era]}}`
  if (session.channel === 'none' || !mayAsk(tool) || !text.includes('"outputSchema"')) return text
  return `{${join(text, members(text) as Map<string, Span>, (key) => key === 'outputSchema')}}`
}

/** An empty list says in words that it is meant; a connector that is away is said to be away, lest it read as none. */
function metaText({ listed }: Shown, withheld: readonly Withheld[], scope: Scope): string {
  const away = withheld.filter((entry) => scope === undefined || entry.tool.startsWith(`mcp__${scope}__`))
  const said: string[] = []
  if (listed.length === 0) said.push(`"dev.tollgate/empty":${JSON.stringify(away.length === 0 ? NO_TOOLS : NONE_NOW)}`)
  if (away.length > 0) said.push(`"dev.tollgate/withheld":${JSON.stringify(away)}`)
  return said.length === 0 ? '' : `,"_meta":{${said.join(',')}}`
}

const NO_TOOLS = 'This session may call no tools here. The list is empty on purpose; every call is refused.'
const NONE_NOW = 'This session may call no tools here right now; dev.tollgate/withheld says what is away.'
