/**
 * The tools of one connection: those that want a look with what changed in them, then the others.
 * @module
 */
import { html } from 'hono/html'
import type { ToolState } from '../../grants/pins/view.ts'
import { closedOf, many } from './connections.ts'
import type { Frame, Html, Show } from './frame.ts'
import { marked } from './marks.ts'
import { fact, moment } from './pieces.ts'
import { described, serverSays } from './server-says.ts'
import { toolDiff } from './tool-diff.ts'
import { addressOfPlace, type Place } from './work.ts'
import { ago, clock, EFFECTS } from './words.ts'

const MOST_CLOSED = 50
const MOST_OPEN = 500

const STATES = {
  open: ['Open', 'yes', ''],
  changed: ['Changed', 'no', 'It is described otherwise than it was accepted, so nobody can call it.'],
  new: ['New', 'open', 'It is new since the tools of this server were accepted, so nobody can call it yet.'],
  gone: ['Gone', 'open', 'It was accepted once, and its server does not list it now.'],
  corrupt: ['Cannot be read', 'no', 'What was accepted of it cannot be read any more, so nobody can call it.'],
} as const satisfies Record<ToolState['state'], readonly [string, 'yes' | 'no' | 'open', string]>

/** What the page of a connection shows. */
export interface ToolsShown {
  readonly place: Place
  readonly tools: readonly ToolState[]
  /** Whether its tools are pinned: those of native connectors are the product's own code. */
  readonly pinned: boolean
  readonly told?: string
  readonly problem?: Html
}

/** The page. */
export function toolsPage(show: Show, { place, tools, pinned, told, problem }: ToolsShown): Frame {
  const { slug } = place.connector
  const { state, detail } = place.connector.state()
  const closed = closedOf(tools)
  const open = tools.filter(({ state }) => state === 'open')
  const isOperator = show.signed.person.kind === 'operator'
  return {
    title: `Tools of ${slug}`,
    signed: show.signed,
    at: 'tools',
    now: show.now,
    body: html`<div class="titled crumb"><p><a href="${show.base}/tools">Tools</a></p><a href="${addressOfPlace(show.base, place)}">Refresh</a></div>
<h1>${marked(slug)}</h1>
<p class="quiet">${place.brand === undefined ? 'A server of the operator’s. Its tools are accepted once for every brand it serves.' : html`A connection of ${place.brand}.`} ${state === 'ready' ? `${many(tools.length, 'tool')}.` : marked(detail)}</p>
${!pinned && html`<p class="quiet">Its tools are the product’s own code and change with it; nothing of them is to be accepted.</p>`}
${told && html`<p class="notice" role="status">${marked(told)}</p>`}
${problem}
${closed.length > 0 && !isOperator && html`<p class="notice">You can read this. Only the operator accepts tools: a tool that is accepted opens at once for every session that may call it, which is more than the yes to one call that an approver gives.</p>`}
${
  closed.length > 0 &&
  html`<section aria-labelledby="look"><h2 id="look">Want a look <span class="count">${closed.length}</span></h2>
<ul class="cards">${closed.slice(0, MOST_CLOSED).map((tool, at) => closedTool(tool, `t${at}`, { show, place, isOperator }))}</ul>
${closed.length > MOST_CLOSED && html`<p class="next">${closed.length - MOST_CLOSED} more want a look after these.</p>`}</section>`
}
<section aria-labelledby="open"><h2 id="open">Open <span class="count">${open.length}</span></h2>
${open.length === 0 ? html`<p class="empty">None of its tools is open.</p>` : html`<ul class="decided">${open.slice(0, MOST_OPEN).map((tool) => openTool(tool, show))}</ul>`}
${open.length > MOST_OPEN && html`<p class="next">${many(open.length - MOST_OPEN, 'more tool')}: <code>tollgate tools list ${slug}</code> lists all.</p>`}</section>`,
  }
}

interface On {
  readonly show: Show
  readonly place: Place
  readonly isOperator: boolean
}

function closedTool(tool: ToolState, id: string, { show, place, isOperator }: On): Html {
  const [word, tone, meaning] = STATES[tool.state]
  const { pinned, seen, renamedFrom } = tool
  return html`<li><article class="card" aria-labelledby="${id}">
<div class="head"><h3 id="${id}"><code>${marked(tool.tool)}</code></h3><span class="badge ${tone}">${word}</span></div>
<p class="summary">${meaning}</p>
${renamedFrom !== undefined && html`<p class="warning">It looks like <code>${marked(renamedFrom)}</code> under another name.</p>`}
${seen !== null && pinned === null && html`<p class="quiet small">All that its server says of it:</p>`}
${toolDiff(tool.diff, id)}
<dl>
${fact('Effect', html`${tool.access === null ? 'Not listed now' : EFFECTS[tool.access]}`)}
${seen?.seenAt && fact('Seen', moment(seen.seenAt, ago(seen.seenAt, show.now)))}
${pinned !== null && fact('Accepted', html`by ${marked(pinned.acceptedBy)}, ${moment(pinned.acceptedAt, clock(pinned.acceptedAt))}`, 'wide')}
${fact('The server says', serverSays(tool.serverSays), 'wide')}
${seen !== null && fact('Definition', html`<code>${seen.digest}</code>`, 'wide')}
</dl>
${seen !== null && tool.state !== 'gone' && isOperator && acceptForm(tool.tool, seen.digest, { show, place })}
</article></li>`
}

/** Carries the digest of what the page shows: no other definition is accepted by it. */
function acceptForm(tool: string, digest: string, { show, place }: Pick<On, 'show' | 'place'>): Html {
  return html`<form method="post" action="${show.base}/tools/${encodeURIComponent(place.connector.slug)}/accept" class="decide">
<input type="hidden" name="csrf" value="${show.signed.csrf}"><input type="hidden" name="tool" value="${tool}"><input type="hidden" name="digest" value="${digest}">${place.brand !== undefined && html`<input type="hidden" name="brand" value="${place.brand}">`}
<p class="quiet small">Accepting opens it, as it is described here, for every session that may call it. In routines it stays disabled until somebody enables it again.</p>
<div class="buttons"><button class="yes">Accept<span class="unseen"> ${tool}</span></button></div>
</form>`
}

function openTool(tool: ToolState, show: Show): Html {
  const { pinned } = tool
  const description = (pinned?.definition as { readonly description?: unknown } | undefined)?.description
  return html`<li>
<div class="head"><code>${marked(tool.tool)}</code><span class="quiet small">${tool.access !== null && EFFECTS[tool.access]}</span></div>
${typeof description === 'string' && described(description)}
<p class="quiet small">The server says: ${serverSays(tool.serverSays)}</p>
${pinned !== null && html`<p class="quiet small">Accepted by ${marked(pinned.acceptedBy)}, ${moment(pinned.acceptedAt, ago(pinned.acceptedAt, show.now))}</p>`}
</li>`
}
