/** Tokens an attacker would send. Each must be refused, for its own reason, and the good token beside it accepted. */
import { constants, createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CompactEncrypt, decodeProtectedHeader, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAdmin } from '../../src/session/admin.ts'
import { SESSION_TYP, TokenRefused, type Tokens } from '../../src/session/token.ts'
import { claims, NOON, ownClaims, RESOURCE } from './fixtures.ts'
import { base64url, createWorld, head, json, signEd, type World } from './world.ts'

const HOST = 'https://app.example'
const stranger = generateKeyPairSync('ed25519')
const strangerRsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const hostEc = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const hostJwks = { keys: [{ ...(hostEc.publicKey.export({ format: 'jwk' }) as JWK), kid: 'host-1', alg: 'ES256' }] }

let world: World
let tokens: Tokens
let key: KeyObject
let kid: string
let good: string
let bait: Server
let baitUrl: string
let fetches = 0

beforeAll(async () => {
  world = await createWorld()
  tokens = world.tokens({ issuers: [{ issuer: HOST, jwks: hostJwks, brands: ['acme'], roles: ['specialist'] }] })
  await useActiveKey()
  bait = createServer((_request, response) => {
    fetches += 1
    response.end(JSON.stringify({ keys: [{ ...strangerJwk(), kid }] }))
  })
  await new Promise<void>((up) => bait.listen(0, '127.0.0.1', up))
  baitUrl = `http://127.0.0.1:${(bait.address() as AddressInfo).port}/jwks.json`
})

afterAll(async () => {
  bait.close()
  await world.close()
})

async function useActiveKey() {
  const active = await world.active()
  key = active.key
  kid = active.kid
  good = await tokens.issue(claims)
}

const strangerJwk = () => stranger.publicKey.export({ format: 'jwk' })
const parts = (token: string) => token.split('.') as [string, string, string]

/** Signed with the gateway's own key, so that nothing but the change itself is wrong. */
const own = (changes: object) => signEd(head(kid), { ...ownClaims, ...changes }, key)
const ownHeader = (changes: object) => signEd({ ...head(kid), ...changes }, ownClaims, key)
const without = (claim: string) => signEd(head(kid), { ...ownClaims, [claim]: undefined }, key)
const ownText = (change: (text: string) => string) => signEd(head(kid), change(JSON.stringify(ownClaims)), key)

/** Signed by a stranger, who puts into the header whatever should make the gateway trust the stranger's key. */
const byStranger = (header: object) => signEd({ ...head(kid), ...header }, ownClaims, stranger.privateKey)

function hmac(secret: string | Buffer): string {
  const input = `${json(head(kid, 'HS256'))}.${json(ownClaims)}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

function unsigned(alg: string): string {
  return `${json(head(kid, alg))}.${json(ownClaims)}.${base64url('x')}`
}

function rsa(alg: 'RS256' | 'PS256'): string {
  const input = `${json(head(kid, alg))}.${json(ownClaims)}`
  const padding = alg === 'PS256' ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } : {}
  return `${input}.${base64url(sign('sha256', Buffer.from(input), { key: strangerRsa.privateKey, ...padding }))}`
}

const hostInput = () => `${json(head('host-1', 'ES256'))}.${json({ ...ownClaims, iss: HOST })}`

function hostToken(encoding: 'der' | 'ieee-p1363'): string {
  const signature = sign('sha256', Buffer.from(hostInput()), { key: hostEc.privateKey, dsaEncoding: encoding })
  return `${hostInput()}.${base64url(signature)}`
}

const publicPem = () => createPublicKey(key).export({ type: 'spki', format: 'pem' })
const publicDer = () => createPublicKey(key).export({ type: 'spki', format: 'der' })
const publicJwk = () => JSON.stringify(createPublicKey(key).export({ format: 'jwk' }))

/** Shaped like a certificate; that it is none shows that nobody looked. */
const CERTIFICATE = Buffer.from(stranger.publicKey.export({ type: 'spki', format: 'der' })).toString('base64')

const encrypted = () =>
  new CompactEncrypt(Buffer.from(good))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: SESSION_TYP })
    .encrypt(Buffer.alloc(32, 1))

function jsonSerialised(token: string): string {
  const [header, payload, signature] = parts(token)
  return JSON.stringify({ protected: header, payload, signature })
}

const padded = (token: string) =>
  parts(token)
    .map((part) => Buffer.from(part, 'base64url').toString('base64'))
    .join('.')

function flipLastBit(token: string): string {
  const [header, payload, signature] = parts(token)
  const bytes = Buffer.from(signature, 'base64url')
  bytes[63] = bytes[63]! ^ 1
  return `${header}.${payload}.${base64url(bytes)}`
}

type Attack = readonly [name: string, token: () => string | Promise<string>, why: RegExp]

const ALG = /alg must be/
const SIGNATURE = /signature of the token is wrong/
const HEADER = /may hold alg, typ and kid only/
const KID = /kid in at most 200 printable/
const UNKNOWN_KEY = /key this gateway does not know/
const FORM = /three base64url parts|one session token/

/** Shaped like a kid of this gateway. */
const OTHER_KID = 'A'.repeat(43)

const attacks: Attack[] = [
  ['alg none', () => unsigned('none'), ALG],
  ['alg None in an odd case', () => unsigned('nOnE'), ALG],
  ['HS256 keyed with the public key as PEM', () => hmac(publicPem()), ALG],
  ['HS256 keyed with the public key as DER', () => hmac(publicDer()), ALG],
  ['HS256 keyed with the public key as JWK text', () => hmac(publicJwk()), ALG],
  ['an empty HMAC key', () => hmac(''), ALG],
  ['the signature stripped', () => `${parts(good)[0]}.${parts(good)[1]}.`, FORM],
  ['one bit of the signature flipped', () => flipLastBit(good), SIGNATURE],
  ['an ECDSA signature of zeros', () => `${hostInput()}.${base64url(Buffer.alloc(64))}`, SIGNATURE],
  ['an ECDSA signature in DER form', () => hostToken('der'), SIGNATURE],
  [
    'the payload swapped',
    () => `${parts(good)[0]}.${json({ ...ownClaims, brand: 'rival' })}.${parts(good)[2]}`,
    SIGNATURE,
  ],
  ['another key with the same kid', () => byStranger({}), SIGNATURE],
  ['the key in the header as jwk', () => byStranger({ jwk: strangerJwk() }), HEADER],
  ['the key by URL as jku', () => byStranger({ jku: baitUrl }), HEADER],
  ['the key by URL as x5u', () => byStranger({ x5u: baitUrl }), HEADER],
  ['the key as a certificate in x5c', () => byStranger({ x5c: [CERTIFICATE] }), HEADER],
  ['a kid with a path', () => byStranger({ kid: '../../../../dev/null' }), UNKNOWN_KEY],
  ['a kid with SQL', () => byStranger({ kid: "x'union/**/select'1'--" }), UNKNOWN_KEY],
  ['a kid with NUL', () => byStranger({ kid: `${kid}\u0000` }), KID],
  ['a kid of 10 KB', () => byStranger({ kid: 'k'.repeat(10_240) }), /longer than 8192 bytes/],
  ['an unknown crit', () => ownHeader({ crit: ['x-new'], 'x-new': 1 }), HEADER],
  ['b64 false', () => ownHeader({ b64: false, crit: ['b64'] }), HEADER],
  ['RS256 by a stranger', () => rsa('RS256'), ALG],
  ['PS256 by a stranger', () => rsa('PS256'), ALG],
  ['expired', () => own({ iat: NOON - 7200, exp: NOON - 3600 }), /has expired/],
  ['nbf ahead', () => own({ nbf: NOON + 60 }), /not valid yet/],
  ['iat a day ahead', () => own({ iat: NOON + 86_400, exp: NOON + 90_000 }), /issued in the future/],
  ['exp missing', () => without('exp'), /claim exp is missing/],
  ['exp as text', () => own({ exp: String(NOON + 3600) }), /claim exp is missing or wrong/],
  ['exp 1e999', () => ownText((text) => text.replace(/"exp":\d+/, '"exp":1e999')), /claim exp is missing or wrong/],
  ['aud missing', () => without('aud'), /another audience/],
  ['aud of another resource', () => own({ aud: 'https://other.example/mcp' }), /another audience/],
  ['aud as an array with strangers', () => own({ aud: [RESOURCE, 'https://other.example'] }), /another audience/],
  ['iss missing', () => without('iss'), /iss must be/],
  ['iss of a stranger', () => own({ iss: 'https://other.example' }), /iss must be/],
  ['iss with the right one as prefix', () => own({ iss: `${RESOURCE}.evil.example` }), /iss must be/],
  ['typ missing', () => ownHeader({ typ: undefined }), /must say typ/],
  ['typ JWT', () => ownHeader({ typ: 'JWT' }), /must say typ/],
  ['typ dpop+jwt', () => ownHeader({ typ: 'dpop+jwt' }), /must say typ/],
  ['a claim given twice', () => ownText((text) => text.replace('{', '{"role":"person-chat",')), /'role' twice/],
  ['role as an array', () => own({ role: ['specialist'] }), /claim role is missing or wrong/],
  ['role as an object', () => own({ role: { name: 'specialist' } }), /claim role is missing or wrong/],
  ['role as a number', () => own({ role: 1 }), /claim role is missing or wrong/],
  ['a token nested in a token', () => signEd({ ...head(kid), cty: 'JWT' }, JSON.stringify(good), key), HEADER],
  ['an encrypted token', () => encrypted(), FORM],
  ['JSON serialisation', () => jsonSerialised(good), FORM],
  ['plain base64 with padding', () => padded(good), FORM],
  ['inner whitespace', () => good.replace('.', '. '), FORM],
  ['extra dots', () => `${good}..`, FORM],
  ['a token of 1 MB', () => own({ note: 'x'.repeat(1_000_000) }), /longer than 8192 bytes/],
  ['two Authorization headers joined by a comma', () => `${good}, Bearer ${good}`, FORM],
  ['an approval-link token as a session', () => world.keyring.sign(ownClaims, 'tollgate-approver+jwt'), /must say typ/],
  ['the key of another environment', () => signEd(head(OTHER_KID), ownClaims, stranger.privateKey), UNKNOWN_KEY],
]

describe('an attack with', () => {
  it.each(attacks)('%s is refused', async (_name, token, why) => {
    const refused = await refusal(`Bearer ${await token()}`)
    expect(refused.description).toMatch(why)
    expect(refused.error).toBe('invalid_token')
    expect(await tokens.verify(`Bearer ${good}`)).toMatchObject({ id: claims.jti, brand: 'acme' })
  })

  it('the token in the query is refused, since nothing but the header is looked at', async () => {
    const refused = await refusal(undefined)
    expect(refused.error).toBeUndefined()
    expect(refused.description).toMatch(/Authorization: Bearer/)
  })

  it('a session token as an approval link is refused, since neither its typ nor the admin key fits', () => {
    expect(decodeProtectedHeader(good).typ).toBe(SESSION_TYP)
    expect(createAdmin('the admin key')(`Bearer ${good}`)).toBe(false)
  })

  it('a retired key is refused, also where the token was verified before', async () => {
    const before = good
    await tokens.verify(`Bearer ${before}`)
    await world.keyring.rotate({ retireOthers: true })
    expect((await refusal(`Bearer ${before}`)).description).toMatch(UNKNOWN_KEY)
    await useActiveKey()
    expect(await tokens.verify(`Bearer ${good}`)).toMatchObject({ id: claims.jti })
  })

  it('a URL in its header makes the gateway fetch nothing', () => {
    expect(fetches).toBe(0)
  })
})

describe('beside the attacks', () => {
  it('the good tokens of the gateway and of the host app are accepted', async () => {
    expect(await tokens.verify(`Bearer ${good}`)).toMatchObject({ id: claims.jti, issuer: RESOURCE })
    expect(await tokens.verify(`Bearer ${hostToken('ieee-p1363')}`)).toMatchObject({ brand: 'acme', issuer: HOST })
  })

  it('another spelling of the same signature bytes is refused', async () => {
    const last = good.at(-1)!
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const twin = `${good.slice(0, -1)}${alphabet[alphabet.indexOf(last) + 1]}`
    expect(Buffer.from(twin.split('.')[2]!, 'base64url')).toEqual(Buffer.from(parts(good)[2], 'base64url'))
    expect((await refusal(`Bearer ${twin}`)).description).toMatch(/not base64url/)
  })

  it.each(['', ' ', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', 'Token abc', 'Bearer\tabc', 'abc'])(
    'the header %j is refused',
    async (header) => {
      await refusal(header)
    },
  )

  it('the scheme may be written in any case', async () => {
    expect(await tokens.verify(`bEARER ${good}`)).toMatchObject({ id: claims.jti })
  })

  it('a description fits a challenge whatever the token says', async () => {
    const { description } = await refusal(`Bearer ${own({ role: 'a"b\\c\u00e9' })}`)
    expect(description).toMatch(/^[ !#-[\]-~]+$/)
  })
})

async function refusal(authorization: string | undefined): Promise<TokenRefused> {
  const outcome = await Promise.resolve(tokens.verify(authorization)).then(
    (session) => session,
    (error: unknown) => error,
  )
  expect(outcome).toBeInstanceOf(TokenRefused)
  return outcome as TokenRefused
}
