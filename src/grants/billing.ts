/**
 * What a connector counts its bills in, and whether an allowance covers it (seed 001, "Allowance").
 * Pure.
 * @module
 */
import type { GrantWords } from './profile.ts'

/** The two figures of an allowance, by name. */
export type Figures = readonly [perRun: string, perDay: string]

const CREDITS: Figures = ['perRunCredits', 'perDayCredits']
const USD: Figures = ['perRunUsd', 'perDayUsd']

/**
 * The pairs of figures that a connector may be allowed; none for one that does not bill. A declared connector has its
 * own unit. One that only the operator describes bills where a tool of it is a `spend`, in the unit the person says.
 */
export function figuresOf(
  slug: string,
  { catalogue, tools }: Pick<GrantWords, 'catalogue' | 'tools'>,
): readonly Figures[] {
  const declared = catalogue.find((one) => one.slug === slug)
  if (declared?.billing !== undefined) return [[declared.billing.perRun, declared.billing.perDay]]
  const bills = tools.some((tool) => tool.connector === slug && tool.access === 'spend')
  return bills ? [CREDITS, USD] : []
}

/** What is wrong with the allowance of a granted connector, as a sentence; undefined when nothing is. */
export function allowanceProblem(
  slug: string,
  allowance: Readonly<Record<string, number | undefined>> | undefined,
  words: Pick<GrantWords, 'catalogue' | 'tools'>,
): { readonly rule: string; readonly detail: string } | undefined {
  const pairs = figuresOf(slug, words)
  const written = Object.entries(allowance ?? {}).flatMap(([name, figure]) => (figure === undefined ? [] : [name]))
  const asked = pairs.map((pair) => pair.join(' and ')).join(', or ')
  if (pairs.length === 0) {
    if (allowance === undefined) return undefined
    return { rule: 'allowance_without_bill', detail: `${slug} does not bill, so it has no allowance; take it out.` }
  }
  if (written.length === 0) {
    return { rule: 'allowance_missing', detail: `${slug} bills, so its grant needs an allowance: ${asked}.` }
  }
  const pair = pairs.find((names) => names.length === written.length && names.every((name) => written.includes(name)))
  if (pair === undefined) {
    return { rule: 'allowance_figures', detail: `The allowance of ${slug} is exactly the two figures ${asked}.` }
  }
  const [run, day] = pair.map((name) => allowance?.[name]) as [number, number]
  if (!(run > 0 && run < Number.POSITIVE_INFINITY)) {
    return { rule: 'allowance_figures', detail: `${pair[0]} of ${slug} must be above zero.` }
  }
  if (!(run <= day && day < Number.POSITIVE_INFINITY)) {
    return {
      rule: 'allowance_order',
      detail: `${pair[0]} of ${slug} is above ${pair[1]}; a run cannot have more than its day.`,
    }
  }
  return undefined
}
