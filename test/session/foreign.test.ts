/** Tokens that host apps sign themselves, with key sets given inline and served by a real server. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Session } from '../../src/policy/words.ts'
import { type IssuerEntry, SESSION_TYP, TokenRefused, TokenUncheckable, type Tokens } from '../../src/session/token.ts'
import { claims, NOON, RESOURCE } from './fixtures.ts'
import { createWorld, type World } from './world.ts'

const APP = 'https://app.example'
const OTHER = 'https://other.example'

interface Signer {
  readonly alg: string
  readonly kid: string
  readonly jwk: JWK
  readonly key: CryptoKey
}

let world: World
let ec: Signer
let rsa: Signer
let ed: Signer
let late: Signer

beforeAll(async () => {
  world = await createWorld()
  ec = await createSigner('ES256', 'app-ec')
  rsa = await createSigner('RS256', 'app-rsa')
  ed = await createSigner('EdDSA', 'other-ed')
  late = await createSigner('ES256', 'app-late')
})
afterAll(() => world.close())
beforeEach(() => {
  world.clock.now = NOON * 1000
})

const entry = (issuer: string, ...signers: Signer[]): IssuerEntry => ({
  issuer,
  jwks: { keys: signers.map(({ jwk }) => jwk) },
  brands: ['acme'],
  roles: ['specialist'],
})

async function createSigner(alg: string, kid: string): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg)
  return { alg, kid, jwk: { ...(await exportJWK(publicKey)), kid }, key: privateKey }
}

const token = (signer: Signer, issuer = APP, changes: object = {}, header: object = {}) =>
  new SignJWT({ iss: issuer, aud: RESOURCE, ...claims, ...changes })
    .setProtectedHeader({ alg: signer.alg, typ: SESSION_TYP, kid: signer.kid, ...header })
    .sign(signer.key)

const outcome = (tokens: Tokens, text: string): Promise<Session | Error> =>
  Promise.resolve(tokens.verify(`Bearer ${text}`)).catch((error: Error) => error)

const refusal = async (tokens: Tokens, text: string) => {
  const error = await outcome(tokens, text)
  expect(error).toBeInstanceOf(TokenRefused)
  return (error as TokenRefused).description
}

describe('a host app whose keys are in the configuration', () => {
  it('may sign with ES256, RS256, PS256 and EdDSA', async () => {
    const ps: Signer = { ...(await createSigner('PS256', 'app-ps')) }
    const tokens = world.tokens({ issuers: [entry(APP, ec, rsa, ed, ps)] })
    for (const signer of [ec, rsa, ed, ps]) {
      expect(await outcome(tokens, await token(signer))).toMatchObject({ issuer: APP, brand: 'acme' })
    }
  })

  it('may name only the brands and roles it is listed with', async () => {
    const tokens = world.tokens({ issuers: [entry(APP, ec)] })
    expect(await refusal(tokens, await token(ec, APP, { brand: 'rival' }))).toMatch(/may not name this brand/)
    expect(await refusal(tokens, await token(ec, APP, { brand: 'Acme' }))).toMatch(/may not name this brand/)
    expect(await refusal(tokens, await token(ec, APP, { role: 'person-chat' }))).toMatch(/may not name this role/)
  })

  it('is held to the rules of roles and routes like the gateway itself', async () => {
    const tokens = world.tokens({ issuers: [entry(APP, ec)] })
    expect(await refusal(tokens, await token(ec, APP, { approval: { channel: 'inbox' } }))).toMatch(/nobody to ask/)
    expect(await refusal(tokens, await token(ec, APP, { aud: APP }))).toMatch(/another audience/)
    expect(await refusal(tokens, await token(ec, APP, {}, { typ: 'JWT' }))).toMatch(/must say typ/)
    expect(await refusal(tokens, await token(ec, APP, { exp: NOON + 40 * 86_400 }))).toMatch(/longer than 31 days/)
  })

  it('shares no session with another that uses the same jti', async () => {
    const tokens = world.tokens({ issuers: [entry(APP, ec), entry(OTHER, ed)] })
    const one = (await outcome(tokens, await token(ec))) as Session
    const two = (await outcome(tokens, await token(ed, OTHER))) as Session
    expect(one.id).toMatch(/^h_[A-Za-z0-9_-]{22}$/)
    expect(two.id).toMatch(/^h_[A-Za-z0-9_-]{22}$/)
    expect(one.id).not.toBe(two.id)
    const renewed = (await outcome(tokens, await token(ec, APP, { exp: NOON + 7200 }))) as Session
    expect(renewed.id).toBe(one.id)
  })

  it('cannot sign for another, for the gateway, or for nobody', async () => {
    const tokens = world.tokens({ issuers: [entry(APP, ec), entry(OTHER, ed)] })
    expect(await refusal(tokens, await token(ec, OTHER))).toMatch(/not in the key set of its issuer/)
    expect(await refusal(tokens, await token({ ...ec, kid: ed.kid }, OTHER))).toMatch(/not in the key set/)
    expect(await refusal(tokens, await token(ed, RESOURCE))).toMatch(/does not know/)
    expect(await refusal(tokens, await token(ec, 'https://app.example/'))).toMatch(/iss must be/)
    expect(await refusal(tokens, await token(ec, 'https://app.example.evil'))).toMatch(/iss must be/)
  })

  it('cannot sign with the gateway key, nor the gateway with its', async () => {
    const tokens = world.tokens({ issuers: [entry(APP, ec)] })
    const ours = await world.keyring.sign({ iss: APP, aud: RESOURCE, ...claims }, SESSION_TYP)
    expect(await refusal(tokens, ours)).toMatch(/not in the key set of its issuer/)
  })

  it('cannot be forged by confusing algorithms', async () => {
    const tokens = world.tokens({ issuers: [entry(APP, rsa)] })
    const secret = new TextEncoder().encode(JSON.stringify(rsa.jwk))
    const hmac = await new SignJWT({ iss: APP, aud: RESOURCE, ...claims })
      .setProtectedHeader({ alg: 'HS256', typ: SESSION_TYP, kid: rsa.kid })
      .sign(secret)
    expect(await refusal(tokens, hmac)).toMatch(/alg must be one of/)
    const [, payload, signature] = (await token(rsa)).split('.')
    for (const alg of ['none', 'ES256', 'EdDSA', 'PS256', 'RS512']) {
      const header = Buffer.from(JSON.stringify({ alg, typ: SESSION_TYP, kid: rsa.kid })).toString('base64url')
      await refusal(tokens, `${header}.${payload}.${signature}`)
    }
  })

  it('needs no kid while it has one key, and must name one of several', async () => {
    const bare = await token(ec, APP, {}, { kid: undefined })
    expect(await outcome(world.tokens({ issuers: [entry(APP, ec)] }), bare)).toMatchObject({ issuer: APP })
    expect(await refusal(world.tokens({ issuers: [entry(APP, ec, late)] }), bare)).toMatch(/name the key/)
  })

  it('has its session recorded before the token is believed, and checked again after a while', async () => {
    const recorded: string[] = []
    const tokens = world.tokens({
      issuers: [entry(APP, ec)],
      record: async (session) => {
        recorded.push(session.id)
        return 'live'
      },
    })
    const text = await token(ec)
    const session = (await outcome(tokens, text)) as Session
    expect(recorded).toEqual([session.id])
    expect(tokens.verify(`Bearer ${text}`)).toBe(session)
    world.clock.now += 30_000
    expect(await outcome(tokens, text)).toMatchObject({ id: session.id })
    expect(recorded).toHaveLength(2)
  })

  it('is not believed when the session is dead or cannot be recorded', async () => {
    const issuers = [entry(APP, ec)]
    const dead = world.tokens({ issuers, record: async () => 'dead' })
    expect(await refusal(dead, await token(ec))).toMatch(/revoked or has ended/)
    const broken = world.tokens({ issuers, record: () => Promise.reject(new Error('no database')) })
    expect(await outcome(broken, await token(ec))).toBeInstanceOf(TokenUncheckable)
  })
})

describe('a host app whose keys are at a URL', () => {
  let server: Server
  let keys: JWK[]
  let status: number
  let fetches: number

  beforeEach(async () => {
    keys = [ec.jwk]
    status = 200
    fetches = 0
    server = createServer((_request, response) => {
      fetches += 1
      response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' })
      response.end(JSON.stringify({ keys }))
    })
    await new Promise<void>((up) => server.listen(0, '127.0.0.1', up))
  })
  afterEach(() => stop())

  const stop = () => {
    server.closeAllConnections()
    return new Promise<void>((down) => server.close(() => down()))
  }
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`
  const remote = () =>
    world.tokens({ issuers: [{ issuer: APP, jwksUrl: url(), brands: ['acme'], roles: ['specialist'] }] })

  it('is believed, with one fetch for many tokens', async () => {
    const tokens = remote()
    for (const jti of ['a', 'b', 'c']) expect(await outcome(tokens, await token(ec, APP, { jti }))).toHaveProperty('id')
    expect(fetches).toBe(1)
  })

  it('may add a key: its first token is good a second after the last fetch', async () => {
    const tokens = remote()
    await outcome(tokens, await token(ec))
    keys = [ec.jwk, late.jwk]
    const text = await token(late)
    await expect.poll(() => outcome(tokens, text), { timeout: 3000 }).toMatchObject({ issuer: APP })
  })

  it('is neither believed nor refused while its keys cannot be read', async () => {
    status = 500
    expect(await outcome(remote(), await token(ec))).toBeInstanceOf(TokenUncheckable)
    status = 302
    expect(await outcome(remote(), await token(ec))).toBeInstanceOf(TokenUncheckable)
    expect(fetches).toBe(2)
  })

  it('keeps its sessions while its server restarts, and gains no new key by that', async () => {
    const tokens = remote()
    expect(await outcome(tokens, await token(ec))).toHaveProperty('id')
    await stop()
    expect(await outcome(tokens, await token(ec, APP, { jti: 'next' }))).toHaveProperty('id')
    await new Promise((later) => setTimeout(later, 1100))
    expect(await outcome(tokens, await token(late))).toBeInstanceOf(TokenUncheckable)
  })
})

describe('the configuration of issuers refuses', () => {
  const lists = { brands: ['acme'], roles: ['specialist'] }
  it.each<[string, readonly IssuerEntry[], RegExp]>([
    [
      'plain http to another machine',
      [{ issuer: APP, jwksUrl: 'http://app.example/jwks', ...lists }],
      /must be an https/,
    ],
    [
      'a name that only begins like loopback',
      [{ issuer: APP, jwksUrl: 'http://127.0.0.1.nip.io/', ...lists }],
      /https/,
    ],
    ['a file', [{ issuer: APP, jwksUrl: 'file:///etc/keys', ...lists }], /must be an https/],
    ['no URL at all', [{ issuer: APP, jwksUrl: 'keys', ...lists }], /must be an https/],
    ['an issuer without keys', [{ issuer: APP, ...lists }], /exactly one/],
    [
      'an issuer with keys in two places',
      [{ issuer: APP, jwksUrl: 'https://a.example', jwks: { keys: [] }, ...lists }],
      /exactly one/,
    ],
    ['the gateway itself', [{ issuer: RESOURCE, jwks: { keys: [] }, ...lists }], /this gateway itself/],
  ])('%s', (_name, issuers, why) => {
    expect(() => world.tokens({ issuers })).toThrow(why)
  })
})
