import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Audit, createAudit } from '../../src/audit/audit.ts'
import { rows } from '../../src/db/connect.ts'
import type { DbEvent } from '../../src/db/events.ts'
import type { Session } from '../../src/policy/words.ts'
import { readClaims, type SessionClaims, toSession } from '../../src/session/claims.ts'
import { beginSession, endSession, findSession, listSessions, revokeSession } from '../../src/session/sessions.ts'
import { quiet } from '../support/database.ts'
import { ownClaims, roles, routes } from './fixtures.ts'
import { createWorld, type World } from './world.ts'

let world: World
let audit: Audit
let count = 0

beforeAll(async () => {
  world = await createWorld()
  audit = createAudit({ db: world.db, log: quiet })
})
afterAll(async () => {
  await audit.close()
  await world.close()
})

function made(changes: object = {}): { session: Session; claims: SessionClaims } {
  const now = Math.floor(Date.now() / 1000)
  const jti = `s_${(count++).toString().padStart(5, '0')}`
  const read = readClaims({ ...ownClaims, iat: now, exp: now + 3600, jti, ...changes })
  if ('problem' in read) throw new Error(read.problem)
  const session = toSession(read.claims, { roles, routes })
  if (typeof session === 'string') throw new Error(session)
  return { session, claims: read.claims }
}

async function begun(changes: object = {}): Promise<Session> {
  const { session, claims } = made(changes)
  expect(await beginSession(audit, session, claims, 'operator')).toBe('new')
  return session
}

async function rowsAbout(sessionId: string): Promise<string[]> {
  const found = await world.db.orm.execute(sql`select kind from audit where session_id = ${sessionId} order by seq`)
  return rows<{ kind: string }>(found).map(({ kind }) => kind)
}

describe('a session', () => {
  it('is recorded once, with one audit row, however often its token is met', async () => {
    const { session, claims } = made()
    expect(await beginSession(audit, session, claims, 'operator')).toBe('new')
    expect(await beginSession(audit, session, claims, 'operator')).toBe('known')
    expect(await findSession(world.db, session.id)).toMatchObject({
      id: session.id,
      brand: 'acme',
      role: 'specialist',
      state: 'live',
      claims: { ceiling: ownClaims.ceiling },
      expiresAt: new Date(session.expiresAt),
      revokedAt: null,
    })
    expect(await rowsAbout(session.id)).toEqual(['session.issued'])
  })

  it('lives longer when its token is renewed, and never shorter', async () => {
    const session = await begun()
    const renewed = made({ jti: session.id, exp: session.expiresAt / 1000 + 600 })
    expect(await beginSession(audit, renewed.session, renewed.claims, 'operator')).toBe('known')
    const shorter = made({ jti: session.id, exp: session.expiresAt / 1000 - 600 })
    await beginSession(audit, shorter.session, shorter.claims, 'operator')
    expect((await findSession(world.db, session.id))?.expiresAt.getTime()).toBe(renewed.session.expiresAt)
  })

  it('is revoked once: the first time stands, everyone is told, and no renewal wakes it', async () => {
    const session = await begun()
    const heard: DbEvent[] = []
    const unlisten = await world.db.listen((event) => heard.push(event))
    const first = await revokeSession(audit, session.id, { by: 'operator', reason: 'lost laptop' })
    expect(first).toMatchObject({ state: 'revoked', id: session.id })
    const second = await revokeSession(audit, session.id, { by: 'someone else' })
    expect(second?.revokedAt).toEqual(first?.revokedAt)
    await expect.poll(() => heard).toContainEqual({ kind: 'session', id: session.id })
    expect(heard.filter((event) => event.kind === 'session')).toHaveLength(1)
    expect(await rowsAbout(session.id)).toEqual(['session.issued', 'session.revoked'])
    const renewed = made({ jti: session.id })
    expect(await beginSession(audit, renewed.session, renewed.claims, 'operator')).toBe('dead')
    await unlisten()
  })

  it('is revoked by one of many who try at once', async () => {
    const session = await begun()
    await Promise.all(Array.from({ length: 10 }, (_, i) => revokeSession(audit, session.id, { by: `person ${i}` })))
    expect(await rowsAbout(session.id)).toEqual(['session.issued', 'session.revoked'])
  })

  it('ends once, with the first figure', async () => {
    const session = await begun()
    expect(await endSession(audit, session.id, { by: 'operator', usd: '0.25' })).toMatchObject({ state: 'ended' })
    const again = await endSession(audit, session.id, { by: 'operator', usd: '9' })
    expect(Number(again?.reportedUsd)).toBe(0.25)
    expect(await rowsAbout(session.id)).toEqual(['session.issued', 'session.ended'])
  })

  it.each(['-1', '1e3', 'NaN', '', ' 1', '0x1'])('does not end with %j dollars', async (usd) => {
    const session = await begun()
    await expect(async () => endSession(audit, session.id, { by: 'operator', usd })).rejects.toThrow(/decimal/)
  })

  it('that never was can be neither found, revoked nor ended', async () => {
    expect(await findSession(world.db, 'none')).toBeUndefined()
    expect(await revokeSession(audit, 'none', { by: 'operator' })).toBeUndefined()
    expect(await endSession(audit, 'none', { by: 'operator' })).toBeUndefined()
  })

  it('whose token has expired says so', async () => {
    const now = Math.floor(Date.now() / 1000)
    const session = await begun({ iat: now - 100, exp: now - 10 })
    expect(await findSession(world.db, session.id)).toMatchObject({ state: 'expired' })
  })
})

describe('a list of sessions', () => {
  it('gives each once, newest first, in pages, and only of the brand that was asked for', async () => {
    const ids: string[] = []
    for (let i = 0; i < 7; i++) ids.unshift((await begun({ brand: 'pages' })).id)
    await begun({ brand: 'others' })
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await listSessions(world.db, {
        brand: 'pages',
        limit: 3,
        ...(cursor === undefined ? {} : { cursor }),
      })
      expect(page.items.length).toBeLessThanOrEqual(3)
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(seen).toEqual(ids)
  })

  it('is empty after a cursor that never was', async () => {
    expect(await listSessions(world.db, { limit: 3, cursor: 'none' })).toEqual({ items: [], nextCursor: undefined })
  })
})
