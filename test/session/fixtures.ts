/** Roles, routes and claims the session tests share. Pure. */
import type { Role, Route } from '../../src/policy/words.ts'

export const RESOURCE = 'https://tollgate.example/mcp'

/** 2026-06-01T12:00:00Z, in seconds. */
export const NOON = 1_780_315_200

const role = (name: string, asksPerson: boolean): Role => ({
  name,
  title: name,
  describes: `The role ${name}.`,
  asksPerson,
  builtins: ['Read'],
  holds: ['mcp__project__*'],
  connectors: 'granted',
  given: 'all',
  limits: { runUsd: 1, turns: 10 },
})

export const roles: ReadonlyMap<string, Role> = new Map([
  ['person-chat', role('person-chat', true)],
  ['specialist', role('specialist', false)],
  ['coworker', { ...role('coworker', false), limitsAre: 'usual' as const }],
])

export const routes: ReadonlyMap<string, Route> = new Map([
  ['standard', { name: 'standard', describes: 'All.', keeps: 'everything', connectors: true }],
  ['read-only', { name: 'read-only', describes: 'Less.', keeps: ['Read'], connectors: false }],
])

/** Claims without `iss` and `aud`, good at noon. */
export const claims = {
  sub: 'run-1',
  jti: 's_000000000000000000001',
  iat: NOON,
  exp: NOON + 3600,
  brand: 'acme',
  role: 'specialist',
  route: 'standard',
  ceiling: ['Read', 'mcp__project__project_list', 'mcp__firecrawl__*'],
  grant: { connectors: ['firecrawl'], skills: [], allowance: { firecrawl: { perRunCredits: 25, perDayCredits: 100 } } },
  approval: { channel: 'none' as const },
  limits: { runUsd: 0.5, turns: 10, delegationDepth: 0 },
}

/** The same as the gateway would sign it. */
export const ownClaims = { iss: RESOURCE, aud: RESOURCE, ...claims }
