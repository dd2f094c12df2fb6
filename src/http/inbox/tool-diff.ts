/**
 * How a tool's definition differs from the accepted one, field by field, as a person reads it.
 * @module
 */
import { html } from 'hono/html'
import type { DefinitionDiff, FieldChange } from '../../policy/definition-diff.ts'
import { around, diff } from './diff.ts'
import type { Html } from './frame.ts'
import { marked } from './marks.ts'

const SIGNS = { same: ' ', gone: '−', new: '+' } as const
const SAID = { same: '', gone: 'removed: ', new: 'added: ' } as const

/** The fields that differ. `id` is one of the page's own. */
export function toolDiff({ changes, more }: DefinitionDiff, id: string): Html {
  if (changes.length === 0) return html``
  return html`<div class="fields">${changes.map((each, at) => field(each, `${id}-${at}`))}
${more > 0 && html`<p class="quiet small">${more} more fields differ.</p>`}</div>`
}

function field(each: FieldChange, id: string): Html {
  const { path, change, before, now, hidden, serverSays, unseen } = each
  const notes = [
    hidden === true && 'holds hidden characters, named where they stand',
    serverSays === true && 'a hint of the server, which decides nothing here',
    unseen === true && 'both look the same here: what differs is not shown, since it looks like a secret or is cut',
  ].filter((note) => note !== false)
  return html`<div class="field">
<h4 id="${id}"><code>${marked(path === '' ? 'everything' : path)}</code> ${change}${notes.length > 0 && html` · <span class="${hidden === true ? 'alarm' : 'quiet'}">${notes.join('; ')}</span>`}</h4>
<pre class="diff" tabindex="0" role="group" aria-labelledby="${id}">${linesOf(before, now).map((line) =>
    line === undefined
      ? html`<span class="gap">…</span>`
      : html`<span class="${line.kind}"><span aria-hidden="true">${SIGNS[line.kind]} </span><span class="unseen">${SAID[line.kind]}</span>${marked(line.text)}</span>`,
  )}</pre>
</div>`
}

/** Sentence by sentence where there are both sides; a text too long to compare stands whole on either side. */
function linesOf(before: string | undefined, now: string | undefined) {
  const [old, young] = [before, now].map((text) => (text === undefined ? [] : sentences(text)))
  const lines = before === undefined || now === undefined ? undefined : diff(joined(old), joined(young))
  if (lines !== undefined) return around(lines, 1)
  return [
    ...(old ?? []).map((text) => ({ kind: 'gone' as const, text })),
    ...(young ?? []).map((text) => ({ kind: 'new' as const, text })),
  ]
}

const sentences = (text: string): readonly string[] => text.replace(/([.!?]) (?=[^\s"])/g, '$1\n').split('\n')
const joined = (lines: readonly string[] = []): string => lines.join('\n')
