/** Refreshes of one connection over two replicas on one PostgreSQL (reliability F8), and what is lost in between. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connectors as catalogue } from '../../connectors/index.ts'
import { createAudit } from '../../src/audit/audit.ts'
import { NoToken } from '../../src/connector/mcp/bearer.ts'
import { connect, type Database, rows } from '../../src/db/connect.ts'
import { sql } from '../../src/db/drizzle.ts'
import { createSeal } from '../../src/db/seal.ts'
import { type ConnectionParts, createConnections } from '../../src/grants/connections/connections.ts'
import { createReach } from '../../src/connector/oauth/reach.ts'
import { createTokens, type TokenParts } from '../../src/grants/connections/oauth/tokens.ts'
import { findConnection } from '../../src/grants/connections/rows.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts'
import { freshPostgres, quiet, type TestDatabase } from '../support/database.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { type GuardedUpstream, startGuarded } from '../support/guarded-upstream.ts'
import { NO_REMOTES } from '../support/remote.ts'

const WHERE = { brand: 'acme', slug: 'notes' }
let world: Required<TestDatabase>
let other: Database
let server: AuthorizationServer
let upstream: GuardedUpstream
const open: { close(): unknown }[] = []

beforeAll(async () => {
  world = await freshPostgres()
  other = await connect({ url: world.url, folder: '', log: quiet })
})
afterAll(async () => {
  await other.close()
  await world.close()
})
beforeEach(async () => {
  server = await startAuthorizationServer()
  upstream = await startGuarded(server)
})
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
  await upstream.close()
  await server.close()
  await world.db.orm.execute(sql`truncate connections, connection_consents, oauth_states`)
})

const RULES = { allowPrivate: true, hosts: [] }
const seal = createSeal('a secret of these tests')

/** Connects, and has a person consent. Answers which consent it is. */
async function consented(db: Database = world.db): Promise<{ brand: string; slug: string; consent: string }> {
  const audit = createAudit({ db, log: quiet })
  const parts: ConnectionParts = {
    ...{ db, audit, seal, log: quiet, key: Buffer.from('key'), catalogue, ownerBrand: 'owner' },
    ...{ host: {}, overrides: {}, switches: {}, has: () => false, taken: new Set<string>(), changed: () => {} },
    ...NO_REMOTES,
    remote: { ...NO_REMOTES.remote, rules: RULES },
  }
  const connections = await createConnections(parts)
  const remote = { url: upstream.url, headers: {}, oauth: true as const, tools: {} }
  await connections.putRemote(WHERE, remote, { version: undefined, by: 'operator' })
  const begun = await connections.consenting.begin(WHERE, 'operator')
  if (!begun.ok) throw new Error(begun.detail)
  const ended = await connections.consenting.finish(new URL(await server.consent(begun.authorizationUrl)).searchParams)
  if (!ended.ok) throw new Error(ended.said)
  const consent = (await findConnection(db, WHERE))?.consent as string
  await connections.close()
  await audit.close()
  return { ...WHERE, consent }
}

/** The tokens of one replica. */
function replica(db: Database, more: Partial<TokenParts> = {}) {
  const audit = createAudit({ db, log: quiet })
  const reach = createReach({ rules: RULES, userAgent: 'test' })
  const lost: string[] = []
  const needsConsent = async (_tx: unknown, { because }: { because: string }) => void lost.push(because)
  const tokens = createTokens({ db, audit, seal, reachOf: () => reach, needsConsent, ...more })
  open.push(reach, audit, tokens)
  return { tokens, lost }
}
const end = () => world.db.orm.execute(sql`update connection_consents set refresh_at = now(), expires_at = now()`)
const standing = async () => (await findConnection(world.db, WHERE))!
const settled = (all: Promise<string>[]) => Promise.allSettled(all)

describe('two gateways', () => {
  let gateways: Gateway[] = []
  afterEach(async () => {
    for (const gateway of gateways) await gateway.close()
    gateways = []
  })

  it('refresh once for a hundred calls at the moment of expiry, and every call is answered', async () => {
    const more = { connections: { allowPrivate: true } }
    const env = { DATABASE_URL: world.url, TOLLGATE_PUBLIC_URL: 'http://127.0.0.1:8787' }
    gateways = [await startGateway({}, env, more), await startGateway({}, env, more)]
    const [one, two] = gateways as [Gateway, Gateway]
    const mcp = { url: upstream.url, oauth: true, tools: { echo: 'read' } }
    await one.api('PUT', '/v1/connections/notes?brand=acme', { mcp })
    const { body } = await one.api('POST', '/v1/connections/notes/connect?brand=acme')
    const back = await server.consent(body.authorizationUrl)
    // The browser comes back to the other replica.
    expect((await fetch(back.replace('http://127.0.0.1:8787', two.url))).status).toBe(200)
    const token = await one.token({ brand: 'acme', role: 'person-chat', approval: { channel: 'inbox' } })
    const call = (gateway: Gateway, i: number) =>
      gateway.modern(token, 'tools/call', { name: 'notes__echo', arguments: { i } })
    await Promise.all([call(one, -1), call(two, -2)])
    await end()
    server.endAccess()
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => call(i % 2 === 0 ? one : two, i)))
    expect(answers.map(({ answer }) => answer.result?.content?.[0]?.text)).toEqual(answers.map((_, i) => `{"i":${i}}`))
    expect(server.granted('refresh_token')).toHaveLength(1)
    expect(server.reused()).toBe(0)
    expect(upstream.ledger.filter(({ argumentsText }) => !argumentsText?.includes('-'))).toHaveLength(100)
  })
})

describe('tokens of two replicas', () => {
  it('are refreshed in turn, round after round, and the winner’s token is the one that everybody has', async () => {
    const which = await consented()
    const [a, b] = [replica(world.db), replica(other)]
    for (let round = 1; round <= 10; round++) {
      const refused = await a.tokens.of(which)
      await end()
      await world.db.orm.execute(sql`update connection_consents set renewed_at = now() - interval '1 hour'`)
      const all = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).tokens.of(which, refused)))
      expect(new Set(all).size).toBe(1)
      expect(all[0]).not.toBe(refused)
      expect(server.granted('refresh_token')).toHaveLength(round)
    }
    expect(server.reused()).toBe(0)
  })

  it('that the server ended are cleared once, and people are told once', async () => {
    const which = await consented()
    const [a, b] = [replica(world.db), replica(other)]
    server.endConsents()
    await end()
    const all = await settled(Array.from({ length: 40 }, (_, i) => (i % 2 ? a : b).tokens.of(which)))
    for (const one of all) expect(one).toMatchObject({ status: 'rejected', reason: expect.any(NoToken) })
    expect(server.granted('refresh_token')).toHaveLength(1)
    expect([...a.lost, ...b.lost]).toEqual([expect.stringContaining('invalid_grant')])
    expect(await standing()).toMatchObject({ consent: 'needed' })
    await settled([a.tokens.of(which), b.tokens.of(which)])
    expect(server.granted('refresh_token')).toHaveLength(1)
  })

  it.each<[string, NonNullable<AuthorizationServer['takeover']>]>([
    ['answers 503', (_asked, response) => response.writeHead(503).end() !== undefined],
    ['answers 429', (_asked, response) => response.writeHead(429, { 'retry-after': '1' }).end() !== undefined],
    ['hangs up', (_asked, response) => response.destroy() !== undefined],
    [
      'says temporarily_unavailable',
      (_asked, response) =>
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"temporarily_unavailable"}') !==
        undefined,
    ],
  ])('survive a server that %s, and are refreshed when it is back', async (_name, takeover) => {
    const which = await consented()
    const { tokens, lost } = replica(world.db)
    await end()
    server.takeover = takeover
    await expect(tokens.of(which)).rejects.toThrow(NoToken)
    const failedOnce = server.granted('refresh_token').length
    // While it is out of order, it is not asked for every call.
    await settled(Array.from({ length: 10 }, () => tokens.of(which)))
    expect(server.granted('refresh_token')).toHaveLength(failedOnce)
    server.takeover = undefined
    expect(lost).toEqual([])
    // Another replica has not heard of it.
    expect(server.isGood(await replica(other).tokens.of(which))).toBe(true)
    expect(server.reused()).toBe(0)
  })

  it('whose refresh was cut off by the end of its process need a person, and the used token is never tried again', async () => {
    const which = await consented()
    await end()
    /** A replica that ends between the server's answer and its being kept. */
    const dying: Database = { ...other, transaction: () => Promise.reject(new Error('the process ended here')) }
    const dead = replica(other, { audit: createAudit({ db: dying, log: quiet }), leaseMs: 300 })
    await expect(dead.tokens.of(which)).rejects.toThrow(NoToken)
    expect(server.granted('refresh_token')).toHaveLength(1)
    const heir = replica(world.db, { leaseMs: 300 })
    await expect(heir.tokens.of(which)).rejects.toThrow(/consent/)
    expect(heir.lost).toEqual([expect.stringContaining('cut off')])
    expect(await standing()).toMatchObject({ consent: 'needed', consentBecause: expect.stringContaining('cut off') })
    await settled([heir.tokens.of(which), heir.tokens.of(which)])
    expect(server.granted('refresh_token')).toHaveLength(1)
    expect(server.reused()).toBe(0)
  })

  it('of a server whose refresh tokens stay as they are outlive such an end', async () => {
    server.rotates = false
    const which = await consented()
    await end()
    const first = await replica(world.db).tokens.of(which)
    await end()
    await world.db.orm.execute(sql`
      update connection_consents set claimed_by = 'a process that is gone', claimed_at = now() - interval '1 hour'`)
    const heir = replica(other)
    expect(await heir.tokens.of(which, first)).not.toBe(first)
    expect(heir.lost).toEqual([])
  })

  it('are kept when the database is away for a moment just then', async () => {
    const which = await consented()
    await end()
    let away = 3
    const shaky: Database = {
      ...other,
      transaction: (work) => (away-- > 0 ? Promise.reject(new Error('away')) : other.transaction(work)),
    }
    const { tokens } = replica(other, { audit: createAudit({ db: shaky, log: quiet }) })
    expect(server.isGood(await tokens.of(which))).toBe(true)
    expect(server.granted('refresh_token')).toHaveLength(1)
    expect(server.isGood(await replica(world.db).tokens.of(which))).toBe(true)
    expect(server.granted('refresh_token')).toHaveLength(1)
  })

  it('of a connection that was removed meanwhile are not kept, nor is any row of them', async () => {
    const which = await consented()
    await end()
    server.takeover = (_asked, response) => {
      const answer = JSON.stringify({ access_token: 'canary', token_type: 'Bearer', expires_in: 60 })
      void world.db.orm.execute(sql`delete from connection_consents`).then(() => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
      })
      return true
    }
    await expect(replica(world.db).tokens.of(which)).rejects.toThrow(NoToken)
    expect(rows(await world.db.orm.execute(sql`select 1 from connection_consents`))).toEqual([])
  })
})
