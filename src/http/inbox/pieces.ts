/**
 * Small pieces that several pages share.
 * @module
 */
import { html } from 'hono/html'
import type { Card } from '../../approvals/cards.ts'
import type { Html } from './frame.ts'
import { clock, left, stateOf, timeOfDay } from './words.ts'

/** The state of a card as a small coloured word. */
export function badge(card: Card): Html {
  const { word, tone } = stateOf(card)
  return html`<span class="badge ${tone}">${word}</span>`
}

/** A moment: in words, with the exact time behind it. */
export const moment = (at: string, words: string): Html =>
  html`<time datetime="${at}" title="${clock(at)}">${words}</time>`

/** When a waiting card expires: the time, and how long that is, which counts down where JavaScript runs. */
export const expiry = (card: Card, now: number): Html =>
  html`<p class="expiry">Expires <time datetime="${card.expiresAt}" title="${clock(card.expiresAt)}">${timeOfDay(card.expiresAt)}</time>, <span data-ends="${card.expiresAt}">${left(card.expiresAt, now)}</span></p>`

/** A row of a list of facts. */
export const fact = (name: string, value: Html, shape: 'short' | 'long' | 'wide' = 'short'): Html =>
  html`<div class="${shape}"><dt>${name}</dt><dd>${value}</dd></div>`
