/**
 * The connections whose tools a person may look at, those that want a look first.
 * @module
 */
import { html } from 'hono/html'
import type { ToolState } from '../../grants/pins/view.ts'
import type { Frame, Html, Show } from './frame.ts'
import { marked } from './marks.ts'
import { addressOfPlace, type Place } from './work.ts'

/** A connection with its tools. */
export interface PlaceTools {
  readonly place: Place
  readonly tools: readonly ToolState[]
}

/** The page. */
export function connectionsPage(show: Show, found: readonly PlaceTools[]): Frame {
  const wanting = found.filter(({ tools }) => closedOf(tools).length > 0)
  const quiet = found.filter(({ tools }) => closedOf(tools).length === 0)
  return {
    title: 'Tools',
    signed: show.signed,
    at: 'tools',
    body: html`<h1>Tools</h1>
<p class="quiet">What servers say of their tools is what a model acts on. A tool that is described otherwise than it was accepted is closed until a person accepts it again.</p>
${section('look', 'Want a look', wanting, show)}
${section('open', 'As accepted', quiet, show)}
${found.length === 0 && html`<p class="empty">There is no connection yet.</p>`}`,
  }
}

/** The tools that are not as somebody accepted them. */
export const closedOf = (tools: readonly ToolState[]): readonly ToolState[] =>
  tools.filter(({ state }) => state !== 'open')

function section(id: string, title: string, found: readonly PlaceTools[], show: Show): Html {
  if (found.length === 0) return html``
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
<ul class="decided">${found.map((each) => row(each, show))}</ul>
</section>`
}

function row({ place, tools }: PlaceTools, { base }: Show): Html {
  const closed = closedOf(tools)
  const { state, detail } = place.connector.state()
  return html`<li>
<div class="head"><a href="${addressOfPlace(base, place)}">${marked(place.connector.slug)}</a>${
    closed.length > 0
      ? html`<span class="badge no">${counts(closed)}</span>`
      : html`<span class="badge ${state === 'ready' ? 'yes' : 'open'}">${state === 'ready' ? 'Open' : 'Not connected'}</span>`
  }</div>
<p class="quiet small">${place.brand === undefined ? 'The operator’s server' : html`Connection of ${place.brand}`} · ${many(tools.length, 'tool')}${state !== 'ready' && html` · ${marked(detail)}`}</p>
</li>`
}

/** As in "2 changed, 1 new". */
function counts(closed: readonly ToolState[]): string {
  const kinds = ['changed', 'new', 'corrupt', 'gone'] as const
  return kinds
    .map((kind) => [closed.filter(({ state }) => state === kind).length, kind] as const)
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count} ${kind}`)
    .join(', ')
}

/** As in "1 tool", "3 tools". */
export const many = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
