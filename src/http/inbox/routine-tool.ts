/**
 * A tool of a routine: how it stands, what is known of it, and the one step that a person may take.
 * @module
 */
import { html } from 'hono/html'
import { visible } from '../../policy/redact.ts'
import type { showTools } from '../api/routine-tools.ts'
import type { Routine } from '../../grants/routines/routines.ts'
import type { Trace } from '../../gate/traces.ts'
import type { Html, Show } from './frame.ts'
import { marked } from './marks.ts'
import { described, serverSays } from './server-says.ts'
import { EFFECTS } from './words.ts'

/** A tool of a routine as REST shows it. */
export type RoutineTool = Awaited<ReturnType<typeof showTools>>[number]

export const TOOL_WORDS = {
  disabled: ['Disabled', 'off', 'Not there for this routine.'],
  enabled: ['Enabled', 'yes', 'Each call asks a person.'],
  automatic: ['Automatic', 'open', 'Runs while nobody watches.'],
} as const satisfies Record<RoutineTool['state'], readonly [string, 'open' | 'yes' | 'off', string]>

/** The supervised call that proves a tool under its present definition. */
export type Proof = Pick<Trace, 'sessionId' | 'id'>

/** The trace in which a person reads it. */
export const proofLink = (proof: Proof | undefined, { base }: Show): Html =>
  proof === undefined
    ? html`a supervised call`
    : html`<a href="${base}/traces/${encodeURIComponent(proof.sessionId)}#c-${proof.id}">a supervised call</a>`

/** A row of the routine's page. */
export function routineTool(tool: RoutineTool, routine: Routine, show: Show, proof: Proof | undefined): Html {
  const [word, tone, meaning] = TOOL_WORDS[tool.state]
  const { title, description, access, because, proven, setBy } = tool
  const isOpen = tool.definition === 'present'
  return html`<li>
<div class="head"><h3><code>${marked(visible(tool.listedAs))}</code>${title !== undefined && html` <span class="quiet">${marked(title)}</span>`}</h3><span class="badge ${tone}">${word}</span></div>
${description !== undefined && described(description)}
${because !== undefined && html`<p class="warning">${tool.definition === 'closed' ? closed(tool, routine, show) : marked(because)}</p>`}
<p class="quiet small">${meaning} ${access === null ? 'Not listed now.' : `${EFFECTS[access]}.`} ${setBy !== undefined && `Set by ${setBy}. `}${
    proven
      ? html`Proven by ${proofLink(proof, show)}.`
      : tool.state === 'enabled' && isOpen && 'Not proven: no supervised call as it is described now.'
  }</p>
<p class="quiet small">The server says: ${serverSays(tool.serverSays)}</p>
${show.signed.person.kind === 'operator' && steps(tool, routine, show)}
</li>`
}

const closed = ({ connection, listedAs }: RoutineTool, { brand }: Routine, { base }: Show): Html =>
  html`It is not as somebody accepted it, so it is closed. <a href="${base}/tools/${encodeURIComponent(connection)}?brand=${encodeURIComponent(brand)}">What changed<span class="unseen"> in ${listedAs}</span></a>`

/** Where a person reads what automatic means for one tool, and confirms it. */
export const automaticAddress = (tool: Pick<RoutineTool, 'tool'>, { id }: Routine, { base }: Show): string =>
  `${base}/routines/${encodeURIComponent(id)}/automatic?tool=${encodeURIComponent(tool.tool)}`

function steps(tool: RoutineTool, routine: Routine, show: Show): Html {
  const name = html`<span class="unseen"> ${tool.listedAs}</span>`
  const enable = tool.state !== 'enabled' && tool.definition === 'present'
  const words = tool.state === 'automatic' ? 'Ask each time' : 'Enable'
  if (!enable && tool.state === 'disabled') return html``
  return html`<form method="post" action="${show.base}/routines/${encodeURIComponent(routine.id)}/tools" class="steps">
${toolFields(tool, routine, show)}
<div class="buttons">
${enable && html`<button name="to" value="enabled">${words}${name}</button>`}
${tool.state !== 'disabled' && html`<button class="no" name="to" value="disabled">Disable${name}</button>`}
${tool.state === 'enabled' && html`<a href="${automaticAddress(tool, routine, show)}">Let it run unattended…${name}</a>`}
</div>
</form>`
}

/** The version and the definition that the page shows: of others nothing is changed by it. */
export const toolFields = (tool: Pick<RoutineTool, 'tool' | 'digest'>, { version }: Routine, { signed }: Show): Html =>
  html`<input type="hidden" name="csrf" value="${signed.csrf}"><input type="hidden" name="version" value="${version}"><input type="hidden" name="tool" value="${tool.tool}"><input type="hidden" name="digest" value="${tool.digest}">`
