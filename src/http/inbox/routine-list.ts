/**
 * The routines that a person may look at.
 * @module
 */
import { html } from 'hono/html'
import type { Routine, StoredTool } from '../../grants/routines/routines.ts'
import { many } from './connections.ts'
import type { Frame, Html, Show } from './frame.ts'
import { marked } from './marks.ts'
import { moment } from './pieces.ts'
import { ago } from './words.ts'

/** A routine with what was said of its tools. */
export interface Listed {
  readonly routine: Routine
  readonly tools: readonly StoredTool[]
}

/** The page. */
export function routinesPage(show: Show, items: readonly Listed[], nextCursor: string | undefined): Frame {
  return {
    title: 'Routines',
    signed: show.signed,
    at: 'routines',
    body: html`<h1>Routines</h1>
<p class="quiet">What runs while nobody watches, one responsibility each. Enabling a tool says that it belongs there; automatic says that it may run by itself.</p>
${
  items.length === 0
    ? html`<p class="empty">There is no routine yet. The operator makes one: <code>tollgate routines create</code></p>`
    : html`<ul class="decided">${items.map((each) => row(each, show))}</ul>`
}
${nextCursor && html`<p class="next"><a href="${show.base}/routines?after=${encodeURIComponent(nextCursor)}">More routines</a></p>`}`,
  }
}

function row({ routine, tools }: Listed, { base, now }: Show): Html {
  const count = (state: StoredTool['state']) => tools.filter((tool) => tool.state === state).length
  const changed = routine.changedAt.toISOString()
  return html`<li>
<div class="head"><a href="${base}/routines/${encodeURIComponent(routine.id)}">${marked(routine.name)}</a>${routineBadge(routine)}</div>
${routine.stateBecause !== null && html`<p>Back to draft: ${marked(routine.stateBecause)}</p>`}
<p class="quiet small">${routine.brand} · ${many(count('automatic'), 'tool')} automatic, ${count('enabled')} enabled · changed ${moment(changed, ago(changed, now))}</p>
</li>`
}

/** Whether it may run unattended, as a small coloured word. */
export const routineBadge = ({ state }: Pick<Routine, 'state'>): Html =>
  html`<span class="badge ${state === 'ready' ? 'yes' : 'open'}">${state === 'ready' ? 'Ready' : 'Draft'}</span>`
