/**
 * Before a tool runs unattended: the sentence a person confirms, and the trace that proves the tool (seed 002).
 * @module
 */
import { html } from 'hono/html'
import type { Routine } from '../../grants/routines/routines.ts'
import { confirmationOf } from '../../policy/routines.ts'
import { visible } from '../../policy/redact.ts'
import type { Frame, Html, Show } from './frame.ts'
import { marked } from './marks.ts'
import { fact } from './pieces.ts'
import { type Proof, proofLink, type RoutineTool, toolFields } from './routine-tool.ts'
import { serverSays } from './server-says.ts'
import { EFFECTS } from './words.ts'

/** What the page shows. */
export interface Confirming {
  readonly routine: Routine
  readonly tool: RoutineTool
  /** The call that proves it, where it is among the last ones. */
  readonly proof: Proof | undefined
  readonly problem?: Html
}

/** The page: one tool of one routine. */
export function automaticPage(show: Show, { routine, tool, proof, problem }: Confirming): Frame {
  const { base, signed } = show
  const at = `${base}/routines/${encodeURIComponent(routine.id)}`
  return {
    title: 'Let it run unattended?',
    signed,
    at: 'routines',
    body: html`<div class="titled crumb"><p><a href="${at}">${marked(routine.name)}</a></p></div>
${problem}
<article class="card" aria-labelledby="title">
<div class="head"><h1 id="title">Let it run unattended?</h1></div>
<p class="summary"><code>${marked(visible(tool.listedAs))}</code></p>
${tool.description !== undefined && html`<p class="note">${marked(tool.description)}</p>`}
<dl>
${fact('Effect', html`${tool.access === null ? 'Not listed now' : EFFECTS[tool.access]}`)}
${fact('The server says', serverSays(tool.serverSays))}
${fact('Definition', html`<code>${tool.digest}</code>`, 'wide')}
</dl>
<section class="proof" id="proof" aria-labelledby="proof-title"><h2 id="proof-title">Proof</h2>
${tool.proven ? html`<p>${said(proofLink(proof, show))} Read it before you confirm.</p>` : missing(routine)}
</section>
${confirm(show, routine, tool, at)}
</article>`,
  }
}

const said = (link: Html): Html =>
  html`This routine made ${link} of the tool as it is described now, and it was answered without an error.`

const missing = ({ id }: Routine): Html =>
  html`<p class="warning">A proof is missing: no supervised call of this tool, as it is described now, is on the traces of this routine.</p>
<p class="small">Start a session with a person present, let it call the tool, approve the call in the inbox, and come back: <code>POST /v1/sessions</code> with <code>{"routine": "${id}", "supervised": true}</code></p>`

function confirm(show: Show, routine: Routine, tool: RoutineTool, at: string): Html {
  if (tool.state === 'automatic') return html`<p class="notice">It runs unattended already.</p>`
  if (tool.state === 'disabled') return html`<p class="notice">It is disabled in this routine. Enable it first.</p>`
  if (!tool.proven) return html``
  const sentence = confirmationOf(routine, tool.tool)
  return html`<form method="post" action="${at}/tools" class="decide">
${toolFields(tool, routine, show)}
<input type="hidden" name="to" value="automatic">
<div class="choice"><input type="checkbox" id="confirm" name="confirm" value="${sentence}" required>
<label for="confirm">${marked(visible(sentence))}</label></div>
<p class="quiet small">This is for one tool of one routine. It ends when the tool’s definition changes, or its connection is discovered anew.</p>
<div class="buttons"><button class="yes">Let it run unattended</button><a href="${at}">Leave it as it is</a></div>
</form>`
}
