/**
 * A tool of a routine: how it stands, what is known of it, and the one step that a person may take.
 * @module
 */
import { html } from 'hono/html'
import { visible } from '../../policy/redact.ts'
import type { showTools } from '../api/routine-tools.ts'
import type { Routine } from '../../grants/routines/routines.ts'
import type { Html, Show } from './frame.ts'
import { marked } from './marks.ts'
import { serverSays } from './server-says.ts'
import { EFFECTS } from './words.ts'

/** A tool of a routine as REST shows it. */
export type RoutineTool = Awaited<ReturnType<typeof showTools>>[number]

export const TOOL_WORDS = {
  disabled: ['Disabled', 'open', 'Not there for this routine.'],
  enabled: ['Enabled', 'yes', 'Each call asks a person.'],
  automatic: ['Automatic', 'no', 'Runs while nobody watches.'],
} as const satisfies Record<RoutineTool['state'], readonly [string, 'open' | 'yes' | 'no', string]>

const LONGEST_AT_ONCE = 300

/** A row of the routine's page. */
export function routineTool(tool: RoutineTool, routine: Routine, show: Show): Html {
  const [word, tone, meaning] = TOOL_WORDS[tool.state]
  const { title, description, access, because, proven, setBy } = tool
  const isOpen = tool.definition === 'present'
  return html`<li>
<div class="head"><h4><code>${marked(visible(tool.listedAs))}</code></h4><span class="badge ${tone}">${word}</span></div>
${title !== undefined && html`<p>${marked(title)}</p>`}
${description !== undefined && described(description)}
${because !== undefined && html`<p class="warning">${marked(because)}${tool.definition === 'closed' && html` <a href="${show.base}/tools/${encodeURIComponent(tool.connection)}?brand=${encodeURIComponent(routine.brand)}">What changed<span class="unseen"> in ${tool.listedAs}</span></a>`}</p>`}
<p class="quiet small">${meaning} ${access === null ? 'Not listed now.' : `${EFFECTS[access]}.`} ${setBy !== undefined && `Set by ${setBy}. `}${
    proven
      ? html`Proven by <a href="${automaticAddress(tool, routine, show)}#proof">a supervised call</a>.`
      : isOpen && 'Not proven: no supervised call under its present definition.'
  }</p>
<p class="small">The server says: ${serverSays(tool.serverSays)}</p>
${show.signed.person.kind === 'operator' && steps(tool, routine, show)}
</li>`
}

const described = (text: string): Html =>
  text.length <= LONGEST_AT_ONCE
    ? html`<p>${marked(text)}</p>`
    : html`<details><summary>How its server describes it</summary><p class="note">${marked(text)}</p></details>`

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
