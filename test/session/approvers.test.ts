/** Approver tokens: who gets one, every way to forge or misuse one, and how soon a revoked one is out. */
import { constants, createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { CompactEncrypt, decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Audit, createAudit } from '../../src/audit/audit.ts'
import { type AuditItem, readAudit } from '../../src/audit/read.ts'
import { eq, sql } from '../../src/db/drizzle.ts'
import { approvers as table } from '../../src/db/schema.ts'
import { APPROVER_TTL, type Approvers, createApprovers, NameTaken } from '../../src/session/approvers.ts'
import { createKeyring } from '../../src/session/keys.ts'
import { TokenRefused } from '../../src/session/token.ts'
import { quiet } from '../support/database.ts'
import { claims, RESOURCE } from './fixtures.ts'
import { base64url, createWorld, json, signEd, type World } from './world.ts'

const AUDIENCE = 'https://tollgate.example/v1/approvals'
const TYP = 'tollgate-approver+jwt'
const OTHER_KID = 'A'.repeat(43)
const stranger = generateKeyPairSync('ed25519')
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })

let world: World
let audit: Audit
let approvers: Approvers
let key: KeyObject
let kid: string
let good: string
let said: Record<string, unknown>
let session: string

beforeAll(async () => {
  world = await createWorld()
  world.clock.now = Date.now()
  audit = createAudit({ db: world.db, log: quiet, batchMs: 1 })
  approvers = replica()
  const active = await world.active()
  key = active.key
  kid = active.kid
  good = (await approvers.issue({ brand: 'acme', name: 'Ann' })).token
  said = decodeJwt(good)
  const iat = Math.floor(world.clock.now / 1000)
  session = await world.tokens().issue({ ...claims, iat, exp: iat + 3600 })
})
afterAll(async () => {
  await audit.close()
  await world.close()
})

const replica = (keyring = world.keyring) =>
  createApprovers({ db: world.db, audit, keyring, resource: RESOURCE, audience: AUDIENCE, now: () => world.clock.now })

/** Why a token is refused, as the audit is told; undefined where it is not. */
async function why(token: string): Promise<string | undefined> {
  let reason: string | undefined
  const record: Audit['record'] = (row) => {
    reason = row.reason
  }
  const parts = { db: world.db, keyring: world.keyring, resource: RESOURCE, audience: AUDIENCE }
  const here = createApprovers({ ...parts, audit: { ...audit, record }, now: () => world.clock.now })
  return (await here.verify(`Bearer ${token}`)) === undefined ? reason : undefined
}

const verify = (token: string) => approvers.verify(`Bearer ${token}`)
const parts = (token: string) => token.split('.') as [string, string, string]
const head = (changes: object = {}) => ({ alg: 'EdDSA', typ: TYP, kid, ...changes })

/** Signed with the gateway's own key, so that nothing but the change itself is wrong. */
const own = (changes: object) => signEd(head(), { ...said, ...changes }, key)
const ownHeader = (changes: object) => signEd(head(changes), said, key)
const ownText = (change: (text: string) => string) => signEd(head(), change(JSON.stringify(said)), key)
const byStranger = (header: object) => signEd(head(header), said, stranger.privateKey)
const unsigned = (alg: string) => `${json(head({ alg }))}.${json(said)}.${base64url('x')}`
const input = (alg: string) => `${json(head({ alg }))}.${json(said)}`
const hmac = (secret: string | Buffer) =>
  `${input('HS256')}.${createHmac('sha256', secret).update(input('HS256')).digest('base64url')}`
const byRsa = (alg: 'RS256' | 'PS256') =>
  `${input(alg)}.${base64url(
    sign('sha256', Buffer.from(input(alg)), {
      key: rsa.privateKey,
      ...(alg === 'PS256' ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } : {}),
    }),
  )}`
const byEc = (dsaEncoding: 'der' | 'ieee-p1363') =>
  `${input('ES256')}.${base64url(sign('sha256', Buffer.from(input('ES256')), { key: ec.privateKey, dsaEncoding }))}`
const publicKey = () => createPublicKey(key)
const now = () => Math.floor(world.clock.now / 1000)

function flipped(token: string): string {
  const [header, payload, signature] = parts(token)
  const bytes = Buffer.from(signature, 'base64url')
  bytes[63] = bytes[63]! ^ 1
  return `${header}.${payload}.${base64url(bytes)}`
}

type Attack = readonly [name: string, token: () => string | Promise<string>, why: RegExp]

const ALG = /alg must be EdDSA/
const FORM = /three base64url parts|one approver token/
const SIGNATURE = /signature of the token is wrong/
const HEADER = /may hold alg, typ and kid only/
const UNKNOWN_KEY = /key this gateway does not know/
const KID = /kid in at most 200 printable/
const LENGTH = /longer than 8192 bytes/
const CLAIMS = /Claims of the approver token are missing or wrong/
const AUD = /another audience/
const ISS = /iss of an approver token must be/
const TYP_WRONG = /must say typ tollgate-approver/
const ROW = /was revoked or has expired/

const attacks: Attack[] = [
  ['alg none', () => unsigned('none'), ALG],
  ['alg None in an odd case', () => unsigned('nOnE'), ALG],
  ['HS256 keyed with the public key as PEM', () => hmac(publicKey().export({ type: 'spki', format: 'pem' })), ALG],
  ['HS256 keyed with the public key as DER', () => hmac(publicKey().export({ type: 'spki', format: 'der' })), ALG],
  [
    'HS256 keyed with the public key as JWK text',
    () => hmac(JSON.stringify(publicKey().export({ format: 'jwk' }))),
    ALG,
  ],
  ['an empty HMAC key', () => hmac(''), ALG],
  ['the signature stripped', () => `${parts(good)[0]}.${parts(good)[1]}.`, FORM],
  ['no third part at all', () => `${parts(good)[0]}.${parts(good)[1]}`, FORM],
  ['one bit of the signature flipped', () => flipped(good), SIGNATURE],
  ['an ECDSA signature of zeros', () => `${input('ES256')}.${base64url(Buffer.alloc(64))}`, ALG],
  ['an ECDSA signature in DER form', () => byEc('der'), ALG],
  ['ES256 by a stranger', () => byEc('ieee-p1363'), ALG],
  ['RS256 by a stranger', () => byRsa('RS256'), ALG],
  ['PS256 by a stranger', () => byRsa('PS256'), ALG],
  [
    'another brand swapped in',
    () => `${parts(good)[0]}.${json({ ...said, brand: 'rival' })}.${parts(good)[2]}`,
    SIGNATURE,
  ],
  ['another key with the same kid', () => byStranger({}), SIGNATURE],
  ['the key in the header as jwk', () => byStranger({ jwk: stranger.publicKey.export({ format: 'jwk' }) }), HEADER],
  ['the key by URL as jku', () => byStranger({ jku: 'http://127.0.0.1:9/jwks.json' }), HEADER],
  ['the key by URL as x5u', () => byStranger({ x5u: 'http://127.0.0.1:9/jwks.json' }), HEADER],
  ['the key as a certificate in x5c', () => byStranger({ x5c: ['AAAA'] }), HEADER],
  ['a kid with a path', () => byStranger({ kid: '../../../../dev/null' }), UNKNOWN_KEY],
  ['a kid with SQL', () => byStranger({ kid: "x'union/**/select'1'--" }), UNKNOWN_KEY],
  ['a kid with NUL', () => byStranger({ kid: `${kid}\u0000` }), KID],
  ['a kid of 10 KB', () => byStranger({ kid: 'k'.repeat(10_240) }), LENGTH],
  ['the key of another environment', () => signEd(head({ kid: OTHER_KID }), said, stranger.privateKey), UNKNOWN_KEY],
  ['an unknown crit', () => ownHeader({ crit: ['x-new'], 'x-new': 1 }), HEADER],
  ['b64 false', () => ownHeader({ b64: false, crit: ['b64'] }), HEADER],
  ['expired', () => own({ iat: now() - 7200, exp: now() - 60 }), /has expired/],
  ['nbf ahead', () => own({ nbf: now() + 60 }), CLAIMS],
  ['iat a day ahead', () => own({ iat: now() + 86_400, exp: now() + 90_000 }), /issued in the future/],
  ['exp before iat', () => own({ iat: now(), exp: now() - 1 }), /later than iat/],
  ['exp a year away', () => own({ exp: now() + 366 * 86_400 }), /longer than 31 days/],
  ['exp missing', () => own({ exp: undefined }), CLAIMS],
  ['exp as text', () => own({ exp: String(now() + 3600) }), CLAIMS],
  ['exp 1e999', () => ownText((text) => text.replace(/"exp":\d+/, '"exp":1e999')), CLAIMS],
  ['aud missing', () => own({ aud: undefined }), AUD],
  ['aud of the MCP resource', () => own({ aud: RESOURCE }), AUD],
  ['aud of another gateway', () => own({ aud: 'https://other.example/v1/approvals' }), AUD],
  ['aud as an array with strangers', () => own({ aud: [AUDIENCE, 'https://other.example'] }), AUD],
  ['iss missing', () => own({ iss: undefined }), ISS],
  ['iss of a stranger', () => own({ iss: 'https://other.example' }), ISS],
  ['iss with the right one as prefix', () => own({ iss: `${RESOURCE}.evil.example` }), ISS],
  ['typ missing', () => ownHeader({ typ: undefined }), TYP_WRONG],
  ['typ JWT', () => ownHeader({ typ: 'JWT' }), TYP_WRONG],
  ['typ dpop+jwt', () => ownHeader({ typ: 'dpop+jwt' }), TYP_WRONG],
  ['typ in another case', () => ownHeader({ typ: 'Tollgate-Approver+JWT' }), TYP_WRONG],
  ['typ of a session', () => ownHeader({ typ: 'tollgate-session+jwt' }), TYP_WRONG],
  ['a claim given twice', () => ownText((text) => text.replace('{', '{"brand":"rival",')), /'brand' twice/],
  ['a claim nobody knows', () => own({ brands: ['*'] }), CLAIMS],
  ['brand as an array', () => own({ brand: ['acme', 'rival'] }), CLAIMS],
  ['brand as an object', () => own({ brand: { name: 'acme' } }), CLAIMS],
  ['brand as a number', () => own({ brand: 1 }), CLAIMS],
  ['another brand than its row, rightly signed', () => own({ brand: 'rival' }), ROW],
  ['another name than its row, rightly signed', () => own({ name: 'operator' }), ROW],
  ['an id that never was, rightly signed', () => own({ jti: 'a_nobody' }), ROW],
  ['an id with SQL', () => own({ jti: "' or true --" }), ROW],
  ['a token nested in a token', () => signEd(head({ cty: 'JWT' }), JSON.stringify(good), key), HEADER],
  [
    'an encrypted token',
    () =>
      new CompactEncrypt(Buffer.from(good))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: TYP })
        .encrypt(Buffer.alloc(32, 1)),
    FORM,
  ],
  ['JSON serialisation', () => JSON.stringify({ protected: parts(good)[0], payload: parts(good)[1] }), FORM],
  [
    'plain base64 with padding',
    () =>
      parts(good)
        .map((part) => Buffer.from(part, 'base64url').toString('base64'))
        .join('.'),
    FORM,
  ],
  ['inner whitespace', () => good.replace('.', '. '), FORM],
  ['extra dots', () => `${good}..`, FORM],
  ['a token of 1 MB', () => own({ note: 'x'.repeat(1_000_000) }), LENGTH],
  ['two Authorization headers joined by a comma', () => `${good}, Bearer ${good}`, FORM],
  ['a session token', () => session, TYP_WRONG],
  ['the claims of a session under the typ of an approver', () => world.keyring.sign(decodeJwt(session), TYP), AUD],
]

describe('an approver token', () => {
  it('names its person, brand and end, and is of a kind and an audience of its own', async () => {
    expect(decodeProtectedHeader(good)).toEqual({ alg: 'EdDSA', typ: TYP, kid })
    expect(said).toMatchObject({ iss: RESOURCE, aud: AUDIENCE, brand: 'acme', name: 'Ann' })
    expect(await verify(good)).toMatchObject({ id: said.jti, brand: 'acme', name: 'Ann' })
  })

  it.each(attacks)('with %s is refused, and the good one beside it accepted', async (_name, token, reason) => {
    expect(await why(await token())).toMatch(reason)
    expect(await verify(good)).toMatchObject({ name: 'Ann' })
  })

  it.each([undefined, '', ' ', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', 'Token abc', 'abc'])(
    'is not in the header %j',
    async (header) => {
      expect(await approvers.verify(header)).toBeUndefined()
    },
  )

  it('never makes a session', async () => {
    await expect((async () => world.tokens().verify(`Bearer ${good}`))()).rejects.toThrow(TokenRefused)
    const dressed = await world.keyring.sign(said, 'tollgate-session+jwt')
    await expect((async () => world.tokens().verify(`Bearer ${dressed}`))()).rejects.toThrow(TokenRefused)
  })

  it('ends by the database’s clock, whatever this process thinks the time is', async () => {
    const { approver, token } = await approvers.issue({ brand: 'acme', name: 'short', ttlSeconds: 60 })
    await world.db.orm.update(table).set({ expiresAt: sql`now()` }).where(eq(table.id, approver.id))
    expect(await verify(token)).toBeUndefined()
    expect(await approvers.find(approver.id)).toBeUndefined()
  })

  it.each([APPROVER_TTL.least - 1, APPROVER_TTL.most + 1, Number.NaN, -1])(
    'lives no %d seconds',
    async (ttlSeconds) => {
      await expect(approvers.issue({ brand: 'acme', name: 'never', ttlSeconds })).rejects.toThrow(RangeError)
    },
  )

  it('signed with a retired key is refused', async () => {
    const { token } = await approvers.issue({ brand: 'acme', name: 'of the old key' })
    const ring = await createKeyring({ db: world.db, seal: world.seal, log: quiet })
    try {
      const there = replica(ring)
      expect(await there.verify(`Bearer ${token}`)).toBeDefined()
      await ring.rotate({ retireOthers: true })
      expect(await there.verify(`Bearer ${token}`)).toBeUndefined()
      good = (await there.issue({ brand: 'acme', name: 'Ann again' })).token
      expect(await there.verify(`Bearer ${good}`)).toBeDefined()
      await world.keyring.refresh()
    } finally {
      await ring.close()
    }
  })
})

describe('a revoked approver', () => {
  it('is out on every replica at the next use, once and for all', async () => {
    const there = replica()
    const { approver, token } = await approvers.issue({ brand: 'acme', name: 'Bo' })
    expect(await there.verify(`Bearer ${token}`)).toBeDefined()
    const revoked = await approvers.revoke(approver.id)
    expect(revoked).toMatchObject({ id: approver.id, state: 'revoked' })
    for (const one of [approvers, there]) {
      expect(await one.verify(`Bearer ${token}`)).toBeUndefined()
      expect(await one.find(approver.id)).toBeUndefined()
    }
    expect(await approvers.revoke(approver.id)).toEqual(revoked)
    expect(await approvers.revoke('a_nobody')).toBeUndefined()
  })

  it('leaves the name to another', async () => {
    const first = await approvers.issue({ brand: 'acme', name: 'Cy' })
    await expect(approvers.issue({ brand: 'acme', name: 'Cy' })).rejects.toThrow(NameTaken)
    await approvers.issue({ brand: 'rival', name: 'Cy' })
    await approvers.revoke(first.approver.id)
    const second = await approvers.issue({ brand: 'acme', name: 'Cy' })
    expect(await verify(second.token)).toMatchObject({ id: second.approver.id })
    expect(await verify(first.token)).toBeUndefined()
  })

  it('of eight at once, one gets the name', async () => {
    const asked = Array.from({ length: 8 }, () => approvers.issue({ brand: 'acme', name: 'Dee' }))
    const got = await Promise.allSettled(asked)
    expect(got.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('the record', () => {
  const rows = async (kind: string): Promise<readonly AuditItem[]> =>
    (await readAudit(world.db, { kind, limit: 200 })).items

  it('tells of issue, revocation and refused use, and never holds the token', async () => {
    const { approver, token } = await approvers.issue({ brand: 'rival', name: 'Eve', by: 'operator' })
    await approvers.revoke(approver.id)
    await replica().verify(`Bearer ${token}`)
    const about = { brand: 'rival', subject: approver.id }
    expect(await rows('approver.issued')).toContainEqual(
      expect.objectContaining({ ...about, by: 'operator', reason: 'approver Eve' }),
    )
    expect(await rows('approver.revoked')).toContainEqual(expect.objectContaining({ ...about, by: 'operator' }))
    await expect
      .poll(() => rows('auth.refused'))
      .toContainEqual(expect.objectContaining({ ...about, reason: expect.stringContaining('revoked or has expired') }))
    const all = JSON.stringify(await Promise.all(['approver.issued', 'approver.revoked', 'auth.refused'].map(rows)))
    for (const part of [parts(token)[2], parts(good)[2]]) expect(all).not.toContain(part)
    expect(JSON.stringify(await world.db.orm.select().from(table))).not.toContain(parts(good)[2])
  })

  it('is not flooded by a thousand forged tokens', async () => {
    const before = (await rows('auth.refused')).length
    await Promise.all(Array.from({ length: 300 }, () => verify(unsigned('none'))))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect((await rows('auth.refused')).length - before).toBeLessThanOrEqual(60)
  })
})

describe('the list', () => {
  it('goes page by page, newest first, of one brand or of all', async () => {
    for (const name of ['one', 'two', 'three']) await approvers.issue({ brand: 'listed', name })
    const first = await approvers.list({ brand: 'listed', limit: 2 })
    expect(first.items.map(({ name }) => name)).toEqual(['three', 'two'])
    const second = await approvers.list({ brand: 'listed', limit: 2, cursor: first.nextCursor })
    expect([second.items.map(({ name }) => name), second.nextCursor]).toEqual([['one'], undefined])
    expect((await approvers.list({ limit: 200 })).items.length).toBeGreaterThan(5)
  })
})
