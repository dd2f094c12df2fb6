/**
 * How REST shows cards and standing approvals, and whose they are.
 * @module
 */
import type { z } from '@hono/zod-openapi'
import type { Card } from '../../approvals/cards.ts'
import type { StandingApproval } from '../../approvals/standing.ts'
import type { Person } from '../person.ts'
import { notFound } from '../problem.ts'
import * as cardSchemas from './card-schemas.ts'

/** Either key opens the routes of cards. */
export const PEOPLE = [{ admin: [] }, { approver: [] }]

/** The brand a list is narrowed to; null where the person may see nothing of what was asked for. */
export function brandFor(person: Person, asked: string | undefined): string | undefined | null {
  if (person.kind === 'operator') return asked
  return asked === undefined || asked === person.brand ? person.brand : null
}

const MEMBERS = Object.keys(cardSchemas.card.shape) as (keyof Card)[]

/** Members that people may see; nothing that a later field might bring goes out by itself. */
export function shown(card: Card): z.input<typeof cardSchemas.card> {
  const told = MEMBERS.filter((name) => card[name] !== undefined).map((name) => [name, card[name]])
  return Object.fromEntries(told)
}

/** The same for a card of another brand as for one that never was. */
export const noCard = (id: string) => notFound(`There is no card ${JSON.stringify(id)}; GET /v1/approvals lists them.`)

/** Members that people may see. */
export const shownStanding = (standing: StandingApproval): z.input<typeof cardSchemas.standing> => ({ ...standing })
