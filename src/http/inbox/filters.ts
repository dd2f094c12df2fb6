/**
 * Which cards a person wants to see: by brand, role and tool, kept in the address.
 * @module
 */
import { html } from 'hono/html'
import { normalise } from '../../policy/names.ts'
import type { Card } from '../../approvals/cards.ts'
import type { Person } from '../person.ts'
import type { Html } from './frame.ts'

export interface Filters {
  readonly brand?: string
  readonly role?: string
  readonly tool?: string
}

const NAMES = ['brand', 'role', 'tool'] as const
const LONGEST = 200

/** The filters of an address, for this person: an approver's brand is no choice. A tool may be written in any form. */
export function readFilters(query: URLSearchParams, person: Person): Filters {
  const filters: { brand?: string; role?: string; tool?: string } = {}
  for (const name of NAMES) {
    const wanted = (query.get(name) ?? '').trim().slice(0, LONGEST)
    if (wanted !== '') filters[name] = name === 'tool' ? (normalise(wanted) ?? wanted) : wanted
  }
  if (person.kind === 'approver') filters.brand = person.brand
  return filters
}

/** Whether a card is among them. */
export const matches = (filters: Filters, card: Card): boolean =>
  NAMES.every((name) => filters[name] === undefined || filters[name] === card[name])

/** The filters as an address has them, `more` first; '' for none. An approver's brand goes without saying. */
export function queryOf(filters: Filters, person: Person, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(more)
  for (const name of NAMES) {
    const wanted = filters[name]
    if (wanted !== undefined && !(name === 'brand' && person.kind === 'approver')) query.set(name, wanted)
  }
  return query.size === 0 ? '' : `?${query}`
}

/** Only what `readFilters` knows, from a form that says where its page was. */
export const ownQuery = (query: string | null, person: Person): string =>
  queryOf(readFilters(new URLSearchParams(query ?? ''), person), person)

/** The form, open where something is filtered. Names that are on the page are offered; any other can be typed. */
export function filterForm(facts: {
  readonly at: string
  readonly filters: Filters
  readonly person: Person
  readonly seen: readonly Card[]
}): Html {
  const { at, filters, person, seen } = facts
  const asked = NAMES.filter((name) => !(name === 'brand' && person.kind === 'approver'))
  const active = asked.filter((name) => filters[name] !== undefined)
  return html`<details class="filter"${active.length > 0 && html` open`}>
<summary>Filter${active.length > 0 && html`: ${active.map((name) => filters[name]).join(', ')}`}</summary>
<form method="get" action="${at}" role="search">
<div class="row">${asked.map((name) => {
    const known = [...new Set(seen.map((card) => card[name]))].sort()
    return html`<div><label for="f-${name}">${TITLES[name]}</label>
<input id="f-${name}" name="${name}" value="${filters[name] ?? ''}" list="l-${name}" autocomplete="off" autocapitalize="none" spellcheck="false">
<datalist id="l-${name}">${known.map((value) => html`<option value="${value}"></option>`)}</datalist></div>`
  })}</div>
<div class="buttons"><button>Show these</button>${active.length > 0 && html`<a href="${at}">Show all</a>`}</div>
</form>
</details>`
}

const TITLES = { brand: 'Brand', role: 'Role', tool: 'Tool' } as const
