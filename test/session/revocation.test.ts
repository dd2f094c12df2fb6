import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Audit, createAudit } from '../../src/audit/audit.ts'
import { connect, type Database } from '../../src/db/connect.ts'
import { readClaims, toSession } from '../../src/session/claims.ts'
import { createRevocations, type RevocationParts, RevocationsUnknown } from '../../src/session/revocation.ts'
import { beginSession, endSession, revokeSession } from '../../src/session/sessions.ts'
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

async function begun(): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const read = readClaims({ ...ownClaims, iat: now, exp: now + 3600, jti: `s_${count++}` })
  if ('problem' in read) throw new Error(read.problem)
  const session = toSession(read.claims, { roles, routes })
  if (typeof session === 'string') throw new Error(session)
  await beginSession(audit, session, read.claims, 'operator')
  return session.id
}

const revoke = (id: string) => revokeSession(audit, id, { by: 'operator' })
/** A database whose notices never arrive. */
const deaf = (): Database => ({ ...world.db, listen: async () => async () => {} })

/** A database that can be taken away and given back. */
function breakable(): { db: Database; broken: boolean; polls: number } {
  const state = { broken: false, polls: 0, db: deaf() }
  const orm = Object.create(world.db.orm, {
    select: {
      value: (columns: never) => {
        state.polls += 1
        if (state.broken) throw new Error('the database is gone')
        return world.db.orm.select(columns)
      },
    },
  })
  state.db = { ...state.db, orm }
  return state
}

async function started(parts: Partial<RevocationParts> = {}) {
  const revocations = createRevocations({ db: world.db, log: quiet, ...parts })
  await revocations.ensureFresh()
  return revocations
}

/** How long after `act` the session is known to be dead, in milliseconds. */
async function delay(isDead: () => boolean, act: () => Promise<unknown>): Promise<number> {
  await act()
  const from = performance.now()
  while (!isDead() && performance.now() - from < 3000) await new Promise((next) => setTimeout(next, 5))
  return performance.now() - from
}

describe('a revoked session is known to be dead', () => {
  it('at once through a notice, where polls are rare', async () => {
    const revocations = await started({ pollMs: 60_000 })
    const id = await begun()
    expect(revocations.isDead(id)).toBe(false)
    expect(
      await delay(
        () => revocations.isDead(id),
        () => revoke(id),
      ),
    ).toBeLessThan(1000)
    await revocations.close()
  })

  it('within a second through polling alone', async () => {
    const revocations = await started({ db: deaf() })
    for (let i = 0; i < 5; i++) {
      const id = await begun()
      expect(
        await delay(
          () => revocations.isDead(id),
          () => revoke(id),
        ),
      ).toBeLessThan(1000)
    }
    await revocations.close()
  })

  it('from the start, when it was revoked before', async () => {
    const [revoked, ended, alive] = [await begun(), await begun(), await begun()]
    await revoke(revoked)
    await endSession(audit, ended, { by: 'operator' })
    const revocations = await started({ db: deaf() })
    expect([revoked, ended, alive].map((id) => revocations.isDead(id))).toEqual([true, true, false])
    await revocations.close()
  })

  it('to each listener once, however it becomes known', async () => {
    const revocations = await started({ pollMs: 20 })
    const heard: string[] = []
    const stop = revocations.onDead((id) => heard.push(id))
    const id = await begun()
    await revoke(id)
    await new Promise((later) => setTimeout(later, 150))
    expect(heard).toEqual([id])
    stop()
    const after = await begun()
    await revoke(after)
    await expect.poll(() => revocations.isDead(after)).toBe(true)
    expect(heard).toEqual([id])
    await revocations.close()
  })

  it('even where a listener fails', async () => {
    const revocations = await started({ db: deaf(), pollMs: 20 })
    revocations.onDead(() => {
      throw new Error('a broken part')
    })
    const id = await begun()
    await revoke(id)
    await expect.poll(() => revocations.isDead(id)).toBe(true)
    await revocations.ensureFresh()
    await revocations.close()
  })
})

describe('what is known', () => {
  it('is not fresh before the first answer, and is fresh as long as polls succeed', async () => {
    const revocations = createRevocations({ db: deaf(), log: quiet })
    expect(revocations.fresh()).toBe(false)
    await revocations.ensureFresh()
    for (let i = 0; i < 10; i++) {
      expect(revocations.fresh()).toBe(true)
      await new Promise((later) => setTimeout(later, 100))
    }
    await revocations.close()
  })

  it('is asked for once when many want it at the same time', async () => {
    const far = breakable()
    const revocations = await started({ db: far.db, pollMs: 60_000, freshMs: 50 })
    await new Promise((later) => setTimeout(later, 60))
    expect(revocations.fresh()).toBe(false)
    const before = far.polls
    await Promise.all(Array.from({ length: 100 }, () => revocations.ensureFresh()))
    expect(far.polls - before).toBe(1)
    await revocations.close()
  })

  it('goes stale when the database is gone, nobody may rely on it, and it mends itself', async () => {
    const far = breakable()
    const revocations = await started({ db: far.db, pollMs: 50, freshMs: 120 })
    far.broken = true
    await expect.poll(() => revocations.fresh(), { timeout: 1000, interval: 20 }).toBe(false)
    await expect(revocations.ensureFresh()).rejects.toBeInstanceOf(RevocationsUnknown)
    const id = await begun()
    await revoke(id)
    expect(revocations.isDead(id)).toBe(false)
    far.broken = false
    await revocations.ensureFresh()
    expect(revocations.isDead(id)).toBe(true)
    await revocations.close()
  })

  it('cannot be had where no database answers, and the end of it is not held up', async () => {
    const nobody = await connect({ url: 'postgres://nobody@127.0.0.1:9/none', folder: '', log: quiet, limitMs: 500 })
    const revocations = createRevocations({ db: nobody, log: quiet })
    await expect(revocations.ensureFresh()).rejects.toBeInstanceOf(RevocationsUnknown)
    expect(revocations.fresh()).toBe(false)
    const started = performance.now()
    await revocations.close()
    await nobody.close()
    expect(performance.now() - started).toBeLessThan(2000)
  })
})
