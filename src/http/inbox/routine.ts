/**
 * One routine: whether it may run by itself, how each tool stands in it, and what its sessions did.
 * @module
 */
import { html } from 'hono/html'
import type { Trace } from '../../gate/traces.ts'
import type { Routine } from '../../grants/routines/routines.ts'
import { many } from './connections.ts'
import type { Frame, Html, Show } from './frame.ts'
import { marked } from './marks.ts'
import { fact, moment } from './pieces.ts'
import { routineBadge } from './routine-list.ts'
import { type Proof, type RoutineTool, routineTool } from './routine-tool.ts'
import { ago } from './words.ts'

const MOST_RUNS = 10

/** What the page of a routine shows. */
export interface RoutineShown {
  readonly routine: Routine
  readonly tools: readonly RoutineTool[]
  /** Its last calls, newest first. */
  readonly traces: readonly Trace[]
  readonly told?: string
  readonly problem?: Html
}

/** The page. */
export function routinePage(show: Show, { routine, tools, traces, told, problem }: RoutineShown): Frame {
  const { base, signed } = show
  const isOperator = signed.person.kind === 'operator'
  const at = `${base}/routines/${encodeURIComponent(routine.id)}`
  const held = tools.filter(({ state }) => state !== 'disabled').length
  return {
    title: routine.name,
    signed,
    at: 'routines',
    now: show.now,
    body: html`<div class="titled crumb"><p><a href="${base}/routines">Routines</a></p><a href="${at}">Refresh</a></div>
${problem}
${told && html`<p class="notice" role="status">${marked(told)}</p>`}
<article class="card" aria-labelledby="title">
<div class="head"><h1 id="title">${marked(routine.name)}</h1>${routineBadge(routine)}</div>
<p class="summary">${routine.state === 'ready' ? 'It may run while nobody watches.' : 'A draft: it runs only with a person present, and each call asks.'}</p>
${routine.stateBecause !== null && html`<p class="warning">It went back to draft: ${marked(routine.stateBecause)}.</p>`}
${routine.description !== '' && html`<p class="note">${marked(routine.description)}</p>`}
<dl>
${fact('Brand', html`${routine.brand}`)}
${fact('Connections', html`${routine.connections.length === 0 ? 'none' : routine.connections.join(', ')}`)}
${fact('When a call needs a person', html`${routine.channel === 'inbox' ? 'It waits in the inbox' : 'It is refused'}`)}
${fact('Changed', moment(routine.changedAt.toISOString(), ago(routine.changedAt.toISOString(), show.now)))}
</dl>
${isOperator && routine.state === 'draft' && readyForm(routine, at, show, held)}
${!isOperator && html`<p class="quiet small">You can read this. Only the operator changes routines: they say what runs when nobody is asked.</p>`}
</article>
<section aria-labelledby="tools"><h2 id="tools">Tools <span class="count">${tools.length}</span></h2>
${
  tools.length === 0
    ? html`<p class="empty">Its connections list no tool right now.</p>`
    : html`<ul class="decided tools">${tools.map((tool) => routineTool(tool, routine, show, proofOf(tool, traces)))}</ul>`
}</section>
<section aria-labelledby="runs"><h2 id="runs">Runs</h2>
${
  traces.length === 0
    ? html`<p class="empty">It did not run yet.</p>`
    : html`<ul class="decided">${runsOf(traces)
        .slice(0, MOST_RUNS)
        .map((run) => runRow(run, show))}</ul>`
}</section>`,
  }
}

function readyForm({ version }: Routine, at: string, { signed }: Show, held: number): Html {
  if (held === 0) return html`<p class="quiet small">It can be made ready once a tool is enabled.</p>`
  return html`<form method="post" action="${at}/ready" class="decide">
<input type="hidden" name="csrf" value="${signed.csrf}"><input type="hidden" name="version" value="${version}">
<p class="quiet small">Ready, it may be run unattended: its automatic tools run by themselves, its enabled ones ask.</p>
<div class="buttons"><button>Make it ready</button></div>
</form>`
}

/** The newest supervised call that was answered without an error, under the definition that the tool has now. */
export const proofOf = (
  { tool, digest }: Pick<RoutineTool, 'tool' | 'digest'>,
  traces: readonly Trace[],
): Proof | undefined =>
  traces.find((one) => one.tool === tool && one.digest === digest && one.supervised && one.outcome === 'done')

interface Run {
  readonly last: Trace
  readonly calls: number
  readonly tools: readonly string[]
}

/** One for each session, the one that called last first. */
function runsOf(traces: readonly Trace[]): readonly Run[] {
  const runs = new Map<string, Run>()
  for (const trace of traces) {
    const { last = trace, calls = 0, tools = [] } = runs.get(trace.sessionId) ?? {}
    runs.set(trace.sessionId, { last, calls: calls + 1, tools: [...new Set([...tools, trace.tool])] })
  }
  return [...runs.values()]
}

function runRow({ last, calls, tools }: Run, { base, now }: Show): Html {
  const at = last.startedAt.toISOString()
  return html`<li>
<div class="head"><a href="${base}/traces/${encodeURIComponent(last.sessionId)}">${many(calls, 'call')}, ${moment(at, ago(at, now))}</a><span class="badge ${last.supervised ? 'yes' : 'open'}">${last.supervised ? 'Supervised' : 'Unattended'}</span></div>
<p class="quiet small">${tools.slice(0, 5).map((tool, i) => html`${i > 0 && ', '}<code>${marked(tool.replace(/^mcp__/, ''))}</code>`)}${tools.length > 5 && ' and more'}</p>
</li>`
}
