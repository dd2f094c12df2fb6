/**
 * Who decides: the operator by the admin key, or an approver of one brand by a token of that kind. Nobody else, whatever
 * they hold: a session token, also a delegated child's, never makes a person.
 * @module
 */
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { Decider } from '../approvals/cards.ts'
import type { Approvers } from '../session/approvers.ts'

export type Person =
  | { readonly kind: 'operator' }
  | { readonly kind: 'approver'; readonly id: string; readonly name: string; readonly brand: string }

export interface PersonParts {
  /** Whether an `Authorization` header carries the admin key. */
  readonly isAdmin: (authorization: string | undefined) => boolean
  readonly approvers: Pick<Approvers, 'verify'>
}

/**
 * Builds the check of an `Authorization` header, the only place a key is looked for. Undefined for anybody who may not
 * decide; the approver's row is looked up at each use, so a revoked token is out at once on every replica.
 */
export function createPersonOf({ isAdmin, approvers }: PersonParts) {
  return async function personOf(authorization: string | undefined): Promise<Person | undefined> {
    if (isAdmin(authorization)) return { kind: 'operator' }
    const approver = await approvers.verify(authorization)
    if (approver === undefined) return undefined
    const { id, name, brand } = approver
    return { kind: 'approver', id, name, brand }
  }
}

/** As the card and the audit name who decided. */
export const nameOf = (person: Person): string => (person.kind === 'operator' ? 'operator' : `approver ${person.name}`)

/** Whether the person may see and decide what belongs to a brand. */
export const sees = (person: Person, brand: string): boolean =>
  person.kind === 'operator' || (person.kind === 'approver' && person.brand === brand)

/** The person as cards are told of who decides, with what is known of how. */
export function deciderOf(person: Person, how: Omit<Decider, 'by' | 'brand'>): Decider {
  return { by: nameOf(person), ...how, ...(person.kind === 'operator' ? {} : { brand: person.brand }) }
}

/** The address a request came from, as this process sees it: behind a proxy, that of the proxy. */
export function addressOf(c: Context): string | undefined {
  const { incoming } = (c.env ?? {}) as Partial<HttpBindings>
  return incoming?.socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '')
}
