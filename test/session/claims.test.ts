import { describe, expect, it } from 'vitest'
import { readClaims, toSession } from '../../src/session/claims.ts'
import { NOON, ownClaims, roles, routes } from './fixtures.ts'

function session(changes: object) {
  const read = readClaims({ ...ownClaims, ...changes })
  return 'problem' in read ? read.problem : toSession(read.claims, { roles, routes })
}

function good(changes: object = {}) {
  const made = session(changes)
  if (typeof made === 'string') throw new Error(made)
  return made
}

describe('claims are refused with', () => {
  it.each<[string, object, RegExp]>([
    ['an unknown role', { role: 'admin' }, /no role admin; the roles are person-chat/],
    ['a role named like a property of every object', { role: '__proto__' }, /no role __proto__/],
    ['a role in another case', { role: 'Specialist' }, /no role Specialist/],
    ['an unknown route', { route: 'fast' }, /no route fast; the routes are standard, read-only/],
    ['no brand', { brand: undefined }, /claim brand is missing or wrong/],
    ['an empty brand', { brand: '' }, /claim brand/],
    ['a brand with NUL', { brand: 'a\u0000' }, /claim brand .* control characters/],
    ['a brand of half a character', { brand: '\ud800' }, /claim brand/],
    ['no ceiling', { ceiling: undefined }, /claim ceiling/],
    ['a ceiling that is a text', { ceiling: 'Read' }, /claim ceiling/],
    ['a number in the ceiling', { ceiling: ['Read', 1] }, /claim ceiling\.1/],
    ['a star alone in the ceiling', { ceiling: ['*'] }, /"\*", which is no tool name/],
    ['a partial pattern in the ceiling', { ceiling: ['mcp__files__read_*'] }, /no tool name/],
    ['a star for the connector', { ceiling: ['mcp__*'] }, /no tool name/],
    ['a space in a ceiling entry', { ceiling: ['mcp__files__read '] }, /no tool name/],
    ['no grant', { grant: undefined }, /claim grant/],
    ['a grant that is a list', { grant: [] }, /claim grant/],
    ['a granted connector that is no name', { grant: { connectors: ['a b'] } }, /claim grant\.connectors\.0/],
    ['a negative allowance', { grant: { connectors: [], allowance: { x: { perRunUsd: -1 } } } }, /perRunUsd/],
    ['an allowance as text', { grant: { connectors: [], allowance: { x: { perRunUsd: '1' } } } }, /perRunUsd/],
    ['a misspelt allowance', { grant: { connectors: [], allowance: { x: { perRunUSD: 1 } } } }, /perRunUSD/],
    ['no approval channel', { approval: {} }, /claim approval\.channel/],
    ['an unknown channel', { approval: { channel: 'telegram' } }, /claim approval\.channel/],
    ['a channel in a role that asks nobody', { approval: { channel: 'inbox' } }, /has nobody to ask/],
    ['a negative limit', { limits: { turns: -1 } }, /claim limits\.turns/],
    ['half a turn', { limits: { turns: 1.5 } }, /claim limits\.turns/],
    ['a limit nobody keeps', { limits: { maxTurns: 1 } }, /maxTurns/],
    ['a jti that is a number', { jti: 7 }, /claim jti/],
    ['a sub that is null', { sub: null }, /claim sub/],
    ['an iat with a fraction', { iat: NOON + 0.5 }, /claim iat/],
    ['an exp beyond exact numbers', { exp: 2 ** 60 }, /claim exp/],
    ['a negative exp', { exp: -1 }, /claim exp/],
    ['an nbf as text', { nbf: 'now' }, /claim nbf/],
  ])('%s', (_name, changes, why) => {
    expect(session(changes)).toMatch(why)
  })

  it('every broken rule named', () => {
    const problem = session({ role: 'x', route: 'y', ceiling: ['*'] })
    expect(problem).toMatch(/no role x.*no route y.*no tool name/)
  })
})

describe('a session', () => {
  it('is frozen and holds what its claims say', () => {
    const made = good()
    expect(Object.isFrozen(made)).toBe(true)
    expect(Object.isFrozen(made.ceiling)).toBe(true)
    expect(made).toMatchObject({ brand: 'acme', subject: 'run-1', channel: 'none', expiresAt: (NOON + 3600) * 1000 })
    expect(made.role).toBe(roles.get('specialist'))
  })

  it('has its ceiling in canonical form, once each', () => {
    const { ceiling } = good({ ceiling: ['files/read', 'files__read', 'mcp__files__read', 'Read', 'web__*'] })
    expect(ceiling).toEqual(['Read', 'mcp__files__read', 'mcp__web__*'])
  })

  it('may have a channel where its role asks a person', () => {
    expect(good({ role: 'person-chat', approval: { channel: 'inbox' } }).channel).toBe('inbox')
  })

  it('cannot have more than its role has, and may have less', () => {
    expect(good({ limits: { runUsd: 50, turns: 3 } }).limits).toEqual({ runUsd: 1, turns: 3 })
    expect(good({ limits: undefined }).limits).toEqual({ runUsd: 1, turns: 10 })
  })

  it('may have more than the usual where the figures of its role are the usual ones', () => {
    expect(good({ role: 'coworker', limits: { runUsd: 50 } }).limits).toEqual({ runUsd: 50, turns: 10 })
  })

  it('ignores claims it does not know', () => {
    expect(good({ admin: true, scope: 'all' })).toEqual(good())
  })

  it('shares its view with sessions that differ in order, spelling, limits and person only', () => {
    const { viewKey } = good()
    expect(viewKey).toMatch(/^[0-9a-f]{64}$/)
    const same = { jti: 'other', sub: 'run-2', limits: {}, exp: NOON + 60 }
    expect(good({ ...same, ceiling: ['firecrawl/*', 'project__project_list', 'Read', 'Read'] }).viewKey).toBe(viewKey)
  })

  it.each<[string, object]>([
    ['brand', { brand: 'rival' }],
    ['role', { role: 'coworker' }],
    ['route', { route: 'read-only' }],
    ['ceiling', { ceiling: ['Read'] }],
    ['grant', { grant: { connectors: [] } }],
    ['skills', { grant: { ...ownClaims.grant, skills: ['pdf'] } }],
  ])('has a view of its own where its %s differs', (_name, changes) => {
    expect(good(changes).viewKey).not.toBe(good().viewKey)
  })

  it('has a view of its own where its channel differs', () => {
    const person = (channel: string) => good({ role: 'person-chat', approval: { channel } }).viewKey
    expect(person('inbox')).not.toBe(person('none'))
  })
})
