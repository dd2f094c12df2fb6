/**
 * A session as the tests of the gate need one: of person chat, over all of the upstream `up`, with a person to ask.
 * @module
 */
import { randomUUID } from 'node:crypto'
import type { Session } from '../../src/policy/words.ts'
import { policies } from '../catalogue/world.ts'

export const { roles, routes } = policies()

/** A new session, good for ten minutes; `more` is what is different about it. */
export const sessionOf = (more: Partial<Session> = {}): Session => ({
  id: randomUUID(),
  issuer: 'i',
  subject: 'u',
  brand: 'default',
  role: roles.get('person-chat')!,
  route: routes.get('standard')!,
  ceiling: ['mcp__up__*'],
  grant: { connectors: [], skills: [], allowance: {} },
  channel: 'inbox',
  limits: {},
  issuedAt: 0,
  expiresAt: Date.now() + 600_000,
  viewKey: randomUUID(),
  ...more,
})
