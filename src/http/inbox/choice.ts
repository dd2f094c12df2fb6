/**
 * What a decide form says, read into what the cards are asked for.
 * @module
 */
import type { Card } from '../../approvals/cards.ts'
import type { Approving } from '../../approvals/decider.ts'

/** How far a yes goes, or why the form cannot be read. */
export type Choice =
  | { readonly ok: true; readonly approving: Approving }
  | { readonly ok: false; readonly details: readonly string[] }

/** Reads scope and pattern. Nothing chosen means once; what is no choice of the form is refused. */
export function readChoice(fields: URLSearchParams, card: Card | undefined): Choice {
  const scope = fields.get('scope') ?? 'once'
  if (scope === 'once' || scope === 'session' || scope === 'always') return { ok: true, approving: { scope } }
  if (scope !== 'similar') return { ok: false, details: ['Choose one of the ways offered.'] }
  const details: string[] = []
  const name = fields.get('vary') ?? ''
  const reach = fields.get('reach') === 'always' ? 'always' : 'session'
  const [count, hours] = [Number(fields.get('count')), Number(fields.get('hours'))]
  const pattern = readPattern((fields.get('within') ?? '').trim(), argumentOf(card, name))
  if (pattern === undefined) details.push('Say what the argument must begin with, or how large it may be.')
  if (!(Number.isInteger(count) && count >= 1)) details.push('Say for how many calls, as a whole number.')
  if (!(hours > 0)) details.push('Say for how many hours.')
  if (pattern === undefined || details.length > 0) return { ok: false, details }
  const similar = { arguments: { [name]: pattern }, count, ttlSeconds: Math.round(hours * 3_600) }
  return { ok: true, approving: { scope: reach, similar } }
}

/** A number bounds a number, text begins a text; the card says which the argument is. */
function readPattern(within: string, value: unknown): string | { readonly max: number } | undefined {
  if (within === '') return undefined
  if (typeof value !== 'number') return `${within.replace(/\*$/, '')}*`
  const max = Number(within)
  return Number.isFinite(max) ? { max } : undefined
}

function argumentOf(card: Card | undefined, name: string): unknown {
  const given = card?.arguments
  return typeof given === 'object' && given !== null && Object.hasOwn(given, name)
    ? (given as Record<string, unknown>)[name]
    : undefined
}
