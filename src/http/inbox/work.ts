/**
 * Which connections, tools, routines and runs a person may see: the operator all, an approver those of one brand. To
 * everybody else they never were.
 * @module
 */
import type { Connector } from '../../connector/connector.ts'
import { listConnections } from '../../grants/connections/rows.ts'
import { type ToolState, toolStates, unpinned } from '../../grants/pins/view.ts'
import type { Routine } from '../../grants/routines/routines.ts'
import type { ApiParts } from '../api/parts.ts'
import { type Person, sees } from '../person.ts'

/** What these pages are made of. */
export type Work = Pick<
  ApiParts,
  'db' | 'registry' | 'connections' | 'pins' | 'routines' | 'traces' | 'ownerBrand' | 'cards'
>

/** A connection as somebody sees it. */
export interface Place {
  readonly connector: Connector
  /** Whose own connection it is; left away for a server of the operator's. */
  readonly brand?: string
}

/** The connection of a slug for this person; undefined for one that is not theirs. */
export async function placeOf(
  { registry, connections, pins, ownerBrand }: Work,
  person: Person,
  slug: string,
  asked: string | undefined,
): Promise<Place | undefined> {
  if (person.kind === 'approver' && asked !== undefined && asked !== person.brand) return undefined
  const operators = registry.all().find((one) => one.slug === slug && pins.of(one) !== undefined)
  if (person.kind === 'operator' && asked === undefined && operators !== undefined) return { connector: operators }
  const brand = person.kind === 'approver' ? person.brand : (asked ?? ownerBrand)
  await connections.wake(brand, (one) => one === slug)
  const connector = registry.connectors(brand).find((one) => one.slug === slug)
  if (connector === undefined) return undefined
  return connector === operators ? { connector } : { connector, brand }
}

/** Every connection this person sees: the operator's servers, then the brands' own. */
export async function placesOf({ db, registry, pins, ownerBrand }: Work, person: Person): Promise<readonly Place[]> {
  const all = registry.all().filter((one) => pins.of(one) !== undefined)
  const brands =
    person.kind === 'approver'
      ? [person.brand]
      : [...new Set([ownerBrand, ...(await listConnections(db)).map(({ brand }) => brand)])].sort()
  const own = brands.flatMap((brand) =>
    registry
      .connectors(brand)
      .filter((connector) => !registry.all().includes(connector))
      .map((connector) => ({ connector, brand })),
  )
  const shared = person.kind === 'approver' ? all.filter((one) => one.serves(person.brand)) : all
  return [...shared.map((connector) => ({ connector })), ...own]
}

/** The tools of a connection, each as it was accepted and as it is seen now. */
export async function toolsOf({ pins }: Work, { connector }: Place): Promise<readonly ToolState[]> {
  const guarded = pins.of(connector)
  return guarded === undefined ? unpinned(connector) : toolStates(pins, guarded)
}

/** Whether a text can be an id of ours: no other is asked of the database. */
export const isId = (text: string | undefined): text is string => text !== undefined && /^[\w-]{1,64}$/.test(text)

/** A routine, for a person who may see it. */
export async function routineOf({ routines }: Work, person: Person, id: string): Promise<Routine | undefined> {
  const routine = isId(id) ? await routines.find(id) : undefined
  return routine !== undefined && sees(person, routine.brand) ? routine : undefined
}

/** Where the page of a connection is. */
export const addressOfPlace = (base: string, { connector, brand }: Place): string =>
  `${base}/tools/${encodeURIComponent(connector.slug)}${brand === undefined ? '' : `?brand=${encodeURIComponent(brand)}`}`
