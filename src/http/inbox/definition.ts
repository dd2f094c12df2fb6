/**
 * How a tool's definition changed since a person last said yes to it.
 * @module
 */
import { html } from 'hono/html'
import { around, diff } from './diff.ts'
import type { Html } from './frame.ts'
import { markedJson } from './marks.ts'

const SIGNS = { same: ' ', gone: '−', new: '+' } as const
const SAID = { same: '', gone: 'removed: ', new: 'added: ' } as const

/** The difference, between the definition on this card and the one on the card that was approved before. */
export function definitionChange(former: string, now: string): Html {
  const lines = diff(readable(former), readable(now))
  return html`<section class="warning" aria-labelledby="changed">
<h2 id="changed">The tool’s definition changed</h2>
<p>A person approved this tool before, when it was described otherwise. What its server says of it now:</p>
${
  lines === undefined
    ? html`<p>Both are too long to compare here.</p>`
    : html`<pre class="diff" tabindex="0" role="group" aria-labelledby="changed">${around(lines).map((line) =>
        line === undefined
          ? html`<span class="gap">…</span>`
          : html`<span class="${line.kind}"><span aria-hidden="true">${SIGNS[line.kind]} </span><span class="unseen">${SAID[line.kind]}</span>${markedJson(line.text)}</span>`,
      )}</pre>`
}
</section>`
}

/** One fact a line: JSON as people indent it, and long descriptions sentence by sentence. */
function readable(definition: string): string {
  try {
    const text = JSON.stringify(JSON.parse(definition), null, 2)
    return text.replaceAll('\\n', '\n    ').replace(/([.!?]) (?=[^\s"])/g, '$1\n    ')
  } catch {
    return definition
  }
}
