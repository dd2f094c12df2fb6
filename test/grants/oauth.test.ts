/** A vendor that a person consents to: declared in a connector file, used through its tools, told when it ends. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createAudit } from '../../src/audit/audit.ts'
import { defineConnector } from '../../src/connector/define.ts'
import { body, type ConnectionKind, GRANTABLE_READ, path } from '../../src/connector/native/kit.ts'
import { rows } from '../../src/db/connect.ts'
import { sql } from '../../src/db/drizzle.ts'
import { createSeal } from '../../src/db/seal.ts'
import { type ConnectionParts, type Connections, createConnections } from '../../src/grants/connections/connections.ts'
import { findConnection } from '../../src/grants/connections/rows.ts'
import type { Session } from '../../src/policy/words.ts'
import { policies } from '../catalogue/world.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts'
import { freshDatabase, quiet, type TestDatabase } from '../support/database.ts'
import { NO_REMOTES } from '../support/remote.ts'

const SECRET = 'canary-of-the-app-0001'
const WHERE = { brand: 'acme', slug: 'plans' }
let world: TestDatabase
let server: AuthorizationServer
/** The vendor: it takes the server's tokens, and echoes what it was sent. */
let vendor: { url: string; seen: IncomingHttpHeaders[]; close(): void }
const open: { close(): unknown }[] = []

beforeAll(async () => {
  world = await freshDatabase()
})
afterAll(() => world.close())
beforeEach(async () => {
  server = await startAuthorizationServer()
  const seen: IncomingHttpHeaders[] = []
  const listener = createServer(({ headers }, response) => {
    seen.push(headers)
    const isGood = server.isGood(headers.authorization)
    response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isGood ? { echo: headers.authorization } : { message: 'no' }))
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  vendor = { url, seen, close: () => void listener.close().closeAllConnections() }
})
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
  vendor.close()
  await server.close()
  await world.db.orm.execute(sql`truncate connections, connection_consents, oauth_states`)
})

function declared(oauth: Partial<NonNullable<ConnectionKind['oauth']>> = {}) {
  const connection: ConnectionKind = {
    fields: {
      clientId: { title: 'the app’s id', schema: z.string(), secret: false },
      clientSecret: { title: 'the app’s secret', schema: z.string() },
    },
    baseUrl: 'https://plans.example',
    oauth: {
      issuer: server.issuer,
      authorizationUrl: `${server.issuer}/authorize`,
      tokenUrl: `${server.issuer}/token`,
      scopes: ['plans.read', 'offline'],
      clientId: 'clientId',
      clientSecret: 'clientSecret',
      parameters: { access_type: 'offline', state: 'nothing a vendor could say here' },
      ...oauth,
    },
    authorize: ({ accessToken }) => ({ authorization: `Bearer ${accessToken}` }),
    check: async (http) => ((await http.get(path`/me`)).status === 200 ? 'Signed in.' : ''),
  }
  const read = body({
    title: 'Read',
    description: 'Reads.',
    input: z.strictObject({}),
    run: async ({ http }) => ({ said: (await http.get<{ echo: string }>(path`/plans`)).json.echo }),
  })
  return defineConnector({
    ...{ slug: 'plans', title: 'Plans', kind: 'connector', credentials: 'brand', when: 'Connected.', connection },
    tools: [{ name: 'plans_read', ...GRANTABLE_READ, body: read }],
  })
}

/** One replica, and of whom it said that they need consent. */
async function replica(more: Partial<ConnectionParts> = {}, oauth = {}) {
  const audit = createAudit({ db: world.db, log: quiet })
  open.push(audit)
  const lost: object[] = []
  const connections = await createConnections({
    ...{ db: world.db, audit, seal: createSeal('a secret of these tests'), log: quiet, key: Buffer.from('key') },
    ...{ catalogue: [declared(oauth)], ownerBrand: 'owner', host: {}, switches: {}, has: () => false },
    ...{ taken: new Set<string>(), changed: () => {} },
    overrides: { plans: { baseUrl: vendor.url, allowPrivate: true } },
    ...NO_REMOTES,
    needsConsent: async (_tx, one) => void lost.push(one),
    justMs: 0,
    ...more,
  })
  open.push(connections)
  return { connections, lost }
}
const put = (connections: Connections, clientSecret = SECRET) =>
  connections.put(
    { ...WHERE, connector: connections.connectable('plans')!, values: { clientId: 'app-1', clientSecret } },
    { version: undefined, by: 'operator' },
  )
async function consent(connections: Connections, change: (back: URL) => void = () => {}) {
  const begun = await connections.consenting.begin(WHERE, 'operator')
  if (!begun.ok) throw new Error(begun.detail)
  const back = new URL(await server.consent(begun.authorizationUrl))
  change(back)
  return { begun, ended: await connections.consenting.finish(back.searchParams) }
}
function call(connections: Connections) {
  const connector = connections.of('acme')[0]!
  const { roles, routes } = policies()
  const session = {
    ...{ id: 's', brand: 'acme', ceiling: ['mcp__plans__*'], limits: {}, channel: 'inbox' },
    ...{ role: roles.get('person-chat'), route: routes.get('standard') },
    grant: { connectors: [], skills: [], allowance: {} },
  } as unknown as Session
  return connector.call({
    ...{
      tool: connector.tools()[0]!,
      session,
      argumentsText: '{}',
      extraText: '',
      metaText: '',
      onProgress: undefined,
    },
    elicitation: { form: false, url: false },
    ask: () => Promise.reject(new Error('Nobody is asked in this test.')),
  }).answer
}

describe('a vendor that a person consents to', () => {
  it('has no tools before, and says how to begin', async () => {
    const { connections } = await replica()
    await put(connections)
    const [connector] = connections.of('acme')
    expect(connector?.tools()).toEqual([])
    expect(connector?.withheld()[0]?.reason).toContain('POST /v1/connections/plans/connect')
    expect(await connections.check(WHERE, 'operator')).toMatchObject({ ok: false })
    expect(vendor.seen).toEqual([])
  })

  it('is asked as it declares, and its tools then carry the token, which no result holds', async () => {
    const { connections } = await replica()
    await put(connections)
    const { begun, ended } = await consent(connections)
    expect(ended).toEqual({ ok: true, ...WHERE })
    const asked = Object.fromEntries(new URL((begun as { authorizationUrl: string }).authorizationUrl).searchParams)
    expect(asked).toMatchObject({
      client_id: 'app-1',
      scope: 'plans.read offline',
      access_type: 'offline',
      code_challenge_method: 'S256',
    })
    expect(asked.state).toHaveLength(43)
    expect(asked.resource).toBeUndefined()
    expect(server.granted('authorization_code')[0]?.form.client_secret).toBe(SECRET)
    const answer = await call(connections)
    expect(answer).toMatchObject({ kind: 'result' })
    expect(JSON.stringify(answer)).not.toContain('canary')
    expect(server.isGood(vendor.seen[0]?.authorization)).toBe(true)
    expect(await connections.check(WHERE, 'operator')).toEqual({ ok: true, said: 'Signed in.' })
  })

  it('that refuses a token gets another once, and the call goes on', async () => {
    const { connections } = await replica()
    await put(connections)
    await consent(connections)
    server.endAccess()
    expect(await call(connections)).toMatchObject({ kind: 'result' })
    expect(server.granted('refresh_token')).toHaveLength(1)
    expect(vendor.seen).toHaveLength(2)
  })

  it('whose consent has ended is told of once, with nothing secret, and can be consented to again', async () => {
    const { connections, lost } = await replica()
    await put(connections)
    await consent(connections)
    const before = connections.of('acme')[0]!.tools()[0]!.upstream
    server.endAccess()
    server.endConsents()
    expect(await call(connections)).toMatchObject({ kind: 'failed', code: 'upstream_unavailable', ran: 'no' })
    expect(lost).toEqual([{ ...WHERE, connector: 'plans', because: expect.stringContaining('invalid_grant') }])
    await connections.check(WHERE, 'operator')
    expect(connections.of('acme')[0]?.tools()).toEqual([])
    await consent(connections)
    expect(await call(connections)).toMatchObject({ kind: 'result' })
    // Somebody else may have consented, so what was approved before does not hold.
    expect(connections.of('acme')[0]!.tools()[0]!.upstream).not.toBe(before)
  })

  it('names itself as declared: an answer in another name is refused', async () => {
    const { connections } = await replica({}, { issuer: 'https://plans.example' })
    await put(connections)
    expect((await consent(connections)).ended).toMatchObject({ ok: false })
    expect(server.granted('authorization_code')).toEqual([])
    const silent = await consent(connections, (back) => back.searchParams.delete('iss'))
    expect(silent.ended).toMatchObject({ ok: true })
  })

  it('at a forbidden address is not asked anything', async () => {
    const { connections } = await replica({}, { tokenUrl: 'https://169.254.169.254/token' })
    await put(connections)
    expect(await connections.consenting.begin(WHERE, 'operator')).toMatchObject({ ok: false, problem: 'refused' })
    const { connections: strict } = await replica({ overrides: {} })
    expect(await strict.consenting.begin(WHERE, 'operator')).toMatchObject({ ok: false, problem: 'refused' })
    expect(server.asked).toEqual([])
  })

  it('leaves nothing in a dump of the database, nor after its removal', async () => {
    const { connections } = await replica()
    await put(connections)
    await consent(connections)
    await connections.consenting.begin(WHERE, 'operator')
    const dump = async () =>
      JSON.stringify(
        rows(
          await world.db.orm.execute(sql`
            select c::text as one from connections c union all select c::text from connection_consents c
            union all select s::text from oauth_states s union all select a::text from audit a`),
        ),
      )
    for (const secret of [...server.secrets, SECRET]) {
      expect(await dump()).not.toContain(secret)
      expect(await dump()).not.toContain(Buffer.from(secret).toString('base64').slice(0, 20))
    }
    await connections.remove(WHERE, 'operator')
    const left = sql`select 1 from connection_consents union all select 1 from oauth_states`
    expect(rows(await world.db.orm.execute(left))).toEqual([])
  })

  it('sealed with the secret before is sealed anew, tokens and all', async () => {
    const { connections } = await replica()
    await put(connections)
    await consent(connections)
    const next = 'the next secret of these tests'
    const both = await replica({ seal: createSeal(next, 'a secret of these tests') })
    expect(await both.connections.reseal('operator')).toBe(2)
    const alone = await replica({ seal: createSeal(next) })
    expect(await call(alone.connections)).toMatchObject({ kind: 'result' })
  })

  it('keeps ten minutes and five ways back for one connection, no more', async () => {
    const { connections } = await replica()
    await put(connections)
    const begun = []
    for (let i = 0; i < 7; i++) begun.push(await connections.consenting.begin(WHERE, 'operator'))
    expect(rows(await world.db.orm.execute(sql`select 1 from oauth_states`))).toHaveLength(5)
    const last = begun.at(-1) as { authorizationUrl: string }
    const back = new URL(await server.consent(last.authorizationUrl)).searchParams
    await world.db.orm.execute(sql`update oauth_states set expires_at = now() - interval '1 second'`)
    expect(await connections.consenting.finish(back)).toMatchObject({ ok: false })
    expect((await findConnection(world.db, WHERE))?.consent).toBe('needed')
  })
})

describe('a declaration', () => {
  const fields = (more: object) => ({ oauth: { ...declared().connection!.oauth!, ...more } })
  it.each<[string, object, RegExp]>([
    ['an id that is a secret', { clientId: 'clientSecret' }, /no secret/],
    ['an id nobody states', { clientId: 'other' }, /no secret/],
    ['a secret that may be seen', { clientSecret: 'clientId' }, /names a secret field/],
  ])('with %s is refused when it is loaded', (_name, more, says) => {
    const { slug, title, kind, credentials, when, connection } = declared()
    const bad = { ...connection!, ...fields(more) }
    const tools = [{ name: 'plans_read', ...GRANTABLE_READ }]
    expect(() => defineConnector({ slug, title, kind, credentials, when, connection: bad, tools })).toThrow(says)
  })
})
