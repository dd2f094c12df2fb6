/**
 * What a server says of a tool in words and in annotations. It supplies them, so they are shown and decide nothing (seed 002).
 * @module
 */
import { html } from 'hono/html'
import type { Html } from './frame.ts'
import { marked } from './marks.ts'

const MOST = 20
const LONGEST_AT_ONCE = 300

/** A description, behind a click where it is long. */
export const described = (text: string): Html =>
  text.length <= LONGEST_AT_ONCE
    ? html`<p>${marked(text)}</p>`
    : html`<details><summary>How its server describes it</summary><p class="note">${marked(text)}</p></details>`

/** Annotations, each as a word of the server's; "nothing" where there is none. */
export function serverSays(annotations: unknown): Html {
  if (typeof annotations !== 'object' || annotations === null) return html`<span class="quiet">nothing</span>`
  const said = Object.entries(annotations)
  if (said.length === 0) return html`<span class="quiet">nothing</span>`
  return html`<span class="says">${said.slice(0, MOST).map(([name, value], at) => html`${at > 0 && ', '}<code>${marked(name)}: ${marked(typeof value === 'string' ? value : JSON.stringify(value))}</code>`)}${said.length > MOST && ', and more'}</span>`
}
