/**
 * Annotations of a tool. A server supplies them, so they are shown and decide nothing (seed 002).
 * @module
 */
import { html } from 'hono/html'
import type { Html } from './frame.ts'
import { marked } from './marks.ts'

const MOST = 20

/** Each as a word of the server's; "nothing" where there is none. */
export function serverSays(annotations: unknown): Html {
  if (typeof annotations !== 'object' || annotations === null) return html`<span class="quiet">nothing</span>`
  const said = Object.entries(annotations)
  if (said.length === 0) return html`<span class="quiet">nothing</span>`
  return html`<span class="says">${said.slice(0, MOST).map(([name, value], at) => html`${at > 0 && ', '}<code>${marked(name)}: ${marked(typeof value === 'string' ? value : JSON.stringify(value))}</code>`)}${said.length > MOST && ', and more'}</span>`
}
