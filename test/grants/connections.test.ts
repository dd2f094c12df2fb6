import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { connectors as catalogue } from '../../connectors/index.ts'
import { createAudit } from '../../src/audit/audit.ts'
import type { DbEvent } from '../../src/db/events.ts'
import { sql } from '../../src/db/drizzle.ts'
import { rows } from '../../src/db/connect.ts'
import { createSeal, Unsealable } from '../../src/db/seal.ts'
import { type ConnectionParts, type Connections, createConnections } from '../../src/grants/connections/connections.ts'
import { findConnection, readChanged, resealConnection } from '../../src/grants/connections/rows.ts'
import { openSecrets, sealSecrets } from '../../src/grants/connections/secrets.ts'
import { createVault } from '../../src/grants/connections/vault.ts'
import type { Session } from '../../src/policy/words.ts'
import { NO_REMOTES } from '../support/remote.ts'
import { freshDatabase, quiet, type TestDatabase } from '../support/database.ts'
import { policies } from '../catalogue/world.ts'

const SECRET = 'a secret of the connection tests'
const KEY = 'fc-canary-0123456789'
let world: TestDatabase
const open: { close(): unknown }[] = []

beforeAll(async () => {
  world = await freshDatabase()
})
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
  await world.db.orm.execute(sql`truncate connections`)
})
afterAll(() => world.close())

/** One replica. */
async function replica(more: Partial<ConnectionParts> = {}) {
  const audit = createAudit({ db: world.db, log: quiet })
  open.push(audit)
  let changes = 0
  const connections = await createConnections({
    db: world.db,
    audit,
    seal: createSeal(SECRET),
    log: quiet,
    key: Buffer.from('key'),
    catalogue,
    ownerBrand: 'owner',
    host: {},
    overrides: {},
    switches: {},
    has: () => false,
    taken: new Set(['files']),
    ...NO_REMOTES,
    changed: () => {
      changes++
    },
    ...more,
  })
  open.push(connections)
  return { connections, audit, changes: () => changes }
}
const firecrawl = (connections: Connections) => connections.connectable('firecrawl')!
const put = (connections: Connections, apiKey = KEY, brand = 'acme', slug = 'firecrawl') =>
  connections.put(
    { brand, slug, connector: firecrawl(connections), values: { apiKey } },
    { version: undefined, by: 'operator' },
  )
const names = (connections: Connections, brand = 'acme') => connections.of(brand).map(({ slug }) => slug)
async function until(test: () => boolean) {
  for (let tries = 0; tries < 400 && !test(); tries++) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(test()).toBe(true)
}

describe('replicas', () => {
  it('each shows a connection made, shared and removed on another', async () => {
    const [a, b] = [await replica(), await replica()]
    await put(a.connections)
    expect(names(a.connections)).toEqual(['firecrawl'])
    await until(() => names(b.connections).length === 1)
    expect(b.changes()).toBe(1)
    await put(a.connections, KEY, 'owner')
    await a.connections.share({ brand: 'owner', slug: 'firecrawl' }, ['other'], 'operator')
    await until(() => names(b.connections, 'other').length === 1)
    await b.connections.remove({ brand: 'acme', slug: 'firecrawl' }, 'operator')
    expect(names(b.connections)).toEqual([])
    await until(() => names(a.connections).length === 0)
  })

  it('a replica that hears no notice looks for itself', async () => {
    const a = await replica()
    const deaf = await replica({
      db: { ...world.db, listen: async (_heard: (event: DbEvent) => void) => async () => {} },
      pollMs: 20,
    })
    await put(a.connections)
    await until(() => names(deaf.connections).length === 1)
  })

  it('a replica that starts later has read everything before it serves', async () => {
    await put((await replica()).connections)
    const late = await replica()
    expect(names(late.connections)).toEqual(['firecrawl'])
    expect(late.changes()).toBe(0)
  })
})

describe('what is kept', () => {
  it('a dump of the database holds nothing of a secret', async () => {
    const { connections } = await replica()
    await put(connections)
    const found = rows(
      await world.db.orm.execute(sql`select c::text as one from connections c union all select a::text from audit a`),
    )
    expect(found.length).toBeGreaterThan(1)
    const dump = JSON.stringify(found)
    for (const form of [
      KEY,
      'canary',
      Buffer.from(KEY).toString('base64').slice(0, 16),
      Buffer.from(KEY).toString('hex'),
    ])
      expect(dump).not.toContain(form)
  })

  it('what is removed leaves nothing to open', async () => {
    const { connections } = await replica()
    await put(connections)
    await connections.remove({ brand: 'acme', slug: 'firecrawl' }, 'operator')
    const [left] = await readChanged(world.db, undefined)
    expect(left).toMatchObject({ removed: true, stored: { sealed: '', secrets: [], settings: {}, identity: '' } })
  })

  it('sealed text moved to another row does not open there', async () => {
    const seal = createSeal(SECRET)
    const sealed = await sealSecrets(seal, { brand: 'acme', slug: 'firecrawl' }, { apiKey: KEY })
    await expect(openSecrets(seal, { brand: 'evil', slug: 'firecrawl' }, sealed)).rejects.toThrow(Unsealable)
    expect(await openSecrets(seal, { brand: 'acme', slug: 'firecrawl' }, sealed)).toEqual({ apiKey: KEY })
  })

  it('the same fields are the same account, other ones another', async () => {
    const { connections } = await replica()
    const identity = async () => (await findConnection(world.db, { brand: 'acme', slug: 'firecrawl' }))!.identity
    const upstream = () => connections.of('acme')[0]!.tools()[0]!.upstream
    await put(connections)
    const [first, far] = [await identity(), upstream()]
    await put(connections)
    expect([await identity(), upstream()]).toEqual([first, far])
    await put(connections, 'fc-another-key')
    expect(await identity()).not.toBe(first)
    expect(upstream()).not.toBe(far)
  })
})

describe('a changed secret of the gateway', () => {
  it('opens what the one before sealed, seals it anew on request, and then stands alone', async () => {
    await put((await replica()).connections)
    const NEXT = 'the next secret of these tests'
    const alone = await replica({ seal: createSeal(NEXT) })
    expect(await alone.connections.check({ brand: 'acme', slug: 'firecrawl' }, 'operator')).toMatchObject({
      ok: false,
      said: expect.stringContaining('another TOLLGATE_SECRET'),
    })
    const both = await replica({ seal: createSeal(NEXT, SECRET) })
    expect(await both.connections.reseal('operator')).toBe(1)
    expect(await both.connections.reseal('operator')).toBe(0)
    const stored = await findConnection(world.db, { brand: 'acme', slug: 'firecrawl' })
    expect(await openSecrets(createSeal(NEXT), stored!, stored!.sealed)).toEqual({ apiKey: KEY })
  })

  it('of two that put other secrets in the place of one version, one wins', async () => {
    const { connections, audit } = await replica()
    await put(connections)
    const stored = (await findConnection(world.db, { brand: 'acme', slug: 'firecrawl' }))!
    const seal = createSeal(SECRET)
    const renewed = await Promise.all(
      ['fc-one', 'fc-two'].map(async (apiKey) =>
        resealConnection(audit, stored, await sealSecrets(seal, stored, { apiKey }), {
          by: 'refresh',
          reason: 'refreshed',
        }),
      ),
    )
    expect(renewed.filter((one) => one !== undefined)).toHaveLength(1)
    expect(renewed.find((one) => one !== undefined)).toMatchObject({ identity: stored.identity })
  })
})

describe('the vault', () => {
  const { roles, routes } = policies()
  const session = (more: Partial<Session> = {}): Session => ({
    id: 's',
    issuer: 'i',
    subject: 'u',
    brand: 'acme',
    role: roles.get('person-chat')!,
    route: routes.get('standard')!,
    ceiling: ['mcp__firecrawl__*'],
    grant: { connectors: [], skills: [], allowance: {} },
    channel: 'inbox',
    limits: {},
    issuedAt: 0,
    expiresAt: 1,
    viewKey: 'k',
    ...more,
  })
  const use = {
    resolved: { source: 'host', reason: '' },
    connector: 'firecrawl',
    settings: {},
    identity: 'this one',
    row: undefined,
  } as const
  const vault = () => {
    const made = createVault({
      db: world.db,
      seal: createSeal(SECRET),
      useOf: () => use,
      hostValues: () => ({ apiKey: KEY }),
    })
    open.push(made)
    return made
  }

  it('opens for a session that reaches the connector', async () => {
    expect(await vault().open(session(), 'firecrawl', 'this one')).toMatchObject({ values: { apiKey: KEY } })
  })

  it.each<[string, Partial<Session>]>([
    ['on a read-only route', { route: routes.get('read-only')! }],
    ['with another ceiling', { ceiling: ['mcp__github__*'] }],
    ['of an inbound email', { role: roles.get('inbound-email')! }],
    ['of a coworker', { role: roles.get('coworker')! }],
  ])('opens nothing for a session %s', async (_name, more) => {
    expect(await vault().open(session(more), 'firecrawl', 'this one')).toBeUndefined()
  })

  it('opens nothing where another account stands under the name by now', async () => {
    expect(await vault().open(session(), 'firecrawl', 'that one')).toBeUndefined()
  })
})
