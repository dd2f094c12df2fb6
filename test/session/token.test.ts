import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createKeyring, type Keyring } from '../../src/session/keys.ts'
import { createTokens, SESSION_TYP, TokenRefused, type Tokens, UnissuableClaims } from '../../src/session/token.ts'
import { quiet } from '../support/database.ts'
import { claims, NOON, ownClaims, RESOURCE, roles, routes } from './fixtures.ts'
import { createWorld, head, signEd, type World } from './world.ts'

let world: World
let tokens: Tokens

beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())
beforeEach(() => {
  world.clock.now = NOON * 1000
  tokens = world.tokens()
})

const bearer = (token: string) => `Bearer ${token}`
const signed = (changes: object) => world.keyring.sign({ ...ownClaims, ...changes }, SESSION_TYP).then(bearer)
const verdict = (header: string, by: Tokens = tokens) =>
  Promise.resolve(by.verify(header)).then(
    () => 'accepted',
    (error: unknown) => (error instanceof TokenRefused ? 'refused' : error),
  )

describe('a token that is good', () => {
  it('is verified once and then known at once, as the same session', async () => {
    const header = bearer(await tokens.issue(claims))
    const first = tokens.verify(header)
    expect(first).toBeInstanceOf(Promise)
    const session = await first
    expect(tokens.verify(header)).toBe(session)
    expect(session).toMatchObject({ id: claims.jti, issuer: RESOURCE, subject: 'run-1', brand: 'acme' })
  })

  it('costs less than five microseconds once it is known', async () => {
    const header = bearer(await tokens.issue(claims))
    await tokens.verify(header)
    const started = performance.now()
    for (let i = 0; i < 100_000; i++) tokens.verify(header)
    expect((performance.now() - started) / 100_000).toBeLessThan(0.005)
  })

  it('stays one session when it is renewed with the same jti, and is another with another jti', async () => {
    const renewed = { ...claims, iat: NOON + 600, exp: NOON + 7200 }
    const first = await tokens.verify(bearer(await tokens.issue(claims)))
    world.clock.now += 600_000
    const second = await tokens.verify(bearer(await tokens.issue(renewed)))
    const other = await tokens.verify(bearer(await tokens.issue({ ...renewed, jti: 's_2' })))
    expect(second.id).toBe(first.id)
    expect(second.expiresAt).toBeGreaterThan(first.expiresAt)
    expect(other.id).not.toBe(first.id)
    expect(other.subject).toBe(first.subject)
  })
})

describe('clocks that differ', () => {
  const table: [claim: string, seconds: number, expected: string][] = [
    ['exp', -60, 'refused'],
    ['exp', -6, 'refused'],
    ['exp', -5, 'refused'],
    ['exp', -4, 'accepted'],
    ['exp', 0, 'accepted'],
    ['exp', 4, 'accepted'],
    ['exp', 6, 'accepted'],
    ['exp', 60, 'accepted'],
    ['nbf', -60, 'accepted'],
    ['nbf', -6, 'accepted'],
    ['nbf', -4, 'accepted'],
    ['nbf', 0, 'accepted'],
    ['nbf', 4, 'accepted'],
    ['nbf', 6, 'refused'],
    ['nbf', 60, 'refused'],
    ['iat', -60, 'accepted'],
    ['iat', -6, 'accepted'],
    ['iat', -4, 'accepted'],
    ['iat', 0, 'accepted'],
    ['iat', 4, 'accepted'],
    ['iat', 6, 'refused'],
    ['iat', 60, 'refused'],
  ]
  it.each(table)('a token with %s %i s from now is as it should be', async (claim, seconds, expected) => {
    const early = claim === 'exp' ? { iat: NOON - 3600 } : {}
    expect(await verdict(await signed({ ...early, [claim]: NOON + seconds }))).toBe(expected)
  })

  it('a known token is accepted for the leeway after its exp and refused right after', async () => {
    const header = await signed({ exp: NOON + 60 })
    expect(await verdict(header)).toBe('accepted')
    world.clock.now = (NOON + 64.999) * 1000
    expect(tokens.verify(header)).not.toBeInstanceOf(Promise)
    world.clock.now = (NOON + 65) * 1000
    expect(await verdict(header)).toBe('refused')
  })

  it('a token that expires before it was issued, or lives longer than 31 days, is refused', async () => {
    expect(await verdict(await signed({ iat: NOON, exp: NOON }))).toBe('refused')
    expect(await verdict(await signed({ exp: NOON + 31 * 86_400 }))).toBe('accepted')
    expect(await verdict(await signed({ exp: NOON + 31 * 86_400 + 1 }))).toBe('refused')
  })

  it('nonsense from the clock refuses', async () => {
    const header = await signed({})
    expect(await verdict(header)).toBe('accepted')
    world.clock.now = Number.NaN
    expect(await verdict(header)).toBe('refused')
  })
})

describe('issuing', () => {
  it.each<[string, object, RegExp]>([
    ['an unknown role', { role: 'root' }, /no role root/],
    ['a channel nobody answers', { approval: { channel: 'inbox' } }, /nobody to ask/],
    ['a life of 32 days', { exp: NOON + 32 * 86_400 }, /longer than 31 days/],
    ['an end in the past', { iat: NOON - 10, exp: NOON - 6 }, /has expired/],
    ['more names than a token carries', { ceiling: names(300) }, /too many tools for one token/],
  ])('refuses %s', async (_name, changes, why) => {
    const issuing = tokens.issue({ ...claims, ...changes } as never)
    await expect(issuing).rejects.toThrow(why)
    await expect(issuing).rejects.toBeInstanceOf(UnissuableClaims)
  })
})

describe('a token of 8 KB', () => {
  it('is read, and one byte more is not', async () => {
    const { key, kid } = await world.active()
    const pad = (length: number) => signEd(head(kid), { ...ownClaims, note: 'x'.repeat(length) }, key)
    let length = Math.ceil(((8192 - pad(0).length) * 3) / 4) + 4
    while (pad(length).length > 8192) length -= 1
    expect(await verdict(bearer(pad(length)))).toBe('accepted')
    expect(await verdict(bearer(pad(length + 4)))).toBe('refused')
  })
})

describe('key rotation', () => {
  it('fails nothing good while both keys are believed, and refuses the retired one at once', async () => {
    const before = bearer(await tokens.issue(claims))
    expect(await verdict(before)).toBe('accepted')
    const kid = world.keyring.jwks().keys[0]?.kid
    await world.keyring.rotate()
    expect(world.keyring.jwks().keys.map((key) => key.kid)).toContain(kid)
    const after = bearer(await tokens.issue(claims))
    expect(await verdict(before)).toBe('accepted')
    expect(await verdict(after)).toBe('accepted')
    await world.keyring.rotate({ retireOthers: true })
    expect(world.keyring.jwks().keys).toHaveLength(1)
    expect(await verdict(before)).toBe('refused')
    expect(await verdict(after)).toBe('refused')
    expect(await verdict(bearer(await tokens.issue(claims)))).toBe('accepted')
  })

  it('reaches a replica: new tokens are good there at once, retired keys refused soon', async () => {
    const replica = await createReplica()
    const before = bearer(await tokens.issue(claims))
    expect(await verdict(before, replica.tokens)).toBe('accepted')
    await world.keyring.rotate({ retireOthers: true })
    expect(await verdict(bearer(await tokens.issue(claims)), replica.tokens)).toBe('accepted')
    await expect.poll(() => verdict(before, replica.tokens), { timeout: 5000 }).toBe('refused')
    await replica.keyring.close()
  })

  it('reaches a replica that hears no notices, since an unknown kid makes it read the keys', async () => {
    const replica = await createReplica({ ...world.db, listen: async () => async () => {} })
    // Right after a reading another one is a second away, and a good token waits for it rather than fail.
    for (const pause of [0, 0, 1100, 0, 1100]) {
      await new Promise((later) => setTimeout(later, pause))
      await world.keyring.rotate()
      expect(await verdict(bearer(await tokens.issue(claims)), replica.tokens)).toBe('accepted')
    }
    await replica.keyring.close()
  })

  it('fails none of the calls made while keys change again and again', async () => {
    const verdicts: Promise<unknown>[] = []
    for (let round = 0; round < 5; round++) {
      const rotation = world.keyring.rotate()
      for (let call = 0; call < 40; call++) {
        verdicts.push(tokens.issue({ ...claims, jti: `s_${round}_${call}` }).then((token) => verdict(bearer(token))))
        await new Promise((next) => setImmediate(next))
      }
      await rotation
    }
    expect(new Set(await Promise.all(verdicts))).toEqual(new Set(['accepted']))
  })

  it('forged tokens with unknown kids cause one reading a second, not one each', async () => {
    let readings = 0
    const counted = Object.create(world.db.orm, {
      select: {
        value: (...columns: []) => {
          readings += 1
          return world.db.orm.select(...columns)
        },
      },
    })
    const replica = await createReplica({ ...world.db, orm: counted, listen: async () => async () => {} })
    const { key } = await world.active()
    readings = 0
    const forged = (i: number) => bearer(signEd(head(String(i).padStart(43, 'k')), ownClaims, key))
    const verdicts = await Promise.all(Array.from({ length: 200 }, (_, i) => verdict(forged(i), replica.tokens)))
    expect(new Set(verdicts)).toEqual(new Set(['refused']))
    expect(readings).toBeLessThanOrEqual(2)
    await replica.keyring.close()
  })
})

describe('the keyring', () => {
  it('of several started at once is one', async () => {
    const found = await Promise.all([createReplica(), createReplica(), createReplica()])
    const kids = found.map(({ keyring }) => JSON.stringify(keyring.jwks()))
    expect(new Set(kids).size).toBe(1)
    await Promise.all(found.map(({ keyring }) => keyring.close()))
  })

  it('shows public halves only', () => {
    for (const jwk of world.keyring.jwks().keys) {
      expect(Object.keys(jwk).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x'])
    }
  })
})

async function createReplica(db: World['db'] = world.db): Promise<{ keyring: Keyring; tokens: Tokens }> {
  const keyring = await createKeyring({ db, seal: world.seal, log: quiet })
  const now = () => world.clock.now
  const record = async () => 'live' as const
  return { keyring, tokens: createTokens({ keyring, resource: RESOURCE, issuers: [], roles, routes, now, record }) }
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `mcp__connector__a_tool_with_a_long_name_${i}`)
}
