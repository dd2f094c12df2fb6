/**
 * What one session of a routine did, call by call: what a person reads before a tool runs unattended (seed 002).
 * @module
 */
import { html } from 'hono/html'
import type { Card } from '../../approvals/cards.ts'
import type { Trace } from '../../gate/traces.ts'
import type { Routine } from '../../grants/routines/routines.ts'
import { parseExact } from '../../json.ts'
import { visible } from '../../policy/redact.ts'
import { wholeArguments } from './arguments.ts'
import type { Asker } from './facts.ts'
import type { Frame, Html, Show } from './frame.ts'
import { marked } from './marks.ts'
import { fact, moment } from './pieces.ts'
import { clock, span, stateOf } from './words.ts'

const OUTCOMES = {
  running: ['Running', 'open'],
  waiting: ['Waits for a person', 'open'],
  done: ['Done', 'yes'],
  failed: ['Failed', 'no'],
  unknown: ['Outcome unknown', 'no'],
  refused: ['Refused', 'no'],
} as const satisfies Record<Trace['outcome'], readonly [string, 'open' | 'yes' | 'no']>

const DECISIONS = {
  open: 'Not decided yet',
  automatic: 'Ran by itself: the tool is automatic',
  asked: 'A person was asked',
  denied: 'Refused without asking anybody',
} as const satisfies Record<Trace['decision'], string>

/** A call with the card that it waited on. */
export interface Step {
  readonly trace: Trace
  readonly card?: Card
}

/** What the page of a run shows. */
export interface Run {
  readonly sessionId: string
  readonly steps: readonly Step[]
  /** How many calls came before these. */
  readonly first: number
  /** Gone where it was removed; its traces stay. */
  readonly routine?: Routine
  readonly asker?: Asker
  /** Id of the last call, where there are more. */
  readonly more?: string
}

/** The page. */
export function tracePage(show: Show, run: Run): Frame {
  const { base, signed } = show
  const { sessionId, steps, routine, asker, more } = run
  const [one] = steps
  const at = `${base}/traces/${encodeURIComponent(sessionId)}`
  const back = routine === undefined ? `${base}/routines` : `${base}/routines/${encodeURIComponent(routine.id)}`
  return {
    title: 'Trace of a run',
    signed,
    at: 'routines',
    now: show.now,
    body: html`<div class="titled crumb"><p><a href="${back}">${routine === undefined ? 'Routines' : marked(routine.name)}</a></p><a href="${at}">Refresh</a></div>
<h1>Trace of a run</h1>
<dl>
${fact('Routine', html`${routine === undefined ? html`<code>${one?.trace.routine}</code>, removed since` : marked(routine.name)}`)}
${fact('Brand', html`${one?.trace.brand}`)}
${fact('Watched', html`${one?.trace.supervised ? 'Supervised: a person was present' : 'Unattended'}`)}
${asker && asker.subject !== one?.trace.routine && fact('Started by', marked(asker.subject))}
${fact('Session', html`<code>${sessionId}</code>`, 'wide')}
</dl>
<h2 id="calls">Calls</h2>
<ol class="cards" start="${run.first + 1}">${steps.map((step, i) => call(step, run.first + i + 1, show))}</ol>
${more && html`<p class="next"><a href="${at}?after=${encodeURIComponent(more)}&amp;first=${run.first + steps.length}">Later calls</a></p>`}`,
  }
}

function call({ trace, card }: Step, place: number, { base }: Show): Html {
  const { id, tool, digest, cost, code, decision, startedAt, endedAt } = trace
  const started = startedAt.toISOString()
  return html`<li><article class="card" aria-labelledby="c-${id}">
<div class="head"><h3 id="c-${id}"><span class="count">${place}</span> <code>${marked(visible(tool.replace(/^mcp__/, '')))}</code></h3>${outcome(trace, card)}</div>
${wholeArguments({ id, arguments: parseExact(trace.arguments) })}
<dl>
${fact('Decision', html`${DECISIONS[decision]}${card !== undefined && html`: <a href="${base}/cards/${card.id}">its card<span class="unseen"> of call ${place}</span></a>${card.decidedBy && html`, decided by ${marked(card.decidedBy)}`}`}`, 'wide')}
${fact('When', html`${moment(started, clock(started))}${endedAt !== null && html`, ${lasted(endedAt.getTime() - startedAt.getTime())}`}`, 'long')}
${code !== null && code !== 'ok' && fact('Code', html`<code>${code}</code>`)}
${fact('Cost', html`${cost === null ? 'none' : costOf(cost)}`)}
${fact('Definition it was called under', digest === null ? html`<span class="quiet">There was no such tool.</span>` : html`<code>${digest}</code>`, 'wide')}
</dl>
</article></li>`
}

/** A call whose caller left before its card ended: what the card came to. */
function outcome(trace: Trace, card: Card | undefined): Html {
  if (trace.outcome === 'waiting' && card !== undefined) {
    const { word, tone } = stateOf(card)
    return html`<span class="badge ${tone}">${word}</span>`
  }
  const [word, tone] = OUTCOMES[trace.outcome]
  return html`<span class="badge ${tone}">${word}</span>`
}

const lasted = (ms: number): string => (ms < 1_000 ? `${Math.max(0, Math.round(ms))} ms` : span(ms))

function costOf(text: string): string {
  const { unit, amount } = JSON.parse(text) as { readonly unit: string; readonly amount: string }
  return `${amount} ${unit}`
}
